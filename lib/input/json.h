/*
 * json.h - the streaming JSON scanner: walks text that may be cut off by the end of a window and
 * may not be valid JSON at all. Builds nothing; numbers keep their digits.
 *
 * Every function takes a position p inside a window [.., end) behind which zero bytes stand
 * (MT_STREAM_PAD), and returns the position after what it read, or NULL. On NULL, s->stop tells
 * why: the window ended first (ask the stream for more and start over), or the text is no JSON.
 *
 * More tolerant than RFC 8259, because real traces are: control bytes stand for white space and are
 * accepted inside strings, unknown escapes are kept, and bare NaN, Infinity, inf, N/A are values.
 */
#ifndef MT_JSON_H
#define MT_JSON_H

#include "lib/base/mem.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define MT_JSON_DEPTH 512 /* arrays and objects nested deeper than this are refused */

enum mt_json_stop { MT_JSON_MORE, MT_JSON_BAD };

struct mt_json {
    const char *end;        /* end of the window */
    enum mt_json_stop stop; /* why a function returned NULL */
    const char *bad;        /* MT_JSON_BAD: where */
    const char *why;        /* MT_JSON_BAD: what was wrong, static text */
};

/* A piece of the window. For strings: what stands between the quotes, escapes not resolved. */
struct mt_slice {
    const char *s;
    uint32_t n;
    bool escaped; /* a string with backslashes in it */
};

/* Sets stop and returns NULL: more bytes are needed if p has reached the end, else bad text. */
const char *mt_json_stop_at(struct mt_json *j, const char *p, const char *why);

static inline const char *mt_json_space(const char *p)
{
    while ((unsigned char)(*p - 1) < ' ')
        p++;
    return p;
}

/* White space and commas, as they stand between events. */
static inline const char *mt_json_separators(const char *p)
{
#ifdef __SSE2__
    const __m128i one = _mm_set1_epi8(1), space = _mm_set1_epi8(' '), comma = _mm_set1_epi8(',');
    for (;; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)p);
        __m128i white = _mm_cmpeq_epi8(_mm_max_epu8(_mm_min_epu8(v, space), one), v);
        int other = _mm_movemask_epi8(_mm_or_si128(white, _mm_cmpeq_epi8(v, comma))) ^ 0xffff;
        if (other)
            return p + __builtin_ctz((unsigned)other);
    }
#else
    while (*p == ',' || (unsigned char)(*p - 1) < ' ')
        p++;
    return p;
#endif
}

/* Expects the byte c after white space. */
static inline const char *mt_json_expect(struct mt_json *j, const char *p, char c, const char *why)
{
    p = mt_json_space(p);
    return *p == c ? p + 1 : mt_json_stop_at(j, p, why);
}

/* First of '"', '\\' or a zero byte at or after p. */
static inline const char *mt_json_string_end(const char *p)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'),
                  zero = _mm_setzero_si128();
    for (;; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)p);
        __m128i hit = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)),
                                   _mm_cmpeq_epi8(v, zero));
        int mask = _mm_movemask_epi8(hit);
        if (mask)
            return p + __builtin_ctz((unsigned)mask);
    }
#else
    while (*p && *p != '"' && *p != '\\')
        p++;
    return p;
#endif
}

/* Rest of a string with backslashes; p is at the first one, start after the opening quote. */
const char *mt_json_string_escaped(struct mt_json *j, const char *start, const char *p,
                                   struct mt_slice *out);

/* p is at the opening quote. */
static inline const char *mt_json_string(struct mt_json *j, const char *p, struct mt_slice *out)
{
    const char *start = p + 1, *q = mt_json_string_end(start);
    if (*q != '"')
        return mt_json_string_escaped(j, start, q, out);
    *out = (struct mt_slice){start, (uint32_t)(q - start), false};
    return q + 1;
}

/* First byte at or after p that is white space, a zero byte or one of , : " [ ] { }. */
static inline const char *mt_json_scalar_end(const char *p)
{
#ifdef __SSE2__
    const __m128i space = _mm_set1_epi8(' '), comma = _mm_set1_epi8(','),
                  colon = _mm_set1_epi8(':'), quote = _mm_set1_epi8('"');
    const __m128i fold = _mm_set1_epi8((char)0xdf); /* maps { to [ and } to ] */
    const __m128i open = _mm_set1_epi8('['), close = _mm_set1_epi8(']');
    for (;; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)p), f = _mm_and_si128(v, fold);
        __m128i hit =
            _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(v, space), v), _mm_cmpeq_epi8(v, comma));
        hit = _mm_or_si128(hit, _mm_or_si128(_mm_cmpeq_epi8(v, colon), _mm_cmpeq_epi8(v, quote)));
        hit = _mm_or_si128(hit, _mm_or_si128(_mm_cmpeq_epi8(f, open), _mm_cmpeq_epi8(f, close)));
        int mask = _mm_movemask_epi8(hit);
        if (mask)
            return p + __builtin_ctz((unsigned)mask);
    }
