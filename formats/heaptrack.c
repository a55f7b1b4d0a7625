/*
 * heaptrack's log (heaptrack_interpret, file versions 1 to 3): docs/formats/heaptrack.md. Lines of
 * a letter and hex numbers; tables of strings, instruction pointers, stacks and kinds of
 * allocations grow as they are needed, events name a kind.
 */
#include "formats/format.h"
#include "formats/heaptrack_events.h"
#include "formats/heaptrack_paths.h"
#include "formats/heaptrack_raw.h"
#include "lib/base/human.h"
#include "lib/input/lines.h"
#include "lib/model/heap.h"

#include <string.h>

enum { VERSION_MAX = 3, VERSION_SIZED = 3 };
static const int64_t ms = 1000000;

struct reader {
    struct mt_lines lines;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_heap *heap;
    struct mt_ht_tables tables;
    struct mt_ht_raw raw; /* of raw logs, where `is_raw` */
    struct mt_line line;
    uint64_t tool, version, beside, suppression_n;
    uint64_t events_b; /* of lines of events, which the stream was not told of yet */
    int64_t page_b;
    bool head, ended; /* the version is known; what ends a log was there last */
    bool is_raw, own; /* heaptrack itself wrote it: it names the command */
    bool stopped;     /* `R` is the last line: heaptrack writes it when the program ends */
};

static enum mt_status fail(struct reader *r, struct mt_err *err)
{
    err->offset = (int64_t)r->line.offset;
    return err->code;
}

static void skip(struct reader *r)
{
    mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
}

/* ---- events ---- */

/* A program that does the same for a minute has a log of gigabytes that compresses to some KB. Its
 * events are read as fast as it is decompressed. */
static void used(struct reader *r, uint64_t n)
{
    enum { BATCH = 64 << 10 };
    r->events_b += n;
    if (r->events_b < BATCH)
        return;
    mt_stream_used(r->lines.in, r->events_b);
    r->events_b = 0;
}

static enum mt_status event(struct reader *r, struct mt_fields f, struct mt_err *err)
{
    uint64_t kind;
    size_t done = 0;
    if (!mt_field_hex(&f, &kind) || f.p < f.end || kind >= mt_heap_kind_n(r->heap)) {
        skip(r);
        return MT_OK;
    }
    const uint32_t number = (uint32_t)kind << 1 | (*r->line.s == '-');
    if (mt_heap_kind_events(r->heap, &number, 1, &done, err) != MT_OK)
        return fail(r, err);
    if (!done)
        skip(r);
    return MT_OK;
}

static const char *pass_lines(const char *p, size_t n)
{
    while (n--)
        p = strchr(p, '\n') + 1;
    return p;
}

/* Most lines are events. These are read as they stand, without looking for the ends of lines first,
 * many at once. */
static enum mt_status events(struct reader *r, struct mt_err *err)
{
    uint32_t v[MT_HEAP_BATCH];
    size_t done;
    const char *begin = r->lines.at;
    do {
        const char *next = r->lines.at;
        const size_t n = mt_ht_event_lines(&next, r->lines.end, (uint32_t)mt_heap_kind_n(r->heap),
                                           v, MT_HEAP_BATCH);
        r->stopped &= n == 0;
        enum mt_status st = mt_heap_kind_events(r->heap, v, n, &done, err);
        r->lines.at = done == n ? next : pass_lines(r->lines.at, done);
        if (st != MT_OK) {
            err->offset = (int64_t)mt_lines_offset(&r->lines);
            return st;
        }
    } while (done == MT_HEAP_BATCH);
    used(r, (uint64_t)(r->lines.at - begin));
    return MT_OK;
}

/* ---- what the log says of itself ---- */

