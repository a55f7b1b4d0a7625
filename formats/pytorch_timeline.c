/*
 * Reader of the memory timelines that PyTorch's profiler writes (prof.export_memory_timeline()):
 * of .raw.json.gz events, of .json what each category holds at each microsecond. The page that it
 * writes as .html holds a picture only. docs/formats/pytorch-timeline.md says what is read.
 */
#include "formats/format.h"
#include "lib/input/json_walk.h"
#include "lib/model/heap.h"
#include "lib/model/paths.h"

#include <string.h>

enum { CATEGORY_N = 8, ROW_N = 1 + CATEGORY_N, EVENT_N = 4, ROWS_PER_CHECK = 1 << 12 };

/* In PyTorch's order, in its words; the last is what it knows nothing of. */
static const char *const categories[CATEGORY_N] = {"parameter",       "optimizer state", "input",
                                                   "temporary",       "activation",      "gradient",
                                                   "autograd detail", "[unknown]"};

/* What PyTorch calls the second number of an event. */
enum action { PREEXISTING = 1, CREATE, INCREMENT_VERSION, DESTROY };

/* Which of its files it is. */
enum shape { NONE, EVENTS, LEVELS, NOTHING, EMPTY, PAGE };

struct reader {
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_json_walk w;
    struct mt_path_tree paths;
    struct mt_heap *heap;
    uint32_t nodes[CATEGORY_N];
    MT_VEC(int64_t) times; /* of levels */
    uint64_t beside;       /* counted in rec->beside_bytes */
    uint64_t row_n, left_out_n;
    bool has_base;
    struct { /* the first half of a change of version */
        bool is;
        int64_t t, bytes, category;
        uint64_t offset;
    } open;
};

static enum mt_status refuse(uint64_t offset, const char *what, struct mt_err *err)
{
    err->offset = (int64_t)offset;
    MT_FAIL(err, MT_EINPUT, "%s", what);
    mt_err_hint(err, "Nothing was imported. memtool reads what prof.export_memory_timeline() "
                     "writes.");
    return MT_EINPUT;
}

static enum mt_status check_memory(struct reader *r, struct mt_err *err)
{
    mt_rec_beside(r->rec, &r->beside, mt_vec_bytes(&r->times) + mt_path_tree_bytes(&r->paths));
    return mt_rec_check_memory(r->rec, err);
}

static uint32_t node_of(struct reader *r, int64_t category)
{
    uint32_t *node = &r->nodes[category];
    bool known = category + 1 < CATEGORY_N;
    if (*node == MT_NONE)
        *node = mt_path_node(&r->paths, MT_NONE,
                             mt_path_frame(&r->paths, categories[category], "", "", 0,
                                           known ? MT_PATH_CATEGORY : MT_PATH_ASIDE));
    return *node;
}

/* The n whole numbers of an array; false: it is another. */
static bool read_numbers(struct mt_slice v, int64_t *out, size_t n)
{
    const char *p = v.s, *end = v.s + v.n;
    if (v.n < 2 || *p++ != '[')
        return false;
    for (size_t i = 0; i < n; i++) {
        p = mt_json_space(p);
        const char *from = p;
        while (p < end && *p != ',' && *p != ']' && (unsigned char)*p > ' ')
            p++;
        if (!mt_json_int((struct mt_slice){from, (uint32_t)(p - from), false}, &out[i]))
            return false;
        p = mt_json_space(p);
        if (p >= end || *p++ != (i + 1 < n ? ',' : ']'))
            return false;
    }
    return p == end;
}

static void leave_out(struct reader *r, uint64_t offset)
{
    mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)offset, 0);
    r->left_out_n++;
}

/* ---- events: [time, action, bytes, category] ---- */

/* Two rows in a row: so much less of one category, so much more of the next. */
static enum mt_status change_version(struct reader *r, const int64_t row[EVENT_N], uint64_t offset,
                                     struct mt_err *err)
{
    if (!r->open.is) {
        r->open.is = true;
        r->open.t = row[0];
        r->open.bytes = row[2];
        r->open.category = row[3];
        r->open.offset = offset;
        return MT_OK;
    }
    r->open.is = false;
    if (r->open.t != row[0] || r->open.bytes > 0 || row[2] != -r->open.bytes) {
        leave_out(r, offset);
        return MT_OK;
    }
    return mt_heap_move(r->heap, node_of(r, r->open.category), node_of(r, row[3]), row[2], err);
}

