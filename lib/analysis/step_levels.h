/*
 * step_levels.h - two figures of runs with different numbers of steps. The one rule for it, of diff
 * and of check (docs/ci.md): what is compared must also compare so without the steps that only one
 * run has, and with as many more in the other, each of which grows as those before it.
 *
 * Steps matter where the figure depends on them: a peak that both runs reach in steps that both
 * have is the same however many follow.
 */
#ifndef MT_STEP_LEVELS_H
#define MT_STEP_LEVELS_H

#include "lib/run/runs.h"
#include "lib/run/time_arg.h"

/* The highest levels of a device by steps. */
struct mt_step_levels {
    /* Where the highest level before the end of so many steps (0: before the first) rises; ordered
     * by both. Empty: nothing is known, or there are no steps. */
    MT_VEC(struct mt_step_rise { int64_t step_n, level_b; }) rises;
    int64_t last_b;  /* the highest in the last step */
    int64_t after_b; /* the highest behind it */
};

/* Of a run without steps nothing. Free *out also on failure. Errors: MT_EDB. */
enum mt_status mt_step_levels_load(struct mt_db *db, const struct mt_run *run,
                                   const struct mt_run_device *device, const struct mt_steps *steps,
                                   struct mt_step_levels *out, struct mt_err *err);
void mt_step_levels_copy(struct mt_step_levels *to, const struct mt_step_levels *from);
void mt_step_levels_free(struct mt_step_levels *l);

/* One of two figures. */
struct mt_step_part {
    int64_t step_n;
    const struct mt_step_levels *levels; /* the figure is their highest, or a part of what is alive
                                            at it; NULL: it is what is alive at the end */
    bool partial;                        /* a part of it */
    double leak_b, suspect_b;            /* by how much it grows in a step: by leaks; by leaks and
                                            candidates. 0: unknown */
};

/*
 * What comes to both figures for them to be of as many steps, each way of 0..MT_STEP_WAYS-1: either
 * run as long as the other, growing by leaks alone, or with candidates, or with these twice: a
 * block and the larger one that takes its place are both alive for a while. All 0 where the runs
 * have as many steps, or one has none.
 */
enum { MT_STEP_WAYS = 6 };
void mt_step_add(const struct mt_step_part part[2], int way, double out[2]);

#endif
