/*
 * Reader of what Python's tracemalloc dumps (Snapshot.dump): the blocks that were alive then, each
 * with the lines of Python that allocated it. docs/formats/tracemalloc.md says what is read.
 */
#include "formats/format.h"
#include "formats/python_frames.h"
#include "lib/input/pickle.h"
#include "lib/model/heap.h"
#include "lib/model/paths.h"

#include <stdio.h>
#include <string.h>

#define CLASS_SNAPSHOT "tracemalloc.Snapshot"
#define CLASS_TRACES   "tracemalloc._Traces"

struct reader {
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_stream *in;
    struct mt_pickle *p;
    struct mt_path_tree paths;
    struct mt_heap *heap;
    struct mt_map frames;    /* file's string, line -> number of mt_path_frame */
    struct mt_strtab stacks; /* tuple of frames, node around it -> index of `made` */
    MT_VEC(struct made {
        uint32_t node;
        bool good;
    })
    made;
    uint64_t beside; /* counted in rec->beside_bytes */
    int64_t limit;   /* frames that the recorder kept of each block */
};

static enum mt_status pause_reading(void *closure, struct mt_err *err)
{
    struct reader *r = closure;
    if (r->opts->progress)
        r->opts->progress(r->opts->closure);
    uint64_t now = mt_pickle_bytes(r->p) + mt_path_tree_bytes(&r->paths) +
                   mt_map_bytes(&r->frames) + mt_strtab_bytes(&r->stacks) + mt_vec_bytes(&r->made);
    mt_rec_beside(r->rec, &r->beside, now);
    enum mt_status st = mt_rec_check_memory(r->rec, err);
    if (st != MT_OK)
        err->offset = (int64_t)mt_stream_offset(r->in);
    return st;
}

/* ---- call paths ---- */

static uint32_t explicit(struct reader *r, uint32_t parent, const char *name)
{
    return mt_path_node(&r->paths, parent, mt_native_explicit(&r->paths, name).frame);
}

/* The node of a trace's frames, most recent first; false: they are none. */
static bool node_of(struct reader *r, const mt_pvalue *frames, size_t n, uint32_t parent,
                    uint32_t *node)
{
    *node = parent;
    for (size_t i = n; i-- > 0;) {
        size_t parts;
        int64_t line;
        const mt_pvalue *f = mt_pickle_items(r->p, frames[i], &parts);
        const char *file = parts == 2 ? mt_pickle_str(r->p, f[0]) : NULL;
        if (!file || !mt_pickle_int(r->p, f[1], &line))
            return false;
        const uint64_t key = (uint64_t)mt_pickle_number(f[0]) << 32 | (uint32_t)line;
        uint32_t *number = mt_map_at(&r->frames, key);
        if (*number == MT_MAP_NONE)
            *number = mt_python_frame(&r->paths, "", file, line); /* "train.py:12" */
        *node = mt_path_node(&r->paths, *node, *number);
    }
    return true;
}

/* The same of a tuple of frames, which many traces refer to. */
static struct made node_of_tuple(struct reader *r, mt_pvalue tuple, uint32_t parent)
{
    const uint64_t key[] = {tuple, parent};
    uint32_t i = mt_strtab_add(&r->stacks, (const char *)key, sizeof key);
    if (i == r->made.n) {
        struct made made;
        size_t n;
        const mt_pvalue *frames = mt_pickle_items(r->p, tuple, &n);
        n = n > MT_STACK_MAX ? MT_STACK_MAX : n;
        made.good = node_of(r, frames, n, parent, &made.node);
        *mt_vec_push(&r->made) = made;
    }
    return r->made.v[i];
}

/* One block: (domain, size, ((file, line), ...)), since Python 3.9 with the number of all frames.
 */
