/*
 * snapshot_replay.h - plays the events of an allocator snapshot forward, in the order of all
 * devices' times, and fills the recording: records paired with each other, blocks, segments,
 * samples, the call tree.
 *
 * The level of a device starts with what is older than the recording: blocks freed in it but not
 * allocated in it, and blocks in use at the end (by the file's list of segments) that were not
 * allocated in it. docs/formats/cuda-snapshot.md has the rule; the level at the end must then be
 * the sum of the blocks in use at the end, and mt_device.has_total lets the builder check that.
 */
#ifndef MT_SNAPSHOT_REPLAY_H
#define MT_SNAPSHOT_REPLAY_H

#include "formats/snapshot_objects.h"

/* One device of the file: its events (tokens), in order. */
struct mt_snap_source {
    int type;        /* c10::DeviceType number */
    int64_t number;  /* place in device_traces; key `device` of segments and annotations */
    bool any_device; /* segments are its own whatever device they name */
    const mt_pvalue *events;
    size_t event_n;
    const mt_pvalue *segments; /* tokens of all devices' segments that may be its own */
    size_t segment_n;
};

/* Whether a segment's token is the source's own. */
static inline bool mt_snap_is_own(const struct mt_snap_objects *o, const struct mt_snap_source *s,
                                  mt_pvalue token)
{
    return mt_pickle_is_token(token, MT_TOKEN_SEGMENT) &&
           (s->any_device || o->segments.v[mt_pickle_number(token)].device == s->number);
}

/* Errors: MT_EINPUT (sizes that cannot be), MT_ELIMIT. */
enum mt_status mt_snap_replay(struct mt_snap_objects *o, const struct mt_strtab *strings,
                              const struct mt_snap_source *sources, size_t n,
                              struct mt_recording *rec, struct mt_err *err);

#endif
