/* lib/input/pickle.h: what pickles mean, what is refused and where, and every way to cut one off.
 */
#include "formats/format.h"
#include "lib/input/pickle.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BYTES(text) text, sizeof(text) - 1

/* Runs a pickle without hooks; its value as JSON, or NULL. */
static char *json_of(const void *bytes, size_t n, struct mt_err *err)
{
    struct mt_stream *in;
    struct mt_buf out = {0};
    mt_pvalue root;
    assert_int_equal(mt_stream_open_memory(bytes, n, &in, err), MT_OK);
    struct mt_pickle *p = mt_pickle_new(in, NULL, 0);
    if (mt_pickle_run(p, &root, err) == MT_OK)
        mt_pickle_json(p, root, &out);
    mt_pickle_free(p);
    mt_stream_close(in);
    return out.s;
}

static const struct value {
    const char *title, *bytes;
    size_t n;
    const char *json;
} values[] = {
    {"none", BYTES("\x80\x04N."), "null"},
    {"true", BYTES("\x80\x02\x88."), "true"},
    {"false", BYTES("\x80\x02\x89."), "false"},
    {"one byte", BYTES("K\xff."), "255"},
    {"two bytes", BYTES("M\x01\x02."), "513"},
    {"four bytes are signed", BYTES("J\xff\xff\xff\xff."), "-1"},
    {"long of no bytes", BYTES("\x8a\x00."), "0"},
    {"long of one byte", BYTES("\x8a\x01\xff."), "-1"},
    {"long of 7 bytes", BYTES("\x8a\x07\x00\x00\x00\x00\x00\x00\x40."), "18014398509481984"},
    {"least long of 8 bytes", BYTES("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80."),
     "-9223372036854775808"},
    {"2^64-1 in 9 bytes", BYTES("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00."),
     "18446744073709551615"},
    {"2^64 is too much", BYTES("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01."), "null"},
    {"a small number in 12 bytes", BYTES("\x8a\x0c\x05\0\0\0\0\0\0\0\0\0\0\0."), "5"},
    {"long with a 4 byte length", BYTES("\x8b\x02\x00\x00\x00\x34\x12."), "4660"},
    {"float, big endian", BYTES("G\x3f\xf8\x00\x00\x00\x00\x00\x00."), "1.5"},
    {"short text", BYTES("\x8c\x02hi."), "\"hi\""},
    {"text", BYTES("X\x02\x00\x00\x00hi."), "\"hi\""},
    {"text, 8 byte length", BYTES("\x8d\x02\x00\x00\x00\x00\x00\x00\x00hi."), "\"hi\""},
    {"quotes", BYTES("\x8c\x03\"\\\n."), "\"\\\"\\\\\\u000a\""},
    {"list",
     BYTES("](K\x01K\x02"
           "e."),
     "[1,2]"},
    {"list one by one",
     BYTES("]K\x01"
           "aK\x02"
           "a."),
     "[1,2]"},
    {"list made of marked", BYTES("(K\x01K\x02l."), "[1,2]"},
    {"list in two batches",
     BYTES("](K\x01"
           "e(K\x02"
           "e."),
     "[1,2]"},
    {"tuples", BYTES("()K\x01\x85K\x01K\x02\x86K\x01K\x02K\x03\x87t."), "[[],[1],[1,2],[1,2,3]]"},
    {"tuple", BYTES("(K\x01K\x02K\x03K\x04t."), "[1,2,3,4]"},
    {"dict",
     BYTES("}(\x8c\x01"
           "aK\x01\x8c\x01"
           "bK\x02u."),
     "{\"a\":1,\"b\":2}"},
    {"dict key by key",
     BYTES("}\x8c\x01"
           "aK\x01s."),
     "{\"a\":1}"},
    {"dict made of marked",
     BYTES("(\x8c\x01"
           "aNd."),
     "{\"a\":null}"},
    {"number as key",
     BYTES("(K\x01K\x02"
           "d."),
     "{\"1\":2}"},
    {"memo, counted",
     BYTES("](\x8c\x01"
           "a\x94h\x00"
           "e."),
     "[\"a\",\"a\"]"},
    {"memo, numbered",
     BYTES("](\x8c\x01"
           "aq\x00h\x00j\x00\x00\x00\x00"
           "e."),
     "[\"a\",\"a\",\"a\"]"},
    {"an object twice",
     BYTES("](]\x94(K\x01"
           "eh\x00"
           "e."),
     "[[1],[1]]"},
    {"pop and pop to mark",
     BYTES("K\x01(K\x02K\x03"
           "1K\x04"
           "0."),
     "1"},
    {"frames of protocol 4", BYTES("\x80\x04\x95\x02\0\0\0\0\0\0\0N."), "null"},
    {"bytes behind the end", BYTES("N.garbage"), "null"},
};

