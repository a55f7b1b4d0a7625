/*
 * A block is in the bands of the buckets whose maxima fall into its life. Only these blocks are
 * kept, as spans; most blocks of a long run live between two maxima. Where the keys need no ops,
 * the changes of the level do instead of the blocks: one span for all changes of a group between
 * two maxima.
 */
#include "lib/usage/bands.h"

#include "lib/base/search.h"
#include "lib/base/wrap.h"
#include "lib/run/knows.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a group in the buckets from..to-1; less than 0: fewer. */
struct span {
    int64_t bytes;
    uint32_t group, from, to;
};

struct filling {
    const struct mt_run_device *device;
    struct mt_grouper grouper;
    const int64_t *record; /* of every bucket's maximum; never falls */
    size_t bucket_n;
    MT_VEC(struct span) spans;
    /* of changes: */
    struct mt_origin_groups groups;
    size_t at; /* the first bucket whose maximum does not come before the last change */
    MT_VEC(uint32_t) newest; /* the last span of each group; MT_NONE = none */
};

/* The first bucket whose maximum comes with this record or after it. */
static uint32_t first_from(const struct filling *f, int64_t record)
{
    return (uint32_t)mt_count_below(f->record, f->bucket_n, sizeof *f->record, record);
}

static enum mt_status use_life(void *closure, const struct mt_allocation *life, struct mt_err *err)
{
    struct filling *f = closure;
    (void)err;
    if (mt_allocation_is_unknown(life))
        return MT_OK; /* [before trace] is what is left */
    uint32_t from = first_from(f, life->alloc_record), to = first_from(f, life->freed_record);
    if (from < to)
        *mt_vec_push(&f->spans) =
            (struct span){life->bytes, mt_grouper_of(&f->grouper, &life->origin), from, to};
    return MT_OK;
}

/* A change of what a group holds with a record; they come in order. MT_NONE: older blocks. */
static void add_change(struct filling *f, uint32_t group, int64_t record, int64_t bytes)
{
    while (f->at < f->bucket_n && f->record[f->at] < record)
        f->at++;
    if (group == MT_NONE || f->at == f->bucket_n)
        return;
    while (f->newest.n <= group)
        *mt_vec_push(&f->newest) = MT_NONE;
    uint32_t *newest = &f->newest.v[group];
    if (*newest == MT_NONE || f->spans.v[*newest].from != f->at) {
        *newest = (uint32_t)f->spans.n;
        *mt_vec_push(&f->spans) = (struct span){0, group, (uint32_t)f->at, (uint32_t)f->bucket_n};
    }
    mt_wrap_inc(&f->spans.v[*newest].bytes, bytes);
}

static void use_change(void *closure, const struct mt_change *c)
{
    struct filling *f = closure;
    add_change(f, mt_origin_group(&f->groups, c->origin), c->level.record, c->bytes);
}

/* Of moments, whose numbers are those of their levels. */
static void read_moments(struct filling *f, const struct mt_moments *moments)
{
    for (size_t i = 0; i < moments->changes.n; i++) {
        const struct mt_moment_change *c = &moments->changes.v[i];
        const struct mt_origin origin = mt_origin_of_node(c->node);
        add_change(f, mt_grouper_of(&f->grouper, &origin), c->moment, c->bytes);
    }
    mt_vec_free(&f->newest);
}

/* Blocks of a known node that are there from the beginning on; then all changes. */
static enum mt_status read_changes(struct filling *f, struct mt_allocations *lives,
                                   struct mt_err *err)
{
    struct mt_live_set start = {0};
    enum mt_status st = mt_live_at(lives, f->device, -1, &start, err);
    for (size_t i = 0; i < start.blocks.n; i++)
        if (start.blocks.v[i].origin.node != MT_NONE)
            *mt_vec_push(&f->spans) = (struct span){
                start.blocks.v[i].bytes, mt_grouper_of(&f->grouper, &start.blocks.v[i].origin), 0,
                (uint32_t)f->bucket_n};
    mt_live_set_free(&start);
    if (st != MT_OK)
        return st;
    mt_origin_groups_init(&f->groups, &f->grouper);
    st = mt_changes_each(lives->db, lives->run, f->device, use_change, f, err);
    mt_origin_groups_free(&f->groups);
    mt_vec_free(&f->newest);
    return st;
}

