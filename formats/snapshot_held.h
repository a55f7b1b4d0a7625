/*
 * snapshot_held.h - the ranges of addresses that an allocator holds from the driver at a moment of
 * its history: segments, and the mapped parts of expandable ones. Adjoining parts of an expandable
 * segment are one range, as in the file's own list.
 */
#ifndef MT_SNAPSHOT_HELD_H
#define MT_SNAPSHOT_HELD_H

#include "lib/base/mem.h"
#include <stdbool.h>
#include <stdint.h>

struct mt_snap_range {
    uint64_t address, size;
    int64_t stream;
    uint32_t pool;    /* MT_NONE unknown, and then any other may be it */
    uint32_t node;    /* what asked for it; MT_NONE unknown */
    uint32_t segment; /* the caller's */
    bool small, expandable;
};

/* Ranges in order of address, in chunks so that one of a million comes and goes quickly. */
struct mt_snap_held {
    MT_VEC(struct mt_snap_chunk {
        struct mt_snap_range *v;
        uint32_t n;
    })
    chunks;
    /* Told of each range that is `there` from now on, and of each as it was that is not any more:
     * one that grows, shrinks or is split goes, and what it becomes comes. May be NULL. */
    void (*changed)(void *closure, struct mt_snap_range *range, bool there);
    void *closure;
};

/* Zero-initialise; free with mt_snap_held_free. */
void mt_snap_held_free(struct mt_snap_held *h);
uint64_t mt_snap_held_bytes(const struct mt_snap_held *h); /* memory in use, about */

/* The range is held from now on; what lay there goes. Nothing happens where its size is 0. */
void mt_snap_held_add(struct mt_snap_held *h, const struct mt_snap_range *range);

/* Nothing at size bytes from the address is held any more. */
void mt_snap_held_remove(struct mt_snap_held *h, uint64_t address, uint64_t size);

/* The range that lies just there; NULL if none does. */
struct mt_snap_range *mt_snap_held_find(const struct mt_snap_held *h, uint64_t address,
                                        uint64_t size);

/* Calls use() for each range, in order of address. It must not change them. */
void mt_snap_held_each(const struct mt_snap_held *h,
                       void (*use)(void *closure, struct mt_snap_range *range), void *closure);

#endif
