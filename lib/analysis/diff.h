/*
 * diff.h - what changed from one run to another: NEW minus BASE, group by group.
 *
 * Each run is measured at its own peak; the sums of at_peak_b over all rows are the peaks, so the
 * changes of the rows add up to the change of the peak. Where one run has no addresses, no change
 * of a row is known, and what either run has in the rows still adds up to its peak.
 */
#ifndef MT_DIFF_H
#define MT_DIFF_H

#include "lib/analysis/leaks.h"
#include "lib/base/numbers.h"
#include "lib/run/figures.h"
#include "lib/run/knows.h"
#include "lib/run/match.h"
#include "lib/usage/gaps.h"

/* Whether the growth per step is known, be it 0. */
static inline bool mt_diff_growth_known(const struct mt_figures *f)
{
    return !(f->unknown & MT_UNKNOWN_GROWTH) || f->v[MT_FIG_PER_STEP_B].r > 0;
}

/* The figures of groups as they are kept. */
struct mt_diff_part {
    struct mt_figure_set set;      /* which */
    struct mt_numbers v[MT_FIG_N]; /* those of the groups, of each of the set */
};

/* One of the two runs. db NULL: not opened. */
struct mt_diff_side {
    struct mt_db *db;
    struct mt_run run;
    struct mt_run_device device;
    struct mt_allocations *lives; /* NULL: opened by mt_diff_load; else lent by another diff */
    bool lives_lent;
    MT_VEC(struct mt_match_key) groups;
    struct mt_diff_part ops, living; /* figures of the groups */
    int64_t step_n;
    bool growth_known;  /* there are addresses and steps enough to tell a leak by, and no gaps */
    bool frees_unknown; /* nobody knows of which group what is freed is */
    unsigned gaps;
    struct mt_figures whole; /* the device's own figures */
};

/* Whether it is known in which groups the bytes at the peak are. */
static inline bool mt_diff_peak_sites_known(const struct mt_diff_side *s)
{
    return mt_device_has_events(&s->device) ? mt_allocations_are_known(&s->device)
                                            : mt_device_knows(&s->device, MT_KNOWS_AT_PEAK);
}

struct mt_diff_row {
    const char *const *key; /* borrowed from the sides */
    bool explicit_row, in[2];
    enum mt_match match;
    struct mt_figures at[2];
};

struct mt_diff {
    enum mt_group_key keys[MT_BY_N];
    int key_n;
    bool strict; /* only the same keys match */
    struct mt_diff_side side[2];
    struct mt_grouper grouper; /* of both sides: their groups share numbers, where */
    bool numbered;
    MT_VEC(struct mt_diff_pair {
        const char *const *key;
        uint32_t group[2]; /* that has the figures of the row; MT_NONE: in the other run only */
        uint8_t match;     /* enum mt_match */
        bool explicit_row;
    })
    rows;
    int64_t match_n[MT_MATCH_N];
};

/*
 * Loads a side; d->keys, and db, run and device of the side are set. parts: which figures, else 0.
 * warmup: of leaks. One side after the other: the second takes the call tree of the first, so that
 * texts and functions that both have are there once. Errors: MT_EDB.
 */
enum mt_diff_parts { MT_DIFF_OPS = 1, MT_DIFF_LIVES = 2 };
enum mt_status mt_diff_load(struct mt_diff *d, int side, int parts, int64_t warmup,
                            struct mt_err *err);

/* A side is loaded, and its lives are lent to nobody any more: frees what only loading needs. */
void mt_diff_loaded(struct mt_diff *d, int side);

/* What is known of a group of a side. */
struct mt_figures mt_diff_figures(const struct mt_diff_side *s, uint32_t group);

/* Aligns the loaded sides and fills rows. */
void mt_diff_compare(struct mt_diff *d);
/* A row of rows. */
struct mt_diff_row mt_diff_row(const struct mt_diff *d, size_t i);
/* For who looks at all rows in turn: fetches the figures of one that comes soon, if there is one,
 * into the processor's cache. Those of NEW lie anywhere. */
void mt_diff_row_soon(const struct mt_diff *d, size_t i);

/* Does not close the databases. */
void mt_diff_free(struct mt_diff *d);

/* Divides what grows with the length of a run (all but peaks, at-end and leaks) by its steps. */
void mt_diff_per_step(struct mt_diff *d);

#endif
