/* snapshot.h - parts of a recording that only snapshots of an allocator tell. */
#ifndef MT_SNAPSHOT_H
#define MT_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

/* What the allocator's history holds besides memory that comes and goes: kept as it is. */
struct mt_other_event {
    int64_t t_ns, bytes;
    uint64_t address;
    uint32_t action, text; /* strings; text MT_NONE = none */
    uint32_t record_n;     /* records before it */
    uint16_t device;
};

/* Memory the allocator holds from the driver. An expandable segment that grows or shrinks is
 * another one from then on. */
struct mt_segment {
    uint64_t address;
    int64_t size, stream;
    int64_t allocated_b;                 /* of its blocks in use at the end; MT_GONE: not listed */
    int64_t alloc_ns, freed_ns;          /* MT_GONE: before the recording, never; or unknown */
    int64_t alloc_event, freed_event;    /* number of the device's event, as many as there are: by
                                           the list at the end; MT_GONE: before the first; never */
    uint32_t alloc_record, freed_record; /* the next record; MT_NONE like the events */
    uint32_t pool;                       /* string id of "0,0"; MT_NONE unknown */
    uint32_t node;                       /* where the driver was asked; MT_NONE unknown */
    uint16_t device;
    bool small, expandable;
};

/* What is known of a block beyond its lifetime. */
struct mt_block {
    uint64_t address;
    int64_t size; /* with rounding; MT_GONE = unknown */
    int64_t stream, free_requested_ns;
    uint32_t segment; /* index; MT_NONE: not alive at the end */
    uint32_t pool;    /* like the segment's */
    uint8_t state;    /* enum mt_block_state */
};
enum mt_block_state { MT_BLOCK_FREED, MT_BLOCK_ACTIVE, MT_BLOCK_PENDING_FREE };

#endif
