/* lib/input/json_walk.h: documents walked item by item, whole, cut off and damaged. */
#include "lib/input/json_walk.h"
#include "tests/unit/rows.h"

#include <string.h>

static const struct doc {
    const char *name, *text;
    const char *want; /* {key:value ...} and [value ...] as walked; then what went wrong */
} docs[] = {
    {"an object", "{\"a\":1,\"b\":\"x\"}", "{a:1 b:\"x\" }"},
    {"an array", " [ 1 , [2,3] , \"\" ] ", "[1 [2 3 ]\"\" ]"},
    {"arrays in objects", "{\"a\":[{\"b\":[]}]}", "{a:[{b:[]}]}"},
    {"nothing in it", "{}", "{}"},
    {"escapes in keys", "{\"a\\u0041\\\"\":true}", "{aA\":true }"},
    {"an empty key", "{\"\":1}", "{:1 }"},
    {"a mark of byte order", "\xef\xbb\xbf[1]", "[1 ]"},
    {"commas too many", "[,1,,2,]", "[1 2 ]"},
    {"cut in an object", "{\"a\":1", "{a:cut at 6"},
    {"cut in a key", "{\"a", "{cut at 3"},
    {"cut before a value", "{\"a\":", "{a:cut at 5"},
    {"cut in a value", "[12", "[cut at 3"},
    {"cut in a text", "[\"ab", "[cut at 4"},
    {"nothing at all", "", "cut at 0"},
    {"blanks", " \n", "cut at 2"},
    {"a key that is none", "{a:1}", "{bad at 1"},
    {"no colon", "{\"a\" 1}", "{bad at 5"},
    {"the wrong bracket", "{\"a\":1]", "{a:1 bad at 6"},
};

/* Walks what stands next, all of it, and writes it down. */
static enum mt_status walk(struct mt_json_walk *w, struct mt_buf *out, struct mt_err *err)
{
    char c;
    bool any;
    MT_TRY(mt_json_walk_next(w, &c, err));
    if (c != '{' && c != '[') {
        struct mt_slice v;
        MT_TRY(mt_json_walk_value(w, &v, err));
        mt_buf_add(out, v.s, v.n);
        mt_buf_addc(out, ' ');
        return MT_OK;
    }
    MT_TRY(mt_json_walk_enter(w, c, err));
    mt_buf_addc(out, c);
    for (;;) {
        MT_TRY(c == '{' ? mt_json_walk_member(w, &any, err) : mt_json_walk_element(w, &any, err));
        if (!any)
            break;
        if (c == '{')
            mt_buf_addf(out, "%s:", w->key.s);
        MT_TRY(walk(w, out, err));
    }
    mt_buf_addc(out, c == '{' ? '}' : ']');
    return MT_OK;
}

static void walk_text(struct mt_buf *out, const char *text, size_t n)
{
    struct mt_stream *in;
    struct mt_err err = MT_ERR_INIT;
    struct mt_json_walk w = {0};
    mt_buf_adds(out, "");
    assert_int_equal(mt_stream_open_memory(text, n, &in, &err), MT_OK);
    enum mt_status st = mt_json_walk_begin(&w, in, &err);
    if (st == MT_OK)
        st = walk(&w, out, &err);
    if (st != MT_OK)
        mt_buf_addf(out, "%s at %lld", w.cut ? "cut" : "bad", (long long)err.offset);
    mt_json_walk_free(&w);
    mt_stream_close(in);
}

static void test_doc(void **state)
{
    const struct doc *d = *state;
    struct mt_buf out = {0};
    walk_text(&out, d->text, strlen(d->text));
    assert_string_equal(out.s, d->want);
    mt_buf_free(&out);
}

/* Items, and values, across the ends of windows. */
static void large(void **state)
{
    enum { N = 200000, LONG = 3000000 };
    struct mt_buf text = {0}, want = {0}, out = {0};
    (void)state;
    mt_buf_adds(&text, "{\"a\":[");
    mt_buf_adds(&want, "{a:[");
    for (int i = 0; i < N; i++) {
        mt_buf_addf(&text, "%s\n{\"key %d\":%d}", i ? "," : "", i, i);
        mt_buf_addf(&want, "{key %d:%d }", i, i);
    }
    mt_buf_adds(&text, "],\"b\":\"");
    mt_buf_adds(&want, "]b:\"");
    for (int i = 0; i < LONG; i++) {
        mt_buf_addc(&text, 'x');
        mt_buf_addc(&want, 'x');
    }
    mt_buf_adds(&text, "\"}");
    mt_buf_adds(&want, "\" }");
    walk_text(&out, text.s, text.n);
    assert_int_equal(out.n, want.n);
    assert_memory_equal(out.s, want.s, out.n);
    mt_buf_free(&text);
    mt_buf_free(&want);
    mt_buf_free(&out);
}

static void rest(void **state)
{
    struct mt_stream *in;
    struct mt_err err = MT_ERR_INIT;
    struct mt_json_walk w = {0};
    struct mt_slice v;
    uint64_t n, first = 0;
    (void)state;
    assert_int_equal(mt_stream_open_memory("1 \n xy z", 8, &in, &err), MT_OK);
    assert_int_equal(mt_json_walk_begin(&w, in, &err), MT_OK);
    assert_int_equal(mt_json_walk_value(&w, &v, &err), MT_OK);
    assert_int_equal(mt_json_walk_rest(&w, &n, &first, &err), MT_OK);
    assert_int_equal(n, 3);
    assert_int_equal(first, 4);
    mt_json_walk_free(&w);
    mt_stream_close(in);
}

int main(void)
{
    static const struct CMUnitTest others[] = {cmocka_unit_test(large), cmocka_unit_test(rest)};
    struct row_tests t = {0};
    ROWS_ADD(&t, test_doc, docs);
    int failed = ROWS_RUN(&t, "json_walk");
    return cmocka_run_group_tests(others, NULL, NULL) + failed;
}
