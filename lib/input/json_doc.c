#include "lib/input/json_doc.h"

#include "lib/base/nearest.h"
#include "lib/input/json.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PADDING = 64, DEEPEST = 16 }; /* zero bytes the scanner may look at; nesting */

struct parser {
    struct mt_json_doc *doc;
    const char *start, *counted; /* lines are counted up to here */
    int64_t line;
    struct mt_json json;
};

static int64_t line_of(struct parser *p, const char *at)
{
    for (; p->counted < at; p->counted++)
        p->line += *p->counted == '\n';
    return p->line;
}

static char *text_of(struct mt_slice s)
{
    struct mt_buf text = {0};
    mt_buf_add(&text, "", 0);
    if (s.escaped)
        mt_json_unescape(&text, s);
    else
        mt_buf_add(&text, s.s, s.n);
    return text.s ? text.s : mt_strdup("");
}

static const char *parse_value(struct parser *p, const char *at, uint32_t self, int depth);

static uint32_t add_value(struct parser *p, const char *at)
{
    uint32_t self = (uint32_t)p->doc->values.n;
    *mt_vec_push(&p->doc->values) =
        (struct mt_json_doc_value){.offset = at - p->start, .line = line_of(p, at)};
    return self;
}

/* Behind the opening bracket: keys and values, or values, up to the closing one. */
static const char *parse_children(struct parser *p, const char *at, uint32_t self, bool object,
                                  int depth)
{
    const char closing = object ? '}' : ']';
    uint32_t last = 0;
    if (depth > DEEPEST)
        return mt_json_stop_at(&p->json, at, "brackets are nested too deep");
    at = mt_json_space(at);
    if (*at == closing)
        return at + 1;
    for (;;) {
        struct mt_slice key = {0};
        at = mt_json_space(at);
        uint32_t child = add_value(p, at);
        if (object) {
            if (*at != '"')
                return mt_json_stop_at(&p->json, at, "a key in quotes is missing");
            if (!(at = mt_json_string(&p->json, at, &key)))
                return NULL;
            p->doc->values.v[child].key = text_of(key);
            if (!(at = mt_json_expect(&p->json, at, ':', "':' is missing")))
                return NULL;
        }
        if (last)
            p->doc->values.v[last].next = child;
        else
            p->doc->values.v[self].first = child;
        last = child;
        if (!(at = parse_value(p, at, child, depth)))
            return NULL;
        at = mt_json_space(at);
        if (*at == closing)
            return at + 1;
        if (!(at = mt_json_expect(&p->json, at, ',', "',' or a closing bracket is missing")))
            return NULL;
    }
}

static const char *parse_value(struct parser *p, const char *at, uint32_t self, int depth)
{
    struct mt_slice s = {0};
    at = mt_json_space(at);
    if (*at == '{' || *at == '[') {
        p->doc->values.v[self].kind = *at == '{' ? MT_JSON_DOC_OBJECT : MT_JSON_DOC_ARRAY;
        return parse_children(p, at + 1, self, *at == '{', depth + 1);
    }
    p->doc->values.v[self].kind = *at == '"' ? MT_JSON_DOC_TEXT : MT_JSON_DOC_SCALAR;
    at = *at == '"' ? mt_json_string(&p->json, at, &s) : mt_json_scalar(&p->json, at, &s);
    if (at)
        p->doc->values.v[self].text = text_of(s);
    return at;
}

static enum mt_status no_json(struct parser *p, size_t n, struct mt_err *err)
{
    bool cut = p->json.stop == MT_JSON_MORE;
    const char *bad = cut ? p->start + n : p->json.bad;
    if (cut)
        MT_FAIL(err, MT_EINPUT, "ends too early: a closing bracket or quote is missing");
    else
        MT_FAIL(err, MT_EINPUT, "is not JSON: %s", p->json.why);
    mt_err_input(err, p->doc->path);
    err->offset = bad - p->start;
    err->line = 1;
    for (const char *c = p->start; c < bad; c++)
        err->line += *c == '\n';
    return MT_EINPUT;
}

