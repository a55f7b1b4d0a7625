#include "lib/analysis/holders.h"

#include "lib/base/wrap.h"
#include <stdlib.h>

static void add_segment(const struct mt_segments *s, const struct mt_seg *g,
                        struct mt_seg_sites *sites, struct mt_holder *by_site)
{
    mt_seg_sites(s, g->first_block, g->first_block + g->block_n, sites);
    for (size_t i = 0; i < sites->rows.n; i++) {
        const struct mt_seg_site *site = &sites->rows.v[i];
        struct mt_holder *h = &by_site[site->site];
        h->holds_b += mt_wrap_sub(g->size_b, g->used_b);
        h->segments_n++;
        mt_wrap_inc(&h->used_b, mt_wrap_sub(site->bytes, site->pending_b));
        h->blocks_n += site->n;
    }
}

void mt_holders_find(const struct mt_segments *s, struct mt_holders *out)
{
    struct mt_holder *by_site = mt_alloc((s->strings.n + 1) * sizeof *by_site);
    struct mt_seg_sites sites = {0};
    *out = (struct mt_holders){0};
    for (size_t i = 0; i < s->all.n; i++)
        if (s->all.v[i].used_b * 2 < s->all.v[i].size_b)
            add_segment(s, &s->all.v[i], &sites, by_site);
    for (uint32_t site = 0; site < s->strings.n; site++) {
        by_site[site].site = site;
        if (by_site[site].segments_n)
            *mt_vec_push(&out->all) = by_site[site];
    }
    mt_vec_free(&sites.rows);
    free(by_site);
}
