#include "lib/base/sort.h"

#include "lib/base/mem.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { RADIX_BITS = 11, BUCKETS = 1 << RADIX_BITS };
enum { RUNS = 32 }; /* up to so many stretches in order, merging is cheaper than sorting */

static int64_t time_at(const char *v, size_t i, size_t elem_bytes)
{
    int64_t t;
    memcpy(&t, v + i * elem_bytes, sizeof t);
    return t;
}

struct order {
    size_t elem_bytes;
    int (*cmp)(const void *a, const void *b);
};

static bool before(const struct order *o, const char *a, const char *b)
{
    int64_t s = time_at(a, 0, 0), t = time_at(b, 0, 0);
    return s < t || (s == t && o->cmp && o->cmp(a, b) < 0);
}

/* Finds the first stretches in order: their ends go to end[]. Returns how many, max + 1 for more.
 */
static size_t find_runs(const struct order *o, const char *v, size_t n, size_t *end, size_t max)
{
    size_t runs = 0;
    for (size_t i = 1; i <= n; i++) {
        const char *p = v + i * o->elem_bytes;
        if (i < n && !before(o, p, p - o->elem_bytes))
            continue;
        if (runs == max)
            return max + 1;
        end[runs++] = i;
    }
    return runs;
}

/* Merges a_n elements at v with the b_n behind them; of equal ones, the former come first. */
static void merge(const struct order *o, char *v, size_t a_n, size_t b_n)
{
    size_t size = o->elem_bytes;
    char *a_end = v + a_n * size, *to = a_end + b_n * size;
    char *b = mt_realloc(NULL, b_n * size), *b_end = b + b_n * size;
    memcpy(b, a_end, b_n * size);
    while (b_end > b) {
        char *later = a_end;
        while (later > v && before(o, b_end - size, later - size))
            later -= size;
        to -= a_end - later;
        memmove(to, later, (size_t)(a_end - later));
        a_end = later;
        b_end -= size;
        to -= size;
        memcpy(to, b_end, size);
    }
    free(b);
}

static void merge_runs(const struct order *o, char *v, size_t *end, size_t runs)
{
    while (runs > 1) {
        size_t start = 0, kept = 0;
        for (size_t i = 0; i + 1 < runs; i += 2) {
            merge(o, v + start * o->elem_bytes, end[i] - start, end[i + 1] - end[i]);
            start = end[kept++] = end[i + 1];
        }
        if (runs % 2)
            end[kept++] = end[runs - 1];
        runs = kept;
    }
}

/* Stable radix sort of keys by their bits from `shift` on; returns whichever of the two arrays
 * holds the result. */
static uint64_t *radix(uint64_t *a, uint64_t *b, size_t n, int shift, uint64_t range)
{
    for (; shift < 64 && range >> shift; shift += RADIX_BITS) {
        size_t at[BUCKETS] = {0}, sum = 0;
        for (size_t i = 0; i < n; i++)
            at[a[i] >> shift & (BUCKETS - 1)]++;
        for (size_t i = 0; i < BUCKETS; i++) {
            size_t count = at[i];
            at[i] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++)
            b[at[a[i] >> shift & (BUCKETS - 1)]++] = a[i];
        uint64_t *swap = a;
        a = b;
        b = swap;
    }
    return a;
}

/* A key is the time since the earliest, above an index: 8 bytes, where both go into them. */
static bool key_fits(const char *v, size_t n, size_t elem_bytes, int64_t *min, uint64_t *range,
                     int *shift)
{
    int64_t max = INT64_MIN;
    *min = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        int64_t t = time_at(v, i, elem_bytes);
        *min = t < *min ? t : *min;
        max = t > max ? t : max;
    }
    for (*shift = 0; n >> *shift;)
        ++*shift;
    *range = (uint64_t)max - (uint64_t)*min;
    return *range <= UINT64_MAX >> *shift;
}

static void sort_equal_times(const struct order *o, char *v, size_t n)
{
    for (size_t i = 0, j; i < n; i = j) {
        int64_t t = time_at(v, i, o->elem_bytes);
        for (j = i + 1; j < n && time_at(v, j, o->elem_bytes) == t; j++)
            ;
        if (j - i > 1)
            qsort(v + i * o->elem_bytes, j - i, o->elem_bytes, o->cmp);
    }
}

/* For what is in no order at all. false: its times are too far apart. */
static bool radix_sort(const struct order *o, char *v, size_t n)
{
    int64_t min;
    uint64_t range;
    int shift;
    if (!key_fits(v, n, o->elem_bytes, &min, &range, &shift))
        return false;
    uint64_t *a = mt_realloc(NULL, n * sizeof *a), *b = mt_realloc(NULL, n * sizeof *b);
    for (size_t i = 0; i < n; i++)
        a[i] = ((uint64_t)time_at(v, i, o->elem_bytes) - (uint64_t)min) << shift | i;
    uint64_t *sorted = radix(a, b, n, shift, range << shift);
    free(sorted == a ? b : a);
    char *out = mt_realloc(NULL, n * o->elem_bytes);
    for (size_t i = 0; i < n; i++) {
        size_t from = sorted[i] & (((uint64_t)1 << shift) - 1);
        memcpy(out + i * o->elem_bytes, v + from * o->elem_bytes, o->elem_bytes);
    }
    free(sorted);
    memcpy(v, out, n * o->elem_bytes);
    free(out);
    if (o->cmp)
        sort_equal_times(o, v, n);
    return true;
}

/* Any times in any order, slowly. */
static void merge_sort(const struct order *o, char *v, size_t n)
{
    size_t *end = mt_realloc(NULL, n * sizeof *end);
    merge_runs(o, v, end, find_runs(o, v, n, end, n));
    free(end);
}

void mt_sort_by_time(void *v, size_t n, size_t elem_bytes, int (*cmp)(const void *a, const void *b))
{
    const struct order o = {elem_bytes, cmp};
    size_t end[RUNS], runs = find_runs(&o, v, n, end, RUNS);
    if (runs <= RUNS)
        merge_runs(&o, v, end, runs);
    else if (!radix_sort(&o, v, n))
        merge_sort(&o, v, n);
}

void mt_sort_by_number(void *v, size_t n, size_t elem_bytes, uint32_t numbers)
{
    char *copy = mt_realloc(NULL, n * elem_bytes);
    size_t *place = mt_alloc(((size_t)numbers + 1) * sizeof *place);
    uint32_t number;
    if (n)
        memcpy(copy, v, n * elem_bytes);
    for (const char *p = copy; p < copy + n * elem_bytes; p += elem_bytes) {
        memcpy(&number, p, sizeof number);
        place[number + 1u]++; /* how many; then where those of the number before end */
    }
    for (uint32_t i = 0; i < numbers; i++)
        place[i + 1] += place[i];
    for (const char *p = copy; p < copy + n * elem_bytes; p += elem_bytes) {
        memcpy(&number, p, sizeof number);
        memcpy((char *)v + place[number]++ * elem_bytes, p, elem_bytes);
    }
    free(place);
    free(copy);
}
