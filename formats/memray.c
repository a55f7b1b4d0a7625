/*
 * Reader of memray's capture files: Python's allocations, each with the stack of Python functions.
 * docs/formats/memray.md says what is read.
 */
#include "formats/memray_parts.h"

#include <string.h>

#define MAGIC "memray" /* and its NUL */

enum { WINDOW = 1 << 16 };

/* ---- records of both kinds of files ---- */

static void code(struct mt_memray *r)
{
    size_t n;
    struct mt_mr_deltas d = r->last;
    uint64_t id = mt_cursor_varint(&r->c);
    const char *name = mt_cursor_text(&r->c, &n), *file = mt_cursor_text(&r->c, &n);
    int64_t line = (int64_t)mt_mr_delta(&r->c, &d.line);
    uint64_t table_n = mt_cursor_varint(&r->c);
    const char *table = mt_cursor_bytes(&r->c, table_n);
    if (r->c.more)
        return;
    r->last = d;
    mt_mr_add_code(&r->stacks, id, name, file, line, table, (size_t)table_n);
}

static void native_frame(struct mt_memray *r)
{
    struct mt_mr_deltas d = r->last;
    uint64_t ip = mt_mr_delta(&r->c, &d.ip), parent = mt_mr_delta(&r->c, &d.native);
    if (r->c.more)
        return;
    r->last = d;
    mt_mr_native_frame(&r->natives, ip, parent);
}

static void module(struct mt_memray *r)
{
    size_t n;
    const char *path = mt_cursor_text(&r->c, &n);
    uint64_t parts = mt_cursor_varint(&r->c), base = mt_cursor_fixed(&r->c, 8);
    if (!r->c.more)
        mt_mr_native_module(&r->natives, path, parts, base);
}

static void module_part(struct mt_memray *r)
{
    uint64_t start = mt_cursor_fixed(&r->c, 8), size = mt_cursor_varint(&r->c);
    if (!r->c.more)
        mt_mr_native_part(&r->natives, start, size);
}

bool mt_mr_other(struct mt_memray *r, unsigned type)
{
    enum { NATIVE = 5, MAPS, OBJECT, SEGMENT, THREAD_NAME = 10, SWITCH = 12, CODE = 14 };
    size_t n;
    switch (type) {
    case NATIVE:
        native_frame(r);
        return true;
    case MAPS:
        mt_mr_native_unload(&r->natives);
        return true;
    case OBJECT:
        module(r);
        return true;
    case SEGMENT:
        module_part(r);
        return true;
    case THREAD_NAME:
        mt_cursor_text(&r->c, &n);
        return true;
    case SWITCH: {
        uint64_t thread = mt_cursor_fixed(&r->c, 8);
        if (!r->c.more)
            mt_mr_switch(&r->stacks, thread);
        return true;
    }
    case CODE:
        if (r->version >= MT_MR_CODES)
            code(r);
        return r->version >= MT_MR_CODES;
    default:
        return false;
    }
}

/* ---- header ---- */

static enum mt_status check_version(int version, unsigned kind, struct mt_err *err)
{
    if (version >= MT_MR_OLDEST && version <= MT_MR_NEWEST && kind <= 1)
        return MT_OK;
    MT_FAIL(err, MT_EINPUT, "a file of memray of version %d, %s", version,
            version < MT_MR_OLDEST ? "which is not read" : "which memtool does not know yet");
    return mt_reader_refuse(-1,
                            version < MT_MR_OLDEST
                                ? "Record again with a released memray: 1.0 or later."
                                : "A later memtool may read it; memray itself does.",
                            err);
}

/* Folders that memray's own reports shorten names by: a text, and two lists that end empty. */
static void skip_folders(struct mt_memray *r)
{
    size_t n;
    mt_cursor_text(&r->c, &n);
    for (int lists = 0; lists < 2 && !r->c.more;) {
        mt_cursor_text(&r->c, &n);
        lists += n == 0;
    }
}

