/*
 * segments.h - what an allocator holds from the driver, with the blocks and the free stretches in
 * it: at the end of a snapshot, or after any record of it.
 */
#ifndef MT_SEGMENTS_H
#define MT_SEGMENTS_H

#include "lib/base/mem.h"
#include "lib/base/strtab.h"
#include "lib/run/runs.h"
#include "lib/usage/alloc_settings.h"

/* Blocks and segments are in order of address. */
struct mt_seg_block {
    int64_t at;     /* offset in the segment */
    int64_t size_b; /* with rounding; up to the next 512 B where it is unknown */
    int64_t bytes_b;
    int64_t alloc_ns; /* INT64_MIN: before the recording */
    uint32_t site;    /* string: where it was allocated */
    bool pending;     /* let go of by the program, still in use by a stream */
};

struct mt_seg {
    uint64_t address;
    int64_t size_b, stream, alloc_ns; /* allocated INT64_MIN: before the recording */
    uint32_t pool;                    /* string; MT_SEG_DEFAULT_POOL, or a private one */
    bool small, expandable;
    uint32_t first_block, block_n;
    int64_t used_b, requested_b; /* of its blocks */
    int64_t pending_b;           /* of used_b, what the program has let go of */
    int64_t hole_b, hole_n, largest_hole_b;
    int64_t units_b; /* of its holes, whole units of mt_seg_unit, counted from its begin */
};

#define MT_SEG_DEFAULT_POOL "0,0"

struct mt_segments {
    struct mt_alloc_settings settings;
    struct mt_strtab strings;
    MT_VEC(struct mt_seg) all;
    MT_VEC(struct mt_seg_block) blocks;
    int64_t lost_b, lost_n; /* blocks in no segment that the file knows of */
    int64_t size_b, used_b, requested_b, pending_b;
    int64_t split_b, hole_n;    /* free in segments partly in use, and in how many stretches */
    int64_t unused_b, unused_n; /* of segments nothing of which is in use */
    int64_t largest_hole_b;
};

/* What an expandable segment grows by and gives back: an allocator maps such units, and unmaps
 * those that are wholly free. */
int64_t mt_seg_unit(const struct mt_segments *s, bool small);

/* A moment of a device's history. Segments come and go between records, in the order of events. */
struct mt_seg_moment {
    int64_t record; /* blocks are those after it; -1 = before the first */
    int64_t event;  /* segments are those after it; -1 = before the first */
};
#define MT_SEG_AT_END ((struct mt_seg_moment){MT_AT_END, MT_AT_END})

/* Zeroed *out is fine to free. */
enum mt_status mt_segments_load(struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *device, struct mt_seg_moment moment,
                                struct mt_segments *out, struct mt_err *err);
void mt_segments_free(struct mt_segments *s);

/* A free stretch of a segment; zeroed: none yet. */
struct mt_seg_hole {
    int64_t at, size_b;        /* from the segment's begin */
    int64_t units_at, units_b; /* the whole units in it; units_b 0: none */
    uint32_t next_block;       /* in the segment */
    int64_t used_to;
};
/* The next free stretch, in order of addresses; false: no more. */
bool mt_seg_next_hole(const struct mt_segments *s, const struct mt_seg *g,
                      struct mt_seg_hole *hole);

/* Bytes of blocks by site. */
struct mt_seg_site {
    uint32_t site;
    int64_t bytes, n;
    int64_t pending_b; /* of these, what the program has let go of */
};
struct mt_seg_sites {
    MT_VEC(struct mt_seg_site) rows; /* most bytes first */
};
/* Of the blocks from..to (numbers in s->blocks, `to` not included). */
void mt_seg_sites(const struct mt_segments *s, size_t from, size_t to, struct mt_seg_sites *out);

/* How much of each n-th part of the segment its blocks take, from 0 to 1. */
void mt_seg_shares(const struct mt_segments *s, const struct mt_seg *g, int n, double *shares);

/* Appends an SVG picture: a bar per segment on a common scale, blocks coloured by site. It is no
 * higher than a page: many segments stand side by side, and what is too much is summed up. */
void mt_segments_svg(struct mt_buf *out, const struct mt_segments *s, const char *title);

#endif
