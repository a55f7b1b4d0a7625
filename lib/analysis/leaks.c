#include "lib/analysis/leaks.h"

#include "lib/analysis/leaks_parts.h"
#include "lib/base/hash.h"
#include "lib/base/wrap.h"
#include "lib/run/knows.h"
#include "lib/usage/gaps.h"
#include <stdlib.h>
#include <string.h>

enum {
    GROWTHS_MIN = 3, /* steps in which a leak grows */
    RISES_MIN = 4,   /* steps in which a site holds more than before, to be a candidate for that */
    EVEN_MIN = 3,    /* such steps in the later half, to tell the growth by them alone */
    LOWS_STEPS = 6,  /* after the warm-up, to see a site grow between falls by its lows, */
    HIGHS_STEPS = 8  /* and by its lows and highs alone */
};

const char *const mt_verdict_names[MT_VERDICT_N] = {
    [MT_VERDICT_LEAK] = "leak",           [MT_VERDICT_CANDIDATE] = "candidate",
    [MT_VERDICT_CACHE] = "cache",         [MT_VERDICT_STATE] = "state",
    [MT_VERDICT_LAST_STEP] = "last step",
};

static int survivor_cmp(const void *a, const void *b)
{
    const struct mt_survivor *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->doubtful != y->doubtful)
        return x->doubtful ? 1 : -1;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* Steps in which blocks were allocated that stay. */
struct allocs {
    int64_t step_n, after_warmup_n; /* how many steps */
    int64_t last;                   /* index */
};

/* What a site grew by. */
struct growth {
    struct allocs all, plain;   /* plain: of what is no part of learning */
    int64_t first, last, pause; /* indices; the longest distance between two of them */
    int64_t bytes, blocks_n;    /* after the first */
};

/* Steps come in order. Returns whether this is another one. */
static bool add_alloc(struct allocs *b, int64_t step, int64_t warmup)
{
    bool another = !b->step_n || step != b->last;
    b->step_n += another;
    b->after_warmup_n += another && step >= warmup;
    b->last = step;
    return another;
}

