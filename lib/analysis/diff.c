#include "lib/analysis/diff.h"

#include "lib/base/wrap.h"
#include <stdlib.h>
#include <string.h>

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

static struct mt_diff_ops *ops_of(struct collector *c, uint32_t group)
{
    meet(c, group);
    while (c->side->ops.n <= group)
        *mt_vec_push(&c->side->ops) = (struct mt_diff_ops){0};
    return &c->side->ops.v[group];
}

static struct mt_diff_lives *lives_of(struct collector *c, uint32_t group)
{
    meet(c, group);
    while (c->side->living.n <= group)
        *mt_vec_push(&c->side->living) = (struct mt_diff_lives){0};
    return &c->side->living.v[group];
}

/* The side has those that were met, in their order, and closes ranks. */
static void keep_met(struct collector *c)
{
    struct mt_diff_side *s = c->side;
    size_t op_n = 0, living_n = 0;
    for (size_t i = 0; i < c->met.n; i++) {
        const struct mt_group_name *name = &c->grouper->names.v[i];
        if (!c->met.v[i])
            continue;
        *mt_vec_push(&s->groups) =
            (struct mt_match_key){.key = name->key, .explicit_row = name->explicit_row};
        if (i < s->ops.n)
            s->ops.v[op_n++] = s->ops.v[i];
        if (i < s->living.n)
            s->living.v[living_n++] = s->living.v[i];
    }
    s->ops.n = op_n;
    s->living.n = living_n;
}

static void add_node(void *closure, const struct mt_node_part *p)
{
    struct collector *c = closure;
    struct mt_diff_ops *f = ops_of(c, p->group);
    mt_wrap_inc(&f->self_net_b, mt_sums_net(&p->self));
    mt_wrap_inc(&f->self_alloc_b, p->self.alloc_b);
    mt_wrap_inc(&f->self_alloc_n, p->self.alloc_n);
    mt_wrap_inc(&f->calls_n, p->outermost || !c->outermost_calls ? p->calls_n : 0);
    mt_wrap_inc(&f->recomputed_n, p->recomputed_n);
    if (!p->outermost)
        return;
    mt_wrap_inc(&f->net_b, mt_sums_net(&p->total));
    mt_wrap_inc(&f->alloc_b, p->total.alloc_b);
    mt_wrap_inc(&f->time_ns, p->time_ns);
}

