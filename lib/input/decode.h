/*
 * decode.h - what a decompressor is to the stream, and the list of them.
 *
 * Internal to the stream. A decoder pulls raw bytes from a source and writes what they stand for.
 */
#ifndef MT_DECODE_H
#define MT_DECODE_H

#include "lib/base/err.h"
#include "lib/input/source.h"

#define MT_DECODER_HEAD 4 /* first bytes that tell the encodings apart */

struct mt_decoder {
    const char *name; /* as messages call it */

    /* Does the input begin like this encoding? n < MT_DECODER_HEAD only for a shorter input. NULL:
     * any does, for it is no encoding at all. */
    bool (*detect)(const uint8_t *head, size_t n);

    /* NULL when there is no memory for it. */
    void *(*open)(void);

    /*
     * Writes up to cap bytes to out and says how many in *got, also when it fails: those came
     * before the damage. Fewer than cap with MT_OK is the end of the input.
     */
    enum mt_status (*decode)(void *state, struct mt_source *src, uint8_t *out, size_t cap,
                             size_t *got, struct mt_err *err);
    void (*close)(void *state); /* accepts NULL */
};

extern const struct mt_decoder mt_decoder_gzip;
extern const struct mt_decoder mt_decoder_zstd;
extern const struct mt_decoder mt_decoder_lz4;

/* The decoder for an input that begins so; never NULL, bytes of no known encoding are plain. */
const struct mt_decoder *mt_decoder_find(const uint8_t *head, size_t n);

/* Passes over zeros, with which tapes and block devices pad files, to n bytes of what is behind
 * (fewer before the end). Errors: of mt_source_fill. */
enum mt_status mt_decode_pass_zeros(struct mt_source *src, size_t n, struct mt_err *err);

/* The failures that decoders share; `at` is a raw offset, `detail` may be NULL. */
enum mt_status mt_decode_cut(const struct mt_source *src, const char *name, struct mt_err *err);
enum mt_status mt_decode_damaged(const struct mt_source *src, const char *name, uint64_t at,
                                 const char *detail, struct mt_err *err);
enum mt_status mt_decode_trailing(const struct mt_source *src, const char *name,
                                  struct mt_err *err);

#endif