static void add_growth(struct growth *g, const struct mt_survivor *s, int64_t warmup)
{
    if (!s->learning)
        add_alloc(&g->plain, s->step, warmup);
    if (add_alloc(&g->all, s->step, warmup)) {
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
static struct growth measure(const struct mt_leak_finder *f, struct mt_survivor *s,
                             struct mt_survivor *end)
{
    struct growth g = {0};
    struct mt_map sizes = {0}; /* of the overdue blocks allocated after the warm-up */
    int64_t max_lifetime = f->max_lifetime.v[s->group];
    for (struct mt_survivor *at = s; at < end; at++) {
        at->overdue = f->step_n - 1 - at->step > max_lifetime;
        if (at->overdue && at->step >= f->warmup)
            *mt_map_at(&sizes, (uint64_t)at->bytes) = 1;
    }
    for (struct mt_survivor *at = s; at < end; at++) {
        at->alike = at->step >= 0 && mt_map_get(&sizes, (uint64_t)at->bytes) != MT_NONE;
        if (at->alike && at->overdue)
            add_growth(&g, at, f->warmup);
    }
    mt_map_free(&sizes);
    return g;
}

/* Whether growth in these steps can be called a leak. An optimizer may have had a reason: it makes
 * state for layers that begin to learn, and LBFGS fills its history. */
static bool is_leak(const struct mt_leak_finder *f, const struct growth *g)
{
    return g->plain.step_n >= GROWTHS_MIN && g->plain.after_warmup_n >= GROWTHS_MIN - 1 &&
           f->can_tell;
}

/* Whether what a part of a site holds rises though it falls at times: the least blocks that it
 * holds in each of the last three of four parts of the steps after the warm-up are more than those
 * of the part before. What is full, or was, exchanges its blocks and stays where it is. */
static bool lows_rise(const struct mt_leak_finder *f, uint32_t part)
{
    struct mt_retained_part in[MT_RETAINED_PARTS];
    if (f->step_n - f->warmup < LOWS_STEPS)
        return false;
    mt_retained_in_parts(&f->holdings, part, f->warmup, f->step_n - 1, in);
    return in[1].least_n < in[2].least_n && in[2].least_n < in[3].least_n;
}

/* Whether what a part of a site holds rises evenly in some steps after the warm-up, up to the last:
 * never falls, and rises by as much after as many steps. */
static bool rises_evenly(const struct mt_leak_finder *f, uint32_t part, int64_t first,
                         int64_t rises_min, struct mt_retained_trend *out)
{
    int64_t last = f->step_n - 1;
    *out = mt_retained_rises(&f->holdings, part, first, last);
    return !out->falls && out->even && out->n >= rises_min && last - out->last <= out->pause;
}

/* The same of the later half of the steps after the warm-up. */
static bool rises_evenly_late(const struct mt_leak_finder *f, uint32_t part,
                              struct mt_retained_trend *out)
{
    int64_t half = f->warmup + (f->step_n - f->warmup) / 2;
    return rises_evenly(f, part, half, EVEN_MIN, out);
}

/* Whether it rises evenly since it fell last: what was held for a while, and dropped, made it full
 * for that while alone. */
static bool rises_since_fall(const struct mt_leak_finder *f, uint32_t part)
{
    struct mt_retained_trend r = mt_retained_rises(&f->holdings, part, f->warmup, f->step_n - 1);
    bool few = f->step_n - f->warmup < LOWS_STEPS;
    return r.fell >= 0 && rises_evenly(f, part, r.fell, few ? EVEN_MIN - 1 : EVEN_MIN, &r);
}

/* What growth makes of a part of a site, given its first survivor: leak, candidate, or neither
 * (MT_VERDICT_N). */
static enum mt_verdict judge(const struct mt_leak_finder *f, const struct growth *g,
                             const struct mt_survivor *s)
{
    uint32_t part = mt_leak_part(s->group, s->doubtful);
    int64_t newest = f->step_n - 1 - (f->max_lifetime.v[s->group] + 1); /* of what can be overdue */
    if (newest < g->last)
        newest = g->last;
    if (g->all.after_warmup_n < GROWTHS_MIN - 1 || newest - g->last > g->pause)
        return MT_VERDICT_N;
    if (!mt_retained_higher(&f->holdings, part, f->warmup, f->step_n - 1) && !lows_rise(f, part))
        return rises_since_fall(f, part) ? MT_VERDICT_CANDIDATE : MT_VERDICT_N;
    return is_leak(f, g) && !s->doubtful ? MT_VERDICT_LEAK : MT_VERDICT_CANDIDATE;
}

static void grow_as_held(struct growth *g, const struct mt_retained_trend *r)
{
    *g = (struct growth){
        .first = r->first, .last = r->last, .bytes = r->bytes, .blocks_n = r->blocks_n};
}

static int64_t times(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b); /* wraps around, as sums do */
}

/* Where blocks of all ages are given up, those that happen to be overdue are not what the site
 * grows by. */
static void correct(const struct mt_leak_finder *f, uint32_t part, struct growth *g)
{
    struct mt_retained_trend late;
    int64_t held_n = mt_wrap_sub(mt_retained_blocks(&f->holdings, part, g->last),
                                 mt_retained_blocks(&f->holdings, part, g->first));
    if (held_n == g->blocks_n || !rises_evenly_late(f, part, &late))
        return;
    if (times(late.bytes, g->last - g->first) != times(g->bytes, late.last - late.first))
        grow_as_held(g, &late);
}

/* What is held, compared from the end of the warm-up on, or, where that is less in the step after
 * it, from the first step. */
static struct mt_retained_trend after_warmup(const struct mt_leak_finder *f,
                                             const struct mt_retained *held, uint32_t part)
{
    int64_t last = f->step_n - 1;
    struct mt_retained_trend r =
        mt_retained_rises(held, part, f->warmup > 0 ? f->warmup - 1 : 0, last);
    return r.falls ? mt_retained_rises(held, part, f->warmup, last) : r;
}

/* A site whose blocks are replaced by larger ones again and again: what is left of it may be a
 * leak. */
static bool holds_ever_more(const struct mt_leak_finder *f, uint32_t part, struct growth *g)
{
    struct mt_retained_trend r = after_warmup(f, &f->holdings, part), late;
    if (r.falls || r.n < RISES_MIN || f->step_n - 1 - r.last > r.pause)
        return false;
    grow_as_held(g, !r.alike && rises_evenly_late(f, part, &late) ? &late : &r);
    return true;
}

/* A site that gives up blocks again and again, but fewer than it gets, as a backlog does. */
static bool climbs(const struct mt_leak_finder *f, uint32_t part, struct growth *g)
{
    struct mt_retained_part in[MT_RETAINED_PARTS];
    if (f->step_n - f->warmup < HIGHS_STEPS)
        return false;
    mt_retained_in_parts(&f->holdings, part, f->warmup, f->step_n - 1, in);
    for (int i = 1; i < MT_RETAINED_PARTS; i++)
        if (in[i].least_n <= in[i - 1].least_n || in[i].most_n <= in[i - 1].most_n ||
            in[i].least_b <= in[i - 1].least_b || in[i].most_b <= in[i - 1].most_b)
            return false;
    const struct mt_retained_part *from = &in[0], *to = &in[MT_RETAINED_PARTS - 1];
    *g = (struct growth){.first = from->most_at.step,
                         .last = to->most_at.step,
                         .bytes = mt_wrap_sub(to->most_b, from->most_b),
                         .blocks_n = mt_wrap_sub(to->most_at.blocks_n, from->most_at.blocks_n)};
    return true;
}

/* A site of which next to nothing can be overdue, because one block lived nearly as long as the
 * recording. What it holds still rises, and something stays of three steps or
 * more before the last. */
static bool too_short(const struct mt_leak_finder *f, const struct mt_survivor *s,
                      const struct mt_survivor *end, struct growth *out)
{
    uint32_t part = mt_leak_part(s->group, s->doubtful);
    int64_t last = f->step_n - 1, overdue_n = last - f->max_lifetime.v[s->group] - f->warmup;
    if (overdue_n >= GROWTHS_MIN - 1 || !mt_retained_higher(&f->holdings, part, f->warmup, last))
        return false;
    struct mt_retained_trend r = mt_retained_rises(&f->holdings, part, f->warmup, last);
    struct growth g = {0};
    for (; s < end; s++)
        if (s->step >= f->warmup && s->step < last)
            add_growth(&g, s, f->warmup);
    if (g.plain.after_warmup_n < GROWTHS_MIN || last - r.last > r.pause)
        return false;
    *out = g;
    return true;
}

static enum mt_verdict verdict_of(const struct mt_leak_finder *f, const struct mt_survivor *s,
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

static int64_t number_of(const struct mt_leak_finder *f, int64_t step)
{
    if (step < 0 || !f->step_n)
        return INT64_MIN;
    return f->lives->steps.all.v[step < f->step_n ? step : f->step_n - 1].number;
}

static void add_to_row(const struct mt_leak_finder *f, struct mt_leak *row,
                       const struct mt_survivor *s)
{
    int64_t step = number_of(f, s->step);
    row->first_step = !row->at_end_n || step < row->first_step ? step : row->first_step;
    row->last_step = !row->at_end_n || step > row->last_step ? step : row->last_step;
    row->at_end_n = s->blocks_n == MT_UNKNOWN || row->at_end_n < 0
                        ? -1
                        : mt_wrap_add(row->at_end_n, s->blocks_n);
    mt_wrap_inc(&row->at_end_b, s->bytes);
    if (s->doubtful)
        mt_wrap_inc(&row->doubt_b, s->bytes);
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    return b ? common_divisor(b, a % b) : a;
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

static uint64_t step_and_size(const struct mt_survivor *s)
{
    const int64_t both[] = {s->step, s->bytes};
    return mt_hash_short(1, both, sizeof both);
}

/* The gradient of a layer that begins to learn comes with the optimizer's state for it, in the same
 * step and of the same size, and may stay as long. */
static void find_learning(struct mt_leak_finder *f)
{
    struct mt_map made = {0}; /* by optimizers */
    for (size_t i = 0; i < f->survivors.n; i++)
        if (f->survivors.v[i].learning)
            *mt_map_at(&made, step_and_size(&f->survivors.v[i])) = 1;
    for (size_t i = 0; i < f->survivors.n && made.n; i++)
        f->survivors.v[i].learning |=
            mt_map_get(&made, step_and_size(&f->survivors.v[i])) != MT_NONE;
    for (size_t i = 0; i < f->survivors.n; i++)
        f->survivors.v[i].learning |= f->survivors.v[i].gradient;
    mt_map_free(&made);
}

/* The survivors of a part of a site, up to `end`. */
static void judge_part(struct mt_leak_finder *f, struct mt_survivor *s, struct mt_survivor *end,
                       struct mt_leak rows[MT_VERDICT_N])
{
    struct growth g = measure(f, s, end);
    uint32_t part = mt_leak_part(s->group, s->doubtful);
    enum mt_verdict verdict = judge(f, &g, s);
    if (verdict != MT_VERDICT_N && !s->doubtful)
        correct(f, part, &g);
    if (verdict == MT_VERDICT_N &&
        (holds_ever_more(f, part, &g) || climbs(f, part, &g) || too_short(f, s, end, &g))) {
        verdict = MT_VERDICT_CANDIDATE;
        for (struct mt_survivor *at = s; at < end; at++)
            at->alike = at->step >= f->warmup;
    }
    bool grows = false;
    for (; s < end; s++) {
        enum mt_verdict of = verdict_of(f, s, verdict);
        add_to_row(f, &rows[of], s);
        grows |= of == verdict;
    }
    if (grows)
        add_growth_to_row(&rows[verdict], &g);
}

static void use_rows(struct mt_leak_finder *f, uint32_t group, struct mt_leak rows[MT_VERDICT_N])
{
    const struct mt_group_name *name = &f->grouper->names.v[group];
    for (int verdict = 0; verdict < MT_VERDICT_N; verdict++) {
        struct mt_leak *row = &rows[verdict];
        row->verdict = (enum mt_verdict)verdict;
        row->group = group;
        row->key = name->key;
        row->explicit_row = name->explicit_row;
        f->grows |= row->growth_steps > 0;
        if (row->at_end_n)
            f->use(f->closure, row);
    }
}

static void judge_all(struct mt_leak_finder *f)
{
    if (!f->survivors.n)
        return;
    struct mt_survivor *v = f->survivors.v, *stop = v + f->survivors.n;
    find_learning(f);
    qsort(v, f->survivors.n, sizeof *v, survivor_cmp);
    for (struct mt_survivor *s = v; s < stop;) {
        struct mt_leak rows[MT_VERDICT_N] = {0};
        uint32_t group = s->group;
        for (struct mt_survivor *end = s; s < stop && s->group == group; s = end) {
            while (end < stop && end->group == group && end->doubtful == s->doubtful)
                end++;
            judge_part(f, s, end, rows);
        }
        use_rows(f, group, rows);
    }
}

/* Whether what site 0 holds rises in every step after the warm-up, and not by chance here and
 * there.
 */
static bool rises_every_step(const struct mt_leak_finder *f, struct mt_retained *held,
                             struct mt_retained_trend *r)
{
    mt_retained_sort(held);
    *r = after_warmup(f, held, 0);
    return !r->falls && r->n >= RISES_MIN && r->pause == 1 && r->last == f->step_n - 1;
}

/* What all sites hold together, as that of site 0. Levels rise no more than that: what they have
 * beside it is older than the recording, and only goes. It is read already, levels are not. */
static bool sites_rise(const struct mt_leak_finder *f)
{
    struct mt_retained all = {0};
    struct mt_retained_trend r;
    for (size_t i = 0; i < f->holdings.all.n; i++) {
        const struct mt_retained_change *c = &f->holdings.all.v[i];
        mt_retained_change(&all, 0, c->step, c->bytes, 0);
    }
    bool rise = rises_every_step(f, &all, &r);
    mt_retained_free(&all);
    return rise;
}

/* Where no site grows, the device may: what moves from site to site is old at none of them, and
 * each of them gives up all it holds. Nobody knows that of blocks freed unseen. */
static enum mt_status judge_whole(struct mt_leak_finder *f, const struct mt_run_device *device,
                                  struct mt_err *err)
{
    if (f->grows || !f->can_tell || device->unseen_n)
        return MT_OK;
    if (!device->alloc_unseen_n && !sites_rise(f)) /* blocks allocated unseen are of no site */
        return MT_OK;
    struct mt_retained held = {0};
    struct mt_retained_trend r;
    enum mt_status st = mt_leaks_levels(f, device, &held, err);
    bool rises = rises_every_step(f, &held, &r);
    mt_retained_free(&held);
    if (st != MT_OK || !rises)
        return st;
    uint32_t group = mt_grouper_explicit(f->grouper, "[all sites]");
    const struct mt_leak row = {.verdict = MT_VERDICT_CANDIDATE,
                                .group = group,
                                .key = f->grouper->names.v[group].key,
                                .explicit_row = true,
                                .whole = true,
                                .first_step = number_of(f, r.first),
                                .last_step = number_of(f, r.last),
                                .growth_b = r.bytes,
                                .growth_steps = r.last - r.first};
    f->use(f->closure, &row);
    return MT_OK;
}

enum mt_status mt_leaks_each(struct mt_allocations *l, const struct mt_run_device *device,
                             struct mt_grouper *grouper, int64_t warmup, mt_leak_use *use,
                             void *closure, struct mt_err *err)
{
    return mt_leaks_each_of_first(l, device, grouper, warmup, (int64_t)l->steps.all.n, use, closure,
                                  err);
}

enum mt_status mt_leaks_each_of_first(struct mt_allocations *l, const struct mt_run_device *device,
                                      struct mt_grouper *grouper, int64_t warmup, int64_t step_n,
                                      mt_leak_use *use, void *closure, struct mt_err *err)
{
    struct mt_leak_finder f = {.lives = l,
                               .grouper = grouper,
                               .use = use,
                               .closure = closure,
                               .step_n = step_n,
                               .warmup = warmup};
    enum mt_status st = mt_knows(l->run, device, MT_KNOWS_AT_END, err);
    if (st == MT_OK)
        st = mt_leaks_collect(&f, device, err);
    mt_retained_sort(&f.holdings);
    if (st == MT_OK)
        judge_all(&f);
    if (st == MT_OK)
        st = judge_whole(&f, device, err);
    mt_retained_free(&f.holdings);
    mt_doubt_free(&f.doubt);
    mt_map_free(&f.kept_gradients);
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
    MT_TRY(mt_run_gaps(l->db, l->run, device, &out->gaps, err));
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
