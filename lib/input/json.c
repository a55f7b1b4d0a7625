#include "lib/input/json.h"

#include <math.h>
#include <stdlib.h>

const char *mt_json_stop_at(struct mt_json *j, const char *p, const char *why)
{
    if (p >= j->end) {
        j->stop = MT_JSON_MORE;
    } else {
        j->stop = MT_JSON_BAD;
        j->bad = p;
        j->why = why;
    }
    return NULL;
}

const char *mt_json_string_escaped(struct mt_json *j, const char *start, const char *p,
                                   struct mt_slice *out)
{
    while (*p != '"') {
        if (*p == '\\') {
            if (p + 1 >= j->end)
                return mt_json_stop_at(j, j->end, NULL);
            p += 2;
        } else if (p >= j->end) {
            return mt_json_stop_at(j, p, NULL);
        } else {
            p++; /* a zero byte inside the string */
        }
        p = mt_json_string_end(p);
    }
    if (p >= j->end)
        return mt_json_stop_at(j, p, NULL);
    *out = (struct mt_slice){start, (uint32_t)(p - start), true};
    return p + 1;
}

const char *mt_json_scalar(struct mt_json *j, const char *p, struct mt_slice *out)
{
    const char *start = p;
    p = mt_json_scalar_end(p);
    if (p >= j->end)
        return mt_json_stop_at(j, p, NULL);
    if (p == start)
        return mt_json_stop_at(j, p, "a value is missing");
    *out = (struct mt_slice){start, (uint32_t)(p - start), false};
    return p;
}

/* Of 64 bytes of text, one bit each. */
struct marks {
    uint64_t quote, open, close;
    uint64_t special; /* backslashes and zero bytes */
};

static inline struct marks mark(const char *p)
{
    struct marks m = {0};
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'),
                  zero = _mm_setzero_si128();
    const __m128i fold = _mm_set1_epi8((char)0xdf); /* maps { to [ and } to ] */
    const __m128i open = _mm_set1_epi8('['), close = _mm_set1_epi8(']');
#pragma GCC unroll 4
    for (int i = 0; i < 64; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(p + i)), f = _mm_and_si128(v, fold);
        __m128i s = _mm_or_si128(_mm_cmpeq_epi8(v, slash), _mm_cmpeq_epi8(v, zero));
        m.quote |= (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, quote)) << i;
        m.open |= (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(f, open)) << i;
        m.close |= (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(f, close)) << i;
        m.special |= (uint64_t)_mm_movemask_epi8(s) << i;
    }
#else
    for (int i = 0; i < 64; i++) {
        m.quote |= (uint64_t)(p[i] == '"') << i;
        m.open |= (uint64_t)(p[i] == '{' || p[i] == '[') << i;
        m.close |= (uint64_t)(p[i] == '}' || p[i] == ']') << i;
        m.special |= (uint64_t)(p[i] == '\\' || p[i] == '\0') << i;
    }
#endif
    return m;
}

/* Bits from each odd quote up to, not including, the next one. */
static inline uint64_t inside_strings(uint64_t quote)
{
#pragma GCC unroll 6
    for (int shift = 1; shift < 64; shift *= 2)
        quote ^= quote << shift;
    return quote;
}

const char *mt_json_skip_rest(struct mt_json *j, const char *p)
{
    struct mt_slice ignored;
    for (int depth = 1;;) {
        /* p is outside strings. What stands behind a special byte is left for the next round. */
        struct marks m = mark(p);
        uint64_t usable = m.special ? (m.special & -m.special) - 1 : UINT64_MAX;
        uint64_t quote = m.quote & usable, string = inside_strings(quote);
        for (uint64_t b = (m.open | m.close) & usable & ~string; b; b &= b - 1) {
            const char *at = p + __builtin_ctzll(b);
            if (m.close & b & -b) {
                if (--depth == 0)
                    return at + 1;
            } else if (++depth > MT_JSON_DEPTH) {
                return mt_json_stop_at(j, at, "brackets are nested too deep");
            }
        }
        if (string >> 63) { /* the last string does not end here */
            p = mt_json_string(j, p + 63 - __builtin_clzll(quote), &ignored);
            if (!p)
                return NULL;
        } else if (m.special) {
            p += __builtin_ctzll(m.special);
            if (*p == '\0')
                return mt_json_stop_at(j, p, "a zero byte");
            p++;
        } else {
            p += 64;
        }
    }
}

const char *mt_json_skip(struct mt_json *j, const char *p)
{
    struct mt_slice ignored;
    p = mt_json_space(p);
    if (*p == '"')
        return mt_json_string(j, p, &ignored);
    if (*p == '{' || *p == '[')
        return mt_json_skip_rest(j, p + 1);
    return mt_json_scalar(j, p, &ignored);
}

static int hex_digit(char c) /* -1: none */
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static int hex4(const char *p, const char *end)
{
    int v = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int d = hex_digit(p[i]);
        if (d < 0)
            return -1;
        v = v * 16 + d;
    }
    return v;
}

