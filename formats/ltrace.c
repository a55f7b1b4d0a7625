/*
 * Reader of what ltrace writes, of the calls that allocate: malloc and its family, operator new and
 * delete. docs/formats/ltrace.md says what is read.
 */
#include "formats/call_lines.h"
#include "formats/format.h"
#include "formats/ltrace_calls.h"
#include "formats/native_paths.h"
#include "lib/input/lines.h"
#include "lib/model/heap.h"

#include <stdio.h>
#include <string.h>

enum { NESTED_MAX = 8 };
struct reader {
    struct mt_lines lines;
    struct mt_line line;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_path_tree paths;
    struct mt_heap *heap;
    MT_VEC(struct thread {
        struct mt_ltrace_call
            pending[NESTED_MAX]; /* calls that have not returned, outermost first */
        uint32_t pending_n;
        uint64_t inner_n, inner_at; /* calls since these began; offset of the first */
        uint32_t root;              /* node with --split thread; MT_NONE: none yet */
        bool allocates;             /* or frees */
    })
    threads;
    struct mt_map of_pid;
    struct mt_map moving;     /* block that a realloc() under way has moved -> its thread */
    struct mt_strtab objects; /* as written */
    MT_VEC(uint32_t) frames;  /* of these */
    struct mt_buf text;       /* scratch */
    struct mt_call_clock clock;
    int64_t first_time, event_n;
    bool timed, clocked; /* lines have times; the one under way has */
    uint64_t call_n, beside;
    uint32_t allocating_n;                      /* threads */
    uint64_t child_n, fork_n, exec_n, behind_n; /* what tells of other processes */
    uint64_t first;                             /* the least number of a thread, less 1 */
    bool first_ended;
};

static void skip(struct reader *r)
{
    mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
}

/* ---- threads and callers ---- */

static uint32_t thread_of(struct reader *r, uint64_t pid)
{
    uint32_t *at = mt_map_at(&r->of_pid, pid);
    if (*at == MT_MAP_NONE) {
        *at = (uint32_t)r->threads.n;
        *mt_vec_push(&r->threads) = (struct thread){.root = MT_NONE};
    }
    return *at;
}

static uint32_t root_of(struct reader *r, uint32_t thread)
{
    struct thread *t = &r->threads.v[thread];
    if (r->opts->split & MT_SPLIT_THREAD && t->root == MT_NONE)
        t->root = mt_path_thread(&r->paths, thread);
    return t->root;
}

/* The path is who calls: "[libstdc++.so.6]". */
static uint32_t node_of(struct reader *r, uint32_t thread, uint32_t object)
{
    uint32_t root = root_of(r, thread);
    return object == MT_NONE ? root : mt_path_node(&r->paths, root, r->frames.v[object]);
}

static uint32_t object_of(struct reader *r, const char *s, size_t n)
{
    uint32_t id = mt_strtab_add(&r->objects, s, n);
    if (id == r->frames.n) {
        mt_buf_set(&r->text, s, strnlen(s, n));
        const struct mt_native_frame f = {.name = "", .object = r->text.s, .file = ""};
        *mt_vec_push(&r->frames) = mt_native_step(&r->paths, &f, r->opts->alloc_fn).frame;
    }
    return id;
}

/* ---- calls ---- */

static enum mt_status tick(struct reader *r, struct mt_err *err)
{
    r->call_n++;
    if (r->timed)
        return MT_OK;
    r->rec->time_unit = "events";
    return mt_heap_tick(r->heap, ++r->event_n, err);
}

/* The outermost call of a thread is over. */
static void forget_moving(struct reader *r, uint32_t thread)
{
    const struct mt_ltrace_call *call = &r->threads.v[thread].pending[0];
    if (mt_ltrace_moves(call) && mt_map_get(&r->moving, call->old) == thread)
        mt_map_take(&r->moving, call->old);
}

/* A block that another thread's realloc() has given back before it returns, and that is allocated
 * anew. */
