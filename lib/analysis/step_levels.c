#include "lib/analysis/step_levels.h"

#include "lib/usage/levels.h"
#include <math.h>
#include <string.h>

/* ---- the levels ---- */

static void add_rise(struct mt_step_levels *l, int64_t step_n, int64_t level_b)
{
    if (!l->rises.n || l->rises.v[l->rises.n - 1].level_b < level_b)
        *mt_vec_push(&l->rises) = (struct mt_step_rise){step_n, level_b};
}

static void add_end(struct mt_step_levels *l, int64_t step_n, int64_t level_b)
{
    if (!l->ends.n || l->ends.v[l->ends.n - 1].level_b != level_b)
        *mt_vec_push(&l->ends) = (struct mt_step_end){step_n, level_b};
}

static void read_levels(const struct mt_levels *levels, const struct mt_steps *steps,
                        struct mt_step_levels *out)
{
    size_t n = steps->all.n;
    int64_t end = (int64_t)levels->all.n - 1, from = -1;
    for (size_t i = 0; i <= n; i++) {
        int64_t t_ns = i < n ? steps->all.v[i].start_ns : mt_steps_until(steps, n - 1);
        int64_t to = mt_levels_before(levels, t_ns);
        int64_t most_b = mt_levels_value(levels, mt_levels_peak(levels, from, to));
        add_rise(out, (int64_t)i, most_b);
        add_end(out, (int64_t)i, mt_levels_value(levels, to));
        if (i == n)
            out->last_b = most_b;
        from = to > from ? to : from;
    }
    out->after_b = mt_levels_value(levels, mt_levels_peak(levels, from, end));
}

enum mt_status mt_step_levels_load(struct mt_db *db, const struct mt_run *run,
                                   const struct mt_run_device *device, const struct mt_steps *steps,
                                   struct mt_step_levels *out, struct mt_err *err)
{
    size_t n = steps->all.n;
    struct mt_levels levels = {0};
    *out = (struct mt_step_levels){0};
    if (!n)
        return MT_OK;
    int64_t *moments = mt_alloc((n + 1) * sizeof *moments);
    for (size_t i = 0; i < n; i++)
        moments[i] = steps->all.v[i].start_ns;
    moments[n] = mt_steps_until(steps, n - 1);
    enum mt_status st = mt_levels_load_near(db, run, device, moments, n + 1, &levels, err);
    if (st == MT_OK)
        read_levels(&levels, steps, out);
    mt_levels_free(&levels);
    free(moments);
    return st;
}

void mt_step_levels_copy(struct mt_step_levels *to, const struct mt_step_levels *from)
{
    *to = (struct mt_step_levels){.last_b = from->last_b, .after_b = from->after_b};
    for (size_t i = 0; i < from->rises.n; i++)
        *mt_vec_push(&to->rises) = from->rises.v[i];
    for (size_t i = 0; i < from->ends.n; i++)
        *mt_vec_push(&to->ends) = from->ends.v[i];
}

bool mt_step_levels_same(const struct mt_step_levels *a, const struct mt_step_levels *b)
{
    bool same = a->last_b == b->last_b && a->after_b == b->after_b && a->rises.n == b->rises.n &&
                a->ends.n == b->ends.n;
    for (size_t i = 0; i < a->rises.n && same; i++)
        same = a->rises.v[i].step_n == b->rises.v[i].step_n &&
               a->rises.v[i].level_b == b->rises.v[i].level_b;
    for (size_t i = 0; i < a->ends.n && same; i++)
        same = a->ends.v[i].step_n == b->ends.v[i].step_n &&
               a->ends.v[i].level_b == b->ends.v[i].level_b;
    return same;
}

void mt_step_levels_free(struct mt_step_levels *l)
{
    mt_vec_free(&l->rises);
    mt_vec_free(&l->ends);
}

/* ---- as many steps ---- */

static double rate_of(const struct mt_step_part *p, int which)
{
    return which == 0 ? p->leak_b : which == 1 ? p->suspect_b : 2 * p->suspect_b - p->leak_b;
}

