/*
 * Reader of the JSON that DHAT writes (valgrind --tool=dhat, format version 2), and of what
 * imitates it (dhat-rs). docs/formats/dhat.md says what is read. The sums of call paths come first
 * and name frames by number; the table of frames comes last: the sums are kept until then, in
 * arrays.
 */
#include "formats/dhat_parts.h"
#include "formats/head.h"
#include "formats/valgrind_frames.h"

#include <string.h>

enum { VERSION = 2 }; /* of the format */

static const char *const figures[MT_DHAT_FIGURE_N] = {"tb", "tbk", "tl", "gb", "gbk",
                                                      "eb", "ebk", "rb", "wb"};

static enum mt_status refuse(uint64_t offset, const char *what, struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT, "%s", what);
    return mt_reader_refuse((int64_t)offset, "memtool reads what valgrind --tool=dhat writes.",
                            err);
}

/* ---- a path ---- */

static enum mt_status read_stack(struct mt_dhat *r, struct mt_dhat_path *p, struct mt_err *err)
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
        if (r->stacks.n - p->first < MT_DHAT_STACK)
            *mt_vec_push(&r->stacks) = (uint32_t)frame;
    }
    p->n = r->stacks.n - p->first;
    return MT_OK;
}

static int figure_of(const char *key)
{
    for (int i = 0; i < MT_DHAT_FIGURE_N; i++)
        if (strcmp(key, figures[i]) == 0)
            return i;
    return -1;
}

static enum mt_status read_path(void *reader, struct mt_err *err)
{
    struct mt_dhat *r = reader;
    struct mt_dhat_path p = {.offset = mt_json_walk_offset(&r->w), .first = r->stacks.n};
    for (int i = 0; i < MT_DHAT_FIGURE_N; i++)
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
        p.v[MT_DHAT_TB] = MT_UNKNOWN;
    *mt_vec_push(&r->sums) = p;
    return r->sums.n % 1024 == 0 ? mt_dhat_check_memory(r, err) : MT_OK;
}

static enum mt_status read_sums(struct mt_dhat *r, struct mt_err *err)
{
    if (r->has_sums)
        return refuse(mt_json_walk_offset(&r->w), "it has \"pps\" twice", err);
    r->has_sums = true;
    return mt_json_walk_each(&r->w, read_path, r, err);
}

/* ---- frames ---- */

static enum mt_status read_frames(struct mt_dhat *r, struct mt_err *err)
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
        mt_buf_set(&r->text, "", 0);
        MT_TRY(mt_json_walk_text(&r->w, &r->text, &is, err));
        if (!is)
            return refuse(offset, "a frame of its table is no text", err);
        struct mt_native_frame f = mt_valgrind_frame(r->text.s, mt_vec_push(&r->addresses));
        *mt_vec_push(&r->frames) = mt_native_step(&r->paths, &f, r->opts->alloc_fn);
        if (r->frames.n % 1024 == 0)
            MT_TRY(mt_dhat_check_memory(r, err));
    }
}

/* ---- the rest of the document ---- */

static void keep_meta(struct mt_dhat *r, struct mt_slice value)
{
    if (value.n <= 64 * 1024)
        mt_rec_meta(r->rec, r->w.key.s, value.s, value.n);
}

static enum mt_status read_mode(struct mt_dhat *r, uint64_t offset, struct mt_err *err)
{
    static const struct {
        const char *name;
        enum mt_dhat_mode mode;
    } modes[] = {{"heap", MT_DHAT_HEAP},
                 {"rust-heap", MT_DHAT_HEAP},
                 {"copy", MT_DHAT_COPY},
                 {"ad-hoc", MT_DHAT_AD_HOC},
                 {"rust-ad-hoc", MT_DHAT_AD_HOC}};
    for (size_t i = 0; i < MT_ARRAY_LEN(modes); i++)
        if (strcmp(r->text.s, modes[i].name) == 0) {
            r->mode = modes[i].mode;
            return MT_OK;
        }
    MT_FAIL(err, MT_EINPUT,
            "DHAT counted here events of its mode '%.40s', which memtool does not know", r->text.s);
    return mt_reader_refuse((int64_t)offset, "memtool knows the modes heap, copy and ad-hoc.", err);
}

static enum mt_status check_version(struct mt_dhat *r, uint64_t offset, struct mt_err *err)
{
    if (r->version == VERSION)
        return MT_OK;
    if (r->version == MT_UNKNOWN)
        MT_FAIL(err, MT_EINPUT, "its \"dhatFileVersion\" is no number");
    else
        MT_FAIL(err, MT_EINPUT, "DHAT's format version %lld; memtool reads version %d",
                (long long)r->version, VERSION);
    return mt_reader_refuse((int64_t)offset, "valgrind 3.17 and later write version 2.", err);
}

static void read_time(struct mt_dhat *r, struct mt_slice v, uint64_t offset, int64_t *out)
{
    if (mt_json_int(v, out) && *out >= 0)
        return;
    mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)offset, 0);
    *out = MT_UNKNOWN;
}

