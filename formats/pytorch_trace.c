/*
 * Reader of PyTorch profiler traces (Kineto's Chrome-trace JSON) and of other Chrome traces.
 * docs/formats/pytorch-trace.md says what is read and what is tolerated. This file walks the
 * document and repairs; pytorch_event.c cuts out events; pytorch_intake.c gives them their meaning.
 */
#include "formats/format.h"
#include "formats/head.h"
#include "formats/pytorch_event.h"
#include "formats/pytorch_skipped.h"
#include "formats/trace_builder.h"
#include "lib/base/human.h"

#include <string.h>

enum {
    META_VALUE_MAX = 64 * 1024,
    KEYS_SHOWN = 5,
    END = -1 /* of the input, where a byte is asked for */
};

struct reader {
    struct mt_stream *in;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_trace_builder intake;
    struct mt_json json;
    struct mt_keys keys;
    const char *p, *base;   /* position and beginning of the window */
    uint64_t base_offset;   /* decompressed offset of base */
    bool eof, cut;          /* no more bytes; the input ended early */
    bool has_events;        /* an event array began */
    bool has_traced;        /* one of its objects is an event */
    bool has_schema;        /* an execution trace says which of its versions it is */
    bool comma;             /* next_byte skipped one: more was to come */
    bool ended;             /* what was skipped up to the end of the input has the events' end */
    struct mt_buf top_keys; /* seen, for the error of a file without events */
    int top_key_n;
};

static uint64_t offset_of(const struct reader *r, const char *p)
{
    return r->base_offset + (uint64_t)(p - r->base);
}

/*
 * Asks for more bytes; everything before r->p is given up. *got = false at the end of the input.
 * The window moves: only r->p stays valid.
 */
static enum mt_status more(struct reader *r, bool *got, struct mt_err *err)
{
    size_t have = (size_t)(r->json.end - r->p), n;
    *got = false;
    if (r->eof)
        return MT_OK;
    if (have >= MT_STREAM_MAX_PEEK) {
        err->offset = (int64_t)offset_of(r, r->p);
        MT_FAIL(err, MT_ELIMIT, "a single value is longer than %u MiB", MT_STREAM_MAX_PEEK >> 20);
        mt_err_hint(err, "Nothing was imported.");
        return MT_ELIMIT;
    }
    mt_stream_consume(r->in, (size_t)(r->p - r->base));
    size_t want = have < 4096 ? have + 1 : have * 2;
    if (want > MT_STREAM_MAX_PEEK)
        want = MT_STREAM_MAX_PEEK;
    const char *p;
    enum mt_status st = mt_stream_peek(r->in, want, &p, &n, err);
    if (st == MT_EINPUT && r->opts->partial) {
        *err = (struct mt_err)MT_ERR_INIT;
        r->cut = true;
        st = mt_stream_peek(r->in, 0, &p, &n, err);
    }
    MT_TRY(st);
    if (r->opts->progress)
        r->opts->progress(r->opts->closure);
    r->base_offset = mt_stream_offset(r->in);
    r->base = r->p = p;
    r->json.end = p + n;
    r->rec->beside_bytes = mt_trace_builder_bytes(&r->intake);
    if (mt_rec_check_memory(r->rec, err) != MT_OK) {
        err->offset = (int64_t)r->base_offset;
        return err->code;
    }
    *got = n > have;
    r->eof = !*got;
    return MT_OK;
}

/* Skips white space and commas; *c = the byte there, END at the end of the input. */
static enum mt_status next_byte(struct reader *r, int *c, struct mt_err *err)
{
    bool got = true;
    r->comma = false;
    for (;;) {
        const char *from = r->p;
        r->p = mt_json_separators(from);
        r->comma |= memchr(from, ',', (size_t)(r->p - from)) != NULL;
        if (r->p < r->json.end || !got) {
            *c = r->p < r->json.end ? (unsigned char)*r->p : END;
            return MT_OK;
        }
        r->p = r->json.end;
        MT_TRY(more(r, &got, err));
    }
}

/* The end of the input came where it should not: inside an event, or elsewhere. */
static enum mt_status cut_off(struct reader *r, bool inside, struct mt_err *err)
{
    char events[MT_HUMAN_LONG];
    uint64_t n = r->rec->event_n;
    if (r->opts->partial) {
        mt_rec_note(r->rec, MT_NOTE_CUT, (int64_t)offset_of(r, r->json.end), 0);
        r->p = r->json.end;
        return MT_OK;
    }
    err->offset = (int64_t)offset_of(r, r->json.end);
    MT_FAIL(err, MT_EINPUT, "ends %s event %llu: the recording was cut off",
            inside ? "inside"
            : n    ? "behind"
                   : "before",
            (unsigned long long)(inside || !n ? n + 1 : n));
    if (n)
        mt_err_hint(err, "Nothing was imported. --partial keeps what came before: %s.",
                    mt_human_plural((int64_t)n, "event", events));
    else
        mt_err_hint(err, "Nothing was imported: there is no event before that place.");
    return MT_EINPUT;
}

