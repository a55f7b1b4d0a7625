/* Groups of whole nodes: their stored figures are added up as they are read, none is kept. */
#include "lib/base/wrap.h"
#include "lib/run/knows.h"
#include "lib/run/load_parts.h"

#include <stdlib.h>

/* Where the figures of each node go. */
struct node_groups {
    uint32_t *of;    /* group */
    bool *outermost; /* no node of the group is around it */
};

static void find_groups(struct mt_grouper *g, struct node_groups *out)
{
    const struct mt_tree *t = g->tree;
    uint32_t n = (uint32_t)t->nodes.n;
    out->of = mt_alloc((n + 1) * sizeof *out->of);
    out->outermost = mt_alloc(n + 1);
    if (!n)
        return;
    uint32_t *order = mt_preorder(&t->nodes.v->parent, sizeof *t->nodes.v, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct mt_origin origin = mt_origin_of_node(order[i]);
        out->of[order[i]] = mt_grouper_of(g, &origin);
    }
    uint32_t *open = mt_alloc((g->names.n + 1) * sizeof *open); /* nodes around, by group */
    MT_VEC(uint32_t) stack = {0};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = order[i];
        while (stack.n && stack.v[stack.n - 1] != t->nodes.v[node].parent)
            open[out->of[stack.v[--stack.n]]]--;
        *mt_vec_push(&stack) = node;
        out->outermost[node] = open[out->of[node]]++ == 0;
    }
    mt_vec_free(&stack);
    free(open);
    free(order);
}

static struct mt_node_part part_of(const struct node_groups *groups, uint64_t node)
{
    return (struct mt_node_part){
        .group = groups->of[node], .outermost = groups->outermost[node], .extra = MT_EXTRA_N};
}

/* Where nothing is known of calls and times: each group comes once, where its first node would. */
static void meet_groups(const struct node_groups *groups, const struct mt_grouper *g,
                        mt_node_use *use, void *closure)
{
    bool *met = mt_alloc(g->names.n + 1);
    for (size_t node = 0; node < g->tree->nodes.n; node++) {
        const struct mt_node_part part = part_of(groups, node);
        if (!met[part.group])
            use(closure, &part);
        met[part.group] = true;
    }
    free(met);
}

/* Where figures go that are read node by node. */
struct node_reader {
    const struct node_groups *groups;
    const struct mt_tree *tree;
    mt_node_use *use;
    void *closure;
};

static void use_ops(const struct node_reader *r)
{
    const struct mt_node_ops *ops = &r->tree->ops;
    for (size_t node = 0; node < r->tree->nodes.n; node++) {
        struct mt_node_part part = part_of(r->groups, node);
        part.calls_n = mt_numbers_get(&ops->calls_n, node);
        if (r->tree->nodes.v[node].phase == MT_PHASE_RECOMPUTED)
            part.recomputed_n = part.calls_n;
        part.time_ns = mt_numbers_get(&ops->time_ns, node);
        part.self_time_ns = mt_numbers_get(&ops->self_time_ns, node);
        r->use(r->closure, &part);
    }
}

static void use_stats(void *closure, uint64_t node, const struct mt_sums *self,
                      const struct mt_sums *total)
{
    const struct node_reader *r = closure;
    struct mt_node_part part = part_of(r->groups, node);
    part.self = *self;
    part.total = *total;
    r->use(r->closure, &part);
}

static enum mt_status read_extras(struct mt_db *db, const struct mt_run *run,
                                  const struct mt_run_device *device,
                                  const struct node_groups *groups, const struct mt_tree *t,
                                  mt_node_use *use, void *closure, struct mt_err *err)
{
    size_t n = t->nodes.n;
    int64_t *self = mt_alloc(2 * (n + 1) * sizeof *self), *total = self + n + 1;
    enum mt_status st = MT_OK;
    for (int i = 0; i < MT_EXTRA_N; i++) {
        if (!(device->knows & MT_KNOWS_EXTRA(i)))
            continue;
        MT_TRY_OUT(mt_load_extra(db, run, device->id, (enum mt_extra)i, t, self, total, err));
        for (size_t node = 0; node < n; node++) {
            if (!total[node])
                continue;
            struct mt_node_part part = part_of(groups, node);
            part.extra = (enum mt_extra)i;
            part.extra_self = self[node];
            part.extra_total = total[node];
            use(closure, &part);
        }
    }
out:
    free(self);
    return st;
}

