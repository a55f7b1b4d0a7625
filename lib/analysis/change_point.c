#include "lib/analysis/change_point.h"

#include "lib/base/mem.h"
#include "lib/base/search.h"
#include <stdlib.h>
#include <string.h>

enum { LOOKED_AT = 1000 };

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Of each first part of n figures, or with a step of -1 of each last one, the median, of an even
 * number the lower of the two in the middle: medians[i] is of those up to, or from, v[i]. sorted:
 * room for n. */
static void medians_of(const int64_t *v, size_t n, int step, int64_t *sorted, int64_t *medians)
{
    for (size_t i = 0; i < n; i++) {
        const size_t at = step > 0 ? i : n - 1 - i;
        size_t place = mt_count_below(sorted, i, sizeof *sorted, v[at]);
        memmove(sorted + place + 1, sorted + place, (i - place) * sizeof *sorted);
        sorted[place] = v[at];
        medians[at] = sorted[i / 2];
    }
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

/* room: for 3 n. */
static void cut(const int64_t *v, size_t n, int64_t *room, struct mt_change_point *out)
{
    int64_t *first = room + n, *last = room + 2 * n;
    double least = 0;
    medians_of(v, n, 1, room, first);
    medians_of(v, n, -1, room, last);
    for (size_t at = 1; at < n; at++) {
        const int64_t before = first[at - 1], after = last[at];
        double sum = distances(v, at, before) + distances(v + at, n - at, after);
        if (at > 1 && sum >= least)
            continue;
        least = sum;
        *out = (struct mt_change_point){.at = at, .before = before, .after = after};
    }
}

/* How many times the noise the medians of n runs differ by, where one series in a hundred that only
 * swings is further apart. */
static double times_noise(size_t n)
{
    static const struct {
        size_t n;
        double times;
    } of[] = {{4, 23}, {6, 10.5}, {7, 6.5}, {10, 5}, {11, 4.5}, {14, 4}, {15, 3.5}};
    size_t i = 0;
    while (i + 1 < MT_ARRAY_LEN(of) && of[i + 1].n <= n)
        i++;
    return of[i].times;
}

void mt_change_point_of(const int64_t *figures, size_t n, struct mt_change_point *out)
{
    static const double share = 0.01;
    const size_t skipped = n > LOOKED_AT ? n - LOOKED_AT : 0;
    *out = (struct mt_change_point){.at = 0};
    figures += skipped;
    n -= skipped;
    if (n < MT_CHANGE_POINT_MIN)
        return;
    int64_t *room = mt_alloc(3 * n * sizeof *room);
    cut(figures, n, room, out);
    const double apart = (double)llabs(out->after - out->before);
    const double swing = (double)noise(figures, n, out, room);
    const bool differ = apart > share * (double)out->before;
    out->found = differ && apart > times_noise(n) * swing;
    out->unsure = differ && !out->found && apart > times_noise(LOOKED_AT) * swing;
    out->at += skipped;
    free(room);
}
