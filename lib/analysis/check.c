#include "lib/analysis/check_parts.h"

#include "lib/base/human.h"
#include "lib/model/kind_words.h"
#include "lib/model/process.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const mt_check_names[MT_CHECK_N] = {"pass", "fail", "inconclusive"};

void mt_repeats_free(struct mt_repeats *r)
{
    for (size_t i = 0; i < r->v.n; i++)
        mt_baseline_free(&r->v.v[i]);
    mt_vec_free(&r->v);
}

void mt_check_open(struct mt_checked *c, const char *fmt, ...)
{
    va_list ap;
    c->verdict = MT_CHECK_INCONCLUSIVE;
    if (c->why[0])
        return;
    va_start(ap, fmt);
    vsnprintf(c->why, sizeof c->why, fmt, ap);
    va_end(ap);
}

/* ---- comparing with a baseline ---- */

/* Opens what does not compare between the formats of a baseline and a run. */
static void compare_formats(const struct mt_baseline *a, const struct mt_baseline *b,
                            struct mt_checked *c)
{
    char was[96], is[96];
    if (mt_formats_alike(a->format, b->format))
        return;
    mt_format_words(a->format, was);
    mt_format_words(b->format, is);
    mt_check_open(c, "the baseline is %s, the run %s: these count differently", was, is);
}

/* Nor between the steps of a repeat of the baseline and those of a run. */
static void compare_steps(const struct mt_rule *rule, int64_t was, int64_t is, struct mt_checked *c)
{
    if (was == MT_BASELINE_UNKNOWN || is == MT_BASELINE_UNKNOWN)
        mt_check_open(c, "the steps of the %s are unknown: %s do not compare",
                      was == MT_BASELINE_UNKNOWN ? "baseline" : "run", rule->kind->what);
    else if (was != is)
        mt_check_open(c, "the baseline has %lld steps, the run %lld: %s do not compare",
                      (long long)was, (long long)is, rule->kind->what);
}

static void compare_all_steps(const struct mt_rule *rule, const struct mt_baseline *base,
                              const struct mt_repeats *new, struct mt_checked *c)
{
    const struct mt_baseline_device *from = mt_baseline_same_device(base, c->device);
    for (size_t i = 0; i < mt_baseline_repeats(base); i++)
        for (size_t k = 0; k < new->v.n; k++)
            compare_steps(rule, mt_baseline_steps_in(from, i).step_n,
                          mt_baseline_same_device(&new->v.v[k], c->device)->v[MT_FIG_STEP_N], c);
    if (!from->steps.n && from->spread[MT_FIG_STEP_N]) /* a file of an earlier version */
        mt_check_open(c, "the repeats of the baseline differ in their steps: %s do not compare",
                      rule->kind->what);
}

static bool comparable(const struct mt_rule *rule, const struct mt_repeats *new,
                       const struct mt_repeats *base, struct mt_checked *c)
{
    for (size_t i = 0; i < base->v.n; i++) {
        for (size_t k = 0; k < new->v.n; k++)
            compare_formats(&base->v.v[i], &new->v.v[k], c);
        if (rule->kind->steps)
            compare_all_steps(rule, &base->v.v[i], new, c);
    }
    mt_check_older_differs(rule, new, base, c);
    return !c->why[0];
}

static bool measure_base(const struct mt_rule *rule, const struct mt_repeats *new,
                         const struct mt_repeats *base, bool same_run, struct mt_checked *c,
                         bool *found)
{
    const struct mt_check_side side = {base, "the baseline", false};
    struct mt_measured m;
    if (!base)
        mt_check_open(c, "there is no baseline to compare with; name one with --baseline");
    else if (same_run)
        mt_check_open(c, "the baseline is the run itself");
    else if (mt_check_measure(rule, rule->kind->figure, &side, c, &m)) {
        c->base = m.median;
        c->base_unlisted = m.unlisted;
        c->base_spread = mt_baseline_add(m.spread, m.unlisted);
        c->base_index = m.index;
        *found |= m.found;
        return comparable(rule, new, base, c);
    }
    return false;
}

