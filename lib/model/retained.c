#include "lib/model/retained.h"

#include "lib/base/wrap.h"
#include <stdlib.h>

void mt_retained_change(struct mt_retained *h, uint32_t site, int64_t step, int64_t bytes,
                        int64_t blocks_n)
{
    uint32_t *at = mt_map_at(&h->index, (uint64_t)step << 32 | site);
    if (*at == MT_MAP_NONE) {
        *at = (uint32_t)h->all.n;
        *mt_vec_push(&h->all) = (struct mt_retained_change){.site = site, .step = step};
    }
    mt_wrap_inc(&h->all.v[*at].bytes, bytes);
    mt_wrap_inc(&h->all.v[*at].blocks_n, blocks_n);
}

void mt_retained_add(struct mt_retained *h, uint32_t site, int64_t bytes, int64_t from, int64_t to)
{
    if (from >= to || !bytes)
        return;
    mt_retained_change(h, site, from, bytes, 1);
    mt_retained_change(h, site, to, mt_wrap_sub(0, bytes), -1);
}

void mt_retained_free(struct mt_retained *h)
{
    mt_map_free(&h->index);
    mt_vec_free(&h->all);
}

static int holding_cmp(const void *a, const void *b)
{
    const struct mt_retained_change *x = a, *y = b;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return x->step < y->step ? -1 : x->step > y->step;
}

void mt_retained_sort(struct mt_retained *h)
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
static size_t first_of(const struct mt_retained *h, uint32_t site)
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

/* What a site holds, step by step. */
struct held {
    const struct mt_retained *h;
    size_t next; /* change */
    int64_t bytes, blocks_n;
};

static struct held held_before(const struct mt_retained *h, uint32_t site)
{
    return (struct held){.h = h, .next = first_of(h, site)};
}

/* The next step in which that changes; INT64_MAX = none. */
static int64_t next_change(const struct held *at, uint32_t site)
{
    const struct mt_retained_change *v = at->h->all.v;
    return at->next < at->h->all.n && v[at->next].site == site ? v[at->next].step : INT64_MAX;
}

/* Goes on to the end of a step. */
static void hold(struct held *at, uint32_t site, int64_t step)
{
    for (; next_change(at, site) <= step; at->next++) {
        mt_wrap_inc(&at->bytes, at->h->all.v[at->next].bytes);
        mt_wrap_inc(&at->blocks_n, at->h->all.v[at->next].blocks_n);
    }
}

static struct held held_at(const struct mt_retained *h, uint32_t site, int64_t step)
{
    struct held at = held_before(h, site);
    hold(&at, site, step);
    return at;
}

int64_t mt_retained_blocks(const struct mt_retained *h, uint32_t site, int64_t step)
{
    return held_at(h, site, step).blocks_n;
}

int64_t mt_retained_bytes(const struct mt_retained *h, uint32_t site, int64_t step)
{
    return held_at(h, site, step).bytes;
}

/* The most blocks at the end of any of these steps. */
static int64_t most_blocks(struct held *at, uint32_t site, int64_t first, int64_t last)
{
    int64_t most = 0;
    for (int64_t step = first; step <= last; step = next_change(at, site)) {
        hold(at, site, step);
        most = at->blocks_n > most ? at->blocks_n : most;
    }
    return most;
}

bool mt_retained_higher(const struct mt_retained *h, uint32_t site, int64_t first, int64_t last)
{
    if (first > last)
        return false;
    struct held at = held_before(h, site);
    int64_t half = first + (last - first + 1) / 2;
    int64_t before = most_blocks(&at, site, first, half - 1);
    return most_blocks(&at, site, half, last) > before;
}

/* One more rise, from `before` to `at`. */
static void add_rise(struct mt_retained_trend *r, const struct held *before, const struct held *at,
                     int64_t step, struct held *from, struct held *by)
{
    const struct held rise = {.bytes = mt_wrap_sub(at->bytes, before->bytes),
                              .blocks_n = mt_wrap_sub(at->blocks_n, before->blocks_n)};
    if (r->first < 0) {
        r->first = r->last = step;
        *from = *at;
        return;
    }
    int64_t pause = step - r->last;
    bool second = r->last == r->first;
    r->alike &= second || (rise.bytes == by->bytes && rise.blocks_n == by->blocks_n);
    r->even &= r->alike && (second || pause == r->pause);
    *by = rise;
    r->pause = pause > r->pause ? pause : r->pause;
    r->last = step;
    r->bytes = mt_wrap_sub(at->bytes, from->bytes);
    r->blocks_n = mt_wrap_sub(at->blocks_n, from->blocks_n);
}

struct mt_retained_trend mt_retained_rises(const struct mt_retained *h, uint32_t site,
                                           int64_t first, int64_t last)
{
    struct held at = held_before(h, site), from = {0}, by = {0};
    struct mt_retained_trend r = {.fell = -1, .first = -1, .last = -1, .alike = true, .even = true};
    hold(&at, site, first - 1);
    for (int64_t step; (step = next_change(&at, site)) <= last;) {
        const struct held before = at;
        hold(&at, site, step);
        r.falls |= step > first && at.bytes < before.bytes;
        r.fell = at.bytes < before.bytes ? step : r.fell;
        if (at.bytes <= before.bytes)
            continue;
        r.n += step > first;
        add_rise(&r, &before, &at, step, &from, &by);
    }
    return r;
}

static void add_to_part(struct mt_retained_part *p, const struct held *at, int64_t step)
{
    p->least_n = at->blocks_n < p->least_n ? at->blocks_n : p->least_n;
    p->most_n = at->blocks_n > p->most_n ? at->blocks_n : p->most_n;
    p->least_b = at->bytes < p->least_b ? at->bytes : p->least_b;
    if (at->bytes <= p->most_b)
        return;
    p->most_b = at->bytes;
    p->most_at.step = step;
    p->most_at.blocks_n = at->blocks_n;
}

void mt_retained_in_parts(const struct mt_retained *h, uint32_t site, int64_t first, int64_t last,
                          struct mt_retained_part parts[MT_RETAINED_PARTS])
{
    struct held at = held_before(h, site);
    int64_t step_n = last - first + 1, from = first;
    for (int i = 0; i < MT_RETAINED_PARTS; i++) {
        int64_t to = first + step_n * (i + 1) / MT_RETAINED_PARTS;
        hold(&at, site, from);
        parts[i] = (struct mt_retained_part){
            at.blocks_n, at.blocks_n, at.bytes, at.bytes, {from, at.blocks_n}};
        for (int64_t step; (step = next_change(&at, site)) < to;) {
            hold(&at, site, step);
            add_to_part(&parts[i], &at, step);
        }
        from = to;
    }
}
