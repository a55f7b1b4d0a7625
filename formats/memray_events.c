/* Files of memray with every allocation and free. */
#include "formats/memray_parts.h"

#include <string.h>

/* By number, and, as files since version 12 count them, by theirs. */
static enum mt_act act_of(int version, unsigned allocator)
{
    enum {
        A = MT_MR_ALLOCATES,
        F = MT_MR_FREES,
        M = MT_MR_MAPS,
        U = MT_MR_UNMAPS,
        X = MT_MR_UNKNOWN
    };
    static const uint8_t first[] = {X, A, F, A, A, A, A, A, A, A, M, U, A, A, A, F},
                         codes[] = {X, F, A, A, A, F, A, A, A, A, A, A, A, A, M, U};
    if (version < MT_MR_CODES)
        return allocator < MT_ARRAY_LEN(first) ? first[allocator] : A;
    return allocator < MT_ARRAY_LEN(codes) ? codes[allocator] : X;
}

/* ---- what is mapped ---- */

static uint64_t end_of(uint64_t begin, uint64_t bytes)
{
    return bytes > UINT64_MAX - begin ? UINT64_MAX : begin + bytes;
}

/* What of a range is not unmapped stays: none of it, one part, or two. */
static enum mt_status unmap_of(struct mt_memray *r, struct mt_range was, uint64_t begin,
                               uint64_t end, struct mt_err *err)
{
    uint64_t from = begin > was.begin ? begin : was.begin, to = end < was.end ? end : was.end;
    int blocks = -1;
    if (was.begin < from) {
        mt_ranges_add(&r->mapped, (struct mt_range){was.begin, from, was.value});
        blocks++;
    }
    if (to < was.end) {
        mt_ranges_add(&r->mapped, (struct mt_range){to, was.end, was.value});
        blocks++;
    }
    return mt_heap_release(r->heap, was.value, (int64_t)(to - from), blocks, err);
}

static enum mt_status unmap(struct mt_memray *r, uint64_t begin, uint64_t bytes, struct mt_err *err)
{
    uint64_t end = end_of(begin, bytes);
    struct mt_range was;
    while (bytes && mt_ranges_take(&r->mapped, begin, end, &was))
        MT_TRY(unmap_of(r, was, begin, end, err));
    return MT_OK;
}

static enum mt_status map(struct mt_memray *r, uint32_t node, uint64_t begin, uint64_t bytes,
                          struct mt_err *err)
{
    node = mt_heap_sized(r->heap, node, (int64_t)bytes);
    MT_TRY(mt_heap_alloc(r->heap, node, (int64_t)bytes, err));
    if (bytes)
        mt_ranges_add(&r->mapped, (struct mt_range){begin, end_of(begin, bytes), node});
    return MT_OK;
}

/* ---- what is freed at once: with at most one more allocation of the thread before ---- */

static void remember(struct mt_memray *r, uint32_t node, uint64_t address, uint64_t bytes)
{
    struct mt_mr_thread *t = mt_mr_now(&r->stacks);
    if (r->rec->split_sizes)
        node = mt_heap_sized(r->heap, node, (int64_t)bytes);
    t->latest ^= 1;
    t->recent[t->latest] = (struct mt_mr_recent){address, bytes, node, address != 0};
}

static void count_temporary(struct mt_memray *r, uint64_t address, uint64_t bytes, bool range)
{
    struct mt_mr_thread *t = mt_mr_now(&r->stacks);
    for (unsigned i = 0; i < 2; i++) {
        struct mt_mr_recent *v = &t->recent[t->latest ^ i];
        if (!v->any || v->address != address || (range && v->bytes != bytes))
            continue;
        while (r->temporary.n <= v->node + 1u)
            *mt_vec_push(&r->temporary) = (struct mt_mr_temporary){0, 0};
        r->temporary.v[v->node + 1u].n++;
        r->temporary.v[v->node + 1u].bytes += (int64_t)v->bytes;
        v->any = false;
        return;
    }
}

void mt_mr_events_end(struct mt_memray *r)
{
    /* By memray's own definition its files are of what is allocated while it records: that others
     * are freed meanwhile is no gap. */
    r->rec->notes[MT_NOTE_BEFORE] = (struct mt_note){0};
    mt_heap_knows_extra(r->heap, "temporary_n");
    mt_heap_knows_extra(r->heap, "temporary_b");
    for (size_t i = 0; i < r->temporary.n; i++)
        if (r->temporary.v[i].n) {
            mt_heap_extra(r->heap, (uint32_t)i - 1u, "temporary_n", r->temporary.v[i].n);
            mt_heap_extra(r->heap, (uint32_t)i - 1u, "temporary_b", r->temporary.v[i].bytes);
        }
}

/* ---- records ---- */

enum mt_status mt_mr_unknown_allocator(struct mt_err *err)
{
    return mt_mr_damaged("an allocator that memtool does not know", err);
}

/* Whether the record just read is what a killed process left: its last byte, and all that follows,
 * are padding. Also asks for more, where that is not known. */
