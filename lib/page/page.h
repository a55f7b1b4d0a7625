/*
 * page.h - the page of `memtool report`: one HTML file that loads nothing. Parts of it are made
 * here and put into the template report.html; its script reads two JSON objects, the curve and the
 * call paths, and works without either.
 */
#ifndef MT_PAGE_H
#define MT_PAGE_H

#include "lib/export/stacks.h"
#include "lib/usage/bands.h"
#include "lib/usage/live.h"
#include "lib/usage/moments.h"

/* ---- how memory went up and down ---- */

struct mt_page_curve {
    const struct mt_run *run; /* borrowed */
    const char *what;         /* "allocated", "rss" */
    bool whole;               /* each change is a moment; else the highest of each span is */
    int64_t peak_ns;          /* MT_UNKNOWN: nobody knows */
    struct mt_levels levels, second, ooms;
    const char *second_what;      /* "reserved", "rss"; NULL: second is empty */
    struct mt_buckets moments;    /* their maxima are the moments */
    struct mt_bands bands;        /* by site, or by site and category; key_n 0: unknown */
    const struct mt_steps *steps; /* borrowed; in order of time */
    /* Of runs that know what call paths hold at some moments alone: these, and what sites hold
     * then. held.key_n 0: nothing is known but of single blocks. */
    struct mt_moments at;
    struct mt_buckets held_moments;
    struct mt_bands held;
};

/* The curve of a device that knows one, and what was alive at each moment where that is known.
 * Free it also on failure. Errors: MT_EDB. */
enum mt_status mt_page_curve_load(struct mt_allocations *blocks, const struct mt_run_device *device,
                                  struct mt_page_curve *out, struct mt_err *err);
void mt_page_curve_free(struct mt_page_curve *c);

/*
 * Appends the curve as JSON: t and b of the moments and values of parts as differences; a part is
 * [site, category, [moments since the last change, new value, ...]]. The parts of a moment add up
 * to its b. Where paths are known at other moments, "held" has these, the same way.
 */
void mt_page_curve_json(const struct mt_page_curve *c, struct mt_buf *out);

/* Appends a picture of it for readers without script. */
void mt_page_curve_svg(const struct mt_page_curve *c, struct mt_buf *out);

/* ---- call paths ---- */

/* Appends finished stacks as JSON: frames in preorder with level, name and kind, and of each
 * measure that is known what frames hold themselves, as [frames since the last, value, ...]. */
void mt_page_paths_json(const struct mt_stacks *s, struct mt_buf *out);

/* Appends a picture of them for readers without script: of the first measure that is known, which
 * alive names if it is what was alive; what is too narrow or too deep is left out. */
void mt_page_paths_svg(const struct mt_stacks *s, const char *alive, struct mt_buf *out);

/* ---- runs side by side ---- */

/* A column for each of some runs; a line across, where one is known. */
struct mt_page_columns {
    const char *caption; /* what they are: "Peak of each rank" */
    MT_VEC(struct mt_page_bar {
        const char *label, *name; /* borrowed: "2", "rank 2" */
        int64_t bytes;            /* MT_UNKNOWN: nobody knows */
        bool marked;              /* an outlier, or where it changed */
    })
    all;
    struct {
        int64_t bytes;   /* MT_UNKNOWN: none */
        double from, to; /* of the columns, as parts of all */
        const char *words;
    } lines[2];
};

/* Appends it as HTML, columns from 0. Of very many each stands for the highest of some. */
void mt_page_columns_html(const struct mt_page_columns *c, struct mt_buf *out);
/* The same as a picture; each column says its figure to the byte. */
void mt_page_columns_svg(const struct mt_page_columns *c, const char *title, struct mt_buf *out);

/* Figures of runs in steps. */
struct mt_page_heat {
    size_t row_n, column_n;
    const char **rows; /* "rank 2" */
    int64_t *columns;  /* numbers of the steps, rising */
    int64_t *bytes;    /* of each row its columns; MT_UNKNOWN: it has no such step */
};
void mt_page_heat_free(struct mt_page_heat *h);

/* The highest of some rows and columns, as many as there are of these; MT_UNKNOWN: none is known.
 */
int64_t mt_page_heat_at(const struct mt_page_heat *h, size_t row, size_t rows, size_t column,
                        size_t columns);

/* Appends it as a table in shades. Of very many rows or columns each stands for the highest of
 * some. */
void mt_page_heat_html(const struct mt_page_heat *h, struct mt_buf *out);
/* The same as a picture; each field says its figure to the byte. */
void mt_page_heat_svg(const struct mt_page_heat *h, const char *title, struct mt_buf *out);

/* ---- from one peak to another ---- */

struct mt_page_bridge {
    const char *base, *new; /* names of the runs, borrowed */
    int64_t base_b, new_b;
    MT_VEC(struct mt_page_change {
        const char *name; /* borrowed */
        int64_t bytes;
        size_t at; /* its place among all: equal ones stay in order */
    })
    all;
};

/* Appends the changes as bars, the largest first, small ones as one. They are put in that order.
 * False, nothing appended: they do not add up to the difference of the peaks. */
bool mt_page_bridge_html(struct mt_page_bridge *b, struct mt_buf *out);

/* ---- the page ---- */

/* Appends any text as HTML. */
void mt_page_text(struct mt_buf *out, const char *s);

/* Appends n bytes for a data: address. */
void mt_page_base64(struct mt_buf *out, const char *bytes, size_t n);

/* A place {{name}} of the template, and what stands there: HTML, or JSON within a script. */
struct mt_page_part {
    const char *name, *html; /* NULL ends the list; html NULL: nothing */
    bool json;
};
void mt_page_write(const struct mt_page_part *parts, struct mt_buf *out);

#endif
