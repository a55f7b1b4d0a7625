#include "lib/analysis/diff_parts.h"

#include <stdlib.h>
#include <string.h>

/* What no group of a side can know. */
static unsigned unknown_of(const struct mt_diff_side *s)
{
    bool lives = mt_allocations_are_known(&s->device);
    bool alloc = mt_device_knows(&s->device, MT_KNOWS_ALLOC);
    bool freed = alloc && s->device.net_b != MT_UNKNOWN;
    bool ops = mt_device_knows(&s->device, MT_KNOWS_OPS);
    bool peak = mt_device_has_events(&s->device) || mt_device_knows(&s->device, MT_KNOWS_PEAK);
    bool end = lives && !(s->gaps & MT_GAPS_OF_FREES);
    return (end ? 0u : MT_UNKNOWN_END) | (s->growth_known ? 0u : MT_UNKNOWN_GROWTH) |
           (alloc ? 0u : MT_UNKNOWN_ALLOC) | (freed ? 0u : MT_UNKNOWN_FREED) |
           (peak ? 0u : MT_UNKNOWN_PEAK) | (ops ? 0u : MT_UNKNOWN_CALLS | MT_UNKNOWN_TIME);
}

/* What the device itself says; 0 what it does not. */
static struct mt_figures whole_of(const struct mt_diff_side *s)
{
    struct mt_figures f;
    mt_device_figures(&s->run, &s->device, &f);
    for (int i = 0; i < MT_FIG_N; i++)
        if (f.v[i].i == MT_UNKNOWN)
            f.v[i].i = 0;
    if (!mt_allocations_are_known(&s->device))
        f.v[MT_FIG_AT_END_B].i = 0;
    f.unknown = unknown_of(s);
    if (!(s->gaps & MT_GAP_HISTORY) && s->run.time_unit[0])
        f.unknown &= ~(unsigned)MT_UNKNOWN_TIME; /* how long the recording is */
    return f;
}

/* The blocks of a side, with the call tree of the other one, if that was loaded. */
static enum mt_status open_lives(struct mt_diff *d, int side, struct mt_err *err)
{
    struct mt_diff_side *s = &d->side[side];
    struct mt_allocations none = {0}, *before = d->side[!side].lives;
    s->lives_lent = s->lives != NULL;
    if (s->lives)
        return MT_OK;
    s->lives = mt_alloc(sizeof *s->lives);
    enum mt_status st =
        mt_allocations_open_after(s->db, &s->run, before ? before : &none, s->lives, err);
    if (before)
        mt_tree_forget_frames(&s->lives->tree);
    return st;
}

/* Groups of both sides are numbered together. */
static struct mt_grouper *open_grouper(struct mt_diff *d, int side)
{
    struct mt_tree *t = &d->side[side].lives->tree;
    d->numbered = d->grouper.key_n > 0;
    if (d->numbered)
        mt_grouper_go_on(&d->grouper, t);
    else
        mt_grouper_init(&d->grouper, t, d->keys, d->key_n);
    return &d->grouper;
}

enum mt_status mt_diff_load(struct mt_diff *d, int side, int parts, int64_t warmup,
                            struct mt_err *err)
{
    struct mt_diff_side *s = &d->side[side];
    const struct mt_run_device *device = &s->device;
    MT_TRY(open_lives(d, side, err));
    MT_TRY(mt_run_gaps(s->db, &s->run, device, &s->gaps, err));
    s->step_n = (int64_t)s->lives->steps.all.n;
    s->growth_known =
        mt_allocations_are_known(device) && mt_leaks_can_tell(s->step_n, warmup) && !s->gaps;
    s->frees_unknown =
        mt_own_needs_blocks(device, d->keys, d->key_n) && !mt_device_knows(device, MT_KNOWS_BLOCKS);
    s->whole = whole_of(s);
    enum mt_status st = mt_diff_collect(s, open_grouper(d, side), parts, warmup, err);
    if (d->numbered)
        mt_grouper_free(&d->grouper);
    else
        mt_grouper_pause(&d->grouper);
    return st;
}

void mt_diff_loaded(struct mt_diff *d, int side)
{
    mt_tree_keep_texts(&d->side[side].lives->tree);
}

static void read_figures(const struct mt_diff_side *s, uint32_t group, struct mt_figures *out)
{
    mt_diff_part_read(&s->ops, group, out);
    mt_diff_part_read(&s->living, group, out);
}

struct mt_figures mt_diff_figures(const struct mt_diff_side *s, uint32_t group)
{
    struct mt_figures f = {0};
    read_figures(s, group, &f);
    return f;
}

/* Adds the figures of a group to those of the one that has its row's. */
static void merge(struct mt_diff_side *s, uint32_t to, uint32_t from)
{
    mt_diff_part_merge(&s->ops, to, from);
    mt_diff_part_merge(&s->living, to, from);
}

