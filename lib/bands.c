#include "lib/bands.h"

#include <stdlib.h>
#include <string.h>

struct filling {
    const struct mt_run_device *device;
    struct mt_live_groups groups; /* at the peak; its grouper numbers all groups */
    const int64_t *record;        /* of every bucket's maximum; never falls */
    struct mt_bands *bands;
    MT_VEC(uint32_t) band_of; /* group -> band; groups beyond: other */
    uint32_t other;
};

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

/* Makes bands of the heaviest groups, and says of every group to which band it belongs. */
static void choose(struct filling *f, size_t top)
{
    size_t n = f->groups.rows.n, chosen = 0;
    struct ranked *rank = mt_alloc((n + 1) * sizeof *rank);
    for (uint32_t g = 0; g < n; g++) {
        rank[g] = (struct ranked){f->groups.rows.v[g].at[0].bytes, g};
        const char *name = f->groups.rows.v[g].key[0];
        if (f->groups.rows.v[g].explicit_row && strcmp(name, "[before trace]") == 0)
            rank[g].bytes = 0;
        *mt_vec_push(&f->band_of) = MT_NONE;
    }
    qsort(rank, n, sizeof *rank, by_rank);
    for (; chosen < n && chosen < top && rank[chosen].bytes > 0; chosen++) {
        const struct mt_live_group *group = &f->groups.rows.v[rank[chosen].group];
        struct mt_band *band = add_band(f->bands, NULL);
        band->explicit_row = group->explicit_row;
        memcpy(band->key, group->key, sizeof band->key);
        f->band_of.v[rank[chosen].group] = (uint32_t)chosen;
    }
    free(rank);
    f->other = (uint32_t)chosen;
    add_band(f->bands, "[other]");
    add_band(f->bands, "[before trace]");
}

/* The first bucket whose maximum comes with this record or after it. */
static size_t first_from(const struct filling *f, int64_t record)
{
    size_t low = 0, high = f->bands->bucket_n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (f->record[mid] < record)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static enum mt_status use_life(void *closure, const struct mt_life *life, struct mt_err *err)
{
    struct filling *f = closure;
    bool older = life->born_record == INT64_MIN;
    (void)err;
    if (older && (life->born.node == MT_NONE || !f->device->start_b))
        return MT_OK; /* [before trace] is what is left */
    size_t from = first_from(f, life->born_record), to = first_from(f, life->freed_record);
    if (from == to)
        return MT_OK;
    uint32_t group = mt_grouper_of(&f->groups.grouper, &life->born);
    uint32_t band = group < f->band_of.n ? f->band_of.v[group] : MT_NONE;
    int64_t *bytes = f->bands->all.v[band == MT_NONE ? f->other : band].bytes;
    bytes[from] += life->bytes;
    bytes[to] -= life->bytes;
    return MT_OK;
}

/* Makes levels of the changes per bucket, and [before trace] what they lack to the maximum. */
static void add_up(struct mt_bands *b, const struct mt_buckets *buckets)
{
    struct mt_band *before = &b->all.v[b->all.n - 1];
    for (size_t k = 0; k < b->bucket_n; k++)
        before->bytes[k] = buckets->all.v[k].max_b;
    for (struct mt_band *band = b->all.v; band < before; band++)
        for (size_t k = 0; k < b->bucket_n; k++) {
            band->bytes[k] += k ? band->bytes[k - 1] : 0;
            before->bytes[k] -= band->bytes[k];
        }
}

static bool is_empty(const struct mt_band *band, size_t n)
{
    size_t k = 0;
    while (k < n && !band->bytes[k])
        k++;
    return k == n;
}

static void drop_empty(struct mt_bands *b, size_t at)
{
    if (!is_empty(&b->all.v[at], b->bucket_n))
        return;
    free(b->all.v[at].bytes);
    b->all.n--;
    memmove(&b->all.v[at], &b->all.v[at + 1], (b->all.n - at) * sizeof *b->all.v);
}

static void finish(struct mt_bands *b, const struct mt_buckets *buckets)
{
    size_t peak = (size_t)(mt_buckets_peak(buckets) - buckets->all.v), before = b->all.n - 1;
    add_up(b, buckets);
    drop_empty(b, before);
    b->before = b->all.n > before;
    drop_empty(b, before - 1);
    for (size_t i = 0; i < b->all.n; i++)
        b->all.v[i].at_peak_b = b->all.v[i].bytes[peak];
}

enum mt_status mt_bands_load(struct mt_lives *lives, const struct mt_run_device *device,
                             const struct mt_levels *levels, const struct mt_buckets *buckets,
                             const enum mt_group_key *keys, int key_n, size_t top,
                             struct mt_bands *out, struct mt_err *err)
{
    size_t n = buckets->all.n;
    int64_t *record = mt_alloc((n + 1) * sizeof *record);
    struct filling f = {.device = device, .record = record, .bands = out};
    struct mt_live live = {0};
    enum mt_status st;
    *out = (struct mt_bands){.bucket_n = n, .key_n = key_n};
    for (size_t k = 0; k < n; k++) {
        int64_t at = buckets->all.v[k].max_at;
        record[k] = at < 0 ? -1 : levels->all.v[at].record;
    }
    const struct mt_bucket *peak = mt_buckets_peak(buckets);
    mt_live_groups_init(&f.groups, lives, keys, key_n);
    MT_TRY_OUT(mt_lives_known(lives->run, device, err));
    MT_TRY_OUT(mt_live_at(lives, device, record[peak - buckets->all.v], &live, err));
    mt_live_groups_add(&f.groups, &live, peak->max_b, 0);
    choose(&f, top);
    MT_TRY_OUT(mt_lives_each(lives, device, use_life, &f, err));
    finish(out, buckets);
out:
    mt_live_free(&live);
    mt_live_groups_free(&f.groups);
    mt_vec_free(&f.band_of);
    free(record);
    return st;
}

void mt_bands_free(struct mt_bands *b)
{
    for (size_t i = 0; i < b->all.n; i++)
        free(b->all.v[i].bytes);
    mt_vec_free(&b->all);
}
