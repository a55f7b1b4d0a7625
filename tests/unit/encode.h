/*
 * encode.h - test inputs: text that looks like a trace, and the same text compressed in many ways.
 */
#ifndef TEST_ENCODE_H
#define TEST_ENCODE_H

#include "lib/base/mem.h"
#include <lz4frame.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

/* Lines that compress like a trace does, the same in every run; grows on demand. */
static inline const char *text(size_t n)
{
    static struct mt_buf b;
    static uint32_t seed = 1;
    while (b.n < n) {
        seed = seed * 1664525 + 1013904223;
        mt_buf_addf(&b, "{\"name\": \"aten::op%u\", \"ts\": %zu, \"id\": %u},\n", seed >> 27,
                    b.n / 7, seed >> 12);
    }
    return b.s;
}

static inline void add_gzip(struct mt_buf *b, const char *s, size_t n, int level, bool long_header)
{
    static unsigned char extra[300] = "EX";
    gz_header h = {.extra = extra,
                   .extra_len = sizeof extra,
                   .name = (Bytef *)"trace.json",
                   .comment = (Bytef *)"one of many",
                   .hcrc = 1};
    size_t cap = compressBound(n) + 1000;
    char *out = mt_alloc(cap);
    z_stream z = {.next_in = (Bytef *)s,
                  .avail_in = (uInt)n,
                  .next_out = (Bytef *)out,
                  .avail_out = (uInt)cap};
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    if (long_header)
        deflateSetHeader(&z, &h);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    mt_buf_add(b, out, z.total_out);
    deflateEnd(&z);
    free(out);
}

static inline void add_zstd(struct mt_buf *b, const char *s, size_t n, int level)
{
    ZSTD_CCtx *c = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
    size_t cap = ZSTD_compressBound(n);
    char *out = mt_alloc(cap);
    size_t r = ZSTD_compress2(c, out, cap, s, n);
    assert_false(ZSTD_isError(r));
    mt_buf_add(b, out, r);
    free(out);
    ZSTD_freeCCtx(c);
}

static inline void add_lz4(struct mt_buf *b, const char *s, size_t n, int level)
{
    const LZ4F_preferences_t how = {
        .frameInfo = {.contentChecksumFlag = LZ4F_contentChecksumEnabled,
                      .blockChecksumFlag = LZ4F_blockChecksumEnabled},
        .compressionLevel = level,
    };
    size_t cap = LZ4F_compressFrameBound(n, &how);
    char *out = mt_alloc(cap);
    size_t r = LZ4F_compressFrame(out, cap, s, n, &how);
    assert_false(LZ4F_isError(r));
    mt_buf_add(b, out, r);
    free(out);
}

enum encoding {
    PLAIN,
    GZIP,
    GZIP_STORED,
    GZIP_LONG_HEADER,
    GZIP_MEMBERS,
    GZIP_PADDED,
    ZSTD,
    ZSTD_FRAMES,
    ZSTD_SKIPPABLE,
    LZ4,
    LZ4_FRAMES,
    LZ4_SKIPPABLE,
    ENCODINGS
};

static inline struct mt_buf encode(enum encoding e, const char *s, size_t n)
{
    static const char skippable[] = "\x53\x2a\x4d\x18\x05\0\0\0hello", zeros[1000];
    struct mt_buf b = {0};
    size_t third = n / 3;
    mt_buf_add(&b, "", 0);
    switch (e) {
    case PLAIN:
        mt_buf_add(&b, s, n);
        break;
    case GZIP:
        add_gzip(&b, s, n, 6, false);
        break;
    case GZIP_STORED:
        add_gzip(&b, s, n, 0, false);
        break;
    case GZIP_LONG_HEADER:
        add_gzip(&b, s, n, 9, true);
        break;
    case GZIP_MEMBERS:
    case GZIP_PADDED:
        add_gzip(&b, s, third, 6, false);
        add_gzip(&b, s, 0, 6, true);
        add_gzip(&b, s + third, n - third, 1, true);
        if (e == GZIP_PADDED)
            mt_buf_add(&b, zeros, sizeof zeros);
        break;
    case ZSTD:
        add_zstd(&b, s, n, 3);
        break;
    case ZSTD_FRAMES:
    case ZSTD_SKIPPABLE:
        if (e == ZSTD_SKIPPABLE)
            mt_buf_add(&b, skippable, sizeof skippable - 1);
        add_zstd(&b, s, third, 1);
        add_zstd(&b, s, 0, 1);
        if (e == ZSTD_SKIPPABLE)
            mt_buf_add(&b, skippable, sizeof skippable - 1);
        add_zstd(&b, s + third, n - third, 9);
        if (e == ZSTD_SKIPPABLE)
            mt_buf_add(&b, skippable, sizeof skippable - 1);
        break;
    case LZ4:
        add_lz4(&b, s, n, 0);
        break;
    case LZ4_SKIPPABLE:
        mt_buf_add(&b, skippable, sizeof skippable - 1);
        add_lz4(&b, s, n, 0);
        break;
    case LZ4_FRAMES:
        add_lz4(&b, s, third, 0);
        add_lz4(&b, s, 0, 0);
        add_lz4(&b, s + third, n - third, 9);
        break;
    case ENCODINGS:
        break;
    }
    return b;
}

#endif
