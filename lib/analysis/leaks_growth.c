/* What a site grows by, from step to step. */
#include "lib/analysis/leaks_parts.h"
#include "lib/base/wrap.h"

enum {
    GROWTHS_MIN = 3, /* steps in which a leak grows */
    RISES_MIN = 4,   /* steps in which a site holds more than before, to be a candidate for that */
    EVEN_MIN = 3,    /* such steps in the later half, to tell the growth by them alone */
    LOWS_STEPS = 6,  /* after the warm-up, to see a site grow between falls by its lows, */
    HIGHS_STEPS = 8  /* and by its lows and highs alone */
};

/* Steps in which blocks were allocated that stay. */
struct allocs {
    int64_t step_n, after_warmup_n; /* how many steps */
    int64_t last;                   /* index */
};

/* When blocks were allocated that are overdue. */
struct growth {
    struct mt_growth by;
    struct allocs all, plain;             /* plain: of what is no part of learning */
    int64_t pause;                        /* the longest distance between two of these steps */
    int64_t before_last_n, before_last_b; /* all that survive, but for those of the last step */
};

/* Steps come in order. Returns whether this is another one. */
static bool add_alloc(struct allocs *b, int64_t step, int64_t warmup)
{
    bool another = !b->step_n || step != b->last;
    b->step_n += another;
    b->after_warmup_n += another && step >= warmup;
    b->last = step;
    return another;
}

static void add_growth(struct growth *g, const struct mt_survivor *s, int64_t warmup)
{
    if (!s->learning)
        add_alloc(&g->plain, s->step, warmup);
    if (add_alloc(&g->all, s->step, warmup)) {
        if (g->all.step_n == 1)
            g->by.first = s->step;
        else if (s->step - g->by.last > g->pause)
            g->pause = s->step - g->by.last;
        g->by.last = s->step;
    }
    if (s->step > g->by.first) {
        mt_wrap_inc(&g->by.bytes, s->bytes);
        g->by.blocks_n++;
    }
}

/* Marks the survivors of one part of a site and adds up its growth. */
static struct growth measure(const struct mt_leak_finder *f, struct mt_survivor *s,
                             struct mt_survivor *end)
{
    struct growth g = {0};
    struct mt_map sizes = {0}; /* of the overdue blocks allocated after the warm-up */
    int64_t max_lifetime = f->max_lifetime.v[s->group];
    for (struct mt_survivor *at = s; at < end; at++) {
        at->overdue = f->step_n - 1 - at->step > max_lifetime;
        if (!at->older && at->step < f->step_n - 1) {
            g.before_last_n++;
            mt_wrap_inc(&g.before_last_b, at->bytes);
        }
        if (at->overdue && at->step >= f->warmup)
            *mt_map_at(&sizes, (uint64_t)at->bytes) = 1;
    }
    for (struct mt_survivor *at = s; at < end; at++) {
        at->alike = at->step >= 0 && mt_map_get(&sizes, (uint64_t)at->bytes) != MT_NONE;
        if (at->alike && at->overdue)
            add_growth(&g, at, f->warmup);
    }
    mt_map_free(&sizes);
    return g;
}

/* Whether growth in these steps can be called a leak. An optimizer may have had a reason: it makes
 * state for layers that begin to learn, and LBFGS fills its history. */
static bool is_leak(const struct mt_leak_finder *f, const struct growth *g)
{
    return g->plain.step_n >= GROWTHS_MIN && g->plain.after_warmup_n >= GROWTHS_MIN - 1 &&
           f->can_tell;
}

/* Whether what a part of a site holds rises though it falls at times: the least blocks that it
 * holds in each of the last three of four parts of the steps after the warm-up are more than those
 * of the part before. What is full, or was, exchanges its blocks and stays where it is. */
static bool lows_rise(const struct mt_leak_finder *f, uint32_t part)
{
    struct mt_retained_part in[MT_RETAINED_PARTS];
    if (f->step_n - f->warmup < LOWS_STEPS)
        return false;
    mt_retained_in_parts(&f->holdings, part, f->warmup, f->step_n - 1, in);
    return in[1].least_n < in[2].least_n && in[2].least_n < in[3].least_n;
}

/* Whether what a part of a site holds rises evenly in some steps after the warm-up, up to the last:
 * never falls, and rises by as much after as many steps. */