static bool lacks_device(const struct mt_repeats *side, const char *device)
{
    bool any = false;
    for (size_t i = 0; i < side->v.n; i++)
        any |= mt_baseline_same_device(&side->v.v[i], device) != NULL;
    return !any;
}

/* Whether a site ever had memory; calls it may have on every device. */
static bool has_memory(const struct mt_baseline *b, const struct mt_baseline_site *s)
{
    bool any = false;
    for (int f = 0; f < MT_FIG_BASELINE_N; f++)
        for (size_t i = 0; i < mt_baseline_repeats(b) && f != MT_FIG_CALLS_N; i++)
            any |= mt_baseline_figure_in(s, (enum mt_figure)f, i) != 0;
    return any;
}

/* Whether a rule of growth is about sites of a device that one side lacks, and on the other none of
 * them has any memory: they are elsewhere. */
static bool is_elsewhere(const struct mt_rule *rule, const struct mt_repeats *new,
                         const struct mt_repeats *base, const struct mt_checked *c)
{
    const bool named = rule->device && strcmp(rule->device, c->device) == 0;
    const struct mt_repeats *side = base && lacks_device(new, c->device) ? base : new;
    struct mt_checked unused = *c;
    struct mt_measured m;
    if (!base || !rule->kind->growth || !mt_check_is_partial(rule) || named ||
        (side == new && !lacks_device(base, c->device)) ||
        !mt_check_measure(rule, rule->kind->figure, &(struct mt_check_side){side, "", false},
                          &unused, &m) ||
        m.unlisted)
        return false;
    bool any = false;
    for (size_t i = 0; i < side->v.n; i++) {
        const struct mt_baseline_device *d = mt_baseline_same_device(&side->v.v[i], c->device);
        for (size_t k = 0; d && k < d->sites.n; k++)
            any |=
                mt_rule_is_about(rule, &d->sites.v[k]) && has_memory(&side->v.v[i], &d->sites.v[k]);
    }
    return !any;
}

/* Whether the repeats of the run are of recorders that count the same; else opens it: they have no
 * median. */
static bool repeats_alike(const struct mt_repeats *new, struct mt_checked *c)
{
    for (size_t i = 1; i < new->v.n; i++) {
        const struct mt_baseline *a = &new->v.v[0], *b = &new->v.v[i];
        char one[96], other[96];
        if (mt_formats_alike(a->format, b->format))
            continue;
        mt_format_words(a->format, one);
        mt_format_words(b->format, other);
        mt_check_open(c,
                      "'%.60s' is %s, '%.60s' %s: these count differently; --each judges each run "
                      "separately",
                      a->run, one, b->run, other);
        return false;
    }
    return true;
}

static void judge(struct mt_checked *c)
{
    const struct mt_rule *rule = c->rule;
    double noise = (double)c->spread;
    char text[MT_HUMAN_MAX];
    c->limit = rule->amount;
    if (rule->kind->growth && rule->percent >= 0) {
        c->limit =
            mt_baseline_whole(floor((double)c->base + fabs((double)c->base) * rule->percent / 100));
        noise += (double)c->base_spread * (1 + rule->percent / 100);
    } else if (rule->kind->growth) {
        c->limit = mt_baseline_whole((double)c->base + (double)rule->amount);
        noise += (double)c->base_spread;
    }
    if (c->measured <= c->limit)
        c->verdict = MT_CHECK_PASS;
    else if ((double)(c->measured - c->doubt - c->limit) > noise)
        c->verdict = MT_CHECK_FAIL;
    else if (c->doubt && rule->kind->figure == MT_FIG_TEMPORARY_N)
        mt_check_open(
            c,
            "the log says only how many there are at most; one of heaptrack --raw says how many");
    else if (c->doubt && c->other)
        mt_check_open(c, "the limit lies within what is not known; record longer");
    else if ((double)(c->measured - c->limit) > noise && c->profiled)
        mt_check_open(
            c, "%s of it may be PyTorch's profiler, or what that left; record without --torch",
            mt_human_bytes(c->doubt, text));
    else if ((double)(c->measured - c->limit) > noise)
        mt_check_open(
            c,
            "%s of it may not have been alive then: blocks were freed, or allocated, where the "
            "profiler did not see it",
            mt_human_bytes(c->doubt, text));
    else if (c->base_unlisted)
        mt_check_open(c, "the baseline does not list all sites, and the rest may be the excess");
    else
        mt_check_open(c, "the repeats differ by more than the excess");
}

