#include "lib/input/decode.h"

#include "lib/base/human.h"

static void *plain_open(void)
{
    static char no_state;
    return &no_state;
}

static enum mt_status plain_decode(void *state, struct mt_source *src, uint8_t *out, size_t cap,
                                   size_t *got, struct mt_err *err)
{
    (void)state;
    *got = 0;
    while (*got < cap) {
        size_t n = 0;
        MT_TRY(mt_source_read(src, out + *got, cap - *got, &n, err));
        if (n == 0)
            break;
        *got += n;
    }
    return MT_OK;
}

static void plain_close(void *state)
{
    (void)state;
}

static const struct mt_decoder plain = {"plain", NULL, plain_open, plain_decode, plain_close};

/* In the order they are asked; plain takes whatever nobody else wants. */
static const struct mt_decoder *const decoders[] = {&mt_decoder_gzip, &mt_decoder_zstd,
                                                    &mt_decoder_lz4, &plain};

const struct mt_decoder *mt_decoder_find(const uint8_t *head, size_t n)
{
    size_t i = 0;
    while (decoders[i]->detect && !decoders[i]->detect(head, n))
        i++;
    return decoders[i];
}

enum mt_status mt_decode_pass_zeros(struct mt_source *src, size_t n, struct mt_err *err)
{
    for (;;) {
        MT_TRY(mt_source_fill(src, n, err));
        if (src->n == 0 || *src->next != 0)
            return MT_OK;
        while (src->n && *src->next == 0)
            mt_source_take(src, 1);
    }
}

enum mt_status mt_decode_cut(const struct mt_source *src, const char *name, struct mt_err *err)
{
    char at[MT_HUMAN_MAX];
    enum mt_status st = MT_FAIL(err, MT_EINPUT, "the %s data is cut off at byte %s of the %s", name,
                                mt_human_count((int64_t)mt_source_offset(src), at), src->noun);
    mt_source_name_error(src, err);
    mt_err_hint(err, "Nothing was imported. Was the recording or the copy interrupted? "
                     "With --partial, what came before the cut is kept.");
    return st;
}

enum mt_status mt_decode_damaged(const struct mt_source *src, const char *name, uint64_t at,
                                 const char *detail, struct mt_err *err)
{
    char text[MT_HUMAN_MAX];
    enum mt_status st =
        MT_FAIL(err, MT_EINPUT, "the %s data is damaged at about byte %s of the %s%s%s%s", name,
                mt_human_count((int64_t)at, text), src->noun, detail ? " (" : "",
                detail ? detail : "", detail ? ")" : "");
    mt_source_name_error(src, err);
    mt_err_hint(err, "Nothing was imported. Copy the file again from where it was recorded. "
                     "With --partial, what came before the damage is kept.");
    return st;
}

enum mt_status mt_decode_trailing(const struct mt_source *src, const char *name, struct mt_err *err)
{
    char at[MT_HUMAN_MAX];
    enum mt_status st =
        MT_FAIL(err, MT_EINPUT, "the %s data is followed by other bytes, from byte %s of the %s on",
                name, mt_human_count((int64_t)mt_source_offset(src), at), src->noun);
    mt_source_name_error(src, err);
    mt_err_hint(err, "Nothing was imported. Cut those bytes off, or, with --partial, keep what "
                     "came before them.");
    return st;
}
