#include "lib/build.h"

#include <stdlib.h>
#include <string.h>

struct key {
    uint64_t time; /* since the earliest */
    uint32_t index;
};

enum { RADIX_BITS = 11, BUCKETS = 1 << RADIX_BITS };

static int64_t time_at(const char *v, size_t i, size_t elem_bytes)
{
    int64_t t;
    memcpy(&t, v + i * elem_bytes, sizeof t);
    return t;
}

static bool is_sorted(const char *v, size_t n, size_t elem_bytes,
                      int (*cmp)(const void *a, const void *b), int64_t *min, int64_t *max)
{
    bool sorted = true;
    *min = INT64_MAX;
    *max = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        int64_t t = time_at(v, i, elem_bytes);
        if (i && (t < *max ||
                  (t == *max && cmp && cmp(v + (i - 1) * elem_bytes, v + i * elem_bytes) > 0)))
            sorted = false;
        *min = t < *min ? t : *min;
        *max = t > *max ? t : *max;
    }
    return sorted;
}

/* Stable radix sort of keys by time; returns whichever of the two arrays holds the result. */
static struct key *radix(struct key *a, struct key *b, size_t n, uint64_t range)
{
    for (int shift = 0; shift < 64 && range >> shift; shift += RADIX_BITS) {
        size_t at[BUCKETS] = {0}, sum = 0;
        for (size_t i = 0; i < n; i++)
            at[a[i].time >> shift & (BUCKETS - 1)]++;
        for (size_t i = 0; i < BUCKETS; i++) {
            size_t count = at[i];
            at[i] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++)
            b[at[a[i].time >> shift & (BUCKETS - 1)]++] = a[i];
        struct key *swap = a;
        a = b;
        b = swap;
    }
    return a;
}

void mt_sort_by_time(void *v, size_t n, size_t elem_bytes, int (*cmp)(const void *a, const void *b))
{
    char *elems = v;
    int64_t min, max;
    if (is_sorted(elems, n, elem_bytes, cmp, &min, &max))
        return;
    struct key *a = mt_alloc(n * sizeof *a), *b = mt_alloc(n * sizeof *b);
    for (size_t i = 0; i < n; i++)
        a[i] = (struct key){(uint64_t)time_at(elems, i, elem_bytes) - (uint64_t)min, (uint32_t)i};
    struct key *sorted = radix(a, b, n, (uint64_t)max - (uint64_t)min);
    char *out = mt_alloc(n * elem_bytes);
    for (size_t i = 0; i < n; i++)
        memcpy(out + i * elem_bytes, elems + sorted[i].index * elem_bytes, elem_bytes);
    free(a);
    free(b);
    memcpy(elems, out, n * elem_bytes);
    free(out);
    for (size_t i = 0, j; cmp && i < n; i = j) {
        int64_t t = time_at(elems, i, elem_bytes);
        for (j = i + 1; j < n && time_at(elems, j, elem_bytes) == t; j++)
            ;
        if (j - i > 1)
            qsort(elems + i * elem_bytes, j - i, elem_bytes, cmp);
    }
}
