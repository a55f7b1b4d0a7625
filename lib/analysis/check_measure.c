/* What a rule's figure is: of the repeats of a side, their median and how far it is open. */
#include "lib/analysis/check_parts.h"

#include <stdlib.h>
#include <string.h>

static bool is_other(const struct mt_baseline_site *s)
{
    return s->explicit_row && strcmp(s->op, "[other]") == 0;
}

/* A file of an earlier version: it has the sites of one of several repeats. */
static bool knows_one_repeat(const struct mt_baseline *b)
{
    return b->run_n > 1 && !b->repeats.n;
}

/* Sites that nobody lists: those of a recording which leaves them out, unless the rule means just
 * what it leaves out. */
static bool is_unlisted(const struct mt_rule *rule, const struct mt_baseline_site *s)
{
    return is_other(s) || (strcmp(s->op, MT_UNLISTED) == 0 && !mt_rule_is_about(rule, s));
}

int64_t mt_check_other(const struct mt_rule *rule, const struct mt_baseline *b,
                       const struct mt_baseline_device *d, enum mt_figure f)
{
    int64_t sum = 0;
    for (size_t i = 0; i < d->sites.n; i++) {
        int64_t most = 0; /* of the repeats */
        for (size_t k = 0; k < mt_baseline_repeats(b) && is_unlisted(rule, &d->sites.v[i]); k++) {
            int64_t v = mt_baseline_figure_in(&d->sites.v[i], f, k);
            most = v > most ? v : most;
        }
        sum = mt_baseline_add(sum, most);
    }
    return sum;
}

/* The sites that a rule is about. */
struct sites {
    const struct mt_baseline_site **v;
    size_t n, cap;
};

static struct sites sites_of(const struct mt_rule *rule, const struct mt_baseline_device *d)
{
    struct sites out = {0};
    for (size_t i = 0; i < d->sites.n; i++)
        if (!is_other(&d->sites.v[i]) && mt_rule_is_about(rule, &d->sites.v[i]))
            *mt_vec_push(&out) = &d->sites.v[i];
    return out;
}

/* What sites have in one repeat; *unseen: of those that lose frees. */
static int64_t sum_of_sites(const struct sites *sites, enum mt_figure f, size_t repeat,
                            int64_t *unseen)
{
    int64_t sum = 0;
    double rate = 0;
    bool rates = mt_figure_defs[f].adds == MT_ADDS_RATE;
    *unseen = 0;
    for (size_t i = 0; i < sites->n; i++) {
        const struct mt_baseline_site *s = sites->v[i];
        int64_t v = mt_baseline_figure_in(s, f, repeat);
        sum = mt_baseline_add(sum, v);
        rate += rates ? s->rate[mt_baseline_rate(f)] : 0;
        *unseen = mt_baseline_add(*unseen, s->unseen ? v : 0);
    }
    return rates ? mt_baseline_up(rate) : sum;
}

/*
 * A figure of a device, as far as the rule is about it. *slack: how far the repeats of a file leave
 * it open; *unlisted: how much more it may be by what a file lumps together as [other], or a
 * recording does not list, which may belong to the sites the rule is about, or not. *doubt: how
 * much less it may be, if blocks are dead. *found: there are such sites.
 */
static int64_t figure_of(const struct mt_rule *rule, enum mt_figure f, const struct mt_baseline *b,
                         const struct mt_baseline_device *d, int64_t *slack, int64_t *doubt,
                         int64_t *unlisted, bool *found)
{
    bool lives = f == MT_FIG_AT_PEAK_B;
    *unlisted = *slack = *doubt = 0;
    if (f >= MT_FIG_BASELINE_N) {
        const struct mt_baseline_other *o = &d->other[mt_baseline_other(f)];
        *doubt = o->less;
        return o->known ? o->v : MT_BASELINE_UNKNOWN;
    }
    *slack = d->spread[f];
    *doubt = d->doubt[f];
    if (!mt_check_is_partial(rule) || d->v[f] == MT_BASELINE_UNKNOWN)
        return d->v[f];
    if (lives && (d->unknown[MT_BASELINE_SITES].why || d->least[f]))
        return MT_BASELINE_UNKNOWN; /* at a higher peak they may hold less */
    if (knows_one_repeat(b))
        return MT_BASELINE_UNKNOWN;
    size_t n = mt_baseline_repeats(b);
    int64_t unseen = 0, *values = mt_alloc(n * sizeof *values);
    struct sites sites = sites_of(rule, d);
    for (size_t i = 0; i < n; i++)
        values[i] = sum_of_sites(&sites, f, i, &unseen);
    *found |= sites.n > 0;
    mt_vec_free(&sites);
    int64_t median = mt_median(values, n, slack, NULL);
    free(values);
    *doubt = unseen < *doubt ? unseen : *doubt;
    *unlisted = mt_check_other(rule, b, d, f);
    return median;
}

