/*
 * lives.h - when how much memory is held, as it was recorded or as it would be: what advice changes
 * and takes the peak of again.
 */
#ifndef MT_ADVICE_LIVES_H
#define MT_ADVICE_LIVES_H

#include "lib/base/mem.h"

#include <stdint.h>

/* Bytes that are held from a record on up to, but without, another one. */
struct mt_life {
    int64_t from, to;
    int64_t bytes;
};

struct mt_lives {
    MT_VEC(struct mt_life) all;
};

/* The same ones, to be changed apart; the caller frees them. */
struct mt_lives mt_lives_copy(const struct mt_lives *l);

/* The most that is held at once beside base_b, after one of record_n records; *record, unless NULL:
 * after which, the first; -1: base_b is the most. Lives outside the records are cut to them. */
int64_t mt_lives_peak(const struct mt_lives *l, int64_t base_b, int64_t record_n, int64_t *record);

#endif
