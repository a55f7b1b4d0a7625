/* What expandable segments would have to map for an allocation. */
#include "lib/analysis/oom_parts.h"
#include "lib/base/wrap.h"
#include <stdlib.h>
#include <string.h>

#define UNBOUNDED ((int64_t)1 << 60) /* address space behind a segment: more than any request */

bool mt_oom_is_expandable(const struct mt_oom_place *p)
{
    bool serving = false, any = false;
    for (size_t i = 0; i < p->s->all.n; i++) {
        const struct mt_seg *g = &p->s->all.v[i];
        bool serves = mt_oom_serves(p, g);
        if (serves && g->expandable)
            return true;
        serving |= serves;
        any |= g->expandable;
    }
    return !serving && (any || p->s->settings.expandable);
}

static const struct mt_seg *next_range(const struct mt_oom_place *p, size_t from)
{
    for (size_t i = from; i < p->s->all.n; i++)
        if (p->s->all.v[i].expandable && mt_oom_serves(p, &p->s->all.v[i]))
            return &p->s->all.v[i];
    return NULL;
}

/* Addresses that are not mapped behind a range. */
static int64_t gap_behind(const struct mt_seg *g, const struct mt_seg *next)
{
    uint64_t end = g->address + (uint64_t)g->size_b;
    uint64_t gap = next && next->address > end ? next->address - end : 0;
    return !next || gap > (uint64_t)UNBOUNDED ? UNBOUNDED : (int64_t)gap;
}

/* What the block would have mapped at this stretch, whose first `head` bytes stay as they are; -1:
 * there is no room. */
static int64_t map_at(const struct mt_oom_place *p, const struct mt_seg *g,
                      const struct mt_seg_hole *hole, int64_t head, int64_t gap)
{
    bool last = hole->at + hole->size_b == g->size_b;
    int64_t missing = p->block_b - head, behind = hole->size_b - head;
    if (last ? missing - behind > gap : missing > behind)
        return -1;
    int64_t map = missing > 0 ? mt_oom_up_to(missing, mt_seg_unit(p->s, p->small)) : 0;
    return last || map < hole->units_b ? map : hole->units_b;
}

/* The same for a whole range, and what lies behind it. */
static int64_t map_in(const struct mt_oom_place *p, const struct mt_seg *g, int64_t gap,
                      bool released, int64_t *free_b)
{
    int64_t used_to = 0;
    for (struct mt_seg_hole hole = {0}; mt_seg_next_hole(p->s, g, &hole);) {
        bool cut = released && hole.units_b;
        used_to = hole.at + hole.size_b;
        *free_b = cut ? hole.units_at - hole.at : hole.size_b;
        int64_t map = cut || used_to == g->size_b ? map_at(p, g, &hole, *free_b, gap) : -1;
        if (map >= 0)
            return map;
    }
    *free_b = 0;
    if (used_to == g->size_b || gap < p->block_b)
        return -1;
    return mt_oom_up_to(p->block_b, mt_seg_unit(p->s, p->small));
}

int64_t mt_oom_to_map(const struct mt_oom_place *p, bool released, int64_t *free_b)
{
    for (size_t i = 0; i < p->s->all.n; i++) {
        const struct mt_seg *g = &p->s->all.v[i];
        if (!g->expandable || !mt_oom_serves(p, g))
            continue;
        int64_t map = map_in(p, g, gap_behind(g, next_range(p, i + 1)), released, free_b);
        if (map >= 0)
            return map;
    }
    *free_b = 0;
    return mt_oom_up_to(p->block_b, mt_seg_unit(p->s, p->small));
}

/* ---- all blocks side by side ---- */

static int place_cmp(const void *a, const void *b)
{
    const struct mt_seg *x = *(const struct mt_seg *const *)a,
                        *y = *(const struct mt_seg *const *)b;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->pool != y->pool)
        return x->pool < y->pool ? -1 : 1;
    return (int)x->small - (int)y->small;
}

static int64_t in_units(const struct mt_segments *s, int64_t used_b, bool small)
{
    int64_t unit = mt_seg_unit(s, small);
    uint64_t n = (uint64_t)(used_b / unit) + (used_b % unit != 0);
    return (int64_t)(n * (uint64_t)unit);
}

/* The segments v[0..n) of one place. */
static int64_t taken_by(const struct mt_oom_place *p, const struct mt_seg *const *v, size_t n,
                        bool *served)
{
    int64_t used = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        mt_wrap_inc(&used, v[i]->used_b);
        mt_wrap_inc(&size, v[i]->size_b);
    }
    if (mt_oom_serves(p, v[0])) {
        *served = true;
        mt_wrap_inc(&used, p->block_b);
    }
    int64_t taken = in_units(p->s, used, v[0]->small);
    return mt_oom_is_private(p->s, v[0]) && taken < size ? size : taken;
}

int64_t mt_oom_side_by_side(const struct mt_oom_place *p)
{
    size_t n = p->s->all.n;
    int64_t sum = 0;
    bool served = false;
    const struct mt_seg **v = mt_alloc((n + 1) * sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = &p->s->all.v[i];
    qsort(v, n, sizeof *v, place_cmp);
    for (size_t i = 0, from = 0; i < n; i++)
        if (i + 1 == n || place_cmp(&v[i], &v[i + 1]) != 0) {
            mt_wrap_inc(&sum, taken_by(p, v + from, i + 1 - from, &served));
            from = i + 1;
        }
    free(v);
    return served ? sum : mt_wrap_add(sum, in_units(p->s, p->block_b, p->small));
}
