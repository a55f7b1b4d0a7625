/*
 * Reader of allocator snapshots: the pickles that torch.cuda.memory._dump_snapshot() and its like
 * write. docs/formats/cuda-snapshot.md says what is read. This file finds the lists in the value
 * the pickle leaves; snapshot_objects.c makes small records of its dicts while it is read,
 * snapshot_replay.c plays the events.
 */
#include "formats/format.h"
#include "formats/head.h"
#include "formats/snapshot_cut.h"
#include "formats/snapshot_replay.h"
#include "lib/base/human.h"

#include <stdlib.h>
#include <string.h>

enum { META_MAX = 64 * 1024 };

/* What may be used of memory at first, and for each byte of the pickle: for its values, for the
 * records made of them, for call paths. Real snapshots need less than one byte in all; user
 * metadata need more values, and stacks that share nothing more paths. */
#define FIRST_BYTES       ((uint64_t)32 << 20)
#define BYTES_FOR_VALUES  2
#define BYTES_FOR_RECORDS 4
#define BYTES_FOR_PATHS   16

struct reader {
    struct mt_stream *in;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_pickle *p;
    struct mt_snap_objects objects;
    int type;                      /* of the devices */
    const struct mt_snap_cut *cut; /* it is not played, but a part of it is written; NULL: not */
    MT_VEC(struct mt_snap_source) sources;
};

/* A pickle can make values of a byte each, and a compressed file of a few bytes any number of them:
 * unless the user says what may be used, they are measured by the pickle. */
static enum mt_status check_ratio(const struct reader *r, struct mt_err *err)
{
    uint64_t read = mt_stream_offset(r->in), values = mt_pickle_bytes(r->p);
    uint64_t paths = mt_snap_paths_bytes(&r->objects.paths);
    uint64_t records = mt_snap_objects_bytes(&r->objects) - paths;
    char used[MT_HUMAN_MAX], of[MT_HUMAN_MAX];
    bool asked = r->rec->max_bytes && !r->rec->max_why;
    if (asked || (values <= FIRST_BYTES + BYTES_FOR_VALUES * read &&
                  records <= FIRST_BYTES + BYTES_FOR_RECORDS * read &&
                  paths <= FIRST_BYTES + BYTES_FOR_PATHS * read))
        return MT_OK;
    MT_FAIL(err, MT_ELIMIT,
            "needs %s of memory for the first %s of the pickle, more than any snapshot does",
            mt_human_bytes((int64_t)r->rec->beside_bytes, used), mt_human_bytes((int64_t)read, of));
    mt_err_hint(err, "Nothing was imported. `memtool import --max-memory SIZE` allows up to SIZE.");
    return MT_ELIMIT;
}

/* What the machine's values and the records made of them take counts together. */
static enum mt_status pause_reading(void *closure, struct mt_err *err)
{
    struct reader *r = closure;
    if (r->opts->progress)
        r->opts->progress(r->opts->closure);
    r->rec->event_n = r->objects.events.n;
    r->rec->beside_bytes = mt_pickle_bytes(r->p) + mt_snap_objects_bytes(&r->objects);
    enum mt_status st = check_ratio(r, err);
    if (st == MT_OK)
        st = mt_rec_check_memory(r->rec, err);
    if (st != MT_OK)
        err->offset = (int64_t)mt_stream_offset(r->in);
    return st;
}

static mt_pvalue dict(void *closure, struct mt_pickle *p, const mt_pvalue *v, size_t n)
{
    return mt_snap_dict(&((struct reader *)closure)->objects, p, v, n);
}

static mt_pvalue list(void *closure, struct mt_pickle *p, const mt_pvalue *v, size_t n)
{
    (void)p;
    return mt_snap_list(&((struct reader *)closure)->objects, v, n);
}

/* ---- the lists ---- */

