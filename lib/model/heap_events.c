/* Events of a heap log: what each path holds, and the highest level, without a row per event. */
#include "lib/model/heap_parts.h"

/* Most logs are not apart by size. */
static inline uint32_t sized(struct mt_heap *h, uint32_t node, int64_t bytes)
{
    return h->rec->split_sizes ? mt_heap_sized(h, node, bytes) : node;
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

static inline enum mt_status alloc_in(struct mt_heap *h, uint32_t slot, int64_t bytes,
                                      struct mt_err *err)
{
    MT_TRY(mt_heap_add_to(&h->alloc_b, bytes, err));
    struct mt_heap_node *n = mt_heap_touch(h, slot);
    n->alloc_b += bytes;
    n->alloc_n++;
    n->live_b += bytes;
    n->live_n++;
    h->alloc_n++;
    h->level += bytes;
    if (h->level > h->peak)
        mt_heap_new_peak(h, h->level, h->event_n);
    return count(h, err);
}

enum mt_status mt_heap_alloc(struct mt_heap *h, uint32_t node, int64_t bytes, struct mt_err *err)
{
    return alloc_in(h, mt_heap_slot(h, sized(h, node, bytes)), bytes, err);
}

enum mt_status mt_heap_end_older(struct mt_heap *h, int64_t bytes, struct mt_err *err)
{
    mt_rec_note(h->rec, MT_NOTE_BEFORE, -1, bytes);
    return count(h, err);
}

static inline enum mt_status release_in(struct mt_heap *h, uint32_t slot, int64_t bytes, int blocks,
                                        struct mt_err *err)
{
    const struct mt_heap_node *before = &h->slots.v[slot];
    if (before->live_n + blocks < 0 || before->live_b < bytes)
        return mt_heap_end_older(h, bytes, err);
    struct mt_heap_node *n = mt_heap_touch(h, slot);
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

enum mt_status mt_heap_older(struct mt_heap *h, uint32_t node, int64_t bytes, struct mt_err *err)
{
    MT_TRY(mt_heap_add_to(&h->older_b, bytes, err));
    struct mt_heap_node *n = mt_heap_touch(h, mt_heap_slot(h, sized(h, node, bytes)));
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
        struct mt_heap_node *n = mt_heap_touch(h, mt_heap_slot(h, out ? from : to));
        n->came_b += out ? -bytes : bytes;
        n->live_b += out ? -bytes : bytes;
        n->live_n += out ? -1 : 1;
    }
    return count(h, err);
}

/* ---- by address ---- */

/* Bytes as they are kept beside an address. */
static uint32_t keep(struct mt_heap *h, int64_t bytes)
{
    if ((uint64_t)bytes < MT_HEAP_LARGE)
        return (uint32_t)bytes;
    int64_t at = h->free_large;
    if (at < 0) {
        at = (int64_t)h->large.n;
        mt_vec_push(&h->large);
    } else {
        h->free_large = h->large.v[at];
    }
    h->large.v[at] = bytes;
    return MT_HEAP_LARGE + (uint32_t)at;
}

static int64_t unkeep(struct mt_heap *h, uint32_t kept)
{
    if (kept < MT_HEAP_LARGE)
        return kept;
    int64_t at = kept - MT_HEAP_LARGE, bytes = h->large.v[at];
    h->large.v[at] = h->free_large;
    h->free_large = at;
    return bytes;
}

bool mt_heap_block_at(const struct mt_heap *h, uint64_t addr, uint32_t *node)
{
    uint32_t slot = mt_map_get(&h->block_of, addr);
    if (slot == MT_MAP_NONE)
        return false;
    *node = h->slots.v[slot].node;
    return true;
}

enum mt_status mt_heap_alloc_at(struct mt_heap *h, uint64_t addr, uint32_t node, int64_t bytes,
                                struct mt_err *err)
{
    if (!addr)
        return MT_OK;
    uint32_t slot = mt_heap_slot(h, sized(h, node, bytes));
    struct mt_map_slot *block = mt_map_slot_at(&h->block_of, addr), old = *block;
    block->value = slot;
    block->beside = keep(h, bytes);
    if (old.value != MT_MAP_NONE) {
        int64_t old_bytes = unkeep(h, old.beside);
        mt_rec_note(h->rec, MT_NOTE_REPLACED, -1, old_bytes);
        MT_TRY(release_in(h, old.value, old_bytes, -1, err));
    }
    return alloc_in(h, slot, bytes, err);
}

enum mt_status mt_heap_free_at(struct mt_heap *h, uint64_t addr, struct mt_err *err)
{
    if (!addr)
        return MT_OK;
    struct mt_map_slot old = mt_map_slot_take(&h->block_of, addr);
    if (old.value == MT_MAP_NONE)
        return mt_heap_end_older(h, 0, err);
    return release_in(h, old.value, unkeep(h, old.beside), -1, err);
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
    mt_lull_add(&h->rec->lull, t);
    return moment ? mt_heap_check_memory(h, err) : MT_OK;
}

void mt_heap_restart(struct mt_heap *h)
{
    for (size_t i = 0; i < h->slots.n; i++)
        h->slots.v[i] = (struct mt_heap_node){.node = h->slots.v[i].node};
    mt_heap_restart_kinds(h);
    h->large.n = 0;
    h->free_large = -1;
    mt_map_free(&h->block_of);
    h->block_of.near = true;
    mt_buf_free(&h->packer.packed);
    mt_packer_start(&h->packer, h->device, 0);
    h->rec->history.curve.chunks.n = 0;
    mt_buf_clear(&h->rec->history.curve.packed);
    h->touched.n = h->changes.n = h->change_b.n = h->moments.n = 0;
    h->rec->event_n -= h->event_n;
    h->rec->notes[MT_NOTE_BEFORE] = h->rec->notes[MT_NOTE_REPLACED] = (struct mt_note){0};
    h->event_n = h->ticks = h->packed_n = 0;
    h->moment_epoch = h->epoch;
    h->stride = 1;
    h->level = h->peak = h->peak_t = 0;
    h->min.record = h->peak_event = -1;
    h->alloc_b = h->alloc_n = h->freed_b = h->freed_n = h->split_n = h->older_b = h->older_n = 0;
}
