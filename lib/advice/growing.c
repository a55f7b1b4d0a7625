#include "lib/advice/growing.h"

#include "lib/analysis/doubt.h"
#include "lib/analysis/leaks.h"
#include "lib/run/knows.h"
#include <stdlib.h>

enum { WARMUP = 1 }; /* as leaks has it where nobody asks for another */

enum mt_status mt_advice_find_doubt(struct mt_allocations *blocks, struct mt_advice_facts *f,
                                    struct mt_err *err)
{
    struct mt_doubt doubt = {0};
    enum mt_status st = mt_doubt_load(blocks, f->device, &doubt, err);
    for (size_t i = 0; st == MT_OK && doubt.sites.n && i < f->blocks.n; i++) {
        struct mt_advice_block *b = &f->blocks.v[i];
        b->doubtful = b->freed_record == INT64_MAX && b->node != MT_NONE &&
                      mt_doubt_is_on(&doubt, b->node, b->bytes);
    }
    mt_doubt_free(&doubt);
    return st;
}

struct growing {
    struct mt_advice_facts *f;
    MT_VEC(uint32_t) of_group; /* index in facts, MT_NONE: does not grow */
};

static void add_group(void *closure, const struct mt_leak *leak)
{
    struct growing *g = closure;
    bool grows = leak->verdict == MT_VERDICT_LEAK || leak->verdict == MT_VERDICT_CANDIDATE;
    if (!grows || !leak->growth_steps || leak->whole || leak->doubt_b)
        return;
    while (g->of_group.n <= leak->group)
        *mt_vec_push(&g->of_group) = MT_NONE;
    uint32_t *at = &g->of_group.v[leak->group];
    if (*at == MT_NONE) {
        *at = (uint32_t)g->f->growing.n;
        *mt_vec_push(&g->f->growing) = (struct mt_advice_growth){0};
    }
    struct mt_advice_growth *out = &g->f->growing.v[*at];
    out->sure |= leak->verdict == MT_VERDICT_LEAK;
    out->per_step_b += mt_leak_rate_b(leak);
    out->per_step_n += mt_leak_rate_n(leak);
}

/* Of each node the site that grows. */
static void place_nodes(struct growing *g, struct mt_grouper *grouper, size_t node_n)
{
    g->f->growing_of = mt_alloc((node_n + 1) * sizeof *g->f->growing_of);
    for (uint32_t i = 0; i < node_n; i++) {
        const struct mt_origin origin = mt_origin_of_node(i);
        uint32_t group = g->of_group.n ? mt_grouper_of(grouper, &origin) : MT_NONE;
        g->f->growing_of[i] = group < g->of_group.n ? g->of_group.v[group] : MT_NONE;
    }
}

enum mt_status mt_advice_find_growing(struct mt_allocations *blocks, struct mt_advice_facts *f,
                                      struct mt_err *err)
{
    const enum mt_group_key by_site = MT_BY_SITE;
    struct growing g = {.f = f};
    struct mt_grouper grouper;
    if (!mt_device_knows(f->device, MT_KNOWS_AT_END) ||
        !mt_leaks_can_tell((int64_t)blocks->steps.all.n, WARMUP))
        return MT_OK;
    mt_grouper_init(&grouper, &blocks->tree, &by_site, 1);
    enum mt_status st = mt_leaks_each(blocks, f->device, &grouper, WARMUP, add_group, &g, err);
    if (st == MT_OK)
        place_nodes(&g, &grouper, blocks->tree.nodes.n);
    mt_grouper_free(&grouper);
    mt_vec_free(&g.of_group);
    return st;
}

void mt_advice_growing_free(struct mt_advice_facts *f)
{
    free(f->growing_of);
    f->growing_of = NULL;
    mt_vec_free(&f->growing);
}