static bool rises_evenly(const struct mt_leak_finder *f, uint32_t part, int64_t first,
                         int64_t rises_min, struct mt_retained_trend *out)
{
    int64_t last = f->step_n - 1;
    *out = mt_retained_rises(&f->holdings, part, first, last);
    return !out->falls && out->even && out->n >= rises_min && last - out->last <= out->pause;
}

/* The same of the later half of the steps after the warm-up. */
static bool rises_evenly_late(const struct mt_leak_finder *f, uint32_t part,
                              struct mt_retained_trend *out)
{
    int64_t half = f->warmup + (f->step_n - f->warmup) / 2;
    return rises_evenly(f, part, half, EVEN_MIN, out);
}

/* Whether it rises evenly since it fell last: what was held for a while, and dropped, made it full
 * for that while alone. */
static bool rises_since_fall(const struct mt_leak_finder *f, uint32_t part)
{
    struct mt_retained_trend r = mt_retained_rises(&f->holdings, part, f->warmup, f->step_n - 1);
    bool few = f->step_n - f->warmup < LOWS_STEPS;
    return r.fell >= 0 && rises_evenly(f, part, r.fell, few ? EVEN_MIN - 1 : EVEN_MIN, &r);
}

/* Whether that is half of what comes in a step, at least, and twice as much at most. */
static bool is_as_much(int64_t given_up, int64_t grown, int64_t steps)
{
    double in_a_step = (double)grown / (double)steps;
    return (double)given_up >= in_a_step / 2 && (double)given_up <= in_a_step * 2;
}

/* Whether a part of a site gives up in the last step, for the first time but for the warm-up, as
 * much as it grows by in a step. A store that has just become full does; what is let go at the end
 * of the program is seldom as much. */
static bool fills_in_last(const struct mt_leak_finder *f, const struct growth *g,
                          const struct mt_survivor *s)
{
    const uint32_t part = mt_leak_part(s->group, s->doubtful);
    const int64_t steps = g->by.last - g->by.first, before = f->step_n - 2;
    if (f->max_lifetime.v[s->group] > 0 || steps <= 0)
        return false;
    return is_as_much(mt_wrap_sub(mt_retained_blocks(&f->holdings, part, before), g->before_last_n),
                      g->by.blocks_n, steps) &&
           is_as_much(mt_wrap_sub(mt_retained_bytes(&f->holdings, part, before), g->before_last_b),
                      g->by.bytes, steps);
}

/* What growth makes of a part of a site, given its first survivor: leak, candidate, or neither
 * (MT_VERDICT_N). */
static enum mt_verdict judge(const struct mt_leak_finder *f, const struct growth *g,
                             const struct mt_survivor *s)
{
    uint32_t part = mt_leak_part(s->group, s->doubtful);
    int64_t newest = f->step_n - 1 - (f->max_lifetime.v[s->group] + 1); /* of what can be overdue */
    if (newest < g->by.last)
        newest = g->by.last;
    if (g->all.after_warmup_n < GROWTHS_MIN - 1 || newest - g->by.last > g->pause)
        return MT_VERDICT_N;
    if (!mt_retained_higher(&f->holdings, part, f->warmup, f->step_n - 1) && !lows_rise(f, part))
        return rises_since_fall(f, part) ? MT_VERDICT_CANDIDATE : MT_VERDICT_N;
    return is_leak(f, g) && !s->doubtful && !fills_in_last(f, g, s) ? MT_VERDICT_LEAK
                                                                    : MT_VERDICT_CANDIDATE;
}

static void grow_as_held(struct mt_growth *g, const struct mt_retained_trend *r)
{
    *g = (struct mt_growth){
        .first = r->first, .last = r->last, .bytes = r->bytes, .blocks_n = r->blocks_n};
}

/* Where blocks of all ages are given up, those that happen to be overdue are not what the site
 * grows by. */
static void correct(const struct mt_leak_finder *f, uint32_t part, struct mt_growth *g)
{
    struct mt_retained_trend late;
    int64_t held_n = mt_wrap_sub(mt_retained_blocks(&f->holdings, part, g->last),
                                 mt_retained_blocks(&f->holdings, part, g->first));
    if (held_n == g->blocks_n || !rises_evenly_late(f, part, &late))
        return;
    if (mt_wrap_mul(late.bytes, g->last - g->first) !=
        mt_wrap_mul(g->bytes, late.last - late.first))
        grow_as_held(g, &late);
}