struct ranked {
    int64_t bytes;
    uint32_t group;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->group < y->group ? -1 : x->group > y->group;
}

static struct mt_band *add_band(struct mt_bands *b, const char *name)
{
    struct mt_band *band = mt_vec_push(&b->all);
    *band = (struct mt_band){.explicit_row = name != NULL,
                             .bytes = mt_alloc((b->bucket_n + 1) * sizeof *band->bytes)};
    for (int k = 0; k < b->key_n; k++)
        band->key[k] = name;
    return band;
}

/* Makes bands of the groups heaviest in the bucket `peak`, or ever: in all together, then [other]
 * and [before trace]. Returns the band of every group; allocated. */
static uint32_t *choose(const struct filling *f, size_t top, size_t peak, bool ever,
                        struct mt_bands *out)
{
    size_t n = f->grouper.names.n, chosen = 0;
    struct ranked *rank = mt_alloc((n + 1) * sizeof *rank);
    uint32_t *band_of = mt_alloc((n + 1) * sizeof *band_of);
    for (uint32_t g = 0; g < n; g++)
        rank[g].group = g;
    for (size_t i = 0; i < f->spans.n; i++) {
        const struct span *s = &f->spans.v[i];
        if (ever)
            mt_wrap_inc(&rank[s->group].bytes, mt_wrap_mul(s->bytes, s->to - s->from));
        else
            mt_wrap_inc(&rank[s->group].bytes, s->from <= peak && peak < s->to ? s->bytes : 0);
    }
    qsort(rank, n, sizeof *rank, by_rank);
    for (; chosen < n && chosen < top && rank[chosen].bytes > 0; chosen++) {
        const struct mt_group_name *name = &f->grouper.names.v[rank[chosen].group];
        struct mt_band *band = add_band(out, NULL);
        band->explicit_row = name->explicit_row;
        memcpy(band->key, name->key, (size_t)out->key_n * sizeof *band->key);
        band_of[rank[chosen].group] = (uint32_t)chosen;
    }
    for (size_t i = chosen; i < n; i++)
        band_of[rank[i].group] = (uint32_t)chosen;
    free(rank);
    add_band(out, "[other]");
    add_band(out, "[before trace]");
    return band_of;
}

/* Turns the spans into levels per bucket, and [before trace] into what they lack to the maximum. */
static void add_up(const struct filling *f, const uint32_t *band_of,
                   const struct mt_buckets *buckets, struct mt_bands *out)
{
    struct mt_band *before = &out->all.v[out->all.n - 1];
    for (size_t i = 0; i < f->spans.n; i++) {
        const struct span *s = &f->spans.v[i];
        int64_t *bytes = out->all.v[band_of[s->group]].bytes;
        mt_wrap_inc(&bytes[s->from], s->bytes);
        mt_wrap_dec(&bytes[s->to], s->bytes);
    }
    for (size_t k = 0; k < out->bucket_n; k++)
        before->bytes[k] = buckets->all.v[k].max_b;
    for (struct mt_band *band = out->all.v; band < before; band++)
        for (size_t k = 0; k < out->bucket_n; k++) {
            mt_wrap_inc(&band->bytes[k], k ? band->bytes[k - 1] : 0);
            mt_wrap_dec(&before->bytes[k], band->bytes[k]);
        }
}

static void drop_if_empty(struct mt_bands *b, size_t at)
{
    size_t k = 0;
    while (k < b->bucket_n && !b->all.v[at].bytes[k])
        k++;
    if (k < b->bucket_n)
        return;
    free(b->all.v[at].bytes);
    b->all.n--;
    memmove(&b->all.v[at], &b->all.v[at + 1], (b->all.n - at) * sizeof *b->all.v);
}

static void make_bands(const struct filling *f, size_t top, bool ever,
                       const struct mt_buckets *buckets, struct mt_bands *out)
{
    size_t peak = (size_t)(mt_buckets_peak(buckets) - buckets->all.v);
    uint32_t *band_of = choose(f, top, peak, ever, out);
    size_t before = out->all.n - 1;
    add_up(f, band_of, buckets, out);
    drop_if_empty(out, before);
    out->before = out->all.n > before;
    drop_if_empty(out, before - 1);
    out->other = out->all.n - out->before == before;
    for (size_t i = 0; i < out->all.n; i++)
        out->all.v[i].at_peak_b = out->all.v[i].bytes[peak];
    free(band_of);
}

