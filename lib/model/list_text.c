#include "lib/model/list_text.h"

#include "lib/base/wrap.h"
#include <string.h>

/* Far quicker than formatted output: a log may have hundreds of thousands. */
void mt_list_text_add(struct mt_buf *b, int64_t v)
{
    static const char none[] = "null";
    char text[24];
    size_t at = sizeof text;
    uint64_t left = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    if (v == INT64_MIN) {
        at -= sizeof none - 1;
        memcpy(text + at, none, sizeof none - 1);
    } else {
        do
            text[--at] = (char)('0' + left % 10);
        while (left /= 10);
        if (v < 0)
            text[--at] = '-';
    }
    text[--at] = b->n ? ',' : '[';
    mt_buf_add(b, text + at, sizeof text - at);
}

void mt_list_text_end(struct mt_buf *b)
{
    mt_buf_addc(b, ']');
}

static inline bool next(const char **p, int64_t *v)
{
    enum { DIGITS = 19 }; /* of 64 bits */
    const char *at = *p;
    if (*at != '[' && *at != ',')
        return false;
    const bool none = *++at == 'n' && strncmp(at, "null", 4) == 0, negative = *at == '-';
    const char *first = at += none ? 4 : negative;
    uint64_t sum = 0;
    for (; *at >= '0' && *at <= '9' && at - first < DIGITS; at++)
        sum = 10 * sum + (uint64_t)(*at - '0');
    *p = at;
    *v = none ? INT64_MIN : (int64_t)(negative ? 0 - sum : sum);
    return (at > first) != none && (*at == ',' || *at == ']');
}

bool mt_list_text_next(const char **p, int64_t *v)
{
    return next(p, v);
}

void mt_held_text_add(struct mt_buf *b, int64_t size, const struct mt_held_change *c, int64_t last)
{
    mt_list_text_add(b, mt_wrap_sub(c->moment, last));
    if (!size)
        mt_list_text_add(b, c->bytes);
    mt_list_text_add(b, c->blocks);
}

bool mt_held_text_next(const char **p, int64_t size, struct mt_held_change *c)
{
    int64_t moments;
    if (!next(p, &moments) || (!size && !next(p, &c->bytes)) || !next(p, &c->blocks))
        return false;
    mt_wrap_inc(&c->moment, moments);
    if (size)
        c->bytes = mt_wrap_mul(size, c->blocks);
    return true;
}
