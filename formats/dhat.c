/*
 * Reader of the JSON that DHAT writes (valgrind --tool=dhat, format version 2), and of what
 * imitates it (dhat-rs). docs/formats/dhat.md says what is read. The sums of call paths come first
 * and name frames by number; the table of frames comes last: the sums are kept until then, in
 * arrays.
 */
#include "formats/format.h"
#include "formats/valgrind_frames.h"
#include "lib/base/human.h"
#include "lib/input/json_walk.h"
#include "lib/model/heap.h"

#include <string.h>

enum {
    VERSION = 2,      /* of the format */
    STACK_MAX = 4096, /* frames of a path */
    CUT_AT = 10,      /* stacks of as many calls as the longest are cut, if it has so many */
};

/* Figures of a path. */
enum figure { TB, TBK, TL, GB, GBK, EB, EBK, RB, WB, FIGURE_N };
static const char *const figures[FIGURE_N] = {"tb", "tbk", "tl", "gb", "gbk",
                                              "eb", "ebk", "rb", "wb"};

struct path {
    int64_t v[FIGURE_N]; /* MT_UNKNOWN: not there */
    size_t first, n;     /* of `stacks`, innermost first */
    uint64_t offset;
};

struct reader {
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_json_walk w;
    struct mt_path_tree paths;
    struct mt_heap *heap;
    MT_VEC(struct path) sums;
    MT_VEC(uint32_t) stacks; /* numbers of frames */
    MT_VEC(struct mt_native_step) frames;
    MT_VEC(uint64_t) addresses; /* of frames */
    struct mt_buf text, unit;   /* scratch; the time's unit */
    int64_t version, end, peak; /* MT_UNKNOWN: not there */
    bool lifetimes;             /* "bklt": the moments of the peak and the end are known */
    bool has_sums, has_frames;
    size_t left_out_n; /* of `sums` */
    uint64_t beside;   /* counted in rec->beside_bytes */
};

static enum mt_status refuse(uint64_t offset, const char *what, struct mt_err *err)
{
    err->offset = (int64_t)offset;
    MT_FAIL(err, MT_EINPUT, "%s", what);
    mt_err_hint(err, "Nothing was imported. memtool reads what valgrind --tool=dhat writes.");
    return MT_EINPUT;
}

/* The memory limit holds for what is kept beside the recording, too. */
static enum mt_status check_memory(struct reader *r, struct mt_err *err)
{
    uint64_t now = mt_vec_bytes(&r->sums) + mt_vec_bytes(&r->stacks) + mt_vec_bytes(&r->frames) +
                   mt_vec_bytes(&r->addresses) + mt_path_tree_bytes(&r->paths);
    mt_rec_beside(r->rec, &r->beside, now);
    return mt_rec_check_memory(r->rec, err);
}

/* ---- a path ---- */

static enum mt_status read_stack(struct reader *r, struct path *p, struct mt_err *err)
{
    bool any;
    struct mt_slice v;
    int64_t frame;
    p->first = r->stacks.n;
    MT_TRY(mt_json_walk_enter(&r->w, '[', err));
    for (;;) {
        MT_TRY(mt_json_walk_element(&r->w, &any, err));
        if (!any)
            break;
        uint64_t offset = mt_json_walk_offset(&r->w);
        MT_TRY(mt_json_walk_value(&r->w, &v, err));
        if (!mt_json_int(v, &frame) || frame < 0 || frame >= UINT32_MAX)
            return refuse(offset, "a frame of a stack is no number of a frame", err);
        if (r->stacks.n - p->first == STACK_MAX)
            return refuse(offset, "a stack has more than 4096 frames", err);
        *mt_vec_push(&r->stacks) = (uint32_t)frame;
    }
    p->n = r->stacks.n - p->first;
    return MT_OK;
}

static int figure_of(const char *key)
{
    for (int i = 0; i < FIGURE_N; i++)
        if (strcmp(key, figures[i]) == 0)
            return i;
    return -1;
}

