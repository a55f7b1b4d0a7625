/* Files of memray with sums of call paths (memray run --aggregate). */
#include "formats/memray_parts.h"

/* Numbers of these files: of any size since version 12. */
static uint64_t number(struct mt_memray *r, size_t old_bytes)
{
    return r->version < MT_MR_CODES ? mt_cursor_fixed(&r->c, old_bytes) : mt_cursor_varint(&r->c);
}

static enum mt_status frame(struct mt_memray *r, struct mt_err *err)
{
    size_t n;
    uint64_t id = number(r, 8);
    if (r->version < MT_MR_CODES) {
        const char *name = mt_cursor_text(&r->c, &n), *file = mt_cursor_text(&r->c, &n);
        int64_t line = (int32_t)mt_cursor_fixed(&r->c, 4);
        mt_cursor_byte(&r->c);
        if (!r->c.more)
            *mt_map_at(&r->stacks.frame_of, id) = mt_mr_line(&r->stacks, name, file, line);
        return MT_OK;
    }
    uint64_t code = number(r, 8);
    int64_t instruction = mt_cursor_signed(&r->c);
    mt_cursor_byte(&r->c);
    if (r->c.more)
        return MT_OK;
    if (id != r->frames.n)
        return mt_mr_damaged("a function's number is out of order", err);
    *mt_vec_push(&r->frames) = mt_mr_frame(&r->stacks, code, instruction);
    return MT_OK;
}

static enum mt_status trace(struct mt_memray *r, struct mt_err *err)
{
    uint64_t id = number(r, 8), parent = number(r, 4);
    if (r->c.more)
        return MT_OK;
    uint32_t known = r->version < MT_MR_CODES ? mt_map_get(&r->stacks.frame_of, id)
                     : id < r->frames.n       ? r->frames.v[id]
                                              : MT_MAP_NONE;
    if (known == MT_MAP_NONE || parent > r->traces.n)
        return mt_mr_damaged("a call path that the file does not have", err);
    uint32_t around = parent ? r->traces.v[parent - 1].depth : 0;
    *mt_vec_push(&r->traces) = (struct mt_mr_trace){known, (uint32_t)parent, around + 1, {0, 0}};
    return MT_OK;
}

/* The call path of a trace (plus 1; 0 is none), and of those around it, where not yet made. The
 * outermost `skip` functions, memray's own, are left out. */
static uint32_t node_of(struct mt_memray *r, uint64_t trace, uint64_t thread)
{
    size_t skip = thread == r->stacks.main_thread ? r->stacks.skip : 0;
    int which = skip > 0;
    bool split = r->stacks.split; /* what is known of a trace is then of another thread */
    uint32_t node = MT_NONE;
    r->walk.n = 0;
    while (trace && r->traces.v[trace - 1].depth > skip && node == MT_NONE) {
        node = split ? MT_NONE : r->traces.v[trace - 1].node[which] - 1u;
        if (node == MT_NONE)
            *mt_vec_push(&r->walk) = (uint32_t)trace - 1;
        trace = r->traces.v[trace - 1].parent;
    }
    if (split) {
        mt_mr_switch(&r->stacks, thread);
        node = mt_mr_now(&r->stacks)->root;
    }
    for (size_t i = r->walk.n; i-- > 0;) {
        struct mt_mr_trace *t = &r->traces.v[r->walk.v[i]];
        node = mt_path_node(&r->stacks.paths, node, t->frame);
        t->node[which] = node + 1;
    }
    return node;
}

static enum mt_status sums(struct mt_memray *r, struct mt_err *err)
{
    enum { THREAD, ALLOCATOR, NATIVE, TRACE, GENERATION, PEAK_N, END_N, PEAK_B, END_B, ALL };
    uint64_t v[ALL];
    for (int i = 0; i < ALL; i++)
        v[i] = mt_cursor_fixed(&r->c, 8);
    if (r->c.more)
        return MT_OK;
    if (v[TRACE] > r->traces.n)
        return mt_mr_damaged("a call path that the file does not have", err);
    for (int i = PEAK_N; i < ALL; i++)
        if (v[i] > INT64_MAX)
            return mt_mr_damaged("a sum is out of range", err);
    const struct mt_sums s = {.at_peak_b = (int64_t)v[PEAK_B],
                              .at_peak_n = (int64_t)v[PEAK_N],
                              .at_end_b = (int64_t)v[END_B],
                              .at_end_n = (int64_t)v[END_N]};
    uint32_t node = node_of(r, v[TRACE], v[THREAD]);
    if (v[NATIVE])
        node = mt_mr_native_node(&r->natives, &r->stacks.paths, node, v[NATIVE]);
    return mt_heap_sums(r->heap, node, &s, err);
}

static enum mt_status sum(struct mt_memray *r, struct mt_err *err)
{
    enum { SNAPSHOT = 1, SUMS, TRACE, FRAME, OBJECT = 13, TRAILER = 15 };
    unsigned type = mt_cursor_byte(&r->c);
    switch (type) {
    case SNAPSHOT:
        mt_cursor_bytes(&r->c, 3 * 8); /* time, resident memory, level: of no path */
        return MT_OK;
    case SUMS:
        return sums(r, err);
    case TRACE:
        return trace(r, err);
    case FRAME:
        return frame(r, err);
    case OBJECT:
        mt_cursor_varint(&r->c);
        if (r->native)
            mt_cursor_varint(&r->c);
        return MT_OK;
    case TRAILER:
        r->done = true;
        return MT_OK;
    default:
        return mt_mr_other(r, type) ? MT_OK
                                    : mt_mr_damaged("a record that memtool does not know", err);
    }
}

enum mt_status mt_mr_sums(struct mt_memray *r, struct mt_err *err)
{
    return mt_mr_each(r, sum, err);
}
