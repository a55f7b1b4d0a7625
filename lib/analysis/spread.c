#include "lib/analysis/spread.h"

#include "lib/base/mem.h"
#include "lib/base/sort.h"
#include <math.h>
#include <stdlib.h>

struct figure {
    int64_t v;
    size_t at;
};

static int by_figure(const void *a, const void *b)
{
    const struct figure *x = a, *y = b;
    if (x->v != y->v)
        return x->v < y->v ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

void mt_spread_of(const int64_t *figures, size_t n, struct mt_spread *out)
{
    *out = (struct mt_spread){.n = n};
    if (!n)
        return;
    struct figure *sorted = mt_alloc(n * sizeof *sorted);
    const size_t middle = (n - 1) / 2;
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct figure){figures[i], i};
    qsort(sorted, n, sizeof *sorted, by_figure);
    out->least = sorted[0].v;
    out->most = sorted[n - 1].v;
    out->median = sorted[middle].v;
    out->median_at = sorted[middle].at;
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct figure){llabs(figures[i] - out->median), i};
    qsort(sorted, n, sizeof *sorted, by_figure);
    out->deviation = sorted[middle].v;
    free(sorted);
}

/* Ranks that do the same differ by less of the median. */
static const double share = 0.05;

bool mt_spread_is_near(const struct mt_spread *s, int64_t figure)
{
    return fabs((double)figure - (double)s->median) <= share * (double)s->median;
}

bool mt_spread_is_outside(const struct mt_spread *s, int64_t figure, int64_t doubt)
{
    static const double of_normal = 1.4826, scores = 3.5;
    double above = (double)figure - (double)s->median;
    double apart = above > 0 ? above - (double)doubt : -above;
    return s->n >= MT_SPREAD_MIN && apart > scores * of_normal * (double)s->deviation &&
           apart > share * (double)s->median;
}