static void add_utf8(struct mt_buf *out, uint32_t c)
{
    if (c < 0x80) {
        mt_buf_addc(out, (char)c);
    } else if (c < 0x800) {
        mt_buf_addc(out, (char)(0xc0 | c >> 6));
        mt_buf_addc(out, (char)(0x80 | (c & 63)));
    } else if (c < 0x10000) {
        mt_buf_addc(out, (char)(0xe0 | c >> 12));
        mt_buf_addc(out, (char)(0x80 | (c >> 6 & 63)));
        mt_buf_addc(out, (char)(0x80 | (c & 63)));
    } else {
        mt_buf_addc(out, (char)(0xf0 | c >> 18));
        mt_buf_addc(out, (char)(0x80 | (c >> 12 & 63)));
        mt_buf_addc(out, (char)(0x80 | (c >> 6 & 63)));
        mt_buf_addc(out, (char)(0x80 | (c & 63)));
    }
}

/* p is behind "\u". Returns the position after the escape, NULL if it is none. */
static const char *add_unicode(struct mt_buf *out, const char *p, const char *end)
{
    int c = hex4(p, end);
    if (c < 0)
        return NULL;
    p += 4;
    uint32_t code = (uint32_t)c;
    if (c >= 0xd800 && c < 0xe000) {
        int low = end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2, end) : -1;
        if (c < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((uint32_t)(c - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
            p += 6;
        } else {
            code = 0xfffd;
        }
    }
    add_utf8(out, code ? code : 0xfffd); /* a zero byte would end the name */
    return p;
}

void mt_json_unescape(struct mt_buf *out, struct mt_slice s)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *p = s.s, *end = s.s + s.n;
    while (p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p));
        if (!slash || slash + 1 >= end) {
            mt_buf_add(out, p, (size_t)(end - p));
            return;
        }
        mt_buf_add(out, p, (size_t)(slash - p));
        p = slash + 2;
        const char *known = slash[1] ? strchr(from, slash[1]) : NULL;
        const char *after = NULL;
        if (known)
            mt_buf_addc(out, to[known - from]);
        else if (slash[1] == 'u' && (after = add_unicode(out, p, end)))
            p = after;
        else
            mt_buf_add(out, slash, 2);
    }
}

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

bool mt_json_int(struct mt_slice s, int64_t *out)
{
    if (!s.n)
        return false;
    const char *p = s.s, *end = s.s + s.n;
    bool minus = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    const char *digits = p;
    uint64_t v = 0;
    for (; p < end && is_digit(*p); p++)
        if (__builtin_mul_overflow(v, 10u, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
            return false;
    if (p == digits || (p < end && (*p++ != '.' || p == end)))
        return false;
    while (p < end && *p == '0')
        p++;
    if (p < end || (minus && v > (uint64_t)INT64_MAX + 1))
        return false;
    *out = (int64_t)(minus ? 0 - v : v);
    return true;
}

bool mt_json_address(struct mt_slice s, int64_t *out)
{
    if (s.n < 3 || s.s[0] != '0' || (s.s[1] | 0x20) != 'x')
        return mt_json_int(s, out);
    uint64_t v = 0;
    for (const char *p = s.s + 2; p < s.s + s.n; p++) {
        int digit = hex_digit(*p);
        if (digit < 0 || v >> 60)
            return false;
        v = v << 4 | (uint64_t)digit;
    }
    *out = (int64_t)v;
    return true;
}

/* 1.5e3 and the like, which no PyTorch writes but JSON allows. */
static bool us_to_ns_by_double(struct mt_slice s, int64_t *ns)
{
    char text[64], *rest;
    if (s.n >= sizeof text)
        return false;
    memcpy(text, s.s, s.n);
    text[s.n] = '\0';
    double v = strtod(text, &rest) * 1000;
    if (*rest || rest == text || !(fabs(v) < 9e18))
        return false;
    *ns = (int64_t)llrint(v);
    return true;
}

bool mt_json_us_to_ns(struct mt_slice s, int64_t *ns, bool *decimals)
{
    if (!s.n)
        return false;
    const char *p = s.s, *end = s.s + s.n;
    bool minus = *p == '-';
    if (minus)
        p++;
    const char *digits = p;
    uint64_t v = 0;
    for (; p < end && is_digit(*p); p++) {
        if (v > INT64_MAX / 10000) /* with one digit more, times 1000 does not wrap */
            return false;
        v = v * 10 + (uint64_t)(*p - '0');
    }
    if (p == digits)
        return false;
    v *= 1000;
    if (p < end && *p == '.') {
        uint64_t unit = 100;
        for (p++; p < end && is_digit(*p); p++, unit /= 10)
            v += (uint64_t)(*p - '0') * unit;
        *decimals = true;
    }
    if (p < end)
        return us_to_ns_by_double(s, ns);
    if (v > INT64_MAX)
        return false;
    *ns = minus ? -(int64_t)v : (int64_t)v;
    return true;
}
