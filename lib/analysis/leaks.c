#include "lib/analysis/leaks.h"

#include "gen/queries.h"
#include "lib/analysis/doubt.h"
#include "lib/base/hash.h"
#include "lib/base/wrap.h"
#include "lib/model/retained.h"
#include "lib/usage/gaps.h"
#include <stdlib.h>
#include <string.h>

enum {
    GROWTHS_MIN = 3, /* steps in which a leak grows */
    RISES_MIN = 4    /* steps in which a site holds more than before, to be a candidate for that */
};

const char *const mt_verdict_names[MT_VERDICT_N] = {
    [MT_VERDICT_LEAK] = "leak",           [MT_VERDICT_CANDIDATE] = "candidate",
    [MT_VERDICT_CACHE] = "cache",         [MT_VERDICT_STATE] = "state",
    [MT_VERDICT_LAST_STEP] = "last step",
};

/* A block that is alive at the end. */
struct survivor {
    uint32_t group;
    int64_t step; /* index of its birth's step, -1 = before the first */
    int64_t bytes;
    bool older;    /* than the recording */
    bool learning; /* born in the step of an optimizer, or like a block that was (find_learning) */
    bool doubtful; /* it may be dead (doubt.h): what may be is judged apart from what is not */
    bool overdue;
    bool alike; /* of the size of an overdue block born after the warm-up */
};

struct finder {
    struct mt_allocations *lives;
    struct mt_grouper *grouper;
    mt_leak_use *use;
    void *closure;
    int64_t step_n, warmup;
    bool can_tell; /* steps enough, and no frees lost */
    MT_VEC(struct survivor) survivors;
    MT_VEC(int64_t) max_lifetime; /* by group */
    struct mt_doubt doubt;
    struct mt_retained holdings; /* by group_part */
};

static int64_t step_of(const struct finder *f, int64_t t_ns)
{
    const struct mt_steps *steps = &f->lives->steps;
    return mt_step_dating(steps->all.v, steps->all.n, steps->dur_ns, t_ns);
}

/* Makes room for the max_lifetime of a site. */
static uint32_t with_max_lifetime(struct finder *f, uint32_t group)
{
    while (f->max_lifetime.n <= group)
        *mt_vec_push(&f->max_lifetime) = -1;
    return group;
}

static uint32_t group_of_life(struct finder *f, const struct mt_allocation *life)
{
    return with_max_lifetime(f, mt_allocation_group(f->grouper, life));
}

/* What is in doubt of a group, and what is not, hold memory apart. */
static uint32_t group_part(uint32_t group, bool doubtful)
{
    return 2 * group + doubtful;
}

static bool is_of_optimizer(const struct finder *f, const struct mt_allocation *life)
{
    uint32_t node = life->born.node;
    return node < f->lives->tree.nodes.n &&
           f->lives->tree.nodes.v[node].phase == MT_PHASE_OPTIMIZER;
}

/* step: of its birth. */
static void add_survivor(struct finder *f, uint32_t group, const struct mt_allocation *life,
                         int64_t step)
{
    bool doubtful = mt_doubt_life(&f->doubt, life);
    if (!life->bytes)
        return;
    *mt_vec_push(&f->survivors) = (struct survivor){.group = group,
                                                    .step = step,
                                                    .bytes = life->bytes,
                                                    .older = mt_allocation_is_older(life),
                                                    .learning = is_of_optimizer(f, life),
                                                    .doubtful = doubtful};
}

