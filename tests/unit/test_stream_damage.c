/* lib/input/stream.h: what is delivered of damaged inputs, and what is said about them. */
#include "lib/input/stream.h"
#include "tests/unit/encode.h"
#include <stdio.h>
#include <string.h>

/* Reads all that comes, which must be the begin of want when that is given. Returns its length. */
static size_t read_until_failure(const void *bytes, size_t n, const char *want, struct mt_err *err)
{
    struct mt_stream *s = NULL;
    size_t at = 0, got = 0;
    const char *p;
    assert_int_equal(mt_stream_open_memory(bytes, n, &s, err), MT_OK);
    do {
        enum mt_status st = mt_stream_peek(s, 1, &p, &got, err);
        assert_int_equal(st, err->code);
        assert_true(st == MT_OK || got == 0);
        if (want)
            assert_memory_equal(p, want + at, got);
        mt_stream_consume(s, got);
        at += got;
    } while (got);
    mt_stream_close(s);
    assert_int_equal(err->offset, -1);
    return at;
}

static const enum encoding compressed[] = {
    GZIP,           GZIP_STORED, GZIP_LONG_HEADER, GZIP_MEMBERS, GZIP_PADDED, ZSTD, ZSTD_FRAMES,
    ZSTD_SKIPPABLE, LZ4,         LZ4_FRAMES,       LZ4_SKIPPABLE};

/* Cut anywhere: what was decoded comes, then the byte of the cut is named. Between two members or
 * frames, and in padding, a cut cannot be told from the end. */
static void cut(void **state)
{
    (void)state;
    size_t n = 20000;
    for (size_t i = 0; i < MT_ARRAY_LEN(compressed); i++) {
        struct mt_buf b = encode(compressed[i], text(n), n);
        size_t before = 0, ends = 0;
        /* Before LZ4's own magic nobody knows which of the two it is. */
        const size_t first = compressed[i] == LZ4_SKIPPABLE ? 13 + 4 : 4;
        for (size_t at = first; at < b.n; at += at < 500 || at + 40 > b.n ? 1 : 7) {
            struct mt_err err = MT_ERR_INIT;
            size_t got = read_until_failure(b.s, at, text(n), &err);
            assert_true(got >= before && got <= n);
            before = got;
            ends += err.code == MT_OK;
            if (err.code == MT_OK)
                continue;
            char want[80];
            snprintf(want, sizeof want, "the %s data is cut off at byte %zu of the input",
                     compressed[i] < ZSTD  ? "gzip"
                     : compressed[i] < LZ4 ? "zstd"
                                           : "LZ4",
                     at);
            if (at < 1000)
                assert_string_equal(err.what, want);
            assert_int_equal(err.code, MT_EINPUT);
            assert_non_null(strstr(err.what, "is cut off at byte "));
            assert_non_null(strstr(err.hint, "Nothing was imported"));
        }
        bool parts = compressed[i] != GZIP && compressed[i] != GZIP_STORED &&
                     compressed[i] != GZIP_LONG_HEADER && compressed[i] != ZSTD &&
                     compressed[i] != LZ4;
        assert_true(parts ? ends <= 1003 : ends == 0);
        assert_true(before > n * 9 / 10);
        mt_buf_free(&b);
    }
}

static void cut_far_into_a_file(void **state)
{
    (void)state;
    struct mt_buf b = {0};
    struct mt_err err = MT_ERR_INIT;
    add_gzip(&b, text(9000000), 9000000, 1, false);
    assert_true(b.n > 812160);
    size_t got = read_until_failure(b.s, 812160, text(9000000), &err);
    assert_true(got > 2000000);
    assert_string_equal(err.what, "the gzip data is cut off at byte 812,160 of the input");
    mt_buf_free(&b);
}

