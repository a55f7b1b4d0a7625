/*
 * holders.h - who keeps segments from being given back to the driver: the allocation sites of the
 * blocks in those that are less than half full.
 */
#ifndef MT_HOLDERS_H
#define MT_HOLDERS_H

#include "lib/usage/segments.h"

struct mt_holder {
    uint32_t site;   /* string of the segments */
    int64_t holds_b; /* free bytes of the segments its blocks lie in */
    int64_t segments_n;
    int64_t used_b, blocks_n; /* its blocks in them; bytes without what the program has let go of */
};
struct mt_holders {
    MT_VEC(struct mt_holder) all; /* in order of site */
};

/* Free bytes count for every site with a block in the segment: they add up to more than there are.
 * Free with mt_vec_free(&out->all). */
void mt_holders_find(const struct mt_segments *s, struct mt_holders *out);

#endif
