/* Rules about growth, and runs of more or fewer steps than their baseline. */
#include "lib/analysis/check_parts.h"

#include "lib/analysis/step_levels.h"

/* A device of a run, or of one of the repeats of a file. */
struct in_steps {
    const struct mt_baseline_device *device;
    size_t repeat; /* OF_SITES: that whose figures the sites have */
    struct mt_baseline_steps own;
};

#define OF_SITES SIZE_MAX

/* What grows in a step, of the sites that the rule is about: in whole bytes, as files have it. */
static double rate_of(const struct mt_rule *rule, const struct in_steps *of, enum mt_figure f)
{
    double rate = 0;
    for (size_t i = 0; i < of->device->sites.n; i++) {
        const struct mt_baseline_site *s = &of->device->sites.v[i];
        if (mt_rule_is_about(rule, s))
            rate += (double)(of->repeat == OF_SITES ? s->v[f]
                                                    : mt_baseline_figure_in(s, f, of->repeat));
    }
    return rate;
}

static struct mt_step_part part_of(const struct mt_rule *rule, const struct in_steps *of,
                                   int64_t figure_b)
{
    static const struct mt_rule whole;
    double leak_b = rate_of(rule, of, MT_FIG_PER_STEP_B),
           suspect_b = rate_of(rule, of, MT_FIG_SUSPECT_PER_STEP_B);
    return (struct mt_step_part){.step_n = of->own.step_n,
                                 .levels = &of->own.levels,
                                 .at_end = rule->kind->figure == MT_FIG_AT_END_B,
                                 .partial = mt_check_is_partial(rule),
                                 .figure_b = figure_b,
                                 .others_b = rate_of(&whole, of, MT_FIG_PER_STEP_B) - leak_b,
                                 .leak_b = leak_b,
                                 /* files of earlier versions do not say */
                                 .suspect_b = suspect_b > leak_b ? suspect_b : leak_b};
}

/* By the curve. What is freed behind the last step says nothing of fewer steps: the levels inside
 * the steps must turn a limit that is kept as well. */
static bool curve_turns(const struct mt_checked *c, const struct mt_step_part part[2])
{
    bool passed = c->verdict == MT_CHECK_PASS;
    double add[2], most[2];
    if (mt_step_is_untold(part, add, most))
        return mt_check_turns(c, add) || mt_check_turns(c, most);
    if (!mt_step_add_by_curve(part, add) || !mt_check_turns(c, add))
        return false;
    return !passed || (mt_step_add_inside(part, add) && mt_check_turns(c, add));
}

/* more_n: so many more steps in the baseline than it says. */
static bool verdict_turns(const struct mt_checked *c, const struct in_steps *base,
                          const struct in_steps *new, int64_t more_n)
{
    struct mt_step_part part[2] = {part_of(c->rule, base, c->base),
                                   part_of(c->rule, new, c->measured)};
    double add[2];
    part[0].step_n += more_n;
    if (part[0].step_n <= 0 && more_n)
        return false;
    for (int way = 0; way < MT_STEP_WAYS; way++) {
        mt_step_add(part, way, add);
        if (mt_check_turns(c, add))
            return true;
    }
    return curve_turns(c, part);
}

static bool grows(const struct mt_step_part *p)
{
    return p->leak_b != 0 || p->suspect_b != 0 || (!p->at_end && p->levels->rises.n > 1);
}

/* With steps that are unknown, on one side or both, whatever grows may turn the verdict. */
static void doubt_unknown(const struct in_steps *base, const struct in_steps *new,
                          struct mt_checked *c)
{
    const struct mt_step_part part[2] = {part_of(c->rule, base, c->base),
                                         part_of(c->rule, new, c->measured)};
    if (part[0].step_n && part[1].step_n && (grows(&part[0]) || grows(&part[1])))
        mt_check_open(c,
                      "the steps of the %s are unknown: with equally many, the verdict could "
                      "differ",
                      part[0].step_n == MT_BASELINE_UNKNOWN ? "baseline" : "run");
}

/* An older file of repeats that differ in their steps says by how many, not which has how many. */
static void doubt_differing(const struct in_steps *base, const struct in_steps *new,
                            struct mt_checked *c)
{
    const int64_t spread_n = base->device->steps.n ? 0 : base->device->spread[MT_FIG_STEP_N];
    if (spread_n &&
        (verdict_turns(c, base, new, -spread_n) || verdict_turns(c, base, new, spread_n)))
        mt_check_open(c, "the repeats of the baseline differ in their steps: with equally many, "
                         "the verdict could differ");
}

static void doubt(const struct in_steps *base, const struct in_steps *new, struct mt_checked *c)
{
    if (base->own.step_n == MT_BASELINE_UNKNOWN || new->own.step_n == MT_BASELINE_UNKNOWN)
        doubt_unknown(base, new, c);
    else if (verdict_turns(c, base, new, 0))
        mt_check_open(
            c,
            "the baseline has %lld steps and the run %lld: with equally many, the verdict "
            "could differ",
            (long long)base->own.step_n, (long long)new->own.step_n);
    else
        doubt_differing(base, new, c);
}

/* All repeats of a side, be they runs or those of a file. */
struct all_in_steps {
    MT_VEC(struct in_steps) v;
};

/* Rates of a repeat go with its levels: of an older file, these are known of one. */
static void add_all_of(struct all_in_steps *all, const struct mt_baseline *b,
                       const struct mt_baseline_device *d)
{
    const bool older = !d->steps.n && d->spread[MT_FIG_STEP_N];
    for (size_t i = 0; i < (older ? 1 : mt_baseline_repeats(b)); i++)
        *mt_vec_push(&all->v) =
            (struct in_steps){d, older ? OF_SITES : i, mt_baseline_steps_in(d, i)};
}

static struct all_in_steps all_of(const struct mt_repeats *side, const char *device)
{
    struct all_in_steps all = {0};
    for (size_t i = 0; i < side->v.n; i++) {
        const struct mt_baseline_device *d = mt_baseline_same_device(&side->v.v[i], device);
        if (d)
            add_all_of(&all, &side->v.v[i], d);
    }
    return all;
}

void mt_check_doubt_steps(const struct mt_repeats *new, const struct mt_repeats *base,
                          struct mt_checked *c)
{
    if (!base || !c->rule->kind->growth || c->rule->kind->steps)
        return;
    struct all_in_steps a = all_of(base, c->device), b = all_of(new, c->device);
    for (size_t i = 0; i < a.v.n; i++)
        for (size_t k = 0; k < b.v.n && c->verdict != MT_CHECK_INCONCLUSIVE; k++)
            doubt(&a.v.v[i], &b.v.v[k], c);
    mt_vec_free(&a.v);
    mt_vec_free(&b.v);
}