/* The byte that the message names lies in the input. */
static void check_place(const struct mt_err *err, size_t n)
{
    const char *at = strstr(err->what, "byte ");
    if (!at)
        return;
    size_t place = 0;
    for (at += 5; *at == ',' || (*at >= '0' && *at <= '9'); at++)
        place = *at == ',' ? place : place * 10 + (size_t)(*at - '0');
    assert_in_range(place, 0, n);
}

/* No flipped bit goes unnoticed, except in header fields that do not matter. */
static void flipped_bits(void **state)
{
    (void)state;
    size_t n = 6000;
    for (size_t i = 0; i < MT_ARRAY_LEN(compressed); i++) {
        struct mt_buf b = encode(compressed[i], text(n), n);
        for (size_t bit = 32; bit < b.n * 8; bit += 11) {
            struct mt_err err = MT_ERR_INIT;
            b.s[bit / 8] ^= (char)(1 << bit % 8);
            size_t got = read_until_failure(b.s, b.n, NULL, &err), n_cut = bit / 8 + bit % 7;
            check_place(&err, b.n);
            struct mt_err cut_err = MT_ERR_INIT;
            if (n_cut < b.n)
                read_until_failure(b.s, n_cut, NULL, &cut_err);
            check_place(&cut_err, n_cut);
            b.s[bit / 8] ^= (char)(1 << bit % 8);
            if (err.code == MT_OK) {
                assert_int_equal(read_until_failure(b.s, b.n, text(n), &err), got);
                continue;
            }
            assert_true(err.code == MT_EINPUT || err.code == MT_ELIMIT);
            assert_memory_equal(err.what, "the ", 4);
        }
        mt_buf_free(&b);
    }
}

/* All blocks before the damaged one are delivered, also when they came in the same call. */
static void damaged_in_the_middle(void **state)
{
    (void)state;
    static const enum encoding kinds[] = {GZIP, ZSTD, LZ4};
    size_t n = 3000000;
    for (size_t i = 0; i < MT_ARRAY_LEN(kinds); i++) {
        struct mt_buf b = encode(kinds[i], text(n), n);
        struct mt_err err = MT_ERR_INIT;
        memset(b.s + b.n / 2, 0xff, 300);
        struct mt_stream *s = NULL;
        const char *p;
        size_t got;
        assert_int_equal(mt_stream_open_memory(b.s, b.n, &s, &err), MT_OK);
        assert_int_equal(mt_stream_peek(s, n * 4 / 10, &p, &got, &err), MT_OK);
        assert_memory_equal(p, text(n), n * 4 / 10);
        mt_stream_close(s);
        got = read_until_failure(b.s, b.n, NULL, &err);
        /* Deflate has no marks to notice a wrong byte by: it may go on for long. */
        assert_true(kinds[i] == GZIP || got < n * 6 / 10);
        assert_int_equal(err.code, MT_EINPUT);
        assert_non_null(strstr(err.what, "data is damaged at about byte "));
        mt_buf_free(&b);
    }
}

static const char gz[] = "\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0"
                         "\x86\xa6\x10\x36\x05\0\0\0";
