#include "lib/input/decode.h"

#include "lib/base/mem.h"
#include <lz4frame.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = LZ4F_HEADER_SIZE_MIN };

struct lz4 {
    LZ4F_dctx *ctx;
    size_t wants; /* raw bytes that it would like next; 0 = stands between two frames */
    bool any;     /* at least one frame has been read to its end */
};

static bool lz4_detect(const uint8_t *head, size_t n)
{
    static const uint8_t magic[] = {0x04, 0x22, 0x4d, 0x18};
    return n >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

/* What LZ4 passes over: bytes of others between its frames. */
static bool is_skippable(const uint8_t *head, size_t n)
{
    return n >= 4 && head[0] >> 4 == 5 && head[1] == 0x2a && head[2] == 0x4d && head[3] == 0x18;
}

static void *lz4_open(void)
{
    LZ4F_dctx *ctx;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&ctx, LZ4F_VERSION)))
        return NULL;
    struct lz4 *z = mt_alloc(sizeof *z);
    *z = (struct lz4){.ctx = ctx};
    return z;
}

static void lz4_close(void *state)
{
    struct lz4 *z = state;
    if (z)
        LZ4F_freeDecompressionContext(z->ctx);
    free(z);
}

static enum mt_status lz4_decode(void *state, struct mt_source *src, uint8_t *out, size_t cap,
                                 size_t *got, struct mt_err *err)
{
    struct lz4 *z = state;
    *got = 0;
    while (*got < cap) {
        MT_TRY(z->wants || !z->any ? mt_source_fill(src, z->wants ? 1 : MT_DECODER_HEAD, err)
                                   : mt_decode_pass_zeros(src, MT_DECODER_HEAD, err));
        bool no_more = src->n == 0;
        if (no_more && z->wants == 0)
            break;
        if (z->wants == 0 && z->any && !lz4_detect(src->next, src->n) &&
            !is_skippable(src->next, src->n))
            return mt_decode_trailing(src, "LZ4", err);
        /* No more than it wants: a call is a block, and one that fails loses no other. */
        size_t wants = z->wants ? z->wants : HEADER;
        size_t in_n = src->n < wants ? src->n : wants, out_n = cap - *got;
        size_t r = LZ4F_decompress(z->ctx, out + *got, &out_n, src->next, &in_n, NULL);
        if (LZ4F_isError(r))
            return mt_decode_damaged(src, "LZ4", mt_source_offset(src), LZ4F_getErrorName(r), err);
        *got += out_n;
        mt_source_take(src, in_n);
        z->wants = r;
        z->any |= r == 0;
        if (no_more && r != 0 && out_n == 0)
            return mt_decode_cut(src, "LZ4", err);
    }
    return MT_OK;
}

const struct mt_decoder mt_decoder_lz4 = {"LZ4", lz4_detect, lz4_open, lz4_decode, lz4_close};
