/*
 * repeats.h - what repeats itself in a sequence: the layers of a model, as its ops show them.
 */
#ifndef MT_ADVICE_REPEATS_H
#define MT_ADVICE_REPEATS_H

#include <stddef.h>
#include <stdint.h>

/* The keys from..to are pieces of the same keys, each `period` long, and a part of one at the end.
 */
struct mt_repeat {
    size_t from, to, period; /* period 0: nothing repeats itself */
};

/* Among the keys from..to the longest stretch that is at least two pieces long; a longer period
 * must make it a fiftieth longer. Takes time by their number and the distances of equal keys. */
struct mt_repeat mt_find_repeat(const uint32_t *keys, size_t from, size_t to);

#endif