static const char zs[] = "\x28\xb5\x2f\xfd\x20\x05\x29\0\0hello";
static const char lz[] = "\x04\x22\x4d\x18\x40\x40\xc0\5\0\0\x80hello\0\0\0\0";
static const char lz_and_text[] = "\x04\x22\x4d\x18\x40\x40\xc0\5\0\0\x80hello\0\0\0\0x";
static const struct {
    const char *name, *head, *tail;
    size_t head_n, tail_n, got;
    enum mt_status code;
    const char *what;
} messages[] = {
    {"whole", gz, "", 25, 0, 5, MT_OK, ""},
    {"zeros behind", gz, "\0\0\0", 25, 3, 5, MT_OK, ""},
    {"text behind", gz, "\0\0hello", 25, 7, 5, MT_EINPUT,
     "the gzip data is followed by other bytes, from byte 27 of the input on"},
    {"half a magic behind", gz, "\x1f", 25, 1, 5, MT_EINPUT,
     "the gzip data is cut off at byte 26 of the input"},
    {"nearly a magic behind", gz, "\x1f\x8c", 25, 2, 5, MT_EINPUT,
     "the gzip data is followed by other bytes, from byte 25 of the input on"},
    {"wrong checksum", gz, "\x87\xa6\x10\x36\x05\0\0\0", 17, 8, 5, MT_EINPUT,
     "the gzip data is damaged at about byte 25 of the input (wrong checksum)"},
    {"wrong length", gz, "\x86\xa6\x10\x36\x06\0\0\0", 17, 8, 5, MT_EINPUT,
     "the gzip data is damaged at about byte 25 of the input (wrong checksum)"},
    {"unknown method", "\x1f\x8b\x09\0\0\0\0\0\0\x03", "", 10, 0, 0, MT_EINPUT,
     "the gzip data is damaged at about byte 10 of the input (unknown compression method)"},
    {"block type 3", gz, "\x07\0\0\0\0\0\0\0\0\0\0", 10, 11, 0, MT_EINPUT, NULL},
    {"bad reference in the last bytes", gz,
     "\x23\x48\x2f\x49\x4f\x4c\x2a\x2a\x4a\x4a\x4f\xca\x28\x4a\x40\x00", 10, 16, 33, MT_EINPUT,
     NULL},
    {"only magic", "\x1f\x8b", "", 2, 0, 0, MT_EINPUT,
     "the gzip data is cut off at byte 2 of the input"},
    {"half a magic", "\x1f", "", 1, 0, 1, MT_OK, ""},
    {"LZ4 whole", lz, "", 20, 0, 5, MT_OK, ""},
    {"LZ4, text behind", lz, "hello", 20, 5, 5, MT_EINPUT,
     "the LZ4 data is followed by other bytes, from byte 20 of the input on"},
    {"LZ4, a skippable frame behind", lz, "\x50\x2a\x4d\x18\x01\0\0\0x", 20, 9, 5, MT_OK, ""},
    {"LZ4, a skippable frame in front", "\x50\x2a\x4d\x18\x01\0\0\0x", lz, 9, 20, 5, MT_OK, ""},
    {"LZ4, skippable frames in front, text behind",
     "\x50\x2a\x4d\x18\0\0\0\0\x5f\x2a\x4d\x18\x01\0\0\0x", lz_and_text, 17, 21, 5, MT_EINPUT,
     "the LZ4 data is followed by other bytes, from byte 37 of the input on"},
    {"LZ4 behind zstd", zs, lz, 14, 20, 5, MT_EINPUT,
     "the zstd data is followed by other bytes, from byte 14 of the input on"},
    {"LZ4, zeros behind", lz, "\0\0\0\0\0", 20, 5, 5, MT_OK, ""},
    {"LZ4, zeros and text behind", lz, "\0\0hello", 20, 7, 5, MT_EINPUT,
     "the LZ4 data is followed by other bytes, from byte 22 of the input on"},
    {"LZ4, half a magic behind", lz, "\x04\x22", 20, 2, 5, MT_EINPUT, NULL},
    {"LZ4, wrong header", "\x04\x22\x4d\x18\x40\x40\xc1", "", 7, 0, 0, MT_EINPUT, NULL},
    {"LZ4, only magic", "\x04\x22\x4d\x18", "", 4, 0, 0, MT_EINPUT,
     "the LZ4 data is cut off at byte 4 of the input"},
    {"zstd whole", zs, "", 14, 0, 5, MT_OK, ""},
    {"zstd, text behind", zs, "hello", 14, 5, 5, MT_EINPUT,
     "the zstd data is followed by other bytes, from byte 14 of the input on"},
    {"zstd, text right behind", zs, "x", 14, 1, 5, MT_EINPUT, NULL},
    {"zstd, zeros behind", zs, "\0\0\0\0\0", 14, 5, 5, MT_OK, ""},
    {"zstd, zeros and text behind", zs, "\0\0hello", 14, 7, 5, MT_EINPUT,
     "the zstd data is followed by other bytes, from byte 16 of the input on"},
    {"zstd window 128 MiB", "\x28\xb5\x2f\xfd\0\x88\x01\0\0", "", 9, 0, 0, MT_OK, ""},
    {"zstd window 256 MiB", "\x28\xb5\x2f\xfd\0\x90\x01\0\0", "", 9, 0, 0, MT_ELIMIT,
     "the zstd data needs a window of more than 128 MiB to decompress"},
    {"zstd dictionary", "\x28\xb5\x2f\xfd\x21\x07\x05\x29\0\0hello", "", 15, 0, 0, MT_EINPUT,
     "the zstd data was compressed with a dictionary of its own"},
    {"zstd, only a skippable frame", "\x50\x2a\x4d\x18\x01\0\0\0x", "", 9, 0, 0, MT_OK, ""},
    {"zstd, skippable frame of 4 GB", "\x50\x2a\x4d\x18\xff\xff\xff\xffx", "", 9, 0, 0, MT_EINPUT,
     "the zstd data is cut off at byte 9 of the input"},
    {"zstd, block type 3", "\x28\xb5\x2f\xfd\x20\x05\x2f\0\0hello", "", 14, 0, 0, MT_EINPUT, NULL},
};