#else
    while ((unsigned char)*p > ' ' && !strchr(",:\"[]{}", *p))
        p++;
    return p;
#endif
}

/* How many of the eight bytes at p are digits before the first that is none, and their value. */
static inline unsigned mt_json_eight(const char *p, uint64_t *v)
{
    unsigned n = 0;
    *v = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t w;
    memcpy(&w, p, sizeof w);
    w -= 0x3030303030303030u; /* what is wrong behind a byte that is no digit does not matter */
    uint64_t other = (w | (w + 0x7676767676767676u)) & 0x8080808080808080u;
    n = other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
    if (!n)
        return 0;
    w <<= 64 - 8 * n; /* zeros in front: pairs, then fours, then all */
    w = (w * 10 + (w >> 8)) & 0x00ff00ff00ff00ffu;
    w = (w * 100 + (w >> 16)) & 0x0000ffff0000ffffu;
    *v = (w * 10000 + (w >> 32)) & 0xffffffffu;
#else
    for (; n < 8 && (unsigned char)(p[n] - '0') < 10; n++)
        *v = *v * 10 + (uint64_t)(p[n] - '0');
#endif
    return n;
}

/* The digits at p, 16 at most. Returns the position behind them. */
static inline const char *mt_json_digits(const char *p, uint64_t *v)
{
    static const uint32_t powers[] = {1,      10,      100,      1000,     10000,
                                      100000, 1000000, 10000000, 100000000};
    uint64_t more;
    unsigned n = mt_json_eight(p, v);
    p += n;
    if (n < 8)
        return p;
    n = mt_json_eight(p, &more);
    *v = *v * powers[n] + more;
    return p + n;
}

/* Whether a number surely ends at c. */
static inline bool mt_json_is_end(char c)
{
    return c == ',' || c == '}' || c == '\n' || c == ' ';
}

/*
 * Numbers as recorders write them, read at once. They return the position behind the number, or
 * NULL where it is written in another way, or does not end in the window: then mt_json_scalar and
 * the functions for slices below tell what it is. The results are the same.
 */
static inline const char *mt_json_plain_int(const char *p, int64_t *out)
{
    uint64_t v;
    bool minus = *p == '-';
    const char *digits = p + minus, *q = mt_json_digits(digits, &v);
    *out = minus ? -(int64_t)v : (int64_t)v;
    return q > digits && mt_json_is_end(*q) ? q : NULL;
}

static inline const char *mt_json_plain_us(const char *p, int64_t *ns, bool *decimals)
{
    static const uint32_t units[] = {0, 100, 10, 1};
    uint64_t v, fraction = 0;
    unsigned n = 0;
    const char *q = mt_json_digits(p, &v);
    if (q == p || v > INT64_MAX / 1000 - 1)
        return NULL;
    if (*q == '.') {
        n = mt_json_eight(q + 1, &fraction);
        if (n - 1 > 2)
            return NULL;
        q += 1 + n;
        *decimals = true;
    }
    *ns = (int64_t)(v * 1000 + fraction * units[n]);
    return mt_json_is_end(*q) ? q : NULL;
}

/* A number or a bare word (true, null, NaN, N/A ...): everything up to a delimiter. */
const char *mt_json_scalar(struct mt_json *j, const char *p, struct mt_slice *out);

/* Skips a value of any kind; p may be at white space. */
const char *mt_json_skip(struct mt_json *j, const char *p);

/* p is inside an array or object: skips to behind its closing bracket. */
const char *mt_json_skip_rest(struct mt_json *j, const char *p);

/* Appends a string slice with its escapes resolved; \uD8xx pairs become UTF-8, lone halves U+FFFD,
 * unknown escapes stay as they are. */
void mt_json_unescape(struct mt_buf *out, struct mt_slice s);

/* Whole number with optional sign; zeros may stand behind a point. Values up to 2^64-1 are accepted
 * and wrap. False if it is anything else or does not fit. */
bool mt_json_int(struct mt_slice s, int64_t *out);

/* The same, or a hexadecimal number that begins with 0x. */
bool mt_json_address(struct mt_slice s, int64_t *out);

/* Microseconds in decimal notation as exact nanoseconds: "4203669604595.407" -> 4203669604595407.
 * More than 3 decimals are cut. False if it is no number or does not fit. *decimals is set to true
 * when there are any. */
bool mt_json_us_to_ns(struct mt_slice s, int64_t *ns, bool *decimals);

#endif
