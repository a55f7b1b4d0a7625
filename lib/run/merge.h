/*
 * merge.h - one row where a tree has several that look alike: ops that autograd runs have a call
 * path for each line of the user whose forward ops they belong to.
 */
#ifndef MT_MERGE_H
#define MT_MERGE_H

#include "lib/run/load.h"

/* Makes one of the items of a parent that have one name and phase, with all their figures, and so
 * on below. They are in preorder before and after; node is that of the first. */
void mt_tree_merge(struct mt_tree *t);

#endif