static enum mt_status version(struct reader *r, struct mt_fields f, struct mt_err *err)
{
    const uint64_t before_numbers = 0x10200; /* of heaptrack before it numbered its files */
    if (r->head)
        return mt_reader_two("logs of heaptrack", r->line.offset, err);
    if (!mt_field_hex(&f, &r->tool)) {
        skip(r);
        return MT_OK;
    }
    r->head = true;
    if (!mt_field_hex(&f, &r->version))
        r->version = r->tool == before_numbers;
    if (r->version >= 1 && r->version <= VERSION_MAX)
        return MT_OK;
    MT_FAIL(err, MT_EINPUT, "is a heaptrack log of file version %llu, memtool reads 1 to %d",
            (unsigned long long)r->version, VERSION_MAX);
    return mt_reader_refuse((int64_t)r->line.offset,
                            r->version ? "A later memtool may read it."
                                       : "Record again with heaptrack 1.0 or later.",
                            err);
}

/* A text of the log as metadata. */
static void meta(struct reader *r, const char *key, struct mt_fields f)
{
    const char *s;
    size_t n;
    mt_field_rest(&f, &s, &n);
    mt_rec_meta_text(r->rec, key, s, n);
}

/* heaptrack 1.4 says how long it is, too. Each is looked for in every name: more than programs have
 * is none that a program wrote. */
static void suppression(struct reader *r, struct mt_fields f)
{
    enum { MOST = 1000 };
    if (++r->suppression_n > MOST) {
        skip(r);
        return;
    }
    struct mt_fields sized = f, rest;
    const char *s;
    uint64_t told;
    size_t n = 0;
    bool is_sized = mt_field_hex(&sized, &told);
    rest = sized;
    mt_field_rest(&rest, &s, &n);
    meta(r, "suppression", is_sized && told == n ? sized : f);
}

static void system_info(struct reader *r, struct mt_fields f)
{
    uint64_t page_b;
    if (mt_field_hex(&f, &page_b) && page_b <= INT32_MAX)
        r->page_b = (int64_t)page_b;
    else
        skip(r);
}

static enum mt_status stamp(struct reader *r, struct mt_fields f, struct mt_err *err)
{
    uint64_t v;
    if (!mt_field_hex(&f, &v) || v > (uint64_t)(INT64_MAX / ms)) {
        skip(r);
        return MT_OK;
    }
    return mt_heap_tick(r->heap, (int64_t)v * ms, err) == MT_OK ? MT_OK : fail(r, err);
}

static void resident(struct reader *r, struct mt_fields f)
{
    uint64_t pages;
    if (!mt_field_hex(&f, &pages) || pages > INT32_MAX)
        skip(r);
    else
        mt_heap_sample(r->heap, MT_METRIC_RSS, (int64_t)pages * r->page_b);
}

/* The trailer of an interpreted log, which heaptrack_interpret writes behind whatever there is: of
 * a program that was killed, or ended by _exit() or exec(), what heaptrack had not written yet is
 * not there. Before 1.2 heaptrack wrote what was freed behind its end, too. */
static void trailer(struct reader *r)
{
    const bool stops = r->own && r->tool >= 0x10200;
    if (!r->is_raw && !r->ended && stops && !r->stopped && r->rec->event_n)
        mt_rec_note(r->rec, MT_NOTE_CUT, (int64_t)r->line.offset, 0);
    r->ended = true;
}

/* heaptrack was attached here: what came before is forgotten. */
static void restart(struct reader *r)
{
    mt_heap_restart(r->heap);
    mt_ht_raw_restart(&r->raw);
    mt_rec_note(r->rec, MT_NOTE_RAN_BEFORE, (int64_t)r->line.offset, 0);
}

/* ---- lines ---- */

static enum mt_status check_memory(struct reader *r, struct mt_err *err)
{
    uint64_t now = mt_ht_tables_bytes(&r->tables) + mt_ht_raw_bytes(&r->raw);
    mt_rec_beside(r->rec, &r->beside, now);
    return mt_rec_check_memory(r->rec, err);
}

