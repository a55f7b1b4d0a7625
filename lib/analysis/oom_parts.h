/*
 * oom_parts.h - what the files behind oom_advice.h share.
 */
#ifndef MT_OOM_PARTS_H
#define MT_OOM_PARTS_H

#include "lib/usage/segments.h"

/* A block that is asked for, and the segments that could serve it. */
struct mt_oom_place {
    const struct mt_segments *s;
    int64_t block_b; /* rounded */
    int64_t stream;
    const char *pool;
    bool small;
};

/* Rounded up to a multiple of `step`. */
int64_t mt_oom_up_to(int64_t size, int64_t step);

/* Whether the allocator would look for the block in this segment. */
bool mt_oom_serves(const struct mt_oom_place *p, const struct mt_seg *g);

/* Private pools keep what they hold as long as they are used, by a CUDA graph for instance. */
bool mt_oom_is_private(const struct mt_segments *s, const struct mt_seg *g);

/* ---- expandable segments (oom_expandable.c) ---- */

/* Whether the block would come from an expandable segment, going by those there are. */
bool mt_oom_is_expandable(const struct mt_oom_place *p);

/*
 * How many bytes would be mapped for the block, in whole units: at the lowest address with room, as
 * PyTorch chooses it. released: after every unit that is wholly free was given back. *free_b: what
 * is free before them and need not be mapped.
 */
int64_t mt_oom_to_map(const struct mt_oom_place *p, bool released, int64_t *free_b);

/* How many bytes all blocks and this one would take at least if all segments were expandable: side
 * by side, in whole units. Private pools keep what they hold. */
int64_t mt_oom_side_by_side(const struct mt_oom_place *p);

#endif
