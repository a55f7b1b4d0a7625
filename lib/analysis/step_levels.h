/*
 * step_levels.h - two figures of runs with different numbers of steps. The one rule for it, of diff
 * and of check (docs/ci.md): what is compared must also compare so without the steps that only one
 * run has, and with as many more in the other, each of which grows as those before it. What is
 * alive at the end is without some steps what is alive at the end of the last that remains.
 *
 * Steps matter where the figure depends on them: a peak that both runs reach in steps that both
 * have is the same however many follow.
 */
#ifndef MT_STEP_LEVELS_H
#define MT_STEP_LEVELS_H

#include "lib/run/runs.h"
#include "lib/run/time_arg.h"

/* The levels of a device by steps. */
struct mt_step_levels {
    /* Where the highest level before the end of so many steps (0: before the first) rises; ordered
     * by both. Empty: nothing is known, or there are no steps. */
    MT_VEC(struct mt_step_rise { int64_t step_n, level_b; }) rises;
    /* Where the level at the end of so many steps (0: before the first) changes. Empty: as above;
     * of files written before anybody asked. */
    MT_VEC(struct mt_step_end { int64_t step_n, level_b; }) ends;
    int64_t last_b;  /* the highest in the last step */
    int64_t after_b; /* the highest behind it */
};

/* Of a run without steps nothing. Free *out also on failure. Errors: MT_EDB. */
enum mt_status mt_step_levels_load(struct mt_db *db, const struct mt_run *run,
                                   const struct mt_run_device *device, const struct mt_steps *steps,
                                   struct mt_step_levels *out, struct mt_err *err);
void mt_step_levels_copy(struct mt_step_levels *to, const struct mt_step_levels *from);
bool mt_step_levels_same(const struct mt_step_levels *a, const struct mt_step_levels *b);
void mt_step_levels_free(struct mt_step_levels *l);

/* One of two figures. */
struct mt_step_part {
    int64_t step_n;
    const struct mt_step_levels *levels;
    bool at_end;     /* the figure is what is alive at the end; else the highest level, or what
                        is alive at it */
    bool partial;    /* a part of it */
    double figure_b; /* the figure itself */
    double others_b; /* of a part: by how much leaks of the rest grow in a step */
    double leak_b, suspect_b; /* by how much it grows in a step: by leaks; by leaks and
                                 candidates. 0: unknown */
};

/*
 * What comes to both figures for them to be of as many steps, each way of 0..MT_STEP_WAYS-1: either
 * run as long as the other, growing by leaks alone, or with candidates, or, of a peak, with these
 * twice: a block and the larger one that takes its place are both alive for a while. All 0 where
 * the runs have as many steps, or one has none, or where the curve of the longer tells (below).
 */
enum { MT_STEP_WAYS = 6 };
void mt_step_add(const struct mt_step_part part[2], int way, double out[2]);

/*
 * The same by the curve of the longer run: what its level, or the highest, was after as many steps
 * as the other has; what it does behind its last step stays. Of a part: what the curve changes by
 * beyond leaks of the rest. Returns false, and 0, where no curve is known, or needed.
 */
bool mt_step_add_by_curve(const struct mt_step_part part[2], double out[2]);
/* Of what is alive at the end: what comes to both for them to be the levels after that many steps,
 * whatever each does behind its last. Returns false where one is not known, or of a part. */
bool mt_step_add_inside(const struct mt_step_part part[2], double out[2]);
/* Whether it is of the end, and the longer run does not tell what was alive after as many steps as
 * the other has. If so, out: the least and the most that may come to it. */
bool mt_step_is_untold(const struct mt_step_part part[2], double least[2], double most[2]);

#endif