static enum mt_status free_moving(struct reader *r, uint64_t address, struct mt_err *err)
{
    uint32_t node, thread = address ? mt_map_get(&r->moving, address) : MT_MAP_NONE;
    if (thread == MT_MAP_NONE || !mt_heap_block_at(r->heap, address, &node))
        return MT_OK;
    forget_moving(r, thread);
    r->threads.v[thread].pending[0].old = 0;
    return mt_heap_free_at(r->heap, address, err);
}

/* A call has returned. f: what stands behind its "=" */
static enum mt_status give_block(struct reader *r, uint32_t thread,
                                 const struct mt_ltrace_call *call, struct mt_fields f,
                                 struct mt_err *err)
{
    uint64_t address = 0;
    if (!mt_ltrace_address(&f, &address) || (f.p < f.end && *f.p != ' ' && *f.p != '\t')) {
        skip(r);
        return MT_OK;
    }
    MT_TRY(tick(r, err));
    MT_TRY(free_moving(r, address, err));
    uint32_t node = node_of(r, thread, call->object);
    if (call->op == MT_LTRACE_MOVES || call->op == MT_LTRACE_MOVES_MANY) /* of nothing, too */
        return mt_heap_realloc_at(r->heap, call->old, address, node, call->bytes, err);
    return address ? mt_heap_alloc_at(r->heap, address, node, call->bytes, err) : MT_OK;
}

/* Calls that a thread has begun do not return, as the log lacks that, or the thread has ended. What
 * it called since then may have been calls of its own. */
static void give_up(struct reader *r, uint32_t thread)
{
    struct thread *t = &r->threads.v[thread];
    if (t->pending_n)
        forget_moving(r, thread);
    if (t->inner_n)
        mt_rec_note_n(r->rec, MT_NOTE_SKIPPED, t->inner_n, (int64_t)t->inner_at);
    t->pending_n = 0;
    t->inner_n = 0;
}

/* A process is over when its first thread is, which has the least number: what comes behind that is
 * of another one, or of another log. */
static void watch_first(struct reader *r, uint64_t pid, bool ends)
{
    if (pid - 1 < r->first) {
        r->first = pid - 1;
        r->first_ended = false;
        r->behind_n = 0;
    }
    r->first_ended |= ends && pid - 1 == r->first;
}

static void count_call(struct reader *r, struct thread *t)
{
    r->allocating_n += !t->allocates;
    t->allocates = true;
    r->behind_n += r->first_ended;
    r->first_ended = false;
}

/* What a call says that has begun and is not to return later. One whose result is not there was
 * torn by what the program printed: of its arguments nobody knows where they end, but of a block
 * that is known. */
static enum mt_status act(struct reader *r, uint32_t thread, const struct mt_ltrace_call *call,
                          struct mt_fields f, struct mt_err *err)
{
    uint32_t node;
    const bool whole = mt_ltrace_result(&f);
    if (call->op != MT_LTRACE_FREES && whole)
        return give_block(r, thread, call, f, err);
    if (!whole && (call->op != MT_LTRACE_FREES || !mt_heap_block_at(r->heap, call->old, &node))) {
        skip(r);
        return MT_OK;
    }
    MT_TRY(tick(r, err));
    return call->old ? mt_heap_free_at(r->heap, call->old, err) : MT_OK;
}

/* A call that begins; what it calls itself says the same once more. A block is free from the
 * beginning of free() on, and allocated from the end of malloc() on: so do others see it. */
