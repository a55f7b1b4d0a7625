/* One walk over all records: curves, keyframes, and what sites keep from step to step. */
#include "lib/model/history.h"

#include "lib/build/build.h"
#include "lib/model/categories.h"
#include <assert.h>
#include <stdlib.h>

/* A device is marked again after so many records for each block that was live at the keyframe
 * before, times the devices, and never sooner than the least: all keyframes together stay small
 * beside the blocks themselves. Records of all devices count, for whoever reads on from a keyframe
 * passes them. */
enum {
    KEYFRAME_RECORDS_MIN = 8192,
    KEYFRAME_RECORDS_PER_BLOCK = 4,
    KEYFRAME_ITSELF = 16, /* a keyframe costs as much as so many blocks */
};

/* A block that may be live. */
struct candidate {
    uint32_t block; /* its number: row of alloc */
    uint32_t freed; /* record; MT_NONE = never */
};
struct candidates {
    MT_VEC(struct candidate) all; /* by block */
};

struct device_walk {
    struct mt_packer packer;
    struct candidates fresh; /* in the recording, up to now */
    /* Older than the recording: numbered behind all that are allocated before they go. */
    struct candidates older;
    int64_t marked; /* record of the last keyframe */
    int64_t due;    /* so many records later the next one comes */
};

struct walk {
    struct mt_recording *r;
    struct mt_history *h;
    struct device_walk *devices;
    struct mt_map site_of;  /* node and device -> site of any size */
    struct mt_strtab sized; /* node, device and size -> id of `sized_site` */
    MT_VEC(uint32_t) sized_site;
    struct mt_map max_lifetime_of; /* site and life -> max_lifetime */
};

/* ---- keyframes ---- */

/* Drops those that are freed by a record; appends the numbers of the others to out. */
static void keep_live(struct candidates *c, int64_t record, uint32_t *out, size_t *out_n)
{
    size_t n = 0;
    for (size_t i = 0; i < c->all.n; i++)
        if (c->all.v[i].freed == MT_NONE || c->all.v[i].freed > record) {
            out[(*out_n)++] = c->all.v[i].block;
            c->all.v[n++] = c->all.v[i];
        }
    c->all.n = n;
}

static void add_keyframe(struct walk *w, uint16_t device, int64_t record, int64_t next)
{
    struct device_walk *d = &w->devices[device];
    struct mt_live_keyframe m = {device, record, next, w->h->live.n, 0};
    uint32_t *blocks = mt_alloc((d->fresh.all.n + d->older.all.n + 1) * sizeof *blocks);
    size_t n = 0;
    keep_live(&d->fresh, record, blocks, &n);
    keep_live(&d->older, record, blocks, &n);
    mt_pack_numbers(&w->h->live, blocks, n);
    free(blocks);
    m.bytes = w->h->live.n - m.at;
    *mt_vec_push(&w->h->keyframes) = m;
    d->marked = record;
    d->due = (int64_t)((n + KEYFRAME_ITSELF) * KEYFRAME_RECORDS_PER_BLOCK * w->r->devices.n);
    if (d->due < KEYFRAME_RECORDS_MIN)
        d->due = KEYFRAME_RECORDS_MIN;
}

/* Marks the devices whose time has come, after a record. */
static void add_keyframes(struct walk *w, int64_t record, int64_t next)
{
    for (size_t d = 0; d < w->r->devices.n; d++)
        if (!w->r->devices.v[d].no_addresses && record - w->devices[d].marked >= w->devices[d].due)
            add_keyframe(w, (uint16_t)d, record, next);
}

/* Blocks older than the recording are live from the beginning. */
static void mark_start(struct walk *w)
{
    const struct mt_recording *r = w->r;
    uint32_t block = 0;
    for (uint32_t i = 0; i < r->records.n; i++) {
        const struct mt_record *rec = &r->records.v[i];
        if (!mt_rec_is_block(rec))
            continue;
        if (mt_rec_frees_older(r, rec))
            *mt_vec_push(&w->devices[rec->device].older.all) = (struct candidate){block, i};
        block++;
    }
    for (size_t i = 0; i < r->older.n; i++)
        *mt_vec_push(&w->devices[r->older.v[i].device].older.all) =
            (struct candidate){block + (uint32_t)i, MT_NONE};
    for (size_t d = 0; d < r->devices.n; d++)
        if (w->devices[d].older.all.n)
            add_keyframe(w, (uint16_t)d, -1, 0);
}

/* ---- what sites keep from step to step ---- */

static uint32_t site_of(struct walk *w, uint32_t node, uint16_t device)
{
    uint32_t *at = mt_map_at(&w->site_of, (uint64_t)node << 16 | device);
    if (*at == MT_NONE) {
        *at = (uint32_t)w->h->sites.n;
        *mt_vec_push(&w->h->sites) = (struct mt_site){.node = node, .device = device};
    }
    return *at;
}

/* The site that holds a block: of its size alone where frees are lost. */
static uint32_t holder_of(struct walk *w, uint32_t node, const struct mt_record *rec)
{
    if (!mt_rec_loses_frees(w->r, node, rec->device))
        return site_of(w, node, rec->device);
    const struct {
        int64_t bytes;
        uint32_t node, device; /* as bytes a key, without padding */
    } key = {rec->bytes, node, rec->device};
    uint32_t at = mt_strtab_add(&w->sized, (const char *)&key, sizeof key);
    if (at == w->sized_site.n) {
        *mt_vec_push(&w->sized_site) = (uint32_t)w->h->sites.n;
        *mt_vec_push(&w->h->sites) = (struct mt_site){rec->bytes, node, rec->device};
    }
    return w->sized_site.v[at];
}

