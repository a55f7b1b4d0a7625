/*
 * older_levels.h - two levels with what is estimated to be older than their recordings
 * (docs/older.md): figures without it may compare in another way.
 */
#ifndef MT_OLDER_LEVELS_H
#define MT_OLDER_LEVELS_H

#include "lib/base/mem.h"
#include <stdbool.h>

/* What a level leaves out. */
struct mt_older_part {
    bool left_out;
    int64_t least_b, most_b; /* negative: unknown */
};

/* Bytes that come to both levels: the least of the estimates, or the most. An unknown least is 0,
 * an unknown most beyond all sizes; ratio: of both that is the same, else it counts in neither. */
void mt_older_add(const struct mt_older_part part[2], bool most, bool ratio, double out[2]);

/* "+1.6 %", or "+1.6 % to +7.7 %": how the level changes with it, from least to most. false:
 * nothing is left out, or nobody knows how much. */
bool mt_older_change(const struct mt_older_part part[2], const double level[2], struct mt_buf *out);

#endif
