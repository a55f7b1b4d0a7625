/*
 * What users report as a leak, and is none: each round takes a little more than the one before, and
 * gives all of it back. That a large block was freed once has taught glibc to keep the end of its
 * heap (M_TRIM_THRESHOLD grows with it), so that rss climbs all the same. `held ROUNDS`; with a
 * second argument each round leaves 64 KiB (malloc), with "map" so much that malloc knows not.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

int main(int argc, char **argv)
{
    enum { LARGE = 31 << 20, BLOCK = 1000, STEP = 160, LEFT = 64 << 10 };
    static void *blocks[100000];
    const struct timespec pause = {0, 30 * 1000 * 1000};
    int rounds = argc > 1 ? atoi(argv[1]) : 0;
    free(memset(malloc(LARGE), 1, LARGE));
    for (int round = 1; round <= rounds; round++) {
        int n = argc > 2 ? STEP : round * STEP;
        for (int i = 0; i < n; i++)
            blocks[i] = memset(malloc(BLOCK), 1, BLOCK);
        for (int i = 0; i < n;
             i++) /* the last ones last: the first wait in a cache of the thread */
            free(blocks[i]);
        if (argc > 2 && strcmp(argv[2], "map") == 0)
            memset(mmap(NULL, LEFT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1,
                   LEFT);
        else if (argc > 2)
            memset(malloc(LEFT), 1, LEFT);
        nanosleep(&pause, NULL);
    }
    return 0;
}