enum mt_status mt_nodes_each(struct mt_db *db, const struct mt_run *run,
                             const struct mt_run_device *device, bool extras, struct mt_grouper *g,
                             mt_node_use *use, void *closure, struct mt_err *err)
{
    struct node_groups groups;
    find_groups(g, &groups);
    struct node_reader reader = {
        .groups = &groups, .tree = g->tree, .use = use, .closure = closure};
    enum mt_status st = MT_OK;
    if (device && !mt_device_has_events(device))
        meet_groups(&groups, g, use, closure);
    else
        use_ops(&reader);
    if (st == MT_OK && device)
        st = mt_load_stats_of(db, run, device, g->tree, use_stats, &reader, err);
    if (st == MT_OK && device && extras && device->knows & MT_KNOWS_EXTRAS)
        st = read_extras(db, run, device, &groups, g->tree, use, closure, err);
    free(groups.of);
    free(groups.outermost);
    return st;
}

enum { WAITING = 16 };

/* Nodes come in an order of their own: while some wait, their groups are fetched into the
 * processor's cache. */
struct adder {
    struct mt_grouper *grouper;
    struct mt_groups *out;
    bool outermost_calls;
    unsigned waiting_n;
    struct mt_node_part waiting[WAITING];
};

static void add_extra(struct mt_groups *out, const struct mt_node_part *p)
{
    while (out->extras.n <= p->group)
        *mt_vec_push(&out->extras) = (struct mt_extra_sums){0};
    struct mt_extra_sums *x = &out->extras.v[p->group];
    mt_extra_add(&x->self[p->extra], p->extra_self);
    if (p->outermost)
        mt_extra_add(&x->total[p->extra], p->extra_total);
}

static void add_to_row(const struct adder *a, const struct mt_node_part *p)
{
    struct mt_group *row = &a->out->rows.v[p->group];
    mt_wrap_inc(&row->calls_n, p->outermost || !a->outermost_calls ? p->calls_n : 0);
    mt_wrap_inc(&row->recomputed_n, p->recomputed_n);
    mt_wrap_inc(&row->self_time_ns, p->self_time_ns);
    mt_sums_add(&row->self, &p->self);
    if (!p->outermost)
        return;
    mt_wrap_inc(&row->time_ns, p->time_ns);
    mt_sums_add(&row->total, &p->total);
}

static void add_waiting(struct adder *a)
{
    for (unsigned i = 0; i < a->waiting_n; i++)
        add_to_row(a, &a->waiting[i]);
    a->waiting_n = 0;
}

static void add_part(void *closure, const struct mt_node_part *p)
{
    enum { LINE = 64 }; /* bytes that a processor fetches together */
    struct adder *a = closure;
    if (p->extra != MT_EXTRA_N) {
        add_extra(a->out, p);
        return;
    }
    while (a->out->rows.n <= p->group)
        mt_groups_row(a->out, a->grouper, (uint32_t)a->out->rows.n);
    const char *row = (const char *)&a->out->rows.v[p->group];
    for (size_t at = 0; at < sizeof(struct mt_group); at += LINE)
        __builtin_prefetch(row + at, 1);
    a->waiting[a->waiting_n++] = *p;
    if (a->waiting_n == WAITING)
        add_waiting(a);
}

/* Every row gets its further figures. */
static void put_extras(struct mt_groups *out)
{
    while (out->extras.n < out->rows.n)
        *mt_vec_push(&out->extras) = (struct mt_extra_sums){0};
    for (size_t i = 0; i < out->rows.n; i++)
        out->rows.v[i].extra = &out->extras.v[i];
}

enum mt_status mt_group_nodes(struct mt_db *db, const struct mt_run *run,
                              const struct mt_run_device *device, const enum mt_group_key *keys,
                              int key_n, struct mt_tree *t, struct mt_groups *out,
                              struct mt_err *err)
{
    struct mt_grouper g;
    MT_TRY(mt_load_nodes(db, run, t, err));
    mt_grouper_init(&g, t, keys, key_n);
    struct adder a = {
        .grouper = &g, .out = out, .outermost_calls = mt_group_calls_outermost(keys, key_n)};
    enum mt_status st = mt_nodes_each(db, run, device, true, &g, add_part, &a, err);
    add_waiting(&a);
    if (st == MT_OK && device) {
        mt_tree_add_device(t, device);
        mt_groups_add_explicit(out, &g);
        if (device->knows & MT_KNOWS_EXTRAS)
            put_extras(out);
    }
    mt_grouper_free(&g);
    return st;
}
