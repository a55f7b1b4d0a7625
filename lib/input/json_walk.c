#include "lib/input/json_walk.h"

/* Asks for more bytes; everything before w->p is given up. *got = false at the end of the input.
 * The window moves: only w->p stays valid. */
static enum mt_status more(struct mt_json_walk *w, bool *got, struct mt_err *err)
{
    size_t have = (size_t)(w->json.end - w->p), n;
    *got = false;
    if (w->eof)
        return MT_OK;
    if (have >= MT_STREAM_MAX_PEEK) {
        err->offset = (int64_t)mt_json_walk_offset(w);
        return MT_FAIL(err, MT_ELIMIT, "a single value is longer than %u MiB",
                       MT_STREAM_MAX_PEEK >> 20);
    }
    mt_stream_consume(w->in, (size_t)(w->p - w->base));
    size_t want = have < 4096 ? have + 1 : have * 2;
    const char *p;
    if (want > MT_STREAM_MAX_PEEK)
        want = MT_STREAM_MAX_PEEK;
    enum mt_status st = mt_stream_peek(w->in, want, &p, &n, err);
    w->damaged |= st == MT_EINPUT;
    MT_TRY(st);
    if (w->progress)
        w->progress(w->closure);
    w->base_offset = mt_stream_offset(w->in);
    w->base = w->p = p;
    w->json.end = p + n;
    *got = n > have;
    w->eof = !*got;
    return MT_OK;
}

static enum mt_status cut_off(struct mt_json_walk *w, struct mt_err *err)
{
    w->cut = true;
    err->offset = (int64_t)(w->base_offset + (uint64_t)(w->json.end - w->base));
    return MT_FAIL(err, MT_EINPUT, "ends early: the file was cut off");
}

static enum mt_status bad(struct mt_json_walk *w, const char *at, const char *why,
                          struct mt_err *err)
{
    err->offset = (int64_t)(w->base_offset + (uint64_t)(at - w->base));
    return MT_FAIL(err, MT_EINPUT, "this is no JSON of that kind: %s", why);
}

/* A function of json.h returned NULL: gets more for it to start over, or fails. */
static enum mt_status stopped(struct mt_json_walk *w, struct mt_err *err)
{
    bool got;
    if (w->json.stop == MT_JSON_BAD)
        return bad(w, w->json.bad, w->json.why, err);
    MT_TRY(more(w, &got, err));
    return got ? MT_OK : cut_off(w, err);
}

enum mt_status mt_json_walk_begin(struct mt_json_walk *w, struct mt_stream *in, struct mt_err *err)
{
    size_t n;
    w->in = in;
    MT_TRY(mt_stream_peek(in, 1, &w->base, &n, err));
    w->p = w->base;
    w->base_offset = mt_stream_offset(in);
    w->json.end = w->base + n;
    return MT_OK;
}

void mt_json_walk_free(struct mt_json_walk *w)
{
    mt_buf_free(&w->key);
}

/* The same, with commas as blanks. */
static enum mt_status next_byte(struct mt_json_walk *w, bool commas, char *c, struct mt_err *err)
{
    for (bool got = true;;) {
        w->p = commas ? mt_json_separators(w->p) : mt_json_space(w->p);
        if (w->p < w->json.end) {
            *c = *w->p;
            return *c ? MT_OK : bad(w, w->p, "a zero byte", err);
        }
        *c = '\0';
        if (!got)
            return MT_OK;
        w->p = w->json.end;
        MT_TRY(more(w, &got, err));
    }
}

enum mt_status mt_json_walk_next(struct mt_json_walk *w, char *c, struct mt_err *err)
{
    return next_byte(w, false, c, err);
}

enum mt_status mt_json_walk_enter(struct mt_json_walk *w, char bracket, struct mt_err *err)
{
    char c;
    MT_TRY(next_byte(w, false, &c, err));
    if (!c)
        return cut_off(w, err);
    if (c != bracket)
        return bad(w, w->p, bracket == '{' ? "an object is missing" : "an array is missing", err);
    w->p++;
    return MT_OK;
}

/* Goes to the next item, or behind the closing bracket. */
static enum mt_status next_item(struct mt_json_walk *w, char close, bool *any, struct mt_err *err)
{
    char c;
    MT_TRY(next_byte(w, true, &c, err));
    if (!c)
        return cut_off(w, err);
    *any = c != close;
    w->p += !*any;
    return MT_OK;
}

enum mt_status mt_json_walk_member(struct mt_json_walk *w, bool *any, struct mt_err *err)
{
    MT_TRY(next_item(w, '}', any, err));
    if (!*any)
        return MT_OK;
    if (*w->p != '"')
        return bad(w, w->p, "a key is missing", err);
    struct mt_slice key;
    const char *p;
    while (!(p = mt_json_string(&w->json, w->p, &key)) ||
           !(p = mt_json_expect(&w->json, p, ':', "':' is missing behind a key")))
        MT_TRY(stopped(w, err));
    mt_buf_set(&w->key, "", 0);
    mt_json_unescape(&w->key, key);
    w->p = p;
    return MT_OK;
}

enum mt_status mt_json_walk_element(struct mt_json_walk *w, bool *any, struct mt_err *err)
{
    return next_item(w, ']', any, err);
}

enum mt_status mt_json_walk_each(struct mt_json_walk *w,
                                 enum mt_status (*item)(void *closure, struct mt_err *err),
                                 void *closure, struct mt_err *err)
{
    bool any;
    MT_TRY(mt_json_walk_enter(w, '[', err));
    for (;;) {
        MT_TRY(mt_json_walk_element(w, &any, err));
        if (!any)
            return MT_OK;
        MT_TRY(item(closure, err));
    }
}

enum mt_status mt_json_walk_value(struct mt_json_walk *w, struct mt_slice *out, struct mt_err *err)
{
    char c;
    const char *next;
    MT_TRY(next_byte(w, false, &c, err));
    while (!c || !(next = mt_json_skip(&w->json, w->p)))
        MT_TRY(c ? stopped(w, err) : cut_off(w, err));
    *out = (struct mt_slice){w->p, (uint32_t)(next - w->p), false};
    w->p = next;
    return MT_OK;
}

enum mt_status mt_json_walk_text(struct mt_json_walk *w, struct mt_buf *out, bool *is,
                                 struct mt_err *err)
{
    struct mt_slice v, text;
    MT_TRY(mt_json_walk_value(w, &v, err));
    *is = *v.s == '"';
    if (*is && mt_json_string(&w->json, v.s, &text))
        mt_json_unescape(out, text);
    return MT_OK;
}

enum mt_status mt_json_walk_rest(struct mt_json_walk *w, uint64_t *n, uint64_t *first,
                                 struct mt_err *err)
{
    *n = 0;
    for (bool got = true; got;) {
        for (; w->p < w->json.end; w->p++)
            if ((unsigned char)*w->p > ' ' && !(*n)++)
                *first = mt_json_walk_offset(w);
        MT_TRY(more(w, &got, err));
    }
    return MT_OK;
}
