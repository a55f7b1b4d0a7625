/*
 * fields.h - what stands in a line: numbers, words and the rest, taken from its start, never past
 * its end. (strtoll and its like go on into the next line.)
 *
 * Each function takes blanks before the field (spaces and tabs) and the field, and says whether it
 * was there as asked for; if not, nothing is taken. Numbers end at the line's end or at a byte that
 * cannot be part of them, which the caller may look at. One that leaves its type is not there.
 */
#ifndef MT_FIELDS_H
#define MT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct mt_fields {
    const char *p, *end;
};

/* s: n bytes, NULL only where there are none. */
static inline struct mt_fields mt_fields_of(const char *s, size_t n)
{
    return (struct mt_fields){s, n ? s + n : s};
}

static inline void mt_field_blanks(struct mt_fields *f)
{
    while (f->p < f->end && (*f->p == ' ' || *f->p == '\t'))
        f->p++;
}

/* Whether nothing but blanks is left. */
static inline bool mt_field_end(struct mt_fields *f)
{
    mt_field_blanks(f);
    return f->p == f->end;
}

/* Value of a hex digit, more for others. A table, of values + 1: letters and digits come at random,
 * and a processor that guesses which is next is slower than one that looks. */
extern const uint8_t mt_hex_values[256];
static inline unsigned mt_hex_digit(char c)
{
    return mt_hex_values[(unsigned char)c] - 1u;
}

/* How many of the eight bytes at p are hex digits before the first that is none, and their value.
 * All eight must be there to read, as everywhere in a window of a stream. For numbers whose length
 * is not to be guessed: of one or two digits, looking at each is faster. */
static inline unsigned mt_hex_eight(const char *p, uint32_t *v)
{
    unsigned n = 0;
    *v = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t each = 0x0101010101010101u, high = 0x80 * each;
    uint64_t w;
    memcpy(&w, p, sizeof w); /* what is wrong behind a byte that is no digit does not matter */
    uint64_t decimal = w ^ 0x30 * each, letter = (w | 0x20 * each) ^ 0x60 * each;
    uint64_t is_letter = ~(letter | (letter + 0x79 * each)) & (letter + 0x7f * each) & high;
    uint64_t other = (decimal | (decimal + 0x76 * each)) & high & ~is_letter;
    n = other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
    if (!n)
        return 0;
    w = (w & 0x0f * each) + 9 * (is_letter >> 7);
    w <<= 64 - 8 * n; /* zeros in front: pairs, then fours, then all */
    w = (w << 4 | w >> 8) & 0x00ff00ff00ff00ffu;
    w = (w << 8 | w >> 16) & 0x0000ffff0000ffffu;
    *v = (uint32_t)(w << 16 | w >> 32);
#else
    for (unsigned d; n < 8 && (d = mt_hex_digit(p[n])) < 16; n++)
        *v = *v << 4 | d;
#endif
    return n;
}

/* Hex digits without "0x". */
static inline bool mt_field_hex(struct mt_fields *f, uint64_t *v)
{
    const char *p = f->p;
    uint64_t sum = 0, lost = 0;
    unsigned d;
    while (p < f->end && (*p == ' ' || *p == '\t'))
        p++;
    const char *first = p;
    for (; p < f->end && (d = mt_hex_digit(*p)) < 16; p++) {
        lost |= sum >> 60;
        sum = sum << 4 | d;
    }
    if (p == first || lost)
        return false;
    f->p = p;
    *v = sum;
    return true;
}

/* A text that stands there literally. */
static inline bool mt_field_take(struct mt_fields *f, const char *text)
{
    size_t n = strlen(text);
    const char *p = f->p;
    while (p < f->end && (*p == ' ' || *p == '\t'))
        p++;
    if ((size_t)(f->end - p) < n || memcmp(p, text, n) != 0)
        return false;
    f->p = p + n;
    return true;
}

/* The part of mt_field_address for what seldom comes. */
bool mt_field_nil(struct mt_fields *f, uint64_t *v);

/* Whether a byte behind the digits of an address is of the same word: that is damaged then. */
static inline bool mt_field_goes_on(const struct mt_fields *f)
{
    unsigned char c = f->p < f->end ? (unsigned char)*f->p : ' ';
    return (unsigned char)((c | 0x20) - 'a') < 26 || c == '_' || c >= 0x7f ||
           (c < ' ' && c != '\t');
}

/* Hex digits behind "0x", and no letter behind these; "(nil)" is 0, as glibc prints a null pointer.
 */
static inline bool mt_field_address(struct mt_fields *f, uint64_t *v)
{
    const char *p = f->p;
    while (p < f->end && (*p == ' ' || *p == '\t'))
        p++;
    if (f->end - p < 3 || p[0] != '0' || p[1] != 'x' || mt_hex_digit(p[2]) > 15)
        return mt_field_nil(f, v);
    struct mt_fields digits = {p + 2, f->end};
    uint64_t address;
    if (!mt_field_hex(&digits, &address) || mt_field_goes_on(&digits))
        return false;
    *v = address;
    f->p = digits.p;
    return true;
}

/* Decimal digits, with a sign before them or none. */
bool mt_field_decimal(struct mt_fields *f, int64_t *v);
/* The same with commas between thousands: 1,234,567. */
bool mt_field_thousands(struct mt_fields *f, int64_t *v);
/* A decimal number with or without a fraction, times 10^digits, cut to a whole number: 1.5 with 3
 * digits is 1500. Exponents are not read. */
bool mt_field_fraction(struct mt_fields *f, int digits, int64_t *v);
/* Bytes up to the next blank. */
bool mt_field_word(struct mt_fields *f, const char **s, size_t *n);
/* Bytes up to the next c, which is taken too. They may be none. */
bool mt_field_until(struct mt_fields *f, char c, const char **s, size_t *n);
/* All that is left, without blanks at its start and end. */
void mt_field_rest(struct mt_fields *f, const char **s, size_t *n);

#endif
