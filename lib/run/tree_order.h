/*
 * tree_order.h - in which order the items of a tree are shown, and which of them: siblings heaviest
 * first, and the paths to what is chosen.
 */
#ifndef MT_TREE_ORDER_H
#define MT_TREE_ORDER_H

#include "lib/run/load.h"

struct mt_tree_order {
    const struct mt_tree *tree;
    unsigned knows;  /* enum mt_knows: what the figures of the items are */
    uint32_t *first; /* by item: its heaviest child; behind the last item: the heaviest root */
    uint32_t *next;  /* by item: the next lighter sibling; MT_NONE in both: none */
    bool *chosen;    /* by item: it is on a path to what is chosen */
};

/* Adds roots for what no call path is known of, beside the others: items of node MT_NONE. */
void mt_tree_add_outside(struct mt_tree *t);
/* What an item is called. Borrowed from the tree. */
const char *mt_tree_name(const struct mt_tree *t, const struct mt_item *item);

/* Of a tree that outlives it and does not change meanwhile; nothing is chosen yet. */
void mt_tree_order_init(struct mt_tree_order *o, const struct mt_tree *t, unsigned knows);
void mt_tree_order_free(struct mt_tree_order *o); /* zeroed is fine */

/* What siblings are sorted by: what they hold, then how much went through them; of runs of sums
 * what they held at the peak, or what else is known. */
int64_t mt_tree_weight(const struct mt_item *item, unsigned knows);

/* The figures by which an item is large. */
enum mt_tree_size { MT_TREE_AT_PEAK, MT_TREE_AT_END, MT_TREE_ALLOC, MT_TREE_NET, MT_TREE_SIZE_N };
/* One of them; INT64_MIN where it is not known, or the trees of such runs do not show it. */
int64_t mt_tree_size(const struct mt_item *item, unsigned knows, enum mt_tree_size which);
/* What all roots come to. */
int64_t mt_tree_size_of_roots(const struct mt_tree *t, unsigned knows, enum mt_tree_size which);

/* Chooses the items whose names match and what is below these, as far as they come to the least in
 * one of the figures. Items above may be smaller: a parent that frees what one child keeps. */
typedef bool mt_tree_matches(const void *closure, const char *name);
void mt_tree_choose(struct mt_tree_order *o, mt_tree_matches *matches, const void *closure,
                    const int64_t least_b[MT_TREE_SIZE_N]);

/* The item, or the first of its lighter siblings, that is chosen; MT_NONE: none, or i is. */
uint32_t mt_tree_chosen(const struct mt_tree_order *o, uint32_t i);

/* Items down to this depth (0: all; 1: the roots) that are not chosen. */
int64_t mt_tree_not_chosen(const struct mt_tree_order *o, int64_t depth);

#endif
