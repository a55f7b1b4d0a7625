/*
 * snapshot_regions.h - annotations (record_function regions) of a snapshot: which are open at a
 * moment, per device, and as timed ops of the recording, from which steps are found.
 */
#ifndef MT_SNAPSHOT_REGIONS_H
#define MT_SNAPSHOT_REGIONS_H

#include "formats/snapshot_objects.h"

struct mt_snap_regions {
    MT_VEC(struct mt_snap_region {
        uint32_t name; /* string of the pickle */
        uint32_t op;   /* of thread 0 */
        uint32_t node;
    })
    open; /* outermost first */
};

/* A region begins or ends. An end without a beginning is counted in MT_NOTE_UNMATCHED_BE. */
void mt_snap_region_mark(struct mt_snap_regions *g, struct mt_snap_paths *paths,
                         struct mt_recording *rec, const struct mt_strtab *strings, uint32_t name,
                         bool start, int64_t t_ns);

/* Ends what is still open. */
void mt_snap_regions_end(struct mt_snap_regions *g, struct mt_recording *rec, int64_t t_ns);

/* The node of the innermost region, MT_NONE = none. */
static inline uint32_t mt_snap_region_of(const struct mt_snap_regions *g)
{
    return g->open.n ? g->open.v[g->open.n - 1].node : MT_NONE;
}

#endif
