/* Events of a heap log: what each path holds, and the highest level, without a row per event. */
#include "lib/model/heap_parts.h"

/* Most logs are not apart by size. */
static inline uint32_t sized(struct mt_heap *h, uint32_t node, int64_t bytes)
{
    return h->rec->split_sizes ? mt_heap_sized(h, node, bytes) : node;
}

/* A slot whose figures are about to change. */
static inline struct mt_heap_node *touch(struct mt_heap *h, uint32_t slot)
{
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

static inline void window(struct mt_heap *h, int64_t event)
{
    struct mt_level l = {h->now, h->level, event};
    if (h->min.record < 0)
        h->min = h->max = l;
    else if (h->level > h->max.level_b)
        h->max = l;
    else if (h->level < h->min.level_b)
        h->min = l;
}

/* An event has happened. */
static inline enum mt_status count(struct mt_heap *h, struct mt_err *err)
{
    h->rec->event_n++;
    window(h, (int64_t)h->event_n++);
    return h->event_n & MT_HEAP_CHECK ? MT_OK : mt_heap_check_memory(h, err);
}

/* The level is higher than ever. */
static inline void new_peak(struct mt_heap *h, int64_t level, uint64_t event)
{
    h->peak = level;
    h->peak_t = h->now;
    h->peak_event = (int64_t)event;
    h->epoch++;
}

static inline enum mt_status alloc_in(struct mt_heap *h, uint32_t slot, int64_t bytes,
                                      struct mt_err *err)
{
    MT_TRY(mt_heap_add_to(&h->alloc_b, bytes, err));
    struct mt_heap_node *n = touch(h, slot);
    n->alloc_b += bytes;
    n->alloc_n++;
    n->live_b += bytes;
    n->live_n++;
    h->alloc_n++;
    h->level += bytes;
    if (h->level > h->peak)
        new_peak(h, h->level, h->event_n);
    return count(h, err);
}

enum mt_status mt_heap_alloc(struct mt_heap *h, uint32_t node, int64_t bytes, struct mt_err *err)
{
    return alloc_in(h, mt_heap_slot(h, sized(h, node, bytes)), bytes, err);
}

/* Something ends that is older than the log. */
static enum mt_status older(struct mt_heap *h, int64_t bytes, struct mt_err *err)
{
    mt_rec_note(h->rec, MT_NOTE_BEFORE, -1, bytes);
    return count(h, err);
}

static inline enum mt_status release_in(struct mt_heap *h, uint32_t slot, int64_t bytes, int blocks,
                                        struct mt_err *err)
{
    const struct mt_heap_node *before = &h->slots.v[slot];
    if (before->live_n + blocks < 0 || before->live_b < bytes)
        return older(h, bytes, err);
    struct mt_heap_node *n = touch(h, slot);
    n->live_b -= bytes;
    n->live_n += blocks;
    h->freed_b += bytes;
    *(blocks > 0 ? &h->split_n : &h->freed_n) += blocks > 0 ? blocks : -blocks;
    h->level -= bytes;
    return count(h, err);
}

enum mt_status mt_heap_release(struct mt_heap *h, uint32_t node, int64_t bytes, int blocks,
                               struct mt_err *err)
{
    node = blocks < 0 ? sized(h, node, bytes) : node;
    return release_in(h, mt_heap_slot(h, node), bytes, blocks, err);
}

enum mt_status mt_heap_dealloc(struct mt_heap *h, uint32_t node, int64_t bytes, struct mt_err *err)
{
    return mt_heap_release(h, node, bytes, -1, err);
}

uint32_t mt_heap_place(struct mt_heap *h, uint32_t node, int64_t bytes)
{
    return mt_heap_slot(h, sized(h, node, bytes));
}

enum mt_status mt_heap_event(struct mt_heap *h, const struct mt_heap_event *e, struct mt_err *err)
{
    return e->frees ? release_in(h, e->place, e->bytes, -1, err)
                    : alloc_in(h, e->place, e->bytes, err);
}

/* ---- many at once ---- */

/* Events of a run, up to one that is not as most are: it frees what its path does not hold, or is
 * very large. All that changes with each is in registers, and there is no branch between
 * allocations and frees: which comes next is not to be guessed. Returns how many. */
static size_t run_events(struct mt_heap *h, const struct mt_heap_event *v, size_t n)
{
    const uint64_t most = (uint64_t)1 << (MT_HEAP_SUM_BITS - MT_HEAP_BATCH_BITS);
    const bool first = h->min.record < 0;
    int64_t high = first ? INT64_MIN : h->max.level_b, low = first ? INT64_MAX : h->min.level_b;
    int64_t level = h->level, all_freed_b = 0, all_freed_n = 0;
    size_t i;
    for (i = 0; i < n; i++) {
        const int64_t bytes = v[i].bytes, frees = v[i].frees, freed_b = bytes & -frees;
        const struct mt_heap_node *before = &h->slots.v[v[i].place];
        if (before->live_n < frees || before->live_b < freed_b || (uint64_t)bytes > most)
            break;
        struct mt_heap_node *s = touch(h, v[i].place);
        s->alloc_b += bytes - freed_b;
        s->alloc_n += 1 - frees;
        s->live_b += bytes - 2 * freed_b;
        s->live_n += 1 - 2 * frees;
        all_freed_b += freed_b;
        all_freed_n += frees;
        level += bytes - 2 * freed_b;
        if (level > high) {
            high = level;
            h->max = (struct mt_level){h->now, level, (int64_t)(h->event_n + i)};
            if (level > h->peak)
                new_peak(h, level, h->event_n + i);
        }
        if (level < low) {
            low = level;
            h->min = (struct mt_level){h->now, level, (int64_t)(h->event_n + i)};
        }
    }
    h->alloc_b += level - h->level + all_freed_b;
    h->alloc_n += (int64_t)i - all_freed_n;
    h->freed_b += all_freed_b;
    h->freed_n += all_freed_n;
    h->level = level;
    h->event_n += i;
    h->rec->event_n += i;
    return i;
}

enum mt_status mt_heap_events(struct mt_heap *h, const struct mt_heap_event *v, size_t n,
                              size_t *done, struct mt_err *err)
{
    enum { FEW = 1 << 8 }; /* slots that stay in the processor's cache; others are fetched before */
    const uint64_t before = h->event_n;
    for (size_t i = 0; i < n && h->slots.n > FEW; i++) {
        const struct mt_heap_node *s = &h->slots.v[v[i].place];
        __builtin_prefetch(&s->live_b, 1);
        __builtin_prefetch(&s->alloc_n, 1);
    }
    for (*done = 0; *done < n;) {
        /* where so much is allocated that the sum may be too large, one by one */
        if (h->alloc_b >> (MT_HEAP_SUM_BITS - 1) == 0)
            *done += run_events(h, v + *done, n - *done);
        if (*done < n) {
            MT_TRY(mt_heap_event(h, &v[*done], err));
            ++*done;
        }
    }
    return (before ^ h->event_n) <= MT_HEAP_CHECK ? MT_OK : mt_heap_check_memory(h, err);
}

enum mt_status mt_heap_older(struct mt_heap *h, uint32_t node, int64_t bytes, struct mt_err *err)
{
    MT_TRY(mt_heap_add_to(&h->older_b, bytes, err));
    struct mt_heap_node *n = touch(h, mt_heap_slot(h, sized(h, node, bytes)));
    n->came_b += bytes;
    n->live_b += bytes;
    n->live_n++;
    h->older_n++;
    h->level = h->peak = h->older_b;
    h->epoch++;
    h->rec->event_n++;
    mt_packer_start(&h->packer, h->device, h->older_b);
    return mt_heap_check_memory(h, err);
}

enum mt_status mt_heap_move(struct mt_heap *h, uint32_t from, uint32_t to, int64_t bytes,
                            struct mt_err *err)
{
    from = sized(h, from, bytes);
    to = sized(h, to, bytes);
    uint32_t slot = mt_heap_slot(h, from);
    const struct mt_heap_node *before = &h->slots.v[slot];
    if (from == to)
        return count(h, err);
    if (bytes < 0 || before->live_b < bytes || before->live_n < 1) {
        mt_rec_note(h->rec, MT_NOTE_SKIPPED, -1, bytes);
        return count(h, err);
    }
    for (int out = 1; out >= 0; out--) {
        struct mt_heap_node *n = touch(h, mt_heap_slot(h, out ? from : to));
        n->came_b += out ? -bytes : bytes;
        n->live_b += out ? -bytes : bytes;
        n->live_n += out ? -1 : 1;
    }
    return count(h, err);
}

/* ---- by address ---- */

static uint32_t new_block(struct mt_heap *h)
{
    uint32_t block = h->free_block;
    if (block == MT_NONE) {
        block = (uint32_t)h->blocks.n;
        mt_vec_push(&h->blocks);
    } else {
        h->free_block = h->blocks.v[block].next;
    }
    return block;
}

/* Takes away the block at an address; false: none lies there. */
static bool take_block(struct mt_heap *h, uint64_t addr, struct mt_heap_block *out)
{
    uint32_t block = mt_map_take(&h->block_of, addr);
    if (block == MT_MAP_NONE)
        return false;
    *out = h->blocks.v[block];
    h->blocks.v[block].next = h->free_block;
    h->free_block = block;
    return true;
}

bool mt_heap_block_at(const struct mt_heap *h, uint64_t addr, uint32_t *node)
{
    uint32_t block = mt_map_get(&h->block_of, addr);
    if (block == MT_MAP_NONE)
        return false;
    *node = h->blocks.v[block].node;
    return true;
}

enum mt_status mt_heap_alloc_at(struct mt_heap *h, uint64_t addr, uint32_t node, int64_t bytes,
                                struct mt_err *err)
{
    if (!addr)
        return MT_OK;
    node = sized(h, node, bytes);
    uint32_t *block = mt_map_at(&h->block_of, addr);
    bool replaces = *block != MT_MAP_NONE;
    if (!replaces)
        *block = new_block(h);
    struct mt_heap_block *b = &h->blocks.v[*block], old = *b;
    *b = (struct mt_heap_block){bytes, node, MT_NONE};
    if (replaces) {
        mt_rec_note(h->rec, MT_NOTE_REPLACED, -1, old.bytes);
        MT_TRY(mt_heap_dealloc(h, old.node, old.bytes, err));
    }
    return mt_heap_alloc(h, node, bytes, err);
}

enum mt_status mt_heap_free_at(struct mt_heap *h, uint64_t addr, struct mt_err *err)
{
    struct mt_heap_block old;
    if (!addr)
        return MT_OK;
    if (!take_block(h, addr, &old))
        return older(h, 0, err);
    return mt_heap_dealloc(h, old.node, old.bytes, err);
}

enum mt_status mt_heap_realloc_at(struct mt_heap *h, uint64_t old, uint64_t addr, uint32_t node,
                                  int64_t bytes, struct mt_err *err)
{
    if (!addr && bytes)
        return MT_OK;
    MT_TRY(mt_heap_free_at(h, old, err));
    return mt_heap_alloc_at(h, addr, node, bytes, err);
}

/* ---- time ---- */

enum mt_status mt_heap_tick(struct mt_heap *h, int64_t t, struct mt_err *err)
{
    MT_TRY(mt_heap_check_time(t, err));
    if (t < h->now) {
        mt_rec_note(h->rec, MT_NOTE_CLOCK, -1, 0);
        return MT_OK;
    }
    if (t == h->now)
        return MT_OK;
    bool window = ++h->window_ticks >> (h->packed_n / MT_HEAP_LEVELS),
         moment = ++h->ticks >= h->stride;
    if (window)
        mt_heap_end_window(h);
    if (moment)
        mt_heap_end_moment(h);
    h->now = t;
    return moment ? mt_heap_check_memory(h, err) : MT_OK;
}

void mt_heap_restart(struct mt_heap *h)
{
    for (size_t i = 0; i < h->slots.n; i++)
        h->slots.v[i] = (struct mt_heap_node){.node = h->slots.v[i].node};
    for (size_t i = 0; i < h->blocks.n; i++)
        h->blocks.v[i].next = (uint32_t)i + 1 < h->blocks.n ? (uint32_t)i + 1 : MT_NONE;
    h->free_block = h->blocks.n ? 0 : MT_NONE;
    mt_map_free(&h->block_of);
    h->block_of.near = true;
    mt_buf_free(&h->packer.packed);
    mt_packer_start(&h->packer, h->device, 0);
    h->rec->history.curve.chunks.n = 0;
    mt_buf_clear(&h->rec->history.curve.packed);
    h->touched.n = h->changes.n = h->moments.n = 0;
    h->rec->event_n -= h->event_n;
    h->rec->notes[MT_NOTE_BEFORE] = h->rec->notes[MT_NOTE_REPLACED] = (struct mt_note){0};
    h->event_n = h->ticks = h->packed_n = 0;
    h->stride = 1;
    h->level = h->peak = h->peak_t = 0;
    h->min.record = h->peak_event = -1;
    h->alloc_b = h->alloc_n = h->freed_b = h->freed_n = h->split_n = h->older_b = h->older_n = 0;
}
