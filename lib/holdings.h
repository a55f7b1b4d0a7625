/*
 * holdings.h - how much of the memory of each site is alive at the end of every step: tells a
 * bounded store, which only exchanges its blocks, from one that grows.
 */
#ifndef MT_HOLDINGS_H
#define MT_HOLDINGS_H

#include "lib/map.h"
#include "lib/mem.h"
#include <stdbool.h>

/* A change of what a site holds. */
struct mt_holding {
    uint32_t site;
    int64_t step; /* index: from the end of this step on */
    int64_t bytes, blocks_n;
};

/* Zero-initialise. About 60 bytes for each step in which a site's holding changes. */
struct mt_holdings {
    struct mt_map index; /* site and step -> all */
    MT_VEC(struct mt_holding) all;
};

/* A block of a site, alive at the end of the steps from..to - 1 (indices, 0 at least). One of 0
 * bytes holds nothing. */
void mt_holdings_add(struct mt_holdings *h, uint32_t site, int64_t bytes, int64_t from, int64_t to);
/* The same in parts: what a site holds changes by so much with the end of this step. */
void mt_holdings_change(struct mt_holdings *h, uint32_t site, int64_t step, int64_t bytes,
                        int64_t blocks_n);
void mt_holdings_free(struct mt_holdings *h);

/* How what one site holds rises from the end of one step to the end of the next. */
struct mt_rises {
    bool falls;              /* in some step it does, or */
    int64_t n;               /* in so many it rises, not counting the first asked for */
    int64_t first, last;     /* step that rises, counting that one; -1 = none */
    int64_t pause;           /* the most steps from one of them to the next */
    int64_t bytes, blocks_n; /* held at the end of `last`, less at the end of `first` */
};

/* Puts the changes in order and drops those that cancel out; none may be added after it. */
void mt_holdings_sort(struct mt_holdings *h);
/* Whether a site holds more blocks at the end of some step of the later half of first..last, both
 * included, than at the end of any before. The later half begins in the middle; of an odd number of
 * steps it is the larger. */
bool mt_holdings_higher(const struct mt_holdings *h, uint32_t site, int64_t first, int64_t last);
/* Its rises in the steps first..last; that it falls in the first does not count. */
struct mt_rises mt_holdings_rises(const struct mt_holdings *h, uint32_t site, int64_t first,
                                  int64_t last);

#endif