static enum mt_status read_trace(struct reader *r, mt_pvalue trace, bool *good, struct mt_err *err)
{
    size_t n, frame_n;
    int64_t domain, size, all;
    uint32_t node = MT_NONE;
    const mt_pvalue *v = mt_pickle_items(r->p, trace, &n);
    *good = false;
    if (n < 3 || !mt_pickle_int(r->p, v[0], &domain) || !mt_pickle_int(r->p, v[1], &size) ||
        size < 0 || mt_pickle_kind(v[2]) != MT_PICKLE_TUPLE)
        return MT_OK;
    mt_pickle_items(r->p, v[2], &frame_n);
    if (domain) {
        char name[64];
        snprintf(name, sizeof name, "[domain %lld]", (long long)domain);
        node = explicit(r, node, name);
    }
    bool cut = frame_n > MT_STACK_MAX;
    if (n > 3 && r->limit > 1 && mt_pickle_int(r->p, v[3], &all) && all > (int64_t)frame_n)
        cut = true;
    if (cut)
        node = explicit(r, node, MT_STACK_CUT);
    const struct made made = node_of_tuple(r, v[2], node);
    *good = made.good;
    if (!made.good)
        return MT_OK;
    return mt_heap_left(r->heap, mt_heap_sized(r->heap, made.node, size), size, 1, err);
}

/* ---- the whole ---- */

static enum mt_status refuse(const char *what, struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT, "%s", what);
    return mt_reader_refuse(-1, "memtool reads what tracemalloc.take_snapshot().dump() writes.",
                            err);
}

static enum mt_status read_traces(struct reader *r, mt_pvalue root, struct mt_err *err)
{
    size_t n;
    bool good;
    mt_pvalue traces = mt_pickle_find(r->p, mt_pickle_find(r->p, root, "traces"), "_traces");
    const mt_pvalue *v = mt_pickle_items(r->p, traces, &n);
    if (mt_pickle_kind(traces) != MT_PICKLE_LIST && mt_pickle_kind(traces) != MT_PICKLE_TUPLE)
        return refuse("a pickle of something else: it has no traces of tracemalloc", err);
    if (!mt_pickle_int(r->p, mt_pickle_find(r->p, root, "traceback_limit"), &r->limit))
        r->limit = 1;
    mt_heap_knows(r->heap, MT_SUM_AT_END_B | MT_SUM_AT_END_N);
    for (size_t i = 0; i < n; i++) {
        MT_TRY(read_trace(r, v[i], &good, err));
        if (!good)
            mt_rec_note(r->rec, MT_NOTE_SKIPPED, -1, 0);
        if (i % 4096 == 0 || mt_rec_grew(r->rec))
            MT_TRY(pause_reading(r, err));
    }
    if (n && r->rec->notes[MT_NOTE_SKIPPED].count == n)
        return refuse("none of its traces can be read", err);
    return mt_heap_close(r->heap, err);
}

static enum mt_status tracemalloc_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                       struct mt_recording *rec, struct mt_err *err)
{
    static const char *const classes[] = {CLASS_SNAPSHOT, CLASS_TRACES, NULL};
    struct reader r = {.opts = opts, .rec = rec, .in = in};
    const struct mt_pickle_hooks hooks = {
        .pause = pause_reading, .closure = &r, .classes = classes};
    mt_pvalue root;
    rec->time_unit = NULL;
    mt_path_tree_init(&r.paths, rec);
    mt_strtab_init(&r.stacks);
    r.p = mt_pickle_new(in, &hooks, rec->max_bytes);
    r.heap = mt_heap_open(rec, MT_DEVICE_HEAP);
    enum mt_status st = mt_pickle_run(r.p, &root, err);
    if (st == MT_OK)
        st = read_traces(&r, root, err);
    mt_heap_free(r.heap);
    mt_rec_beside(rec, &r.beside, 0);
    mt_pickle_free(r.p);
    mt_path_tree_free(&r.paths);
    mt_map_free(&r.frames);
    mt_strtab_free(&r.stacks);
    mt_vec_free(&r.made);
    return st;
}

static int tracemalloc_probe(const char *head, size_t n)
{
    return n > 2 && (unsigned char)head[0] == 0x80 && memmem(head, n, "tracemalloc", 11) &&
                   memmem(head, n, "_Traces", 7)
               ? 96
               : 0;
}

const struct mt_reader mt_reader_tracemalloc = {
    .name = "tracemalloc",
    .kind = MT_RUN_HEAP,
    .binary = true,
    .probe = tracemalloc_probe,
    .read = tracemalloc_read,
};