static bool is_event(const int64_t row[EVENT_N])
{
    static const int64_t most = INT64_C(1) << 60;
    bool older = row[1] == PREEXISTING;
    return row[1] >= PREEXISTING && row[1] <= DESTROY && row[3] >= 0 && row[3] < CATEGORY_N &&
           row[0] >= (older ? -1 : 0) && row[2] >= -most && row[2] <= most &&
           (row[1] == INCREMENT_VERSION || (row[1] == DESTROY ? row[2] <= 0 : row[2] >= 0));
}

static enum mt_status read_event(struct reader *r, const int64_t row[EVENT_N], uint64_t offset,
                                 struct mt_err *err)
{
    if (r->open.is && row[1] != INCREMENT_VERSION) {
        leave_out(r, r->open.offset);
        r->open.is = false;
    }
    if (!is_event(row) || (row[1] == PREEXISTING && r->has_base)) {
        leave_out(r, offset);
        return MT_OK;
    }
    if (row[1] == PREEXISTING)
        return mt_heap_older(r->heap, node_of(r, row[3]), row[2], err);
    if (!r->has_base)
        r->rec->base_ns = row[0];
    r->has_base = true;
    MT_TRY(mt_heap_tick(r->heap, row[0] > r->rec->base_ns ? row[0] - r->rec->base_ns : 0, err));
    if (row[1] == INCREMENT_VERSION)
        return change_version(r, row, offset, err);
    return row[1] == CREATE ? mt_heap_alloc(r->heap, node_of(r, row[3]), row[2], err)
                            : mt_heap_dealloc(r->heap, node_of(r, row[3]), -row[2], err);
}

static enum mt_status read_events(struct reader *r, struct mt_err *err)
{
    bool any;
    struct mt_slice v;
    int64_t row[EVENT_N];
    MT_TRY(mt_json_walk_enter(&r->w, '[', err));
    for (;;) {
        MT_TRY(mt_json_walk_element(&r->w, &any, err));
        if (!any)
            return MT_OK;
        uint64_t offset = mt_json_walk_offset(&r->w);
        MT_TRY(mt_json_walk_value(&r->w, &v, err));
        if (!read_numbers(v, row, EVENT_N))
            return refuse(offset, "an event is no [time, action, bytes, category]", err);
        enum mt_status st = read_event(r, row, offset, err);
        if (st == MT_EINPUT && err->offset < 0)
            err->offset = (int64_t)offset;
        MT_TRY(st);
        if (++r->row_n % ROWS_PER_CHECK == 0)
            MT_TRY(check_memory(r, err));
    }
}

/* ---- levels: [[time, ...], [[0, bytes of each category], ...]] ---- */

static enum mt_status read_times(struct reader *r, struct mt_err *err)
{
    bool any;
    struct mt_slice v;
    int64_t t;
    MT_TRY(mt_json_walk_enter(&r->w, '[', err));
    for (;;) {
        MT_TRY(mt_json_walk_element(&r->w, &any, err));
        if (!any)
            return check_memory(r, err);
        uint64_t offset = mt_json_walk_offset(&r->w);
        MT_TRY(mt_json_walk_value(&r->w, &v, err));
        if (!mt_json_int(v, &t) || t < 0 || t > INT64_MAX / 1000)
            return refuse(offset, "a time is no number of microseconds", err);
        *mt_vec_push(&r->times) = t;
        if (r->times.n % ROWS_PER_CHECK == 0)
            MT_TRY(check_memory(r, err));
    }
}

