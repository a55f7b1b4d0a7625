/*
 * mappings.h - what a process has mapped, of logs that have its system calls: ranges of addresses
 * that are mapped, over others perhaps, unmapped in whole or in part, and protected. What it may
 * not touch (PROT_NONE) is reserved, and is no memory yet. Lengths are those of whole pages of
 * 4 KiB, but for brk.
 */
#ifndef MT_MAPPINGS_H
#define MT_MAPPINGS_H

#include "lib/base/ranges.h"
#include "lib/model/heap.h"

/* Zeroed: nothing is mapped. */
struct mt_mappings {
    struct mt_ranges mapped; /* value: the node that mapped it, of its size (mt_heap_sized) */
    struct mt_ranges reserved;
    uint64_t brk;
    bool has_brk;
};

void mt_mappings_free(struct mt_mappings *m);
uint64_t mt_mappings_bytes(const struct mt_mappings *m); /* memory in use, about */

/* mmap: what lay there is gone. Errors of all: as mt_heap_alloc. */
enum mt_status mt_mappings_map(struct mt_mappings *m, struct mt_heap *h, uint64_t begin,
                               uint64_t bytes, bool reserved, uint32_t node, struct mt_err *err);
/* munmap; *known: something lay there. */
enum mt_status mt_mappings_unmap(struct mt_mappings *m, struct mt_heap *h, uint64_t begin,
                                 uint64_t bytes, bool *known, struct mt_err *err);
/* mremap: what it keeps stays what it is, moved perhaps, and what is new is memory of the node
 * (MT_NONE: of that which it continues), or reserved as that is. */
struct mt_move {
    uint64_t old_at, old_bytes; /* 0 bytes: the old one stays */
    uint64_t at, bytes;
    uint32_t node, other; /* the latter where nobody knows what it continues */
};
/* *known: something lay there; else nothing has happened. */
enum mt_status mt_mappings_move(struct mt_mappings *m, struct mt_heap *h, const struct mt_move *v,
                                bool *known, struct mt_err *err);
/* mprotect: what was reserved becomes memory of the node (MT_NONE: of that which reserved it), or
 * the reverse. Older mappings, which
 * are in no figure, stay out. */
enum mt_status mt_mappings_protect(struct mt_mappings *m, struct mt_heap *h, uint64_t begin,
                                   uint64_t bytes, bool reserved, uint32_t node,
                                   struct mt_err *err);
/* brk, which returned `end`: the end of the heap is there now. */
enum mt_status mt_mappings_brk(struct mt_mappings *m, struct mt_heap *h, uint64_t end,
                               uint32_t node, struct mt_err *err);
/* The process has ended, or runs another program. */
enum mt_status mt_mappings_clear(struct mt_mappings *m, struct mt_heap *h, struct mt_err *err);

#endif
