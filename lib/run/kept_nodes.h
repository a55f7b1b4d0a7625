/*
 * kept_nodes.h - the nodes of one run for several reports in turn: read for the first of them, then
 * handed from each tree that is freed to the next one that is loaded.
 */
#ifndef MT_KEPT_NODES_H
#define MT_KEPT_NODES_H

#include "lib/run/load.h"

/* From now on until mt_nodes_forget the nodes of this run are kept. Whoever asks keeps the database
 * open for reading, so that nobody changes the run. */
void mt_nodes_keep(const struct mt_db *db, const struct mt_run *run);
/* Frees those that no tree has. Trees that are freed later keep none. */
void mt_nodes_forget(void);

/* For load.c. Fills an empty tree with nodes, and the texts of these, that were kept of the run;
 * false: there are none, and read they are worth keeping if out->kept. */
bool mt_nodes_take(const struct mt_db *db, const struct mt_run *run, struct mt_tree *out);
/* Takes nodes and texts out of a tree that is to be freed, if they are worth keeping. */
void mt_nodes_give(struct mt_tree *t);

#endif
