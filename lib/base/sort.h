/*
 * sort.h - arrays in order of time.
 */
#ifndef MT_SORT_H
#define MT_SORT_H

#include <stddef.h>

/*
 * Sorts n elements whose first member is an int64_t time by time, then by cmp among equal times
 * (NULL: by place). What is in order costs one pass; a few stretches in order, as recorders write
 * them, are merged.
 */
void mt_sort_by_time(void *v, size_t n, size_t elem_bytes,
                     int (*cmp)(const void *a, const void *b));

#endif
