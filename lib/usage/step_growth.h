/*
 * step_growth.h - which allocation site grew most in a step.
 */
#ifndef MT_STEP_GROWTH_H
#define MT_STEP_GROWTH_H

#include "lib/usage/live.h"

struct mt_step_growth {
    int64_t bytes; /* that it grew by until the end of the step */
    const char
        *site; /* borrowed from the tree of the blocks; NULL: nothing grew, or nobody knows */
};

/* out: one per step, allocated. Errors: MT_EDB. */
enum mt_status mt_step_growths_load(struct mt_allocations *blocks,
                                    const struct mt_run_device *device, struct mt_step_growth **out,
                                    struct mt_err *err);

#endif
