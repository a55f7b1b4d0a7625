/*
 * Gradients that stay where they are, as with zero_grad(set_to_none=False): the program adds to
 * them again after an optimizer has stepped. A layer that begins to learn leaves one more, which
 * is no leak.
 */
#include "lib/build/build.h"
#include "lib/build/gradients.h"

/* Whether some of gradients of one process, device and size are added to that were there before the
 * last step of an optimizer. */
static bool outlive_steps(const struct mt_gradients *g, size_t first, size_t end)
{
    int64_t added_n = 0, made_n = 0; /* since that step */
    uint32_t pass = MT_NONE, step_n = MT_NONE;
    for (size_t i = first; i < end; i++) {
        const struct mt_gradient *one = &g->all.v[i];
        if (one->backward != pass)
            added_n = 0; /* each may be added to in every pass */
        pass = one->backward;
        if (g->backwards.v[pass].step_n != step_n)
            made_n = 0;
        step_n = g->backwards.v[pass].step_n;
        added_n += one->added;
        made_n += !one->added;
        if (added_n > made_n && step_n)
            return true;
    }
    return false;
}

static uint64_t share_of(const struct mt_gradient *g)
{
    return (uint64_t)g->process << 16 | g->device;
}

static size_t end_of_size(const struct mt_gradients *g, size_t first)
{
    const struct mt_gradient *v = g->all.v;
    size_t end = first;
    while (end < g->all.n && v[end].process == v[first].process &&
           v[end].device == v[first].device && v[end].bytes == v[first].bytes)
        end++;
    return end;
}

static void keep(struct mt_recording *r, const struct mt_gradient *g)
{
    if (g->added || g->freed_ns != INT64_MAX)
        return;
    int64_t step = mt_step_dating(r->steps.v, r->steps.n, r->end_ns, g->alloc_ns);
    *mt_vec_push(&r->history.kept_gradients) =
        (struct mt_kept_gradient){g->device, g->node, step, g->bytes};
}

void mt_build_kept_gradients(struct mt_recording *r, const struct mt_gradients *g)
{
    struct mt_map stay = {0}; /* devices of processes */
    for (size_t i = 0, end; i < g->all.n; i = end) {
        end = end_of_size(g, i);
        if (outlive_steps(g, i, end))
            *mt_map_at(&stay, share_of(&g->all.v[i])) = 1;
    }
    for (size_t i = 0; i < g->all.n && stay.n; i++)
        if (mt_map_get(&stay, share_of(&g->all.v[i])) != MT_MAP_NONE)
            keep(r, &g->all.v[i]);
    mt_map_free(&stay);
}
