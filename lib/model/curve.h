/*
 * curve.h - the level of a device over time in a few bytes a change: chunks of changes, packed,
 * each with its extremes beside it. What needs the extremes only never unpacks them.
 *
 * Packed, a change is four unsigned LEB128 numbers: records since the change before (or since
 * first_record), nanoseconds since it (or since first_ns), its bytes as zigzag (2 b, or -2 b - 1 of
 * what is freed), and where its block was allocated. Records that change nothing are left out, but
 * for the first and the last look at a process: changes of 0 bytes.
 */
#ifndef MT_CURVE_H
#define MT_CURVE_H

#include "lib/base/mem.h"
#include <stdbool.h>

#define MT_CHUNK_CHANGES 448 /* of a full chunk: two of them mostly fill a page of 8 KiB */

struct mt_level {
    int64_t t_ns;    /* never falls */
    int64_t level_b; /* after the record */
    int64_t record;  /* its number in the run (alloc.alloc_record, alloc.freed_record) */
};

/* Where the block was allocated that comes or goes: MT_ORIGIN_NODE + its node, counted from the
 * run's first; outside every op; or before the recording, or unknown. To these comes, of a run of
 * node_n nodes, its category (enum mt_category) * (MT_ORIGIN_NODE + node_n). */
enum { MT_ORIGIN_OUTSIDE, MT_ORIGIN_BEFORE, MT_ORIGIN_NODE };

struct mt_change {
    struct mt_level level; /* after it */
    int64_t bytes;
    uint32_t origin;
};

/* Consecutive changes of one device. */
struct mt_usage_chunk {
    uint16_t device;
    int64_t change_n, start_b;      /* start_b: level before the first */
    int64_t first_record, first_ns; /* of the first change */
    struct mt_level min, max, last; /* the first of the lowest and of the highest levels */
    size_t at, bytes;               /* where it stands in the curve's `packed` */
};

/* The chunks of all devices of a run, those of one device in order of time. Zero-initialise. */
struct mt_curve {
    MT_VEC(struct mt_usage_chunk) chunks;
    struct mt_buf packed;
};
void mt_curve_free(struct mt_curve *c);

/* Packs the changes of one device, whose level before them is start_b, one by one; then the rest.
 * Several may be under way at once. */
struct mt_packer {
    struct mt_usage_chunk now;
    struct mt_buf packed;
};
void mt_packer_start(struct mt_packer *p, uint16_t device, int64_t start_b);
void mt_packer_add(struct mt_packer *p, struct mt_curve *c, int64_t record, int64_t t_ns,
                   int64_t bytes, uint32_t origin);
/* The same of a record that changes nothing, and is kept. */
void mt_packer_look(struct mt_packer *p, struct mt_curve *c, int64_t record, int64_t t_ns);
void mt_packer_end(struct mt_packer *p, struct mt_curve *c);

/*
 * Calls use() for each change of a packed chunk; s gives its start. False when
 * the bytes are no such chunk: then what came before the damage has been used.
 */
typedef void mt_change_use(void *closure, const struct mt_change *change);
bool mt_usage_chunk_unpack(const struct mt_usage_chunk *s, const uint8_t *packed, size_t n,
                           mt_change_use *use, void *closure);

/* A list of numbers, each larger than the one before, packed as LEB128 differences. */
void mt_pack_numbers(struct mt_buf *out, const uint32_t *v, size_t n);
/* The next one after *number (start with *number = -1 and *at = 0); false at the end, or where the
 * bytes are no such list. */
bool mt_unpack_number(const uint8_t *packed, size_t n, size_t *at, int64_t *number);

#endif
