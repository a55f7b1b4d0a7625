#include "lib/input/decode.h"

#include "lib/base/mem.h"
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define WINDOW_LOG_MAX 27 /* 128 MiB: what `zstd --long` makes, and zstd's own limit by default */

struct zstd {
    ZSTD_DCtx *ctx;
    size_t first; /* how many raw bytes ctx would like at the start of a frame */
    size_t wants; /* and next; 0 = stands between two frames */
    bool any;     /* at least one frame has been read to its end */
    bool sure;    /* one has begun that is zstd's alone */
    void *lz4;    /* of mt_decoder_lz4, whose first frame came; else NULL */
};

static uint32_t le32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static bool zstd_detect(const uint8_t *head, size_t n)
{
    return n >= 4 && (le32(head) == ZSTD_MAGICNUMBER ||
                      (le32(head) & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START);
}

static bool is_frame(const struct mt_source *src)
{
    return src->n >= 4 && le32(src->next) == ZSTD_MAGICNUMBER;
}

static void *zstd_open(void)
{
    ZSTD_DCtx *ctx = ZSTD_createDCtx();
    if (!ctx)
        return NULL;
    ZSTD_DCtx_setParameter(ctx, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    struct zstd *z = mt_alloc(sizeof *z);
    *z = (struct zstd){.ctx = ctx, .first = ZSTD_initDStream(ctx)};
    return z;
}

static void zstd_close(void *state)
{
    struct zstd *z = state;
    if (z) {
        ZSTD_freeDCtx(z->ctx);
        mt_decoder_lz4.close(z->lz4);
    }
    free(z);
}

static enum mt_status failed(const struct zstd *z, const struct mt_source *src, size_t code,
                             struct mt_err *err)
{
    enum mt_status st;
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_prefix_unknown:
        if (z->any)
            return mt_decode_trailing(src, "zstd", err);
        break;
    case ZSTD_error_frameParameter_windowTooLarge:
        st = MT_FAIL(err, MT_ELIMIT,
                     "the zstd data needs a window of more than %d MiB to decompress",
                     (1 << WINDOW_LOG_MAX) >> 20);
        mt_source_name_error(src, err);
        mt_err_hint(err, "Nothing was imported. Decompress it first (zstd -d --long=31 FILE), or "
                         "compress it with a smaller window.");
        return st;
    case ZSTD_error_dictionary_wrong:
        st = MT_FAIL(err, MT_EINPUT, "the zstd data was compressed with a dictionary of its own");
        mt_source_name_error(src, err);
        mt_err_hint(err, "Nothing was imported. Decompress it first (zstd -d -D DICTIONARY FILE).");
        return st;
    case ZSTD_error_memory_allocation:
        st = MT_FAIL(err, MT_ELIMIT, "there is not enough memory to decompress the zstd data");
        mt_source_name_error(src, err);
        mt_err_hint(err, "Nothing was imported.");
        return st;
    default:
        break;
    }
    return mt_decode_damaged(src, "zstd", mt_source_offset(src), ZSTD_getErrorName(code), err);
}

/* Skippable frames are LZ4's, too: the first that is none says which of the two it is. */
static enum mt_status tell_apart(struct zstd *z, struct mt_source *src, struct mt_err *err)
{
    MT_TRY(mt_source_fill(src, MT_DECODER_HEAD, err));
    z->sure = is_frame(src);
    if (!mt_decoder_lz4.detect(src->next, src->n))
        return MT_OK;
    z->lz4 = mt_decoder_lz4.open();
    return z->lz4 ? MT_OK
                  : MT_FAIL(err, MT_ELIMIT, "there is not enough memory to read the %s", src->noun);
}

static enum mt_status zstd_decode(void *state, struct mt_source *src, uint8_t *out, size_t cap,
                                  size_t *got, struct mt_err *err)
{
    struct zstd *z = state;
    ZSTD_outBuffer o = {out, cap, 0};
    *got = 0;
    if (z->lz4)
        return mt_decoder_lz4.decode(z->lz4, src, out, cap, got, err);
    while (o.pos < o.size) {
        MT_TRY(z->wants || !z->any ? mt_source_fill(src, 1, err)
                                   : mt_decode_pass_zeros(src, 1, err));
        if (!z->sure && z->wants == 0)
            MT_TRY(tell_apart(z, src, err));
        if (z->lz4) /* there was no output so far */
            return mt_decoder_lz4.decode(z->lz4, src, out, cap, got, err);
        bool no_more = src->n == 0;
        if (no_more && z->any && z->wants == 0)
            break;
        /* No more than zstd wants, so that a call is a block: of a call that fails, zstd gives no
         * output at all, and what came before the damage would be lost. */
        size_t wants = z->wants ? z->wants : z->first;
        ZSTD_inBuffer in = {src->next, src->n < wants ? src->n : wants, 0};
        size_t before = o.pos;
        size_t r = ZSTD_decompressStream(z->ctx, &o, &in);
        *got = o.pos;
        if (ZSTD_isError(r))
            return failed(z, src, r, err);
        mt_source_take(src, in.pos);
        z->wants = r;
        z->any |= r == 0;
        if (no_more && r != 0 && o.pos == before)
            return mt_decode_cut(src, "zstd", err);
    }
    return MT_OK;
}

const struct mt_decoder mt_decoder_zstd = {"zstd", zstd_detect, zstd_open, zstd_decode, zstd_close};
