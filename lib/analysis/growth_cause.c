/* Of what a process grows: what malloc says it has, and what it does not know of. */
#include "lib/analysis/growth.h"

#include "lib/usage/samples.h"

const char *const mt_growth_cause_names[MT_CAUSE_N] = {
    [MT_CAUSE_IN_USE] = "grows (malloc in use)",
    [MT_CAUSE_HELD] = "held by the allocator",
    [MT_CAUSE_OUTSIDE] = "grows outside malloc",
};

/* Through the whole window, but for the begin of its first part. */
static bool is_counted(const struct mt_levels *l, const struct mt_growth *g)
{
    int64_t first = mt_levels_at(l, g->from_ns), last = mt_levels_before(l, g->to_ns);
    int64_t part = (g->to_ns - g->from_ns) / g->part_n;
    if (last < 0 || (first < 0 && mt_levels_time(l, 0, 0) > g->from_ns + part))
        return false;
    for (int64_t i = first; i <= last; i++)
        if (mt_levels_value(l, i) == MT_UNKNOWN)
            return false;
    return true;
}

static double rate_of(const struct mt_levels *l, const struct mt_growth_process *p)
{
    return l->all.n > 0 ? mt_growth_rate_in(l, &p->wanted, &p->growth) : 0;
}

/* What is held is the rest: the least of it in a part says when the program had most in use. */
static void add_up(const struct mt_growth *g, struct mt_growth_causes *out)
{
    double *rate = out->rate;
    rate[MT_CAUSE_HELD] = g->rate - rate[MT_CAUSE_IN_USE] - rate[MT_CAUSE_OUTSIDE];
    out->most = MT_CAUSE_UNKNOWN;
    for (int i = MT_CAUSE_IN_USE; i < MT_CAUSE_N; i++)
        if (g->verdict == MT_GROWTH_GROWS && rate[i] * 2 >= g->rate &&
            (!out->most || rate[i] > rate[out->most]))
            out->most = (enum mt_growth_cause)i;
}

/* A program that ends frees what it leaked, and malloc keeps it: what is in use then says nothing
 * of what grew. A cause that the last part alone makes is none. */
static bool hangs_on_end(const struct mt_growth_parts *parts, const struct mt_growth_process *p,
                         const struct mt_growth_causes *found)
{
    struct mt_growth_process before = *p;
    struct mt_growth *g = &before.growth;
    struct mt_growth_causes without = *found;
    g->units -= g->units / (double)g->part_n;
    g->part_n--;
    without.rate[MT_CAUSE_IN_USE] = rate_of(&parts->in_use, &before);
    add_up(&p->growth, &without);
    return without.most != found->most;
}

void mt_growth_causes_find(const struct mt_growth_parts *parts, const struct mt_growth_process *p,
                           struct mt_growth_causes *out)
{
    *out = (struct mt_growth_causes){0};
    if (!p->growth.known || !is_counted(&parts->in_use, &p->growth))
        return;
    out->rate[MT_CAUSE_IN_USE] = rate_of(&parts->in_use, p);
    for (size_t i = 0; i < MT_ARRAY_LEN(parts->outside); i++) {
        if (!is_counted(&parts->outside[i], &p->growth))
            return;
        out->rate[MT_CAUSE_OUTSIDE] += rate_of(&parts->outside[i], p);
    }
    add_up(&p->growth, out);
    out->known = !hangs_on_end(parts, p, out);
    if (!out->known)
        out->most = MT_CAUSE_UNKNOWN;
}

enum mt_status mt_growth_causes_load(struct mt_db *db, const struct mt_run *run,
                                     const struct mt_run_device *device,
                                     const struct mt_growth_process *p,
                                     struct mt_growth_causes *out, struct mt_err *err)
{
    static const enum mt_metric outside[] = {MT_METRIC_OTHER_ANON, MT_METRIC_FILE, MT_METRIC_SHMEM};
    struct mt_growth_parts parts = {0};
    const char *in_use = mt_metric_names[MT_METRIC_MALLOC_IN_USE];
    enum mt_status st = mt_samples_load(db, run, device, in_use, &parts.in_use, err);
    for (size_t i = 0; i < MT_ARRAY_LEN(outside) && st == MT_OK && parts.in_use.all.n; i++)
        st = mt_samples_load(db, run, device, mt_metric_names[outside[i]], &parts.outside[i], err);
    mt_growth_causes_find(&parts, p, out);
    mt_levels_free(&parts.in_use);
    for (size_t i = 0; i < MT_ARRAY_LEN(parts.outside); i++)
        mt_levels_free(&parts.outside[i]);
    return st;
}
