/*
 * op_peak.h - how far the level rises above its start while an op runs: the op's workspace.
 */
#ifndef MT_OP_PEAK_H
#define MT_OP_PEAK_H

#include "lib/run/load.h"

/* The largest rise among the executions of a node, by the records of the op's own thread. */
struct mt_op_peak {
    int64_t rise_b; /* largest level during one execution minus the level at its start */
    int64_t kept_b; /* level at the end of that execution minus the level at its start */
    int64_t t_ns;   /* when it was reached */
};

/* out: one per node of the tree, all 0 where nothing rose; allocated. Errors: MT_EDB. */
enum mt_status mt_op_peaks_load(struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *device, const struct mt_tree *tree,
                                struct mt_op_peak **out, struct mt_err *err);

#endif