static bool is_padded(struct mt_memray *r)
{
    if (mt_mr_is_told(r))
        return false;
    if (r->c.p == r->c.end && !r->whole)
        r->c.more = true;
    else
        r->padded = r->c.p == r->c.end || !*r->c.p;
    return r->padded;
}

static inline bool is_padding(struct mt_memray *r)
{
    return !r->c.more && !r->c.p[-1] && is_padded(r);
}

/* What begins is of the path under way; native: as for mt_mr_apply. */
static inline enum mt_status begin(struct mt_memray *r, enum mt_act act, uint64_t address,
                                   uint64_t bytes, uint64_t native, struct mt_err *err)
{
    uint32_t node = mt_mr_node(&r->stacks);
    r->event_n++;
    if (bytes > INT64_MAX / 2)
        return mt_mr_damaged("an allocation's size is out of range", err);
    if (native)
        node = mt_mr_native_node(&r->natives, &r->stacks.paths, node, native);
    remember(r, node, address, bytes);
    return act == MT_MR_MAPS ? map(r, node, address, bytes, err)
                             : mt_heap_alloc_at(r->heap, address, node, (int64_t)bytes, err);
}

static inline enum mt_status end(struct mt_memray *r, enum mt_act act, uint64_t address,
                                 uint64_t bytes, struct mt_err *err)
{
    r->event_n++;
    if (bytes > INT64_MAX / 2)
        return mt_mr_damaged("an allocation's size is out of range", err);
    count_temporary(r, address, bytes, act == MT_MR_UNMAPS);
    return act == MT_MR_UNMAPS ? unmap(r, address, bytes, err)
                               : mt_heap_free_at(r->heap, address, err);
}

enum mt_status mt_mr_apply(struct mt_memray *r, enum mt_act act, uint64_t address, uint64_t bytes,
                           uint64_t native, struct mt_err *err)
{
    return act == MT_MR_FREES || act == MT_MR_UNMAPS ? end(r, act, address, bytes, err)
                                                     : begin(r, act, address, bytes, native, err);
}

/* Where memory is, as files since version 12 have it: at one of the last addresses, or further on
 * than the last by so much. */
struct place {
    uint64_t address, last;
    bool is_new;
};

static inline struct place take_place(const struct mt_memray *r, unsigned recent,
                                      struct mt_cursor *c)
{
    struct place p = {.last = r->last.address, .is_new = recent == MT_MR_RECENT - 1};
    p.address =
        p.is_new ? mt_mr_delta(c, &p.last) << 3 : r->recent[(r->latest + recent) % MT_MR_RECENT];
    return p;
}

/* Whether all of a record was there; the next one is at c then, and counts from its address. */
static inline bool is_taken(struct mt_memray *r, struct mt_cursor c, const struct place *p)
{
    r->c = c;
    if (is_padding(r) || r->c.more)
        return false;
    r->last.address = p->last;
    if (p->is_new) {
        r->latest = (r->latest - 1) % MT_MR_RECENT;
        r->recent[r->latest] = p->address;
    }
    return true;
}

static enum mt_status allocation(struct mt_memray *r, unsigned flags, struct mt_err *err)
{
    struct mt_cursor c = r->c; /* of which nobody else knows, so that it is in registers */
    uint64_t native = r->last.native;
    const struct place at = take_place(r, flags >> 3 & 15, &c);
    const unsigned allocator = flags & 7 ? flags & 7 : mt_cursor_byte(&c);
    const enum mt_act act = act_of(r->version, allocator);
    if (act == MT_MR_FREES)
        return is_taken(r, c, &at) ? end(r, act, at.address, 0, err) : MT_OK;
    if (r->native)
        mt_mr_delta(&c, &native);
    const uint64_t bytes = mt_cursor_varint(&c);
    if (!is_taken(r, c, &at))
        return MT_OK;
    if (act == MT_MR_UNKNOWN)
        return mt_mr_unknown_allocator(err);
    r->last.native = native;
    return mt_mr_apply(r, act, at.address, bytes, r->native ? native : 0, err);
}

/* Of versions 7 to 11. with_native: 1 where the record has a native frame. */
static enum mt_status old_allocation(struct mt_memray *r, unsigned allocator, bool with_native,
                                     struct mt_err *err)
{
    struct mt_mr_deltas d = r->last;
    enum mt_act act = act_of(r->version, allocator);
    uint64_t address = mt_mr_delta(&r->c, &d.address), bytes = 0;
    if (act != MT_MR_FREES || with_native)
        bytes = mt_cursor_varint(&r->c);
    if (with_native)
        mt_mr_delta(&r->c, &d.native);
    if (is_padding(r) || r->c.more)
        return MT_OK;
    if (act == MT_MR_UNKNOWN)
        return mt_mr_unknown_allocator(err);
    r->last = d;
    return mt_mr_apply(r, act, address, bytes, with_native ? d.native : 0, err);
}

/* Objects of Python, which memray follows on request: no memory of their own. */
static void object(struct mt_memray *r, unsigned flags)
{
    struct mt_cursor c = r->c;
    uint64_t native = r->last.native;
    const struct place at = take_place(r, flags >> 1 & 15, &c);
    if (r->native && flags & 1)
        mt_mr_delta(&c, &native);
    if (is_taken(r, c, &at))
        r->last.native = native;
}