/* Why a repeat does not know a figure, or of a part only. */
static struct mt_baseline_unknown unknown_of(enum mt_figure f, const struct mt_baseline *b,
                                             const struct mt_baseline_device *d)
{
    static const char one[] =
        "has the sites of one of its repeats only; write it anew with memtool export";
    if (f >= MT_FIG_BASELINE_N)
        return (struct mt_baseline_unknown){b->run, d->other[mt_baseline_other(f)].why
                                                        ? d->other[mt_baseline_other(f)].why
                                                        : "lacks this figure"};
    bool known = d->v[f] != MT_BASELINE_UNKNOWN;
    bool sites = known && !d->least[f] && f == MT_FIG_AT_PEAK_B;
    struct mt_baseline_unknown u = d->unknown[sites ? MT_BASELINE_SITES : (int)f];
    if (known && knows_one_repeat(b))
        u = (struct mt_baseline_unknown){.why = one};
    return (struct mt_baseline_unknown){u.run ? u.run : b->run,
                                        u.why ? u.why : "lacks this figure"};
}

/* Whether a figure is known of a part only. */
static bool is_least(enum mt_figure f, const struct mt_baseline_device *d)
{
    return f < MT_FIG_BASELINE_N ? d->least[f] : d->other[mt_baseline_other(f)].least;
}

bool mt_check_measure(const struct mt_rule *rule, enum mt_figure figure,
                      const struct mt_check_side *side, struct mt_checked *c,
                      struct mt_measured *out)
{
    const struct mt_repeats *r = side->repeats;
    int64_t *values = mt_alloc(r->v.n * sizeof *values);
    bool *found = mt_alloc(r->v.n * sizeof *found); /* in each */
    int64_t extra = 0;                              /* spread the repeats bring with them */
    *out = (struct mt_measured){.most = INT64_MIN};
    for (size_t i = 0; i < r->v.n; i++) {
        int64_t slack = 0, doubt = 0, unlisted = 0;
        found[i] = false;
        const struct mt_baseline_device *d = mt_baseline_same_device(&r->v.v[i], c->device);
        bool least = d && is_least(figure, d);
        values[i] = d && (side->parts || !least) ? figure_of(rule, figure, &r->v.v[i], d, &slack,
                                                             &doubt, &unlisted, &found[i])
                                                 : MT_BASELINE_UNKNOWN;
        struct mt_baseline_unknown u = {0};
        if (d)
            u = unknown_of(figure, &r->v.v[i], d);
        if (least && !out->part.run)
            out->part = u;
        if (!d && c->rule->narrow.set && mt_baseline_has_whole(&r->v.v[i], c->device))
            mt_check_open(c, "%s '%s' does not keep categories apart", side->name, r->v.v[i].run);
        else if (!d)
            mt_check_open(c, "%s '%s' has no device '%s'", side->name, r->v.v[i].run, c->device);
        else if (values[i] == MT_BASELINE_UNKNOWN)
            mt_check_open(c, "%s '%s' %s", side->name, u.run, u.why);
        out->found |= found[i];
        extra = slack > extra ? slack : extra;
        out->doubt = doubt > out->doubt ? doubt : out->doubt;
        out->unlisted = unlisted > out->unlisted ? unlisted : out->unlisted;
        if (values[i] > out->most) {
            out->most = values[i];
            out->most_index = i;
        }
    }
    out->median = mt_median(values, r->v.n, &out->spread, &out->index);
    out->spread = mt_baseline_add(out->spread, extra);
    out->found_median = found[out->index];
    free(found);
    free(values);
    return out->median != MT_BASELINE_UNKNOWN;
}
