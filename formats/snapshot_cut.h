/*
 * snapshot_cut.h - a part of an allocator snapshot as a snapshot: the events of a window, with what
 * was alive and held when it began and ended.
 *
 * A device's first events are an allocation for each block that is alive when the window begins, so
 * that its curve begins at the right level; unless the window begins with the recording. Its
 * segments and blocks are those at the end of the window. The file does not say how blocks that
 * were freed later were rounded: up to the next 512 B.
 */
#ifndef MT_SNAPSHOT_CUT_H
#define MT_SNAPSHOT_CUT_H

#include "formats/snapshot_replay.h"
#include <stdio.h>

/* Times of events are ns as in a recording: since the Unix epoch, or the number of the event where
 * the file knows no times. What is at to_ns is not in it. */
struct mt_snap_window {
    int64_t from_ns, to_ns; /* INT64_MIN, INT64_MAX: all */
};

/* Reads a snapshot and writes the part of it; the pickle has protocol 4. Errors: those of reading
 * (MT_EINPUT, MT_ELIMIT, MT_EIO); of output they are left to ferror. */
enum mt_status mt_snapshot_cut(struct mt_stream *in, const struct mt_snap_window *window, FILE *out,
                               struct mt_err *err);

/* ---- for the reader, which calls it with what it found ---- */

struct mt_snap_cut {
    struct mt_snap_window window;
    FILE *out;
};

/* settings: allocator_settings of the file, 0: none; device_n: how many lists of events it has. */
void mt_snap_cut_write(const struct mt_snap_cut *cut, struct mt_snap_objects *o,
                       struct mt_pickle *p, const struct mt_snap_source *sources, size_t n,
                       mt_pvalue settings, size_t device_n);

#endif
