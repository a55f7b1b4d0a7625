/*
 * Reader of what Prometheus answers to queries: /api/v1/query_range and /api/v1/query.
 * docs/formats/prometheus.md says what is read.
 */
#include "formats/head.h"
#include "formats/prometheus.h"
#include "lib/input/fields.h"
#include "lib/input/json_walk.h"

#include <string.h>

struct reader {
    struct mt_json_walk walk;
    struct mt_prometheus all;
    struct mt_buf key, text, error; /* scratch; what Prometheus says is wrong */
    size_t value_n;                 /* values of all whose series is known */
    MT_VEC(struct value { int64_t t_ns, bytes; }) values; /* of the series under way */
};

/* {"__name__": "process_resident_memory_bytes", "job": "api"} */
static enum mt_status read_labels(struct reader *r, struct mt_err *err)
{
    bool any, is;
    MT_TRY(mt_json_walk_enter(&r->walk, '{', err));
    for (;;) {
        MT_TRY(mt_json_walk_member(&r->walk, &any, err));
        if (!any)
            return MT_OK;
        mt_buf_clear(&r->key);
        mt_buf_clear(&r->text);
        mt_buf_adds(&r->key, r->walk.key.s);
        MT_TRY(mt_json_walk_text(&r->walk, &r->text, &is, err));
        if (is && r->text.n)
            mt_prometheus_label(&r->all, r->key.s, r->key.n, r->text.s, r->text.n);
    }
}

/* [1763870000.781, "1.2e+08"] */
static enum mt_status read_value(void *reader, struct mt_err *err)
{
    struct reader *r = reader;
    struct value v = {0};
    bool any, sound = true;
    struct mt_slice s;
    int64_t at = (int64_t)mt_json_walk_offset(&r->walk);
    MT_TRY(mt_json_walk_enter(&r->walk, '[', err));
    for (int i = 0;; i++) {
        MT_TRY(mt_json_walk_element(&r->walk, &any, err));
        if (!any) {
            sound &= i == 2;
            break;
        }
        MT_TRY(mt_json_walk_value(&r->walk, &s, err));
        bool quoted = s.n >= 2 && s.s[0] == '"';
        if (i == 0)
            sound &= mt_prometheus_time(s.s, s.n, &v.t_ns);
        else
            sound &= mt_prometheus_number(s.s + quoted, s.n - (quoted ? 2 : 0), &v.bytes);
    }
    if (!sound)
        mt_rec_note(r->all.rec, MT_NOTE_SKIPPED, at, 0);
    else if (v.bytes != MT_UNKNOWN)
        *mt_vec_push(&r->values) = v;
    return MT_OK;
}

static enum mt_status read_series(struct reader *r, struct mt_err *err)
{
    struct mt_slice other;
    bool any;
    uint32_t series;
    r->values.n = 0;
    mt_prometheus_begin(&r->all);
    MT_TRY(mt_json_walk_enter(&r->walk, '{', err));
    for (;;) {
        MT_TRY(mt_json_walk_member(&r->walk, &any, err));
        if (!any)
            break;
        if (strcmp(r->walk.key.s, "metric") == 0)
            MT_TRY(read_labels(r, err));
        else if (strcmp(r->walk.key.s, "values") == 0)
            MT_TRY(mt_json_walk_each(&r->walk, read_value, r, err));
        else if (strcmp(r->walk.key.s, "value") == 0)
            MT_TRY(read_value(r, err));
        else
            MT_TRY(mt_json_walk_value(&r->walk, &other, err));
    }
    MT_TRY(mt_prometheus_find(&r->all, &series, err));
    for (size_t i = 0; series != MT_NONE && i < r->values.n; i++)
        MT_TRY(mt_prometheus_value(&r->all, series, r->values.v[i].t_ns, true, r->values.v[i].bytes,
                                   err));
    return MT_OK;
}

/* A series, or a scalar: of a query without series. */
static enum mt_status read_element(void *reader, struct mt_err *err)
{
    struct reader *r = reader;
    struct mt_slice scalar;
    char c;
    MT_TRY(mt_json_walk_next(&r->walk, &c, err));
    return c == '{' ? read_series(r, err) : mt_json_walk_value(&r->walk, &scalar, err);
}

static void note_missing(struct reader *r, const char *why)
{
    mt_rec_note_detail(r->all.rec, MT_NOTE_UNWATCHED, "%s", why);
    mt_rec_note(r->all.rec, MT_NOTE_UNWATCHED, -1, 0);
}

