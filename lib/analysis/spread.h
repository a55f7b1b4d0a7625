/*
 * spread.h - how figures of processes that should be alike lie apart, and which lies outside.
 *
 * Outside is what is further from the median than 3.5 times the median absolute deviation, scaled
 * as that of a normal distribution (B. Iglewicz, D. C. Hoaglin: How to Detect and Handle Outliers,
 * 1993: the modified z-score), and than 5 % of the median: ranks that do the same differ by less
 * than that, and among equals any difference would be outside.
 */
#ifndef MT_SPREAD_H
#define MT_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MT_SPREAD_MIN = 4 }; /* of fewer nobody can tell which is outside */

struct mt_spread {
    size_t n;
    size_t median_at; /* index of the median; of an even number of figures the lower of the two in
                         the middle */
    int64_t least, median, most;
    int64_t deviation; /* the median of the distances from the median */
};

/* Of n figures, each >= 0; n 0: nothing but n is set. */
void mt_spread_of(const int64_t *figures, size_t n, struct mt_spread *out);

/* Whether a figure is within the 5 %. */
bool mt_spread_is_near(const struct mt_spread *s, int64_t figure);

/* Whether a figure, which may be less by `doubt`, lies outside. */
bool mt_spread_is_outside(const struct mt_spread *s, int64_t figure, int64_t doubt);

#endif