static enum mt_status use_life(void *closure, const struct mt_allocation *life, struct mt_err *err)
{
    struct finder *f = closure;
    (void)err;
    bool alive = life->freed_record == INT64_MAX;
    int64_t born = mt_allocation_is_older(life) ? -1 : step_of(f, life->alloc_ns);
    int64_t freed = alive ? f->step_n : step_of(f, life->freed_ns);
    uint32_t group = group_of_life(f, life);
    if (life->alloc_unseen) /* nobody knows its site, nor how long it lived */
        return MT_OK;
    if (!mt_allocation_is_older(life)) /* older ones tell nothing of the site that holds them */
        mt_retained_add(&f->holdings, group_part(group, mt_doubt_life(&f->doubt, life)),
                        life->bytes, born < 0 ? 0 : born, freed);
    if (alive)
        add_survivor(f, group, life, born);
    else if (life->unseen) /* who knows how long it lived */
        return MT_OK;
    else if (born >= f->warmup && freed < f->step_n && freed - born > f->max_lifetime.v[group])
        f->max_lifetime.v[group] = freed - born;
    return MT_OK;
}

/* ---- the same from what is stored of every node, for sites that are made of whole nodes ---- */

static uint32_t read_node(const struct finder *f, const struct mt_stmt *s, int column)
{
    uint64_t node = mt_stmt_index(s, column, f->lives->run->node_first);
    return node < f->lives->tree.nodes.n ? (uint32_t)node : MT_NONE;
}

static uint32_t group_of_node(struct finder *f, uint32_t node)
{
    const struct mt_origin born = mt_origin_of_node(node);
    return with_max_lifetime(f, mt_grouper_of(f->grouper, &born));
}

static enum mt_status read_holdings(struct finder *f, const struct mt_run_device *device,
                                    struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(f->lives->db, MT_Q_HOLDINGS, &s, err));
    mt_stmt_bind(s, "i", device->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        uint32_t node = read_node(f, s, 0);
        bool doubtful = mt_doubt_is_on(&f->doubt, node, mt_stmt_int(s, 1));
        int64_t step = mt_stmt_int(s, 2);
        if (step >= 0 && step <= f->step_n) /* else: a damaged database */
            mt_retained_change(&f->holdings, group_part(group_of_node(f, node), doubtful), step,
                               mt_stmt_int(s, 3), mt_stmt_int(s, 4));
    }
}

static enum mt_status read_max_lifetime(struct finder *f, const struct mt_run_device *device,
                                        struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(f->lives->db, MT_Q_MAX_LIFETIME, &s, err));
    mt_stmt_bind(s, "ii", device->id, f->warmup);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        uint32_t group = group_of_node(f, read_node(f, s, 0));
        int64_t life = mt_stmt_int(s, 1);
        if (life > f->max_lifetime.v[group] && life < f->step_n) /* else: a damaged database */
            f->max_lifetime.v[group] = life;
    }
}

static enum mt_status read_survivors(struct finder *f, const struct mt_run_device *device,
                                     struct mt_err *err)
{
    struct mt_live_set live = {0};
    enum mt_status st = mt_live_at(f->lives, device, MT_AT_END, &live, err);
    for (size_t i = 0; i < live.blocks.n; i++) {
        const struct mt_allocation *life = &live.blocks.v[i];
        add_survivor(f, group_of_life(f, life), life,
                     mt_allocation_is_older(life) ? -1 : step_of(f, life->alloc_ns));
    }
    mt_live_set_free(&live);
    return st;
}

static enum mt_status collect(struct finder *f, const struct mt_run_device *device,
                              struct mt_err *err)
{
    unsigned gaps;
    MT_TRY(mt_run_gaps(f->lives->db, f->lives->run, &gaps, err));
    f->can_tell = mt_leaks_can_tell(f->step_n, f->warmup) && !(gaps & MT_GAPS_OF_FREES);
    MT_TRY(mt_doubt_load(f->lives, device, &f->doubt, err));
    if (mt_group_needs_ops(f->grouper->keys, f->grouper->key_n))
        return mt_allocations_each(f->lives, device, use_life, f, err);
    MT_TRY(read_survivors(f, device, err));
    MT_TRY(read_holdings(f, device, err));
    return read_max_lifetime(f, device, err);
}