bool mt_check_turns(const struct mt_checked *c, const double add[2])
{
    double percent = c->rule->percent;
    double noise = (double)c->spread + (double)c->base_spread * (1 + fmax(percent, 0) / 100);
    double base = (double)c->base + add[0], is = (double)c->measured + add[1];
    double limit =
        percent >= 0 ? floor(base + fabs(base) * percent / 100) : base + (double)c->rule->amount;
    return c->verdict == MT_CHECK_PASS ? is > limit : is - (double)c->doubt - limit <= noise;
}

/* ---- what keeps a limit only at first sight ---- */

/* A run that exceeds a limit that the median keeps: no noise if they are the ranks of a job. */
static void doubt_median(const struct mt_repeats *new, const struct mt_measured *m,
                         struct mt_checked *c)
{
    char most[MT_HUMAN_LONG];
    if (c->rule->kind->growth || c->verdict != MT_CHECK_PASS || m->most <= c->limit)
        return;
    mt_check_open(c, "'%s' exceeds it with %s; --each judges each run separately",
                  new->v.v[m->most_index].run,
                  c->rule->kind->count ? mt_human_count(m->most, most)
                                       : mt_human_with_exact(m->most, most));
    c->look_index = m->most_index;
    c->look = true;
}

/* A limit that is kept as far as is known. */
static void doubt_part(const struct mt_measured *m, struct mt_checked *c)
{
    if (c->verdict == MT_CHECK_PASS && m->part.run)
        mt_check_open(c, "it may be more, as the run '%s' %s", m->part.run, m->part.why);
}

/* A limit that is kept by the blocks in massif's snapshots, but not by all that it counts. */
static void doubt_blocks(const struct mt_repeats *new, struct mt_checked *c)
{
    const struct mt_rule *rule = c->rule;
    char text[MT_HUMAN_MAX];
    for (size_t i = 0; i < new->v.n && c->verdict == MT_CHECK_PASS; i++) {
        const struct mt_baseline_device *d = mt_baseline_same_device(&new->v.v[i], c->device);
        if (rule->kind->figure != MT_FIG_AT_PEAK_B || rule->kind->growth ||
            mt_check_is_partial(rule) || !d || d->blocks_most_b <= c->limit)
            continue;
        mt_check_open(
            c,
            "between its snapshots '%.120s' may have held up to %s: massif marks the peak of "
            "blocks with what the allocator adds to them; valgrind's DHAT has that of blocks",
            new->v.v[i].run, mt_human_bytes(d->blocks_most_b, text));
    }
}

/* A limit that is kept, unless sites that the run does not list are among those it is about. */
static void doubt_unlisted(const struct mt_repeats *new, struct mt_checked *c)
{
    if (c->verdict == MT_CHECK_PASS && c->measured + c->unlisted > c->limit)
        mt_check_open(c, "it may be more, as the run '%s' does not list all sites",
                      new->v.v[c->new_index].run);
}

