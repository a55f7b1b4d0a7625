#include "lib/model/held_text.h"

/* Far quicker than formatted output: a log may have hundreds of thousands. */
static void add_number(struct mt_buf *b, int64_t v)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t left = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do
        digits[--at] = (char)('0' + left % 10);
    while (left /= 10);
    if (v < 0)
        digits[--at] = '-';
    mt_buf_add(b, digits + at, sizeof digits - at);
}

void mt_held_text_add(struct mt_buf *b, const struct mt_held_change *c)
{
    const int64_t v[] = {c->moment, c->bytes, c->blocks};
    for (size_t i = 0; i < MT_ARRAY_LEN(v); i++) {
        mt_buf_addc(b, b->n ? ',' : '[');
        add_number(b, v[i]);
    }
}

void mt_held_text_end(struct mt_buf *b)
{
    mt_buf_addc(b, ']');
}

/* A number behind '[' or ','. */
static bool next_number(const char **p, int64_t *v)
{
    const char *at = *p;
    if (*at != '[' && *at != ',')
        return false;
    const bool negative = *++at == '-';
    enum { DIGITS = 19 }; /* of 64 bits */
    uint64_t sum = 0;
    const char *first = at += negative;
    for (; *at >= '0' && *at <= '9' && at - first < DIGITS; at++)
        sum = 10 * sum + (uint64_t)(*at - '0');
    *p = at;
    *v = (int64_t)(negative ? 0 - sum : sum);
    return at > first && (*at == ',' || *at == ']');
}

bool mt_held_text_next(const char **p, struct mt_held_change *out)
{
    return next_number(p, &out->moment) && next_number(p, &out->bytes) &&
           next_number(p, &out->blocks);
}
