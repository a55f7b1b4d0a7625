/*
 * period.h - after how many a sequence repeats itself.
 */
#ifndef MT_PERIOD_H
#define MT_PERIOD_H

#include <stddef.h>
#include <stdint.h>

/* The least p with keys[i] == keys[i + p] as far as they go: 1 = all are equal, or there is one at
 * most; n = they never repeat. */
size_t mt_period_of(const uint64_t *keys, size_t n);

#endif