static void test_value(void **state)
{
    const struct value *v = *state;
    struct mt_err err = MT_ERR_INIT;
    char *json = json_of(v->bytes, v->n, &err);
    assert_string_equal(err.what, "");
    assert_string_equal(json, v->json);
    free(json);
}

static const struct refusal {
    const char *bytes;
    size_t n;
    int64_t offset;
    const char *says;
} refusals[] = {
    {BYTES("\x80\x04"
           "cos\nsystem\n."),
     2, "GLOBAL names os.system"},
    {BYTES("N\x93."), 1, "STACK_GLOBAL is refused"},
    {BYTES("NNR."), 2, "REDUCE is refused"},
    {BYTES("}}b."), 2, "BUILD is refused"},
    {BYTES("(ios\nsystem\n."), 1, "INST is refused"},
    {BYTES("(o."), 1, "OBJ is refused"},
    {BYTES("N)\x81."), 2, "NEWOBJ is refused"},
    {BYTES("N)}\x92."), 3, "NEWOBJ_EX is refused"},
    {BYTES("\x82\x01."), 0, "EXT1 is refused"},
    {BYTES("\x83\x01\x00."), 0, "EXT2 is refused"},
    {BYTES("\x84\x01\x00\x00\x00."), 0, "EXT4 is refused"},
    {BYTES("P1\n."), 0, "PERSID is refused"},
    {BYTES("NQ."), 1, "BINPERSID is refused"},
    {BYTES("\x97."), 0, "NEXT_BUFFER is refused"},
    {BYTES("N\x98."), 1, "READONLY_BUFFER is refused"},
    {BYTES("C\x01z."), 0, "SHORT_BINBYTES is refused"},
    {BYTES("S'a'\n."), 0, "STRING is refused"},
    {BYTES("\x8f."), 0, "EMPTY_SET is refused"},
    {BYTES("N2."), 1, "DUP is refused"},
    {BYTES("\xfe."), 0, "0xfe is not an opcode"},
    {BYTES("\x80\x06N."), 0, "protocol is newer than 5"},
    {BYTES("h\x00."), 0, "refers to an object that is not there"},
    {BYTES("Nr\xff\xff\xff\xff."), 1, "out of turn"},
    {BYTES("]\x94h\x00"
           "a."),
     4, "put into itself"},
    {BYTES("](a."), 2, "more values than there are"},
    {BYTES("]e."), 1, "a mark that was not set"},
    {BYTES("}(Nu."), 3, "a key has no value"},
    {BYTES("NNa."), 2, "neither a list nor a dict"},
    {BYTES("NN."), 2, "values left over"},
    {BYTES("\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
           "a"),
     0, "longer than 16 MiB"},
    {BYTES("\x8b\xff\xff\xff\xff"
           "a"),
     0, "longer than 16 MiB"},
};

static void test_refusal(void **state)
{
    const struct refusal *r = *state;
    struct mt_err err = MT_ERR_INIT;
    char *json = json_of(r->bytes, r->n, &err);
    assert_null(json);
    assert_non_null(strstr(err.what, r->says));
    assert_int_equal(err.offset, r->offset);
    assert_true(err.hint[0] != '\0');
    free(json);
}

/* n times the byte, then a STOP. */
static void repeated(char byte, size_t n, const char *says)
{
    struct mt_err err = MT_ERR_INIT;
    char *bytes = malloc(2 * n);
    memset(bytes, byte, n);
    memset(bytes + n, 'a', n);
    char *json = json_of(bytes, 2 * n, &err);
    assert_null(json);
    assert_non_null(strstr(err.what, says));
    free(bytes);
}

static void test_depth(void **state)
{
    (void)state;
    repeated('(', 100000, "nested too deeply");
    repeated(']', 100000, "nested too deeply");
}

