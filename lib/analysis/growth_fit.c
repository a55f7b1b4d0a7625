#include "lib/analysis/growth_fit.h"

#include "lib/base/wrap.h"
#include <math.h>

enum { FLAT_B = 512 << 10, FLAT_SHARE = 100 };

/* ---- the axis: steps, minutes, events ---- */

/* How many units have passed by t: within a step a part of it. */
double mt_growth_units_at(const struct mt_growth_curve *c, int64_t t)
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
int64_t mt_growth_kept_apart(double ns)
{
    return (int64_t)fmax(-4e18, fmin(ns, 4e18));
}

/* The time at which so many have passed. */
int64_t mt_growth_time_of(const struct mt_growth_curve *c, double units)
{
    if (!c->steps)
        return mt_growth_kept_apart(units * c->unit_ns);
    size_t i = (size_t)units, n = c->wanted->steps->all.n;
    const struct mt_step *s = &c->wanted->steps->all.v[i < n ? i : n - 1];
    const double length = (double)s->end_ns - (double)s->start_ns;
    if (fabs((double)s->start_ns) > 2e18 || fabs(length) > 2e18)
        return mt_growth_kept_apart((double)(i < n ? s->start_ns : s->end_ns));
    return i < n ? s->start_ns + (int64_t)((units - (double)i) * length) : s->end_ns;
}

/* ---- parts ---- */

/* The least from one time to another, with what that begins with. */
int64_t mt_growth_least_in(const struct mt_levels *l, int64_t from_ns, int64_t to_ns)
{
    int64_t i = mt_levels_at(l, from_ns), last = mt_levels_before(l, to_ns);
    int64_t least = mt_levels_value(l, i);
    for (i++; i <= last; i++)
        least = l->all.v[i].level_b < least ? l->all.v[i].level_b : least;
    return least;
}

int64_t mt_growth_most_in(const struct mt_levels *l, int64_t from_ns, int64_t to_ns)
{
    int64_t i = mt_levels_at(l, from_ns), last = mt_levels_before(l, to_ns);
    int64_t most = mt_levels_value(l, i);
    for (i++; i <= last; i++)
        most = l->all.v[i].level_b > most ? l->all.v[i].level_b : most;
    return most;
}

const struct mt_growth_part_of mt_growth_least = {mt_growth_least_in, 0},
                               mt_growth_most = {mt_growth_most_in, 1};

/* Student's t, two-sided 95 %, by degrees of freedom. */
static double quantile(int freedom)
{
    static const double t[] = {0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365};
    return t[freedom];
}

/* Parts begin with whole steps. */
double mt_growth_border(const struct mt_growth_curve *c, double at)
{
    return c->steps ? floor(at) : at;
}

/* Of n parts, what they stand for, and where they are, in units. */
void mt_growth_fit_parts(const int64_t *v, const double *at, int n, struct mt_growth_fit *out)
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

void mt_growth_fit(const struct mt_growth_curve *c, const struct mt_growth_part_of *of, double from,
                   double to, int n, struct mt_growth_fit *out)
{
    int64_t v[MT_GROWTH_PARTS] = {0};
    double at[MT_GROWTH_PARTS + 1] = {0};
    for (int i = 0; i <= n; i++)
        at[i] = i < n ? mt_growth_border(c, from + (to - from) * i / n) : to;
    for (int i = 0; i < n; i++) {
        v[i] = of->level_b(c->l, mt_growth_time_of(c, at[i]), mt_growth_time_of(c, at[i + 1]));
        at[i] += (at[i + 1] - at[i]) * of->where;
    }
    mt_growth_fit_parts(v, at, n, out);
}

/* Growth that goes on: steady enough, in the second half of a window, by a share of the first's. */
bool mt_growth_goes_on(const struct mt_growth_fit *f, double share)
{
    return f->late >= f->early * share;
}

double mt_growth_flat_of(int64_t level_b)
{
    return fmax((double)level_b / FLAT_SHARE, FLAT_B);
}
