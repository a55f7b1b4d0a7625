/*
 * Reader of `memray transform gprof2dot`: call paths as lists of functions, whose names come behind
 * them. docs/formats/memray-reports.md says what is read.
 */
#include "formats/head.h"
#include "formats/meaning.h"
#include "formats/python_frames.h"
#include "lib/input/json_walk.h"

#include <string.h>

enum { EVENTS_PER_CHECK = 1 << 12, LINKS_PER_CHECK = 1 << 18 };

struct reader {
    struct mt_json_walk walk;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_path_tree paths;
    struct mt_heap *heap;
    enum mt_meaning meaning;
    MT_VEC(struct event {
        size_t first, n; /* in `chain` */
        int64_t bytes;
    })
    events;
    MT_VEC(uint32_t) chain;     /* numbers of functions, innermost first */
    MT_VEC(uint32_t) functions; /* numbers of mt_path_frame */
    bool has_functions, in_bytes;
    struct mt_buf name, module; /* scratch */
    uint64_t beside;
};

static enum mt_status check_memory(struct reader *r, struct mt_err *err)
{
    mt_rec_beside(r->rec, &r->beside,
                  mt_path_tree_bytes(&r->paths) + r->events.cap * sizeof *r->events.v +
                      r->chain.cap * sizeof *r->chain.v +
                      r->functions.cap * sizeof *r->functions.v);
    return mt_rec_check_memory(r->rec, err);
}

static enum mt_status bad(struct reader *r, const char *what, struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT, "%s", what);
    return mt_reader_refuse((int64_t)mt_json_walk_offset(&r->walk), "", err);
}

/* A whole number, 0 or more. */
static enum mt_status take_number(struct reader *r, int64_t *v, struct mt_err *err)
{
    struct mt_slice s;
    MT_TRY(mt_json_walk_value(&r->walk, &s, err));
    return mt_json_int(s, v) && *v >= 0 ? MT_OK
                                        : bad(r, "a number is not a whole one, 0 or more", err);
}

/* ---- its parts ---- */

/* [{"description": "Memory", "unit": "bytes"}]: what the numbers of costs are. */
static enum mt_status read_costs(struct reader *r, struct mt_err *err)
{
    bool any, is;
    MT_TRY(mt_json_walk_enter(&r->walk, '[', err));
    for (size_t i = 0;; i++) {
        MT_TRY(mt_json_walk_element(&r->walk, &any, err));
        if (!any)
            return MT_OK;
        MT_TRY(mt_json_walk_enter(&r->walk, '{', err));
        for (;;) {
            MT_TRY(mt_json_walk_member(&r->walk, &any, err));
            if (!any)
                break;
            bool unit = strcmp(r->walk.key.s, "unit") == 0 && i == 0;
            mt_buf_clear(&r->name);
            MT_TRY(mt_json_walk_text(&r->walk, &r->name, &is, err));
            r->in_bytes |= unit && r->name.n == 5 && memcmp(r->name.s, "bytes", 5) == 0;
        }
    }
}

/* A function of a call chain. */
static enum mt_status read_link(void *reader, struct mt_err *err)
{
    struct reader *r = reader;
    int64_t function;
    MT_TRY(take_number(r, &function, err));
    if (function >= MT_NONE)
        return bad(r, "a function that the file does not have", err);
    *mt_vec_push(&r->chain) = (uint32_t)function;
    return r->chain.n % LINKS_PER_CHECK ? MT_OK : check_memory(r, err);
}

/* The first of an event's costs; *has: there is one. */
static enum mt_status read_cost(struct reader *r, int64_t *bytes, bool *has, struct mt_err *err)
{
    int64_t other;
    bool any;
    MT_TRY(mt_json_walk_enter(&r->walk, '[', err));
    for (size_t i = 0;; i++) {
        MT_TRY(mt_json_walk_element(&r->walk, &any, err));
        if (!any)
            return MT_OK;
        MT_TRY(take_number(r, i ? &other : bytes, err));
        *has = true;
    }
}

/* {"callchain": [2, 1, 0], "cost": [1024]} */
static enum mt_status read_event(void *reader, struct mt_err *err)
{
    struct reader *r = reader;
    struct event e = {.first = r->chain.n};
    struct mt_slice other;
    bool any, has_cost = false;
    const int64_t at = (int64_t)mt_json_walk_offset(&r->walk);
    MT_TRY(mt_json_walk_enter(&r->walk, '{', err));
    for (;;) {
        MT_TRY(mt_json_walk_member(&r->walk, &any, err));
        if (!any)
            break;
        if (strcmp(r->walk.key.s, "callchain") == 0)
            MT_TRY(mt_json_walk_each(&r->walk, read_link, r, err));
        else if (strcmp(r->walk.key.s, "cost") == 0)
            MT_TRY(read_cost(r, &e.bytes, &has_cost, err));
        else
            MT_TRY(mt_json_walk_value(&r->walk, &other, err));
    }
    e.n = r->chain.n - e.first;
    if (!has_cost)
        mt_rec_note(r->rec, MT_NOTE_SKIPPED, at, 0);
    *mt_vec_push(&r->events) = e;
    return r->events.n % EVENTS_PER_CHECK ? MT_OK : check_memory(r, err);
}

