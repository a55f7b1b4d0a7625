/*
 * lull.h - the longest time in which nothing was recorded.
 */
#ifndef MT_LULL_H
#define MT_LULL_H

#include <stdbool.h>
#include <stdint.h>

/* Of moments in order of time, the longest time between two. Those that are not are left out. */
struct mt_lull {
    bool any;
    int64_t first, last;   /* moments, within 2^62 */
    int64_t from, longest; /* longest: 0 = there are no two */
};

static inline void mt_lull_add(struct mt_lull *l, int64_t t)
{
    if (!l->any)
        *l = (struct mt_lull){.any = true, .first = t, .last = t};
    if (t - l->last > l->longest) {
        l->longest = t - l->last;
        l->from = l->last;
    }
    l->last = t > l->last ? t : l->last;
}

#endif