/* True if the '{' at p begins an event: not a value behind ':', and one of an event's keys follows.
 */
static bool begins_event(const char *base, const char *p)
{
    static const char *const keys[] = {"\"ph\"",  "\"cat\"", "\"name\"", "\"pid\"",
                                       "\"tid\"", "\"ts\"",  "\"dur\"",  "\"id\""};
    const char *before = p;
    while (before > base && (unsigned char)before[-1] <= ' ')
        before--;
    if (before > base && before[-1] != ',' && before[-1] != '}' && before[-1] != '[')
        return false;
    p = mt_json_space(p + 1);
    for (size_t i = 0; i < MT_ARRAY_LEN(keys); i++) {
        size_t n = strlen(keys[i]);
        if (strncmp(p, keys[i], n) == 0 && *mt_json_space(p + n) == ':')
            return true;
    }
    return false;
}

/* The event at r->p is damaged: goes on to the next one, counting the damage. */
static enum mt_status resynchronise(struct reader *r, struct mt_err *err)
{
    enum { LOOK_AHEAD = 512 };
    struct mt_skipped skipped = {0};
    mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)offset_of(r, r->p), 0);
    bool got = true;
    const char *p = r->p + 1, *unseen = r->p;
    for (;;) {
        const char *brace = p < r->json.end ? memchr(p, '{', (size_t)(r->json.end - p)) : NULL;
        if (brace && (r->json.end - brace > LOOK_AHEAD || !got)) {
            if (begins_event(r->base, brace)) {
                r->p = brace;
                return MT_OK;
            }
            p = brace + 1;
            continue;
        }
        if (!got) {
            r->ended = mt_skipped_ended(&skipped);
            r->p = r->json.end;
            return MT_OK;
        }
        /* Keep what stands before the brace: it tells an event from a value. */
        const char *keep = brace ? brace : r->json.end;
        size_t behind = (size_t)(keep - r->p) < 64 ? (size_t)(keep - r->p) : 64;
        r->p = keep - behind;
        mt_skipped_add(&skipped, unseen, r->json.end);
        size_t seen = (size_t)(r->json.end - r->p);
        MT_TRY(more(r, &got, err));
        unseen = r->p + seen;
        p = r->p + behind;
    }
}

static enum mt_status read_event(struct reader *r, struct mt_err *err)
{
    struct mt_event ev;
    bool got = true;
    for (;;) {
        const char *next = mt_event_scan(&r->keys, &r->json, r->p, &ev);
        if (next) {
            MT_TRY(mt_trace_builder_event(&r->intake, &ev, (int64_t)offset_of(r, r->p), err));
            r->rec->event_n++;
            r->has_traced |= ev.ph || ev.category;
            r->p = next;
            return MT_OK;
        }
        if (r->json.stop == MT_JSON_BAD || (size_t)(r->json.end - r->p) >= MT_STREAM_MAX_PEEK)
            return resynchronise(r, err);
        MT_TRY(more(r, &got, err));
        if (!got)
            return cut_off(r, true, err);
    }
}

/* r->p is behind the '[' of the event array; ends behind its ']'. */
static enum mt_status read_events(struct reader *r, struct mt_err *err)
{
    r->has_events = true;
    for (;;) {
        int c;
        MT_TRY(next_byte(r, &c, err));
        if (c == ']') {
            r->p++;
            return MT_OK;
        }
        if (c == END)
            return r->ended ? MT_OK : cut_off(r, false, err);
        if (c == '{') {
            MT_TRY(read_event(r, err));
            /* A cut event of a partial read: nothing behind it. */
            if (r->rec->notes[MT_NOTE_CUT].count)
                return MT_OK;
        } else {
            MT_TRY(resynchronise(r, err));
        }
    }
}

static enum mt_status bad_json(struct reader *r, const char *at, const char *why,
                               struct mt_err *err)
{
    err->offset = (int64_t)offset_of(r, at);
    MT_FAIL(err, MT_EINPUT, "not a trace: %s", why);
    mt_err_hint(err, "Nothing was imported.");
    return MT_EINPUT;
}

