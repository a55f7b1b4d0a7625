/* Rules about levels, and what is older than the recordings. */
#include "lib/analysis/check_parts.h"

#include "lib/analysis/older_levels.h"
#include "lib/base/human.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_told(const struct mt_baseline_device *d)
{
    return d->older_b != MT_BASELINE_UNKNOWN;
}

/* Whether what is older than the recording is part of the figure. */
static bool counts_older(const struct mt_rule *rule)
{
    static const struct mt_baseline_site older = {.op = "[before trace]", .explicit_row = true};
    enum mt_figure f = rule->kind->figure;
    return (f == MT_FIG_AT_PEAK_B || f == MT_FIG_AT_END_B) && mt_rule_is_about(rule, &older);
}

/* What all repeats of a side say: the median is of one of them, but which is no matter of that. */
static struct mt_baseline_device older_of(const struct mt_repeats *side, const struct mt_checked *c)
{
    struct mt_baseline_device all = {0};
    snprintf(all.name, sizeof all.name, "%s", c->device);
    mt_baseline_fold_older(side->v.v, side->v.n, &all);
    return all;
}

static bool is_mixed(const struct mt_baseline_device *side)
{
    return is_told(side) && side->older_left_out;
}

void mt_check_older_differs(const struct mt_rule *rule, const struct mt_repeats *new,
                            const struct mt_repeats *base, struct mt_checked *c)
{
    const struct mt_baseline_device a = older_of(base, c), b = older_of(new, c);
    bool in_base = is_told(&a) && b.older_left_out;
    if (!counts_older(rule))
        return;
    if (a.older_unsaid && (b.older_left_out || (is_told(&b) && b.older_b)))
        mt_check_open(c,
                      "the baseline does not say whether it includes what was allocated before the "
                      "recording; write it anew with memtool export");
    else if (is_mixed(&a) || is_mixed(&b))
        mt_check_open(
            c,
            "memory allocated before the recording is in the figures of some repeats of the "
            "%s, but not of others; import all with --base",
            is_mixed(&a) ? "baseline" : "run");
    else if (in_base || (is_told(&b) && a.older_left_out))
        mt_check_open(
            c,
            "memory allocated before the recording is in the figure of the %s, but not of "
            "the %s; import both with --base",
            in_base ? "baseline" : "run", in_base ? "run" : "baseline");
}

/* A limit that is kept by what was recorded, but not by what the run may have held. */
static void doubt_limit(const struct mt_repeats *new, struct mt_checked *c)
{
    char text[MT_HUMAN_MAX];
    for (size_t i = 0; i < new->v.n && c->verdict == MT_CHECK_PASS; i++) {
        const struct mt_baseline_device *d = mt_baseline_same_device(&new->v.v[i], c->device);
        bool partial = mt_check_is_partial(c->rule);
        int64_t is = partial ? c->measured : d ? d->v[c->rule->kind->figure] : MT_BASELINE_UNKNOWN;
        if (!d || is == MT_BASELINE_UNKNOWN || !d->older_left_out)
            continue;
        int64_t most_b = d->older_most_b < 0 ? d->older_least_b : d->older_most_b;
        if (most_b < 0 || mt_baseline_add(is, most_b) <= c->limit)
            continue;
        mt_check_open(c,
                      "this excludes memory allocated before '%s', an estimated %s; import --base "
                      "SIZE includes it",
                      new->v.v[i].run, mt_human_bytes(most_b, text));
    }
}

static struct mt_older_part part_of(const struct mt_baseline_device *d)
{
    return (struct mt_older_part){d->older_left_out, d->older_least_b, d->older_most_b};
}

static bool verdict_turns(const struct mt_checked *c, const struct mt_older_part part[2], bool most)
{
    double add[2];
    mt_older_add(part, most, c->rule->percent > 0, add);
    return mt_check_turns(c, add);
}

static void doubt_growth(const struct mt_repeats *new, const struct mt_repeats *base,
                         struct mt_checked *c)
{
    const struct mt_baseline_device all[2] = {older_of(base, c), older_of(new, c)};
    const struct mt_older_part part[2] = {part_of(&all[0]), part_of(&all[1])};
    const double level[2] = {(double)c->base, (double)c->measured};
    struct mt_buf text = {0};
    if (!verdict_turns(c, part, false) && !verdict_turns(c, part, true))
        return;
    if (mt_older_change(part, level, &text))
        mt_check_open(c,
                      "with the estimates of memory allocated before the recordings it changes by "
                      "%s; import both with --base SIZE",
                      text.s);
    else
        mt_check_open(c, "this excludes memory allocated before the recordings, of unknown size; "
                         "import both with --base SIZE");
    mt_buf_free(&text);
}

/* Of some categories: the first run of which older blocks may be of these. */
static const char *older_run(const struct mt_repeats *side, const struct mt_checked *c)
{
    for (size_t i = 0; side && i < side->v.n; i++) {
        const struct mt_baseline_device *d = mt_baseline_same_device(&side->v.v[i], c->device);
        if (d && d->older_left_out)
            return side->v.v[i].run;
    }
    return NULL;
}

/* Whether all older blocks of a single run would keep the limit, too. */
static bool keeps_with_older(const struct mt_repeats *new, const struct mt_checked *c)
{
    const struct mt_baseline_device older = older_of(new, c);
    return new->v.n == 1 && older.older_most_b >= 0 &&
           mt_baseline_add(c->measured, older.older_most_b) <= c->limit;
}

/* Nobody knows what older blocks are, so that each category may have any part of them. */
static void doubt_category(const struct mt_repeats *new, const struct mt_repeats *base,
                           struct mt_checked *c)
{
    bool growth = c->rule->kind->growth;
    const char *run = older_run(new, c);
    if (!run && growth)
        run = older_run(base, c);
    if (!run || (!growth && (c->verdict != MT_CHECK_PASS || keeps_with_older(new, c))))
        return;
    mt_check_open(c,
                  "what is older than the recording of '%.120s' is in no category, but may be of "
                  "%s; record the building of the model, too",
                  run, strchr(c->rule->narrow.words, ',') ? "these categories" : "this category");
}

void mt_check_doubt_older(const struct mt_repeats *new, const struct mt_repeats *base,
                          struct mt_checked *c)
{
    enum mt_figure f = c->rule->kind->figure;
    if (c->verdict == MT_CHECK_INCONCLUSIVE)
        return;
    if (c->rule->narrow.set) {
        if (f == MT_FIG_AT_PEAK_B || f == MT_FIG_AT_END_B)
            doubt_category(new, base, c);
        return;
    }
    if (!counts_older(c->rule))
        return;
    if (!c->rule->kind->growth)
        doubt_limit(new, c);
    else if (base)
        doubt_growth(new, base, c);
}
