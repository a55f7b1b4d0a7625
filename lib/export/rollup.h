/*
 * rollup.h - rows of a job for a column store: runs, their steps, sites and call paths, and
 * single blocks.
 *
 * One table for all, so that one stream holds a job; `kind` says what a row is of. Its columns are
 * those of the table in queries/clickhouse/clickhouse_schema.sql, in their order, which says what
 * each is. What adds up over ranks are bytes allocated and freed, and counts; levels do not.
 */
#ifndef MT_EXPORT_ROLLUP_H
#define MT_EXPORT_ROLLUP_H

#include "lib/base/mem.h"
#include "lib/run/runs.h"
#include <stdbool.h>

enum mt_rollup_kind {
    MT_ROLLUP_RUN,
    MT_ROLLUP_STEP,
    MT_ROLLUP_SITE,
    MT_ROLLUP_PATH,
    MT_ROLLUP_BLOCK,
    MT_ROLLUP_KIND_N
};

enum mt_rollup_figure {
    MT_ROLLUP_START_B,
    MT_ROLLUP_PEAK_B,
    MT_ROLLUP_END_B,
    MT_ROLLUP_DOUBT_B,
    MT_ROLLUP_ALLOC_B,
    MT_ROLLUP_FREED_B,
    MT_ROLLUP_ALLOC_N,
    MT_ROLLUP_AT_PEAK_B,
    MT_ROLLUP_CALLS_N,
    MT_ROLLUP_PEAK_NS,
    MT_ROLLUP_ALLOC_NS,
    MT_ROLLUP_FREED_NS,
    MT_ROLLUP_CLUSTER,
    MT_ROLLUP_TP,
    MT_ROLLUP_OLDER,
    MT_ROLLUP_ALIKE,
    MT_ROLLUP_FIGURE_N
};

/* A row. Numbers are MT_UNKNOWN where they do not apply or are not known. */
struct mt_rollup_row {
    enum mt_rollup_kind kind;
    int64_t number, step;
    bool has_path, has_parent; /* the next two count */
    uint64_t path, parent;
    const char *name; /* any bytes */
    int64_t v[MT_ROLLUP_FIGURE_N];
};

/* A row of that kind and place among those of its kind, of which nothing is known. */
struct mt_rollup_row mt_rollup_row(enum mt_rollup_kind kind, int64_t number, const char *name);

/* Where rows are from: what each begins with. */
struct mt_rollup_place {
    const char *job, *run, *device; /* run: hash of its content */
    int64_t rank, stage;            /* MT_UNKNOWN */
    bool compared;                  /* the device that memtool ranks compares */
};

/* Rows as ClickHouse's TabSeparated and PostgreSQL read them: a line each, unknown is \N; tab,
 * newline, return and backslash are \t, \n, \r, \\. Texts become valid UTF-8. */
struct mt_rollup {
    struct mt_buf text;  /* what is written so far; the caller empties it */
    struct mt_buf place; /* what rows begin with */
    struct mt_buf name;
};
void mt_rollup_free(struct mt_rollup *r);
/* The line of names. */
void mt_rollup_head(struct mt_rollup *r);
void mt_rollup_set_place(struct mt_rollup *r, const struct mt_rollup_place *place);
void mt_rollup_add(struct mt_rollup *r, const struct mt_rollup_row *row);

/* The hash of a call path, the same in every run: of that of the path around it (0: none), the
 * phase and the name of its function. */
uint64_t mt_rollup_path(uint64_t parent, int phase, const char *name);

#endif
