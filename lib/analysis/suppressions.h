/*
 * suppressions.h - call paths whose blocks are not to count as leaks though they are alive at the
 * end: patterns as LeakSanitizer and heaptrack have them. docs/leaks.md says what they match.
 */
#ifndef MT_SUPPRESSIONS_H
#define MT_SUPPRESSIONS_H

#include "lib/run/load.h"

struct mt_suppressions {
    MT_VEC(char *) v; /* patterns, without "leak:" */
};
void mt_suppressions_free(struct mt_suppressions *s);

/* Adds those of a file: lines "leak:PATTERN"; comments (#) and empty lines are nothing. Errors:
 * MT_EIO, MT_EINPUT with the line that is another. */
enum mt_status mt_suppressions_read(struct mt_suppressions *s, const char *path,
                                    struct mt_err *err);
/* Adds those that heaptrack has built in: what libraries keep on purpose. */
void mt_suppressions_add_usual(struct mt_suppressions *s);
/* Adds those that the recorded program had in it (heaptrack). Errors: MT_EDB. */
enum mt_status mt_suppressions_add_embedded(struct mt_suppressions *s, struct mt_db *db,
                                            const struct mt_run *run, struct mt_err *err);

/* Whether a pattern matches a part of the text: * is any text, ^ and $ its start and its end. */
bool mt_suppression_matches(const char *pattern, const char *text);

/* For each node of a tree the index of a pattern that matches a function, file or object on its
 * path, MT_NONE = none does; allocated. */
uint32_t *mt_suppressions_of_nodes(const struct mt_suppressions *s, const struct mt_tree *t);

#endif