/* Whether the figures can be true. */
static bool is_sound(const struct path *p, bool lifetimes)
{
    for (int i = 0; i < FIGURE_N; i++)
        if (p->v[i] < 0 && p->v[i] != MT_UNKNOWN)
            return false;
    if (p->v[TB] == MT_UNKNOWN || p->v[TBK] == MT_UNKNOWN)
        return false;
    for (int i = GB; lifetimes && i <= EBK; i += 2)
        if (p->v[i] == MT_UNKNOWN || p->v[i + 1] == MT_UNKNOWN || p->v[i] > p->v[TB] ||
            p->v[i + 1] > p->v[TBK])
            return false;
    return true;
}

static enum mt_status read_path(struct reader *r, struct mt_err *err)
{
    struct path p = {.offset = mt_json_walk_offset(&r->w), .first = r->stacks.n};
    for (int i = 0; i < FIGURE_N; i++)
        p.v[i] = MT_UNKNOWN;
    bool any, wrong = false;
    struct mt_slice v;
    MT_TRY(mt_json_walk_enter(&r->w, '{', err));
    for (;;) {
        MT_TRY(mt_json_walk_member(&r->w, &any, err));
        if (!any)
            break;
        if (strcmp(r->w.key.s, "fs") == 0) {
            MT_TRY(read_stack(r, &p, err));
            continue;
        }
        int figure = figure_of(r->w.key.s);
        MT_TRY(mt_json_walk_value(&r->w, &v, err));
        if (figure >= 0 && !mt_json_int(v, &p.v[figure]))
            wrong = true;
    }
    if (wrong)
        p.v[TB] = MT_UNKNOWN;
    *mt_vec_push(&r->sums) = p;
    return r->sums.n % 1024 == 0 ? check_memory(r, err) : MT_OK;
}

static enum mt_status read_sums(struct reader *r, struct mt_err *err)
{
    bool any;
    if (r->has_sums)
        return refuse(mt_json_walk_offset(&r->w), "it has \"pps\" twice", err);
    r->has_sums = true;
    MT_TRY(mt_json_walk_enter(&r->w, '[', err));
    for (;;) {
        MT_TRY(mt_json_walk_element(&r->w, &any, err));
        if (!any)
            return MT_OK;
        MT_TRY(read_path(r, err));
    }
}

/* ---- frames ---- */

static enum mt_status read_frames(struct reader *r, struct mt_err *err)
{
    bool any, is;
    if (r->has_frames)
        return refuse(mt_json_walk_offset(&r->w), "it has \"ftbl\" twice", err);
    r->has_frames = true;
    MT_TRY(mt_json_walk_enter(&r->w, '[', err));
    for (;;) {
        MT_TRY(mt_json_walk_element(&r->w, &any, err));
        if (!any)
            return MT_OK;
        uint64_t offset = mt_json_walk_offset(&r->w);
        mt_buf_clear(&r->text);
        mt_buf_adds(&r->text, "");
        MT_TRY(mt_json_walk_text(&r->w, &r->text, &is, err));
        if (!is)
            return refuse(offset, "a frame of its table is no text", err);
        struct mt_native_frame f = mt_valgrind_frame(r->text.s, mt_vec_push(&r->addresses));
        *mt_vec_push(&r->frames) = mt_native_step(&r->paths, &f, r->opts->alloc_fn);
        if (r->frames.n % 1024 == 0)
            MT_TRY(check_memory(r, err));
    }
}

/* ---- the rest of the document ---- */

static void keep_meta(struct reader *r, struct mt_slice value)
{
    if (value.n <= 64 * 1024)
        mt_rec_meta(r->rec, r->w.key.s, value.s, value.n);
}

static enum mt_status check_mode(struct reader *r, uint64_t offset, struct mt_err *err)
{
    const char *mode = r->text.s;
    if (strcmp(mode, "heap") == 0 || strcmp(mode, "rust-heap") == 0)
        return MT_OK;
    err->offset = (int64_t)offset;
    if (strcmp(mode, "copy") == 0)
        MT_FAIL(err, MT_EINPUT,
                "DHAT counted here what was copied (--mode=copy), not what was "
                "allocated");
    else
        MT_FAIL(err, MT_EINPUT, "DHAT counted here events of its mode '%.40s', not allocations",
                mode);
    mt_err_hint(err, "Nothing was imported. valgrind --tool=dhat without --mode counts "
                     "allocations.");
    return MT_EINPUT;
}

