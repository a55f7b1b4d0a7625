/*
 * retained.h - how much of the memory of each site is alive at the end of every step: tells a
 * bounded store, which only exchanges its blocks, from one that grows.
 */
#ifndef MT_RETAINED_H
#define MT_RETAINED_H

#include "lib/base/map.h"
#include "lib/base/mem.h"
#include <stdbool.h>

/* A change of what a site holds. */
struct mt_retained_change {
    uint32_t site;
    int64_t step; /* index: from the end of this step on */
    int64_t bytes, blocks_n;
};

/* Zero-initialise. About 60 bytes for each step in which a site's holding changes. */
struct mt_retained {
    struct mt_map index; /* site and step -> all */
    MT_VEC(struct mt_retained_change) all;
};

/* A block of a site, alive at the end of the steps from..to - 1 (indices, 0 at least). One of 0
 * bytes holds nothing. */
void mt_retained_add(struct mt_retained *h, uint32_t site, int64_t bytes, int64_t from, int64_t to);
/* The same in parts: what a site holds changes by so much with the end of this step. */
void mt_retained_change(struct mt_retained *h, uint32_t site, int64_t step, int64_t bytes,
                        int64_t blocks_n);
void mt_retained_free(struct mt_retained *h);

/* How what one site holds rises from the end of one step to the end of the next. */
struct mt_retained_trend {
    bool falls;              /* in some step it does, or */
    int64_t n;               /* in so many it rises, not counting the first asked for */
    int64_t first, last;     /* step that rises, counting that one; -1 = none */
    int64_t pause;           /* the most steps from one of them to the next */
    int64_t bytes, blocks_n; /* held at the end of `last`, less at the end of `first` */
    bool alike;              /* all rises after `first` are of as many bytes and blocks, and */
    bool even;               /* as many steps apart */
    int64_t fell;            /* the last step that falls, that asked for first too; -1 = none */
};

/* Puts the changes in order and drops those that cancel out; none may be added after it. */
void mt_retained_sort(struct mt_retained *h);
/* Whether a site holds more blocks at the end of some step of the later half of first..last, both
 * included, than at the end of any before. The later half begins in the middle; of an odd number of
 * steps it is the larger. */
bool mt_retained_higher(const struct mt_retained *h, uint32_t site, int64_t first, int64_t last);
/* Its rises in the steps first..last; that it falls in the first does not count. */
struct mt_retained_trend mt_retained_rises(const struct mt_retained *h, uint32_t site,
                                           int64_t first, int64_t last);

/* Blocks that it holds at the end of a step, and their bytes. */
int64_t mt_retained_blocks(const struct mt_retained *h, uint32_t site, int64_t step);
int64_t mt_retained_bytes(const struct mt_retained *h, uint32_t site, int64_t step);

enum { MT_RETAINED_PARTS = 4 };

/* What a site holds at the ends of the steps of one part of several. */
struct mt_retained_part {
    int64_t least_n, most_n; /* blocks */
    int64_t least_b, most_b;
    struct {
        int64_t step, blocks_n; /* the first that holds most_b, and how many blocks those are */
    } most_at;
};

/* The steps first..last in parts of one length, or of two that differ by one step. At least as many
 * steps as parts. */
void mt_retained_in_parts(const struct mt_retained *h, uint32_t site, int64_t first, int64_t last,
                          struct mt_retained_part parts[MT_RETAINED_PARTS]);

#endif
