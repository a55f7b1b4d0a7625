/*
 * sampled.h - profiles of which the recorder kept some blocks only: each byte allocated had the
 * same chance of one in `period` to make it keep the block.
 */
#ifndef MT_SAMPLED_H
#define MT_SAMPLED_H

#include "lib/model/recording.h"

struct mt_sampled {
    int64_t period;        /* bytes; 0 and 1: every block was kept */
    double end_n, alloc_n; /* blocks kept of those alive at the end, and of all */
    bool knows_end, knows_alloc;
    bool about; /* these numbers are computed from estimates */
};

/* How many blocks a block of that size stands for, >= 1. */
double mt_sampled_scale(int64_t period, int64_t bytes, int64_t blocks);

/* Notes that figures are estimates, and how many blocks they rest on; nothing where none are. */
void mt_sampled_note(const struct mt_sampled *s, struct mt_recording *rec);

#endif
