#include "lib/analysis/growth.h"

#include "lib/base/wrap.h"
#include <math.h>

const char *const mt_growth_names[MT_GROWTH_N] = {
    [MT_GROWTH_SHORT] = "too short to tell",
    [MT_GROWTH_GROWS] = "grows",
    [MT_GROWTH_FLAT] = "flat",
    [MT_GROWTH_FALLS] = "falls",
    [MT_GROWTH_UNKNOWN] = "cannot tell",
};

enum {
    PARTS = 8,        /* of a window; */
    COARSE = 4,       /* or fewer, if what comes and goes takes longer than a part */
    LOOKS = 6,        /* and steps, in a window, for a verdict */
    LATE = 256 << 10, /* the kernel does not count every page at once */
    FLAT_B = 512 << 10,
    FLAT_SHARE = 100,
    SWING_SHARE = 10,
    DIPS = 5 /* what rises by more than so many times its deepest fall rises */
};
static const double SLOWS = 0.5, STEADY = 0.75;
static const int64_t second = 1000 * 1000 * 1000;
static const int64_t shortest = 3; /* seconds of a window */

struct curve {
    const struct mt_levels *l;
    const struct mt_growth_wanted *wanted;
    bool steps;
    double unit_ns; /* without steps */
};

/* ---- the axis: steps, minutes, events ---- */

/* How many units have passed by t: within a step a part of it. */
static double units_at(const struct curve *c, int64_t t)
{
    if (!c->steps)
        return (double)t / c->unit_ns;
    int64_t i = mt_steps_index_at(c->wanted->steps, t);
    if (i < 0)
        return 0;
    const struct mt_step *s = &c->wanted->steps->all.v[i];
    double length = (double)s->end_ns - (double)s->start_ns;
    double in = length > 0 ? ((double)t - (double)s->start_ns) / length : 1;
    return (double)i + fmin(in, 1);
}

/* Times of damaged databases may be any: two that were kept apart so have a difference. */
static int64_t kept_apart(double ns)
{
    return (int64_t)fmax(-4e18, fmin(ns, 4e18));
}

/* The time at which so many have passed. */
static int64_t time_of(const struct curve *c, double units)
{
    if (!c->steps)
        return kept_apart(units * c->unit_ns);
    size_t i = (size_t)units, n = c->wanted->steps->all.n;
    const struct mt_step *s = &c->wanted->steps->all.v[i < n ? i : n - 1];
    const double length = (double)s->end_ns - (double)s->start_ns;
    if (fabs((double)s->start_ns) > 2e18 || fabs(length) > 2e18)
        return kept_apart((double)(i < n ? s->start_ns : s->end_ns));
    return i < n ? s->start_ns + (int64_t)((units - (double)i) * length) : s->end_ns;
}

/* ---- parts ---- */

/* What a part of the levels stands for, and where in it that is: at its begin, or so far on. */
struct of_part {
    int64_t (*level_b)(const struct mt_levels *l, int64_t from_ns, int64_t to_ns);
    double where;
};

/* The least from one time to another, with what that begins with. */
static int64_t least_in(const struct mt_levels *l, int64_t from_ns, int64_t to_ns)
{
    int64_t i = mt_levels_at(l, from_ns), last = mt_levels_before(l, to_ns);
    int64_t least = mt_levels_value(l, i);
    for (i++; i <= last; i++)
        least = l->all.v[i].level_b < least ? l->all.v[i].level_b : least;
    return least;
}

static int64_t most_in(const struct mt_levels *l, int64_t from_ns, int64_t to_ns)
{
    int64_t i = mt_levels_at(l, from_ns), last = mt_levels_before(l, to_ns);
    int64_t most = mt_levels_value(l, i);
    for (i++; i <= last; i++)
        most = l->all.v[i].level_b > most ? l->all.v[i].level_b : most;
    return most;
}

/* The mean of the looks in a part, each of which sees one of those that print alike; a level that
 * stays the same is that of many. */
static int64_t mean_in(const struct mt_levels *l, int64_t from_ns, int64_t to_ns)
{
    int64_t first = mt_levels_before(l, from_ns), last = mt_levels_before(l, to_ns);
    double sum = 0, looks = 0;
    for (int64_t i = first + 1; i <= last; i++) {
        const struct mt_level *v = &l->all.v[i];
        double n = i < last ? (double)(v[1].record - v->record) : 1;
        sum += (double)v->level_b * n;
        looks += n;
    }
    return looks > 0 ? kept_apart(sum / looks) : mt_levels_value(l, first);
}