static bool holds(const mt_pvalue *v, size_t n, uint32_t token_type)
{
    for (size_t i = 0; i < n; i++)
        if (!mt_pickle_is_token(v[i], token_type))
            return false;
    return true;
}

static enum mt_status no_snapshot(const char *what, struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT, "this pickle is not a memory snapshot: %s", what);
    return mt_reader_refuse(-1, "memtool reads what torch.cuda.memory._dump_snapshot() writes.",
                            err);
}

static struct mt_snap_source *add_source(struct reader *r, int type, int64_t number)
{
    struct mt_snap_source *s = mt_vec_push(&r->sources);
    *s = (struct mt_snap_source){.type = type, .number = number};
    return s;
}

/* One source per list of events. A profile's snapshot has the CPU behind the last GPU. */
static enum mt_status find_traces(struct reader *r, mt_pvalue traces, int type, struct mt_err *err)
{
    size_t n, events;
    const mt_pvalue *lists = mt_pickle_items(r->p, traces, &n);
    if (n > MT_DEVICES_MAX)
        return no_snapshot("it has more than 128 devices", err);
    for (size_t i = 0; i < n; i++) {
        const mt_pvalue *v = mt_pickle_items(r->p, lists[i], &events);
        bool cpu = r->objects.has_category && i + 1 == n && type != MT_DEVICE_HOST;
        if (!holds(v, events, MT_TOKEN_EVENT))
            return no_snapshot("a list of events holds something else", err);
        struct mt_snap_source *s = add_source(r, cpu ? MT_DEVICE_CPU : type, (int64_t)i);
        s->events = v;
        s->event_n = events;
    }
    return MT_OK;
}

/* Gives the sources from `first` on their segments, and adds devices that only segments name. */
static enum mt_status find_segments(struct reader *r, mt_pvalue segments, size_t first, int type,
                                    struct mt_err *err)
{
    size_t n;
    const mt_pvalue *v = mt_pickle_items(r->p, segments, &n);
    bool any_device = first < r->sources.n && r->sources.v[first].any_device;
    if (!holds(v, n, MT_TOKEN_SEGMENT))
        return no_snapshot("its list of segments holds something else", err);
    if (n > r->objects.segments.n || r->objects.final_blocks.n > r->objects.blocks.n)
        return no_snapshot("its list of segments holds one, or a block, more than once", err);
    for (size_t i = 0; i < n && !any_device; i++) {
        int64_t device = r->objects.segments.v[mt_pickle_number(v[i])].device;
        size_t k = first;
        while (k < r->sources.n && r->sources.v[k].number != device)
            k++;
        if (k < r->sources.n)
            continue;
        if (device < 0 || device >= MT_DEVICES_MAX)
            return no_snapshot("a segment's device is not in 0..127", err);
        add_source(r, type, device);
    }
    static const mt_pvalue none[1];
    for (size_t k = first; k < r->sources.n; k++) {
        r->sources.v[k].segments = v ? v : none;
        r->sources.v[k].segment_n = n;
    }
    return MT_OK;
}

/* Pinned memory of the host. Its events are one list, or a list per device; where there is only
 * one, all segments are its own, whatever device they name. */
static enum mt_status find_host(struct reader *r, mt_pvalue root, struct mt_err *err)
{
    size_t first = r->sources.n, n;
    mt_pvalue segments = mt_pickle_find(r->p, root, "host_segments");
    mt_pvalue traces = mt_pickle_find(r->p, root, "host_traces");
    const mt_pvalue *events = mt_pickle_items(r->p, traces, &n);
    if (n && mt_pickle_is_token(events[0], MT_TOKEN_EVENT)) {
        if (!holds(events, n, MT_TOKEN_EVENT))
            return no_snapshot("its list of host events holds something else", err);
        struct mt_snap_source *s = add_source(r, MT_DEVICE_HOST, 0);
        s->events = events;
        s->event_n = n;
    } else {
        MT_TRY(find_traces(r, traces, MT_DEVICE_HOST, err));
    }
    if (segments && first == r->sources.n)
        add_source(r, MT_DEVICE_HOST, 0);
    if (first + 1 == r->sources.n)
        r->sources.v[first].any_device = true;
    return segments ? find_segments(r, segments, first, MT_DEVICE_HOST, err) : MT_OK;
}

