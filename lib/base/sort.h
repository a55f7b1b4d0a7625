/*
 * sort.h - arrays in order of time, or of small numbers.
 */
#ifndef MT_SORT_H
#define MT_SORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sorts n elements whose first member is an int64_t time by time, then by cmp among equal times
 * (NULL: by place). What is in order costs one pass; a few stretches in order, as recorders write
 * them, are merged.
 */
void mt_sort_by_time(void *v, size_t n, size_t elem_bytes,
                     int (*cmp)(const void *a, const void *b));

/* Sorts n elements whose first member is a uint32_t below `numbers` by it; equal ones stay in their
 * order. Takes a copy of the array, and 8 bytes for each number. */
void mt_sort_by_number(void *v, size_t n, size_t elem_bytes, uint32_t numbers);

#endif