enum mt_status mt_json_doc_parse(const char *path, const char *text, size_t n,
                                 struct mt_json_doc *out, struct mt_err *err)
{
    char *padded = mt_alloc(n + PADDING);
    memcpy(padded, text, n);
    if (n)
        padded[n] = '\n'; /* so that a number at the very end is complete */
    struct parser p = {.doc = out,
                       .start = padded,
                       .counted = padded,
                       .line = 1,
                       .json = {.end = padded + n + (n > 0)}};
    *out = (struct mt_json_doc){.path = mt_strdup(path)};
    bool marked = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0; /* a byte order mark */
    const char *at = mt_json_space(padded + (marked ? 3 : 0));
    at = parse_value(&p, at, add_value(&p, at), 0);
    if (at && (at = mt_json_space(at)) < p.json.end)
        at = mt_json_stop_at(&p.json, at, "something follows the closing bracket");
    enum mt_status st = at ? MT_OK : no_json(&p, n, err);
    free(padded);
    return st;
}

enum mt_status mt_json_doc_read(const char *path, struct mt_json_doc *out, struct mt_err *err)
{
    struct mt_buf text = {0};
    char block[65536];
    enum mt_status st = MT_OK;
    const bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "standard input" : path;
    *out = (struct mt_json_doc){0};
    FILE *in = is_stdin ? stdin : fopen(path, "rb");
    for (size_t n;
         in && text.n <= MT_JSON_DOC_MAX_B && (n = fread(block, 1, sizeof block, in)) > 0;)
        mt_buf_add(&text, block, n);
    if (!in || ferror(in))
        st = MT_FAIL(err, MT_EIO, "cannot be read: %s", strerror(errno));
    else if (text.n > MT_JSON_DOC_MAX_B)
        st = MT_FAIL(err, MT_ELIMIT, "is larger than 64 MiB: not a rules or baseline file");
    if (st != MT_OK)
        mt_err_input(err, name);
    if (in && !is_stdin)
        fclose(in);
    if (st == MT_OK)
        st = mt_json_doc_parse(name, text.s ? text.s : "", text.n, out, err);
    mt_buf_free(&text);
    return st;
}

void mt_json_doc_free(struct mt_json_doc *d)
{
    for (size_t i = 0; i < d->values.n; i++) {
        free(d->values.v[i].key);
        free(d->values.v[i].text);
    }
    mt_vec_free(&d->values);
    free(d->path);
    d->path = NULL;
}

const struct mt_json_doc_value *mt_json_doc_root(const struct mt_json_doc *d)
{
    return &d->values.v[0];
}

static const struct mt_json_doc_value *value_at(const struct mt_json_doc *d, uint32_t index)
{
    return index ? &d->values.v[index] : NULL;
}

const struct mt_json_doc_value *mt_json_doc_first(const struct mt_json_doc *d,
                                                  const struct mt_json_doc_value *v)
{
    return value_at(d, v->first);
}

const struct mt_json_doc_value *mt_json_doc_next(const struct mt_json_doc *d,
                                                 const struct mt_json_doc_value *v)
{
    return value_at(d, v->next);
}

const struct mt_json_doc_value *mt_json_doc_get(const struct mt_json_doc *d,
                                                const struct mt_json_doc_value *v, const char *key)
{
    if (v->kind != MT_JSON_DOC_OBJECT)
        return NULL;
    for (v = mt_json_doc_first(d, v); v; v = mt_json_doc_next(d, v))
        if (strcmp(v->key, key) == 0)
            return v;
    return NULL;
}

enum mt_status mt_json_doc_at(const struct mt_json_doc *d, const struct mt_json_doc_value *v,
                              struct mt_err *err)
{
    mt_err_input(err, d->path);
    err->offset = v->offset;
    err->line = v->line;
    return err->code;
}

/* What stands in a list has no key. */
static enum mt_status must_be(const struct mt_json_doc *d, const struct mt_json_doc_value *v,
                              const char *wanted, struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT, "%s%s%s must be %s", v->key ? "\"" : "", v->key ? v->key : "this value",
            v->key ? "\"" : "", wanted);
    return mt_json_doc_at(d, v, err);
}

