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

/* Adds to the figures of a group what the part keeps of these. */
static void add(struct collector *c, struct mt_diff_part *part, uint32_t group,
                const struct mt_figures *f)
{
    size_t n = part->set.n, first = group * n;
    meet(c, group);
    while (part->v.n < first + n)
        *mt_vec_push(&part->v) = (union mt_value){0};
    for (size_t i = 0; i < n; i++)
        mt_figure_add(part->set.v[i], &part->v.v[first + i], &f->v[part->set.v[i]]);
}

/* A part has the groups that were met, in their order. */
static void keep_met_of(const struct collector *c, struct mt_diff_part *part)
{
    size_t n = part->set.n, kept = 0;
    for (size_t i = 0; i < c->met.n && i * n < part->v.n; i++)
        if (c->met.v[i])
            memmove(&part->v.v[kept++ * n], &part->v.v[i * n], n * sizeof *part->v.v);
    part->v.n = kept * n;
}

/* A part has the figures that are something in some group: in most formats most are not. */
static void keep_used(struct mt_diff_part *part)
{
    const struct mt_figure_set all = part->set;
    struct mt_figure_set *used = &part->set;
    size_t group_n = part->v.n / all.n, from[MT_FIG_N], at = 0;
    bool some[MT_FIG_N] = {false};
    for (size_t i = 0; i < part->v.n; i++)
        some[i % all.n] |= part->v.v[i].i != 0; /* of a rate, too */
    used->n = 0;
    for (size_t i = 0; i < all.n; i++)
        if (some[i]) {
            from[used->n] = i;
            used->v[used->n++] = all.v[i];
        }
    for (size_t g = 0; g < group_n; g++)
        for (size_t i = 0; i < used->n; i++)
            part->v.v[at++] = part->v.v[g * all.n + from[i]];
    part->v.n = at;
    mt_vec_room(&part->v, at);
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
    keep_met_of(c, &s->ops);
    keep_met_of(c, &s->living);
    keep_used(&s->ops);
    keep_used(&s->living);
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

/* What no group of a side can know. */
static unsigned unknown_of(const struct mt_diff_side *s)
{
    bool lives = mt_allocations_are_known(&s->device);
    bool alloc = mt_device_knows(&s->device, MT_KNOWS_ALLOC);
    bool freed = alloc && s->device.net_b != MT_UNKNOWN;
    bool ops = mt_device_knows(&s->device, MT_KNOWS_OPS);
    bool peak = mt_device_has_events(&s->device) || mt_device_knows(&s->device, MT_KNOWS_PEAK);
    bool end = lives && !(s->gaps & MT_GAPS_OF_FREES);
    return (end ? 0u : MT_UNKNOWN_END) | (s->growth_known ? 0u : MT_UNKNOWN_GROWTH) |
           (alloc ? 0u : MT_UNKNOWN_ALLOC) | (freed ? 0u : MT_UNKNOWN_FREED) |
           (peak ? 0u : MT_UNKNOWN_PEAK) | (ops ? 0u : MT_UNKNOWN_CALLS | MT_UNKNOWN_TIME);
}

/* What the device itself says; 0 what it does not. */
static struct mt_figures whole_of(const struct mt_diff_side *s)
{
    struct mt_figures f;
    mt_device_figures(&s->run, &s->device, &f);
    for (int i = 0; i < MT_FIG_N; i++)
        if (f.v[i].i == MT_UNKNOWN)
            f.v[i].i = 0;
    if (!mt_allocations_are_known(&s->device))
        f.v[MT_FIG_AT_END_B].i = 0;
    f.unknown = unknown_of(s);
    if (!(s->gaps & MT_GAP_HISTORY) && s->run.time_unit[0])
        f.unknown &= ~(unsigned)MT_UNKNOWN_TIME; /* how long the recording is */
    return f;
}

/* The blocks of a side, with the call tree of the other one, if that was loaded. */
static enum mt_status open_lives(struct mt_diff *d, int side, struct mt_err *err)
{
    struct mt_diff_side *s = &d->side[side];
    struct mt_allocations none = {0}, *before = d->side[!side].lives;
    s->lives_lent = s->lives != NULL;
    if (s->lives)
        return MT_OK;
    s->lives = mt_alloc(sizeof *s->lives);
    enum mt_status st =
        mt_allocations_open_after(s->db, &s->run, before ? before : &none, s->lives, err);
    if (before)
        mt_tree_forget_frames(&s->lives->tree);
    return st;
}

/* Groups of both sides are numbered together. */
static struct mt_grouper *open_grouper(struct mt_diff *d, int side)
{
    struct mt_tree *t = &d->side[side].lives->tree;
    d->numbered = d->grouper.key_n > 0;
    if (d->numbered)
        mt_grouper_go_on(&d->grouper, t);
    else
        mt_grouper_init(&d->grouper, t, d->keys, d->key_n);
    return &d->grouper;
}

enum mt_status mt_diff_load(struct mt_diff *d, int side, int parts, int64_t warmup,
                            struct mt_err *err)
{
    struct mt_diff_side *s = &d->side[side];
    const struct mt_run_device *device = &s->device;
    MT_TRY(open_lives(d, side, err));
    MT_TRY(mt_run_gaps(s->db, &s->run, device, &s->gaps, err));
    s->step_n = (int64_t)s->lives->steps.all.n;
    s->growth_known =
        mt_allocations_are_known(device) && mt_leaks_can_tell(s->step_n, warmup) && !s->gaps;
    s->frees_unknown =
        mt_own_needs_blocks(device, d->keys, d->key_n) && !mt_device_knows(device, MT_KNOWS_BLOCKS);
    s->whole = whole_of(s);
    s->ops.set = mt_figures_kept(MT_KEPT_OPS);
    s->living.set = mt_figures_kept(MT_KEPT_BLOCKS);
    struct collector c = {.side = s,
                          .grouper = open_grouper(d, side),
                          .outermost_calls = mt_group_calls_outermost(d->keys, d->key_n)};
    enum mt_status st = collect(&c, parts, warmup, err);
    s->whole.v[MT_FIG_PER_STEP_B].r = sum_of(&c.leaks_b);
    s->whole.v[MT_FIG_PER_STEP_N].r = sum_of(&c.leaks_n);
    s->whole.v[MT_FIG_SUSPECT_PER_STEP_B].r = sum_of(&c.suspects_b);
    mt_vec_free(&c.met);
    if (d->numbered)
        mt_grouper_free(&d->grouper);
    else
        mt_grouper_pause(&d->grouper);
    return st;
}

void mt_diff_loaded(struct mt_diff *d, int side)
{
    mt_tree_keep_texts(&d->side[side].lives->tree);
}

/* The values of a group; NULL: all are 0. */
static union mt_value *values_of(const struct mt_diff_part *part, uint32_t group)
{
    size_t first = group * part->set.n;
    return first < part->v.n ? &part->v.v[first] : NULL;
}

/* out: all 0. */
static void read_figures(const struct mt_diff_side *s, uint32_t group, struct mt_figures *out)
{
    const struct mt_diff_part *const parts[] = {&s->ops, &s->living};
    for (size_t p = 0; p < MT_ARRAY_LEN(parts); p++) {
        const union mt_value *v = values_of(parts[p], group);
        for (size_t i = 0; i < parts[p]->set.n && v; i++)
            out->v[parts[p]->set.v[i]] = v[i];
    }
}

struct mt_figures mt_diff_figures(const struct mt_diff_side *s, uint32_t group)
{
    struct mt_figures f = {0};
    read_figures(s, group, &f);
    return f;
}

/* Adds the figures of a group to those of the one that has its row's. */
static void merge(struct mt_diff_side *s, uint32_t to, uint32_t from)
{
    const struct mt_diff_part *const parts[] = {&s->ops, &s->living};
    for (size_t p = 0; p < MT_ARRAY_LEN(parts); p++) {
        union mt_value *a = values_of(parts[p], to); /* which comes before */
        const union mt_value *b = values_of(parts[p], from);
        for (size_t i = 0; i < parts[p]->set.n && b; i++)
            mt_figure_add(parts[p]->set.v[i], &a[i], &b[i]);
    }
}

void mt_diff_compare(struct mt_diff *d)
{
    struct mt_matches a;
    mt_match_groups(d->side[0].groups.v, d->side[0].groups.n, d->side[1].groups.v,
                    d->side[1].groups.n, d->keys, d->key_n,
                    (d->strict ? MT_MATCH_STRICT : MT_MATCH_TOLERANT) |
                        (d->numbered ? MT_MATCH_NUMBERED : 0),
                    &a);
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

/* Of a row: what of enum mt_unknown it has of no known site. */
static unsigned rest_of(const struct mt_diff_side *s, const struct mt_diff_pair *p,
                        const struct mt_figures *f)
{
    bool unlisted = strncmp(p->key[0], MT_UNLISTED, strlen(MT_UNLISTED)) == 0; /* or below it */
    bool rest = unlisted || !mt_diff_peak_sites_known(s);
    return (rest && f->v[MT_FIG_AT_PEAK_B].i ? MT_UNKNOWN_PEAK : 0u) |
           (unlisted && f->v[MT_FIG_AT_END_B].i ? MT_UNKNOWN_END : 0u);
}

/* What a side may have in a row for which it lists nothing. */
static unsigned unlisted_in(const struct mt_diff_side *s)
{
    bool peak = !mt_diff_peak_sites_known(s) || mt_device_knows(&s->device, MT_LARGE_AT_PEAK);
    return (peak ? MT_UNKNOWN_PEAK : 0u) |
           (mt_device_knows(&s->device, MT_LARGE_AT_END) ? MT_UNKNOWN_END : 0u);
}

/*
 * Without addresses all that is alive at the peak is in one row; of the others nothing is known. So
 * it is with what a file does not list. Nor is it known which of the other run's bytes that row
 * would have to be compared with.
 */
static void mark_unknown(const struct mt_diff_side *s, bool no_calls, unsigned rest_of_other,
                         struct mt_figures *f)
{
    unsigned unlisted = unlisted_in(s) | rest_of_other;
    f->unknown = unknown_of(s) | (s->frees_unknown ? MT_UNKNOWN_FREED : 0u);
    if (!f->v[MT_FIG_AT_PEAK_B].i)
        f->unknown |= unlisted & MT_UNKNOWN_PEAK;
    if (!f->v[MT_FIG_AT_END_B].i)
        f->unknown |= unlisted & MT_UNKNOWN_END;
    if (no_calls) /* an explicit row, or one of what is no part of the call tree */
        f->unknown |= MT_UNKNOWN_CALLS | MT_UNKNOWN_TIME;
}

struct mt_diff_row mt_diff_row(const struct mt_diff *d, size_t i)
{
    const struct mt_diff_pair *p = &d->rows.v[i];
    struct mt_diff_row row = {
        .key = p->key, .explicit_row = p->explicit_row, .match = (enum mt_match)p->match};
    unsigned rest[2];
    for (int s = 0; s < 2; s++) {
        row.in[s] = p->group[s] != MT_NONE;
        read_figures(&d->side[s], p->group[s], &row.at[s]);
        rest[s] = rest_of(&d->side[s], p, &row.at[s]);
    }
    bool ran = row.at[0].v[MT_FIG_CALLS_N].i || row.at[1].v[MT_FIG_CALLS_N].i;
    for (int s = 0; s < 2; s++)
        mark_unknown(&d->side[s], p->explicit_row || !ran, rest[!s], &row.at[s]);
    for (int s = 0; s < 2; s++)
        if (!mt_device_knows(&d->side[s].device, MT_KNOWS_COUNTS))
            row.at[s].v[MT_FIG_AT_PEAK_N].i = -1;
    return row;
}

void mt_diff_row_soon(const struct mt_diff *d, size_t i)
{
    for (int s = 0; s < 2 && i < d->rows.n; s++) {
        __builtin_prefetch(values_of(&d->side[s].ops, d->rows.v[i].group[s]));
        __builtin_prefetch(values_of(&d->side[s].living, d->rows.v[i].group[s]));
    }
}

void mt_diff_per_step(struct mt_diff *d)
{
    for (int s = 0; s < 2; s++) {
        struct mt_diff_side *side = &d->side[s];
        const struct mt_figure_set *set = &side->ops.set;
        mt_figures_per_step(&side->whole, side->step_n);
        for (size_t i = 0; i < side->ops.v.n; i++)
            mt_figure_per_step(set->v[i % set->n], &side->ops.v.v[i], side->step_n);
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
        mt_vec_free(&d->side[s].ops.v);
        mt_vec_free(&d->side[s].living.v);
    }
    if (d->grouper.key_n)
        mt_grouper_free(&d->grouper);
    mt_vec_free(&d->rows);
}