static const struct of_part least_of = {least_in, 0}, mean_of = {mean_in, 0.5},
                            most_of = {most_in, 1};

/* Student's t, two-sided 95 %, by degrees of freedom. */
static double quantile(int freedom)
{
    static const double t[] = {0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365};
    return t[freedom];
}

/* By units: the mean of the differences from part to part, and how far it may be off; the mean of
 * those of the first and of the second half. */
struct fit {
    double rate, off, early, late;
    double units;    /* from the begin of the first part to that of the last */
    double fell;     /* how far it fell below an earlier part, at most */
    int64_t level_b; /* the last part's */
};

/* Parts begin with whole steps. */
static double border(const struct curve *c, double at)
{
    return c->steps ? floor(at) : at;
}

/* Of n parts, what they stand for, and where they are, in units. */
static void fit_parts(const int64_t *v, const double *at, int n, struct fit *out)
{
    double squares = 0, low = (double)v[0], high = low;
    const int half = n / 2, last = n - 1;
    out->units = at[last] - at[0];
    out->rate = ((double)v[last] - (double)v[0]) / out->units;
    out->fell = 0;
    for (int i = 1, top = 0; i < n; i++) {
        low = fmin(low, (double)v[i]);
        high = fmax(high, (double)v[i]);
        top = v[i] > v[top] ? i : top;
        out->fell = fmax(out->fell, (double)v[top] - (double)v[i]);
        double one = ((double)v[i] - (double)v[i - 1]) / (at[i] - at[i - 1]);
        squares += (one - out->rate) * (one - out->rate);
    }
    double off = quantile(n - 2) * sqrt(squares / (n - 2) / (n - 1));
    out->off = fmin(off, (high - low) / out->units); /* it goes no further than all parts do */
    out->early = ((double)v[half] - (double)v[0]) / (at[half] - at[0]);
    out->late = ((double)v[last] - (double)v[half]) / (at[last] - at[half]);
    out->level_b = v[last];
}

static void fit(const struct curve *c, const struct of_part *of, double from, double to, int n,
                struct fit *out)
{
    int64_t v[PARTS] = {0};
    double at[PARTS + 1] = {0};
    for (int i = 0; i <= n; i++)
        at[i] = i < n ? border(c, from + (to - from) * i / n) : to;
    for (int i = 0; i < n; i++) {
        v[i] = of->level_b(c->l, time_of(c, at[i]), time_of(c, at[i + 1]));
        at[i] += (at[i + 1] - at[i]) * of->where;
    }
    fit_parts(v, at, n, out);
}

/* ---- verdicts ---- */

/* Growth that goes on: steady enough, in the second half of a window, by a share of the first's. */
static bool goes_on(const struct fit *f, double share)
{
    return f->late >= f->early * share;
}

static double flat_of(int64_t level_b)
{
    return fmax((double)level_b / FLAT_SHARE, FLAT_B);
}

bool mt_growth_is_flat(double bytes, int64_t level_b)
{
    return bytes <= flat_of(level_b);
}

/* What comes and goes hides as much again as a tenth of it. */
static double flat_most(const struct curve *c, const struct mt_growth *g, const struct fit *f)
{
    double least = (double)least_in(c->l, g->from_ns, g->to_ns);
    double swing = ((double)most_in(c->l, g->from_ns, g->to_ns) - least) / SWING_SHARE;
    return fmax(flat_of(f->level_b), swing);
}

/* Whether the end of the last part, of n, stays above all that was there before that part: it rose
 * too late for the differences of parts. */
static bool ends_above(const struct curve *c, const struct mt_growth *g, int n, double by)
{
    int64_t part = (g->to_ns - g->from_ns) / n;
    int64_t least = least_in(c->l, g->to_ns - part / 2, g->to_ns);
    return (double)least - (double)most_in(c->l, g->from_ns, g->to_ns - part) > by;
}

