#include "lib/analysis/growth_alike.h"

#include <math.h>

enum { DIPS = 5 }; /* what rises by more than so many times its deepest fall rises */

/* How many looks saw the level: one that stays the same is that of many; `last`: of those asked
 * for. Numbers of damaged databases may be any. */
static double seen_n(const struct mt_levels *l, int64_t i, int64_t last)
{
    const struct mt_level *v = &l->all.v[i];
    return i < last ? fmax((double)v[1].record - (double)v->record, 0) : 1;
}

/* The mean of the looks in a part, each of which sees one of those that print alike. */
static int64_t mean_in(const struct mt_levels *l, int64_t from_ns, int64_t to_ns)
{
    int64_t first = mt_levels_before(l, from_ns), last = mt_levels_before(l, to_ns);
    double sum = 0, looks = 0;
    for (int64_t i = first + 1; i <= last; i++) {
        double n = seen_n(l, i, last);
        sum += (double)l->all.v[i].level_b * n;
        looks += n;
    }
    return looks > 0 ? mt_growth_kept_apart(sum / looks) : mt_levels_value(l, first);
}

static const struct mt_growth_part_of mean_of = {mean_in, 0.5};

/* By few large ones, perhaps, whose differences tell nothing: through the whole of it. */
static bool rises_by_steps(const struct mt_growth_fit *f)
{
    return f->rate * f->units > DIPS * f->fell && f->early > f->late * MT_GROWTH_SLOWS;
}

/* Whether so many that print alike, of whom this is the fit, have one that grows by more than the
 * least does. */
static bool is_hidden(const struct mt_growth_fit *f, double least, double alike)
{
    double off = rises_by_steps(f) ? 0 : f->off;
    double more = ((f->rate - off) * f->units - least - MT_GROWTH_LATE) * alike;
    return more > mt_growth_flat_of(f->level_b) && mt_growth_goes_on(f, MT_GROWTH_SLOWS);
}

/* Whether the mean of those that print alike, or the most, grows, over so many units. */
static bool one_grows(const struct mt_growth_curve *c, const struct mt_growth *g, double from,
                      double units)
{
    const double alike = fmax(c->steps ? (double)g->look_n / g->units : 0, 2);
    const struct mt_growth_part_of *const of[] = {&mean_of, &mt_growth_most};
    const int n = (int)fmin((double)g->part_n, c->steps ? units : MT_GROWTH_PARTS);
    struct mt_growth_fit f;
    for (int i = 0; i < 2 && n >= MT_GROWTH_COARSE; i++) {
        mt_growth_fit(c, of[i], from, from + units, n, &f);
        if (is_hidden(&f, fmax(g->most, 0) * f.units, i ? 1 : alike))
            return true;
    }
    return false;
}

/* ---- rounds: without steps, each of those that print alike prints once in one ---- */

enum { MOST_ALIKE = 64, MOST_LOOKS = 1 << 20, ROUNDS = 2 * MT_GROWTH_PARTS };

struct looks {
    MT_VEC(double) b; /* as the looks saw them, bytes */
};

/* The first of them, where there are very many. */
static void looks_of(const struct mt_levels *l, const struct mt_growth *g, struct looks *out)
{
    int64_t last = mt_levels_before(l, g->to_ns);
    for (int64_t i = mt_levels_before(l, g->from_ns) + 1; i <= last; i++) {
        double n = seen_n(l, i, last);
        for (; n > 0 && out->b.n < MOST_LOOKS; n--)
            *mt_vec_push(&out->b) = (double)l->all.v[i].level_b;
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

/* Whether the mean of a round grows: parts are whole rounds. */
static bool rounds_grow(const struct mt_growth_curve *c, const struct mt_growth *g)
{
    struct looks l = {0};
    struct mt_growth_fit f;
    int64_t v[MT_GROWTH_PARTS];
    double at[MT_GROWTH_PARTS];
    looks_of(c->l, g, &l);
    const size_t round = round_of(&l), rounds = round ? l.b.n / round : 0;
    for (size_t i = 0; i < MT_GROWTH_PARTS && round; i++) {
        const size_t from = rounds * i / MT_GROWTH_PARTS, to = rounds * (i + 1) / MT_GROWTH_PARTS;
        v[i] = mt_growth_kept_apart(mean_of_looks(&l, from * round, (to - from) * round));
        at[i] = (double)(from + to) / 2;
    }
    if (round)
        mt_growth_fit_parts(v, at, MT_GROWTH_PARTS, &f);
    mt_vec_free(&l.b);
    return round && is_hidden(&f, fmax(g->most, 0) * g->units, (double)round);
}

/* The last step may not be whole. */
bool mt_growth_hides(const struct mt_growth_curve *c, const struct mt_growth *g)
{
    if (!g->known || !c->wanted->alike)
        return false;
    const double units = g->units - (c->steps ? 1 : 0), half = mt_growth_border(c, units / 2);
    const double from = mt_growth_units_at(c, g->from_ns);
    return one_grows(c, g, from, units) || one_grows(c, g, from + units - half, half) ||
           (!c->steps && rounds_grow(c, g));
}
