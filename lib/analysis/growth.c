#include "lib/analysis/growth_alike.h"

#include <math.h>

const char *const mt_growth_names[MT_GROWTH_N] = {
    [MT_GROWTH_SHORT] = "too short to tell",
    [MT_GROWTH_GROWS] = "grows",
    [MT_GROWTH_FLAT] = "flat",
    [MT_GROWTH_FALLS] = "falls",
    [MT_GROWTH_UNKNOWN] = "cannot tell",
};

enum {
    LOOKS = 6, /* and steps, in a window, for a verdict */
    SWING_SHARE = 10
};
static const double STEADY = 0.75;
static const int64_t second = 1000 * 1000 * 1000;
static const int64_t shortest = 3; /* seconds of a window */

/* ---- verdicts ---- */

bool mt_growth_is_flat(double bytes, int64_t level_b)
{
    return bytes <= mt_growth_flat_of(level_b);
}

/* What comes and goes hides as much again as a tenth of it. */
static double flat_most(const struct mt_growth_curve *c, const struct mt_growth *g,
                        const struct mt_growth_fit *f)
{
    double least = (double)mt_growth_least_in(c->l, g->from_ns, g->to_ns);
    double swing = ((double)mt_growth_most_in(c->l, g->from_ns, g->to_ns) - least) / SWING_SHARE;
    return fmax(mt_growth_flat_of(f->level_b), swing);
}

/* Whether the end of the last part, of n, stays above all that was there before that part: it rose
 * too late for the differences of parts. */
static bool ends_above(const struct mt_growth_curve *c, const struct mt_growth *g, int n, double by)
{
    int64_t part = (g->to_ns - g->from_ns) / n;
    int64_t least = mt_growth_least_in(c->l, g->to_ns - part / 2, g->to_ns);
    return (double)least - (double)mt_growth_most_in(c->l, g->from_ns, g->to_ns - part) > by;
}

static enum mt_growth_verdict judge(const struct mt_growth_curve *c, struct mt_growth *g,
                                    const struct mt_growth_fit *f, int n, bool sustained)
{
    double least = (f->rate - f->off) * f->units - MT_GROWTH_LATE;
    double most = (f->rate + f->off) * f->units + MT_GROWTH_LATE;
    double flat = flat_most(c, g, f);
    g->rose |= ends_above(c, g, n, flat); /* fewer parts may not show it */
    if (least > 0 && sustained) { /* what it grows by in a part, and a look, is no more than that */
        double apart = f->units / (n - 1) + g->units / (double)g->look_n;
        g->rose = ends_above(c, g, n, flat + (f->rate + f->off) * apart);
        return MT_GROWTH_GROWS;
    }
    if (most > flat || g->rose)
        return MT_GROWTH_UNKNOWN;
    return most < -flat ? MT_GROWTH_FALLS : MT_GROWTH_FLAT;
}

/* How often it was looked at from one time to another. */
static int64_t looks_in(const struct mt_growth_wanted *w, int64_t from_ns, int64_t to_ns)
{
    const double all = (double)(to_ns - from_ns) / w->look_ns + 1e-6;
    const double seen = ((double)w->seen_ns - (double)from_ns) / w->look_ns + 1;
    return (int64_t)(w->seen_ns ? fmax(fmin(all, seen), 0) : all);
}

/* A window of at least so many looks, and steps. */
static bool is_seen(const struct mt_growth_curve *c, const struct mt_growth *g)
{
    return g->look_n >= LOOKS && (!c->steps || g->units >= LOOKS);
}

/* By time nothing grows in less: programs begin. */
static bool is_brief(const struct mt_growth_curve *c, const struct mt_growth *g)
{
    return c->wanted->timed && !c->steps && g->to_ns - g->from_ns < shortest * second;
}

static void take(const struct mt_growth_fit *f, enum mt_growth_verdict v, int n,
                 struct mt_growth *out)
{
    out->known = true;
    out->verdict = v;
    out->part_n = n;
    out->rate = f->rate;
    out->least = f->rate - f->off - MT_GROWTH_LATE / f->units;
    out->most = f->rate + f->off + MT_GROWTH_LATE / f->units;
    out->grew_b = f->rate * out->units;
}

/* By as many parts as there may be, else by few: what comes and goes may take longer than a part.
 * `share`: what the second half must have of the first's growth. */
static void judge_window(const struct mt_growth_curve *c, double from, double to, double share,
                         struct mt_growth *out)
{
    struct mt_growth_fit f;
    out->from_ns = mt_growth_time_of(c, from);
    out->to_ns = mt_growth_time_of(c, to);
    out->units = to - from;
    out->look_n = looks_in(c->wanted, out->from_ns, out->to_ns);
    if (!is_seen(c, out) || (is_brief(c, out) && !out->late))
        return;
    double most =
        fmin((double)out->look_n, c->steps ? fmin(out->units, MT_GROWTH_PARTS) : MT_GROWTH_PARTS);
    bool sustained = !is_brief(c, out);
    for (int n = (int)most; n >= MT_GROWTH_COARSE;
         n = n > MT_GROWTH_COARSE ? MT_GROWTH_COARSE : 0) {
        mt_growth_fit(c, &mt_growth_least, from, to, n, &f);
        sustained = sustained && mt_growth_goes_on(&f, share);
        enum mt_growth_verdict v = judge(c, out, &f, n, sustained);
        if (!out->known)
            out->slows = !mt_growth_goes_on(&f, share);
        if (!out->known || v != MT_GROWTH_UNKNOWN)
            take(&f, v, n, out);
        if (v != MT_GROWTH_UNKNOWN)
            return;
    }
}