/* A text of "warnings": what could not be asked, of a store that did not answer. */
static enum mt_status read_warning(void *reader, struct mt_err *err)
{
    struct reader *r = reader;
    bool is;
    mt_buf_clear(&r->text);
    mt_buf_adds(&r->text, "the server warned: ");
    MT_TRY(mt_json_walk_text(&r->walk, &r->text, &is, err));
    if (is)
        note_missing(r, r->text.s);
    return MT_OK;
}

/* What stands beside the data: an error, warnings, whether the answer is whole. */
static enum mt_status read_word(struct reader *r, struct mt_err *err)
{
    const char *key = r->walk.key.s;
    struct mt_slice value;
    bool is;
    char c;
    if (strcmp(key, "error") == 0)
        return mt_json_walk_text(&r->walk, &r->error, &is, err);
    bool warnings = strcmp(key, "warnings") == 0, partial = strcmp(key, "isPartial") == 0;
    MT_TRY(mt_json_walk_next(&r->walk, &c, err));
    if (warnings && c == '[')
        return mt_json_walk_each(&r->walk, read_warning, r, err);
    MT_TRY(mt_json_walk_value(&r->walk, &value, err));
    if (partial && !r->all.rec->notes[MT_NOTE_UNWATCHED].count && value.n == 4 &&
        memcmp(value.s, "true", 4) == 0)
        note_missing(r, "the server says that its answer is partial");
    return MT_OK;
}

/* {"status": "success", "data": {"resultType": "matrix", "result": [..]}} */
static enum mt_status read_document(struct reader *r, struct mt_err *err)
{
    struct mt_slice other;
    bool any;
    int depth = 1;
    MT_TRY(mt_json_walk_enter(&r->walk, '{', err));
    while (depth) {
        MT_TRY(mt_json_walk_member(&r->walk, &any, err));
        if (!any) {
            depth--;
        } else if (depth == 1 && strcmp(r->walk.key.s, "data") == 0) {
            MT_TRY(mt_json_walk_enter(&r->walk, '{', err));
            depth++;
        } else if (depth == 2 && strcmp(r->walk.key.s, "result") == 0) {
            MT_TRY(mt_json_walk_each(&r->walk, read_element, r, err));
        } else if (depth == 1) {
            MT_TRY(read_word(r, err));
        } else {
            MT_TRY(mt_json_walk_value(&r->walk, &other, err));
        }
    }
    return MT_OK;
}

static enum mt_status read_all(struct reader *r, struct mt_stream *in,
                               const struct mt_read_opts *opts, struct mt_err *err)
{
    MT_TRY(mt_json_walk_begin(&r->walk, in, err));
    enum mt_status st = read_document(r, err);
    if (st != MT_OK && r->walk.cut)
        MT_TRY(mt_reader_cut(opts, r->all.rec, (uint64_t)mt_json_walk_offset(&r->walk),
                             "ends early: the file was cut off", err));
    else if (st != MT_OK)
        return st;
    else
        MT_TRY(mt_reader_json_rest(&r->walk, r->all.rec, err));
    if (r->error.n) {
        MT_FAIL(err, MT_EINPUT, "Prometheus answered with an error: %.200s", r->error.s);
        return mt_reader_refuse(-1, "Ask it anew.", err);
    }
    return mt_prometheus_close(&r->all, true, err);
}

static enum mt_status prometheus_json_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                           struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {.walk = {.progress = opts->progress, .closure = opts->closure}};
    mt_prometheus_open(&r.all, rec);
    r.all.ordered = true;
    enum mt_status st = read_all(&r, in, opts, err);
    mt_prometheus_free(&r.all);
    mt_json_walk_free(&r.walk);
    mt_buf_free(&r.key);
    mt_buf_free(&r.text);
    mt_buf_free(&r.error);
    mt_vec_free(&r.values);
    return st;
}

/* What it is said to be stands before the series. */
static int prometheus_json_probe(const char *head, size_t n)
{
    n = n < 4096 ? n : 4096;
    if (!mt_head_is_object(head, n) || !mt_head_has(head, n, "\"status\""))
        return 0;
    bool result = mt_head_has(head, n, "\"resultType\"") && mt_head_has(head, n, "\"result\"");
    return result || mt_head_has(head, n, "\"errorType\"") ? 96 : 0;
}

const struct mt_reader mt_reader_prometheus_json = {
    .name = "prometheus-json",
    .kind = MT_RUN_PROCESS,
    .probe = prometheus_json_probe,
    .read = prometheus_json_read,
};
