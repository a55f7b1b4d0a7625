/* Sums per node and device: self, and over the subtree. */
#include "lib/build/build.h"
#include "lib/model/categories.h"

#include <assert.h>
#include <stdlib.h>

/* Index into stats. */
static uint32_t stat_of(struct mt_recording *r, struct mt_map *index, uint32_t node,
                        uint16_t device)
{
    uint32_t *at = mt_map_at(index, (uint64_t)node << 16 | device);
    if (*at == MT_NONE) {
        *at = (uint32_t)r->stats.n;
        *mt_vec_push(&r->stats) = (struct mt_node_stat){.node = node, .device = device};
    }
    return *at;
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

static void add_alloc(struct mt_sums *s, int64_t bytes, bool at_peak, bool at_end)
{
    s->alloc_b += bytes;
    s->alloc_n++;
    s->at_peak_b += at_peak ? bytes : 0;
    s->at_end_b += at_end ? bytes : 0;
    s->at_peak_n += at_peak;
    s->at_end_n += at_end;
}

/* Where the sums of categories are: index + 1, by place and category. Places are the devices, for
 * what is outside ops, then the nodes of `stats`. */
struct category_index {
    MT_VEC(uint32_t) at;
};

/* The sums of blocks of a category. node: MT_NONE, outside ops. */
static struct mt_sums *category_of(struct mt_recording *r, struct category_index *index,
                                   enum mt_category category, uint16_t device, uint32_t node,
                                   uint32_t stat)
{
    size_t place = node == MT_NONE ? device : r->devices.n + stat;
    size_t at = place * MT_CATEGORY_N + category;
    while (index->at.n <= at)
        *mt_vec_push(&index->at) = 0;
    if (!index->at.v[at]) {
        *mt_vec_push(&r->category_stats) = (struct mt_category_stat){
            .node = node, .device = device, .category = (uint8_t)category};
        index->at.v[at] = (uint32_t)r->category_stats.n;
    }
    return &r->category_stats.v[index->at.v[at] - 1].self;
}

static int category_cmp(const void *a, const void *b)
{
    const struct mt_category_stat *x = a, *y = b;
    uint32_t m = x->node + 1, n = y->node + 1; /* 0: outside ops */
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return m != n ? (m < n ? -1 : 1) : (int)x->category - (int)y->category;
}

static void add_record(struct mt_sums *s, const struct mt_record *rec, bool at_peak, bool at_end)
{
    if (rec->bytes >= 0)
        add_alloc(s, rec->bytes, at_peak, at_end);
    else
        s->freed_b -= rec->bytes;
}

static void sum_self(struct mt_recording *r, struct mt_map *index,
                     struct category_index *categories)
{
    for (size_t i = 0; i < r->records.n; i++) {
        const struct mt_record *rec = &r->records.v[i];
        struct mt_device *d = &r->devices.v[rec->device];
        bool alloc = rec->bytes >= 0, at_end = alloc && rec->mate == MT_NONE;
        bool at_peak = alloc && live_at_peak(d, rec, i);
        uint32_t node = mt_rec_node(r, rec);
        d->at_end_b += at_end ? rec->bytes : 0;
        d->at_end_n += at_end;
        if ((at_peak || at_end) && (rec->unseen || mt_rec_may_be_dead(r, rec, node))) {
            d->doubt_at_peak_b += at_peak && (rec->unseen || i != d->peak_record)
                                      ? rec->bytes
                                      : 0; /* not just allocated */
            d->doubt_at_end_b += at_end ? rec->bytes : 0;
        }
        if (mt_rec_frees_older(r, rec) && d->peak_record != SIZE_MAX && i <= d->peak_record)
            d->before_at_peak_b -= rec->bytes;
        if (rec->unseen && !alloc)
            continue; /* no op's: mt_device.unseen_b */
        uint32_t stat = node == MT_NONE ? MT_NONE : stat_of(r, index, node, rec->device);
        if (node == MT_NONE)
            add_outside(d, rec, at_peak, at_end);
        else
            add_record(&r->stats.v[stat].self, rec, at_peak, at_end);
        if (r->categorized && !d->no_addresses)
            add_record(category_of(r, categories, mt_rec_category(r, rec), rec->device, node, stat),
                       rec, at_peak, at_end);
    }
}

static void add_older(struct mt_sums *s, const struct mt_older *o)
{
    s->at_peak_b += o->bytes;
    s->at_end_b += o->bytes;
    s->at_peak_n++;
    s->at_end_n++;
}

/* Blocks older than the recording that outlive it are live at every moment of it. */
static void sum_older(struct mt_recording *r, struct mt_map *index,
                      struct category_index *categories)
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
        uint32_t stat = stat_of(r, index, o->node, o->device); /* may move them */
        add_older(&r->stats.v[stat].self, o);
        if (r->categorized)
            add_older(category_of(r, categories, MT_CATEGORY_BEFORE, o->device, o->node, stat), o);
    }
}

