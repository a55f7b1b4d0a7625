#include "lib/usage/step_growth.h"

#include "lib/base/wrap.h"
#include <stdlib.h>

/* How much a site grew in a step. */
struct growth {
    uint32_t step, group;
    int64_t bytes;
};

struct growths {
    const struct mt_steps *steps;
    struct mt_origin_groups groups;
    MT_VEC(struct growth) all;
    MT_VEC(uint32_t) newest; /* of each group, its last; MT_NONE = none */
};

/* Changes come in order of time, so that a site's growth in this step is its newest. */
static void use_change(void *closure, const struct mt_change *c)
{
    struct growths *g = closure;
    uint32_t group = mt_origin_group(&g->groups, c->origin);
    int64_t step = mt_steps_under_way(g->steps, c->level.t_ns);
    if (group == MT_NONE || step < 0)
        return;
    while (g->newest.n <= group)
        *mt_vec_push(&g->newest) = MT_NONE;
    uint32_t *newest = &g->newest.v[group];
    if (*newest == MT_NONE || g->all.v[*newest].step != step) {
        *newest = (uint32_t)g->all.n;
        *mt_vec_push(&g->all) = (struct growth){(uint32_t)step, group, 0};
    }
    mt_wrap_inc(&g->all.v[*newest].bytes, c->bytes);
}

static void find_most(const struct growths *g, const struct mt_grouper *sites,
                      struct mt_step_growth *out)
{
    for (size_t i = 0; i < g->all.n; i++) {
        const struct growth *one = &g->all.v[i];
        if (one->bytes > out[one->step].bytes)
            out[one->step] = (struct mt_step_growth){one->bytes, sites->names.v[one->group].key[0]};
    }
}

enum mt_status mt_step_growths_load(struct mt_allocations *blocks,
                                    const struct mt_run_device *device, struct mt_step_growth **out,
                                    struct mt_err *err)
{
    const enum mt_group_key site = MT_BY_SITE;
    struct mt_grouper sites;
    struct growths g = {.steps = &blocks->steps};
    enum mt_status st = MT_OK;
    *out = mt_alloc((blocks->steps.all.n + 1) * sizeof **out);
    if (!mt_allocations_are_known(device))
        return MT_OK;
    mt_grouper_init(&sites, &blocks->tree, &site, 1);
    mt_origin_groups_init(&g.groups, &sites);
    st = mt_changes_each(blocks->db, blocks->run, device, use_change, &g, err);
    find_most(&g, &sites, *out);
    mt_origin_groups_free(&g.groups);
    mt_grouper_free(&sites);
    mt_vec_free(&g.newest);
    mt_vec_free(&g.all);
    return st;
}
