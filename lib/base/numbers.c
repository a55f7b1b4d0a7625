#include "lib/base/numbers.h"

#include "lib/base/mem.h"
#include <stdlib.h>

static int width_of(int64_t x)
{
    return x == (int8_t)x ? 1 : x == (int16_t)x ? 2 : x == (int32_t)x ? 4 : 8;
}

static void set(struct mt_numbers *a, size_t i, int64_t x)
{
    const int8_t one = (int8_t)x;
    const int16_t two = (int16_t)x;
    const int32_t four = (int32_t)x;
    char *to = (char *)a->v + i * (size_t)a->width;
    switch (a->width) {
    case 1:
        memcpy(to, &one, sizeof one);
        break;
    case 2:
        memcpy(to, &two, sizeof two);
        break;
    case 4:
        memcpy(to, &four, sizeof four);
        break;
    default:
        memcpy(to, &x, sizeof x);
    }
}

/* In place, the last first, as each moves up. */
static void widen(struct mt_numbers *a, int width)
{
    struct mt_numbers was = *a;
    a->v = was.v = mt_realloc(a->v, a->cap * (size_t)width);
    a->width = width;
    for (size_t i = a->n; i-- > 0;)
        set(a, i, mt_numbers_get(&was, i));
}

static void grow(struct mt_numbers *a, size_t n)
{
    if (n > a->cap) {
        const size_t twice = 2 * a->cap;
        a->cap = n > twice ? n : twice;
        a->cap = a->cap > MT_VEC_FIRST ? a->cap : MT_VEC_FIRST;
        a->v = mt_realloc(a->v, a->cap * (size_t)a->width);
    }
    memset((char *)a->v + a->n * (size_t)a->width, 0, (n - a->n) * (size_t)a->width);
    a->n = n;
}

void mt_numbers_put(struct mt_numbers *a, size_t i, int64_t x)
{
    const int width = width_of(x);
    if (i >= a->n && !x)
        return;
    if (width > a->width)
        widen(a, width);
    if (i >= a->n)
        grow(a, i + 1);
    set(a, i, x);
}

void mt_numbers_keep(struct mt_numbers *a, const bool *marked, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n && i < a->n; i++)
        if (marked[i])
            set(a, kept++, mt_numbers_get(a, i));
    a->n = kept;
    if (a->width) {
        a->cap = kept > 0 ? kept : 1;
        a->v = mt_realloc(a->v, a->cap * (size_t)a->width);
    }
}

void mt_numbers_free(struct mt_numbers *a)
{
    free(a->v);
    *a = (struct mt_numbers){0};
}
