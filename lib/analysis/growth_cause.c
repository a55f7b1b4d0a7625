/* Of what a process grows: what malloc says it has, and what it does not know of. */
#include "lib/analysis/growth.h"

#include "lib/usage/samples.h"

const char *const mt_growth_cause_names[MT_CAUSE_N] = {
    [MT_CAUSE_IN_USE] = "grows (malloc in use)",
    [MT_CAUSE_HELD] = "held by the allocator",
    [MT_CAUSE_OUTSIDE] = "grows outside malloc",
};

/* Of one metric; *any: there are samples of it. */
static enum mt_status rate_of(struct mt_db *db, const struct mt_run *run,
                              const struct mt_run_device *device, const struct mt_growth_process *p,
                              enum mt_metric metric, double *rate, bool *any, struct mt_err *err)
{
    struct mt_levels l;
    enum mt_status st = mt_samples_load(db, run, device, mt_metric_names[metric], &l, err);
    *any = l.all.n > 0;
    *rate = *any ? mt_growth_rate_in(&l, &p->wanted, &p->growth) : 0;
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
    bool any;
    *out = (struct mt_growth_causes){0};
    if (!p->growth.known)
        return MT_OK;
    MT_TRY(rate_of(db, run, device, p, MT_METRIC_MALLOC_IN_USE, &rate[MT_CAUSE_IN_USE], &any, err));
    out->known = any;
    for (size_t i = 0; i < MT_ARRAY_LEN(outside) && out->known; i++) {
        MT_TRY(rate_of(db, run, device, p, outside[i], &one, &any, err));
        rate[MT_CAUSE_OUTSIDE] += one;
    }
    rate[MT_CAUSE_HELD] = p->growth.rate - rate[MT_CAUSE_IN_USE] - rate[MT_CAUSE_OUTSIDE];
    for (int i = MT_CAUSE_IN_USE; i < MT_CAUSE_N; i++)
        if (out->known && p->growth.verdict == MT_GROWTH_GROWS && rate[i] * 2 >= p->growth.rate &&
            (!out->most || rate[i] > rate[out->most]))
            out->most = (enum mt_growth_cause)i;
    return MT_OK;
}