static enum mt_growth_verdict judge(const struct curve *c, struct mt_growth *g, const struct fit *f,
                                    int n, bool sustained)
{
    double least = (f->rate - f->off) * f->units - LATE;
    double most = (f->rate + f->off) * f->units + LATE;
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
static bool is_seen(const struct curve *c, const struct mt_growth *g)
{
    return g->look_n >= LOOKS && (!c->steps || g->units >= LOOKS);
}

/* By time nothing grows in less: programs begin. */
static bool is_brief(const struct curve *c, const struct mt_growth *g)
{
    return c->wanted->timed && !c->steps && g->to_ns - g->from_ns < shortest * second;
}

static void take(const struct fit *f, enum mt_growth_verdict v, int n, struct mt_growth *out)
{
    out->known = true;
    out->verdict = v;
    out->part_n = n;
    out->rate = f->rate;
    out->least = f->rate - f->off - LATE / f->units;
    out->most = f->rate + f->off + LATE / f->units;
    out->grew_b = f->rate * out->units;
}

/* By as many parts as there may be, else by few: what comes and goes may take longer than a part.
 * `share`: what the second half must have of the first's growth. */
static void judge_window(const struct curve *c, double from, double to, double share,
                         struct mt_growth *out)
{
    struct fit f;
    out->from_ns = time_of(c, from);
    out->to_ns = time_of(c, to);
    out->units = to - from;
    out->look_n = looks_in(c->wanted, out->from_ns, out->to_ns);
    if (!is_seen(c, out) || (is_brief(c, out) && !out->late))
        return;
    double most = fmin((double)out->look_n, c->steps ? fmin(out->units, PARTS) : PARTS);
    bool sustained = !is_brief(c, out);
    for (int n = (int)most; n >= COARSE; n = n > COARSE ? COARSE : 0) {
        fit(c, &least_of, from, to, n, &f);
        sustained = sustained && goes_on(&f, share);
        enum mt_growth_verdict v = judge(c, out, &f, n, sustained);
        if (!out->known)
            out->slows = !goes_on(&f, share);
        if (!out->known || v != MT_GROWTH_UNKNOWN)
            take(&f, v, n, out);
        if (v != MT_GROWTH_UNKNOWN)
            return;
    }
}

/* Where the last twentieth begins, in which programs give back what they have. */
static double before_end(const struct curve *c)
{
    int64_t first = c->wanted->first_ns, last = c->wanted->last_ns;
    return units_at(c, last - (last - first) / 20);
}

/* Nothing but the end of the recording ended it: what programs give back at their end is in it. */
static bool last_step_is_open(const struct mt_growth_wanted *w)
{
    return w->steps->all.v[w->steps->all.n - 1].end_ns >= w->last_ns;
}

/* From where to where it is judged, in units. */
static void window(const struct curve *c, double *from, double *to)
{
    const struct mt_growth_wanted *w = c->wanted;
    double begin = units_at(c, w->first_ns), end = units_at(c, w->last_ns);
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
static bool is_new(const struct curve *c, const struct mt_growth *whole,
                   const struct mt_growth *later)
{
    int64_t part = (later->to_ns - later->from_ns) / later->part_n;
    return least_in(c->l, later->to_ns - part, later->to_ns) >
           most_in(c->l, whole->from_ns, later->from_ns);
}

/* By the later half, if the whole does not tell. */
static void judge_later(const struct curve *c, double from, double to, struct mt_growth *out)
{
    struct mt_growth later = {.verdict = MT_GROWTH_SHORT, .unit = out->unit, .late = true};
    judge_window(c, from, to, out->slows ? STEADY : SLOWS, &later);
    if (later.verdict == MT_GROWTH_UNKNOWN || later.verdict == MT_GROWTH_SHORT)
        return;
    if (later.verdict != MT_GROWTH_GROWS || is_new(c, out, &later))
        *out = later;
}

/* By few large ones, perhaps, whose differences tell nothing: through the whole of it. */
static bool rises_by_steps(const struct fit *f)
{
    return f->rate * f->units > DIPS * f->fell && f->early > f->late * SLOWS;
}

/* Whether so many that print alike, of whom this is the fit, have one that grows by more than the
 * least does. */
static bool is_hidden(const struct fit *f, double least, double alike)
{
    double off = rises_by_steps(f) ? 0 : f->off;
    double more = ((f->rate - off) * f->units - least - LATE) * alike;
    return more > flat_of(f->level_b) && goes_on(f, SLOWS);
}

/* Whether the mean of those that print alike, or the most, grows, over so many units. */
static bool one_grows(const struct curve *c, const struct mt_growth *g, double from, double units)
{
    const double alike = fmax(c->steps ? (double)g->look_n / g->units : 0, 2);
    const struct of_part *const of[] = {&mean_of, &most_of};
    const int n = (int)fmin((double)g->part_n, c->steps ? units : PARTS);
    struct fit f;
    for (int i = 0; i < 2 && n >= COARSE; i++) {
        fit(c, of[i], from, from + units, n, &f);
        if (is_hidden(&f, fmax(g->most, 0) * f.units, i ? 1 : alike))
            return true;
    }
    return false;
}

/* ---- rounds: without steps, each of those that print alike prints once in one ---- */

enum { MOST_ALIKE = 64, MOST_LOOKS = 1 << 20, ROUNDS = 2 * PARTS };

struct looks {
    MT_VEC(double) b; /* as the looks saw them, bytes */
};

static void find_looks(const struct mt_levels *l, const struct mt_growth *g, struct looks *out)
{
    int64_t last = mt_levels_before(l, g->to_ns);
    for (int64_t i = mt_levels_before(l, g->from_ns) + 1; i <= last; i++) {
        const struct mt_level *v = &l->all.v[i];
        int64_t n = i < last ? v[1].record - v->record : 1;
        for (; n > 0 && out->b.n < MOST_LOOKS; n--)
            *mt_vec_push(&out->b) = (double)v->level_b;
    }
}

static double mean_of_looks(const struct looks *l, size_t from, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += l->b.v[from + i];
    return sum / (double)n;
}

/* How much the means of so many looks differ from one to the next, as if looks were each by
 * itself. */
static double unrest(const struct looks *l, size_t n)
{
    double squares = 0, before = mean_of_looks(l, 0, n);
    const size_t blocks = l->b.n / n;
    for (size_t i = 1; i < blocks; i++) {
        double mean = mean_of_looks(l, i * n, n);
        squares += (mean - before) * (mean - before);
        before = mean;
    }
    return squares / (double)(blocks - 1) * (double)n;
}

/* The fewest looks whose means hardly differ, though looks do; 0: there are none. */
static size_t round_of(const struct looks *l)
{
    enum { LESS = 10 };
    const double single = l->b.n >= ROUNDS ? unrest(l, 1) : 0;
    size_t n = 2;
    while (n <= MOST_ALIKE && l->b.n / n >= ROUNDS && unrest(l, n) > single / LESS)
        n++;
    return single > 0 && n <= MOST_ALIKE && l->b.n / n >= ROUNDS ? n : 0;
}

static bool rounds_grow(const struct curve *c, const struct mt_growth *g)
{
    struct looks l = {0};
    struct fit f;
    int64_t v[PARTS];
    double at[PARTS];
    find_looks(c->l, g, &l);
    const size_t round = round_of(&l), rounds = round ? l.b.n / round : 0;
    for (size_t i = 0; i < PARTS && round; i++) {
        const size_t from = rounds * i / PARTS, to = rounds * (i + 1) / PARTS;
        v[i] = kept_apart(mean_of_looks(&l, from * round, (to - from) * round));
        at[i] = (double)(from + to) / 2;
    }
    if (round)
        fit_parts(v, at, PARTS, &f);
    mt_vec_free(&l.b);
    return round && is_hidden(&f, fmax(g->most, 0) * g->units, (double)round);
}

/* Several processes that print alike are one curve, whose least is of the lowest. The last step may
 * not be whole. */
static void doubt_least(const struct curve *c, struct mt_growth *g)
{
    double units = g->units - (c->steps ? 1 : 0), half = border(c, units / 2);
    double from = units_at(c, g->from_ns);
    g->hides = g->known && c->wanted->alike &&
               (one_grows(c, g, from, units) || one_grows(c, g, from + units - half, half) ||
                (!c->steps && rounds_grow(c, g)));
    g->rose |= g->hides;
    if (g->hides && g->verdict != MT_GROWTH_GROWS)
        g->verdict = MT_GROWTH_UNKNOWN;
}

void mt_growth_find(const struct mt_levels *l, const struct mt_growth_wanted *wanted,
                    struct mt_growth *out)
{
    struct curve c = {l, wanted, wanted->steps->all.n > 0, wanted->timed ? 60e9 : 1};
    double from, to;
    *out = (struct mt_growth){.verdict = MT_GROWTH_SHORT,
                              .unit = c.steps         ? MT_PER_STEP
                                      : wanted->timed ? MT_PER_MINUTE
                                                      : MT_PER_EVENT};
    window(&c, &from, &to);
    if (!(to > from) || !(wanted->look_ns > 0))
        return;
    judge_window(&c, from, to, SLOWS, out);
    if (out->verdict == MT_GROWTH_UNKNOWN)
        judge_later(&c, from + (to - from) / 2, to, out);
    doubt_least(&c, out);
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
    const struct curve c = {l, wanted, window->unit == MT_PER_STEP, wanted->timed ? 60e9 : 1};
    struct fit f;
    if (!window->known)
        return 0;
    double from = units_at(&c, window->from_ns);
    fit(&c, &least_of, from, from + window->units, (int)window->part_n, &f);
    return f.rate;
}