void mt_diff_compare(struct mt_diff *d)
{
    struct mt_matches a;
    mt_match_groups(d->side[0].groups.v, d->side[0].groups.n, d->side[1].groups.v,
                    d->side[1].groups.n, d->keys, d->key_n,
                    (d->strict ? MT_MATCH_STRICT : MT_MATCH_TOLERANT) |
                        (d->numbered ? MT_MATCH_NUMBERED : 0),
                    &a);
    for (size_t i = 0; i < a.rows.n; i++) {
        const struct mt_match_row *from = &a.rows.v[i];
        *mt_vec_push(&d->rows) = (struct mt_diff_pair){.key = from->key,
                                                       .group = {MT_NONE, MT_NONE},
                                                       .match = (uint8_t)from->match,
                                                       .explicit_row = from->explicit_row};
    }
    for (int s = 0; s < 2; s++)
        for (uint32_t i = 0; i < d->side[s].groups.n; i++) {
            uint32_t *first = &d->rows.v[d->side[s].groups.v[i].row].group[s];
            if (*first == MT_NONE)
                *first = i;
            else
                merge(&d->side[s], *first, i);
        }
    memcpy(d->match_n, a.match_n, sizeof d->match_n);
    mt_matches_free(&a);
}

/* Of a row: what of enum mt_unknown it has of no known site. */
static unsigned rest_of(const struct mt_diff_side *s, const struct mt_diff_pair *p,
                        const struct mt_figures *f)
{
    if (!f->v[MT_FIG_AT_PEAK_B].i && !f->v[MT_FIG_AT_END_B].i) /* names lie anywhere in memory */
        return 0;
    bool unlisted = strncmp(p->key[0], MT_UNLISTED, strlen(MT_UNLISTED)) == 0; /* or below it */
    bool rest = unlisted || !mt_diff_peak_sites_known(s);
    return (rest && f->v[MT_FIG_AT_PEAK_B].i ? MT_UNKNOWN_PEAK : 0u) |
           (unlisted && f->v[MT_FIG_AT_END_B].i ? MT_UNKNOWN_END : 0u);
}

/* What a side may have in a row for which it lists nothing. */
static unsigned unlisted_in(const struct mt_diff_side *s)
{
    bool peak = !mt_diff_peak_sites_known(s) || mt_device_knows(&s->device, MT_LARGE_AT_PEAK);
    return (peak ? MT_UNKNOWN_PEAK : 0u) |
           (mt_device_knows(&s->device, MT_LARGE_AT_END) ? MT_UNKNOWN_END : 0u);
}

/*
 * Without addresses all that is alive at the peak is in one row; of the others nothing is known. So
 * it is with what a file does not list. Nor is it known which of the other run's bytes that row
 * would have to be compared with.
 */
static void mark_unknown(const struct mt_diff_side *s, bool no_calls, unsigned rest_of_other,
                         struct mt_figures *f)
{
    unsigned unlisted = unlisted_in(s) | rest_of_other;
    f->unknown = unknown_of(s) | (s->frees_unknown ? MT_UNKNOWN_FREED : 0u);
    if (!f->v[MT_FIG_AT_PEAK_B].i)
        f->unknown |= unlisted & MT_UNKNOWN_PEAK;
    if (!f->v[MT_FIG_AT_END_B].i)
        f->unknown |= unlisted & MT_UNKNOWN_END;
    if (no_calls) /* an explicit row, or one of what is no part of the call tree */
        f->unknown |= MT_UNKNOWN_CALLS | MT_UNKNOWN_TIME;
}

struct mt_diff_row mt_diff_row(const struct mt_diff *d, size_t i)
{
    const struct mt_diff_pair *p = &d->rows.v[i];
    struct mt_diff_row row = {
        .key = p->key, .explicit_row = p->explicit_row, .match = (enum mt_match)p->match};
    unsigned rest[2];
    for (int s = 0; s < 2; s++) {
        row.in[s] = p->group[s] != MT_NONE;
        read_figures(&d->side[s], p->group[s], &row.at[s]);
        rest[s] = rest_of(&d->side[s], p, &row.at[s]);
    }
    bool ran = row.at[0].v[MT_FIG_CALLS_N].i || row.at[1].v[MT_FIG_CALLS_N].i;
    for (int s = 0; s < 2; s++)
        mark_unknown(&d->side[s], p->explicit_row || !ran, rest[!s], &row.at[s]);
    for (int s = 0; s < 2; s++)
        if (!mt_device_knows(&d->side[s].device, MT_KNOWS_COUNTS))
            row.at[s].v[MT_FIG_AT_PEAK_N].i = -1;
    return row;
}

void mt_diff_row_soon(const struct mt_diff *d, size_t i)
{
    for (int s = 0; s < 2 && i < d->rows.n; s++) {
        mt_diff_part_soon(&d->side[s].ops, d->rows.v[i].group[s]);
        mt_diff_part_soon(&d->side[s].living, d->rows.v[i].group[s]);
    }
}

void mt_diff_per_step(struct mt_diff *d)
{
    for (int s = 0; s < 2; s++) {
        struct mt_diff_side *side = &d->side[s];
        mt_figures_per_step(&side->whole, side->step_n);
        mt_diff_part_per_step(&side->ops, side->step_n);
    }
}

void mt_diff_free(struct mt_diff *d)
{
    for (int s = 0; s < 2; s++) {
        if (d->side[s].lives && !d->side[s].lives_lent) {
            mt_allocations_close(d->side[s].lives);
            free(d->side[s].lives);
        }
        mt_vec_free(&d->side[s].groups);
        mt_diff_part_free(&d->side[s].ops);
        mt_diff_part_free(&d->side[s].living);
    }
    if (d->grouper.key_n)
        mt_grouper_free(&d->grouper);
    mt_vec_free(&d->rows);
}
