#include "lib/analysis/leaks.h"

#include "lib/analysis/leaks_parts.h"
#include "lib/base/hash.h"
#include "lib/base/wrap.h"
#include "lib/run/knows.h"
#include "lib/usage/gaps.h"
#include <stdlib.h>
#include <string.h>

const char *const mt_verdict_names[MT_VERDICT_N] = {
    [MT_VERDICT_LEAK] = "leak",           [MT_VERDICT_CANDIDATE] = "candidate",
    [MT_VERDICT_CACHE] = "cache",         [MT_VERDICT_STATE] = "state",
    [MT_VERDICT_LAST_STEP] = "last step",
};

int mt_survivor_cmp(const void *a, const void *b)
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

static enum mt_verdict verdict_of(const struct mt_leak_finder *f, const struct mt_survivor *s,
                                  enum mt_verdict site)
{
    if (f->step_n == 0)
        return s->older && !f->one_moment ? MT_VERDICT_STATE : MT_VERDICT_CANDIDATE;
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
static void add_growth_to_row(struct mt_leak *row, const struct mt_growth *g)
{
    int64_t steps = g->last - g->first;
    if (!row->growth_steps)
        row->growth_steps = steps;
    int64_t by = common_divisor(row->growth_steps, steps);
    int64_t row_times = steps / by, times_of_part = row->growth_steps / by;
    row->growth_b =
        mt_wrap_add(mt_wrap_mul(row->growth_b, row_times), mt_wrap_mul(g->bytes, times_of_part));
    row->growth_n =
        mt_wrap_add(mt_wrap_mul(row->growth_n, row_times), mt_wrap_mul(g->blocks_n, times_of_part));
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

static void add_part(const struct mt_leak_finder *f, const struct mt_leak_found *part,
                     struct mt_leak rows[MT_VERDICT_N])
{
    bool grows = false;
    for (const struct mt_survivor *s = part->from; s < part->end; s++) {
        enum mt_verdict of = verdict_of(f, s, part->verdict);
        add_to_row(f, &rows[of], s);
        grows |= of == part->verdict;
    }
    if (grows)
        add_growth_to_row(&rows[part->verdict], &part->by);
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

/* Whether there may be threads that free what others make, and that nobody profiles. */
static bool may_miss_threads(const struct mt_run *run, const struct mt_run_device *device)
{
    return device->type == MT_DEVICE_CPU && strcmp(run->format, "pytorch-trace") == 0;
}

/* Where it is not known whether frees are seen, nothing is a leak. */
static enum mt_status doubt_leaks(struct mt_leak_finder *f, const struct mt_run_device *device,
                                  struct mt_leak_found *v, size_t n, struct mt_err *err)
{
    bool leaks = false;
    for (size_t i = 0; i < n; i++)
        leaks |= v[i].verdict == MT_VERDICT_LEAK;
    if (leaks && !f->frees_unknown && may_miss_threads(f->lives->run, device))
        MT_TRY(mt_leaks_frees_unknown(f, device, &f->frees_unknown, err));
    for (size_t i = 0; i < n && f->frees_unknown; i++)
        if (v[i].verdict == MT_VERDICT_LEAK)
            v[i].verdict = MT_VERDICT_CANDIDATE;
    return MT_OK;
}

static enum mt_status judge_all(struct mt_leak_finder *f, const struct mt_run_device *device,
                                struct mt_err *err)
{
    if (!f->survivors.n)
        return MT_OK;
    MT_VEC(struct mt_leak_found) parts = {0};
    struct mt_survivor *s = f->survivors.v, *stop = s + f->survivors.n;
    find_learning(f);
    qsort(s, f->survivors.n, sizeof *s, mt_survivor_cmp);
    while (s < stop) {
        struct mt_leak_found *part = mt_vec_push(&parts);
        part->from = s;
        while (s < stop && s->group == part->from->group && s->doubtful == part->from->doubtful)
            s++;
        part->end = s;
        part->verdict = mt_leak_growth(f, part->from, part->end, &part->by);
    }
    mt_leaks_of_lines(f, parts.v, parts.n);
    enum mt_status st = doubt_leaks(f, device, parts.v, parts.n, err);
    for (size_t i = 0; i < parts.n && st == MT_OK;) {
        struct mt_leak rows[MT_VERDICT_N] = {0};
        uint32_t group = parts.v[i].from->group;
        for (; i < parts.n && parts.v[i].from->group == group; i++)
            add_part(f, &parts.v[i], rows);
        use_rows(f, group, rows);
    }
    mt_vec_free(&parts);
    return st;
}

static void use_given_up(struct mt_leak_finder *f, uint32_t group,
                         const struct mt_retained_trend *r)
{
    const struct mt_group_name *name = &f->grouper->names.v[group];
    const struct mt_leak row = {.verdict = MT_VERDICT_CANDIDATE,
                                .group = group,
                                .key = name->key,
                                .explicit_row = name->explicit_row,
                                .first_step = number_of(f, r->first),
                                .last_step = number_of(f, r->last),
                                .growth_b = r->bytes,
                                .growth_n = r->blocks_n,
                                .growth_steps = r->last - r->first};
    f->grows = true;
    f->use(f->closure, &row);
}

/* Sites of which nothing is alive at the end have no survivors to judge. But what a function
 * collects, and gives up when it returns behind the last step, rises until then. */
static void judge_given_up(struct mt_leak_finder *f)
{
    const struct mt_survivor *s = f->survivors.v; /* by group */
    const size_t n = f->survivors.n;
    struct mt_retained_trend r;
    size_t at = 0;
    uint32_t before = MT_NONE;
    for (size_t i = 0; i < f->holdings.all.n && f->can_tell; i++) {
        const uint32_t part = f->holdings.all.v[i].site, group = part / 2;
        while (at < n && s[at].group < group)
            at++;
        bool alive = at < n && s[at].group == group, doubtful = part != mt_leak_part(group, false);
        if (part != before && !alive && !doubtful &&
            mt_leak_rises_every_step(f, &f->holdings, part, &r))
            use_given_up(f, group, &r);
        before = part;
    }
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
    mt_retained_sort(&all);
    bool rise = mt_leak_rises_every_step(f, &all, 0, &r);
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
    mt_retained_sort(&held);
    bool rises = mt_leak_rises_every_step(f, &held, 0, &r);
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

/* What to look for in all steps; closure: use's. */
static struct mt_leak_finder finder_of(struct mt_allocations *l, const struct mt_run_device *device,
                                       struct mt_grouper *grouper, int64_t warmup, mt_leak_use *use,
                                       void *closure)
{
    return (struct mt_leak_finder){.lives = l,
                                   .grouper = grouper,
                                   .use = use,
                                   .closure = closure,
                                   .frees_unknown =
                                       device->frees_nothing && may_miss_threads(l->run, device),
                                   .one_moment = device->one_moment != 0,
                                   .step_n = (int64_t)l->steps.all.n,
                                   .warmup = warmup};
}

static enum mt_status find(struct mt_leak_finder *f, const struct mt_run_device *device,
                           struct mt_err *err)
{
    enum mt_status st = mt_knows(f->lives->run, device, MT_KNOWS_AT_END, err);
    if (st == MT_OK)
        st = mt_leaks_collect(f, device, err);
    mt_retained_sort(&f->holdings);
    if (st == MT_OK)
        st = judge_all(f, device, err);
    if (st == MT_OK)
        judge_given_up(f);
    if (st == MT_OK)
        st = judge_whole(f, device, err);
    mt_retained_free(&f->holdings);
    mt_doubt_free(&f->doubt);
    mt_map_free(&f->kept_gradients);
    mt_vec_free(&f->survivors);
    mt_vec_free(&f->max_lifetime);
    return st;
}

enum mt_status mt_leaks_each(struct mt_allocations *l, const struct mt_run_device *device,
                             struct mt_grouper *grouper, int64_t warmup, mt_leak_use *use,
                             void *closure, struct mt_err *err)
{
    struct mt_leak_finder f = finder_of(l, device, grouper, warmup, use, closure);
    return find(&f, device, err);
}

enum mt_status mt_leaks_each_of_first(struct mt_allocations *l, const struct mt_run_device *device,
                                      struct mt_grouper *grouper, int64_t warmup, int64_t step_n,
                                      mt_leak_use *use, void *closure, struct mt_err *err)
{
    struct mt_leak_finder f = finder_of(l, device, grouper, warmup, use, closure);
    f.step_n = step_n;
    return find(&f, device, err);
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
    struct mt_leak_finder f = finder_of(l, device, &out->grouper, warmup, add_leak, out);
    enum mt_status st = find(&f, device, err);
    out->frees_unknown = f.frees_unknown;
    if (out->rows.n)
        qsort(out->rows.v, out->rows.n, sizeof *out->rows.v, row_cmp);
    return st;
}

void mt_leaks_free(struct mt_leaks *l)
{
    mt_grouper_free(&l->grouper);
    mt_vec_free(&l->rows);
}
