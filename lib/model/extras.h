/*
 * extras.h - further figures of call paths, which only some formats have. The database keeps them
 * in node_extra, as figures of paths themselves; they add up.
 */
#ifndef MT_EXTRAS_H
#define MT_EXTRAS_H

#include "lib/model/knows.h"

enum mt_extra {                       /* the numbers stand in the database, in mt_device.knows */
                MT_EXTRA_TEMPORARY_N, /* blocks freed soon, as the page of the format says */
                MT_EXTRA_TEMPORARY_B,
                MT_EXTRA_TEMPORARY_MOST_N, /* at most so many */
                MT_EXTRA_READ_B,           /* how much was read from the blocks */
                MT_EXTRA_WRITTEN_B,
                MT_EXTRA_LIFETIME_NS,   /* of all blocks together, in the unit of times */
                MT_EXTRA_SHORT_LIVED_N, /* blocks of paths whose blocks live very short on average
                                         */
                                        /* of logs that count something else than memory */
                MT_EXTRA_COPIED_B,
                MT_EXTRA_COPIES_N,
                MT_EXTRA_UNITS_N,
                MT_EXTRA_EVENTS_N,
                MT_EXTRA_N
};

/* In node_extra. */
extern const char *const mt_extra_names[MT_EXTRA_N];

/* The bit of mt_device.knows. */
#define MT_KNOWS_EXTRA(extra) (1u << (16 + (extra)))
#define MT_KNOWS_EXTRAS       (MT_KNOWS_EXTRA(MT_EXTRA_N) - MT_KNOWS_EXTRA(0))

/* Those of logs that count something else than memory. */
#define MT_KNOWS_OTHERS (MT_KNOWS_EXTRA(MT_EXTRA_N) - MT_KNOWS_EXTRA(MT_EXTRA_COPIED_B))

/* The figure of that name; MT_EXTRA_N: none. */
enum mt_extra mt_extra_find(const char *name);

#endif
