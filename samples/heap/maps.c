/* Maps, unmaps in part, moves, reserves, protects; three threads, a child, and one that runs
 * another program. gcc -g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -pthread maps.c
 * -o maps */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static void *kept[64];
__attribute__((noinline)) static void *pool(size_t n)
{
    return mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
__attribute__((noinline)) static void grow(void)
{
    for (int i = 0; i < 10; i++)
        kept[i] = pool(1 << 20);
}
static void *worker(void *arg)
{
    void *p = malloc(100000);
    memset(p, 1, 100000);
    void *q = pool(300000);
    munmap(q, 300000);
    free(p);
    return arg;
}
int main(void)
{
    grow();
    munmap(kept[0], 1 << 20);
    munmap((char *)kept[1] + 65536, 65536);
    kept[2] = mremap(kept[2], 1 << 20, 4 << 20, MREMAP_MAYMOVE);
    char *r = mmap(NULL, 64 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    mprotect(r, 1 << 20, PROT_READ | PROT_WRITE);
    mprotect(r, 1 << 19, PROT_NONE);
    for (int i = 20; i < 40; i++)
        kept[i] = malloc(60000);
    void *big = malloc(10 << 20);
    free(big);
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    fflush(stdout);
    if (fork() == 0) {
        pool(5 << 20);
        munmap(kept[3], 1 << 20);
        _exit(0);
    }
    wait(NULL);
    if (fork() == 0) {
        execl("/bin/true", "true", NULL);
        _exit(1);
    }
    wait(NULL);
    return 0;
}
