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
    if (first < 0 && mt_levels_time(l, 0, 0) > g->from_ns + part)
        return false;
    for (int64_t i = first; i <= last; i++)
        if (mt_levels_value(l, i) == MT_UNKNOWN)
            return false;
    return true;
}

/* Of one metric; *all: it is known all the time. */
static enum mt_status rate_of(struct mt_db *db, const struct mt_run *run,
                              const struct mt_run_device *device, const struct mt_growth_process *p,
                              enum mt_metric metric, double *rate, bool *all, struct mt_err *err)
{
    struct mt_levels l;
    enum mt_status st = mt_samples_load(db, run, device, mt_metric_names[metric], &l, err);
    *all = l.all.n > 0 && is_counted(&l, &p->growth);
    *rate = l.all.n > 0 ? mt_growth_rate_in(&l, &p->wanted, &p->growth) : 0;
    mt_levels_free(&l);
    return st;
}

/* What is held is the rest: the least of it in a part says when the program had most in use. */
enum mt_status mt_growth_causes_load(struct mt_db *db, const struct mt_run *run,
                                     const struct mt_run_device *device,
                                     const struct mt_growth_process *p,
                                     struct mt_growth_causes *out, struct mt_err *err)
{
    static const enum mt_metric outside[] = {MT_METRIC_OTHER_ANON, MT_METRIC_FILE, MT_METRIC_SHMEM};
    double *rate = out->rate, one;
    bool all;
    *out = (struct mt_growth_causes){0};
    if (!p->growth.known)
        return MT_OK;
    MT_TRY(rate_of(db, run, device, p, MT_METRIC_MALLOC_IN_USE, &rate[MT_CAUSE_IN_USE], &all, err));
    out->known = all;
    for (size_t i = 0; i < MT_ARRAY_LEN(outside) && out->known; i++) {
        MT_TRY(rate_of(db, run, device, p, outside[i], &one, &all, err));
        rate[MT_CAUSE_OUTSIDE] += one;
    }
    rate[MT_CAUSE_HELD] = p->growth.rate - rate[MT_CAUSE_IN_USE] - rate[MT_CAUSE_OUTSIDE];
    for (int i = MT_CAUSE_IN_USE; i < MT_CAUSE_N; i++)
        if (out->known && p->growth.verdict == MT_GROWTH_GROWS && rate[i] * 2 >= p->growth.rate &&
            (!out->most || rate[i] > rate[out->most]))
            out->most = (enum mt_growth_cause)i;
    return MT_OK;
}