/* What is held, compared from the end of the warm-up on, or, where that is less in the step after
 * it, from the first step. */
static struct mt_retained_trend after_warmup(const struct mt_leak_finder *f,
                                             const struct mt_retained *held, uint32_t part)
{
    int64_t last = f->step_n - 1;
    struct mt_retained_trend r =
        mt_retained_rises(held, part, f->warmup > 0 ? f->warmup - 1 : 0, last);
    return r.falls ? mt_retained_rises(held, part, f->warmup, last) : r;
}

/* A site whose blocks are replaced by larger ones again and again: what is left of it may be a
 * leak. */
static bool holds_ever_more(const struct mt_leak_finder *f, uint32_t part, struct mt_growth *g)
{
    struct mt_retained_trend r = after_warmup(f, &f->holdings, part), late;
    if (r.falls || r.n < RISES_MIN || f->step_n - 1 - r.last > r.pause)
        return false;
    grow_as_held(g, !r.alike && rises_evenly_late(f, part, &late) ? &late : &r);
    return true;
}

/* A site that gives up blocks again and again, but fewer than it gets, as a backlog does. */
static bool climbs(const struct mt_leak_finder *f, uint32_t part, struct mt_growth *g)
{
    struct mt_retained_part in[MT_RETAINED_PARTS];
    if (f->step_n - f->warmup < HIGHS_STEPS)
        return false;
    mt_retained_in_parts(&f->holdings, part, f->warmup, f->step_n - 1, in);
    for (int i = 1; i < MT_RETAINED_PARTS; i++)
        if (in[i].least_n <= in[i - 1].least_n || in[i].most_n <= in[i - 1].most_n ||
            in[i].least_b <= in[i - 1].least_b || in[i].most_b <= in[i - 1].most_b)
            return false;
    const struct mt_retained_part *from = &in[0], *to = &in[MT_RETAINED_PARTS - 1];
    *g = (struct mt_growth){.first = from->most_at.step,
                            .last = to->most_at.step,
                            .bytes = mt_wrap_sub(to->most_b, from->most_b),
                            .blocks_n = mt_wrap_sub(to->most_at.blocks_n, from->most_at.blocks_n)};
    return true;
}

/* A site of which next to nothing can be overdue, because one block lived nearly as long as the
 * recording. What it holds still rises, and something stays of three steps or more before the
 * last. */
static bool too_short(const struct mt_leak_finder *f, const struct mt_survivor *s,
                      const struct mt_survivor *end, struct mt_growth *out)
{
    uint32_t part = mt_leak_part(s->group, s->doubtful);
    int64_t last = f->step_n - 1, overdue_n = last - f->max_lifetime.v[s->group] - f->warmup;
    if (overdue_n >= GROWTHS_MIN - 1 || !mt_retained_higher(&f->holdings, part, f->warmup, last))
        return false;
    struct mt_retained_trend r = mt_retained_rises(&f->holdings, part, f->warmup, last);
    struct growth g = {0};
    for (; s < end; s++)
        if (s->step >= f->warmup && s->step < last)
            add_growth(&g, s, f->warmup);
    if (g.plain.after_warmup_n < GROWTHS_MIN || last - r.last > r.pause)
        return false;
    *out = g.by;
    return true;
}

enum mt_verdict mt_leak_growth(const struct mt_leak_finder *f, struct mt_survivor *s,
                               struct mt_survivor *end, struct mt_growth *by)
{
    struct growth g = measure(f, s, end);
    uint32_t part = mt_leak_part(s->group, s->doubtful);
    enum mt_verdict verdict = judge(f, &g, s);
    *by = g.by;
    if (verdict != MT_VERDICT_N && !s->doubtful)
        correct(f, part, by);
    if (verdict == MT_VERDICT_N &&
        (holds_ever_more(f, part, by) || climbs(f, part, by) || too_short(f, s, end, by))) {
        verdict = MT_VERDICT_CANDIDATE;
        for (; s < end; s++)
            s->alike = s->step >= f->warmup;
    }
    return verdict;
}

bool mt_leak_rises_every_step(const struct mt_leak_finder *f, const struct mt_retained *held,
                              uint32_t site, struct mt_retained_trend *r)
{
    *r = after_warmup(f, held, site);
    return !r->falls && r->n >= RISES_MIN && r->pause == 1 && r->last == f->step_n - 1;
}
