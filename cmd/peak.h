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
    bool asks_unread;       /* a moment, or a window, that is asked for reaches beyond that */
    struct mt_report *report;
};

/* What is asked for, as it was given; NULL: it was not. */
struct mt_peak_asked {
    const char *from, *to, *step;
    const struct mt_strings *at;
};

/* A moment that is asked for, found in the run. */
struct mt_peak_found {
    const char *text; /* as given; NULL: the peak */
    int64_t index;    /* in the levels */
    int64_t record, t_ns, level_b;
    bool unread;               /* levels are not known then */
    int64_t counted_ns;        /* when a process was counted: t_ns; INT64_MAX: at its end */
    int64_t held_ns;           /* when what call paths hold was as it is then; t_ns, or before it */
    int64_t whole_b, whole_ns; /* of runs without events, the level at t_ns, or the peak in all */
};

/* Finds the moments that are asked for: one, by default the peak, or two (*n). Loads the levels
 * near them into p. Errors: MT_EUSAGE, MT_EDB. */
enum mt_status mt_peak_find(struct mt_peak *p, const struct mt_peak_asked *asked,
                            struct mt_peak_found f[2], int *n, struct mt_err *err);

/* What is live at a moment that was found. Errors: MT_EDB. */
enum mt_status mt_peak_live(struct mt_peak *p, const struct mt_peak_found *f,
                            struct mt_live_set *live, struct mt_err *err);

/* One row per step: level at its start, peak, level at its end, what grew most. */
enum mt_status mt_peak_per_step(struct mt_peak *p, const struct mt_rows *rows, struct mt_err *err);

/* One row per name: the largest rise of the level above its start while an op of that name ran, by
 * the records of the op's own thread. */
enum mt_status mt_peak_per_name(struct mt_peak *p, const struct mt_rows *rows, struct mt_err *err);

#endif
