#include "lib/analysis/trend.h"

#include "lib/base/wrap.h"
#include "lib/model/knows.h"
#include <math.h>

const char *const mt_trend_names[MT_TREND_N] = {
    [MT_TREND_RISES] = "rises",       [MT_TREND_ROSE] = "rose",
    [MT_TREND_CAME] = "came",         [MT_TREND_DIPS] = "rises with dips",
    [MT_TREND_CONSTANT] = "constant", [MT_TREND_SWINGS] = "up and down",
    [MT_TREND_FELL] = "fell",
};

enum mt_trend mt_trend_of(const int64_t *held, size_t n)
{
    size_t rises = 0, falls = 0;
    if (n < 2)
        return MT_TREND_UNKNOWN;
    for (size_t i = 1; i < n; i++) {
        rises += held[i] > held[i - 1];
        falls += held[i] < held[i - 1];
    }
    if (rises && falls)
        return MT_TREND_SWINGS;
    if (!rises)
        return falls ? MT_TREND_FELL : MT_TREND_CONSTANT;
    if (rises == n - 1)
        return MT_TREND_RISES;
    return rises == 1 && held[0] == 0 && held[n - 1] == held[n - 2] ? MT_TREND_CAME : MT_TREND_ROSE;
}

/* Whether the least and the most that each part holds are more than those of the part before. */
static int parts_rise(const struct mt_trend_level *v, size_t n, size_t part_n)
{
    int64_t least_before = 0, most_before = 0;
    for (size_t part = 0; part < part_n; part++) {
        size_t from = n * part / part_n, to = n * (part + 1) / part_n;
        int64_t least = v[from].bytes, most = least;
        for (size_t i = from; i < to; i++) {
            least = v[i].bytes < least ? v[i].bytes : least;
            most = v[i].bytes > most ? v[i].bytes : most;
        }
        if (part && (least <= least_before || most <= most_before))
            return 0;
        least_before = least;
        most_before = most;
    }
    return 1;
}

enum { PARTS = 4 }; /* of the later half */

/* Where the later half begins. */
static size_t half_of(const struct mt_trend_level *levels, size_t n, int64_t end_t)
{
    size_t from = 0;
    while (from < n && levels[from].t < end_t / 2)
        from++;
    return from;
}

bool mt_trend_can_tell(const struct mt_trend_level *levels, size_t n, int64_t end_t)
{
    return n - half_of(levels, n, end_t) >= PARTS;
}

enum mt_trend mt_trend_of_moments(const struct mt_trend_level *levels, size_t n, int64_t end_t,
                                  int64_t *grew, int64_t *passed)
{
    const size_t from = half_of(levels, n, end_t);
    int64_t rises = 0, falls = 0;
    *grew = *passed = MT_UNKNOWN;
    if (n - from < PARTS)
        return MT_TREND_UNKNOWN;
    const struct mt_trend_level *v = levels + from;
    n -= from;
    *grew = mt_wrap_sub(v[n - 1].bytes, v[0].bytes);
    *passed = v[n - 1].t - v[0].t;
    for (size_t i = 1; i < n; i++) {
        rises += v[i].bytes > v[i - 1].bytes;
        falls += v[i].bytes < v[i - 1].bytes;
    }
    if (rises && parts_rise(v, n, PARTS))
        return MT_TREND_RISES;
    if (rises && falls)
        return MT_TREND_SWINGS;
    return rises ? MT_TREND_ROSE : falls ? MT_TREND_FELL : MT_TREND_CONSTANT;
}

bool mt_trend_has_dips(const struct mt_trend_level *levels, size_t n)
{
    enum { LEAST = 2 * PARTS, TIMES = 3 };
    int64_t dip = 0;
    for (size_t i = 1; i < n; i++) {
        const int64_t fall = mt_wrap_sub(levels[i - 1].bytes, levels[i].bytes);
        dip = fall > dip ? fall : dip;
    }
    return n >= LEAST && parts_rise(levels, n, PARTS) &&
           mt_wrap_sub(levels[n - 1].bytes, levels[0].bytes) / TIMES > dip;
}

bool mt_trend_goes_on(const struct mt_trend_level *levels, size_t n)
{
    size_t last = 0, pause = 0; /* last: 0 is no rise */
    for (size_t i = 1; i < n; i++) {
        if (levels[i].bytes <= levels[i - 1].bytes)
            continue;
        pause = last && i - last > pause ? i - last : pause;
        last = i;
    }
    return last && n - 1 - last <= pause;
}

int64_t mt_trend_per_hour(int64_t grew, int64_t ns)
{
    const double hour = 3600e9, least = 60e9, most = 9e18;
    if ((double)ns < least || grew == MT_UNKNOWN)
        return MT_UNKNOWN;
    double rate = (double)grew * (hour / (double)ns);
    return (int64_t)fmax(-most, fmin(most, round(rate)));
}