enum mt_status mt_json_doc_want(const struct mt_json_doc *d, const struct mt_json_doc_value *v,
                                enum mt_json_doc_kind kind, struct mt_err *err)
{
    static const char *const names[] = {[MT_JSON_DOC_TEXT] = "a text in quotes",
                                        [MT_JSON_DOC_SCALAR] = "a number",
                                        [MT_JSON_DOC_OBJECT] = "an object in braces",
                                        [MT_JSON_DOC_ARRAY] = "a list in brackets"};
    return v->kind == kind ? MT_OK : must_be(d, v, names[kind], err);
}

enum mt_status mt_json_doc_int(const struct mt_json_doc *d, const struct mt_json_doc_value *v,
                               int64_t *out, struct mt_err *err)
{
    char *end = NULL;
    if (v->kind == MT_JSON_DOC_SCALAR) {
        errno = 0;
        *out = strtoll(v->text, &end, 10);
        if (end > v->text && !*end && errno == 0)
            return MT_OK;
    }
    return must_be(d, v, "a whole number", err);
}

static enum mt_status unknown_key(const struct mt_json_doc *d, const struct mt_json_doc_value *v,
                                  const char *const *keys, size_t n, struct mt_err *err)
{
    struct mt_buf near = {0};
    MT_FAIL(err, MT_EINPUT, "there is no key \"%s\" here", v->key);
    mt_nearest(v->key, keys, n, &near);
    if (near.n)
        mt_err_hint(err, "Nothing was done. Did you mean %s?", near.s);
    for (size_t i = 0; i < n && !err->hint[0]; i++)
        mt_buf_addf(&near, "%s%s", i ? ", " : "", keys[i]);
    mt_err_hint(err, "Nothing was done. Keys: %s.", near.s ? near.s : "");
    mt_buf_free(&near);
    return mt_json_doc_at(d, v, err);
}

enum mt_status mt_json_doc_keys(const struct mt_json_doc *d, const struct mt_json_doc_value *v,
                                const char *const *keys, size_t n, struct mt_err *err)
{
    MT_TRY(mt_json_doc_want(d, v, MT_JSON_DOC_OBJECT, err));
    for (v = mt_json_doc_first(d, v); v; v = mt_json_doc_next(d, v)) {
        size_t i = 0;
        while (i < n && strcmp(keys[i], v->key) != 0)
            i++;
        if (i == n)
            return unknown_key(d, v, keys, n, err);
        for (const struct mt_json_doc_value *o = mt_json_doc_next(d, v); o;
             o = mt_json_doc_next(d, o))
            if (strcmp(o->key, v->key) == 0) {
                MT_FAIL(err, MT_EINPUT, "the key \"%s\" appears a second time here", o->key);
                return mt_json_doc_at(d, o, err);
            }
    }
    return MT_OK;
}

enum mt_status mt_json_doc_schema(const struct mt_json_doc *d, const char *schema, int64_t version,
                                  struct mt_err *err)
{
    const struct mt_json_doc_value *root = mt_json_doc_root(d), *name, *number;
    int64_t found;
    MT_TRY(mt_json_doc_want(d, root, MT_JSON_DOC_OBJECT, err));
    name = mt_json_doc_get(d, root, "schema");
    number = mt_json_doc_get(d, root, "version");
    if (!name || name->kind != MT_JSON_DOC_TEXT || strcmp(name->text, schema) != 0) {
        MT_FAIL(err, MT_EINPUT, "\"schema\" must be \"%s\"", schema);
        return mt_json_doc_at(d, name ? name : root, err);
    }
    if (!number) {
        MT_FAIL(err, MT_EINPUT, "\"version\" is missing");
        return mt_json_doc_at(d, root, err);
    }
    MT_TRY(mt_json_doc_int(d, number, &found, err));
    if (found == version)
        return MT_OK;
    MT_FAIL(err, MT_EINPUT, "\"version\" is %lld; this memtool reads %lld", (long long)found,
            (long long)version);
    mt_err_hint(err, "Nothing was done. Use the memtool that wrote the file, or write it anew.");
    return mt_json_doc_at(d, number, err);
}