/* Where the last twentieth begins, in which programs give back what they have. */
static double before_end(const struct mt_growth_curve *c)
{
    int64_t first = c->wanted->first_ns, last = c->wanted->last_ns;
    return mt_growth_units_at(c, last - (last - first) / 20);
}

/* Nothing but the end of the recording ended it: what programs give back at their end is in it. */
static bool last_step_is_open(const struct mt_growth_wanted *w)
{
    return w->steps->all.v[w->steps->all.n - 1].end_ns >= w->last_ns;
}

/* From where to where it is judged, in units. */
static void window(const struct mt_growth_curve *c, double *from, double *to)
{
    const struct mt_growth_wanted *w = c->wanted;
    double begin = mt_growth_units_at(c, w->first_ns), end = mt_growth_units_at(c, w->last_ns);
    if (c->steps) {
        *from = fmax((double)w->warmup, ceil(begin));
        *to = fmin((double)w->steps->all.n, floor(end) + 1);
        if (w->timed && last_step_is_open(w))
            *to = fmin(*to - (*to - *from > LOOKS ? 1 : 0), ceil(before_end(c)));
    } else {
        *from = begin + (end - begin) / 4;
        *to = w->timed ? before_end(c) : end;
    }
}

/* Whether the later half ends above all that was there in the first: else it may have been there
 * before, and come back. */
static bool is_new(const struct mt_growth_curve *c, const struct mt_growth *whole,
                   const struct mt_growth *later)
{
    int64_t part = (later->to_ns - later->from_ns) / later->part_n;
    return mt_growth_least_in(c->l, later->to_ns - part, later->to_ns) >
           mt_growth_most_in(c->l, whole->from_ns, later->from_ns);
}

/* By the later half, if the whole does not tell. */
static void judge_later(const struct mt_growth_curve *c, double from, double to,
                        struct mt_growth *out)
{
    struct mt_growth later = {.verdict = MT_GROWTH_SHORT, .unit = out->unit, .late = true};
    judge_window(c, from, to, out->slows ? STEADY : MT_GROWTH_SLOWS, &later);
    if (later.verdict == MT_GROWTH_UNKNOWN || later.verdict == MT_GROWTH_SHORT)
        return;
    if (later.verdict != MT_GROWTH_GROWS || is_new(c, out, &later))
        *out = later;
}

void mt_growth_find(const struct mt_levels *l, const struct mt_growth_wanted *wanted,
                    struct mt_growth *out)
{
    struct mt_growth_curve c = {l, wanted, wanted->steps->all.n > 0, wanted->timed ? 60e9 : 1};
    double from, to;
    *out = (struct mt_growth){.verdict = MT_GROWTH_SHORT,
                              .unit = c.steps         ? MT_PER_STEP
                                      : wanted->timed ? MT_PER_MINUTE
                                                      : MT_PER_EVENT};
    window(&c, &from, &to);
    if (!(to > from) || !(wanted->look_ns > 0))
        return;
    judge_window(&c, from, to, MT_GROWTH_SLOWS, out);
    if (out->verdict == MT_GROWTH_UNKNOWN)
        judge_later(&c, from + (to - from) / 2, to, out);
    out->hides = mt_growth_hides(&c, out);
    out->rose |= out->hides;
    if (out->hides && out->verdict != MT_GROWTH_GROWS)
        out->verdict = MT_GROWTH_UNKNOWN;
}

bool mt_growth_per_minute(const struct mt_growth *g, bool timed, struct mt_growth *out)
{
    double minutes = (double)(g->to_ns - g->from_ns) / 60e9;
    *out = *g;
    if (!timed || !g->known || !(minutes > 0))
        return false;
    if (g->unit == MT_PER_MINUTE)
        return true;
    double in_a_minute = g->units / minutes;
    out->unit = MT_PER_MINUTE;
    out->units = minutes;
    out->rate *= in_a_minute;
    out->least *= in_a_minute;
    out->most *= in_a_minute;
    return true;
}

double mt_growth_rate_in(const struct mt_levels *l, const struct mt_growth_wanted *wanted,
                         const struct mt_growth *window)
{
    const struct mt_growth_curve c = {l, wanted, window->unit == MT_PER_STEP,
                                      wanted->timed ? 60e9 : 1};
    struct mt_growth_fit f;
    if (!window->known)
        return 0;
    double from = mt_growth_units_at(&c, window->from_ns);
    mt_growth_fit(&c, &mt_growth_least, from, from + window->units, (int)window->part_n, &f);
    return f.rate;
}
