/*
 * chart.h - a curve of bytes over time as a picture: in characters for a terminal, or as SVG.
 */
#ifndef MT_CHART_H
#define MT_CHART_H

#include "lib/render/axis.h"
#include "lib/render/palette.h"
#include "lib/usage/bands.h"

struct mt_chart_mark {
    int64_t t_ns;
    int64_t value; /* number of a step; bytes asked for */
};

/* Something else over the same time, drawn below the axis: a value for each bucket of the curve. */
struct mt_chart_lane {
    const char *name;      /* of a few letters */
    const int64_t *values; /* 0: none; less: unknown, and not drawn */
};

/* A curve over the same buckets as the first. */
struct mt_chart_curve {
    const struct mt_buckets *buckets;
    const char *what;
};
#define MT_CHART_BESIDE 2

struct mt_chart {
    const char *title;                             /* svg: any bytes */
    const char *what;                              /* svg: what the curve is: "allocated" */
    struct mt_window shown;                        /* the axis of time */
    const char *time_unit;                         /* what it counts; NULL: ns */
    const struct mt_buckets *level;                /* the curve; at least one bucket */
    struct mt_chart_curve beside[MT_CHART_BESIDE]; /* drawn behind it as lines */
    size_t beside_n;
    bool within; /* these are parts of the curve: it is a line, and the first of them is filled */
    int64_t peak_ns, peak_b;            /* the marker; peak_ns INT64_MIN: none */
    MT_VEC(struct mt_chart_mark) steps; /* where steps begin, in order of time */
    MT_VEC(struct mt_chart_mark) ooms;  /* failed allocations */
    MT_VEC(struct mt_chart_lane) lanes;
    MT_VEC(const char *) footer;  /* svg: lines below; any bytes, borrowed */
    const struct mt_bands *bands; /* svg: stacked areas below the curve; NULL: none */
    int width, height;            /* terminal columns and rows; pixels. Too small ones are raised */
    bool ascii, color;            /* terminal only */
};

void mt_chart_free(
    struct mt_chart *c); /* marks, lanes and footer; their texts and all else are borrowed */

/* Which steps to draw so that they stand `gap` apart on an axis that is `size` long: every 2nd,
 * 5th, 10th, ... of many, by their numbers, and where they last longer others between these.
 * picked: room for all steps. */
void mt_chart_pick_steps(const struct mt_chart *c, const struct mt_axis *t, double size, double gap,
                         bool *picked);

/* How many buckets a picture of that width can show. */
size_t mt_chart_text_buckets(int width, bool ascii);
size_t mt_chart_svg_buckets(int width, size_t bands_n);

/* Appends `height` lines or a few more, none longer than `width` columns, each ended by \n. Filled
 * up to the minimum of a bucket, dotted from there to its maximum. */
void mt_chart_text(struct mt_buf *out, const struct mt_chart *c);

/* Appends an SVG document. It is readable in dark and light and has no script and no references. Of
 * bands at most MT_PALETTE_N are drawn beside [other] and [before trace]. */
void mt_chart_svg(struct mt_buf *out, const struct mt_chart *c);

/* Appends n values as `cells` characters, each the maximum of its part relative to the largest. */
void mt_sparkline(struct mt_buf *out, const int64_t *values, size_t n, size_t cells, bool ascii);
/* The same where a full cell stands for `most`, so that several lines compare. */
void mt_sparkline_below(struct mt_buf *out, const int64_t *values, size_t n, size_t cells,
                        int64_t most, bool ascii);

#endif