static enum mt_status read_level(struct reader *r, const int64_t row[ROW_N], uint64_t offset,
                                 struct mt_err *err)
{
    int64_t total = 0, t = r->times.v[r->row_n] - r->times.v[0];
    for (int i = 1; i < ROW_N; i++) {
        if (row[i] < 0 || row[i] > INT64_MAX / ROW_N) {
            leave_out(r, offset);
            return MT_OK;
        }
        total += row[i];
    }
    MT_TRY(mt_heap_moment(r->heap, t > 0 ? t * 1000 : 0, total, true, err));
    for (int i = 1; i < ROW_N; i++)
        if (row[i])
            MT_TRY(mt_heap_held(r->heap, node_of(r, i - 1), row[i], MT_UNKNOWN, err));
    return MT_OK;
}

static enum mt_status read_rows(struct reader *r, struct mt_err *err)
{
    bool any;
    struct mt_slice v;
    int64_t row[ROW_N];
    MT_TRY(mt_json_walk_enter(&r->w, '[', err));
    for (;; r->row_n++) {
        MT_TRY(mt_json_walk_element(&r->w, &any, err));
        if (!any)
            break;
        uint64_t offset = mt_json_walk_offset(&r->w);
        MT_TRY(mt_json_walk_value(&r->w, &v, err));
        if (!read_numbers(v, row, ROW_N))
            return refuse(offset, "a row is not of 9 numbers: 0, and bytes of 8 categories", err);
        if (r->row_n == r->times.n)
            return refuse(offset, "it has more rows than times", err);
        MT_TRY(read_level(r, row, offset, err));
    }
    return r->row_n == r->times.n
               ? MT_OK
               : refuse(mt_json_walk_offset(&r->w), "it has more times than rows", err);
}

static enum mt_status read_levels(struct reader *r, struct mt_err *err)
{
    bool any;
    r->rec->resolution_ns = 1000;
    r->rec->whole_us = true;
    MT_TRY(mt_json_walk_enter(&r->w, '[', err));
    MT_TRY(mt_json_walk_element(&r->w, &any, err));
    MT_TRY(read_times(r, err));
    if (r->times.n)
        r->rec->base_ns = r->times.v[0] * 1000;
    MT_TRY(mt_json_walk_element(&r->w, &any, err));
    if (!any)
        return refuse(mt_json_walk_offset(&r->w), "it has times and no bytes", err);
    MT_TRY(read_rows(r, err));
    MT_TRY(mt_json_walk_element(&r->w, &any, err));
    return any ? refuse(mt_json_walk_offset(&r->w), "it has more than times and bytes", err)
               : MT_OK;
}

/* ---- which file it is ---- */

static const char *blanks(const char *p, const char *end)
{
    while (p < end && (unsigned char)(*p - 1) < ' ')
        p++;
    return p;
}

static bool take(const char **p, const char *end, char c)
{
    *p = blanks(*p, end);
    bool is = *p < end && **p == c;
    *p += is;
    return is;
}

static bool take_number(const char **p, const char *end, int64_t *v)
{
    *p = blanks(*p, end);
    const char *from = *p;
    *p += *p < end && **p == '-';
    while (*p < end && **p >= '0' && **p <= '9')
        ++*p;
    return mt_json_int((struct mt_slice){from, (uint32_t)(*p - from), false}, v);
}

/* Behind "[[": the numbers of the first array. Times are in microseconds since 1970. */
static enum shape shape_of_array(const char *p, const char *end)
{
    enum { SEEN = 16 };
    static const int64_t in_2001 = INT64_C(1000000000000000);
    int64_t v[SEEN];
    size_t n = 0;
    bool times = true;
    if (take(&p, end, ']'))
        return take(&p, end, ',') && take(&p, end, '[') && take(&p, end, ']') ? NOTHING : NONE;
    do {
        if (!take_number(&p, end, &v[n]))
            return NONE;
        times &= v[n] >= in_2001;
    } while (++n < SEEN && take(&p, end, ','));
    if (n < SEEN && p < end && !take(&p, end, ']'))
        return NONE;
    if (times)
        return LEVELS;
    return n == EVENT_N && is_event(v) && (take(&p, end, ',') || take(&p, end, ']')) ? EVENTS
                                                                                     : NONE;
}

