/*
 * Reader of what Android's malloc_debug records of every call (record_allocs).
 * docs/formats/android.md says what is read.
 */
#include "formats/format.h"
#include "lib/input/fields.h"
#include "lib/input/lines.h"
#include "lib/model/heap.h"
#include "lib/model/paths.h"

#include <string.h>

static const int64_t size_max = INT64_C(1) << 60; /* of a block; more cannot be true */

enum op { MALLOC, CALLOC, MEMALIGN, REALLOC, FREE, THREAD_DONE, OPS };
static const char *const names[OPS] = {"malloc",  "calloc", "memalign",
                                       "realloc", "free",   "thread_done"};

struct event {
    uint64_t thread;
    enum op op;
    uint64_t address, old;
    int64_t bytes;
    int64_t time; /* ns; -1: the line has none */
};

struct reader {
    struct mt_lines lines;
    struct mt_line line;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_path_tree paths;
    struct mt_heap *heap;
    struct mt_map threads; /* with --split thread: nodes */
    uint32_t thread_n;
    bool timed;
    int64_t first_time, last_time, event_n;
    uint64_t beside;
};

/* ---- lines ---- */

static bool take_size(struct mt_fields *f, int64_t *v)
{
    return mt_field_decimal(f, v) && *v >= 0 && *v <= size_max;
}

static bool take_sizes(struct mt_fields *f, struct event *e)
{
    int64_t first;
    switch (e->op) {
    case MALLOC:
        return take_size(f, &e->bytes);
    case CALLOC:
        return take_size(f, &first) && take_size(f, &e->bytes) &&
               !__builtin_mul_overflow(first, e->bytes, &e->bytes) && e->bytes <= size_max;
    case MEMALIGN:
        return take_size(f, &first) && take_size(f, &e->bytes);
    case REALLOC:
        return mt_field_address(f, &e->old) && take_size(f, &e->bytes);
    default:
        return true;
    }
}

/* "186: realloc 0xb609f080 0xb603e9a0 12", with times behind that or not: its beginning and end */
static bool take_event(const char *s, size_t n, struct event *e)
{
    struct mt_fields f = mt_fields_of(s, n);
    const char *word;
    size_t length;
    int64_t thread, begin;
    if (!mt_field_decimal(&f, &thread) || thread < 0 || !mt_field_take(&f, ":") ||
        !mt_field_word(&f, &word, &length))
        return false;
    *e = (struct event){.thread = (uint64_t)thread, .op = OPS, .time = -1};
    for (int i = 0; i < OPS; i++)
        if (strlen(names[i]) == length && memcmp(names[i], word, length) == 0)
            e->op = (enum op)i;
    if (e->op == OPS || !mt_field_address(&f, &e->address) || !take_sizes(&f, e))
        return false;
    if (mt_field_decimal(&f, &begin) && begin >= 0 &&
        (!mt_field_decimal(&f, &e->time) || e->time < begin))
        e->time = begin;
    return mt_field_end(&f);
}

/* ---- events ---- */

/* Lines of several threads are not quite in the order of their times: time stands still then. */
static enum mt_status tick(struct reader *r, const struct event *e, struct mt_err *err)
{
    if (!r->event_n++) {
        r->timed = e->time >= 0;
        r->first_time = r->last_time = e->time;
        if (!r->timed)
            r->rec->time_unit = "events";
    }
    if (!r->timed)
        return mt_heap_tick(r->heap, r->event_n, err);
    r->last_time = e->time > r->last_time ? e->time : r->last_time;
    return mt_heap_tick(r->heap, r->last_time - r->first_time, err);
}

static uint32_t node_of(struct reader *r, uint64_t thread)
{
    if (!(r->opts->split & MT_SPLIT_THREAD))
        return MT_NONE;
    uint32_t *at = mt_map_at(&r->threads, thread);
    if (*at == MT_MAP_NONE)
        *at = mt_path_thread(&r->paths, r->thread_n++);
    return *at;
}

static enum mt_status happen(struct reader *r, const struct event *e, struct mt_err *err)
{
    MT_TRY(tick(r, e, err));
    switch (e->op) {
    case REALLOC:
        return mt_heap_realloc_at(r->heap, e->old, e->address, node_of(r, e->thread), e->bytes,
                                  err);
    case FREE:
        return e->address ? mt_heap_free_at(r->heap, e->address, err) : MT_OK;
    case THREAD_DONE: /* another one may get its number */
        mt_map_take(&r->threads, e->thread);
        return MT_OK;
    default:
        return e->address
                   ? mt_heap_alloc_at(r->heap, e->address, node_of(r, e->thread), e->bytes, err)
                   : MT_OK;
    }
}

static enum mt_status read_line(struct reader *r, struct mt_err *err)
{
    struct mt_fields f = mt_fields_of(r->line.s, r->line.n);
    struct event e;
    if (mt_field_end(&f))
        return MT_OK;
    if (take_event(r->line.s, r->line.n, &e))
        return happen(r, &e, err);
    mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
    return MT_OK;
}

/* ---- the whole ---- */

static enum mt_status read_all(struct reader *r, struct mt_err *err)
{
    bool any = true;
    enum mt_status st;
    while ((st = mt_reader_line(&r->lines, &r->line, r->opts, r->rec, &any, err)) == MT_OK && any) {
        MT_TRY(read_line(r, err));
        if (!mt_lines_due(&r->lines))
            continue;
        mt_rec_beside(r->rec, &r->beside,
                      mt_path_tree_bytes(&r->paths) + mt_map_bytes(&r->threads));
        MT_TRY(mt_rec_check_memory(r->rec, err));
    }
    MT_TRY(st);
    return mt_heap_close(r->heap, err);
}

static enum mt_status android_allocs_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                          struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {
        .lines = {.in = in, .progress = opts->progress, .closure = opts->closure},
        .opts = opts,
        .rec = rec,
    };
    mt_path_tree_init(&r.paths, rec);
    r.heap = mt_heap_open(rec, MT_DEVICE_HEAP);
    enum mt_status st = read_all(&r, err);
    mt_heap_free(r.heap);
    mt_rec_beside(rec, &r.beside, 0);
    mt_path_tree_free(&r.paths);
    mt_map_free(&r.threads);
    return st;
}

static int android_allocs_probe(const char *head, size_t n)
{
    const char *stop = n ? memchr(head, '\n', n) : NULL;
    size_t length = stop ? (size_t)(stop - head) : 0;
    struct event e;
    length -= length && head[length - 1] == '\r';
    return stop && take_event(head, length, &e) ? 93 : 0;
}

const struct mt_reader mt_reader_android_allocs = {
    .name = "android-allocs",
    .kind = MT_RUN_HEAP,
    .probe = android_allocs_probe,
    .read = android_allocs_read,
};