/* A value that is a text or a number of the file's head. */
static enum mt_status read_value(struct mt_dhat *r, struct mt_err *err)
{
    const char *key = r->w.key.s;
    uint64_t offset = mt_json_walk_offset(&r->w);
    struct mt_slice v, text;
    MT_TRY(mt_json_walk_value(&r->w, &v, err));
    mt_buf_set(&r->text, "", 0);
    if (*v.s == '"' && mt_json_string(&r->w.json, v.s, &text))
        mt_json_unescape(&r->text, text);
    if (strcmp(key, "dhatFileVersion") == 0) {
        if (!mt_json_int(v, &r->version))
            r->version = MT_UNKNOWN;
        return check_version(r, offset, err);
    }
    if (strcmp(key, "mode") == 0)
        MT_TRY(read_mode(r, offset, err));
    else if (strcmp(key, "bklt") == 0)
        r->lifetimes = v.n == 4 && memcmp(v.s, "true", 4) == 0;
    else if (strcmp(key, "te") == 0)
        read_time(r, v, offset, &r->end);
    else if (strcmp(key, "tg") == 0)
        read_time(r, v, offset, &r->peak);
    else if (strcmp(key, "tuth") == 0)
        read_time(r, v, offset, &r->short_lived);
    else if (strcmp(key, "tu") == 0)
        mt_buf_set(&r->unit, r->text.s, r->text.n);
    if (*v.s != '{' && *v.s != '[')
        keep_meta(r, v);
    return MT_OK;
}

static enum mt_status read_document(struct mt_dhat *r, struct mt_err *err)
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

/* Times are in instructions, or, of dhat-rs, in microseconds. */
static void set_unit(struct mt_dhat *r)
{
    const char *unit = r->unit.s ? r->unit.s : "";
    r->tick = 1;
    r->rec->time_unit = "ns";
    if (strcmp(unit, "instrs") == 0)
        r->rec->time_unit = "instructions";
    else if (strcmp(unit, "\xc2\xb5s") == 0 || strcmp(unit, "us") == 0)
        r->rec->resolution_ns = r->tick = 1000;
    else
        r->rec->time_unit = NULL;
}

/* What is too large stays so. */
static int64_t time_of(const struct mt_dhat *r, int64_t t)
{
    return t <= INT64_MAX / r->tick ? t * r->tick : INT64_MAX;
}

static enum mt_status give_times(struct mt_dhat *r, struct mt_err *err)
{
    if (!r->rec->time_unit)
        return MT_OK;
    if (r->peak != MT_UNKNOWN && r->lifetimes)
        MT_TRY(mt_heap_peak_at(r->heap, time_of(r, r->peak), err));
    return r->end == MT_UNKNOWN ? MT_OK : mt_heap_until(r->heap, time_of(r, r->end), err);
}

/* The file ends early: what is left of it is only of use when no sums are missing. */
static enum mt_status cut_off(struct mt_dhat *r, struct mt_err *err)
{
    if (!r->has_frames)
        return mt_reader_refuse(-1,
                                "The names of all functions stand behind that place: copy the file "
                                "again, or record it again.",
                                err);
    mt_err_hint(err, "Nothing was imported. --partial keeps the figures, which are complete, and "
                     "the functions before that place.");
    return mt_reader_cut(r->opts, r->rec, (uint64_t)err->offset, "", err);
}

static enum mt_status check_whole(struct mt_dhat *r, struct mt_err *err)
{
    if (r->version == MT_UNKNOWN)
        return refuse(0, "JSON of another tool: it has no \"dhatFileVersion\"", err);
    if (!r->has_sums || !r->has_frames)
        return refuse(mt_json_walk_offset(&r->w),
                      r->has_sums ? "it has no table of frames (\"ftbl\")"
                                  : "it has no figures (\"pps\")",
                      err);
    return MT_OK;
}

static enum mt_status read_all(struct mt_dhat *r, struct mt_stream *in, struct mt_err *err)
{
    MT_TRY(mt_json_walk_begin(&r->w, in, err));
    enum mt_status st = read_document(r, err);
    if (st == MT_EINPUT && (r->w.cut || r->w.damaged))
        st = cut_off(r, err);
    MT_TRY(st);
    MT_TRY(check_whole(r, err));
    set_unit(r);
    MT_TRY(mt_dhat_give(r, err));
    MT_TRY(give_times(r, err));
    if (!r->rec->notes[MT_NOTE_CUT].count)
        MT_TRY(mt_reader_json_rest(&r->w, r->rec, err));
    return mt_heap_close(r->heap, err);
}

static enum mt_status dhat_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                struct mt_recording *rec, struct mt_err *err)
{
    struct mt_dhat r = {.opts = opts,
                        .rec = rec,
                        .w = {.progress = opts->progress, .closure = opts->closure},
                        .version = MT_UNKNOWN,
                        .end = MT_UNKNOWN,
                        .peak = MT_UNKNOWN,
                        .short_lived = MT_UNKNOWN,
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
    return mt_head_is_object(head, n) && mt_head_has(head, n, "\"dhatFileVersion\"") ? 96 : 0;
}

const struct mt_reader mt_reader_dhat = {
    .name = "dhat",
    .kind = MT_RUN_HEAP,
    .probe = dhat_probe,
    .read = dhat_read,
};
