/*
 * sizes.h - classes of sizes of blocks, by powers of two: 0, 1, 2 to 3, 4 to 7 bytes, ...
 */
#ifndef MT_SIZES_H
#define MT_SIZES_H

#include <stddef.h>
#include <stdint.h>

enum { MT_SIZE_CLASSES = 64, MT_SIZE_NAME = 48 };

/* The class of a size; of a negative one that of 0. */
static inline unsigned mt_size_class(int64_t bytes)
{
    return bytes > 0 ? 64 - (unsigned)__builtin_clzll((unsigned long long)bytes) : 0;
}

/* Its smallest and its largest size. class < MT_SIZE_CLASSES */
static inline int64_t mt_size_least(unsigned class)
{
    return class ? (int64_t)1 << (class - 1) : 0;
}
static inline int64_t mt_size_most(unsigned class)
{
    return class ? (int64_t)(((uint64_t)1 << class) - 1) : 0;
}

/* "64-127 B", "4-8 KiB", "512 KiB-1 MiB": from 1 KiB on the larger one belongs to the next. */
void mt_size_name(unsigned class, char name[MT_SIZE_NAME]);

#endif
