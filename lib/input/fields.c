#include "lib/input/fields.h"

/* clang-format off */
const uint8_t mt_hex_values[256] = {
    ['0'] = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ['A'] = 11, 12, 13, 14, 15, 16,
    ['a'] = 11, 12, 13, 14, 15, 16,
};
/* clang-format on */

bool mt_field_nil(struct mt_fields *f, uint64_t *v)
{
    if (!mt_field_take(f, "(nil)"))
        return false;
    *v = 0;
    return true;
}

/* Adds a digit to the magnitude of a number of that sign; false: it leaves 64 bits. */
static bool add_digit(int64_t *v, bool minus, int digit)
{
    return !__builtin_mul_overflow(*v, 10, v) &&
           !(minus ? __builtin_sub_overflow(*v, digit, v) : __builtin_add_overflow(*v, digit, v));
}

static bool is_digit(const struct mt_fields *f, const char *p)
{
    return p < f->end && *p >= '0' && *p <= '9';
}

/* Reads a sign and digits; `between` may stand between two of them ('\0': nothing may). */
static bool whole(struct mt_fields *f, char between, bool *minus, int64_t *v)
{
    struct mt_fields at = *f;
    mt_field_blanks(&at);
    *minus = at.p < at.end && *at.p == '-';
    if (*minus || (at.p < at.end && *at.p == '+'))
        at.p++;
    *v = 0;
    if (!is_digit(&at, at.p))
        return false;
    for (; at.p < at.end; at.p++) {
        if (is_digit(&at, at.p)) {
            if (!add_digit(v, *minus, *at.p - '0'))
                return false;
        } else if (!between || *at.p != between || !is_digit(&at, at.p + 1)) {
            break;
        }
    }
    *f = at;
    return true;
}

bool mt_field_decimal(struct mt_fields *f, int64_t *v)
{
    bool minus;
    int64_t sum;
    if (!whole(f, '\0', &minus, &sum))
        return false;
    *v = sum;
    return true;
}

bool mt_field_thousands(struct mt_fields *f, int64_t *v)
{
    bool minus;
    int64_t sum;
    if (!whole(f, ',', &minus, &sum))
        return false;
    *v = sum;
    return true;
}

bool mt_field_fraction(struct mt_fields *f, int digits, int64_t *v)
{
    struct mt_fields at = *f;
    bool minus, fraction;
    int64_t sum;
    if (!whole(&at, '\0', &minus, &sum))
        return false;
    fraction = at.p < at.end && *at.p == '.';
    at.p += fraction;
    for (int i = 0; i < digits; i++) {
        bool digit = fraction && is_digit(&at, at.p);
        if (!add_digit(&sum, minus, digit ? *at.p - '0' : 0))
            return false;
        at.p += digit;
    }
    while (fraction && is_digit(&at, at.p))
        at.p++;
    *f = at;
    *v = sum;
    return true;
}

bool mt_field_word(struct mt_fields *f, const char **s, size_t *n)
{
    mt_field_blanks(f);
    const char *start = f->p, *p = start;
    while (p < f->end && *p != ' ' && *p != '\t')
        p++;
    if (p == start)
        return false;
    *s = start;
    *n = (size_t)(p - start);
    f->p = p;
    return true;
}

bool mt_field_until(struct mt_fields *f, char c, const char **s, size_t *n)
{
    mt_field_blanks(f);
    size_t left = (size_t)(f->end - f->p);
    const char *at = left ? memchr(f->p, c, left) : NULL;
    if (!at)
        return false;
    *s = f->p;
    *n = (size_t)(at - f->p);
    f->p = at + 1;
    return true;
}

void mt_field_rest(struct mt_fields *f, const char **s, size_t *n)
{
    mt_field_blanks(f);
    const char *end = f->end;
    while (end > f->p && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *s = f->p;
    *n = (size_t)(end - f->p);
    f->p = f->end;
}