static int64_t step_of(const struct walk *w, int64_t t_ns)
{
    return mt_step_dating(w->r->steps.v, w->r->steps.n, w->r->end_ns, t_ns);
}

static void add_life(struct walk *w, uint32_t site, int64_t alloc_step, int64_t freed)
{
    uint32_t *at = mt_map_at(&w->max_lifetime_of, (uint64_t)(freed - alloc_step) << 32 | site);
    if (*at == MT_NONE) {
        *at = (uint32_t)w->h->max_lifetime.n;
        *mt_vec_push(&w->h->max_lifetime) =
            (struct mt_max_lifetime){site, freed - alloc_step, alloc_step};
    }
    if (w->h->max_lifetime.v[*at].alloc_step < alloc_step)
        w->h->max_lifetime.v[*at].alloc_step = alloc_step;
}

/* A block allocated in the recording. Older ones tell nothing of the site that holds them, and
 * those that nobody saw allocated have none. */
static void keep(struct walk *w, const struct mt_record *rec)
{
    int64_t step_n = (int64_t)w->r->steps.n;
    if (!step_n || rec->bytes < 0 || rec->unseen)
        return;
    int64_t alloc_step = step_of(w, rec->t_ns), freed = step_n;
    assert(rec->mate == MT_NONE ||
           w->r->records.v[rec->mate].mate == (uint32_t)(rec - w->r->records.v));
    if (rec->mate != MT_NONE)
        freed = step_of(w, w->r->records.v[rec->mate].t_ns);
    uint32_t node = mt_rec_node(w->r, rec);
    mt_retained_add(&w->h->holdings, holder_of(w, node, rec), rec->bytes,
                    alloc_step < 0 ? 0 : alloc_step, freed);
    if (alloc_step >= 0 && freed < step_n && !w->r->records.v[rec->mate].unseen)
        add_life(w, site_of(w, node, rec->device), alloc_step, freed);
}

static int max_lifetime_cmp(const void *a, const void *b)
{
    const struct mt_max_lifetime *x = a, *y = b;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return x->life > y->life ? -1 : x->life < y->life;
}

/* Leaves out lives that a longer one of a block allocated no earlier makes irrelevant. */
static void prune_max_lifetime(struct mt_history *h)
{
    size_t n = 0;
    if (h->max_lifetime.n)
        qsort(h->max_lifetime.v, h->max_lifetime.n, sizeof *h->max_lifetime.v, max_lifetime_cmp);
    for (size_t i = 0; i < h->max_lifetime.n; i++) {
        const struct mt_max_lifetime *p = &h->max_lifetime.v[i];
        if (!n || h->max_lifetime.v[n - 1].site != p->site ||
            h->max_lifetime.v[n - 1].alloc_step < p->alloc_step)
            h->max_lifetime.v[n++] = *p;
    }
    h->max_lifetime.n = n;
}

/* ---- the walk ---- */

/* Where the block of a record was allocated, as the curve has it. */
static uint32_t origin_of(const struct mt_recording *r, const struct mt_record *rec)
{
    if (rec->bytes < 0 && rec->mate == MT_NONE)
        return MT_ORIGIN_BEFORE;
    const struct mt_record *alloc = rec->bytes < 0 ? &r->records.v[rec->mate] : rec;
    uint32_t node = mt_rec_node(r, alloc);
    uint32_t place = node == MT_NONE ? MT_ORIGIN_OUTSIDE : MT_ORIGIN_NODE + node;
    uint64_t stride = MT_ORIGIN_NODE + (uint64_t)r->nodes.n;
    if (!alloc->rule || stride * MT_CATEGORY_N > UINT32_MAX)
        return place;
    return place + (uint32_t)stride * mt_category_of_rule[alloc->rule];
}

static void walk_records(struct walk *w)
{
    const struct mt_recording *r = w->r;
    uint32_t block = 0;
    for (uint32_t i = 0; i < r->records.n; i++) {
        const struct mt_record *rec = &r->records.v[i];
        struct device_walk *d = &w->devices[rec->device];
        bool known = !r->devices.v[rec->device].no_addresses;
        mt_packer_add(&d->packer, &w->h->curve, i, rec->t_ns - r->start_ns, rec->bytes,
                      origin_of(r, rec));
        if (known && rec->bytes >= 0)
            *mt_vec_push(&d->fresh.all) = (struct candidate){block, rec->mate};
        if (mt_rec_is_block(rec)) {
            block++;
            if (known)
                keep(w, rec);
        }
        if ((i + 1) % KEYFRAME_RECORDS_MIN == 0)
            add_keyframes(w, i, block);
    }
}

void mt_build_history(struct mt_recording *r)
{
    struct walk w = {.r = r, .h = &r->history};
    w.devices = mt_alloc((r->devices.n + 1) * sizeof *w.devices);
    mt_strtab_init(&w.sized);
    for (size_t d = 0; d < r->devices.n; d++) {
        mt_packer_start(&w.devices[d].packer, (uint16_t)d, r->devices.v[d].start_b);
        w.devices[d].marked = -1;
        w.devices[d].due = KEYFRAME_RECORDS_MIN;
    }
    mark_start(&w);
    walk_records(&w);
    mt_retained_sort(&r->history.holdings);
    prune_max_lifetime(&r->history);
    for (size_t d = 0; d < r->devices.n; d++) {
        mt_packer_end(&w.devices[d].packer, &r->history.curve);
        mt_vec_free(&w.devices[d].fresh.all);
        mt_vec_free(&w.devices[d].older.all);
    }
    free(w.devices);
    mt_map_free(&w.site_of);
    mt_strtab_free(&w.sized);
    mt_vec_free(&w.sized_site);
    mt_map_free(&w.max_lifetime_of);
}
