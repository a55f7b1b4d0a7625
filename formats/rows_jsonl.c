/*
 * Reader of rows as JSON, an object for each. docs/formats/events.md says what is read.
 */
#include "formats/head.h"
#include "formats/python_frames.h"
#include "formats/rows.h"
#include "lib/input/json_walk.h"

#include <string.h>

struct reader {
    struct mt_json_walk walk;
    struct mt_rows rows;
    struct mt_buf text; /* values of the row */
    struct {
        size_t at, n;
        bool there;
    } of[MT_COL_N];
    struct mt_row row;
    unsigned have;
    bool begun;
    const char *wrong;           /* the row does not fit, static text */
    mt_native_steps stack;       /* outermost first */
    struct mt_buf function, key; /* scratch */
};

/* ---- stacks that are lists ---- */

/* {"name": "f", "file": "a.c", "line": 12, "object": "libx.so"} */
static enum mt_status read_function(struct reader *r, struct mt_err *err)
{
    enum { NAME, FILE_, OBJECT, TEXTS };
    static const char *const keys[TEXTS] = {"name", "file", "object"};
    size_t at[TEXTS] = {0};
    int64_t line = 0;
    bool any, is;
    mt_buf_clear(&r->function);
    mt_buf_addc(&r->function, '\0');
    MT_TRY(mt_json_walk_enter(&r->walk, '{', err));
    for (;;) {
        int key = 0;
        struct mt_slice v;
        MT_TRY(mt_json_walk_member(&r->walk, &any, err));
        if (!any)
            break;
        while (key < TEXTS && strcmp(r->walk.key.s, keys[key]) != 0)
            key++;
        if (key < TEXTS) {
            size_t here = r->function.n;
            MT_TRY(mt_json_walk_text(&r->walk, &r->function, &is, err));
            mt_buf_addc(&r->function, '\0');
            at[key] = here;
            continue;
        }
        bool is_line = strcmp(r->walk.key.s, "line") == 0;
        MT_TRY(mt_json_walk_value(&r->walk, &v, err));
        if (is_line && !mt_json_int(v, &line))
            line = 0;
    }
    const struct mt_native_frame f = {r->function.s + at[NAME], r->function.s + at[OBJECT],
                                      r->function.s + at[FILE_], line > 0 ? line : 0};
    struct mt_path_tree *paths = &r->rows.paths;
    mt_native_push_inner(&r->stack, 0,
                         mt_python_is(f.file) ? mt_python_step(paths, f.name, f.file, f.line)
                                              : mt_native_step(paths, &f, r->rows.opts->alloc_fn));
    return MT_OK;
}

static enum mt_status read_stack(struct reader *r, struct mt_err *err)
{
    bool any, is;
    char c;
    r->stack.n = 0;
    MT_TRY(mt_json_walk_enter(&r->walk, '[', err));
    for (;;) {
        MT_TRY(mt_json_walk_element(&r->walk, &any, err));
        if (!any)
            break;
        MT_TRY(mt_json_walk_next(&r->walk, &c, err));
        if (c == '{') {
            MT_TRY(read_function(r, err));
            continue;
        }
        mt_buf_clear(&r->function);
        MT_TRY(mt_json_walk_text(&r->walk, &r->function, &is, err));
        if (!is)
            r->wrong = "a function of its stack is neither a text nor an object";
        else if (r->function.n)
            mt_native_push_inner(
                &r->stack, 0,
                mt_stack_text_function(&r->rows.stacks, r->function.s, r->function.n));
    }
    r->row.has_node = true;
    return MT_OK;
}

/* ---- rows ---- */

static enum mt_status read_value(struct reader *r, enum mt_rows_column is, struct mt_err *err)
{
    struct mt_slice v;
    char c;
    MT_TRY(mt_json_walk_next(&r->walk, &c, err));
    if (c == '[' && is == MT_COL_STACK)
        return read_stack(r, err);
    size_t at = r->text.n;
    bool text = c == '"';
    if (text) {
        MT_TRY(mt_json_walk_text(&r->walk, &r->text, &text, err));
    } else {
        MT_TRY(mt_json_walk_value(&r->walk, &v, err));
        if (*v.s == '{' || *v.s == '[')
            r->wrong = "a value is a list or an object";
        else if (v.n != 4 || memcmp(v.s, "null", 4) != 0)
            mt_buf_add(&r->text, v.s, v.n);
    }
    r->of[is].at = at;
    r->of[is].n = r->text.n - at;
    r->of[is].there = true;
    return MT_OK;
}

