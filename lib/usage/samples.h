/*
 * samples.h - values over time that a recording holds beside its memory records: reserved bytes,
 * failed allocations.
 */
#ifndef MT_SAMPLES_H
#define MT_SAMPLES_H

#include "lib/usage/levels.h"

/* The samples of one metric ("reserved", "oom") of a device as levels; record counts them. start_b
 * is the first value: nothing says what was before. What malloc has is MT_UNKNOWN from where it was
 * counted no more. None: all.n is 0. Errors: MT_EDB. */
enum mt_status mt_samples_load(struct mt_db *db, const struct mt_run *run,
                               const struct mt_run_device *device, const char *metric,
                               struct mt_levels *out, struct mt_err *err);

/* The recorder's own total, where it keeps one: allocated before the first record, and its net
 * change minus ours. INT64_MIN: unknown. Errors: MT_EDB. */
struct mt_recorder_total {
    int64_t base_b, residual_b;
};
/* What was there before beyond what the level begins with, as far as the recorder's total is to be
 * trusted, else 0: that of the CPU counts what profilers saw, freed since or not. */
int64_t mt_recorder_before(const struct mt_recorder_total *total,
                           const struct mt_run_device *device);
enum mt_status mt_recorder_total(struct mt_db *db, const struct mt_run_device *device,
                                 struct mt_recorder_total *out, struct mt_err *err);

#endif