/* Behind each line. */
static enum mt_status look_at_memory(struct reader *r, struct mt_err *err)
{
    return mt_lines_due(&r->lines) || mt_rec_grew(r->rec) ? check_memory(r, err) : MT_OK;
}

static enum mt_status table_line(struct reader *r, struct mt_fields f, struct mt_err *err)
{
    bool good = true;
    int64_t bytes;
    uint32_t trace;
    switch (*r->line.s) {
    case 's':
        good = mt_ht_add_string(&r->tables, f, r->version >= VERSION_SIZED);
        break;
    case 'i':
        good = mt_ht_add_ip(&r->tables, f);
        break;
    case 't':
        good = mt_ht_add_trace(&r->tables, f);
        break;
    default:
        good = mt_ht_read_kind(&r->tables, f, &bytes, &trace);
        MT_TRY(mt_heap_add_kind(r->heap, bytes,
                                good ? mt_ht_trace_node(&r->tables, trace) : MT_NONE, err));
        break;
    }
    if (!good)
        skip(r);
    return look_at_memory(r, err);
}

/* Lines of raw logs. They have no trailer: heaptrack ends with the time and what is resident. */
static enum mt_status raw_line(struct reader *r, struct mt_fields f, struct mt_err *err)
{
    enum mt_status st = MT_OK;
    bool good = true;
    r->ended = false;
    switch (*r->line.s) {
    case '+':
        st = mt_ht_raw_alloc(&r->raw, f, &good, err);
        break;
    case '-':
        st = mt_ht_raw_dealloc(&r->raw, f, &good, err);
        break;
    case 't':
        good = mt_ht_raw_trace(&r->raw, f);
        break;
    default:
        good = mt_ht_raw_module(&r->raw, f);
        break;
    }
    if (!good)
        skip(r);
    else if (*r->line.s == '+' || *r->line.s == '-')
        used(r, r->line.n + 1);
    if (st != MT_OK)
        return fail(r, err);
    return look_at_memory(r, err);
}

/* "x" is the second line of a raw log, which numbers nothing that it allocates. */
static void raw_log(struct reader *r, struct mt_fields f)
{
    if (mt_heap_kind_n(r->heap)) {
        skip(r);
        return;
    }
    r->is_raw = true;
    r->raw.sized = r->version >= VERSION_SIZED;
    if (!mt_ht_raw_exe(&r->raw, f))
        skip(r);
}

static enum mt_status other_line(struct reader *r, struct mt_fields f, struct mt_err *err)
{
    switch (*r->line.s) {
    case 'v':
        return version(r, f, err);
    case 'X':
        r->own = true;
        meta(r, "command", f);
        break;
    case 'I':
        system_info(r, f);
        break;
    case 'S':
        suppression(r, f);
        break;
    case 'c':
        return stamp(r, f, err);
    case 'R':
        resident(r, f);
        r->ended |= r->is_raw;
        break;
    case 'A':
        restart(r);
        break;
    case '#':
        if (mt_field_take(&f, "strings:"))
            trailer(r);
        break;
    default:
        skip(r);
    }
    return MT_OK;
}

static enum mt_status use_line(struct reader *r, struct mt_err *err)
{
    if (!r->line.n)
        return MT_OK;
    struct mt_fields f = mt_fields_of(r->line.s + 1, r->line.n - 1);
    if (*r->line.s != '#')
        r->stopped = *r->line.s == 'R';
    switch (*r->line.s) {
    case '+':
    case '-':
        return r->is_raw ? raw_line(r, f, err) : event(r, f, err);
    case 't':
        return r->is_raw ? raw_line(r, f, err) : table_line(r, f, err);
    case 's':
    case 'i':
    case 'a':
        if (!r->is_raw)
            return table_line(r, f, err);
        skip(r);
        return MT_OK;
    case 'm':
        return r->is_raw ? raw_line(r, f, err) : other_line(r, f, err);
    case 'x':
        raw_log(r, f);
        return MT_OK;
    default:
        return other_line(r, f, err);
    }
}