/* A member that is no column: a thread or a label, or it is left out. */
static enum mt_status read_other(struct reader *r, struct mt_err *err)
{
    struct mt_slice v;
    char c;
    bool text = false;
    mt_buf_set(&r->key, r->walk.key.s, r->walk.key.n);
    MT_TRY(mt_json_walk_next(&r->walk, &c, err));
    const bool single = c != '[' && c != '{', keeps = mt_rows_keeps(&r->rows, r->key.s, r->key.n);
    const bool process = single && mt_rows_is_process(r->key.s, r->key.n);
    if (!single || !keeps)
        mt_rows_leave_out(&r->rows, r->key.s, r->key.n);
    if (!single || !(keeps || process))
        return mt_json_walk_value(&r->walk, &v, err);
    mt_buf_clear(&r->function);
    if (c == '"') {
        MT_TRY(mt_json_walk_text(&r->walk, &r->function, &text, err));
    } else {
        MT_TRY(mt_json_walk_value(&r->walk, &v, err));
        if (v.n != 4 || memcmp(v.s, "null", 4) != 0)
            mt_buf_add(&r->function, v.s, v.n);
    }
    const char *value = r->function.n ? r->function.s : "";
    if (process)
        mt_rows_process(&r->rows, value, r->function.n);
    if (keeps)
        mt_rows_tell(&r->rows, r->key.s, r->key.n, value, r->function.n);
    return MT_OK;
}

static enum mt_status read_members(struct reader *r, struct mt_err *err)
{
    unsigned have = 0;
    for (bool any;;) {
        int digits;
        MT_TRY(mt_json_walk_member(&r->walk, &any, err));
        if (!any)
            break;
        enum mt_rows_column is = mt_rows_column(r->walk.key.s, r->walk.key.n, &digits);
        if (is == MT_COL_N) {
            MT_TRY(read_other(r, err));
            continue;
        }
        if (have >> is & 1) { /* once more */
            struct mt_slice v;
            mt_rows_leave_out(&r->rows, r->walk.key.s, r->walk.key.n);
            MT_TRY(mt_json_walk_value(&r->walk, &v, err));
            continue;
        }
        have |= 1u << is;
        if (is == MT_COL_TIME)
            r->row.time_digits = digits;
        MT_TRY(read_value(r, is, err));
    }
    r->have = have;
    return MT_OK;
}

/* Of sums the first may be of no call path. */
static unsigned with_stack(unsigned have)
{
    return mt_rows_are_known(have) ? have : have | 1u << MT_COL_STACK;
}

/* The first row says what kind of rows they are; another may have columns that those before it did
 * not have: a stack, be it null, and others of which it has a value. */
static enum mt_status take_columns(struct reader *r, struct mt_err *err)
{
    const struct mt_row_value *v = r->row.v;
    if (!r->begun) {
        unsigned spared = mt_rows_spared(v[MT_COL_OP].s, v[MT_COL_OP].n);
        MT_TRY(mt_rows_begin(&r->rows, with_stack(r->have | spared), err));
        r->begun = true;
        return MT_OK;
    }
    unsigned have = r->have;
    for (int c = 0; c < MT_COL_N; c++)
        if (c != MT_COL_STACK && !v[c].n)
            have &= ~(1u << c);
    mt_rows_more(&r->rows, have);
    r->wrong = r->wrong ? r->wrong : r->rows.wrong;
    return MT_OK;
}

static enum mt_status read_row(struct reader *r, struct mt_err *err)
{
    memset(r->of, 0, sizeof r->of);
    r->row = (struct mt_row){0};
    r->wrong = NULL;
    mt_buf_clear(&r->text);
    mt_buf_addc(&r->text, '\0');
    MT_TRY(mt_json_walk_enter(&r->walk, '{', err));
    MT_TRY(read_members(r, err));
    for (int c = 0; c < MT_COL_N; c++)
        if (r->of[c].there)
            r->row.v[c] = (struct mt_row_value){r->text.s + r->of[c].at, r->of[c].n};
    if (r->row.has_node)
        r->row.node = mt_stack_node(&r->rows.paths, r->rows.opts, mt_rows_root(&r->rows),
                                    r->stack.v, r->stack.n);
    MT_TRY(take_columns(r, err));
    if (r->wrong)
        return MT_OK;
    MT_TRY(mt_rows_add(&r->rows, &r->row, err));
    r->wrong = r->rows.wrong;
    return MT_OK;
}