static enum mt_status begin_call(struct reader *r, uint32_t thread, struct mt_fields f,
                                 struct mt_err *err)
{
    struct thread *t = &r->threads.v[thread];
    struct mt_ltrace_call call = {.object = MT_NONE};
    const char *object;
    size_t object_n = 0;
    if (mt_ltrace_name(&f, &call, &object, &object_n) == MT_LTRACE_FORKS) {
        r->fork_n++;
        return MT_OK;
    }
    if (call.op != MT_LTRACE_NOTHING)
        count_call(r, t);
    bool later = mt_ltrace_later(&f);
    bool inner = t->pending_n > 0;
    if (call.op != MT_LTRACE_NOTHING && inner && !t->inner_n++)
        t->inner_at = r->line.offset;
    if (call.op == MT_LTRACE_NOTHING && inner && mt_field_take(&f, "__cxa_begin_catch("))
        give_up(r, thread); /* operator new has thrown */
    if (call.op == MT_LTRACE_NOTHING && mt_ltrace_hides(&f))
        skip(r);
    if (call.op == MT_LTRACE_NOTHING || (inner && !later))
        return MT_OK;
    if (r->timed && !r->clocked) { /* what stands before it cannot be read, so who calls neither */
        skip(r);
        return MT_OK;
    }
    if (object)
        call.object = object_of(r, object, object_n);
    if (call.op != MT_LTRACE_LOST && !mt_ltrace_args(&f, &call))
        call.op = MT_LTRACE_LOST;
    if (later && call.op != MT_LTRACE_LOST && t->pending_n < NESTED_MAX)
        t->pending[t->pending_n++] = call;
    if (later && !inner && mt_ltrace_moves(&call))
        *mt_map_at(&r->moving, call.old) = thread;
    if (inner)
        return MT_OK;
    if (call.op == MT_LTRACE_LOST)
        skip(r);
    if (call.op == MT_LTRACE_FREES && later) {
        MT_TRY(tick(r, err));
        return call.old ? mt_heap_free_at(r->heap, call.old, err) : MT_OK;
    }
    return later || call.op == MT_LTRACE_LOST ? MT_OK : act(r, thread, &call, f, err);
}

/* Which call under way it is that "malloc resumed>" tells of, those it has called that do not
 * return being over; false: none. */
static bool find_begun(struct thread *t, const char *name, size_t n)
{
    for (uint32_t i = t->pending_n; i-- > 0;) {
        if (mt_ltrace_is(&t->pending[i], name, n)) {
            t->pending_n = i;
            return true;
        }
    }
    return false;
}

/* "<... malloc resumed> ) = 0x12" */
static enum mt_status end_call(struct reader *r, uint32_t thread, struct mt_fields f,
                               struct mt_err *err)
{
    struct thread *t = &r->threads.v[thread];
    const char *at = memmem(f.p, (size_t)(f.end - f.p), " resumed>", 9);
    mt_field_blanks(&f);
    if (!at || !find_begun(t, f.p, (size_t)(at - f.p)))
        return MT_OK;
    const struct mt_ltrace_call call = t->pending[t->pending_n];
    f.p = at + 9;
    if (!t->pending_n) {
        forget_moving(r, thread);
        t->inner_n = 0;
    }
    if (t->pending_n || call.op == MT_LTRACE_FREES || call.op == MT_LTRACE_LOST)
        return MT_OK;
    return act(r, thread, &call, f, err);
}

/* ---- the whole ---- */

static enum mt_status read_line(struct reader *r, struct mt_err *err)
{
    struct mt_fields f = mt_fields_of(r->line.s, r->line.n);
    uint64_t pid = mt_call_pid(&f);
    int64_t t;
    r->clocked = mt_call_time(&f, &r->clock, &t);
    bool timed = r->clocked && !r->event_n;
    mt_call_place(&f);
    if (timed && !r->timed)
        r->first_time = t;
    r->timed |= timed;
    if (timed)
        MT_TRY(mt_heap_tick(r->heap, t > r->first_time ? t - r->first_time : 0, err));
    if (mt_field_end(&f))
        return MT_OK;
    uint32_t thread = thread_of(r, pid);
    bool ends = mt_field_take(&f, "+++"); /* it has ended: another may get its number */
    watch_first(r, pid, ends);
    r->child_n += mt_field_take(&f, "--- SIGCHLD");
    r->exec_n += mt_field_take(&f, "--- Called exec") && r->threads.v[thread].allocates;
    if (ends) {
        give_up(r, thread);
        return MT_OK;
    }
    if (mt_field_take(&f, "<..."))
        return end_call(r, thread, f, err);
    return begin_call(r, thread, f, err);
}