static void whole_messages(void **state)
{
    (void)state;
    for (size_t i = 0; i < MT_ARRAY_LEN(messages); i++) {
        struct mt_err err = MT_ERR_INIT;
        struct mt_buf b = {0};
        mt_buf_add(&b, messages[i].head, messages[i].head_n);
        mt_buf_add(&b, messages[i].tail, messages[i].tail_n);
        size_t got = read_until_failure(b.s, b.n, NULL, &err);
        check_place(&err, b.n);
        if (got != messages[i].got || err.code != messages[i].code ||
            (messages[i].what && strcmp(err.what, messages[i].what)))
            fail_msg("%s: %zu bytes, code %d, \"%s\"", messages[i].name, got, err.code, err.what);
        mt_buf_free(&b);
    }
}

/* A window too large for what is left fails, again and again; a smaller one is still given. */
static void failure_comes_last(void **state)
{
    (void)state;
    struct mt_buf b = encode(GZIP, text(500000), 500000);
    struct mt_err err = MT_ERR_INIT, again = MT_ERR_INIT;
    struct mt_stream *s = NULL;
    const char *p;
    size_t n;
    assert_int_equal(mt_stream_open_memory(b.s, b.n - 100, &s, &err), MT_OK);
    assert_int_equal(mt_stream_peek(s, 499000, &p, &n, &err), MT_OK);
    mt_stream_consume(s, 400000);
    assert_int_equal(mt_stream_peek(s, 200000, &p, &n, &err), MT_EINPUT);
    assert_true(n > 90000 && n < 100000);
    assert_memory_equal(p, text(500000) + 400000, n);
    assert_int_equal(mt_stream_peek(s, 200000, &p, &n, &again), MT_EINPUT);
    assert_string_equal(again.what, err.what);
    again = (struct mt_err)MT_ERR_INIT;
    assert_int_equal(mt_stream_peek(s, 1, &p, &n, &again), MT_OK);
    mt_stream_consume(s, n);
    assert_int_equal(mt_stream_peek(s, 1, &p, &n, &again), MT_EINPUT);
    assert_int_equal(n, 0);
    mt_stream_close(s);
    mt_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut),
        cmocka_unit_test(cut_far_into_a_file),
        cmocka_unit_test(flipped_bits),
        cmocka_unit_test(damaged_in_the_middle),
        cmocka_unit_test(whole_messages),
        cmocka_unit_test(failure_comes_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
