/*
 * heap_parts.h - the insides of heap.h, shared by heap*.c.
 */
#ifndef MT_HEAP_PARTS_H
#define MT_HEAP_PARTS_H

#include "lib/model/heap.h"

#include <assert.h>

enum {
    MT_HEAP_MOMENTS = 512,     /* at most */
    MT_HEAP_FEW_MOMENTS = 64,  /* no fewer for want of memory */
    MT_HEAP_CHANGES = 1 << 18, /* of what paths hold, before there are fewer moments */
    MT_HEAP_SAMPLES = 1 << 12,
    MT_HEAP_LEVELS = 1 << 16,      /* changes of the level, before windows double, each time */
    MT_HEAP_CHECK = (1 << 16) - 1, /* events between two looks at memory */
    MT_HEAP_SUM_BITS = 60
};
#define MT_HEAP_LARGE (UINT32_C(1) << 31) /* bytes of a block that are kept apart */

/* What a path does on the device, and did so far. By events, `live` is what it holds; by moments,
 * what it holds at the one under way. */
struct mt_heap_node {
    /* What events change stands together, but no two neighbours change alike: the compiler would
     * write both at once, and a processor waits long for a part of what it just wrote. */
    int64_t live_b;
    uint64_t epoch; /* number of the highest peak when it was looked at last: while it has not
                       changed since the peak, what it holds is what it held then */
    int64_t live_n;
    uint32_t at; /* in events and moments: 1 = it is in `touched`; in thin(): place + 1 */
    uint32_t node;
    int64_t alloc_b;
    int64_t peak_b; /* held at the peak of `epoch` */
    int64_t alloc_n;
    int64_t peak_n;
    int64_t came_b;         /* of it, less what went over to others: not allocated there */
    int64_t last_b, last_n; /* held at the last moment */
};

/* Blocks of one size on one path, which has its figures when all is read. What each event changes
 * stands in front: of an array as large as kinds are many, malloc has 48 bytes of each in one line
 * of the processor's cache. */
struct mt_heap_kind {
    int64_t event_n;     /* those that allocate are as many as free, and live_n more */
    uint64_t touched_at; /* number of its last event, from 1 on; 0: none yet */
    int64_t live_n;
    int64_t bytes;
    int64_t temporary_n; /* freed by the very next event */
    int64_t peak_n;      /* held at the peak, where it was touched since; else that is live_n */
    uint32_t node;
    uint32_t at;    /* in thin(), as of paths */
    int64_t last_n; /* as of paths */
};

/* What a path, or a kind, holds changes by so much with a moment. */
struct mt_heap_change {
    uint32_t of, moment; /* slot; of a log of kinds: kind, whose size tells the bytes */
    int64_t blocks;
};

struct mt_heap {
    struct mt_recording *rec;
    uint16_t device;
    MT_VEC(struct mt_heap_node) slots; /* of nodes with figures of their own, and no call path */
    MT_VEC(uint32_t) slot_of;          /* node + 1 -> slot + 1, 0 = none yet */
    uint64_t beside;                   /* counted in rec->beside_bytes */

    /* level */
    uint64_t event_n; /* events or moments so far */
    int64_t now;
    int64_t level, peak, peak_t;
    int64_t peak_event; /* -1 = none */
    uint64_t epoch;
    struct mt_packer packer;
    struct mt_level min, max; /* of the window; record -1 = nothing happened in it */
    uint64_t window_ticks, packed_n;

    /* moments */
    MT_VEC(uint32_t) touched; /* slots, or kinds, since the last moment */
    MT_VEC(uint32_t) held;    /* by moments: slots of the last one */
    MT_VEC(struct mt_heap_change) changes;
    MT_VEC(int64_t) change_b; /* bytes of each, but of kinds */
    MT_VEC(int64_t) moments;  /* times */
    uint64_t ticks, stride;   /* since the last moment; a moment after so many */
    uint64_t moment_epoch;    /* `epoch` at the last one */
    size_t change_limit;

    /* events */
    int64_t alloc_b, alloc_n, freed_b, freed_n;
    int64_t split_n; /* blocks that came of others */
    int64_t older_b, older_n;
    struct mt_map block_of; /* address -> slot; beside it bytes, or MT_HEAP_LARGE + index: */
    MT_VEC(int64_t) large;  /* bytes; of a free entry, which of them is the next; -1: none */
    int64_t free_large;

    /* kinds */
    MT_VEC(struct mt_heap_kind) kinds;
    uint32_t last_event;     /* of a kind; odd: none that allocates */
    uint64_t moment_event_n; /* event_n at the last moment */
    bool idle_kinds;         /* at the close: some have no events, and paths without figures */

    /* sums */
    bool by_sums, has_peak_t;
    unsigned sums_known;         /* enum mt_sum_figures: of all paths */
    MT_VEC(struct mt_sums) sums; /* like slots */
    struct mt_sums sums_total;

