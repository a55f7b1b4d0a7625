/*
 * Reader of `memray stats --json`: totals of a capture, its peak, and the places that allocated
 * most. docs/formats/memray-reports.md says what is read.
 */
#include "formats/format.h"
#include "formats/head.h"
#include "formats/python_frames.h"
#include "lib/input/fields.h"
#include "lib/input/json_walk.h"
#include "lib/model/heap.h"

#include <string.h>

static const int64_t count_max = INT64_C(1) << 60; /* more cannot be true */

struct reader {
    struct mt_json_walk walk;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_path_tree paths;
    struct mt_heap *heap;
    int64_t bytes, blocks, peak; /* -1: the file does not say */
    int64_t listed;              /* bytes of the places that it lists */
    struct mt_buf text;          /* scratch */
};

static enum mt_status bad(struct reader *r, const char *what, struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT, "%s", what);
    return mt_reader_refuse((int64_t)mt_json_walk_offset(&r->walk), "", err);
}

static enum mt_status take_number(struct reader *r, int64_t *v, struct mt_err *err)
{
    struct mt_slice s;
    MT_TRY(mt_json_walk_value(&r->walk, &s, err));
    return mt_json_int(s, v) && *v >= 0 && *v <= count_max
               ? MT_OK
               : bad(r, "a number is not a whole one, 0 or more, that can be true", err);
}

/* "leaky:recorder/mr.py:3"; the file may have ":" in its name, too. */
static uint32_t frame_of(struct reader *r)
{
    char *name = r->text.s, *file = strchr(name, ':'), *number = strrchr(name, ':');
    int64_t line = 0;
    if (!file)
        return mt_python_frame(&r->paths, name, "", 0);
    struct mt_fields f = mt_fields_of(number + 1, strlen(number + 1));
    if (number > file && mt_field_decimal(&f, &line))
        *number = '\0';
    *file++ = '\0';
    return mt_python_frame(&r->paths, name, file, line);
}

/* {"location": "f:a.py:3", "size": 5000} */
static enum mt_status read_place(void *reader, struct mt_err *err)
{
    struct reader *r = reader;
    struct mt_sums sums = MT_SUMS_UNKNOWN;
    struct mt_slice other;
    int64_t bytes = 0;
    bool any, is;
    mt_buf_clear(&r->text);
    MT_TRY(mt_json_walk_enter(&r->walk, '{', err));
    for (;;) {
        MT_TRY(mt_json_walk_member(&r->walk, &any, err));
        if (!any)
            break;
        if (strcmp(r->walk.key.s, "location") == 0)
            MT_TRY(mt_json_walk_text(&r->walk, &r->text, &is, err));
        else if (strcmp(r->walk.key.s, "size") == 0)
            MT_TRY(take_number(r, &bytes, err));
        else
            MT_TRY(mt_json_walk_value(&r->walk, &other, err));
    }
    mt_buf_adds(&r->text, "");
    if (bytes > count_max - r->listed)
        return bad(r, "its places allocate more than can be true", err);
    r->listed += bytes;
    sums.alloc_b = bytes;
    return mt_heap_sums(r->heap, mt_path_node(&r->paths, MT_NONE, frame_of(r)), &sums, err);
}

/* Members of the document, or of its "metadata". */
static enum mt_status read_members(struct reader *r, bool metadata, struct mt_err *err)
{
    struct mt_slice other;
    bool any;
    MT_TRY(mt_json_walk_enter(&r->walk, '{', err));
    for (;;) {
        MT_TRY(mt_json_walk_member(&r->walk, &any, err));
        if (!any)
            return MT_OK;
        const char *key = r->walk.key.s;
        if (metadata && strcmp(key, "peak_memory") == 0)
            MT_TRY(take_number(r, &r->peak, err));
        else if (!metadata && strcmp(key, "total_bytes_allocated") == 0)
            MT_TRY(take_number(r, &r->bytes, err));
        else if (!metadata && strcmp(key, "total_num_allocations") == 0)
            MT_TRY(take_number(r, &r->blocks, err));
        else if (!metadata && strcmp(key, "top_allocations_by_size") == 0)
            MT_TRY(mt_json_walk_each(&r->walk, read_place, r, err));
        else if (!metadata && strcmp(key, "metadata") == 0)
            MT_TRY(read_members(r, true, err));
        else
            MT_TRY(mt_json_walk_value(&r->walk, &other, err));
    }
}

/* What no place is listed for is of others; numbers of blocks and the peak are of the whole. */
static enum mt_status give(struct reader *r, struct mt_err *err)
{
    struct mt_sums sums = MT_SUMS_UNKNOWN;
    if (r->bytes < 0 || r->blocks < 0)
        return bad(r, "its totals are missing", err);
    if (r->listed > r->bytes)
        return bad(r, "its places allocate more than the whole", err);
    sums.alloc_b = r->bytes - r->listed;
    MT_TRY(mt_heap_sums(
        r->heap, mt_path_node(&r->paths, MT_NONE, mt_native_explicit(&r->paths, MT_UNLISTED).frame),
        &sums, err));
    mt_heap_knows(r->heap, MT_SUM_ALLOC_B);
    MT_TRY(mt_heap_close(r->heap, err));
    struct mt_device *d = &r->rec->devices.v[0];
    d->alloc_n = r->blocks;
    if (r->peak >= 0) {
        d->peak_b = r->peak;
        d->knows |= MT_KNOWS_PEAK;
    }
    return MT_OK;
}

/* Totals may come last: where the file ends early, nothing can be kept of it. */
static enum mt_status read_all(struct reader *r, struct mt_stream *in, struct mt_err *err)
{
    MT_TRY(mt_json_walk_begin(&r->walk, in, err));
    enum mt_status st = read_members(r, false, err);
    if (st != MT_OK && r->walk.cut) {
        MT_FAIL(err, MT_EINPUT, "ends early: the file was cut off");
        return mt_reader_refuse((int64_t)mt_json_walk_offset(&r->walk),
                                "It is a few lines: make it again.", err);
    }
    MT_TRY(st);
    MT_TRY(mt_reader_json_rest(&r->walk, r->rec, err));
    return give(r, err);
}

static enum mt_status memray_stats_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                        struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {.walk = {.progress = opts->progress, .closure = opts->closure},
                       .opts = opts,
                       .rec = rec,
                       .bytes = -1,
                       .blocks = -1,
                       .peak = -1};
    rec->time_unit = NULL;
    mt_path_tree_init(&r.paths, rec);
    r.heap = mt_heap_open(rec, MT_DEVICE_HEAP);
    enum mt_status st = read_all(&r, in, err);
    mt_heap_free(r.heap);
    mt_path_tree_free(&r.paths);
    mt_json_walk_free(&r.walk);
    mt_buf_free(&r.text);
    return st;
}

static int memray_stats_probe(const char *head, size_t n)
{
    return mt_head_is_object(head, n) && mt_head_has(head, n, "\"total_num_allocations\"") &&
                   mt_head_has(head, n, "\"total_bytes_allocated\"")
               ? 94
               : 0;
}

const struct mt_reader mt_reader_memray_stats = {
    .name = "memray-stats",
    .kind = MT_RUN_HEAP,
    .probe = memray_stats_probe,
    .read = memray_stats_read,
};