/* The highest level of all, and that of the first steps alone. */
static double highest(const struct mt_step_levels *l, int64_t step_n)
{
    int64_t most_b = l->rises.v[0].level_b;
    for (size_t i = 1; i < l->rises.n && l->rises.v[i].step_n <= step_n; i++)
        most_b = l->rises.v[i].level_b;
    return (double)most_b;
}

/* What comes to a peak that is known step by step. more: steps, negative: fewer. */
static double add_to_peak(const struct mt_step_part *p, int64_t more, double rate)
{
    const struct mt_step_levels *l = p->levels;
    double grown = rate * (double)more;
    double after = (double)l->after_b, peak = fmax(highest(l, p->step_n), after);
    double then = more < 0 ? fmax(highest(l, p->step_n + more), after + grown)
                           : fmax(peak, fmax((double)l->last_b, after) + grown);
    if (p->partial) /* what it holds at another moment is known only so */
        return then == peak ? 0 : grown;
    return then - peak;
}

void mt_step_add(const struct mt_step_part part[2], int way, double out[2])
{
    int side = way % 2; /* the one that becomes as long as the other */
    bool by_curve = part[side].at_end && !part[side].partial && part[side].levels->ends.n;
    const struct mt_step_part *p = &part[side];
    int64_t more = part[!side].step_n - p->step_n;
    double rate = rate_of(p, way / 2);
    bool both_alive = way / 2 == 2; /* never at the end */
    out[0] = out[1] = 0;
    if (!part[0].step_n || !part[1].step_n || !more || (more < 0 && by_curve) ||
        (p->at_end && both_alive))
        return;
    out[side] = !p->at_end && p->levels->rises.n ? add_to_peak(p, more, rate) : rate * (double)more;
}

/* ---- by the curve ---- */

/* Which run is longer; -1: neither, or one has no steps. */
static int longer_of(const struct mt_step_part part[2])
{
    int64_t a = part[0].step_n, b = part[1].step_n;
    return a <= 0 || b <= 0 || a == b ? -1 : b > a;
}

/* The level at the end of so many steps. */
static double end_of(const struct mt_step_levels *l, int64_t step_n)
{
    int64_t level_b = l->ends.v[0].level_b;
    for (size_t i = 1; i < l->ends.n && l->ends.v[i].step_n <= step_n; i++)
        level_b = l->ends.v[i].level_b;
    return (double)level_b;
}

bool mt_step_add_by_curve(const struct mt_step_part part[2], double out[2])
{
    int side = longer_of(part);
    out[0] = out[1] = 0;
    if (side < 0)
        return false;
    const struct mt_step_part *p = &part[side];
    const struct mt_step_levels *l = p->levels;
    int64_t step_n = part[!side].step_n;
    if (!(p->at_end ? l->ends.n : l->rises.n))
        return false;
    double add = p->at_end ? end_of(l, step_n) - end_of(l, p->step_n)
                           : highest(l, step_n) - highest(l, p->step_n);
    if (p->partial)
        add = fmax(add + p->others_b * (double)(p->step_n - step_n), -fmax(p->figure_b, 0));
    out[side] = add;
    return true;
}

bool mt_step_add_inside(const struct mt_step_part part[2], double out[2])
{
    int side = longer_of(part);
    out[0] = out[1] = 0;
    if (side < 0 || part[0].partial || !part[0].at_end || !part[0].levels->ends.n ||
        !part[1].levels->ends.n)
        return false;
    for (int s = 0; s < 2; s++)
        out[s] = end_of(part[s].levels, part[!side].step_n) - part[s].figure_b;
    return true;
}

bool mt_step_is_untold(const struct mt_step_part part[2], double least[2], double most[2])
{
    int side = longer_of(part);
    least[0] = least[1] = most[0] = most[1] = 0;
    if (side < 0 || part[0].partial || !part[0].at_end || part[side].levels->ends.n)
        return false;
    const struct mt_step_part *p = &part[side];
    least[side] = -fmax(p->figure_b, 0);
    most[side] = p->levels->rises.n ? fmax(highest(p->levels, part[!side].step_n) - p->figure_b, 0)
                                    : INFINITY;
    return true;
}