/* Objects that refer to one another ten times each, in ten levels: small text, no long wait. */
static void test_laughs(void **state)
{
    (void)state;
    struct mt_buf b = {0};
    struct mt_err err = MT_ERR_INIT;
    mt_buf_adds(&b, "]");
    mt_buf_addc(&b, (char)0x94);
    mt_buf_adds(&b, "(NNNNNNNNNNe");
    for (int level = 0; level < 10; level++) {
        mt_buf_adds(&b, "]");
        mt_buf_addc(&b, (char)0x94);
        mt_buf_addc(&b, '(');
        for (int i = 0; i < 10; i++) {
            mt_buf_addc(&b, 'h');
            mt_buf_addc(&b, (char)level);
        }
        mt_buf_addc(&b, 'e');
    }
    mt_buf_adds(&b, "l.");
    b.s[0] = '('; /* all of them in one list */
    struct mt_buf whole = {0};
    mt_buf_adds(&whole, "(]");
    mt_buf_add(&whole, b.s + 1, b.n - 1);
    char *json = json_of(whole.s, whole.n, &err);
    assert_string_equal(err.what, "");
    assert_in_range(strlen(json), 1000, 80 * 1024);
    free(json);
    mt_buf_free(&b);
    mt_buf_free(&whole);
}

static void test_limit(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    struct mt_err err = MT_ERR_INIT;
    struct mt_stream *in;
    mt_pvalue root;
    char *bytes = malloc(N);
    memset(bytes, ']', N);
    assert_int_equal(mt_stream_open_memory(bytes, N, &in, &err), MT_OK);
    struct mt_pickle *p = mt_pickle_new(in, NULL, 4 << 20);
    assert_int_equal(mt_pickle_run(p, &root, &err), MT_ELIMIT);
    assert_non_null(strstr(err.hint, "--max-memory"));
    mt_pickle_free(p);
    mt_stream_close(in);
    free(bytes);
}

static char *read_sample(const char *name, size_t *n)
{
    char path[512];
    snprintf(path, sizeof path, "%s/snapshots/%s", getenv("SAMPLES"), name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *bytes = malloc(1 << 16);
    *n = fread(bytes, 1, 1 << 16, f);
    fclose(f);
    assert_in_range(*n, 100, (1 << 16) - 1);
    return bytes;
}

/* However a snapshot is cut off, it is said to be cut, where it ends. */
static void test_truncation(void **state)
{
    size_t n;
    char *whole = read_sample(*state, &n);
    for (size_t cut = 0; cut <= n; cut++) {
        struct mt_err err = MT_ERR_INIT;
        struct mt_stream *in;
        struct mt_recording rec;
        char *part = malloc(cut + 1); /* so that a read past its end is seen */
        memcpy(part, whole, cut);
        assert_int_equal(mt_stream_open_memory(part, cut, &in, &err), MT_OK);
        mt_rec_init(&rec);
        enum mt_status st =
            mt_reader_read(&mt_reader_cuda_snapshot, in, &(struct mt_read_opts){0}, &rec, &err);
        assert_int_equal(st, cut == n ? MT_OK : MT_EINPUT);
        if (cut < n) {
            assert_non_null(strstr(err.what, "cut off"));
            assert_int_equal(err.offset, cut);
        }
        mt_rec_free(&rec);
        mt_stream_close(in);
        free(part);
    }
    free(whole);
}

int main(void)
{
    MT_VEC(struct CMUnitTest) tests = {0};
    for (size_t i = 0; i < MT_ARRAY_LEN(values); i++)
        *mt_vec_push(&tests) =
            (struct CMUnitTest){values[i].title, test_value, NULL, NULL, (void *)&values[i]};
    for (size_t i = 0; i < MT_ARRAY_LEN(refusals); i++)
        *mt_vec_push(&tests) =
            (struct CMUnitTest){refusals[i].says, test_refusal, NULL, NULL, (void *)&refusals[i]};
    *mt_vec_push(&tests) = (struct CMUnitTest)cmocka_unit_test(test_depth);
    *mt_vec_push(&tests) = (struct CMUnitTest)cmocka_unit_test(test_laughs);
    *mt_vec_push(&tests) = (struct CMUnitTest)cmocka_unit_test(test_limit);
    *mt_vec_push(&tests) =
        (struct CMUnitTest){"cut: Python's pickler", test_truncation, NULL, NULL, "basic.pickle"};
    *mt_vec_push(&tests) = (struct CMUnitTest){"cut: PyTorch's pickler", test_truncation, NULL,
                                               NULL, "cpp_pickler.pickle"};
    int failed = _cmocka_run_group_tests("pickle", tests.v, tests.n, NULL, NULL);
    mt_vec_free(&tests);
    return failed;
}