static enum mt_status check_version(struct reader *r, uint64_t offset, struct mt_err *err)
{
    if (r->version == VERSION)
        return MT_OK;
    err->offset = (int64_t)offset;
    if (r->version == MT_UNKNOWN)
        MT_FAIL(err, MT_EINPUT, "its \"dhatFileVersion\" is no number");
    else
        MT_FAIL(err, MT_EINPUT, "DHAT's format version %lld; memtool reads version %d",
                (long long)r->version, VERSION);
    mt_err_hint(err, "Nothing was imported. valgrind 3.17 and later write version 2.");
    return MT_EINPUT;
}

static void read_time(struct reader *r, struct mt_slice v, uint64_t offset, int64_t *out)
{
    if (mt_json_int(v, out) && *out >= 0)
        return;
    mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)offset, 0);
    *out = MT_UNKNOWN;
}

/* A value that is a text or a number of the file's head. */
static enum mt_status read_value(struct reader *r, struct mt_err *err)
{
    const char *key = r->w.key.s;
    uint64_t offset = mt_json_walk_offset(&r->w);
    struct mt_slice v, text;
    MT_TRY(mt_json_walk_value(&r->w, &v, err));
    mt_buf_clear(&r->text);
    mt_buf_adds(&r->text, "");
    if (*v.s == '"' && mt_json_string(&r->w.json, v.s, &text))
        mt_json_unescape(&r->text, text);
    if (strcmp(key, "dhatFileVersion") == 0) {
        if (!mt_json_int(v, &r->version))
            r->version = MT_UNKNOWN;
        return check_version(r, offset, err);
    }
    if (strcmp(key, "mode") == 0)
        MT_TRY(check_mode(r, offset, err));
    else if (strcmp(key, "bklt") == 0)
        r->lifetimes = v.n == 4 && memcmp(v.s, "true", 4) == 0;
    else if (strcmp(key, "te") == 0)
        read_time(r, v, offset, &r->end);
    else if (strcmp(key, "tg") == 0)
        read_time(r, v, offset, &r->peak);
    else if (strcmp(key, "tu") == 0) {
        mt_buf_clear(&r->unit);
        mt_buf_adds(&r->unit, r->text.s);
    }
    if (*v.s != '{' && *v.s != '[')
        keep_meta(r, v);
    return MT_OK;
}

static enum mt_status read_document(struct reader *r, struct mt_err *err)
{
    bool any;
    MT_TRY(mt_json_walk_enter(&r->w, '{', err));
    for (;;) {
        MT_TRY(mt_json_walk_member(&r->w, &any, err));
        if (!any)
            return MT_OK;
        if (strcmp(r->w.key.s, "pps") == 0)
            MT_TRY(read_sums(r, err));
        else if (strcmp(r->w.key.s, "ftbl") == 0)
            MT_TRY(read_frames(r, err));
        else
            MT_TRY(read_value(r, err));
    }
}

/* ---- what was read becomes the recording ---- */

/* What is too large stays so. */
static int64_t times(int64_t t, int64_t factor)
{
    return t <= INT64_MAX / factor ? t * factor : INT64_MAX;
}

/* Times are in instructions, or, of dhat-rs, in microseconds. */
static enum mt_status set_times(struct reader *r, struct mt_err *err)
{
    const char *unit = r->unit.s ? r->unit.s : "";
    int64_t factor = 1;
    if (strcmp(unit, "instrs") == 0) {
        r->rec->time_unit = "instructions";
    } else if (strcmp(unit, "\xc2\xb5s") == 0 || strcmp(unit, "us") == 0) {
        r->rec->time_unit = "ns";
        r->rec->resolution_ns = factor = 1000;
    } else {
        r->rec->time_unit = NULL;
        return MT_OK;
    }
    if (r->peak != MT_UNKNOWN && r->lifetimes)
        MT_TRY(mt_heap_peak_at(r->heap, times(r->peak, factor), err));
    return r->end == MT_UNKNOWN ? MT_OK : mt_heap_until(r->heap, times(r->end, factor), err);
}

