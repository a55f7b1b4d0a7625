#include "lib/advice/repeats.h"

#include "lib/base/map.h"
#include "lib/base/mem.h"
#include <stdlib.h>

enum { APART = 13, PERIODS = 4096, BETTER = 50 };

/* The longest stretch with keys[i] == keys[i + period], with the period behind it. */
static struct mt_repeat longest_of(const uint32_t *keys, size_t n, size_t period)
{
    struct mt_repeat best = {0};
    for (size_t i = 0, from = 0; i + period <= n; i++) {
        bool equal = i + period < n && keys[i] == keys[i + period];
        if (equal)
            continue;
        size_t to = i + period;
        if (i - from >= period && to - from > best.to - best.from)
            best = (struct mt_repeat){from, to, period};
        from = i + 1;
    }
    return best;
}

/* Distances between equal keys, up to so many of them apart, marked. */
static void mark_periods(const uint32_t *keys, size_t n, bool *is_period)
{
    struct mt_map last = {0}; /* key -> its last place + 1 */
    uint32_t *before = mt_alloc((n + 1) * sizeof *before);
    for (size_t i = 0; i < n; i++) {
        uint32_t *at = mt_map_at(&last, keys[i]);
        before[i] = *at == MT_MAP_NONE ? MT_MAP_NONE : *at;
        *at = (uint32_t)i;
        uint32_t j = before[i];
        for (int k = 0; k < APART && j != MT_MAP_NONE; k++, j = before[j])
            if (i - j < PERIODS)
                is_period[i - j] = true;
    }
    free(before);
    mt_map_free(&last);
}

struct mt_repeat mt_find_repeat(const uint32_t *keys, size_t from, size_t to)
{
    struct mt_repeat best = {0};
    const size_t n = to - from;
    bool *is_period = mt_alloc(PERIODS * sizeof *is_period);
    keys += from;
    mark_periods(keys, n, is_period);
    for (size_t period = 1; period < PERIODS && period * 2 <= n; period++) {
        struct mt_repeat r = is_period[period] ? longest_of(keys, n, period) : best;
        size_t now = best.to - best.from;
        if (r.to - r.from > now + now / BETTER)
            best = r;
    }
    free(is_period);
    best.from += from;
    best.to += from;
    return best;
}
