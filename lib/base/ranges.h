/*
 * ranges.h - ranges of addresses that come and go, each with a value; they may overlap. Adding and
 * taking one costs time by the logarithm of how many there are.
 */
#ifndef MT_RANGES_H
#define MT_RANGES_H

#include "lib/base/mem.h"

#include <stdbool.h>

struct mt_range {
    uint64_t begin, end; /* without the end; not empty */
    uint32_t value;
};

struct mt_range_node {
    struct mt_range range;
    uint64_t last;     /* the largest end of those below it, and its own */
    uint32_t below[2]; /* those that begin before, after; 0 = none */
    uint32_t rank;     /* greater than of those below */
};

/* Zeroed: none. Free with mt_ranges_free. */
struct mt_ranges {
    MT_VEC(struct mt_range_node) nodes; /* the first one is none */
    MT_VEC(uint32_t) unused;
    uint32_t root;
    uint64_t seed; /* of ranks: nobody can make the tree deep */
};

void mt_ranges_free(struct mt_ranges *r);
size_t mt_ranges_bytes(const struct mt_ranges *r); /* memory in use, about */

/* Adds one, whatever it overlaps. */
void mt_ranges_add(struct mt_ranges *r, struct mt_range range);

/* Takes out one of those that overlap [begin, end); false: there is none. */
bool mt_ranges_take(struct mt_ranges *r, uint64_t begin, uint64_t end, struct mt_range *out);

#endif