static enum shape shape_of(const char *head, size_t n)
{
    static const char picture[] = "data:image/png;base64";
    const char *p = head, *end = head + n;
    p = blanks(p, end);
    if (p < end && *p == '<')
        return memmem(head, n, "Memory Timeline", 15) &&
                       memmem(head, n, picture, sizeof picture - 1)
                   ? PAGE
                   : NONE;
    if (!take(&p, end, '['))
        return NONE;
    if (take(&p, end, ']')) /* and that is all, as far as a probe sees */
        return blanks(p, end) == end ? EMPTY : NONE;
    return take(&p, end, '[') ? shape_of_array(p, end) : NONE;
}

static int timeline_probe(const char *head, size_t n)
{
    return shape_of(head, n) == NONE ? 0 : 92;
}

/* ---- the whole ---- */

static enum mt_status refuse_shape(enum shape shape, struct mt_err *err)
{
    if (shape == PAGE) {
        MT_FAIL(err, MT_EINPUT,
                "this page of PyTorch's memory timeline holds a picture, and no "
                "figures");
        mt_err_hint(err, "Nothing was imported. Export it as "
                         "prof.export_memory_timeline(\"timeline.raw.json.gz\").");
    } else if (shape == EMPTY) {
        MT_FAIL(err, MT_EINPUT, "an empty list: it holds no events");
        mt_err_hint(err, "Nothing was imported. If it is a memory timeline, the profiler saw "
                         "nothing of that device: export it for the one that the program uses.");
    } else {
        MT_FAIL(err, MT_EINPUT,
                "this memory timeline is empty: the profiler saw nothing of its "
                "device");
        mt_err_hint(err, "Nothing was imported. Export it for the device that the program uses: "
                         "prof.export_memory_timeline(path, device=\"cpu\").");
    }
    return MT_EINPUT;
}

static enum mt_status read_file(struct reader *r, enum shape shape, struct mt_err *err)
{
    enum mt_status st = shape == EVENTS ? read_events(r, err) : read_levels(r, err);
    if (st == MT_EINPUT && (r->w.cut || r->w.damaged) && (!r->opts->partial || r->row_n))
        st = mt_reader_cut(r->opts, r->rec, mt_json_walk_offset(&r->w),
                           "ends early: the file was cut off", err);
    MT_TRY(st);
    if (r->open.is && !r->rec->notes[MT_NOTE_CUT].count)
        leave_out(r, r->open.offset);
    if (r->row_n && r->left_out_n >= r->row_n)
        return refuse(0, "none of its rows can be true", err);
    if (!r->rec->notes[MT_NOTE_CUT].count) {
        MT_TRY(mt_reader_json_rest(&r->w, r->rec, err));
        if (shape == LEVELS)
            mt_heap_last_is_end(r->heap);
    }
    return mt_heap_close(r->heap, err);
}

static enum mt_status timeline_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                    struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {
        .opts = opts, .rec = rec, .w = {.progress = opts->progress, .closure = opts->closure}};
    const char *head;
    size_t n;
    enum mt_status st = mt_stream_peek(in, MT_PROBE_BYTES, &head, &n, err);
    if (st == MT_EINPUT && n) { /* damaged behind these bytes */
        *err = (struct mt_err)MT_ERR_INIT;
        st = MT_OK;
    }
    MT_TRY(st);
    enum shape shape = shape_of(head, n);
    if (shape == NONE)
        return refuse(0, "this is no memory timeline", err);
    if (shape != EVENTS && shape != LEVELS)
        return refuse_shape(shape, err);
    for (int i = 0; i < CATEGORY_N; i++)
        r.nodes[i] = MT_NONE;
    rec->time_unit = "ns";
    mt_path_tree_init(&r.paths, rec);
    r.heap = mt_heap_open(rec, MT_DEVICE_UNNAMED);
    st = mt_json_walk_begin(&r.w, in, err);
    if (st == MT_OK)
        st = read_file(&r, shape, err);
    mt_heap_free(r.heap);
    mt_rec_beside(rec, &r.beside, 0);
    mt_path_tree_free(&r.paths);
    mt_json_walk_free(&r.w);
    mt_vec_free(&r.times);
    return st;
}

const struct mt_reader mt_reader_pytorch_timeline = {
    .name = "pytorch-timeline",
    .kind = MT_RUN_HEAP,
    .probe = timeline_probe,
    .read = timeline_read,
};