static int total_cmp(const void *a, const void *b)
{
    const struct mt_node_total *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (int)x->device - (int)y->device;
}

/* Finds the nodes whose figures are all those of one node below: long chains of calls often. Where
 * small paths are not listed each has rows of its own, for what they held themselves is unknown. */
static void share_figures(struct mt_recording *r)
{
    uint8_t *part_n = mt_alloc(r->nodes.n + 1); /* children with figures; 2: several, or its own */
    bool all = false;
    for (size_t i = 0; i < r->devices.n; i++)
        all |= r->devices.v[i].knows & (MT_LARGE_AT_PEAK | MT_LARGE_AT_END);
    for (size_t i = 0; i < r->nodes.n; i++)
        r->nodes.v[i].stat_node = MT_NONE;
    for (size_t i = 0; i < r->stats.n; i++)
        part_n[r->stats.v[i].node] = 2;
    for (size_t n = r->nodes.n; n-- > 0;) {
        struct mt_node *node = &r->nodes.v[n];
        if (part_n[n] > 1 || all)
            node->stat_node = MT_NONE;
        if (!part_n[n] || node->parent == MT_NONE)
            continue;
        part_n[node->parent] += part_n[node->parent] < 2;
        r->nodes.v[node->parent].stat_node =
            node->stat_node == MT_NONE ? (uint32_t)n : node->stat_node;
    }
    free(part_n);
}

/* The nearest node above that has rows of its own; MT_NONE: there is none. */
static uint32_t row_above(const struct mt_recording *r, size_t node)
{
    uint32_t above = r->nodes.v[node].parent;
    while (above != MT_NONE && r->nodes.v[above].stat_node != MT_NONE)
        above = r->nodes.v[above].parent;
    return above;
}

/* Gives every node of the device with figures, and every one above that does not share those of
 * another, a row, in order of nodes. place: of nodes, index into totals + 1. */
static void add_rows(struct mt_recording *r, uint32_t *place, uint16_t device)
{
    size_t n = r->totals.n;
    for (size_t i = 0; i < r->stats.n; i++)
        if (r->stats.v[i].device == device)
            place[r->stats.v[i].node] = (uint32_t)i + 1; /* index into stats so far */
    for (size_t node = r->nodes.n; node-- > 0;) {
        uint32_t parent = r->nodes.v[node].parent;
        if (place[node] && parent != MT_NONE && !place[parent])
            place[parent] = MT_NONE;
        if (r->nodes.v[node].stat_node != MT_NONE)
            place[node] = 0;
        n += place[node] != 0;
    }
    r->totals.v = mt_realloc(r->totals.v, n * sizeof *r->totals.v);
    r->totals.cap = n;
    for (size_t node = 0; node < r->nodes.n; node++) {
        uint32_t stat = place[node] == MT_NONE ? MT_NONE : place[node] - 1;
        if (!place[node])
            continue;
        r->totals.v[r->totals.n] =
            (struct mt_node_total){.node = (uint32_t)node, .stat = stat, .device = device};
        place[node] = (uint32_t)++r->totals.n;
    }
}

/* Children have higher numbers than parents: one backward pass adds everything up. */
static void sum_total(struct mt_recording *r, uint16_t device)
{
    uint32_t *place = mt_alloc((r->nodes.n + 1) * sizeof *place);
    add_rows(r, place, device);
    for (size_t n = r->nodes.n; n-- > 0;) {
        struct mt_node_total *own = place[n] ? &r->totals.v[place[n] - 1] : NULL;
        if (!own)
            continue;
        if (own->stat != MT_NONE)
            mt_sums_add(&own->total, &r->stats.v[own->stat].self);
        uint32_t parent = row_above(r, n);
        assert(parent == MT_NONE || parent < n);
        if (parent != MT_NONE)
            mt_sums_add(&r->totals.v[place[parent] - 1].total, &own->total);
    }
    free(place);
}

void mt_build_totals(struct mt_recording *r)
{
    share_figures(r);
    for (size_t d = 0; d < r->devices.n; d++)
        sum_total(r, (uint16_t)d);
    if (r->devices.n > 1 && r->totals.n)
        qsort(r->totals.v, r->totals.n, sizeof *r->totals.v, total_cmp);
}

void mt_build_rollup(struct mt_recording *r)
{
    struct mt_map index = {0};
    struct category_index categories = {0};
    sum_self(r, &index, &categories);
    sum_older(r, &index, &categories);
    mt_map_free(&index);
    mt_vec_free(&categories.at);
    if (r->category_stats.n)
        qsort(r->category_stats.v, r->category_stats.n, sizeof *r->category_stats.v, category_cmp);
    mt_build_totals(r);
}