/* Reads a top-level value as a slice of the window; it must be shorter than the largest window. */
static enum mt_status read_value(struct reader *r, const char *at, struct mt_slice *value,
                                 struct mt_err *err)
{
    size_t ahead = (size_t)(at - r->p);
    bool got = true;
    for (;;) {
        const char *start = mt_json_space(r->p + ahead);
        const char *next = mt_json_skip(&r->json, start);
        if (next) {
            *value = (struct mt_slice){start, (uint32_t)(next - start), false};
            r->p = next;
            return MT_OK;
        }
        if (r->json.stop == MT_JSON_BAD)
            return bad_json(r, r->json.bad, r->json.why, err);
        MT_TRY(more(r, &got, err));
        if (!got)
            return cut_off(r, false, err);
    }
}

static void keep_meta(struct reader *r, uint32_t key, struct mt_slice value)
{
    const char *name = mt_strtab_get(&r->rec->strings, key);
    if (strcmp(name, "baseTimeNanoseconds") == 0)
        mt_json_int(value, &r->rec->base_ns);
    if (value.n > META_VALUE_MAX)
        return;
    *mt_vec_push(&r->rec->meta) =
        (struct mt_meta){key, mt_strtab_add(&r->rec->strings, value.s, value.n)};
}

static bool is_key(struct mt_slice key, const char *name)
{
    return key.n == strlen(name) && memcmp(key.s, name, key.n) == 0;
}

static enum mt_status execution_trace(struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT,
            "this is an execution trace: it has the tensors that ops take and give, but neither "
            "sizes of storages nor frees, and no times");
    mt_err_hint(err, "Nothing was imported. The profiler of the same run tells them: "
                     "profile(profile_memory=True, record_shapes=True), then "
                     "prof.export_chrome_trace(\"trace.json.gz\").");
    return MT_EINPUT;
}

/* One `"key": value` of the top-level object; r->p is at the quote. */
static enum mt_status read_member(struct reader *r, struct mt_err *err)
{
    struct mt_slice key, value = {0};
    const char *p;
    bool got = true;
    while (!(p = mt_json_string(&r->json, r->p, &key)) ||
           !(p = mt_json_expect(&r->json, p, ':', "':' is missing behind a key")) ||
           (p = mt_json_space(p)) >= r->json.end) {
        if (!p && r->json.stop == MT_JSON_BAD)
            return bad_json(r, r->json.bad, r->json.why, err);
        MT_TRY(more(r, &got, err));
        if (!got)
            return cut_off(r, false, err);
    }
    if (is_key(key, "traceEvents")) {
        if (*p != '[')
            return bad_json(r, p, "its \"traceEvents\" is not an array", err);
        r->p = p + 1;
        /* Its place among the keys tells versions apart. */
        keep_meta(r, mt_strtab_add(&r->rec->strings, key.s, key.n),
                  (struct mt_slice){"[]", 2, false});
        return read_events(r, err);
    }
    r->has_schema |= is_key(key, "schema");
    if (r->has_schema && !r->has_events && is_key(key, "nodes"))
        return execution_trace(err);
    uint32_t id = mt_strtab_add(&r->rec->strings, key.s, key.n);
    if (r->top_key_n++ < KEYS_SHOWN)
        mt_buf_addf(&r->top_keys, "%s%.*s", r->top_key_n > 1 ? ", " : "",
                    key.n > 40 ? 40 : (int)key.n, key.s);
    MT_TRY(read_value(r, p, &value, err));
    if (value.s)
        keep_meta(r, id, value);
    return MT_OK;
}

static enum mt_status no_events(struct reader *r, struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT,
            "JSON of another tool: it has no \"traceEvents\" (top-level keys: %s%s)",
            r->top_keys.s ? r->top_keys.s : "none", r->top_key_n > KEYS_SHOWN ? ", ..." : "");
    return mt_reader_refuse(-1, "memtool reads what prof.export_chrome_trace() writes.", err);
}

static enum mt_status read_object(struct reader *r, struct mt_err *err)
{
    for (r->p++;;) {
        int c;
        MT_TRY(next_byte(r, &c, err));
        if (c == '}')
            r->p++;
        bool whole = r->ended || (r->opts->partial && !r->comma); /* but for its '}' */
        if (c == '}' || (c == END && r->has_events && whole))
            break;
        if (c == END) {
            MT_TRY(cut_off(r, false, err));
            break;
        }
        if (c == ']' && r->has_events) { /* a stray bracket behind repaired events */
            r->p++;
            continue;
        }
        if (c != '"')
            return bad_json(r, r->p, "a key is missing", err);
        MT_TRY(read_member(r, err));
    }
    return r->has_events ? MT_OK : no_events(r, err);
}

