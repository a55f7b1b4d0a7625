/* What diff compares of one side: the figures of its groups, from nodes and blocks. */
#include "lib/analysis/diff_parts.h"

#include "lib/base/wrap.h"
#include <stdlib.h>

/* Collects the figures of one side, by the numbers of the grouper. */
struct collector {
    struct mt_diff_side *side;
    struct mt_grouper *grouper;
    bool outermost_calls;
    MT_VEC(bool) met; /* groups that something was said of */
    struct rates {
        MT_VEC(double) v;
    } leaks_b, leaks_n, suspects_b; /* of all groups */
};

static int rate_cmp(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The same for the same rates, whatever order they come in. Frees them. */
static double sum_of(struct rates *r)
{
    double sum = 0;
    if (r->v.n)
        qsort(r->v.v, r->v.n, sizeof *r->v.v, rate_cmp);
    for (size_t i = 0; i < r->v.n; i++)
        sum += r->v.v[i];
    mt_vec_free(&r->v);
    return sum;
}

static void meet(struct collector *c, uint32_t group)
{
    while (c->met.n <= group)
        *mt_vec_push(&c->met) = false;
    c->met.v[group] = true;
}

/* Adds to the figures of a group what the part keeps of these. */
static void add(struct collector *c, struct mt_diff_part *part, uint32_t group,
                const struct mt_figures *f)
{
    meet(c, group);
    mt_diff_part_add(part, group, f);
}

/* The side has those that were met, in their order, and closes ranks. */
static void keep_met(struct collector *c)
{
    struct mt_diff_side *s = c->side;
    for (size_t i = 0; i < c->met.n; i++) {
        const struct mt_group_name *name = &c->grouper->names.v[i];
        if (c->met.v[i])
            *mt_vec_push(&s->groups) = (struct mt_match_key){
                .key = name->key, .number = name->shared, .explicit_row = name->explicit_row};
    }
    mt_vec_room(&s->groups, s->groups.n);
    mt_diff_part_keep(&s->ops, c->met.v, c->met.n);
    mt_diff_part_keep(&s->living, c->met.v, c->met.n);
}

static void add_ops(struct collector *c, uint32_t group, const struct mt_group *from)
{
    struct mt_figures f;
    mt_group_figures(from, &f);
    add(c, &c->side->ops, group, &f);
}

static void add_node(void *closure, const struct mt_node_part *p)
{
    struct collector *c = closure;
    struct mt_group from = {.self = p->self, .recomputed_n = p->recomputed_n};
    if (p->outermost || !c->outermost_calls)
        from.calls_n = p->calls_n;
    if (p->outermost) {
        from.total = p->total;
        from.time_ns = p->time_ns;
    }
    add_ops(c, p->group, &from);
}

static void add_groups_of_ops(struct collector *c, const struct mt_groups *groups)
{
    for (size_t i = 0; i < groups->rows.n; i++) {
        const struct mt_group *g = &groups->rows.v[i];
        add_ops(c, mt_grouper_of_texts(c->grouper, g->key, g->explicit_row), g);
    }
}

/* What is outside ops or freed unseen has a row of its own, as what was there before the recording.
 */
static void add_explicit(struct collector *c)
{
    struct mt_tree *t = c->grouper->tree;
    mt_tree_add_device(t, &c->side->device);
    for (size_t i = 0; i < t->outside.n; i++) {
        const struct mt_sums *sums = &t->outside.v[i].sums;
        const struct mt_node_part part = {.group =
                                              mt_grouper_of_outside(c->grouper, &t->outside.v[i]),
                                          .outermost = true,
                                          .self = *sums,
                                          .total = *sums};
        add_node(c, &part);
    }
    if (t->before_at_peak_b || t->before_at_end_b)
        meet(c, mt_grouper_explicit(c->grouper, "[before trace]"));
}

/* What the user's own categories freed is with the blocks alone. */
static bool needs_lives(const struct mt_op_filter *f, const struct mt_run_device *device)
{
    return mt_own_needs_blocks(device, f->keys, f->key_n) &&
           mt_device_knows(device, MT_KNOWS_BLOCKS);
}

static bool needs_blocks(const struct mt_op_filter *f, const struct mt_run_device *device)
{
    return mt_group_needs_ops(f->keys, f->key_n) || needs_lives(f, device) ||
           (mt_group_has(f->keys, f->key_n, MT_BY_CATEGORY) && mt_device_categorizes(device));
}

static enum mt_status collect_ops(struct collector *c, struct mt_err *err)
{
    struct mt_diff_side *s = c->side;
    struct mt_tree tree = {0};
    struct mt_groups groups = {0};
    const struct mt_op_filter all = {.keys = c->grouper->keys, .key_n = c->grouper->key_n};
    enum mt_status st;
    if (!mt_device_has_events(&s->device) || !needs_blocks(&all, &s->device)) {
        MT_TRY(mt_nodes_each(s->db, &s->run, &s->device, false, c->grouper, add_node, c, err));
        add_explicit(c);
        return MT_OK;
    }
    if (mt_group_needs_ops(all.keys, all.key_n) || needs_lives(&all, &s->device))
        st = mt_group_ops(s->db, &s->run, &s->device, &all, &tree, &groups, err);
    else
        st = mt_group_categories(s->db, &s->run, &s->device, all.keys, all.key_n, &tree, &groups,
                                 err);
    if (st == MT_OK)
        add_groups_of_ops(c, &groups);
    mt_groups_free(&groups);
    mt_tree_free(&tree);
    return st;
}

static enum mt_status collect_peak(struct collector *c, struct mt_err *err)
{
    struct mt_diff_side *s = c->side;
    struct mt_live_set live = {0};
    int64_t record = s->device.peak_record == INT64_MIN ? -1 : s->device.peak_record;
    if (s->device.peak_b == MT_UNKNOWN)
        return MT_OK;
    enum mt_status st = mt_live_at(s->lives, &s->device, record, &live, err);
    struct mt_figures f = {0};
    for (size_t i = 0; i < live.blocks.n && st == MT_OK; i++) {
        const struct mt_allocation *life = &live.blocks.v[i];
        f.v[MT_FIG_AT_PEAK_B].i = life->bytes;
        f.v[MT_FIG_AT_PEAK_N].i = life->blocks_n == MT_UNKNOWN ? -1 : life->blocks_n;
        add(c, &s->living, mt_allocation_group(c->grouper, life), &f);
    }
    if (st == MT_OK && live.sum_b != s->device.peak_b) {
        f.v[MT_FIG_AT_PEAK_B].i = mt_wrap_sub(s->device.peak_b, live.sum_b);
        f.v[MT_FIG_AT_PEAK_N].i = -1;
        add(c, &s->living, mt_grouper_explicit(c->grouper, live.rest), &f);
    }
    mt_live_set_free(&live);
    return st;
}

static void add_leak(void *closure, const struct mt_leak *l)
{
    struct collector *c = closure;
    bool leak = l->verdict == MT_VERDICT_LEAK && l->growth_steps;
    bool suspect = l->verdict <= MT_VERDICT_CANDIDATE && l->growth_steps;
    double bytes = suspect ? mt_leak_rate_b(l) : 0, blocks = suspect ? mt_leak_rate_n(l) : 0;
    const struct mt_figures f = {.v = {[MT_FIG_AT_END_B].i = l->at_end_b,
                                       [MT_FIG_SUSPECT_PER_STEP_B].r = bytes,
                                       [MT_FIG_PER_STEP_B].r = leak ? bytes : 0,
                                       [MT_FIG_PER_STEP_N].r = leak ? blocks : 0,
                                       [MT_FIG_LEAK_AT_END_B].i = leak ? l->at_end_b : 0}};
    add(c, &c->side->living, l->group, &f);
    if (suspect)
        *mt_vec_push(&c->suspects_b.v) = bytes;
    if (!leak)
        return;
    *mt_vec_push(&c->leaks_b.v) = bytes;
    *mt_vec_push(&c->leaks_n.v) = blocks;
    mt_wrap_inc(&c->side->whole.v[MT_FIG_LEAK_AT_END_B].i, l->at_end_b);
}

/* What is alive at the end without a block of it being known. */
static void add_kept(struct collector *c)
{
    int64_t kept_b = mt_run_kept(&c->side->run, &c->side->device);
    const struct mt_figures f = {.v = {[MT_FIG_AT_END_B].i = kept_b}};
    if (kept_b)
        add(c, &c->side->living, mt_grouper_explicit(c->grouper, "[before trace]"), &f);
}

static enum mt_status collect(struct collector *c, int parts, int64_t warmup, struct mt_err *err)
{
    struct mt_diff_side *s = c->side;
    if (parts & MT_DIFF_OPS)
        MT_TRY(collect_ops(c, err));
    if (parts & MT_DIFF_LIVES)
        MT_TRY(collect_peak(c, err));
    if (parts & MT_DIFF_LIVES && mt_allocations_are_known(&s->device)) {
        MT_TRY(mt_leaks_each(s->lives, &s->device, c->grouper, warmup, add_leak, c, err));
        add_kept(c);
    }
    keep_met(c);
    return MT_OK;
}

enum mt_status mt_diff_collect(struct mt_diff_side *s, struct mt_grouper *grouper, int parts,
                               int64_t warmup, struct mt_err *err)
{
    struct collector c = {.side = s,
                          .grouper = grouper,
                          .outermost_calls =
                              mt_group_calls_outermost(grouper->keys, grouper->key_n)};
    mt_diff_part_init(&s->ops, MT_KEPT_OPS);
    mt_diff_part_init(&s->living, MT_KEPT_BLOCKS);
    enum mt_status st = collect(&c, parts, warmup, err);
    s->whole.v[MT_FIG_PER_STEP_B].r = sum_of(&c.leaks_b);
    s->whole.v[MT_FIG_PER_STEP_N].r = sum_of(&c.leaks_n);
    s->whole.v[MT_FIG_SUSPECT_PER_STEP_B].r = sum_of(&c.suspects_b);
    mt_vec_free(&c.met);
    return st;
}
