/* formats/v8_profile.c: small files, whole and damaged, and what becomes of them. */
#include "formats/format.h"
#include "tests/unit/rows.h"
#include "tests/unit/summed.h"
#include <string.h>

#define SOME "note sampled 1\n"
#define F(n, u, l)                                                                                 \
    "\"callFrame\":{\"functionName\":\"" n "\",\"scriptId\":\"9\",\"url\":\"" u                    \
    "\",\"lineNumber\":" l "}"
#define NATIVE(n)                                                                                  \
    "\"callFrame\":{\"functionName\":\"" n "\",\"scriptId\":\"0\",\"url\":\"\",\"lineNumber\":-1}"
#define ROOT(own, below)                                                                           \
    "{\"head\":{" NATIVE("(root)") ",\"selfSize\":" own ",\"id\":1,\"children\":[" below "]}}"

static const struct summed_file files[] = {
    {"functions, their files and lines",
     ROOT("0", "{" F("load", "file:///a/b.mjs", "6") ",\"selfSize\":10,\"children\":[{" F(
                   "", "/a/c.js", "0") ",\"selfSize\":5,\"children\":[]}]}"),
     " alloc ? n ? peak ? end 15 no time 0\nb.mjs:7 load 0/0/10\nb.mjs:7 load;c.js:1 (anonymous) "
     "0/0/5\n" SOME},
    {"--values allocated", ROOT("0", "{" F("load", "/a/b.js", "6") ",\"selfSize\":10}"),
     " alloc 10 n ? peak ? end ? no time 0\nb.js:7 load 10/0/0\n" SOME},
    {"members in any order",
     "{\"samples\":[{\"size\":1}],\"head\":{\"children\":[{\"children\":[{\"selfSize\":5,\"x\":[{}]"
     "," F("g", "/a.js", "1") "}],\"selfSize\":10," F("f", "/a.js", "0") "}],\"id\":1}}",
     " alloc ? n ? peak ? end 15 no time 0\na.js:1 f 0/0/10\na.js:1 f;a.js:2 g 0/0/5\n" SOME},
    {"what the root has itself", ROOT("3", "{" F("f", "/a.js", "0") ",\"selfSize\":10}"),
     " alloc ? n ? peak ? end 13 outside 0/0/3 no time 0\na.js:1 f 0/0/10\n" SOME},
    {"functions of V8, of Node, of the web, and of scripts that are gone",
     ROOT("0", "{" NATIVE("Map") ",\"selfSize\":1},{" F(
                   "run", "node:internal/x",
                   "2") ",\"selfSize\""
                        ":2},{" F("f", "https://x.io/js/app.js?v=3", "3") ",\"selfSize\":3},{" F(
                            "g", "https://x.io/",
                            "-1") ",\"selfSize\":4},{" F("h", "", "-1") ",\"selfSize\":5}"),
     " alloc ? n ? peak ? end 15 no time 0\nMap 0/0/1\nnode:internal/x:3 run 0/0/2\napp.js:4 f "
     "0/0/3\nhttps://x.io/ g 0/0/4\nh 0/0/5\n" SOME},
    {"a function that calls itself",
     ROOT("0", "{" F("f", "/a.js", "0") ",\"selfSize\":1,\"children\":[{" F(
                   "f", "/a.js", "0") ",\"selfSize\":2}]}"),
     " alloc ? n ? peak ? end 3 no time 0\na.js:1 f 0/0/3\n" SOME},
    {"a function without a name, a file or a size",
     "{\"head\":{\"children\":[{},{\"selfSize\":2}]}}",
     " alloc ? n ? peak ? end 2 outside 0/0/2 no time 0\n" SOME},
    {"nothing", "{\"head\":{}}", " alloc ? n ? peak ? end 0 no time 0\n" SOME},
    {"something behind it", ROOT("1", "") " x",
     " alloc ? n ? peak ? end 1 outside 0/0/1 no time 0\nnote trailing 1\n" SOME},
    {"a negative size", ROOT("-1", ""),
     "error at 100: a size is not a whole number of bytes, or cannot be true\n"},
    {"a size that is none", ROOT("1.5", ""),
     "error at 101: a size is not a whole number of bytes, or cannot be true\n"},
    {"more than can be true", ROOT("9000000000000000000", ""),
     "error at 117: a size is not a whole number of bytes, or cannot be true\n"},
    {"two trees", "{\"head\":{},\"head\":{}}", "error at 18: a second tree of functions\n"},
    {"no tree", "{\"callFrame\":1}", "error at 15: it has no tree of functions (\"head\")\n"},
    {"a snapshot of the heap", "{\"snapshot\":{\"meta\":{}}}",
     "error at -1: this is a snapshot of V8's heap (.heapsnapshot): objects and what keeps them, "
     "not who allocated them\n"},
    {"cut", "{\"head\":{\"selfSize\":1,\"children\":[{\"selfSize\":2",
     "error at 47: ends early: the file was cut off\n"},
    {"cut, --partial", "{\"head\":{\"selfSize\":1,\"children\":[{\"selfSize\":2,",
     " alloc ? n ? peak ? end 3 outside 0/0/3 no time 0\nnote cut 1\n" SOME},
};

