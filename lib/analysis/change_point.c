#include "lib/analysis/change_point.h"

#include "lib/base/mem.h"
#include <stdlib.h>
#include <string.h>

enum { LOOKED_AT = 1000 };

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The median of n > 0 figures, of an even number the lower of the two in the middle; sorts a copy
 * in `room`. */
static int64_t median_of(const int64_t *v, size_t n, int64_t *room)
{
    memcpy(room, v, n * sizeof *v);
    qsort(room, n, sizeof *room, by_value);
    return room[(n - 1) / 2];
}

static double distances(const int64_t *v, size_t n, int64_t median)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)llabs(v[i] - median);
    return sum;
}

/* The upper quartile of the distances from the median of each half: where many runs are equal, the
 * median of them is 0 although others swing. */
static int64_t noise(const int64_t *v, size_t n, const struct mt_change_point *c, int64_t *room)
{
    for (size_t i = 0; i < n; i++)
        room[i] = llabs(v[i] - (i < c->at ? c->before : c->after));
    qsort(room, n, sizeof *room, by_value);
    return room[n * 3 / 4];
}

static void cut(const int64_t *v, size_t n, int64_t *room, struct mt_change_point *out)
{
    double least = 0;
    for (size_t at = 1; at < n; at++) {
        int64_t before = median_of(v, at, room), after = median_of(v + at, n - at, room);
        double sum = distances(v, at, before) + distances(v + at, n - at, after);
        if (at > 1 && sum >= least)
            continue;
        least = sum;
        *out = (struct mt_change_point){.at = at, .before = before, .after = after};
    }
}

void mt_change_point_of(const int64_t *figures, size_t n, struct mt_change_point *out)
{
    static const double of_normal = 0.8693, scores = 3.5, share = 0.01;
    const size_t skipped = n > LOOKED_AT ? n - LOOKED_AT : 0;
    *out = (struct mt_change_point){.at = 0};
    figures += skipped;
    n -= skipped;
    if (n < MT_CHANGE_POINT_MIN)
        return;
    int64_t *room = mt_alloc(n * sizeof *room);
    cut(figures, n, room, out);
    double apart = (double)llabs(out->after - out->before);
    out->found = apart > scores * of_normal * (double)noise(figures, n, out, room) &&
                 apart > share * (double)out->before;
    out->at += skipped;
    free(room);
}
