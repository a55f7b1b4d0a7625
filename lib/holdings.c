#include "lib/holdings.h"

#include "lib/wrap.h"
#include <stdlib.h>

void mt_holdings_change(struct mt_holdings *h, uint32_t site, int64_t step, int64_t bytes,
                        int64_t blocks_n)
{
    uint32_t *at = mt_map_at(&h->index, (uint64_t)step << 32 | site);
    if (*at == MT_MAP_NONE) {
        *at = (uint32_t)h->all.n;
        *mt_vec_push(&h->all) = (struct mt_holding){.site = site, .step = step};
    }
    mt_wrap_inc(&h->all.v[*at].bytes, bytes);
    mt_wrap_inc(&h->all.v[*at].blocks_n, blocks_n);
}

void mt_holdings_add(struct mt_holdings *h, uint32_t site, int64_t bytes, int64_t from, int64_t to)
{
    if (from >= to)
        return;
    mt_holdings_change(h, site, from, bytes, 1);
    mt_holdings_change(h, site, to, mt_wrap_sub(0, bytes), -1);
}

void mt_holdings_free(struct mt_holdings *h)
{
    mt_map_free(&h->index);
    mt_vec_free(&h->all);
}

static int holding_cmp(const void *a, const void *b)
{
    const struct mt_holding *x = a, *y = b;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return x->step < y->step ? -1 : x->step > y->step;
}

void mt_holdings_sort(struct mt_holdings *h)
{
    size_t n = 0;
    mt_map_free(&h->index);
    for (size_t i = 0; i < h->all.n; i++)
        if (h->all.v[i].bytes || h->all.v[i].blocks_n)
            h->all.v[n++] = h->all.v[i];
    h->all.n = n;
    if (n)
        qsort(h->all.v, n, sizeof *h->all.v, holding_cmp);
}

/* Index of the first change of a site. */
static size_t first_of(const struct mt_holdings *h, uint32_t site)
{
    size_t low = 0, high = h->all.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (h->all.v[mid].site < site)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

struct mt_trend mt_holdings_trend(const struct mt_holdings *h, uint32_t site, int64_t first,
                                  int64_t last)
{
    struct mt_trend t = {.rising = first < last};
    int64_t half = first + (last - first + 1) / 2, bytes = 0, blocks_n = 0;
    int64_t most_n[2] = {0, 0}; /* blocks, by half */
    size_t i = first_of(h, site);
    for (; i < h->all.n && h->all.v[i].site == site && h->all.v[i].step < first; i++) {
        mt_wrap_inc(&bytes, h->all.v[i].bytes);
        mt_wrap_inc(&blocks_n, h->all.v[i].blocks_n);
    }
    for (int64_t step = first; step <= last; step++) {
        int64_t before_b = bytes;
        if (i < h->all.n && h->all.v[i].site == site && h->all.v[i].step == step) {
            mt_wrap_inc(&bytes, h->all.v[i].bytes);
            mt_wrap_inc(&blocks_n, h->all.v[i++].blocks_n);
        }
        int64_t *most = &most_n[step >= half];
        *most = blocks_n > *most ? blocks_n : *most;
        if (step == first) {
            mt_wrap_dec(&t.bytes, bytes);
            mt_wrap_dec(&t.blocks_n, blocks_n);
        } else
            t.rising &= bytes > before_b;
    }
    mt_wrap_inc(&t.bytes, bytes);
    mt_wrap_inc(&t.blocks_n, blocks_n);
    t.higher = most_n[1] > most_n[0];
    return t;
}
