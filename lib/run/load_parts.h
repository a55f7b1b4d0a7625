/*
 * load_parts.h - what load.c, load_ops.c, load_blocks.c and group_nodes.c share.
 */
#ifndef MT_LOAD_PARTS_H
#define MT_LOAD_PARTS_H

#include "lib/run/load.h"

/* What an op did in one step. */
struct mt_op_sums {
    struct mt_sums sums;
    uint32_t op, thread;
    int32_t place; /* of the step, -1 = in none, or nobody asks; MT_SUMS_TAKEN */
    uint32_t next; /* + 1: what it did in another step, 0 = that was all */
};
enum { MT_SUMS_TAKEN = -2 }; /* they are with their group */

struct mt_op_loader {
    struct mt_db *db;
    const struct mt_run *run;
    const struct mt_op_filter *filter;
    struct mt_tree *t;
    struct mt_steps steps;
    struct mt_window window; /* what the filter's steps span */
    bool by_step;            /* the filter or the keys ask for steps */
    bool *wanted;            /* by thread index */
    bool asked[MT_BY_N];     /* which keys the ops are grouped by */
    bool by_block;           /* some of them are of blocks, not of ops: size, category, tensor */

    bool by_own; /* the user's categories are asked for */
    struct mt_own_nodes own;

    /* What blocks leave behind. */
    uint32_t *sums_of; /* op (from the run's first) -> sums + 1, 0: none. Pages of ops without
                          blocks stay untouched, and take no memory. */
    MT_VEC(struct mt_op_sums) sums;
    struct mt_strtab outside;    /* ids are indexes of the tree's `outside` */
    struct mt_strtab path_items; /* of recordings of call paths, and where by_block: step (its
                                    place), what of the block is asked for, node, thread; ids are
                                    indexes of the tree's items */
};

/* Whether the filter takes what starts in a step, INT64_MIN = none. */
bool mt_op_step_wanted(const struct mt_op_loader *l, int64_t step);

/* The number of a step by its place; INT64_MIN: -1. */
int64_t mt_op_step_number(const struct mt_op_loader *l, int64_t place);

/* Reads the blocks: sums of ops, of what is outside ops, and of call paths as items of the tree. */
enum mt_status mt_load_blocks(struct mt_op_loader *l, const struct mt_run_device *device,
                              struct mt_err *err);

/* Adds a block that is allocated in the recording, a row of load_allocs. */
void mt_sums_add_block(struct mt_sums *to, const struct mt_stmt *s,
                       const struct mt_run_device *device);

/* mt_load_stats of all nodes of a tree, of a device that may be narrowed. */
enum mt_status mt_load_stats_of(struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *device, const struct mt_tree *t,
                                mt_stats_use *use, void *closure, struct mt_err *err);

/* Fills the totals of the items of a tree in preorder from what each did itself. */
void mt_tree_add_totals(struct mt_tree *t);

#endif
