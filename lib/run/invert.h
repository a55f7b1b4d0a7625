/*
 * invert.h - a tree turned round: every op with its own figures is a root, and below it who called
 * it.
 */
#ifndef MT_INVERT_H
#define MT_INVERT_H

#include "lib/run/load.h"

/*
 * Replaces the items; what has no figures of its own is no root. levels: at most so many, the roots
 * included; 0 = all. Returns 0, or how many levels there are where the callers further up are too
 * many for memory or time and left out: each op has callers up to the root, which a deep tree
 * multiplies.
 */
uint32_t mt_tree_invert(struct mt_tree *t, uint32_t levels);

#endif
