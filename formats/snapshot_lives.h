/*
 * snapshot_lives.h - the blocks of a device of a snapshot with the events that begin and end them,
 * and what its allocator held from the driver after one of its events.
 */
#ifndef MT_SNAPSHOT_LIVES_H
#define MT_SNAPSHOT_LIVES_H

#include "formats/snapshot_held.h"
#include "formats/snapshot_replay.h"

/* A block. It is alive after k events if from <= k and to > k. */
struct mt_snap_life {
    uint64_t address;
    int64_t size; /* as asked for */
    int64_t stream;
    uint32_t path, label, pool; /* of its allocation; MT_NONE */
    uint32_t final_block;       /* in o->blocks: alive at the end; MT_NONE */
    /* How many events there are up to the one that makes it, frees it, and requests that; from 0:
     * it is older; SIZE_MAX: there is none. */
    size_t from, to, requested;
};

struct mt_snap_lives {
    MT_VEC(struct mt_snap_life) all; /* as they come: older ones are known last */
};

/* Pairs are found as in a replay (snapshot_replay.h). Free with mt_vec_free. */
void mt_snap_lives_find(struct mt_snap_objects *o, const struct mt_snap_source *source,
                        struct mt_snap_lives *out);

/* What is held after k events: from the list at the end back. The node of a range is the path of
 * what asked for it. */
void mt_snap_held_after(struct mt_snap_objects *o, const struct mt_snap_source *source, size_t k,
                        struct mt_snap_held *out);

#endif
