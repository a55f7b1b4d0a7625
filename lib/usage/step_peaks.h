/*
 * step_peaks.h - the levels of a device in each step.
 */
#ifndef MT_STEP_PEAKS_H
#define MT_STEP_PEAKS_H

#include "lib/run/runs.h"
#include "lib/run/time_arg.h"

/* Bytes when a step begins, the most in it, and when it ends; MT_UNKNOWN where the recording ends
 * before: of the step that it ends in, end_b alone. */
struct mt_step_peak {
    int64_t number, start_b, peak_b, end_b;
};

struct mt_step_peaks {
    MT_VEC(struct mt_step_peak) all; /* in order of time */
};

/* Of a run without steps nothing. Free *out also on failure. Errors: MT_EDB. */
enum mt_status mt_step_peaks_load(struct mt_db *db, const struct mt_run *run,
                                  const struct mt_run_device *device, struct mt_step_peaks *out,
                                  struct mt_err *err);
void mt_step_peaks_free(struct mt_step_peaks *p);

#endif