    /* moments given */
    bool allocated_known; /* mt_heap_allocated; in alloc_b, alloc_n */
    bool by_moments, moment_open, moment_tree, peak_tree, last_tree, last_is_end, no_blocks;
    int64_t moment_total;

    /* apart by size */
    struct mt_map sized;       /* node + 1, power of two -> the node below that size */
    MT_VEC(uint32_t) sized_of; /* node below a size -> the one that it is of, + 1; MT_NONE: none */
    MT_VEC(uint32_t) chain;    /* scratch */

    uint64_t sample_n, sample_stride;
    size_t first_sample;          /* in rec->samples */
    struct mt_sample last_sample; /* kept there or not */

    struct mt_strtab extra_keys; /* node and figure -> index into extra_at */
    MT_VEC(uint32_t) extra_at;   /* index into rec->extras */
    unsigned knows_extras;       /* bits of those that came */
};

/* The error of figures that cannot be true. Returns MT_EINPUT. */
enum mt_status mt_heap_exceeds(struct mt_err *err);
/* Whether times and figures can be true (heap.h); adds to *sum. */
static inline enum mt_status mt_heap_add_to(int64_t *sum, int64_t more, struct mt_err *err)
{
    const int64_t most = (int64_t)1 << MT_HEAP_SUM_BITS;
    if (more < 0 || more > most || *sum > most - more)
        return mt_heap_exceeds(err);
    *sum += more;
    return MT_OK;
}
enum mt_status mt_heap_check_time(int64_t t, struct mt_err *err);
enum mt_status mt_heap_check_memory(struct mt_heap *h, struct mt_err *err);

/* The slot of a node, made if need be. */
static inline uint32_t mt_heap_slot(struct mt_heap *h, uint32_t node)
{
    while (h->slot_of.n <= node + 1u)
        *mt_vec_push(&h->slot_of) = 0;
    uint32_t *slot = &h->slot_of.v[node + 1u];
    if (!*slot) {
        *mt_vec_push(&h->slots) = (struct mt_heap_node){.node = node};
        *slot = (uint32_t)h->slots.n;
    }
    return *slot - 1;
}

/* A slot whose figures are about to change. */
static inline struct mt_heap_node *mt_heap_touch(struct mt_heap *h, uint32_t slot)
{
    assert(!h->kinds.n);
    struct mt_heap_node *n = &h->slots.v[slot];
    if (n->epoch != h->epoch) {
        n->peak_b = n->live_b;
        n->peak_n = n->live_n;
        n->epoch = h->epoch;
    }
    if (!n->at) {
        n->at = 1;
        *mt_vec_push(&h->touched) = slot;
    }
    return n;
}

/* The level is higher than ever, after that event. */
static inline void mt_heap_new_peak(struct mt_heap *h, int64_t level, uint64_t event)
{
    h->peak = level;
    h->peak_t = h->now;
    h->peak_event = (int64_t)event;
    h->epoch++;
}

/* An event ends something that is older than the log. */
enum mt_status mt_heap_end_older(struct mt_heap *h, int64_t bytes, struct mt_err *err);

/* Where a change of a moment is kept track of. */
static inline uint32_t *mt_heap_at(struct mt_heap *h, uint32_t of)
{
    return h->kinds.n ? &h->kinds.v[of].at : &h->slots.v[of].at;
}

/* What a node itself did goes into the recording, if it is anything; by nodes, no call path first.
 */
void mt_heap_add_stat(struct mt_heap *h, uint32_t node, const struct mt_sums *s);

/* What kinds did goes into the recording: there are no more events. */
void mt_heap_close_kinds(struct mt_heap *h);
void mt_heap_restart_kinds(struct mt_heap *h);

/* Nodes below sizes are as those that they are of have become. */
void mt_heap_settle_sizes(struct mt_heap *h);

/* Puts the level after event number `event` in the curve. */
void mt_heap_put_level(struct mt_heap *h, struct mt_level level);
/* The extremes of the window and the level now go into the curve; a new window begins. */
void mt_heap_end_window(struct mt_heap *h);
/* What `touched` holds differently from the last moment becomes a moment at h->now. */
void mt_heap_end_moment(struct mt_heap *h);
/* The same of each that `touched` has, of a log of kinds. */
void mt_heap_push_kinds(struct mt_heap *h);
/* Adds a change of what a slot, or a kind, holds to the moment that mt_heap_push_moment will make.
 */
void mt_heap_push_change(struct mt_heap *h, uint32_t of, int64_t bytes, int64_t blocks);
void mt_heap_push_moment(struct mt_heap *h, int64_t t);
/* What changes with the moments goes into the history, whose moment `first` is the first. */
void mt_heap_put_changes(struct mt_heap *h, int64_t first);
/* By moments: the one under way is complete. */
enum mt_status mt_heap_end_held(struct mt_heap *h, struct mt_err *err);

#endif