/* The frames of a stack; those that are not in a table which was cut off are unknown. */
static enum mt_status stack_of(struct reader *r, const struct path *p, struct mt_native_step *out,
                               struct mt_err *err)
{
    static const struct mt_native_frame unknown = {"", "", "", 0};
    for (size_t i = 0; i < p->n; i++) {
        uint32_t frame = r->stacks.v[p->first + i];
        if (frame < r->frames.n) {
            out[i] = r->frames.v[frame];
        } else if (r->rec->notes[MT_NOTE_CUT].count) {
            out[i] = mt_native_step(&r->paths, &unknown, NULL);
        } else {
            err->offset = (int64_t)p->offset;
            MT_FAIL(err, MT_EINPUT, "a stack has frame %u, and its table only %zu", frame,
                    r->frames.n);
            mt_err_hint(err, "Nothing was imported. The file is damaged: record it again.");
            return MT_EINPUT;
        }
    }
    return MT_OK;
}

static enum mt_status give(struct reader *r, const struct path *p, uint32_t node,
                           struct mt_err *err)
{
    struct mt_sums s = {.alloc_b = p->v[TB],
                        .alloc_n = p->v[TBK],
                        .at_peak_b = p->v[GB],
                        .at_peak_n = p->v[GBK],
                        .at_end_b = p->v[EB],
                        .at_end_n = p->v[EBK]};
    enum mt_status st = mt_heap_sums(r->heap, node, &s, err);
    if (st == MT_EINPUT && err->offset < 0)
        err->offset = (int64_t)p->offset;
    static const struct extra {
        enum figure figure;
        const char *name;
    } extras[] = {{TL, "lifetime"}, {RB, "read_b"}, {WB, "written_b"}};
    for (size_t i = 0; i < MT_ARRAY_LEN(extras) && node != MT_NONE; i++)
        if (p->v[extras[i].figure] != MT_UNKNOWN)
            mt_heap_extra(r->heap, node, extras[i].name, p->v[extras[i].figure]);
    return st;
}

static size_t calls_of(const struct reader *r, const struct path *p)
{
    struct mt_native_step stack[STACK_MAX];
    uint64_t addresses[STACK_MAX];
    for (size_t i = 0; i < p->n; i++) {
        uint32_t frame = r->stacks.v[p->first + i];
        bool is = frame < r->frames.n;
        stack[i] = is ? r->frames.v[frame] : (struct mt_native_step){MT_NONE, MT_NATIVE_CODE};
        addresses[i] = is ? r->addresses.v[frame] : 0;
    }
    return mt_valgrind_calls(stack, addresses, p->n);
}

/* The node of a stack; MT_NONE: it has no frames. longest: calls of the longest stack. */
static enum mt_status node_of(struct reader *r, const struct path *p, size_t longest,
                              uint32_t *node, struct mt_err *err)
{
    struct mt_native_step stack[STACK_MAX];
    *node = MT_NONE;
    if (!p->n)
        return MT_OK;
    MT_TRY(stack_of(r, p, stack, err));
    if (longest >= CUT_AT && !mt_native_is_rooted(stack, p->n) && calls_of(r, p) == longest)
        *node = mt_path_node(&r->paths, MT_NONE, mt_native_explicit(&r->paths, MT_STACK_CUT).frame);
    *node = mt_native_path(&r->paths, *node, stack, p->n, r->opts->cpp_frames == MT_CPP_ALL);
    return MT_OK;
}

static enum mt_status give_all(struct reader *r, struct mt_err *err)
{
    size_t longest = 0;
    mt_heap_knows(r->heap, r->lifetimes ? MT_SUM_ALL : MT_SUM_ALLOC_B | MT_SUM_ALLOC_N);
    for (size_t i = 0; i < r->sums.n; i++) {
        size_t calls = calls_of(r, &r->sums.v[i]);
        longest = calls > longest ? calls : longest;
    }
    for (size_t i = 0; i < r->sums.n; i++) {
        const struct path *p = &r->sums.v[i];
        uint32_t node;
        if (!is_sound(p, r->lifetimes)) {
            mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)p->offset, 0);
            r->left_out_n++;
            continue;
        }
        MT_TRY(node_of(r, p, longest, &node, err));
        MT_TRY(give(r, p, node, err));
        if (i % 256 == 0)
            MT_TRY(check_memory(r, err));
    }
    return MT_OK;
}