/* A limit that is kept, but not by all that a process may grow by. */
static void doubt_growth(const struct mt_repeats *new, struct mt_checked *c)
{
    const enum mt_figure f = c->rule->kind->figure;
    for (size_t i = 0; i < new->v.n && c->other; i++) {
        const struct mt_baseline_device *d = mt_baseline_same_device(&new->v.v[i], c->device);
        if (c->verdict == MT_CHECK_PASS && d && d->other[mt_baseline_other(f)].more &&
            d->other[mt_baseline_other(f)].high > c->limit) {
            mt_check_open(c, "it may be more than the limit; record longer");
            c->look = true;
            c->look_index = i;
        }
    }
}

/* The site that grows most without being known for a leak; NULL: none. */
static const struct mt_baseline_site *
candidate_of(const struct mt_rule *rule, const struct mt_baseline_device *d, int64_t *growth_b)
{
    const struct mt_baseline_site *most = NULL;
    *growth_b = 0;
    for (size_t i = 0; i < d->sites.n; i++) {
        const struct mt_baseline_site *s = &d->sites.v[i];
        int64_t growth = mt_baseline_up(s->rate[mt_baseline_rate(MT_FIG_SUSPECT_PER_STEP_B)] -
                                        s->rate[mt_baseline_rate(MT_FIG_PER_STEP_B)]);
        if (growth > *growth_b && mt_rule_is_about(rule, s)) {
            *growth_b = growth;
            most = s;
        }
    }
    return most;
}

static void doubt_candidates(const struct mt_check_side *side, struct mt_checked *c)
{
    const struct mt_repeats *new = side->repeats;
    struct mt_measured m;
    char text[MT_HUMAN_MAX];
    int64_t growth_b;
    if (c->rule->kind->figure != MT_FIG_PER_STEP_B || c->verdict != MT_CHECK_PASS ||
        !mt_check_measure(c->rule, MT_FIG_SUSPECT_PER_STEP_B, side, c, &m) || m.most <= c->limit)
        return;
    const struct mt_baseline_site *s = candidate_of(
        c->rule, mt_baseline_same_device(&new->v.v[m.most_index], c->device), &growth_b);
    if (!s)
        return;
    struct mt_buf site = {0};
    mt_baseline_site_add(&site, s->line, s->op, s->scope);
    mt_check_open(c, "%.200s may be a leak: a candidate that grows %s%s a step", site.s,
                  s->unseen ? "at most " : "", mt_human_bytes(growth_b, text));
    mt_buf_free(&site);
    c->look_index = m.most_index;
    c->look = true;
}

/* What is known of a process that was not always looked at: that it, or a child, had too much; or
 * that it had no more than the limit. */
static void use_bounds(const struct mt_repeats *new, struct mt_checked *c)
{
    const struct mt_rule *rule = c->rule;
    const struct mt_baseline_device *d =
        new->v.n == 1 ? mt_baseline_same_device(&new->v.v[0], c->device) : NULL;
    if (!d || rule->kind->figure != MT_FIG_AT_PEAK_B || rule->kind->growth ||
        mt_check_is_partial(rule) || c->verdict != MT_CHECK_INCONCLUSIVE)
        return;
    c->or_child = d->proved_b > rule->amount;
    c->most = d->most_b && d->most_b <= rule->amount;
    if (!c->or_child && !c->most)
        return;
    c->verdict = c->or_child ? MT_CHECK_FAIL : MT_CHECK_PASS;
    c->measured = c->or_child ? d->proved_b : d->most_b;
    c->limit = rule->amount;
    c->spread = 0;
    c->least = false;
    c->why[0] = '\0';
}

void mt_check_rule(const struct mt_rule *rule, const struct mt_repeats *new,
                   const struct mt_repeats *base, bool same_run, struct mt_checked *out)
{
    const struct mt_baseline_device *first = mt_baseline_device(&new->v.v[0], rule->device);
    char narrowed[2 * MT_BASELINE_NAME_MAX];
    const char *device = first ? first->name : NULL;
    if (first && rule->narrow.set) {
        snprintf(narrowed, sizeof narrowed, "%s: %s", first->name, rule->narrow.words);
        device = narrowed;
    }
    mt_check_rule_on(rule, device, new, base, same_run, out);
}