static enum mt_status cut(struct reader *r, uint64_t offset, const char *what, struct mt_err *err)
{
    return mt_reader_cut(r->rows.opts, r->rows.rec, offset, what, err);
}

/* What went wrong in the text itself ends what can be read; what does in the heap ends it all. */
static enum mt_status text_ended(struct reader *r, uint64_t row, struct mt_err *err)
{
    bool in_text = r->walk.cut || r->walk.damaged || err->offset >= 0;
    return r->begun && in_text && err->code == MT_EINPUT ? cut(r, row, "", err) : err->code;
}

static enum mt_status read_rows(struct reader *r, struct mt_err *err)
{
    char c;
    for (;;) {
        if (mt_json_walk_next(&r->walk, &c, err) != MT_OK)
            return text_ended(r, mt_json_walk_offset(&r->walk), err);
        uint64_t row = mt_json_walk_offset(&r->walk);
        if (!c)
            return MT_OK;
        if (read_row(r, err) != MT_OK)
            return text_ended(r, row, err);
        if (r->wrong)
            return cut(r, row, r->wrong, err);
    }
}

static enum mt_status jsonl_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                 struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {.walk = {.progress = opts->progress, .closure = opts->closure}};
    mt_rows_init(&r.rows, opts, rec);
    enum mt_status st = mt_json_walk_begin(&r.walk, in, err);
    if (st == MT_OK)
        st = read_rows(&r, err);
    if (st == MT_OK)
        st = mt_rows_end(&r.rows, err);
    mt_rows_free(&r.rows);
    mt_json_walk_free(&r.walk);
    mt_buf_free(&r.text);
    mt_buf_free(&r.function);
    mt_buf_free(&r.key);
    mt_vec_free(&r.stack);
    return st;
}

/* Which columns the object at *at has or goes without, as far as its text goes. *at: behind it;
 * NULL: it has no end. */
static unsigned columns_of(struct mt_json *json, const char **at)
{
    struct mt_slice key, v;
    struct mt_buf name = {0};
    unsigned have = 0;
    int digits;
    const char *p = *at + 1;
    for (p = mt_json_separators(p); *p == '"'; p = mt_json_separators(p)) {
        if (!(p = mt_json_string(json, p, &key)) || !(p = mt_json_expect(json, p, ':', "")))
            break;
        mt_buf_clear(&name);
        mt_json_unescape(&name, key);
        enum mt_rows_column is = mt_rows_column(name.n ? name.s : "", name.n, &digits);
        have |= is != MT_COL_N ? 1u << is : 0;
        const char *value = mt_json_space(p);
        if (is == MT_COL_OP && *value == '"' && mt_json_string(json, value, &v)) {
            mt_buf_clear(&name);
            mt_json_unescape(&name, v);
            have |= mt_rows_spared(name.s, name.n);
        }
        if (!(p = mt_json_skip(json, p)))
            break;
    }
    mt_buf_free(&name);
    *at = p && *p == '}' ? p + 1 : NULL;
    return have;
}

/* Objects from p on are rows: the first has keys that make some, or lacks a stack alone that
 * another has. */
static bool are_rows(struct mt_json *json, const char *p)
{
    const unsigned stack = 1u << MT_COL_STACK, first = columns_of(json, &p);
    unsigned others = 0;
    if (mt_rows_are_known(first))
        return true;
    while (mt_rows_are_known(first | stack) && !(others & stack) && p) {
        p = mt_json_space(p);
        if (*p != '{')
            break;
        others = columns_of(json, &p);
    }
    return others & stack;
}

static int jsonl_probe(const char *head, size_t n)
{
    static const char pad[MT_STREAM_PAD];
    struct mt_buf text = {0}; /* with what the scanner asks for behind it */
    size_t i = mt_head_json(head, n);
    if (i == n || head[i] != '{')
        return 0;
    mt_buf_add(&text, head + i, n - i);
    struct mt_json json = {0};
    mt_buf_add(&text, pad, sizeof pad);
    json.end = text.s + (n - i);
    bool rows = are_rows(&json, text.s);
    mt_buf_free(&text);
    return rows ? 91 : 0;
}

const struct mt_reader mt_reader_jsonl = {
    .name = "jsonl",
    .kind = MT_RUN_HEAP,
    .probe = jsonl_probe,
    .read = jsonl_read,
};
