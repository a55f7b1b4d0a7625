/*
 * numbers.h - a long array of numbers, each in as few bytes as the widest of them needs. Numbers
 * that nobody has put are 0 and, at the end, take none.
 */
#ifndef MT_NUMBERS_H
#define MT_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Zero-initialise; free with mt_numbers_free. */
struct mt_numbers {
    void *v;
    size_t n, cap; /* behind n all are 0 */
    int width;     /* bytes of one: 1, 2, 4, 8; 0: all are 0 */
};

static inline int64_t mt_numbers_get(const struct mt_numbers *a, size_t i)
{
    const char *v = a->v;
    int8_t one;
    int16_t two;
    int32_t four;
    int64_t eight;
    if (i >= a->n)
        return 0;
    switch (a->width) {
    case 1:
        return memcpy(&one, v + i, sizeof one), one;
    case 2:
        return memcpy(&two, v + i * sizeof two, sizeof two), two;
    case 4:
        return memcpy(&four, v + i * sizeof four, sizeof four), four;
    default:
        return memcpy(&eight, v + i * sizeof eight, sizeof eight), eight;
    }
}

/* Fetches one into the processor's cache. */
static inline void mt_numbers_soon(const struct mt_numbers *a, size_t i)
{
    if (i < a->n)
        __builtin_prefetch((const char *)a->v + i * (size_t)a->width);
}

void mt_numbers_put(struct mt_numbers *a, size_t i, int64_t x);
/* Closes ranks: keeps those of the first n that are marked, and has no room for more. */
void mt_numbers_keep(struct mt_numbers *a, const bool *marked, size_t n);
void mt_numbers_free(struct mt_numbers *a);

#endif
