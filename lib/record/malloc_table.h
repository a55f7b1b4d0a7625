/*
 * malloc_table.h - what the library in a recorded program (preload.c) and the recorder share:
 * memory with a place for each process, which writes there what its malloc has. Nobody has to wait
 * for anybody: a figure is read again, or later, if it was written at that moment (seq is odd, or
 * another).
 *
 * The recorder believes nothing that stands here: a program may write anything into its memory.
 */
#ifndef MT_MALLOC_TABLE_H
#define MT_MALLOC_TABLE_H

#include <stdatomic.h>
#include <stdint.h>

#define MT_MALLOC_ENV "MEMTOOL_MALLOC" /* the path of the shared file */
enum { MT_MALLOC_MAGIC = 0x6d746d31, MT_MALLOC_PLACES = 512, MT_MALLOC_WHY = 48 };
enum { MT_MALLOC_SHARE = 200 }; /* looks take one such part of the time, at most */

enum mt_malloc_state {
    MT_MALLOC_NOTHING, /* yet */
    MT_MALLOC_COUNTED,
    MT_MALLOC_CANNOT /* why: the name of the file whose malloc it is; "": glibc is too old, or none
                      */
};

struct mt_malloc_place {
    _Atomic int32_t pid; /* 0: free */
    _Atomic uint32_t seq;
    _Atomic uint32_t state;
    _Atomic uint32_t number; /* of the sample */
    _Atomic uint32_t asked;  /* by the recorder, for one more: a futex */
    /* As mallinfo2 has them: in use without mapped blocks, mapped blocks, free chunks, and what of
     * these is the top of the heap. */
    _Atomic uint64_t used, mapped, free, top;
    _Atomic uint64_t cost_ns; /* of this look, processor time */
    char why[MT_MALLOC_WHY];
};

struct mt_malloc_table {
    uint32_t magic;
    _Atomic uint32_t full_n;      /* processes that found no place */
    _Atomic uint64_t interval_ns; /* at least, between two looks of a process */
    struct mt_malloc_place places[MT_MALLOC_PLACES];
};

/* The i-th place that is looked at for a process: of many the first is most likely its own. */
static inline int mt_malloc_place_at(int32_t pid, int i)
{
    return (int)(((uint32_t)pid + (uint32_t)i) % MT_MALLOC_PLACES);
}

#endif
