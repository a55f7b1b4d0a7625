#include "formats/heaptrack_events.h"

#include "lib/input/fields.h"

#ifdef __SSE2__ /* what is to be known of 64 bytes, at once; on little-endian processors alone */
#include <emmintrin.h>

enum { BLOCK = 64, DIGITS = 8 };

/* A bit of each byte, and the values of those that are hex digits. */
struct marks {
    uint64_t end, hex;
    uint8_t value[BLOCK + DIGITS];
};

static inline __m128i at_most(__m128i v, char most) /* without a sign */
{
    return _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(most)), v);
}

static inline void mark(const char *p, struct marks *m)
{
    m->end = m->hex = 0;
#pragma GCC unroll 4
    for (int i = 0; i < BLOCK; i += 16) {
        const __m128i v = _mm_loadu_si128((const __m128i *)(p + i));
        const __m128i digit = at_most(_mm_sub_epi8(v, _mm_set1_epi8('0')), 9);
        const __m128i lower = _mm_or_si128(v, _mm_set1_epi8(0x20));
        const __m128i letter = at_most(_mm_sub_epi8(lower, _mm_set1_epi8('a')), 5);
        const __m128i value = _mm_add_epi8(_mm_and_si128(v, _mm_set1_epi8(0x0f)),
                                           _mm_and_si128(letter, _mm_set1_epi8(9)));
        _mm_storeu_si128((__m128i *)(m->value + i), value);
        m->hex |= (uint64_t)_mm_movemask_epi8(_mm_or_si128(letter, digit)) << i;
        m->end |= (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8('\n'))) << i;
    }
}

/* The ends of lines that have digits, and nothing else, behind their first two bytes; up to the
 * first that is no such line. */
static inline uint64_t ends_of_numbers(const struct marks *m)
{
    const uint64_t start = m->end << 1 | 1, two = start | start << 1;
    const uint64_t wrong = (m->end & (two | two << 1)) | ~(m->hex | m->end | two);
    return wrong ? m->end & ((wrong & -wrong) - 1) : m->end;
}

/* The number whose n hex digits, 1 to 8, have the values at p. Eight bytes can be read there. */
static inline uint32_t number_of(const uint8_t *p, unsigned n)
{
    uint64_t w;
    memcpy(&w, p, sizeof w);
    w = __builtin_bswap64(w << (-8 * n & 63)); /* zeros in front */
    w = (w | w >> 4) & 0x00ff00ff00ff00ffu;    /* pairs, then fours, then all */
    w = (w | w >> 8) & 0x0000ffff0000ffffu;
    return (uint32_t)(w | w >> 16);
}

/* Up to cap events of lines that begin at *p and end in the block there. */
static inline size_t some_lines(const char **p, uint32_t kind_n, uint32_t *out, size_t cap)
{
    struct marks m;
    const char *const text = *p;
    unsigned at = 0;
    size_t n = 0;
    mark(text, &m);
    for (uint64_t ends = ends_of_numbers(&m); ends && n < cap; ends &= ends - 1) {
        const unsigned end = (unsigned)__builtin_ctzll(ends), digits = end - at - 2;
        uint16_t sign;
        memcpy(&sign, text + at, sizeof sign);
        const unsigned frees = sign - (unsigned)('+' | ' ' << 8); /* or 2 */
        const uint32_t kind = number_of(m.value + at + 2, digits);
        if (frees & ~2u || digits > DIGITS || kind >= kind_n)
            break;
        out[n++] = kind << 1 | frees >> 1;
        at = end + 1;
    }
    *p = text + at;
    return n;
}

#else

/* That of the line at *p. */
static inline size_t some_lines(const char **p, uint32_t kind_n, uint32_t *out, size_t cap)
{
    const char *const line = *p;
    uint32_t kind;
    (void)cap;
    if ((*line != '+' && *line != '-') || line[1] != ' ')
        return 0;
    const unsigned digits = mt_hex_eight(line + 2, &kind);
    if (!digits || line[2 + digits] != '\n' || kind >= kind_n)
        return 0;
    *out = kind << 1 | (*line == '-');
    *p = line + digits + 3;
    return 1;
}

#endif

size_t mt_ht_event_lines(const char **p, const char *end, uint32_t kind_n, uint32_t *out,
                         size_t cap)
{
    size_t n = 0;
    for (size_t more = 1; more && n < cap && *p < end; n += more)
        more = some_lines(p, kind_n, out + n, cap - n);
    return n;
}