/* An event happens once. Of a few bytes that refer to one, or to a list of many, lists of any
 * length are made. */
static enum mt_status check_once(const struct reader *r, struct mt_err *err)
{
    uint64_t listed = 0;
    for (size_t i = 0; i < r->sources.n; i++)
        listed += r->sources.v[i].event_n;
    return listed > r->objects.events.n
               ? no_snapshot("its lists of events hold one more than once", err)
               : MT_OK;
}

/* Sources that have neither events nor segments are idle devices: left out. */
static void drop_idle(struct reader *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->sources.n; i++) {
        const struct mt_snap_source *s = &r->sources.v[i];
        bool used = s->event_n > 0;
        for (size_t k = 0; k < s->segment_n && !used; k++)
            used = mt_snap_is_own(&r->objects, s, s->segments[k]);
        if (used)
            r->sources.v[kept++] = *s;
    }
    r->sources.n = kept;
}

/* Whose events a region is around. It names the device that was current, which is device 0 where a
 * program says for each tensor where it is and sets no device: the first one that has events stands
 * for one that has none. */
static int64_t annotated(const struct reader *r, int64_t number)
{
    int64_t first = number;
    for (size_t i = r->sources.n; i-- > 0;) {
        const struct mt_snap_source *s = &r->sources.v[i];
        if (s->type == MT_DEVICE_HOST || !s->event_n)
            continue;
        if (s->number == number)
            return number;
        first = s->number;
    }
    return first;
}

/* ---- settings ---- */

/* Forks write the same dict with a setting's name of their own. */
static int device_type(const struct reader *r, mt_pvalue settings)
{
    static const struct {
        const char *key;
        int type;
    } forks[] = {{"PYTORCH_NPU_ALLOC_CONF", MT_DEVICE_NPU},
                 {"PYTORCH_MLU_ALLOC_CONF", MT_DEVICE_MLU},
                 {"PYTORCH_MUSA_ALLOC_CONF", MT_DEVICE_MUSA},
                 {"PYTORCH_XPU_ALLOC_CONF", MT_DEVICE_XPU}};
    for (size_t i = 0; i < MT_ARRAY_LEN(forks); i++)
        if (mt_pickle_find(r->p, settings, forks[i].key))
            return forks[i].type;
    return MT_DEVICE_CUDA;
}

static void add_meta(struct reader *r, const char *key, mt_pvalue value)
{
    struct mt_buf text = {0};
    mt_pickle_json(r->p, value, &text);
    if (text.n && text.n <= META_MAX)
        mt_rec_meta(r->rec, key, text.s, text.n);
    mt_buf_free(&text);
}

/* What a dict says by name; if small_only, without lists and the like. */
static void keep_members(struct reader *r, mt_pvalue dict_value, bool small_only)
{
    size_t n;
    const mt_pvalue *v = mt_pickle_items(r->p, dict_value, &n);
    for (size_t i = 0; i + 1 < n && mt_pickle_kind(dict_value) == MT_PICKLE_DICT; i += 2)
        if (mt_pickle_str(r->p, v[i]) && (!small_only || mt_pickle_kind(v[i + 1]) < MT_PICKLE_LIST))
            add_meta(r, mt_pickle_str(r->p, v[i]), v[i + 1]);
}

/* torch 2.12 and later say whether the ring buffer overflowed: a flag, or one per device. */
static bool is_overflowed(const struct reader *r, mt_pvalue dict_value)
{
    int64_t flag = 0;
    mt_pvalue v = mt_pickle_find(r->p, dict_value, "trace_alloc_overflowed");
    size_t n;
    const mt_pvalue *items = mt_pickle_items(r->p, v, &n);
    if (mt_pickle_int(r->p, v, &flag) && flag)
        return true;
    for (size_t i = 0; i < n; i++)
        if (mt_pickle_int(r->p, items[i], &flag) && flag)
            return true;
    return false;
}

