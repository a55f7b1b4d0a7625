/*
 * wrap.h - sums and products of figures that a file or a database of someone else holds: where they
 * leave 64 bits they wrap around. Such figures are damaged and their sums make no sense, but no
 * worse.
 */
#ifndef MT_WRAP_H
#define MT_WRAP_H

#include <stdint.h>

static inline int64_t mt_wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t mt_wrap_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline int64_t mt_wrap_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* sum += b and sum -= b. */
static inline void mt_wrap_inc(int64_t *sum, int64_t b)
{
    *sum = mt_wrap_add(*sum, b);
}

static inline void mt_wrap_dec(int64_t *sum, int64_t b)
{
    *sum = mt_wrap_sub(*sum, b);
}

#endif
