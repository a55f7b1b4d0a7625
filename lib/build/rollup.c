/* Sums per node and device: self, and over the subtree. */
#include "lib/build/build.h"

#include <stdlib.h>

static struct mt_sums *self_of(struct mt_recording *r, struct mt_map *index, uint32_t node,
                               uint16_t device)
{
    uint32_t *at = mt_map_at(index, (uint64_t)node << 16 | device);
    if (*at == MT_NONE) {
        *at = (uint32_t)r->stats.n;
        *mt_vec_push(&r->stats) = (struct mt_node_stat){.node = node, .device = device};
    }
    return &r->stats.v[*at].self;
}

static bool live_at_peak(const struct mt_device *d, const struct mt_record *rec, size_t i)
{
    return d->peak_record != SIZE_MAX && i <= d->peak_record &&
           (rec->mate == MT_NONE || rec->mate > d->peak_record);
}

static void add_outside(struct mt_device *d, const struct mt_record *rec, bool at_peak, bool at_end)
{
    d->outside_n++;
    if (rec->bytes < 0) {
        d->outside_freed_b -= rec->bytes;
        return;
    }
    d->outside_alloc_b += rec->bytes;
    d->outside_alloc_n++;
    d->outside_at_peak_b += at_peak ? rec->bytes : 0;
    d->outside_at_end_b += at_end ? rec->bytes : 0;
}

static void add_birth(struct mt_sums *s, int64_t bytes, bool at_peak, bool at_end)
{
    s->alloc_b += bytes;
    s->alloc_n++;
    s->at_peak_b += at_peak ? bytes : 0;
    s->at_end_b += at_end ? bytes : 0;
    s->at_peak_n += at_peak;
    s->at_end_n += at_end;
}

static void sum_self(struct mt_recording *r, struct mt_map *index)
{
    for (size_t i = 0; i < r->records.n; i++) {
        const struct mt_record *rec = &r->records.v[i];
        struct mt_device *d = &r->devices.v[rec->device];
        bool birth = rec->bytes >= 0, at_end = birth && rec->mate == MT_NONE;
        bool at_peak = birth && live_at_peak(d, rec, i);
        uint32_t node = mt_rec_node(r, rec);
        d->at_end_b += at_end ? rec->bytes : 0;
        d->at_end_n += at_end;
        if ((at_peak || at_end) && (rec->unseen || mt_rec_may_be_dead(r, rec, node))) {
            d->doubt_at_peak_b += at_peak && (rec->unseen || i != d->peak_record)
                                      ? rec->bytes
                                      : 0; /* not just born */
            d->doubt_at_end_b += at_end ? rec->bytes : 0;
        }
        if (mt_rec_frees_older(r, rec) && d->peak_record != SIZE_MAX && i <= d->peak_record)
            d->before_at_peak_b -= rec->bytes;
        if (rec->unseen && !birth)
            continue; /* no op's: mt_device.unseen_b */
        if (node == MT_NONE) {
            add_outside(d, rec, at_peak, at_end);
            continue;
        }
        struct mt_sums *s = self_of(r, index, node, rec->device);
        if (birth)
            add_birth(s, rec->bytes, at_peak, at_end);
        else
            s->freed_b -= rec->bytes;
    }
}

/* Blocks older than the recording that outlive it are live at every moment of it. */
static void sum_older(struct mt_recording *r, struct mt_map *index)
{
    for (size_t i = 0; i < r->devices.n; i++)
        r->devices.v[i].at_end_b += r->devices.v[i].kept_b;
    for (size_t i = 0; i < r->older.n; i++) {
        const struct mt_older *o = &r->older.v[i];
        struct mt_device *d = &r->devices.v[o->device];
        d->at_end_b += o->bytes;
        d->at_end_n++;
        if (o->node == MT_NONE)
            continue;
        d->older_b += o->bytes;
        struct mt_sums *s = self_of(r, index, o->node, o->device);
        s->at_peak_b += o->bytes;
        s->at_end_b += o->bytes;
        s->at_peak_n++;
        s->at_end_n++;
    }
}

static int stat_cmp(const void *a, const void *b)
{
    const struct mt_node_stat *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (int)x->device - (int)y->device;
}

/* Children have higher numbers than parents: one backward pass adds everything up. */
static void sum_total(struct mt_recording *r, struct mt_map *index, uint16_t device)
{
    struct mt_sums *total = mt_alloc((r->nodes.n + 1) * sizeof *total);
    bool *touched = mt_alloc(r->nodes.n + 1);
    for (size_t i = 0; i < r->stats.n; i++)
        if (r->stats.v[i].device == device) {
            mt_sums_add(&total[r->stats.v[i].node], &r->stats.v[i].self);
            touched[r->stats.v[i].node] = true;
        }
    for (size_t n = r->nodes.n; n-- > 0;) {
        uint32_t parent = r->nodes.v[n].parent;
        if (!touched[n])
            continue;
        if (parent != MT_NONE) {
            mt_sums_add(&total[parent], &total[n]);
            touched[parent] = true;
        }
        self_of(r, index, (uint32_t)n, device);
        r->stats.v[mt_map_get(index, (uint64_t)n << 16 | device)].total = total[n];
    }
    free(total);
    free(touched);
}

void mt_build_totals(struct mt_recording *r)
{
    struct mt_map index = {0};
    for (size_t i = 0; i < r->stats.n; i++)
        *mt_map_at(&index, (uint64_t)r->stats.v[i].node << 16 | r->stats.v[i].device) = (uint32_t)i;
    for (size_t d = 0; d < r->devices.n; d++)
        sum_total(r, &index, (uint16_t)d);
    if (r->stats.n)
        qsort(r->stats.v, r->stats.n, sizeof *r->stats.v, stat_cmp);
    mt_map_free(&index);
}

void mt_build_rollup(struct mt_recording *r)
{
    struct mt_map index = {0};
    sum_self(r, &index);
    sum_older(r, &index);
    mt_map_free(&index);
    mt_build_totals(r);
}
