#include "formats/mappings.h"

enum { PAGE = 4096 };

void mt_mappings_free(struct mt_mappings *m)
{
    mt_ranges_free(&m->mapped);
    mt_ranges_free(&m->reserved);
}

uint64_t mt_mappings_bytes(const struct mt_mappings *m)
{
    return mt_ranges_bytes(&m->mapped) + mt_ranges_bytes(&m->reserved);
}

/* The end of so many bytes, of whole pages; no further than addresses go. */
static uint64_t end_of(uint64_t begin, uint64_t bytes)
{
    uint64_t end;
    if (__builtin_add_overflow(begin, bytes, &end) || end > UINT64_MAX - PAGE)
        return UINT64_MAX;
    return (end + PAGE - 1) / PAGE * PAGE;
}

/* Takes [begin, end) out of ranges; what sticks out of it stays. h: where it is memory, else NULL.
 */
static enum mt_status take_out(struct mt_ranges *ranges, struct mt_heap *h, uint64_t begin,
                               uint64_t end, bool *any, struct mt_err *err)
{
    struct mt_range was;
    while (begin < end && mt_ranges_take(ranges, begin, end, &was)) {
        uint64_t from = begin > was.begin ? begin : was.begin, to = end < was.end ? end : was.end;
        int blocks = -1;
        *any = true;
        if (was.begin < from) {
            mt_ranges_add(ranges, (struct mt_range){was.begin, from, was.value});
            blocks++;
        }
        if (to < was.end) {
            mt_ranges_add(ranges, (struct mt_range){to, was.end, was.value});
            blocks++;
        }
        if (h)
            MT_TRY(mt_heap_release(h, was.value, (int64_t)(to - from), blocks, err));
    }
    return MT_OK;
}

static enum mt_status add(struct mt_mappings *m, struct mt_heap *h, uint64_t begin, uint64_t end,
                          uint32_t node, struct mt_err *err)
{
    if (begin >= end)
        return MT_OK;
    if (end - begin > INT64_MAX / 4)
        return MT_FAIL(err, MT_EINPUT, "a mapping larger than can be true");
    node = mt_heap_sized(h, node, (int64_t)(end - begin));
    mt_ranges_add(&m->mapped, (struct mt_range){begin, end, node});
    return mt_heap_alloc(h, node, (int64_t)(end - begin), err);
}

/* What lies beside it and was reserved by the same is one with it, as it is for the kernel: a range
 * that is protected again and again does not fall into ever more of them. */
static void reserve(struct mt_mappings *m, struct mt_range in)
{
    struct mt_range by;
    if (in.begin && mt_ranges_take(&m->reserved, in.begin - 1, in.begin, &by)) {
        if (by.value == in.value)
            in.begin = by.begin;
        else
            mt_ranges_add(&m->reserved, by);
    }
    if (in.end < UINT64_MAX && mt_ranges_take(&m->reserved, in.end, in.end + 1, &by)) {
        if (by.value == in.value)
            in.end = by.end;
        else
            mt_ranges_add(&m->reserved, by);
    }
    mt_ranges_add(&m->reserved, in);
}

static enum mt_status unmap(struct mt_mappings *m, struct mt_heap *h, uint64_t begin, uint64_t end,
                            bool *known, struct mt_err *err)
{
    MT_TRY(take_out(&m->reserved, NULL, begin, end, known, err));
    return take_out(&m->mapped, h, begin, end, known, err);
}

enum mt_status mt_mappings_unmap(struct mt_mappings *m, struct mt_heap *h, uint64_t begin,
                                 uint64_t bytes, bool *known, struct mt_err *err)
{
    *known = false;
    return unmap(m, h, begin, end_of(begin, bytes), known, err);
}

enum mt_status mt_mappings_map(struct mt_mappings *m, struct mt_heap *h, uint64_t begin,
                               uint64_t bytes, bool reserved, uint32_t node, struct mt_err *err)
{
    uint64_t end = end_of(begin, bytes);
    bool any;
    MT_TRY(unmap(m, h, begin, end, &any, err));
    if (!reserved)
        return add(m, h, begin, end, node, err);
    if (begin < end)
        reserve(m, (struct mt_range){begin, end, node});
    return MT_OK;
}

/* The parts of ranges that lie in [begin, end), to be freed; these stay as they are. */
static struct mt_ranges parts_of(struct mt_ranges *ranges, uint64_t begin, uint64_t end)
{
    struct mt_ranges whole = {0}, parts = {0};
    struct mt_range was;
    while (begin < end && mt_ranges_take(ranges, begin, end, &was))
        mt_ranges_add(&whole, was);
    while (begin < end && mt_ranges_take(&whole, begin, end, &was)) {
        mt_ranges_add(ranges, was);
        was.begin = begin > was.begin ? begin : was.begin;
        was.end = end < was.end ? end : was.end;
        mt_ranges_add(&parts, was);
    }
    mt_ranges_free(&whole);
    return parts;
}