static void test_files(void **state)
{
    summed_test(*state, &mt_reader_v8_profile);
}

static void test_cuts(void **state)
{
    static const char text[] = ROOT("1", "{" F("load", "/a/b.js", "6") ",\"selfSize\":10}");
    (void)state;
    summed_test_cuts(text, &mt_reader_v8_profile, NULL, 0);
}

/* A tree of a hundred thousand functions, each inside the one before. */
static void test_deep(void **state)
{
    enum { DEPTH = 100000 };
    struct mt_buf text = {0};
    (void)state;
    mt_buf_adds(&text, "{\"head\":{");
    for (int i = 0; i < DEPTH; i++)
        mt_buf_addf(&text, "\"children\":[{" F("f%d", "/a.js", "1") ",\"selfSize\":1,", i);
    mt_buf_adds(&text, "\"id\":1");
    for (int i = 0; i < DEPTH; i++)
        mt_buf_adds(&text, "}]");
    mt_buf_adds(&text, "}}");
    struct mt_stream *in;
    struct mt_recording rec;
    struct mt_err err = MT_ERR_INIT;
    mt_rec_init(&rec);
    assert_int_equal(mt_stream_open_memory(text.s, text.n, &in, &err), MT_OK);
    assert_int_equal(
        mt_reader_read(&mt_reader_v8_profile, in, &(struct mt_read_opts){0}, &rec, &err), MT_OK);
    assert_int_equal(rec.devices.v[0].at_end_b, DEPTH);
    assert_int_equal(rec.nodes.n, DEPTH);
    mt_rec_free(&rec);
    mt_stream_close(in);
    mt_buf_free(&text);
}

static const struct looks {
    const char *name, *text;
    int score;
} looks[] = {
    {"a profile", ROOT("1", ""), 96},
    {"a snapshot", " {\"snapshot\":{\"meta\":{", 96},
    {"a trace", "{\"traceEvents\":[{\"ph\":\"X\"", 0},
    {"nothing", "", 0},
    {"text", "head callFrame selfSize", 0},
};

static void test_looks(void **state)
{
    const struct looks *l = *state;
    assert_int_equal(mt_reader_v8_profile.probe(l->text, strlen(l->text)), l->score);
}

int main(void)
{
    struct row_tests t = {0};
    ROWS_ADD(&t, test_files, files);
    ROWS_ADD(&t, test_looks, looks);
    t.v[t.n++] = (struct CMUnitTest)cmocka_unit_test(test_cuts);
    t.v[t.n++] = (struct CMUnitTest)cmocka_unit_test(test_deep);
    return ROWS_RUN(&t, "v8_profile");
}
