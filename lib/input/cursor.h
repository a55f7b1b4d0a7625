/*
 * cursor.h - values of binary formats, little-endian, taken from what is left of some bytes.
 *
 * Where the bytes end before a value does, it is 0 or "", and `more` is set: it goes on behind
 * them. Who can get more of them then starts over.
 */
#ifndef MT_CURSOR_H
#define MT_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct mt_cursor {
    const char *p, *end;
    bool more;
};

static inline uint8_t mt_cursor_byte(struct mt_cursor *c)
{
    if (c->p < c->end)
        return (uint8_t)*c->p++;
    c->more = true;
    return 0;
}

static inline const char *mt_cursor_bytes(struct mt_cursor *c, uint64_t n)
{
    const char *p = c->p;
    if ((uint64_t)(c->end - p) < n) {
        c->more = true;
        return "";
    }
    c->p += n;
    return p;
}

/* A number of up to 8 bytes. */
static inline uint64_t mt_cursor_fixed(struct mt_cursor *c, size_t bytes)
{
    uint64_t v = 0;
    const char *p = mt_cursor_bytes(c, bytes);
    for (size_t i = 0; !c->more && i < bytes; i++)
        v |= (uint64_t)(uint8_t)p[i] << 8 * i;
    return v;
}

/* A number in groups of 7 bits, at most 10. How many there are is not to be guessed: up to 8 are
 * taken at once. */
static inline uint64_t mt_cursor_varint(struct mt_cursor *c)
{
    uint64_t v = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t high = 0x8080808080808080u;
    if (c->end - c->p >= (ptrdiff_t)sizeof v) {
        memcpy(&v, c->p, sizeof v);
        const uint64_t ends = ~v & high;
        if (ends) {
            c->p += (__builtin_ctzll(ends) >> 3) + 1;
            v &= (ends ^ (ends - 1)) & ~high;
            v = (v & 0x007f007f007f007fu) | (v & 0x7f007f007f007f00u) >> 1; /* pairs, */
            v = (v & 0x00003fff00003fffu) | (v & 0x3fff00003fff0000u) >> 2; /* fours, */
            return (v & 0x0fffffff) | v >> 32 << 28;                        /* all */
        }
        v = 0;
    }
#endif
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t b = mt_cursor_byte(c);
        v |= (uint64_t)(b & 127) << shift;
        if (!(b & 128))
            break;
    }
    return v;
}

/* The same of a signed one: 0, -1, 1, -2, .. */
static inline int64_t mt_cursor_signed(struct mt_cursor *c)
{
    uint64_t v = mt_cursor_varint(c);
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

/* A text of n bytes up to a NUL, which stands there. */
static inline const char *mt_cursor_text(struct mt_cursor *c, size_t *n)
{
    const char *p = c->p, *end = memchr(p, '\0', (size_t)(c->end - p));
    *n = 0;
    if (!end) {
        c->more = true;
        return "";
    }
    *n = (size_t)(end - p);
    c->p = end + 1;
    return p;
}

#endif
