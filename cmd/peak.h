/*
 * peak.h - the parts of `memtool peak`.
 */
#ifndef MT_PEAK_H
#define MT_PEAK_H

#include "cmd/rows.h"
#include "cmd/view.h"
#include "lib/usage/gaps.h"
#include "lib/usage/moments.h"

/* What all of them work on. */
struct mt_peak {
    struct mt_view *view;
    struct mt_levels levels;
    struct mt_moments
        moments; /* of runs without events, where another one than the peak is asked for */
    int64_t known_until_ns; /* mt_run_known_until */
    struct mt_report *report;
};

/* One row per step: level at its start, peak, level at its end, what grew most. */
enum mt_status mt_peak_per_step(struct mt_peak *p, const struct mt_rows *rows, struct mt_err *err);

/* One row per name: the largest rise of the level above its start while an op of that name ran, by
 * the records of the op's own thread. */
enum mt_status mt_peak_per_name(struct mt_peak *p, const struct mt_rows *rows, struct mt_err *err);

#endif