static void add_notes(struct reader *r, mt_pvalue root, mt_pvalue settings)
{
    const struct mt_snap_objects *o = &r->objects;
    struct mt_note *notes = r->rec->notes;
    struct mt_buf names = {0};
    mt_snap_unknown_names(o, mt_pickle_strings(r->p), sizeof notes[0].detail - 1, &names);
    mt_rec_note_n(r->rec, MT_NOTE_UNKNOWN_ACTION, o->unknown_n, -1);
    mt_rec_note_detail(r->rec, MT_NOTE_UNKNOWN_ACTION, "%s", names.n ? names.s : "");
    mt_buf_free(&names);
    mt_rec_note_n(r->rec, MT_NOTE_BAD_SIZE, o->bad_n, -1);
    size_t most = 0; /* enabled="state" keeps one event per device */
    for (size_t i = 0; i < r->sources.n; i++)
        most = r->sources.v[i].event_n > most ? r->sources.v[i].event_n : most;
    if (most <= 1)
        mt_rec_note(r->rec, MT_NOTE_STATE_ONLY, -1, 0);
    if (o->events.n && !o->timed_n)
        mt_rec_note(r->rec, MT_NOTE_NO_TIMES, -1, 0);
    if (is_overflowed(r, root) || is_overflowed(r, settings))
        mt_rec_note(r->rec, MT_NOTE_HISTORY_CUT, -1, 0);
}

/* ---- the file ---- */

static enum mt_status use_root(struct reader *r, mt_pvalue root, struct mt_err *err)
{
    bool bare = mt_pickle_kind(root) == MT_PICKLE_LIST;
    mt_pvalue segments = bare ? root : mt_pickle_find(r->p, root, "segments");
    mt_pvalue traces = bare ? 0 : mt_pickle_find(r->p, root, "device_traces");
    mt_pvalue settings = bare ? 0 : mt_pickle_find(r->p, root, "allocator_settings");
    if (!traces && !bare)
        traces = mt_pickle_find(r->p, root, "traces");
    if (!segments && !traces)
        return no_snapshot("it has no list of segments", err);
    r->type = device_type(r, settings);
    MT_TRY(find_traces(r, traces, r->type, err));
    if (segments)
        MT_TRY(find_segments(r, segments, 0, r->type, err));
    MT_TRY(find_host(r, root, err));
    MT_TRY(check_once(r, err));
    drop_idle(r);
    for (size_t i = 0; i < r->objects.annotations.n; i++) {
        struct mt_snap_annotation *a = &r->objects.annotations.v[i];
        a->device = annotated(r, a->device);
    }
    if (r->cut) {
        size_t device_n;
        mt_pickle_items(r->p, traces, &device_n);
        mt_snap_cut_write(r->cut, &r->objects, r->p, r->sources.v, r->sources.n, settings,
                          device_n);
        return MT_OK;
    }
    keep_members(r, settings, false);
    keep_members(r, root, true); /* of the top level, what is not read */
    add_notes(r, root, settings);
    r->rec->event_n = r->objects.events.n;
    r->rec->whole_us = true;
    return mt_snap_replay(&r->objects, mt_pickle_strings(r->p), r->sources.v, r->sources.n, r->rec,
                          err);
}

/* Whether there is a pickle of protocol 2 or later. */
static bool begins_pickle(const char *p, size_t n)
{
    return n >= 2 && (unsigned char)p[0] == 0x80 && p[1] >= 2 && p[1] <= 5;
}

static enum mt_status two_pickles(const struct reader *r, size_t at, struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT, "another pickle follows the first");
    return mt_reader_refuse((int64_t)(mt_stream_offset(r->in) + at),
                            "Put each in a file of its own; --partial keeps the first.", err);
}

