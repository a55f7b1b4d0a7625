/*
 * search.h - binary search among elements in order of a number.
 */
#ifndef MT_SEARCH_H
#define MT_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* How many of n elements are below a key. first: the number of the first element, each next one
 * elem_bytes behind; the numbers never fall. */
static inline size_t mt_count_below(const int64_t *first, size_t n, size_t elem_bytes, int64_t key)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (*(const int64_t *)(const void *)((const char *)first + mid * elem_bytes) < key)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* How many are at most a key. */
static inline size_t mt_count_up_to(const int64_t *first, size_t n, size_t elem_bytes, int64_t key)
{
    return key == INT64_MAX ? n : mt_count_below(first, n, elem_bytes, key + 1);
}

#endif
