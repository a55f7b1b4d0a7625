/* Sums of groups: self sums, and inclusive sums that count nested items of a group once. */
#include "lib/base/wrap.h"
#include "lib/run/load.h"

#include <stdlib.h>

struct mt_group *mt_groups_row(struct mt_groups *out, const struct mt_grouper *g, uint32_t group)
{
    if (group == out->rows.n) {
        struct mt_group *row = mt_vec_push(&out->rows);
        const struct mt_group_name *name = &g->names.v[group];
        *row = (struct mt_group){
            .key = name->key, .explicit_row = name->explicit_row, .has_calls = !name->explicit_row};
    }
    return &out->rows.v[group];
}

/* Adds inclusive sums: an item counts unless an item of its group is open around it. */
static void add_inclusive(struct mt_tree *t, bool outermost_calls, struct mt_groups *out)
{
    uint32_t *open = mt_alloc((out->rows.n + 1) * sizeof *open);
    MT_VEC(uint32_t) stack = {0};
    for (uint32_t i = 0; i < t->items.n; i++) {
        const struct mt_item *item = &t->items.v[i];
        while (stack.n && stack.v[stack.n - 1] != item->parent)
            open[t->items.v[stack.v[--stack.n]].group]--;
        *mt_vec_push(&stack) = i;
        if (open[item->group]++)
            continue;
        struct mt_group *g = &out->rows.v[item->group];
        mt_sums_add(&g->total, &item->total);
        mt_wrap_inc(&g->time_ns, item->time_ns);
        mt_wrap_inc(&g->calls_n, outermost_calls ? item->calls_n : 0);
    }
    mt_vec_free(&stack);
    free(open);
}

void mt_groups_add_explicit(struct mt_groups *out, struct mt_grouper *g)
{
    const struct mt_tree *t = g->tree;
    for (size_t i = 0; i < t->outside.n; i++) {
        const struct mt_outside *o = &t->outside.v[i];
        struct mt_group *row = mt_groups_row(out, g, mt_grouper_of_outside(g, o));
        mt_sums_add(&row->self, &o->sums);
        mt_sums_add(&row->total, &o->sums);
    }
    if (!t->before_at_peak_b && !t->before_at_end_b)
        return;
    struct mt_group *row = mt_groups_row(out, g, mt_grouper_explicit(g, "[before trace]"));
    /* by category there are those whose call path is known in it, too */
    const struct mt_sums unknown = {.at_peak_b = t->before_at_peak_b,
                                    .at_end_b = t->before_at_end_b};
    mt_sums_add(&row->self, &unknown);
    mt_sums_add(&row->total, &unknown);
}

void mt_groups_add_tree(struct mt_groups *out, struct mt_grouper *g)
{
    struct mt_tree *t = g->tree;
    bool outermost_calls = mt_group_calls_outermost(g->keys, g->key_n);
    for (size_t i = 0; i < t->items.n; i++) {
        struct mt_item *item = &t->items.v[i];
        const struct mt_origin origin = mt_origin_of_item(item);
        item->group = mt_grouper_of(g, &origin);
        struct mt_group *row = mt_groups_row(out, g, item->group);
        mt_sums_add(&row->self, &item->self);
        mt_wrap_inc(&row->calls_n, outermost_calls ? 0 : item->calls_n);
        if (item->node != MT_NONE && t->nodes.v[item->node].phase == MT_PHASE_RECOMPUTED)
            mt_wrap_inc(&row->recomputed_n, item->calls_n);
        mt_wrap_inc(&row->self_time_ns, item->self_time_ns);
    }
    add_inclusive(t, outermost_calls, out);
    mt_groups_add_explicit(out, g);
}

void mt_group(struct mt_tree *t, const enum mt_group_key *keys, int key_n, struct mt_groups *out)
{
    struct mt_grouper g;
    mt_grouper_init(&g, t, keys, key_n);
    mt_groups_add_tree(out, &g);
    mt_grouper_free(&g);
}

void mt_groups_free(struct mt_groups *g)
{
    mt_vec_free(&g->rows);
    mt_vec_free(&g->extras);
}
