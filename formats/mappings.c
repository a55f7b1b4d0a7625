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
        mt_ranges_add(&m->reserved, (struct mt_range){begin, end, node});
    return MT_OK;
}

enum mt_status mt_mappings_protect(struct mt_mappings *m, struct mt_heap *h, uint64_t begin,
                                   uint64_t bytes, bool reserved, uint32_t node, struct mt_err *err)
{
    uint64_t end = end_of(begin, bytes);
    struct mt_ranges *from = reserved ? &m->mapped : &m->reserved;
    struct mt_ranges found = {0};
    struct mt_range was;
    bool any;
    enum mt_status st = MT_OK;
    while (begin < end && mt_ranges_take(from, begin, end, &was)) /* its parts, as they are */
        mt_ranges_add(&found, was);
    while (st == MT_OK && mt_ranges_take(&found, begin, end, &was)) {
        struct mt_range in = was;
        in.begin = begin > was.begin ? begin : was.begin;
        in.end = end < was.end ? end : was.end;
        mt_ranges_add(from, was);
        st = take_out(from, reserved ? h : NULL, in.begin, in.end, &any, err);
        if (st == MT_OK && reserved)
            mt_ranges_add(&m->reserved, in);
        else if (st == MT_OK)
            st = add(m, h, in.begin, in.end, node == MT_NONE ? was.value : node, err);
    }
    mt_ranges_free(&found);
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