/* The log ends without its trailer: inside a line, or what it was compressed with. */
static enum mt_status cut_off(struct reader *r, struct mt_err *err)
{
    char events[MT_HUMAN_LONG];
    MT_FAIL(err, MT_EINPUT,
            r->is_raw ? "ends early: heaptrack writes the time and the resident memory last"
                      : "ends early: heaptrack writes \"# strings\" and \"# ips\" last");
    if (r->rec->event_n)
        mt_err_hint(err, "Nothing was imported. --partial keeps what came before: %s.",
                    mt_human_plural((int64_t)r->rec->event_n, "event", events));
    else
        mt_err_hint(err, "Nothing was imported: there is no event before that place.");
    return mt_reader_cut(r->opts, r->rec, mt_lines_offset(&r->lines), "", err);
}

static enum mt_status read_lines(struct reader *r, struct mt_err *err)
{
    bool any;
    for (;;) {
        if (r->head && !r->is_raw)
            MT_TRY(events(r, err));
        enum mt_status st = mt_lines_next(&r->lines, &r->line, &any, err);
        if (st == MT_EINPUT && r->opts->partial) {
            *err = (struct mt_err)MT_ERR_INIT;
            return cut_off(r, err);
        }
        MT_TRY(st);
        if (!any || (r->line.cut && !r->ended))
            return r->ended ? MT_OK : cut_off(r, err);
        MT_TRY(use_line(r, err));
    }
}

static enum mt_status read_log(struct mt_stream *in, const struct mt_read_opts *opts,
                               struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {.lines = {.in = in, .progress = opts->progress, .closure = opts->closure},
                       .opts = opts,
                       .rec = rec,
                       .page_b = 4096};
    enum mt_status st = MT_OK;
    mt_ht_tables_init(&r.tables, rec, opts->cpp_frames == MT_CPP_ALL, opts->alloc_fn);
    r.heap = mt_heap_open(rec, MT_DEVICE_HEAP);
    mt_ht_raw_init(&r.raw, &r.tables, r.heap, opts->symbols);
    rec->resolution_ns = ms;
    MT_TRY_OUT(read_lines(&r, err));
    if (!r.is_raw)
        mt_heap_knows_extra(r.heap, "temporary_most_n");
    if (r.is_raw)
        mt_ht_raw_close(&r.raw);
    mt_ht_tables_free(&r.tables); /* what the heap makes of it needs the room */
    mt_rec_beside(rec, &r.beside, 0);
    st = mt_heap_close(r.heap, err);
out:
    mt_heap_free(r.heap);
    mt_rec_beside(rec, &r.beside, 0);
    mt_ht_raw_free(&r.raw);
    mt_ht_tables_free(&r.tables);
    return st;
}

/* "v 10400 3": the first line that is no comment. */
static int probe(const char *head, size_t n)
{
    const char *end = head + n;
    while (head < end && (*head == '#' || *head == '\n')) {
        const char *next = memchr(head, '\n', (size_t)(end - head));
        head = next ? next + 1 : end;
    }
    const char *next = head < end ? memchr(head, '\n', (size_t)(end - head)) : NULL;
    struct mt_fields f = mt_fields_of(head, (size_t)((next ? next : end) - head));
    uint64_t tool, file;
    if (!next || *head != 'v' || !mt_field_take(&f, "v ") || !mt_field_hex(&f, &tool) ||
        tool < 0x10000)
        return 0;
    mt_field_hex(&f, &file);
    if (f.p < f.end && *f.p == '\r')
        f.p++;
    return mt_field_end(&f) ? 95 : 0;
}

const struct mt_reader mt_reader_heaptrack = {
    .name = "heaptrack",
    .kind = MT_RUN_HEAP,
    .probe = probe,
    .read = read_log,
};
