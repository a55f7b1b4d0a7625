/*
 * knows.h - what a recording can answer. Formats differ: a trace has every block, a heap log has
 * sums by call path, a process log only a curve. No code asks for a format's name; it asks what a
 * device knows. What is not known is MT_UNKNOWN, NULL in the database, and never 0.
 */
#ifndef MT_KNOWS_H
#define MT_KNOWS_H

#include <stdint.h>

#define MT_UNKNOWN INT64_MIN

/* What kind of recording it is: for words only. The numbers stand in the database. */
enum mt_run_kind { MT_RUN_TRACE, MT_RUN_SNAPSHOT, MT_RUN_HEAP, MT_RUN_PROCESS, MT_RUN_KIND_N };

/* What is known of a device, as bits of mt_device.knows. The numbers stand in the database. */
enum mt_knows {
    MT_KNOWS_ALLOC = 1 << 0,   /* bytes and blocks ever allocated */
    MT_KNOWS_PEAK = 1 << 1,    /* the highest level */
    MT_KNOWS_AT_PEAK = 1 << 2, /* what each call path held at that moment */
    MT_KNOWS_AT_END = 1 << 3,  /* what is alive at the end */
    MT_KNOWS_LEVEL = 1 << 4,   /* a curve over time */
    MT_KNOWS_MOMENTS = 1 << 5, /* what each call path held at several moments */
    MT_KNOWS_BLOCKS = 1 << 6,  /* single blocks: lifetimes, sizes */
    MT_KNOWS_COUNTS = 1 << 7,  /* numbers of blocks */
    MT_KNOWS_FREED_IN =
        1 << 8,            /* freed_b is what a node freed itself, else what was freed of its own */
    MT_KNOWS_OPS = 1 << 9, /* single ops */
    MT_KNOWS_THREADS = 1 << 10,
    MT_KNOWS_SEGMENTS = 1 << 11, /* what the caching allocator holds from the driver */
    MT_KNOWS_STEPS = 1 << 12,
    /* what is not known: call paths for which nothing is listed at the peak, or at the end, may
       hold a little there */
    MT_LARGE_AT_PEAK = 1 << 13,
    MT_LARGE_AT_END = 1 << 14,
    MT_KNOWS_PLACES = 1 << 15, /* libraries or source files of functions */
    /* and from 1 << 16 on further figures of call paths, in the order of enum mt_extra (extras.h)
     */
    MT_KNOWS_SIZE_SUMS = 1 << 27, /* what blocks of each size did, of all call paths together */
    MT_KNOWS_SIZES = 1 << 28,     /* how large the blocks of call paths are (import --split) */
    MT_KNOWS_LABELS = 1 << 29,    /* what the recorder was told of allocations */
    MT_KNOWS_CATEGORIES = 1 << 30 /* what memory is for: parameters, gradients */
};

/* What was freed, and so what is left of what was allocated. Not stored: a device whose freed_b is
 * known has it. */
#define MT_KNOWS_FREED (1u << 31)

/* The frame of what is of call paths that are not listed. */
#define MT_UNLISTED "[below threshold]"

/* With which of these bits of a device a figure of 0, which needs so much, is not known to be 0. */
static inline unsigned mt_large_only(unsigned need)
{
    return (need & MT_KNOWS_AT_PEAK ? MT_LARGE_AT_PEAK : 0) |
           (need & MT_KNOWS_AT_END ? MT_LARGE_AT_END : 0);
}

/* Whether anything is known of single events: of ops, or of blocks. Else there are sums and moments
 * of call paths. */
static inline int mt_knows_events(unsigned knows)
{
    return (knows & (MT_KNOWS_OPS | MT_KNOWS_BLOCKS)) != 0;
}

/* Whether there are such events over time, so that what happened has a net change; else blocks are
 * those that were alive at one moment. */
static inline int mt_knows_net(unsigned knows)
{
    return mt_knows_events(knows) &&
           (knows & (MT_KNOWS_BLOCKS | MT_KNOWS_ALLOC)) != MT_KNOWS_BLOCKS;
}

#endif
