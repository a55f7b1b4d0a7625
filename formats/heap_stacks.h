/*
 * heap_stacks.h - the stacks of a heap profile as text, kept until its end tells which objects lay
 * where. What a file repeats is kept once, so that a small file which unfolds to many equal lines
 * takes little memory.
 */
#ifndef MT_HEAP_STACKS_H
#define MT_HEAP_STACKS_H

#include "formats/native_paths.h"
#include "lib/base/map.h"
#include "lib/base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "in use: bytes [allocated: bytes]" */
struct mt_heap_counts {
    int64_t end_n, end_b, alloc_n, alloc_b;
};

static const int64_t mt_heap_count_max = INT64_C(1) << 60; /* more cannot be true */

/* Adds what is at most mt_heap_count_max; false: the sum is more. */
bool mt_heap_counts_add(struct mt_heap_counts *to, const struct mt_heap_counts *c);

struct mt_heap_stack {
    struct mt_heap_counts counts;
    uint64_t offset;             /* in the file, bytes */
    size_t first, n;             /* of addresses, innermost first */
    size_t first_named, named_n; /* of names, innermost first; none: only addresses are known */
    uint32_t thread;             /* number and 1 more; 0: all, or what no thread is said of */
    uint32_t times;              /* that the file has it, at least 1 */
};

/* Zero-initialise; free with mt_heap_stacks_free. */
struct mt_heap_stacks {
    MT_VEC(struct mt_heap_stack) of;
    MT_VEC(uint64_t) addresses;
    mt_native_steps named;
    struct mt_map same; /* hash of a stack -> its index in `of` */
    uint64_t seed;      /* of the hash */
};

/* The last stack has all its lines: where one before it is equal, that one counts once more and the
 * last is forgotten. What is of one thread is kept. */
void mt_heap_stacks_fold(struct mt_heap_stacks *s);

uint64_t mt_heap_stacks_bytes(const struct mt_heap_stacks *s);
void mt_heap_stacks_free(struct mt_heap_stacks *s);

#endif
