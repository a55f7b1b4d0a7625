#include "lib/input/decode.h"

#include "lib/base/mem.h"
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>

enum place { IN_HEADER, IN_BODY, BETWEEN_MEMBERS, AT_DAMAGE, AT_END };

struct gzip {
    struct inflate_state z;
    struct isal_gzip_header header; /* kept between calls: a header may come in pieces */
    enum place place;
    uint64_t damage_at;
    const char *damage;
};

static bool gzip_detect(const uint8_t *head, size_t n)
{
    return n >= 2 && head[0] == 0x1f && head[1] == 0x8b;
}

static void begin_member(struct gzip *g)
{
    isal_inflate_reset(&g->z);
    isal_gzip_header_init(&g->header);
    g->z.crc_flag = ISAL_GZIP_NO_HDR_VER;
    g->place = IN_HEADER;
}

static void *gzip_open(void)
{
    struct gzip *g = mt_alloc(sizeof *g);
    isal_inflate_init(&g->z);
    begin_member(g);
    return g;
}

/* Lends the bytes at hand to ISA-L (which takes them as non-const, but does not write). */
static void lend(struct gzip *g, const struct mt_source *src)
{
    g->z.next_in = (uint8_t *)src->next;
    g->z.avail_in = (uint32_t)src->n;
}

/* Takes what ISA-L used of them. On damage, its count may be a few bytes past the last one. */
static void settle(const struct gzip *g, struct mt_source *src)
{
    mt_source_take(src, g->z.avail_in <= src->n ? src->n - g->z.avail_in : src->n);
}

static const char *describe(int code)
{
    switch (code) {
    case ISAL_INVALID_BLOCK:
        return "invalid block";
    case ISAL_INVALID_SYMBOL:
        return "invalid symbol";
    case ISAL_INVALID_LOOKBACK:
        return "reference to before the start";
    case ISAL_INVALID_WRAPPER:
        return "invalid header";
    case ISAL_UNSUPPORTED_METHOD:
        return "unknown compression method";
    case ISAL_INCORRECT_CHECKSUM:
        return "wrong checksum";
    default:
        return NULL;
    }
}

static void note_damage(struct gzip *g, const struct mt_source *src, int code)
{
    /* ISA-L has read some whole bytes ahead into its bit buffer. */
    uint64_t ahead = g->z.read_in_length > 0 ? (uint64_t)g->z.read_in_length / 8 : 0;
    uint64_t at = mt_source_offset(src);
    g->damage_at = at > ahead ? at - ahead : 0;
    g->damage = describe(code);
    g->place = AT_DAMAGE;
}

static enum mt_status read_header(struct gzip *g, struct mt_source *src, struct mt_err *err)
{
    MT_TRY(mt_source_fill(src, 1, err));
    if (src->n == 0)
        return mt_decode_cut(src, "gzip", err);
    lend(g, src);
    int r = isal_read_gzip_header(&g->z, &g->header);
    settle(g, src);
    if (r < 0)
        note_damage(g, src, r);
    else if (r == ISAL_DECOMP_OK)
        g->place = IN_BODY;
    return MT_OK;
}

static enum mt_status read_body(struct gzip *g, struct mt_source *src, struct mt_err *err)
{
    MT_TRY(mt_source_fill(src, 1, err));
    /* Even without more input, bits read ahead may hold output still, or the end. */
    bool no_more = src->n == 0;
    uint32_t room = g->z.avail_out;
    lend(g, src);
    int r = isal_inflate(&g->z);
    settle(g, src);
    if (r < 0)
        note_damage(g, src, r);
    else if (g->z.block_state == ISAL_BLOCK_FINISH)
        g->place = BETWEEN_MEMBERS;
    else if (no_more && g->z.avail_out == room)
        return mt_decode_cut(src, "gzip", err);
    return MT_OK;
}

/* Behind a member: another one, zero padding, or the end. */
static enum mt_status look_further(struct gzip *g, struct mt_source *src, struct mt_err *err)
{
    MT_TRY(mt_decode_pass_zeros(src, 2, err));
    if (src->n == 0)
        g->place = AT_END;
    else if (src->next[0] == 0x1f && (src->n < 2 || src->next[1] == 0x8b))
        begin_member(g);
    else
        return mt_decode_trailing(src, "gzip", err);
    return MT_OK;
}

/* What ISA-L decoded before the damage and has not handed out yet comes first. */
static enum mt_status drain(struct gzip *g, const struct mt_source *src, struct mt_err *err)
{
    struct inflate_state *z = &g->z;
    uint32_t left = (uint32_t)(z->tmp_out_valid - z->tmp_out_processed);
    uint32_t n = left < z->avail_out ? left : z->avail_out;
    if (n == 0)
        return mt_decode_damaged(src, "gzip", g->damage_at, g->damage, err);
    memcpy(z->next_out, z->tmp_out_buffer + z->tmp_out_processed, n);
    z->tmp_out_processed += (int32_t)n;
    z->next_out += n;
    z->avail_out -= n;
    return MT_OK;
}

static enum mt_status gzip_decode(void *state, struct mt_source *src, uint8_t *out, size_t cap,
                                  size_t *got, struct mt_err *err)
{
    struct gzip *g = state;
    enum mt_status st = MT_OK;
    g->z.next_out = out;
    g->z.avail_out = (uint32_t)cap;
    while (st == MT_OK && g->z.avail_out > 0 && g->place != AT_END) {
        switch (g->place) {
        case IN_HEADER:
            st = read_header(g, src, err);
            break;
        case IN_BODY:
            st = read_body(g, src, err);
            break;
        case BETWEEN_MEMBERS:
            st = look_further(g, src, err);
            break;
        case AT_DAMAGE:
            st = drain(g, src, err);
            break;
        case AT_END:
            break;
        }
    }
    *got = cap - g->z.avail_out;
    return st;
}

const struct mt_decoder mt_decoder_gzip = {"gzip", gzip_detect, gzip_open, gzip_decode, free};