static int survivor_cmp(const void *a, const void *b)
{
    const struct survivor *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->doubtful != y->doubtful)
        return x->doubtful ? 1 : -1;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* Steps in which blocks were born that stay. */
struct births {
    int64_t step_n, after_warmup_n; /* how many steps */
    int64_t last;                   /* index */
};

/* What a site grew by. */
struct growth {
    struct births all, plain;   /* plain: of what is no part of learning */
    int64_t first, last, pause; /* indices; the longest distance between two of them */
    int64_t bytes, blocks_n;    /* after the first */
};

/* Steps come in order. Returns whether this is another one. */
static bool add_birth(struct births *b, int64_t step, int64_t warmup)
{
    bool another = !b->step_n || step != b->last;
    b->step_n += another;
    b->after_warmup_n += another && step >= warmup;
    b->last = step;
    return another;
}

static void add_growth(struct growth *g, const struct survivor *s, int64_t warmup)
{
    if (!s->learning)
        add_birth(&g->plain, s->step, warmup);
    if (add_birth(&g->all, s->step, warmup)) {
        if (g->all.step_n == 1)
            g->first = s->step;
        else if (s->step - g->last > g->pause)
            g->pause = s->step - g->last;
        g->last = s->step;
    }
    if (s->step > g->first) {
        mt_wrap_inc(&g->bytes, s->bytes);
        g->blocks_n++;
    }
}

/* Marks the survivors of one part of a site and adds up its growth. */
static struct growth measure(const struct finder *f, struct survivor *s, struct survivor *end)
{
    struct growth g = {0};
    struct mt_map sizes = {0}; /* of the overdue blocks born after the warm-up */
    int64_t max_lifetime = f->max_lifetime.v[s->group];
    for (struct survivor *at = s; at < end; at++) {
        at->overdue = f->step_n - 1 - at->step > max_lifetime;
        if (at->overdue && at->step >= f->warmup)
            *mt_map_at(&sizes, (uint64_t)at->bytes) = 1;
    }
    for (struct survivor *at = s; at < end; at++) {
        at->alike = at->step >= 0 && mt_map_get(&sizes, (uint64_t)at->bytes) != MT_NONE;
        if (at->alike && at->overdue)
            add_growth(&g, at, f->warmup);
    }
    mt_map_free(&sizes);
    return g;
}

/* Whether growth in these steps can be called a leak. An optimizer may have had a reason: it makes
 * state for layers that begin to learn, and LBFGS fills its history. */
static bool is_leak(const struct finder *f, const struct growth *g)
{
    return g->plain.step_n >= GROWTHS_MIN && g->plain.after_warmup_n >= GROWTHS_MIN - 1 &&
           f->can_tell;
}

/* What growth makes of a part of a site, given its first survivor: leak, candidate, or neither
 * (MT_VERDICT_N). */
static enum mt_verdict judge(const struct finder *f, const struct growth *g,
                             const struct survivor *s)
{
    int64_t newest = f->step_n - 1 - (f->max_lifetime.v[s->group] + 1); /* of what can be overdue */
    if (newest < g->last)
        newest = g->last;
    if (g->all.after_warmup_n < GROWTHS_MIN - 1 || newest - g->last > g->pause)
        return MT_VERDICT_N;
    if (!mt_retained_higher(&f->holdings, group_part(s->group, s->doubtful), f->warmup,
                            f->step_n - 1))
        return MT_VERDICT_N;
    return is_leak(f, g) && !s->doubtful ? MT_VERDICT_LEAK : MT_VERDICT_CANDIDATE;
}

/* A site whose blocks are replaced by larger ones again and again: what is left of it may be a
 * leak. What it holds is compared from the end of the warm-up on, or, where it holds less after
 * that, from the first step. */