static const char none_matches[] = "no site matches this op and scope";

/* Whether a run that counts calls has none of an op and scope that the baseline has: it did not
 * run, or has another name. Elsewhere a site without a call holds nothing. */
static bool did_not_run(const struct mt_measured *m, const struct mt_baseline_device *d)
{
    return !m->found_median && d->v[MT_FIG_CALLS_N] > 0;
}

/* What was measured with the limit. */
static void compare(const struct mt_rule *rule, const struct mt_repeats *new,
                    const struct mt_repeats *base, bool same_run, const struct mt_check_side *side,
                    const struct mt_measured *m, struct mt_checked *out)
{
    out->measured = m->median;
    out->spread = m->spread;
    out->doubt = m->doubt;
    out->least = m->part.run != NULL;
    out->unlisted = m->unlisted;
    out->new_index = m->index;
    const struct mt_baseline_device *d = mt_baseline_same_device(&new->v.v[m->index], out->device);
    out->profiled = d->profiled;
    if (mt_baseline_has_other(rule->kind->figure) && rule->kind->process)
        out->other = &d->other[mt_baseline_other(rule->kind->figure)];
    bool found = m->found;
    if (rule->kind->growth && !measure_base(rule, new, base, same_run, out, &found))
        return;
    out->nothing_matches = mt_check_is_partial(rule) && !found;
    if (out->nothing_matches)
        mt_check_open(out, none_matches);
    else if (mt_check_is_partial(rule) && did_not_run(m, d))
        mt_check_open(out, "the run has no call of this op and scope, the baseline has; if that is "
                           "meant, take a new baseline");
    else if (repeats_alike(new, out))
        judge(out);
    doubt_part(m, out);
    doubt_blocks(new, out);
    doubt_unlisted(new, out);
    mt_check_doubt_older(new, base, out);
    mt_check_doubt_steps(new, base, out);
    doubt_growth(new, out);
    doubt_median(new, m, out);
    doubt_candidates(side, out);
    use_bounds(new, out);
    if (out->verdict != MT_CHECK_FAIL)
        return;
    out->look = true;
    out->look_index = out->new_index;
    mt_check_explain(rule, rule->kind->growth ? &base->v.v[out->base_index] : NULL,
                     &new->v.v[out->new_index], out);
}

void mt_check_rule_on(const struct mt_rule *rule, const char *device, const struct mt_repeats *new,
                      const struct mt_repeats *base, bool same_run, struct mt_checked *out)
{
    const struct mt_check_side side = {new, "the run", true};
    struct mt_measured m;
    *out = (struct mt_checked){.rule = rule,
                               .repeat_n = new->v.n,
                               .measured = MT_BASELINE_UNKNOWN,
                               .limit = MT_BASELINE_UNKNOWN,
                               .base = MT_BASELINE_UNKNOWN,
                               .spread = MT_BASELINE_UNKNOWN,
                               .base_spread = MT_BASELINE_UNKNOWN};
    snprintf(out->device, sizeof out->device, "%s",
             device         ? device
             : rule->device ? rule->device
                            : "");
    if (rule->kind->process && !mt_process_is_device(out->device)) {
        out->device[0] = '\0';
        mt_check_open(out,
                      "the run '%.120s' does not say what a process had in memory; memtool record "
                      "does",
                      new->v.v[0].run);
    } else if (!device && !rule->device)
        mt_check_open(out, "the run '%s' holds no memory records", new->v.v[0].run);
    if (out->why[0])
        return;
    out->nothing_matches = is_elsewhere(rule, new, base, out);
    if (out->nothing_matches)
        mt_check_open(out, none_matches);
    else if (!mt_check_measure(rule, rule->kind->figure, &side, out, &m))
        use_bounds(new, out);
    else
        compare(rule, new, base, same_run, &side, &m, out);
}