static enum mt_status load(struct mt_allocations *lives, const struct mt_run_device *device,
                           const struct mt_levels *levels, const struct mt_moments *moments,
                           const struct mt_buckets *buckets, const enum mt_group_key *keys,
                           int key_n, size_t top, bool ever, struct mt_bands *out,
                           struct mt_err *err)
{
    size_t n = buckets->all.n;
    *out = (struct mt_bands){.bucket_n = n, .key_n = key_n};
    MT_TRY(mt_knows(lives->run, device, moments ? MT_KNOWS_MOMENTS : MT_KNOWS_BLOCKS, err));
    int64_t *record = mt_alloc((n + 1) * sizeof *record);
    for (size_t k = 0; k < n; k++) {
        int64_t at = buckets->all.v[k].max_at;
        record[k] = at < 0 ? -1 : levels->all.v[at].record;
    }
    struct filling f = {.device = device, .record = record, .bucket_n = n};
    mt_grouper_init(&f.grouper, &lives->tree, keys, key_n);
    enum mt_status st = MT_OK;
    if (moments)
        read_moments(&f, moments);
    else
        st = mt_group_needs_ops(keys, key_n) ? mt_allocations_each(lives, device, use_life, &f, err)
                                             : read_changes(&f, lives, err);
    if (st == MT_OK)
        make_bands(&f, top, ever, buckets, out);
    mt_grouper_free(&f.grouper);
    mt_vec_free(&f.spans);
    free(record);
    return st;
}

enum mt_status mt_bands_load(struct mt_allocations *lives, const struct mt_run_device *device,
                             const struct mt_levels *levels, const struct mt_moments *moments,
                             const struct mt_buckets *buckets, const enum mt_group_key *keys,
                             int key_n, size_t top, struct mt_bands *out, struct mt_err *err)
{
    return load(lives, device, levels, moments, buckets, keys, key_n, top, false, out, err);
}

enum mt_status mt_bands_load_ever(struct mt_allocations *lives, const struct mt_run_device *device,
                                  const struct mt_levels *levels, const struct mt_moments *moments,
                                  const struct mt_buckets *buckets, const enum mt_group_key *keys,
                                  int key_n, size_t top, struct mt_bands *out, struct mt_err *err)
{
    return load(lives, device, levels, moments, buckets, keys, key_n, top, true, out, err);
}

void mt_bands_free(struct mt_bands *b)
{
    for (size_t i = 0; i < b->all.n; i++)
        free(b->all.v[i].bytes);
    mt_vec_free(&b->all);
}

struct steadiness {
    double varies; /* changes per mean */
    size_t band;
};

static double how_much_varies(const struct mt_bands *b, const struct mt_band *band)
{
    double changes = 0, sum = 0;
    for (size_t k = 0; k < b->bucket_n; k++) {
        double step = k ? (double)band->bytes[k] - (double)band->bytes[k - 1] : 0;
        changes += step < 0 ? -step : step;
        sum += (double)band->bytes[k];
    }
    return sum > 0 ? changes * (double)b->bucket_n / sum : HUGE_VAL;
}

static int by_steadiness(const void *a, const void *b)
{
    const struct steadiness *x = a, *y = b;
    if (x->varies < y->varies || x->varies > y->varies)
        return x->varies < y->varies ? -1 : 1;
    return x->band < y->band ? -1 : 1;
}

void mt_bands_stack(const struct mt_bands *b, size_t *order)
{
    struct steadiness *all = mt_alloc((b->all.n + 1) * sizeof *all);
    for (size_t i = 0; i < b->all.n; i++) {
        bool before = b->before && i + 1 == b->all.n;
        all[i] = (struct steadiness){before ? -1 : how_much_varies(b, &b->all.v[i]), i};
    }
    qsort(all, b->all.n, sizeof *all, by_steadiness);
    for (size_t i = 0; i < b->all.n; i++)
        order[i] = all[i].band;
    free(all);
}