static bool holds_ever_more(const struct finder *f, struct survivor *s, struct survivor *end,
                            struct growth *g)
{
    int64_t last = f->step_n - 1, first = f->warmup > 0 ? f->warmup - 1 : 0;
    uint32_t part = group_part(s->group, s->doubtful);
    struct mt_op_peaks r = mt_retained_rises(&f->holdings, part, first, last);
    if (r.falls)
        r = mt_retained_rises(&f->holdings, part, f->warmup, last);
    if (r.falls || r.n < RISES_MIN || last - r.last > r.pause)
        return false;
    for (; s < end; s++)
        s->alike = s->step >= f->warmup;
    *g =
        (struct growth){.first = r.first, .last = r.last, .bytes = r.bytes, .blocks_n = r.blocks_n};
    return true;
}

static enum mt_verdict verdict_of(const struct finder *f, const struct survivor *s,
                                  enum mt_verdict site)
{
    if (f->step_n == 0)
        return MT_VERDICT_CANDIDATE;
    if (site != MT_VERDICT_N && s->alike)
        return site;
    if (s->step >= f->step_n - 1)
        return MT_VERDICT_LAST_STEP;
    if (s->step >= f->warmup && !s->overdue)
        return MT_VERDICT_CACHE;
    return s->older || f->can_tell ? MT_VERDICT_STATE : MT_VERDICT_CANDIDATE;
}

static int64_t number_of(const struct finder *f, int64_t step)
{
    if (step < 0 || !f->step_n)
        return INT64_MIN;
    return f->lives->steps.all.v[step < f->step_n ? step : f->step_n - 1].number;
}

static void add_to_row(const struct finder *f, struct mt_leak *row, const struct survivor *s)
{
    int64_t step = number_of(f, s->step);
    row->first_step = !row->at_end_n || step < row->first_step ? step : row->first_step;
    row->last_step = !row->at_end_n || step > row->last_step ? step : row->last_step;
    row->at_end_n++;
    mt_wrap_inc(&row->at_end_b, s->bytes);
    if (s->doubtful)
        mt_wrap_inc(&row->doubt_b, s->bytes);
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

static int64_t times(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b); /* wraps around, as sums do */
}

/* Two parts of a site may grow at rates of their own. */
static void add_growth_to_row(struct mt_leak *row, const struct growth *g)
{
    int64_t steps = g->last - g->first;
    if (!row->growth_steps)
        row->growth_steps = steps;
    int64_t by = common_divisor(row->growth_steps, steps);
    int64_t row_times = steps / by, times_of_part = row->growth_steps / by;
    row->growth_b = mt_wrap_add(times(row->growth_b, row_times), times(g->bytes, times_of_part));
    row->growth_n = mt_wrap_add(times(row->growth_n, row_times), times(g->blocks_n, times_of_part));
    row->growth_steps *= row_times;
}

static int row_cmp(const void *a, const void *b)
{
    const struct mt_leak *x = a, *y = b;
    if (x->verdict != y->verdict)
        return x->verdict < y->verdict ? -1 : 1;
    double dx = mt_leak_rate_b(x), dy = mt_leak_rate_b(y);
    if (dx != dy)
        return dx > dy ? -1 : 1;
    if (x->at_end_b != y->at_end_b)
        return x->at_end_b > y->at_end_b ? -1 : 1;
    return strcmp(x->key[0], y->key[0]);
}

static uint64_t step_and_size(const struct survivor *s)
{
    const int64_t both[] = {s->step, s->bytes};
    return mt_hash_short(1, both, sizeof both);
}

/* The gradient of a layer that begins to learn comes with the optimizer's state for it, in the same
 * step and of the same size, and may stay as long. */
static void find_learning(struct finder *f)
{
    struct mt_map made = {0}; /* by optimizers */
    for (size_t i = 0; i < f->survivors.n; i++)
        if (f->survivors.v[i].learning)
            *mt_map_at(&made, step_and_size(&f->survivors.v[i])) = 1;
    for (size_t i = 0; i < f->survivors.n && made.n; i++)
        f->survivors.v[i].learning |=
            mt_map_get(&made, step_and_size(&f->survivors.v[i])) != MT_NONE;
    mt_map_free(&made);
}

