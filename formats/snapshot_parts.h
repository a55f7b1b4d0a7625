/*
 * snapshot_parts.h - the replay's insides, shared by snapshot_replay.c (events), snapshot_marks.c
 * (regions) and snapshot_segments.c (what is held from the driver, and the final list of it).
 */
#ifndef MT_SNAPSHOT_PARTS_H
#define MT_SNAPSHOT_PARTS_H

#include "formats/snapshot_held.h"
#include "formats/snapshot_regions.h"
#include "formats/snapshot_replay.h"

struct mt_snap_device {
    const struct mt_snap_source *src;
    uint16_t device; /* of the recording */
    size_t at;       /* next event */
    int64_t last_ns;
    bool by_request;       /* the file has no free_completed: free_requested frees, ... */
    struct mt_map pending; /* ... but not these: address -> its last event (mt_snap_find_pending) */
    int64_t reserved_b, used_at_end_b, start_b;
    struct mt_map live;       /* address -> record that allocated it */
    struct mt_snap_held held; /* each range a segment of the recording, once they are followed */
    int64_t event;            /* the one being played; MT_GONE: before the first */
    struct mt_snap_replayer *replayer;
    struct mt_snap_marks annotations, user_defined;
    struct mt_snap_regions regions;
    const struct mt_snap_regions *around; /* its own, or those of the only device that has any */
};

struct mt_snap_replayer {
    struct mt_snap_objects *o;
    const struct mt_strtab *strings;
    struct mt_recording *rec;
    struct mt_snap_device *devices;
    size_t device_n;
    bool timed;
    bool one_moment;       /* no history: blocks are those of the list at the end */
    int64_t total_b;       /* all sizes seen */
    uint64_t reader_bytes; /* memory in use before the replay, of this path_bytes for paths */
    uint64_t path_bytes;
    MT_VEC(uint32_t) block_of; /* record -> block */
    struct mt_map labels;      /* string of the pickle -> label of the recording */
    struct mt_map pools;       /* the same -> string of the recording */
};

#define MT_SNAP_SMALL_B ((int64_t)2 << 20) /* PyTorch's segments for blocks of up to 1 MiB */

#define MT_SNAP_CLOSED (MT_NONE - 1) /* an address where nothing is now */

static inline const struct mt_snap_event *mt_snap_event_at(const struct mt_snap_replayer *r,
                                                           const struct mt_snap_device *d, size_t i)
{
    return &r->o->events.v[mt_pickle_number(d->src->events[i])];
}

/* The time of the device's next event: it does not step back, and is its number where there are
 * no times. */
int64_t mt_snap_next_time(const struct mt_snap_replayer *r, const struct mt_snap_device *d);

/* Finds the marks of a device's regions; last_ns is the time of its first event. */
void mt_snap_find_marks(struct mt_snap_replayer *r, struct mt_snap_device *d);

/* Marks that are due until then (mt_snap_marks_pair), on all devices. */
void mt_snap_mark_regions(struct mt_snap_replayer *r, int64_t t_ns);

/* torch 2.4 nightlies: of an event that marks a region, its only frame. Its file is the region's
 * name, its name the stage. NULL: no such event. */
const struct mt_snap_frame *mt_snap_user_defined(const struct mt_snap_replayer *r,
                                                 const struct mt_snap_event *e);

/* Counts a size against what all may add up to. Errors: MT_EINPUT. */
enum mt_status mt_snap_count_size(struct mt_snap_replayer *r, int64_t size, struct mt_err *err);

/* The recording's string of a pool of the pickle; MT_NONE stays. */
uint32_t mt_snap_pool(struct mt_snap_replayer *r, uint32_t pool);

/* Adds a block to the recording, freed and of unknown size until the caller says otherwise. pool:
 * of the pickle; MT_NONE: none. Borrowed until the next one is added. */
struct mt_block *mt_snap_add_block(struct mt_snap_replayer *r, uint64_t address, int64_t stream,
                                   uint32_t pool);

/* The record that allocated the block live at an address; MT_NONE = none. */
static inline uint32_t mt_snap_live_at(const struct mt_snap_device *d, uint64_t addr)
{
    uint32_t i = mt_map_get(&d->live, addr);
    return i == MT_SNAP_CLOSED ? MT_NONE : i;
}

/* Finds the blocks of the list at the end whose free is requested and not completed, and the last
 * event that allocates or frees at their address. */
void mt_snap_find_pending(struct mt_snap_replayer *r, struct mt_snap_device *d);

/* From now on what is held makes segments of the recording, and reserved_b is their sum. */
void mt_snap_follow_held(struct mt_snap_replayer *r, struct mt_snap_device *d);

/* Takes in the device's segments and blocks at the end: sizes, states, what is older. */
enum mt_status mt_snap_end_device(struct mt_snap_replayer *r, struct mt_snap_device *d,
                                  struct mt_err *err);

#endif