/* A bare array: the legacy exporter's events, or something else. */
static enum mt_status read_array(struct reader *r, struct mt_err *err)
{
    int c;
    r->p++;
    MT_TRY(next_byte(r, &c, err));
    if (c != '{' && c != ']')
        return bad_json(r, r->p, "a JSON array whose elements are not events", err);
    MT_TRY(read_events(r, err));
    if (r->has_traced || !r->rec->event_n)
        return MT_OK;
    MT_FAIL(err, MT_EINPUT, "JSON of another tool: none of its objects is a trace event (\"ph\")");
    return mt_reader_refuse(-1, "memtool reads what prof.export_chrome_trace() writes.", err);
}

static enum mt_status two_documents(struct reader *r, struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT, "another JSON document follows the first");
    return mt_reader_refuse((int64_t)offset_of(r, r->p),
                            "Put each in a file of its own; --partial keeps the first.", err);
}

/* What stands behind the document: blanks, a few stray bytes with a note, but no other document,
 * lest a recording is lost. All is read, for the content's hash. */
static enum mt_status read_rest(struct reader *r, struct mt_err *err)
{
    struct mt_note *note = &r->rec->notes[MT_NOTE_TRAILING];
    for (bool got = true; got;) {
        for (; r->p < r->json.end; r->p++) {
            if ((unsigned char)*r->p <= ' ')
                continue;
            if (!note->count && (*r->p == '{' || *r->p == '[') && !r->opts->partial)
                return two_documents(r, err);
            if (!note->count)
                note->first_offset = (int64_t)offset_of(r, r->p);
            note->count = offset_of(r, r->p) + 1 - (uint64_t)note->first_offset;
        }
        MT_TRY(more(r, &got, err));
    }
    return MT_OK;
}

/* A file of which nothing is left is no recording of nothing. */
static enum mt_status check_any(const struct reader *r, struct mt_err *err)
{
    const struct mt_recording *rec = r->rec;
    const struct mt_note *skipped = &rec->notes[MT_NOTE_SKIPPED];
    char events[MT_HUMAN_LONG];
    if (rec->op_n || rec->records.n || rec->samples.n || rec->notes[MT_NOTE_DEVICE_EVENTS].count ||
        (!skipped->count && !rec->notes[MT_NOTE_CUT].count))
        return MT_OK;
    if (skipped->count)
        MT_FAIL(err, MT_EINPUT, "holds no event that can be read (%s)",
                mt_human_plural((int64_t)skipped->count, "damaged event", events));
    else
        MT_FAIL(err, MT_EINPUT, "ends before the first event with content");
    return mt_reader_refuse(skipped->count ? skipped->first_offset : -1,
                            "Copy the file again from where it was recorded; memtool reads what "
                            "prof.export_chrome_trace() writes.",
                            err);
}

static enum mt_status trace_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                 struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {.in = in, .opts = opts, .rec = rec};
    size_t n;
    enum mt_status st = MT_OK;
    MT_TRY(mt_stream_peek(in, 1, &r.base, &n, err));
    r.p = r.base;
    r.base_offset = mt_stream_offset(in);
    r.json.end = r.base + n;
    mt_trace_builder_init(&r.intake, rec);
    int c;
    MT_TRY_OUT(next_byte(&r, &c, err));
    MT_TRY_OUT(c == '[' ? read_array(&r, err) : read_object(&r, err));
    MT_TRY_OUT(read_rest(&r, err));
    if (r.cut && !rec->notes[MT_NOTE_CUT].count)
        mt_rec_note(rec, MT_NOTE_CUT, (int64_t)offset_of(&r, r.json.end), 0);
    MT_TRY_OUT(check_any(&r, err));
    mt_trace_builder_finish(&r.intake);
out:
    mt_trace_builder_release(&r.intake);
    mt_buf_free(&r.top_keys);
    return st;
}

static int trace_probe(const char *head, size_t n)
{
    size_t i = mt_head_json(head, n);
    if (i == n || (head[i] != '{' && head[i] != '['))
        return 0;
    if (mt_head_has(head, n, "\"traceEvents\"") ||
        (mt_head_has(head, n, "\"ph\"") && mt_head_has(head, n, "\"ts\"")))
        return 95;
    return 20;
}

const struct mt_reader mt_reader_pytorch_trace = {
    .name = "pytorch-trace",
    .kind = MT_RUN_TRACE,
    .probe = trace_probe,
    .read = trace_read,
};