/* Reads on to the end, for the content's hash. Blanks are fine, and zero bytes, the padding of
 * those who embed pickles; other bytes are noted, but another pickle is an error, lest it is lost.
 */
static enum mt_status drain(struct reader *r, struct mt_err *err)
{
    struct mt_note *note = &r->rec->notes[MT_NOTE_TRAILING];
    const char *p;
    size_t n;
    for (;;) {
        enum mt_status st = mt_stream_peek(r->in, 2, &p, &n, err);
        if (st == MT_EINPUT && r->opts->partial) { /* the pickle itself is whole */
            *err = (struct mt_err)MT_ERR_INIT;
            mt_rec_note(r->rec, MT_NOTE_CUT, (int64_t)mt_stream_offset(r->in), 0);
            return MT_OK;
        }
        MT_TRY(st);
        if (!n)
            return MT_OK;
        size_t i = 0;
        for (; i < n; i++) {
            if (!p[i] || strchr(" \t\r\n", p[i]))
                continue;
            if (i && i + 1 == n)
                break; /* whether a pickle begins there, the next window tells */
            if (!note->count && !r->opts->partial && begins_pickle(p + i, n - i))
                return two_pickles(r, i, err);
            mt_rec_note(r->rec, MT_NOTE_TRAILING, (int64_t)(mt_stream_offset(r->in) + i), 0);
        }
        mt_stream_consume(r->in, i);
    }
}

static enum mt_status read_file(struct reader *r, struct mt_err *err)
{
    struct mt_pickle_hooks hooks = {
        .dict = dict, .list = list, .pause = pause_reading, .closure = r};
    enum mt_status st = MT_OK;
    mt_pvalue root;
    r->rec->without_ops = true;
    mt_snap_objects_init(&r->objects, r->opts->cpp_frames);
    r->p = mt_pickle_new(r->in, &hooks, r->rec->max_bytes);
    mt_snap_objects_add_words(mt_pickle_strings(r->p));
    MT_TRY_OUT(mt_pickle_run(r->p, &root, err));
    MT_TRY_OUT(drain(r, err));
    MT_TRY_OUT(use_root(r, root, err));
out:
    mt_pickle_free(r->p);
    mt_snap_objects_free(&r->objects);
    mt_vec_free(&r->sources);
    return st;
}

static enum mt_status snapshot_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                    struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {.in = in, .opts = opts, .rec = rec};
    return read_file(&r, err);
}

enum mt_status mt_snapshot_cut(struct mt_stream *in, const struct mt_snap_window *window, FILE *out,
                               struct mt_err *err)
{
    const struct mt_snap_cut cut = {*window, out};
    const struct mt_read_opts opts = {.partial = true};
    struct mt_recording rec;
    mt_rec_init(&rec);
    struct reader r = {.in = in, .opts = &opts, .rec = &rec, .cut = &cut};
    enum mt_status st = read_file(&r, err);
    mt_rec_free(&rec);
    return st;
}

/* Protocol 2 and later begin with their number, older ones with the list or dict itself. */
static int snapshot_probe(const char *head, size_t n)
{
    bool pickle = begins_pickle(head, n);
    if (!pickle && !(n && (head[0] == '(' || head[0] == ']' || head[0] == '}')))
        return 0;
    bool words = (mt_head_has(head, n, "segments") || mt_head_has(head, n, "segment_type")) &&
                 (mt_head_has(head, n, "device_traces") || mt_head_has(head, n, "total_size"));
    return words ? 95 : pickle ? 30 : 0;
}

const struct mt_reader mt_reader_cuda_snapshot = {
    .name = "cuda-snapshot",
    .kind = MT_RUN_SNAPSHOT,
    .binary = true,
    .probe = snapshot_probe,
    .read = snapshot_read,
};