enum mt_status mt_mr_at(struct mt_memray *r, uint64_t ms, uint64_t rss, struct mt_err *err)
{
    if (ms > (uint64_t)(INT64_MAX / mt_mr_ms_ns) || rss > INT64_MAX)
        return mt_mr_damaged("a time or size in the file is out of range", err);
    MT_TRY(mt_heap_tick(r->heap, (int64_t)ms * mt_mr_ms_ns, err));
    mt_heap_sample(r->heap, MT_METRIC_RSS, (int64_t)rss);
    return MT_OK;
}

static enum mt_status memory(struct mt_memray *r, struct mt_err *err)
{
    uint64_t rss = mt_cursor_varint(&r->c), ms = mt_cursor_varint(&r->c);
    if (is_padding(r) || r->c.more)
        return MT_OK;
    return mt_mr_at(r, ms, rss, err);
}

static void push(struct mt_memray *r)
{
    struct mt_cursor c = r->c;
    uint64_t code = mt_cursor_varint(&c);
    int64_t instruction = mt_cursor_signed(&c);
    r->c = c;
    if (!is_padding(r) && !r->c.more)
        mt_mr_push_call(&r->stacks, code, instruction);
}

/* Versions 7 to 11 number frames: a function at a line. */
static void old_frame(struct mt_memray *r)
{
    size_t n;
    struct mt_mr_deltas d = r->last;
    uint64_t id = mt_mr_delta(&r->c, &d.frame);
    const char *name = mt_cursor_text(&r->c, &n), *file = mt_cursor_text(&r->c, &n);
    int64_t line = (int64_t)mt_mr_delta(&r->c, &d.line);
    if (is_padding(r) || r->c.more)
        return;
    r->last = d;
    *mt_map_at(&r->stacks.frame_of, id) = mt_mr_line(&r->stacks, name, file, line);
}

enum mt_status mt_mr_push_named(struct mt_memray *r, uint64_t id, struct mt_err *err)
{
    uint32_t frame = mt_map_get(&r->stacks.frame_of, id);
    if (frame == MT_MAP_NONE)
        return mt_mr_damaged("a function that the file does not name", err);
    mt_mr_push(&r->stacks, frame);
    return MT_OK;
}

static enum mt_status old_push(struct mt_memray *r, struct mt_err *err)
{
    struct mt_mr_deltas d = r->last;
    uint64_t id = mt_mr_delta(&r->c, &d.frame);
    if (is_padding(r) || r->c.more)
        return MT_OK;
    r->last = d;
    return mt_mr_push_named(r, id, err);
}

enum mt_status mt_mr_return(struct mt_memray *r, size_t n, struct mt_err *err)
{
    return mt_mr_pop(&r->stacks, n) ? MT_OK
                                    : mt_mr_damaged("more functions return than were called", err);
}

static enum mt_status old_event(struct mt_memray *r, unsigned token, struct mt_err *err)
{
    enum { OTHER, ALLOCATION, WITH_NATIVE, FRAME, PUSH, POP = 9, MEMORY = 11, TRAILER = 1 };
    unsigned flags = token >> 4;
    switch (token & 15) {
    case OTHER:
        r->done = flags == TRAILER && r->version >= MT_MR_ENDS;
        return r->done ? MT_OK : mt_mr_damaged("a record that memtool does not know", err);
    case ALLOCATION:
    case WITH_NATIVE:
        return old_allocation(r, flags, (token & 15) == WITH_NATIVE, err);
    case FRAME:
        old_frame(r);
        return MT_OK;
    case PUSH:
        return old_push(r, err);
    case POP:
        return mt_mr_return(r, flags + 1, err);
    case MEMORY:
        return memory(r, err);
    default:
        return mt_mr_other(r, token & 15)
                   ? MT_OK
                   : mt_mr_damaged("a record that memtool does not know", err);
    }
}

static inline enum mt_status event(struct mt_memray *r, struct mt_err *err)
{
    enum { TRAILER = 1, MEMORY, POP = 16, OBJECT = 32, PUSH = 64, ALLOCATION = 128 };
    if (r->version == MT_MR_OLDEST)
        return mt_mr_first_event(r, err);
    unsigned token = mt_cursor_byte(&r->c);
    if (!token) {
        r->padded = true;
        return MT_OK;
    }
    if (r->version < MT_MR_CODES)
        return old_event(r, token, err);
    if (token & ALLOCATION)
        return allocation(r, token, err);
    if (token & PUSH) {
        push(r);
        return MT_OK;
    }
    if (token & OBJECT) {
        object(r, token);
        return MT_OK;
    }
    if (token & POP)
        return mt_mr_return(r, (token & 15) + 1, err);
    if (token == MEMORY)
        return memory(r, err);
    r->done = token == TRAILER;
    return r->done || mt_mr_other(r, token)
               ? MT_OK
               : mt_mr_damaged("a record that memtool does not know", err);
}

enum mt_status mt_mr_events(struct mt_memray *r, struct mt_err *err)
{
    return mt_mr_each(r, event, err);
}