/* Python versions before 12 are unknown, as are the line tables. */
static enum mt_status header(struct mt_memray *r, bool *sums, struct mt_err *err)
{
    size_t n;
    struct mt_cursor *c = &r->c;
    mt_cursor_bytes(c, sizeof MAGIC);
    r->version = (int)(int32_t)mt_cursor_fixed(c, 4);
    if (!c->more)
        MT_TRY(check_version(r->version, 0, err));
    r->stacks.python = r->version >= MT_MR_CODES ? (uint32_t)mt_cursor_fixed(c, 4) : 0;
    r->native = mt_cursor_byte(c);
    unsigned kind = r->version > 9 ? mt_cursor_byte(c) : 0;
    *sums = kind == 1;
    r->told_n = mt_cursor_fixed(c, 8);
    mt_cursor_fixed(c, 8); /* frames */
    r->start_ms = (int64_t)mt_cursor_fixed(c, 8);
    r->end_ms = (int64_t)mt_cursor_fixed(c, 8);
    const char *command = mt_cursor_text(c, &n);
    mt_cursor_fixed(c, 4); /* process */
    if (r->version > 8) {
        r->stacks.main_thread = mt_cursor_fixed(c, 8);
        r->stacks.skip = (size_t)mt_cursor_fixed(c, 8);
    }
    mt_cursor_fixed(c, r->version < MT_MR_ENDS ? 4 : 1); /* Python's allocator */
    if (r->version > 10)
        mt_cursor_byte(c); /* whether it was traced */
    if (r->version >= MT_MR_CODES)
        mt_cursor_byte(c); /* whether objects were */
    if (r->version >= 13)
        skip_folders(r);
    if (c->more)
        return MT_OK;
    MT_TRY(check_version(r->version, kind, err));
    mt_rec_meta_text(r->rec, "command", command, n);
    return MT_OK;
}

/* ---- the whole ---- */

enum mt_status mt_mr_damaged(const char *what, struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT, "%s", what);
    return mt_reader_refuse(-1, "The file is damaged; --partial keeps what comes before.", err);
}

/* What came before is kept, if that is wanted. */
static enum mt_status cut(struct mt_memray *r, struct mt_err *err)
{
    r->done = true;
    return mt_reader_cut(r->opts, r->rec, mt_stream_offset(r->in),
                         "ends early: the file was cut off", err);
}

enum mt_status mt_mr_check_memory(struct mt_memray *r, struct mt_err *err)
{
    uint64_t now = mt_mr_stacks_bytes(&r->stacks) + mt_ranges_bytes(&r->mapped) +
                   mt_vec_bytes(&r->temporary) + mt_vec_bytes(&r->frames) +
                   mt_vec_bytes(&r->traces) + mt_mr_native_bytes(&r->natives);
    if (r->opts->progress)
        r->opts->progress(r->opts->closure);
    mt_rec_beside(r->rec, &r->beside, now);
    return mt_rec_check_memory(r->rec, err);
}

/* How many bytes follow; *zero: they are all 0. All records are read: of compressed data that are
 * cut or damaged from there on nothing is missing. */
static enum mt_status rest(struct mt_memray *r, uint64_t *bytes, bool *zero, struct mt_err *err)
{
    const char *p;
    size_t n;
    *bytes = 0;
    *zero = true;
    for (;;) {
        enum mt_status st = mt_stream_peek(r->in, 1, &p, &n, err);
        if (st == MT_EINPUT)
            return cut(r, err);
        if (st != MT_OK || !n)
            return st;
        for (size_t i = 0; i < n && *zero; i++)
            *zero = !p[i];
        *bytes += n;
        mt_stream_consume(r->in, n);
    }
}

/* A process that was killed leaves a file that goes on with zeros, and before version 8 every file
 * does: its head, which is written last, says how many events there are. */
static enum mt_status padding(struct mt_memray *r, struct mt_err *err)
{
    uint64_t at = mt_stream_offset(r->in) - r->torn, bytes;
    bool zero;
    MT_TRY(rest(r, &bytes, &zero, err));
    if (!zero) {
        mt_mr_damaged("a record that memtool does not know", err);
        err->offset = (int64_t)at;
        return cut(r, err);
    }
    if (mt_mr_is_told(r))
        return cut(r, err);
    if (r->version >= MT_MR_ENDS || !r->told_n)
        mt_rec_note(r->rec, MT_NOTE_CUT, (int64_t)at, 0);
    return MT_OK;
}

/* The last record goes on behind the end of the file. Where zeros are the last of it, these were
 * not written. */
static enum mt_status end_early(struct mt_memray *r, struct mt_err *err)
{
    enum { PADDING = 16 };
    const char *p = r->c.end;
    if (p == r->c.p && r->version < MT_MR_ENDS) {
        r->padded = true; /* with nothing */
        return MT_OK;
    }
    while (p > r->c.p && r->c.end - p < PADDING && !p[-1])
        p--;
    if (r->c.end - p < PADDING)
        return cut(r, err);
    mt_rec_note(r->rec, MT_NOTE_CUT, (int64_t)mt_stream_offset(r->in), 0);
    r->done = true;
    return MT_OK;
}

