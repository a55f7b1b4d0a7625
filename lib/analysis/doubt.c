#include "lib/analysis/doubt.h"

static uint32_t site_of(const struct mt_doubt *d, uint32_t node)
{
    return d->sites.n ? mt_map_get(&d->sites, mt_tree_site(d->tree, node)) : MT_MAP_NONE;
}

bool mt_doubt_loses(const struct mt_doubt *d, uint32_t node)
{
    return site_of(d, node) != MT_MAP_NONE;
}

static struct mt_doubt_size *size_of(struct mt_doubt *d, uint32_t site, int64_t bytes)
{
    const struct {
        int64_t bytes;
        uint64_t site; /* as bytes a key, without padding */
    } key = {bytes, site};
    uint32_t at = mt_strtab_add(&d->known, (const char *)&key, sizeof key);
    if (at == d->sizes.n)
        *mt_vec_push(&d->sizes) = (struct mt_doubt_size){.site = site};
    return &d->sizes.v[at];
}

static void use_loss(void *closure, uint64_t key, int64_t bytes)
{
    struct mt_doubt *d = closure;
    uint32_t *site = mt_map_at(&d->sites, key);
    if (*site == MT_MAP_NONE) {
        *site = (uint32_t)d->by_site.n;
        *mt_vec_push(&d->by_site) = (struct mt_doubt_site){0};
    }
    size_of(d, *site, bytes)->lost = true;
}

static void count_alive(struct mt_doubt *d, const struct mt_live_set *live)
{
    for (size_t i = 0; i < live->blocks.n; i++) {
        const struct mt_allocation *life = &live->blocks.v[i];
        uint32_t site = site_of(d, life->origin.node);
        if (site != MT_MAP_NONE && !mt_allocation_is_older(life))
            size_of(d, site, life->bytes)->alive_n++;
    }
    for (size_t i = 0; i < d->sizes.n; i++) {
        const struct mt_doubt_size *size = &d->sizes.v[i];
        int64_t *most_n = &d->by_site.v[size->site].most_n;
        if (size->lost && size->alive_n > *most_n)
            *most_n = size->alive_n;
    }
}

enum mt_status mt_doubt_load(struct mt_allocations *l, const struct mt_run_device *device,
                             struct mt_doubt *out, struct mt_err *err)
{
    struct mt_live_set live = {0};
    *out = (struct mt_doubt){.tree = &l->tree};
    if (!mt_device_is_bounded(device))
        return MT_OK;
    mt_strtab_init(&out->known);
    MT_TRY(mt_losses_each(l, device, use_loss, out, err));
    enum mt_status st = mt_live_at(l, device, MT_AT_END, &live, err);
    if (st == MT_OK)
        count_alive(out, &live);
    mt_live_set_free(&live);
    return st;
}

void mt_doubt_free(struct mt_doubt *d)
{
    mt_map_free(&d->sites);
    mt_vec_free(&d->by_site);
    if (d->known.slot)
        mt_strtab_free(&d->known);
    mt_vec_free(&d->sizes);
}

bool mt_doubt_is_on(struct mt_doubt *d, uint32_t node, int64_t bytes)
{
    uint32_t site = site_of(d, node);
    if (site == MT_MAP_NONE)
        return false;
    const struct mt_doubt_size *size = size_of(d, site, bytes);
    return size->lost || size->alive_n <= MT_CACHED ||
           size->alive_n <= d->by_site.v[site].most_n * MT_CACHED_TIMES;
}

bool mt_doubt_life(struct mt_doubt *d, const struct mt_allocation *life)
{
    return !mt_allocation_is_older(life) && mt_doubt_is_on(d, life->origin.node, life->bytes);
}