/* The survivors of a part of a site, up to `end`. */
static void judge_part(struct finder *f, struct survivor *s, struct survivor *end,
                       struct mt_leak rows[MT_VERDICT_N])
{
    struct growth g = measure(f, s, end);
    enum mt_verdict verdict = judge(f, &g, s);
    if (verdict == MT_VERDICT_N && holds_ever_more(f, s, end, &g))
        verdict = MT_VERDICT_CANDIDATE;
    bool grows = false;
    for (; s < end; s++) {
        enum mt_verdict of = verdict_of(f, s, verdict);
        add_to_row(f, &rows[of], s);
        grows |= of == verdict;
    }
    if (grows)
        add_growth_to_row(&rows[verdict], &g);
}

static void use_rows(struct finder *f, uint32_t group, struct mt_leak rows[MT_VERDICT_N])
{
    const struct mt_group_name *name = &f->grouper->names.v[group];
    for (int verdict = 0; verdict < MT_VERDICT_N; verdict++) {
        struct mt_leak *row = &rows[verdict];
        row->verdict = (enum mt_verdict)verdict;
        row->group = group;
        row->key = name->key;
        row->explicit_row = name->explicit_row;
        if (row->at_end_n)
            f->use(f->closure, row);
    }
}

static void judge_all(struct finder *f)
{
    if (!f->survivors.n)
        return;
    struct survivor *v = f->survivors.v, *stop = v + f->survivors.n;
    find_learning(f);
    qsort(v, f->survivors.n, sizeof *v, survivor_cmp);
    for (struct survivor *s = v; s < stop;) {
        struct mt_leak rows[MT_VERDICT_N] = {0};
        uint32_t group = s->group;
        for (struct survivor *end = s; s < stop && s->group == group; s = end) {
            while (end < stop && end->group == group && end->doubtful == s->doubtful)
                end++;
            judge_part(f, s, end, rows);
        }
        use_rows(f, group, rows);
    }
}

enum mt_status mt_leaks_each(struct mt_allocations *l, const struct mt_run_device *device,
                             struct mt_grouper *grouper, int64_t warmup, mt_leak_use *use,
                             void *closure, struct mt_err *err)
{
    struct finder f = {.lives = l,
                       .grouper = grouper,
                       .use = use,
                       .closure = closure,
                       .step_n = (int64_t)l->steps.all.n,
                       .warmup = warmup};
    enum mt_status st = mt_allocations_known(l->run, device, err);
    if (st == MT_OK)
        st = collect(&f, device, err);
    mt_retained_sort(&f.holdings);
    if (st == MT_OK)
        judge_all(&f);
    mt_retained_free(&f.holdings);
    mt_doubt_free(&f.doubt);
    mt_vec_free(&f.survivors);
    mt_vec_free(&f.max_lifetime);
    return st;
}

static void add_leak(void *closure, const struct mt_leak *leak)
{
    struct mt_leaks *out = closure;
    *mt_vec_push(&out->rows) = *leak;
}

enum mt_status mt_leaks_find(struct mt_allocations *l, const struct mt_run_device *device,
                             const enum mt_group_key *keys, int key_n, int64_t warmup,
                             struct mt_leaks *out, struct mt_err *err)
{
    *out = (struct mt_leaks){0};
    MT_TRY(mt_run_gaps(l->db, l->run, &out->gaps, err));
    mt_grouper_init(&out->grouper, &l->tree, keys, key_n);
    enum mt_status st = mt_leaks_each(l, device, &out->grouper, warmup, add_leak, out, err);
    if (out->rows.n)
        qsort(out->rows.v, out->rows.n, sizeof *out->rows.v, row_cmp);
    return st;
}

void mt_leaks_free(struct mt_leaks *l)
{
    mt_grouper_free(&l->grouper);
    mt_vec_free(&l->rows);
}