/* Until the recorder's end, or that of the file. */
static enum mt_status read_records(struct mt_memray *r, bool sums, struct mt_err *err)
{
    size_t want = WINDOW, n;
    const char *p;
    while (!r->done && !r->padded) {
        enum mt_status damage = mt_stream_peek(r->in, want, &p, &n, err), st;
        if (damage != MT_OK && (damage != MT_EINPUT || !r->opts->partial))
            return damage;
        struct mt_err none = MT_ERR_INIT;
        r->whole = n < want;
        r->c = (struct mt_cursor){p, p + n, false};
        st = sums ? mt_mr_sums(r, &none) : mt_mr_events(r, &none);
        size_t used = (size_t)(r->c.p - p);
        mt_stream_consume(r->in, used);
        if (st != MT_OK) {
            *err = none;
            return st == MT_EINPUT ? cut(r, err) : st;
        }
        MT_TRY(mt_mr_check_memory(r, err));
        if (!r->done && !r->padded && r->whole)
            return damage == MT_OK ? end_early(r, err) : cut(r, err);
        want = used ? WINDOW : 2 * want;
    }
    return MT_OK;
}

static enum mt_status read_header(struct mt_memray *r, bool *sums, struct mt_err *err)
{
    size_t want = WINDOW, n;
    const char *p;
    for (;; want *= 2) {
        enum mt_status damage = mt_stream_peek(r->in, want, &p, &n, err);
        if (damage != MT_OK && (damage != MT_EINPUT || !r->opts->partial))
            return damage;
        r->c = (struct mt_cursor){p, p + n, false};
        MT_TRY(header(r, sums, err));
        if (!r->c.more)
            break;
        if (damage != MT_OK)
            return damage;
        if (n < want) {
            MT_FAIL(err, MT_EINPUT, "ends early, in its header");
            return mt_reader_refuse(-1, "Was the recording or the copy interrupted?", err);
        }
    }
    mt_stream_consume(r->in, (size_t)(r->c.p - p));
    return MT_OK;
}

static enum mt_status read_all(struct mt_memray *r, struct mt_err *err)
{
    bool sums = false, zero = true;
    uint64_t at, bytes = 0;
    MT_TRY(read_header(r, &sums, err));
    if (sums)
        mt_heap_knows(r->heap,
                      MT_SUM_AT_PEAK_B | MT_SUM_AT_PEAK_N | MT_SUM_AT_END_B | MT_SUM_AT_END_N);
    MT_TRY(read_records(r, sums, err));
    if (r->padded) {
        MT_TRY(padding(r, err));
    } else if (!r->rec->notes[MT_NOTE_CUT].count) {
        at = mt_stream_offset(r->in);
        MT_TRY(rest(r, &bytes, &zero, err));
        if (!zero)
            mt_rec_note_n(r->rec, MT_NOTE_TRAILING, bytes, (int64_t)at);
    }
    if (!sums)
        mt_mr_events_end(r);
    int64_t most = INT64_MAX / mt_mr_ms_ns;
    if (r->end_ms > r->start_ms && r->start_ms > 0 && r->end_ms < most)
        MT_TRY(mt_heap_until(r->heap, (r->end_ms - r->start_ms) * mt_mr_ms_ns, err));
    if (r->start_ms > 0 && r->start_ms < most)
        r->rec->base_ns = r->start_ms * mt_mr_ms_ns;
    return mt_heap_close(r->heap, err);
}

static enum mt_status memray_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                  struct mt_recording *rec, struct mt_err *err)
{
    struct mt_memray r = {.opts = opts, .rec = rec, .in = in};
    rec->resolution_ns = mt_mr_ms_ns;
    r.stacks.now = MT_NONE;
    mt_path_tree_init(&r.stacks.paths, rec);
    r.stacks.split = opts->split & MT_SPLIT_THREAD;
    mt_strtab_init(&r.stacks.texts);
    mt_mr_native_init(&r.natives, opts);
    r.heap = mt_heap_open(rec, MT_DEVICE_HEAP);
    enum mt_status st = read_all(&r, err);
    mt_heap_free(r.heap);
    mt_rec_beside(rec, &r.beside, 0);
    mt_mr_stacks_free(&r.stacks);
    mt_mr_native_free(&r.natives);
    mt_ranges_free(&r.mapped);
    mt_vec_free(&r.temporary);
    mt_vec_free(&r.frames);
    mt_vec_free(&r.traces);
    mt_vec_free(&r.walk);
    return st;
}

static int memray_probe(const char *head, size_t n)
{
    return n >= sizeof MAGIC && memcmp(head, MAGIC, sizeof MAGIC) == 0 ? 99 : 0;
}

const struct mt_reader mt_reader_memray = {
    .name = "memray",
    .kind = MT_RUN_HEAP,
    .binary = true,
    .probe = memray_probe,
    .read = memray_read,
};
