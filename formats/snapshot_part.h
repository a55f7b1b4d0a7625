/*
 * snapshot_part.h - what of a device lies in a window of a snapshot: its events, its blocks, the
 * regions around them.
 */
#ifndef MT_SNAPSHOT_PART_H
#define MT_SNAPSHOT_PART_H

#include "formats/snapshot_cut.h"
#include "formats/snapshot_lives.h"
#include "formats/snapshot_regions.h"

struct mt_snap_part {
    const struct mt_snap_source *src;
    size_t first, end; /* its first event in the window, and behind it */
    /* All of them; a block without a label has the region that it was allocated in. */
    struct mt_snap_lives lives;
    struct mt_snap_marks marks; /* all annotations, in order of time, paired */
};

/* Fills all but src of the parts of a file. Free each then. */
void mt_snap_parts_find(struct mt_snap_objects *o, const struct mt_snap_window *window,
                        struct mt_snap_part *parts, size_t n);
void mt_snap_part_free(struct mt_snap_part *part);

#endif