static enum mt_status check_memory(struct reader *r, struct mt_err *err)
{
    mt_rec_beside(r->rec, &r->beside,
                  mt_path_tree_bytes(&r->paths) + mt_strtab_bytes(&r->objects) +
                      mt_vec_bytes(&r->frames) + mt_vec_bytes(&r->threads) +
                      mt_map_bytes(&r->of_pid) + mt_map_bytes(&r->moving));
    return mt_rec_check_memory(r->rec, err);
}

/* Children of which no call is in the log are not followed (no -f), or allocate nothing. */
static void note_processes(struct reader *r)
{
    uint64_t children = r->child_n > r->fork_n ? r->child_n : r->fork_n;
    uint64_t others = r->exec_n + r->behind_n + (r->allocating_n > 1 ? children : 0);
    if (others)
        mt_rec_note_n(r->rec, MT_NOTE_PROCESSES, others + 1, -1);
}

static enum mt_status read_all(struct reader *r, struct mt_err *err)
{
    bool any = true;
    enum mt_status st;
    while ((st = mt_reader_line(&r->lines, &r->line, r->opts, r->rec, &any, err)) == MT_OK && any) {
        MT_TRY(read_line(r, err));
        if (mt_lines_due(&r->lines))
            MT_TRY(check_memory(r, err));
    }
    MT_TRY(st);
    for (uint32_t i = 0; i < r->threads.n; i++)
        give_up(r, i);
    if (!r->call_n) {
        MT_FAIL(err, MT_EINPUT, "no call in it allocates");
        return mt_reader_refuse(
            -1, "ltrace -f -ttt -e malloc+free+calloc+realloc -o FILE COMMAND records them.", err);
    }
    note_processes(r);
    return mt_heap_close(r->heap, err);
}

static enum mt_status ltrace_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                  struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {
        .lines = {.in = in, .progress = opts->progress, .closure = opts->closure},
        .opts = opts,
        .rec = rec,
        .first = UINT64_MAX,
    };
    mt_path_tree_init(&r.paths, rec);
    mt_strtab_init(&r.objects);
    r.heap = mt_heap_open(rec, MT_DEVICE_HEAP);
    enum mt_status st = read_all(&r, err);
    mt_heap_free(r.heap);
    mt_rec_beside(rec, &r.beside, 0);
    mt_path_tree_free(&r.paths);
    mt_strtab_free(&r.objects);
    mt_vec_free(&r.frames);
    mt_vec_free(&r.threads);
    mt_map_free(&r.of_pid);
    mt_map_free(&r.moving);
    mt_buf_free(&r.text);
    return st;
}

/* One of the lines is a whole call that allocates or frees, as ltrace writes it, or the rest of
 * one: of a program's threads, or with system calls (-S), there may be no other. */
static int ltrace_probe(const char *head, size_t n)
{
    const char *p = head, *end = head + n;
    for (const char *stop; p < end && (stop = memchr(p, '\n', (size_t)(end - p))); p = stop + 1) {
        struct mt_fields f = mt_fields_of(p, (size_t)(stop - p));
        struct mt_call_clock clock = {0};
        int64_t t;
        mt_call_pid(&f);
        mt_call_time(&f, &clock, &t);
        mt_call_place(&f);
        mt_field_blanks(&f);
        if (mt_ltrace_whole(f) && !mt_ltrace_later(&f))
            return 92;
    }
    return 0;
}

const struct mt_reader mt_reader_ltrace = {
    .name = "ltrace",
    .kind = MT_RUN_HEAP,
    .probe = ltrace_probe,
    .reads_lines = true,
    .read = ltrace_read,
};
