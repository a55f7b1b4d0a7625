/*
 * timeline.h - the parts of `memtool timeline`.
 */
#ifndef MT_TIMELINE_H
#define MT_TIMELINE_H

#include "cmd/by.h"
#include "cmd/view.h"
#include "lib/render/chart.h"
#include "lib/render/report.h"
#include "lib/usage/bands.h"
#include "lib/usage/samples.h"
#include "lib/usage/traced.h"

/* What is shown beside the curve. */
struct mt_timeline_curve {
    const char *what; /* "reserved", "rss"; of processes "pytorch", "malloc_held" */
    struct mt_levels levels;
    struct mt_window known; /* when it is known */
    struct mt_buckets buckets;
};

/* What all of them work on. */
struct mt_timeline {
    struct mt_view *view;
    struct mt_levels levels; /* of the metric shown */
    struct mt_timeline_curve beside[MT_CHART_BESIDE];
    size_t beside_n;
    struct mt_traced_all traced; /* of processes, where what PyTorch has is from */
    struct mt_moments moments;   /* --by of runs without events: the levels are theirs */
    int64_t unknown_until; /* then, time of the first one, if anything was live before; else 0 */
    struct mt_levels ooms;
    struct mt_recorder_total total;
    const char *metric;            /* "allocated", "reserved", "rss", ... */
    bool allocated;                /* it is that */
    char *window;                  /* " of step 2..3"; NULL: the whole run */
    struct mt_window asked, shown; /* as given; within the run */
    struct mt_buckets buckets;
    /* Of processes, for each bucket: threads at most, processor time, and how many thousandths of a
     * core that is; NULL: unknown. Owned. */
    int64_t *threads_n, *cpu_ns, *cpu_per_mille;
    struct mt_bands bands; /* key_n 0: not asked for */
    struct mt_by by;
    int64_t peak_b, peak_ns; /* of the window */
    struct mt_report *report;
};

/* Every change as a row, made while it is written; what it needs is kept in *out until the report
 * has been written. */
struct mt_timeline_changes;
enum mt_status mt_timeline_exact(struct mt_timeline *t, struct mt_timeline_changes **out,
                                 struct mt_err *err);
void mt_timeline_changes_free(struct mt_timeline_changes *c); /* NULL-safe */

/* Rows instead of a picture: one for each bucket, or for each bucket and band. */
void mt_timeline_bucket_rows(struct mt_timeline *t);
void mt_timeline_band_rows(struct mt_timeline *t);

/* Threads and processor time of each bucket, where the run tells them. Errors: MT_EDB. */
enum mt_status mt_timeline_work(struct mt_timeline *t, struct mt_err *err);
/* Says them, draws them, and puts a bucket's behind the cells that it has; frees them. */
void mt_timeline_work_footer(struct mt_timeline *t);
void mt_timeline_work_lanes(const struct mt_timeline *t, struct mt_chart *c);
void mt_timeline_work_cells(const struct mt_timeline *t, size_t bucket, struct mt_cell *cells);
void mt_timeline_work_free(struct mt_timeline *t);

/* The run lacks the metric asked for; what malloc has is unknown in the window, as where another
 * program took over: MT_EUSAGE, with what to do instead. */
enum mt_status mt_timeline_lacks(const struct mt_timeline *t, struct mt_err *err);
enum mt_status mt_timeline_unknown(const struct mt_timeline *t, struct mt_err *err);

/* "base · cpu · peak 16.55 MiB (17,355,520 B) at 122.2 ms, step 1"; allocated. */
char *mt_timeline_title(const struct mt_timeline *t);

/* The picture as characters in the report, with a legend as its rows; or as SVG in `out`. */
void mt_timeline_draw(struct mt_timeline *t, int width, int height, bool ascii, bool color);
void mt_timeline_svg(struct mt_timeline *t, int width, int height, struct mt_buf *out);

#endif