/* The file ends early: what is left of it is only of use when no sums are missing. */
static enum mt_status cut_off(struct reader *r, struct mt_err *err)
{
    if (r->opts->partial && r->has_frames) {
        mt_rec_note(r->rec, MT_NOTE_CUT, err->offset, 0);
        *err = (struct mt_err)MT_ERR_INIT;
        return MT_OK;
    }
    mt_err_hint(err, r->has_frames
                         ? "Nothing was imported. --partial keeps the figures, which are complete, "
                           "and the functions before that place."
                         : "Nothing was imported. The names of all functions stand behind that "
                           "place: copy the file again, or record it again.");
    return MT_EINPUT;
}

static enum mt_status check_whole(struct reader *r, struct mt_err *err)
{
    char paths[MT_HUMAN_LONG];
    if (r->version == MT_UNKNOWN)
        return refuse(0, "JSON of another tool: it has no \"dhatFileVersion\"", err);
    if (!r->has_sums || !r->has_frames)
        return refuse(mt_json_walk_offset(&r->w),
                      r->has_sums ? "it has no table of frames (\"ftbl\")"
                                  : "it has no figures (\"pps\")",
                      err);
    MT_TRY(give_all(r, err));
    if (!r->sums.n || r->left_out_n < r->sums.n)
        return MT_OK;
    err->offset = (int64_t)r->sums.v[0].offset;
    MT_FAIL(err, MT_EINPUT, "none of its figures can be true (%s)",
            mt_human_plural((int64_t)r->sums.n, "call path", paths));
    mt_err_hint(err, "Nothing was imported. Copy the file again, or record it again.");
    return MT_EINPUT;
}

static enum mt_status read_all(struct reader *r, struct mt_stream *in, struct mt_err *err)
{
    uint64_t n, first = 0;
    MT_TRY(mt_json_walk_begin(&r->w, in, err));
    enum mt_status st = read_document(r, err);
    if (st == MT_EINPUT && (r->w.cut || r->w.damaged))
        st = cut_off(r, err);
    MT_TRY(st);
    MT_TRY(check_whole(r, err));
    MT_TRY(set_times(r, err));
    if (!r->rec->notes[MT_NOTE_CUT].count) {
        MT_TRY(mt_json_walk_rest(&r->w, &n, &first, err));
        if (n)
            mt_rec_note_n(r->rec, MT_NOTE_TRAILING, n, (int64_t)first);
    }
    return mt_heap_close(r->heap, err);
}

static enum mt_status dhat_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {.opts = opts,
                       .rec = rec,
                       .w = {.progress = opts->progress, .closure = opts->closure},
                       .version = MT_UNKNOWN,
                       .end = MT_UNKNOWN,
                       .peak = MT_UNKNOWN,
                       .lifetimes = true};
    mt_path_tree_init(&r.paths, rec);
    r.heap = mt_heap_open(rec, MT_DEVICE_HEAP);
    enum mt_status st = read_all(&r, in, err);
    mt_heap_free(r.heap);
    mt_rec_beside(rec, &r.beside, 0);
    mt_path_tree_free(&r.paths);
    mt_json_walk_free(&r.w);
    mt_vec_free(&r.sums);
    mt_vec_free(&r.stacks);
    mt_vec_free(&r.frames);
    mt_vec_free(&r.addresses);
    mt_buf_free(&r.text);
    mt_buf_free(&r.unit);
    return st;
}

static int dhat_probe(const char *head, size_t n)
{
    static const char word[] = "\"dhatFileVersion\"";
    size_t i = n >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (i < n && (unsigned char)(head[i] - 1) < ' ')
        i++;
    return i < n && head[i] == '{' && memmem(head, n, word, sizeof word - 1) ? 96 : 0;
}

const struct mt_reader mt_reader_dhat = {
    .name = "dhat",
    .kind = MT_RUN_HEAP,
    .probe = dhat_probe,
    .read = dhat_read,
};