/* {"name": "f", "module": "a.py"} */
static enum mt_status read_function(void *reader, struct mt_err *err)
{
    struct reader *r = reader;
    struct mt_slice other;
    bool any, is;
    mt_buf_clear(&r->name);
    mt_buf_clear(&r->module);
    MT_TRY(mt_json_walk_enter(&r->walk, '{', err));
    for (;;) {
        MT_TRY(mt_json_walk_member(&r->walk, &any, err));
        if (!any)
            break;
        if (strcmp(r->walk.key.s, "name") == 0)
            MT_TRY(mt_json_walk_text(&r->walk, &r->name, &is, err));
        else if (strcmp(r->walk.key.s, "module") == 0)
            MT_TRY(mt_json_walk_text(&r->walk, &r->module, &is, err));
        else
            MT_TRY(mt_json_walk_value(&r->walk, &other, err));
    }
    mt_buf_adds(&r->name, "");
    mt_buf_adds(&r->module, "");
    *mt_vec_push(&r->functions) = mt_python_frame(&r->paths, r->name.s, r->module.s, 0);
    return r->functions.n % EVENTS_PER_CHECK ? MT_OK : check_memory(r, err);
}

static enum mt_status read_document(struct reader *r, struct mt_err *err)
{
    struct mt_slice other;
    bool any;
    MT_TRY(mt_json_walk_enter(&r->walk, '{', err));
    for (;;) {
        MT_TRY(mt_json_walk_member(&r->walk, &any, err));
        if (!any)
            return MT_OK;
        const char *key = r->walk.key.s;
        if (strcmp(key, "costs") == 0) {
            MT_TRY(read_costs(r, err));
        } else if (strcmp(key, "events") == 0) {
            MT_TRY(mt_json_walk_each(&r->walk, read_event, r, err));
        } else if (strcmp(key, "functions") == 0) {
            MT_TRY(mt_json_walk_each(&r->walk, read_function, r, err));
            r->has_functions = true;
        } else {
            MT_TRY(mt_json_walk_value(&r->walk, &other, err));
        }
    }
}

/* ---- the whole ---- */

static enum mt_status give(struct reader *r, struct mt_err *err)
{
    if (!r->in_bytes)
        return bad(r, "its costs are no bytes", err);
    for (size_t i = 0; i < r->events.n; i++) {
        const struct event *e = &r->events.v[i];
        uint32_t node = MT_NONE;
        for (size_t k = e->n; k-- > 0;) {
            uint32_t function = r->chain.v[e->first + k];
            if (function >= r->functions.n)
                return bad(r, "a function that the file does not have", err);
            node = mt_path_node(&r->paths, node, r->functions.v[function]);
            if (mt_rec_grew(r->rec))
                MT_TRY(check_memory(r, err));
        }
        MT_TRY(mt_meaning_give(r->heap, node, r->meaning, e->bytes, MT_UNKNOWN, err));
        if (i % EVENTS_PER_CHECK == 0)
            MT_TRY(check_memory(r, err));
    }
    return mt_heap_close(r->heap, err);
}

/* Functions come last: where the file ends before them, nothing can be kept of it. */
static enum mt_status read_all(struct reader *r, struct mt_stream *in, struct mt_err *err)
{
    MT_TRY(mt_json_walk_begin(&r->walk, in, err));
    enum mt_status st = read_document(r, err);
    if (st != MT_OK && r->walk.cut)
        mt_err_hint(err, "Nothing was imported. The names of functions come last in such a file.");
    MT_TRY(st);
    MT_TRY(mt_reader_json_rest(&r->walk, r->rec, err));
    return give(r, err);
}

static enum mt_status gprof2dot_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                     struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {.walk = {.progress = opts->progress, .closure = opts->closure},
                       .opts = opts,
                       .rec = rec,
                       .meaning = mt_meaning_of(opts, MT_MEANS_AT_PEAK, rec)};
    rec->time_unit = NULL;
    mt_path_tree_init(&r.paths, rec);
    r.heap = mt_heap_open(rec, MT_DEVICE_HEAP);
    mt_heap_knows(r.heap, mt_meaning_figures(r.meaning, false));
    enum mt_status st = read_all(&r, in, err);
    mt_heap_free(r.heap);
    mt_rec_beside(rec, &r.beside, 0);
    mt_path_tree_free(&r.paths);
    mt_json_walk_free(&r.walk);
    mt_vec_free(&r.events);
    mt_vec_free(&r.chain);
    mt_vec_free(&r.functions);
    mt_buf_free(&r.name);
    mt_buf_free(&r.module);
    return st;
}

static int gprof2dot_probe(const char *head, size_t n)
{
    return mt_head_is_object(head, n) && mt_head_has(head, n, "\"costs\"") &&
                   (mt_head_has(head, n, "\"callchain\"") || mt_head_has(head, n, "\"functions\""))
               ? 93
               : 0;
}

const struct mt_reader mt_reader_gprof2dot = {
    .name = "gprof2dot",
    .kind = MT_RUN_HEAP,
    .probe = gprof2dot_probe,
    .read = gprof2dot_read,
};