static void add_groups_of_ops(struct collector *c, const struct mt_groups *groups)
{
    for (size_t i = 0; i < groups->rows.n; i++) {
        const struct mt_group *g = &groups->rows.v[i];
        struct mt_diff_ops *f = ops_of(c, mt_grouper_of_texts(c->grouper, g->key, g->explicit_row));
        mt_wrap_inc(&f->self_net_b, mt_sums_net(&g->self));
        mt_wrap_inc(&f->net_b, mt_sums_net(&g->total));
        mt_wrap_inc(&f->self_alloc_b, g->self.alloc_b);
        mt_wrap_inc(&f->self_alloc_n, g->self.alloc_n);
        mt_wrap_inc(&f->alloc_b, g->total.alloc_b);
        mt_wrap_inc(&f->calls_n, g->calls_n);
        mt_wrap_inc(&f->recomputed_n, g->recomputed_n);
        mt_wrap_inc(&f->time_ns, g->time_ns);
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
        ops_of(c, mt_grouper_explicit(c->grouper, "[before trace]"));
}

static enum mt_status collect_ops(struct collector *c, struct mt_err *err)
{
    struct mt_diff_side *s = c->side;
    struct mt_tree tree = {0};
    struct mt_groups groups = {0};
    const struct mt_op_filter all = {.keys = c->grouper->keys, .key_n = c->grouper->key_n};
    enum mt_status st;
    if (!mt_group_needs_ops(all.keys, all.key_n)) {
        MT_TRY(mt_nodes_each(s->db, &s->run, &s->device, c->grouper, add_node, c, err));
        add_explicit(c);
        return MT_OK;
    }
    st = mt_group_ops(s->db, &s->run, &s->device, &all, &tree, &groups, err);
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
    for (size_t i = 0; i < live.blocks.n && st == MT_OK; i++) {
        const struct mt_allocation *life = &live.blocks.v[i];
        struct mt_diff_lives *f = lives_of(c, mt_allocation_group(c->grouper, life));
        mt_wrap_inc(&f->at_peak_b, life->bytes);
        f->at_peak_n = life->blocks_n == MT_UNKNOWN || f->at_peak_n < 0
                           ? -1
                           : mt_wrap_add(f->at_peak_n, life->blocks_n);
    }
    if (st == MT_OK && live.sum_b != s->device.peak_b) {
        struct mt_diff_lives *rest = lives_of(c, mt_grouper_explicit(c->grouper, live.rest));
        mt_wrap_inc(&rest->at_peak_b, mt_wrap_sub(s->device.peak_b, live.sum_b));
        rest->at_peak_n = -1;
    }
    mt_live_set_free(&live);
    return st;
}

static void add_leak(void *closure, const struct mt_leak *l)
{
    struct collector *c = closure;
    struct mt_figures *whole = &c->side->whole;
    struct mt_diff_lives *f = lives_of(c, l->group);
    mt_wrap_inc(&f->at_end_b, l->at_end_b);
    if (l->verdict > MT_VERDICT_CANDIDATE || !l->growth_steps)
        return;
    double bytes = mt_leak_rate_b(l), blocks = mt_leak_rate_n(l);
    f->suspect_per_step_b += bytes;
    *mt_vec_push(&c->suspects_b.v) = bytes;
    if (l->verdict != MT_VERDICT_LEAK)
        return;
    f->per_step_b += bytes;
    f->per_step_n += blocks;
    mt_wrap_inc(&f->leak_at_end_b, l->at_end_b);
    *mt_vec_push(&c->leaks_b.v) = bytes;
    *mt_vec_push(&c->leaks_n.v) = blocks;
    mt_wrap_inc(&whole->leak_at_end_b, l->at_end_b);
}

/* What is alive at the end without a block of it being known. */
static void add_kept(struct collector *c)
{
    int64_t kept_b = mt_run_kept(&c->side->run, &c->side->device);
    if (kept_b)
        mt_wrap_inc(&lives_of(c, mt_grouper_explicit(c->grouper, "[before trace]"))->at_end_b,
                    kept_b);
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

/* What no group of a side can know. */
static unsigned unknown_of(const struct mt_diff_side *s)
{
    bool lives = mt_allocations_are_known(&s->device);
    bool alloc = mt_device_knows(&s->device, MT_KNOWS_ALLOC) && !(s->gaps & MT_GAP_HISTORY);
    bool ops = mt_device_knows(&s->device, MT_KNOWS_OPS);
    bool peak = mt_device_has_events(&s->device) || mt_device_knows(&s->device, MT_KNOWS_PEAK);
    bool end = lives && !(s->gaps & MT_GAPS_OF_FREES);
    return (end ? 0u : MT_UNKNOWN_END) | (s->growth_known ? 0u : MT_UNKNOWN_GROWTH) |
           (alloc ? 0u : MT_UNKNOWN_ALLOC) | (peak ? 0u : MT_UNKNOWN_PEAK) |
           (ops ? 0u : MT_UNKNOWN_CALLS | MT_UNKNOWN_TIME);
}

enum mt_status mt_diff_load(struct mt_diff *d, int side, int parts, int64_t warmup,
                            struct mt_err *err)
{
    struct mt_diff_side *s = &d->side[side];
    const struct mt_run_device *device = &s->device;
    struct mt_grouper grouper;
    s->lives_lent = s->lives != NULL;
    if (!s->lives) {
        s->lives = mt_alloc(sizeof *s->lives);
        MT_TRY(mt_allocations_open(s->db, &s->run, s->lives, err));
    }
    MT_TRY(mt_run_gaps(s->db, &s->run, device, &s->gaps, err));
    s->step_n = (int64_t)s->lives->steps.all.n;
    s->growth_known =
        mt_allocations_are_known(device) && mt_leaks_can_tell(s->step_n, warmup) && !s->gaps;
    bool alloc = device->alloc_b != MT_UNKNOWN && device->net_b != MT_UNKNOWN;
    s->whole = (struct mt_figures){
        .at_peak_b = device->peak_b == MT_UNKNOWN ? 0 : device->peak_b,
        .self_net_b = alloc ? device->net_b : 0,
        .net_b = alloc ? device->net_b : 0,
        .self_alloc_b = alloc ? device->alloc_b : 0,
        .self_alloc_n = alloc && device->alloc_n != MT_UNKNOWN ? device->alloc_n : 0,
        .alloc_b = alloc ? device->alloc_b : 0,
        .at_end_b = mt_allocations_are_known(device) ? device->at_end_b : 0,
        .calls_n = s->run.op_n,
        .time_ns = s->run.dur_ns};
    s->whole.unknown = unknown_of(s);
    if (!(s->gaps & MT_GAP_HISTORY))
        s->whole.unknown &= ~(unsigned)MT_UNKNOWN_TIME; /* how long the recording is */
    mt_grouper_init(&grouper, &s->lives->tree, d->keys, d->key_n);
    struct collector c = {.side = s,
                          .grouper = &grouper,
                          .outermost_calls = mt_group_calls_outermost(d->keys, d->key_n)};
    enum mt_status st = collect(&c, parts, warmup, err);
    s->whole.per_step_b = sum_of(&c.leaks_b);
    s->whole.per_step_n = sum_of(&c.leaks_n);
    s->whole.suspect_per_step_b = sum_of(&c.suspects_b);
    mt_vec_free(&c.met);
    mt_grouper_free(&grouper);
    return st;
}

void mt_diff_loaded(struct mt_diff *d, int side)
{
    mt_tree_keep_texts(&d->side[side].lives->tree);
}

struct mt_figures mt_diff_figures(const struct mt_diff_side *s, uint32_t group)
{
    struct mt_figures f = {0};
    if (group < s->ops.n) {
        const struct mt_diff_ops *o = &s->ops.v[group];
        f.self_net_b = o->self_net_b;
        f.net_b = o->net_b;
        f.self_alloc_b = o->self_alloc_b;
        f.alloc_b = o->alloc_b;
        f.self_alloc_n = o->self_alloc_n;
        f.calls_n = o->calls_n;
        f.recomputed_n = o->recomputed_n;
        f.time_ns = o->time_ns;
    }
    if (group < s->living.n) {
        const struct mt_diff_lives *l = &s->living.v[group];
        f.at_peak_b = l->at_peak_b;
        f.at_peak_n = l->at_peak_n;
        f.at_end_b = l->at_end_b;
        f.leak_at_end_b = l->leak_at_end_b;
        f.per_step_b = l->per_step_b;
        f.per_step_n = l->per_step_n;
        f.suspect_per_step_b = l->suspect_per_step_b;
    }
    return f;
}

/* Adds the figures of a group to those of the one that has its row's. */
static void merge(struct mt_diff_side *s, uint32_t to, uint32_t from)
{
    if (from < s->ops.n) { /* so is `to`, which comes before */
        struct mt_diff_ops *a = &s->ops.v[to];
        const struct mt_diff_ops *b = &s->ops.v[from];
        mt_wrap_inc(&a->self_net_b, b->self_net_b);
        mt_wrap_inc(&a->net_b, b->net_b);
        mt_wrap_inc(&a->self_alloc_b, b->self_alloc_b);
        mt_wrap_inc(&a->alloc_b, b->alloc_b);
        mt_wrap_inc(&a->self_alloc_n, b->self_alloc_n);
        mt_wrap_inc(&a->calls_n, b->calls_n);
        mt_wrap_inc(&a->recomputed_n, b->recomputed_n);
        mt_wrap_inc(&a->time_ns, b->time_ns);
    }
    if (from < s->living.n) {
        struct mt_diff_lives *a = &s->living.v[to];
        const struct mt_diff_lives *b = &s->living.v[from];
        mt_wrap_inc(&a->at_peak_b, b->at_peak_b);
        a->at_peak_n = a->at_peak_n < 0 || b->at_peak_n < 0 ? -1 : a->at_peak_n + b->at_peak_n;
        mt_wrap_inc(&a->at_end_b, b->at_end_b);
        mt_wrap_inc(&a->leak_at_end_b, b->leak_at_end_b);
        a->per_step_b += b->per_step_b;
        a->per_step_n += b->per_step_n;
        a->suspect_per_step_b += b->suspect_per_step_b;
    }
}

void mt_diff_compare(struct mt_diff *d)
{
    struct mt_matches a;
    mt_match_groups(d->side[0].groups.v, d->side[0].groups.n, d->side[1].groups.v,
                    d->side[1].groups.n, d->keys, d->key_n, &a);
    for (size_t i = 0; i < a.rows.n; i++) {
        const struct mt_match_row *from = &a.rows.v[i];
        *mt_vec_push(&d->rows) = (struct mt_diff_pair){.key = from->key,
                                                       .group = {MT_NONE, MT_NONE},
                                                       .match = (uint8_t)from->match,
                                                       .explicit_row = from->explicit_row};
    }
    for (int s = 0; s < 2; s++)
        for (uint32_t i = 0; i < d->side[s].groups.n; i++) {
            uint32_t *first = &d->rows.v[d->side[s].groups.v[i].row].group[s];
            if (*first == MT_NONE)
                *first = i;
            else
                merge(&d->side[s], *first, i);
        }
    memcpy(d->match_n, a.match_n, sizeof d->match_n);
    mt_matches_free(&a);
}

/*
 * Without addresses all that is alive at the peak is in one row; of the others nothing is known.
 * Nor is it known which of the other run's bytes that row would have to be compared with.
 */
static void mark_unknown(const struct mt_diff_side *s, bool explicit_row, bool rest_of_other,
                         struct mt_figures *f)
{
    f->unknown = unknown_of(s);
    if (!f->at_peak_b && (rest_of_other || !mt_diff_peak_sites_known(s)))
        f->unknown |= MT_UNKNOWN_PEAK;
    if (explicit_row)
        f->unknown |= MT_UNKNOWN_CALLS | MT_UNKNOWN_TIME;
}

struct mt_diff_row mt_diff_row(const struct mt_diff *d, size_t i)
{
    const struct mt_diff_pair *p = &d->rows.v[i];
    struct mt_diff_row row = {
        .key = p->key, .explicit_row = p->explicit_row, .match = (enum mt_match)p->match};
    bool rest[2]; /* holds what is in no known site */
    for (int s = 0; s < 2; s++) {
        row.in[s] = p->group[s] != MT_NONE;
        row.at[s] = mt_diff_figures(&d->side[s], p->group[s]);
        rest[s] = row.at[s].at_peak_b && !mt_diff_peak_sites_known(&d->side[s]);
    }
    for (int s = 0; s < 2; s++)
        mark_unknown(&d->side[s], p->explicit_row, rest[!s], &row.at[s]);
    for (int s = 0; s < 2; s++)
        if (!mt_device_knows(&d->side[s].device, MT_KNOWS_COUNTS))
            row.at[s].at_peak_n = -1;
    return row;
}

static void divide(int64_t *figure, int64_t n)
{
    *figure = mt_wrap_add(*figure, *figure < 0 ? -n / 2 : n / 2) / n;
}

static void divide_ops(struct mt_diff_ops *f, int64_t n)
{
    int64_t *const figures[] = {&f->self_net_b,   &f->net_b,   &f->self_alloc_b, &f->alloc_b,
                                &f->self_alloc_n, &f->calls_n, &f->recomputed_n, &f->time_ns};
    for (size_t i = 0; i < MT_ARRAY_LEN(figures) && n > 0; i++)
        divide(figures[i], n);
}

void mt_figures_per_step(struct mt_figures *f, int64_t n)
{
    int64_t *const figures[] = {&f->self_net_b,   &f->net_b,   &f->self_alloc_b, &f->alloc_b,
                                &f->self_alloc_n, &f->calls_n, &f->recomputed_n, &f->time_ns};
    for (size_t i = 0; i < MT_ARRAY_LEN(figures) && n > 0; i++)
        divide(figures[i], n);
}

void mt_diff_per_step(struct mt_diff *d)
{
    for (int s = 0; s < 2; s++) {
        struct mt_diff_side *side = &d->side[s];
        mt_figures_per_step(&side->whole, side->step_n);
        for (size_t i = 0; i < side->ops.n; i++)
            divide_ops(&side->ops.v[i], side->step_n);
    }
}

void mt_diff_free(struct mt_diff *d)
{
    for (int s = 0; s < 2; s++) {
        if (d->side[s].lives && !d->side[s].lives_lent) {
            mt_allocations_close(d->side[s].lives);
            free(d->side[s].lives);
        }
        mt_vec_free(&d->side[s].groups);
        mt_vec_free(&d->side[s].ops);
        mt_vec_free(&d->side[s].living);
    }
    mt_vec_free(&d->rows);
}