enum mt_status mt_mappings_protect(struct mt_mappings *m, struct mt_heap *h, uint64_t begin,
                                   uint64_t bytes, bool reserved, uint32_t node, struct mt_err *err)
{
    uint64_t end = end_of(begin, bytes);
    struct mt_ranges *from = reserved ? &m->mapped : &m->reserved;
    struct mt_ranges found = parts_of(from, begin, end);
    struct mt_range in;
    bool any;
    enum mt_status st = MT_OK;
    while (st == MT_OK && mt_ranges_take(&found, begin, end, &in)) {
        st = take_out(from, reserved ? h : NULL, in.begin, in.end, &any, err);
        if (st == MT_OK && reserved)
            reserve(m, in);
        else if (st == MT_OK)
            st = add(m, h, in.begin, in.end, node == MT_NONE ? in.value : node, err);
    }
    mt_ranges_free(&found);
    return st;
}

/* What is mapped there, of memory or reserved, or both. */
struct found {
    struct mt_ranges mapped, reserved;
};

/* What was found at `from` is at `to` now. What ends at `last` goes on to `end`. */
static enum mt_status put(struct mt_mappings *m, struct mt_heap *h, struct found *f,
                          const struct mt_move *v, uint64_t last, uint64_t end, struct mt_err *err)
{
    struct mt_range in;
    bool memory;
    while ((memory = mt_ranges_take(&f->mapped, 0, UINT64_MAX, &in)) ||
           mt_ranges_take(&f->reserved, 0, UINT64_MAX, &in)) {
        in.end = in.end == last ? end : in.end - v->old_at + v->at;
        in.begin = in.begin - v->old_at + v->at;
        if (memory)
            MT_TRY(add(m, h, in.begin, in.end, in.value, err));
        else if (in.begin < in.end)
            reserve(m, in);
    }
    return MT_OK;
}

/* kept: how much of the old one there is still. */
static enum mt_status move(struct mt_mappings *m, struct mt_heap *h, const struct mt_move *v,
                           uint64_t kept, struct found *f, struct mt_err *err)
{
    uint64_t stays = v->old_at + kept, end = end_of(v->at, v->bytes), grown = v->at + kept;
    uint64_t seen = kept ? stays - 1 : v->old_at;
    struct mt_range like;
    bool any, memory = mt_ranges_take(&f->mapped, seen, seen + 1, &like);
    if (memory)
        mt_ranges_add(&f->mapped, like);
    bool reserved = mt_ranges_take(&f->reserved, seen, seen + 1, &like);
    if (reserved)
        mt_ranges_add(&f->reserved, like);
    uint32_t node = v->node != MT_NONE ? v->node : memory ? like.value : v->other;
    bool one = (memory && v->node == MT_NONE) || reserved;
    MT_TRY(unmap(m, h, stays, end_of(v->old_at, v->old_bytes), &any, err));
    if (v->at != v->old_at && kept) {
        MT_TRY(unmap(m, h, v->old_at, stays, &any, err));
        MT_TRY(unmap(m, h, v->at, end, &any, err));
        MT_TRY(put(m, h, f, v, stays, one ? end : grown, err));
        if (one)
            return MT_OK;
    }
    return mt_mappings_map(m, h, grown, end - grown, reserved, reserved ? like.value : node, err);
}

enum mt_status mt_mappings_move(struct mt_mappings *m, struct mt_heap *h, const struct mt_move *v,
                                bool *known, struct mt_err *err)
{
    uint64_t old = end_of(v->old_at, v->old_bytes) - v->old_at,
             new = end_of(v->at, v->bytes) - v->at;
    uint64_t kept = old < new ? old : new;
    uint64_t end = kept ? v->old_at + kept : end_of(v->old_at, 1);
    struct found f = {parts_of(&m->mapped, v->old_at, end), parts_of(&m->reserved, v->old_at, end)};
    enum mt_status st = MT_OK;
    *known = f.mapped.root || f.reserved.root;
    if (*known)
        st = move(m, h, v, kept, &f, err);
    mt_ranges_free(&f.mapped);
    mt_ranges_free(&f.reserved);
    return st;
}

enum mt_status mt_mappings_brk(struct mt_mappings *m, struct mt_heap *h, uint64_t end,
                               uint32_t node, struct mt_err *err)
{
    uint64_t was = m->has_brk ? m->brk : end;
    bool any;
    m->brk = end;
    m->has_brk = true;
    return end > was ? add(m, h, was, end, node, err)
                     : take_out(&m->mapped, h, end, was, &any, err);
}

enum mt_status mt_mappings_clear(struct mt_mappings *m, struct mt_heap *h, struct mt_err *err)
{
    bool any;
    m->has_brk = false;
    return unmap(m, h, 0, UINT64_MAX, &any, err);
}
