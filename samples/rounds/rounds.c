/*
 * What sites hold in five rounds, each followed by a dump of the heap:
 *   grow    8 blocks of 512 B more in each round      4096 8192 12288 16384 20480
 *   came    16 blocks of 1024 B in the third round       0    0 16384 16384 16384
 *   swings  blocks of 2048 B: 4, 1, 3, 1, 4           8192 2048  6144  2048  8192
 *   state   10 blocks of 256 B before the first        2560 in all
 *   fell    a block of 4096 B given up in each round  20480 16384 12288 8192 4096
 *
 * cc -O1 -g -fno-builtin -fno-omit-frame-pointer -fno-optimize-sibling-calls rounds.c -o rounds
 * -ldl jemalloc:   LD_PRELOAD=libjemalloc.so.2
 * MALLOC_CONF=prof:true,lg_prof_sample:0,prof_prefix:jeprof ./rounds gperftools:
 * LD_PRELOAD=libtcmalloc.so.4 HEAPPROFILE=gperf HEAP_PROFILE_ALLOCATION_INTERVAL=0 ./rounds
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5 };
static const int swing[ROUNDS] = {4, 1, 3, 1, 4};
static void *volatile sink;
static void *volatile held[5][64];

#define SITE(name, at)                                                                             \
    __attribute__((noinline)) void name(int i, size_t bytes)                                       \
    {                                                                                              \
        void *p = malloc(bytes);                                                                   \
        sink = p;                                                                                  \
        held[at][i] = p;                                                                           \
    }
SITE(grow, 0)
SITE(came, 1)
SITE(swings, 2)
SITE(state, 3)
SITE(fell, 4)

static void dump(void)
{
    int (*mallctl)(const char *, void *, size_t *, void *, size_t) =
        (int (*)(const char *, void *, size_t *, void *, size_t))dlsym(RTLD_DEFAULT, "mallctl");
    void (*tcmalloc)(const char *) =
        (void (*)(const char *))dlsym(RTLD_DEFAULT, "HeapProfilerDump");
    if (mallctl)
        mallctl("prof.dump", NULL, NULL, NULL, 0);
    else if (tcmalloc)
        tcmalloc("round");
}

int main(void)
{
    for (int i = 0; i < 10; i++)
        state(i, 256);
    for (int i = 0; i < ROUNDS; i++)
        fell(i, 4096);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 8; i++)
            grow(8 * round + i, 512);
        for (int i = 0; i < 16 && round == 2; i++)
            came(i, 1024);
        for (int i = 0; i < 4; i++) {
            free(held[2][i]);
            held[2][i] = NULL;
        }
        for (int i = 0; i < swing[round]; i++)
            swings(i, 2048);
        if (round)
            free(held[4][round - 1]);
        dump();
    }
    return 0;
}
