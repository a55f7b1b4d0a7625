/* Files of memray 1.0: records as they lay in its memory, each with its thread. */
#include "formats/memray_parts.h"

enum { TYPE = 4 /* bytes */ };

static enum mt_act act_of(uint64_t allocator)
{
    enum { FREE = 2, MMAP = 9, MUNMAP = 10 };
    switch (allocator) {
    case FREE:
        return MT_MR_FREES;
    case MMAP:
        return MT_MR_MAPS;
    case MUNMAP:
        return MT_MR_UNMAPS;
    default:
        return allocator && allocator < MMAP ? MT_MR_ALLOCATES : MT_MR_UNKNOWN;
    }
}

/* Whether a killed process left this record half written: all that follows is zero. */
static bool is_padding(struct mt_memray *r)
{
    if (r->c.p == r->c.end && !r->whole)
        r->c.more = true;
    else
        r->padded = r->c.p == r->c.end || !*r->c.p;
    return r->padded;
}

static enum mt_status allocation(struct mt_memray *r, struct mt_err *err)
{
    uint64_t thread = mt_cursor_fixed(&r->c, 8), address = mt_cursor_fixed(&r->c, 8),
             bytes = mt_cursor_fixed(&r->c, 8);
    enum mt_act act = act_of(mt_cursor_fixed(&r->c, 8) & UINT32_MAX); /* the rest is no value */
    uint64_t native = mt_cursor_fixed(&r->c, 8);
    if (r->c.more)
        return MT_OK;
    if (act == MT_MR_UNKNOWN)
        return is_padding(r) || r->c.more ? MT_OK : mt_mr_unknown_allocator(err);
    mt_mr_switch(&r->stacks, thread);
    return mt_mr_apply(r, act, address, act == MT_MR_FREES ? 0 : bytes, native, err);
}

static void frame(struct mt_memray *r)
{
    size_t n;
    uint64_t id = mt_cursor_fixed(&r->c, 8);
    const char *name = mt_cursor_text(&r->c, &n), *file = mt_cursor_text(&r->c, &n);
    int32_t line = (int32_t)mt_cursor_fixed(&r->c, 4);
    if (!r->c.more)
        *mt_map_at(&r->stacks.frame_of, id) = mt_mr_line(&r->stacks, name, file, line);
}

static enum mt_status push(struct mt_memray *r, struct mt_err *err)
{
    uint64_t id = mt_cursor_fixed(&r->c, 8), thread = mt_cursor_fixed(&r->c, 8);
    if (r->c.more)
        return MT_OK;
    bool named = mt_map_get(&r->stacks.frame_of, id) != MT_MAP_NONE;
    if (!named && (is_padding(r) || r->c.more))
        return MT_OK;
    mt_mr_switch(&r->stacks, thread);
    return mt_mr_push_named(r, id, err);
}

static enum mt_status pop(struct mt_memray *r, struct mt_err *err)
{
    uint64_t thread = mt_cursor_fixed(&r->c, 8), count = mt_cursor_fixed(&r->c, 8) & UINT8_MAX;
    if (r->c.more)
        return MT_OK;
    mt_mr_switch(&r->stacks, thread);
    return mt_mr_return(r, count, err);
}

static void native_frame(struct mt_memray *r)
{
    uint64_t ip = mt_cursor_fixed(&r->c, 8), parent = mt_cursor_fixed(&r->c, 8) & UINT32_MAX;
    if (!r->c.more)
        mt_mr_native_frame(&r->natives, ip, parent);
}

static void module(struct mt_memray *r)
{
    size_t n;
    const char *path = mt_cursor_text(&r->c, &n);
    uint64_t parts = mt_cursor_fixed(&r->c, 8), base = mt_cursor_fixed(&r->c, 8);
    if (!r->c.more)
        mt_mr_native_module(&r->natives, path, parts, base);
}

static void module_part(struct mt_memray *r)
{
    uint64_t start = mt_cursor_fixed(&r->c, 8), size = mt_cursor_fixed(&r->c, 8);
    if (!r->c.more)
        mt_mr_native_part(&r->natives, start, size);
}

/* Its time is the clock's. */
static enum mt_status memory(struct mt_memray *r, struct mt_err *err)
{
    uint64_t ms = mt_cursor_fixed(&r->c, 8), rss = mt_cursor_fixed(&r->c, 8);
    uint64_t start = r->start_ms > 0 ? (uint64_t)r->start_ms : 0;
    return r->c.more ? MT_OK : mt_mr_at(r, ms > start ? ms - start : 0, rss, err);
}

static void thread_name(struct mt_memray *r)
{
    size_t n;
    mt_cursor_fixed(&r->c, 8);
    mt_cursor_text(&r->c, &n);
}

/* Zeros behind the last record, of which there may be less than a type has. */
static bool is_end(struct mt_memray *r)
{
    const char *p = r->c.p;
    while (p < r->c.end && p - r->c.p < TYPE && !*p)
        p++;
    return p - r->c.p == TYPE || (p == r->c.end && r->whole);
}

enum mt_status mt_mr_first_event(struct mt_memray *r, struct mt_err *err)
{
    enum { ALLOCATION = 1, FRAME, PUSH, NATIVE, MAPS, MODULE, PART, POP, THREAD, MEMORY };
    if (is_end(r)) {
        r->padded = true;
        return MT_OK;
    }
    switch (mt_cursor_fixed(&r->c, TYPE)) {
    case ALLOCATION:
        return allocation(r, err);
    case FRAME:
        frame(r);
        return MT_OK;
    case PUSH:
        return push(r, err);
    case NATIVE:
        native_frame(r);
        return MT_OK;
    case MAPS:
        mt_mr_native_unload(&r->natives);
        return MT_OK;
    case MODULE:
        module(r);
        return MT_OK;
    case PART:
        module_part(r);
        return MT_OK;
    case POP:
        return pop(r, err);
    case THREAD:
        thread_name(r);
        return MT_OK;
    case MEMORY:
        return memory(r, err);
    default:
        return r->c.more ? MT_OK : mt_mr_damaged("a record that memtool does not know", err);
    }
}
