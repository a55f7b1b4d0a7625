/*
 * A program whose memory is known, for tests of `memtool record`. Each argument is a phase: a word,
 * and MiB or a number.
 *
 *   malloc N   touches N MiB and keeps them      free      frees what malloc got last
 *   file N     maps N MiB of a file and reads    shared N  N MiB of shared memory
 *   child N    a child that takes N MiB, for some time
 *   spike N    takes N MiB and frees them at once
 *   many N     N children that end at once       orphan N  a grandchild that outlives its parent
 *   wait N     N ms                              rss       prints what it has: "VmRSS VmHWM" in KiB
 *   kill N     dies by signal N                  exit N
 *   step N     says so to memtool record; below 0: that the step ends
 *   mark N     a mark called "mark N"            bad N     N lines that say nothing
 *   linger N   a child that has all files of its parent open, for N ms
 *   leak N     N times 64 KiB that stay, each 10 ms; a step with PHASES_STEPS
 *   saw N      N times 1 MiB, 10 ms; each 20th frees all
 *   burn N     computes for N ms of processor time
 *   stack N    touches N MiB of its stack
 *   threads N  N threads that stay, each with 512 KiB of its stack and 256 KiB of malloc
 *   load N     N times 1 MiB of a file that is read, and 2 MiB that stay, 100 ms
 *   map N      N times 1 MiB of a file that is read, 100 ms
 *   stairs N   N times 4 MiB that stay, 400 ms
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
static void *blocks[64];
static size_t sizes[64];
static int block_n;

static void wait_ms(long n)
{
    struct timespec t = {n / 1000, n % 1000 * 1000000};
    while (nanosleep(&t, &t) != 0)
        continue;
}

static void *map(size_t n, int flags, int fd)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (p == MAP_FAILED)
        exit(99);
    return p;
}

static void take(long n)
{
    blocks[block_n] = map((size_t)n * MIB, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    sizes[block_n] = (size_t)n * MIB;
    memset(blocks[block_n], 1, sizes[block_n]);
    block_n++;
}

static void give(void)
{
    block_n--;
    munmap(blocks[block_n], sizes[block_n]);
}

static void map_file(long n)
{
    char path[] = "phases.XXXXXX";
    int fd = mkstemp(path);
    unlink(path);
    if (fd < 0 || ftruncate(fd, n * (long)MIB) != 0)
        exit(99);
    volatile char *p = map((size_t)n * MIB, MAP_PRIVATE, fd), sum = 0;
    for (size_t i = 0; i < (size_t)n * MIB; i += 4096)
        sum = (char)(sum + p[i]);
}

static void print_rss(void)
{
    char line[256];
    long rss = 0, peak = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f)) {
        sscanf(line, "VmRSS: %ld", &rss);
        sscanf(line, "VmHWM: %ld", &peak);
    }
    if (f)
        fclose(f);
    printf("%ld %ld\n", rss, peak);
    fflush(stdout);
}

static void child(long n)
{
    if (fork() == 0) {
        take(n);
        wait_ms(300);
        _exit(0);
    }
    wait(NULL);
}

static void many(long n)
{
    for (long i = 0; i < n; i++) {
        if (fork() == 0)
            _exit(0);
        wait(NULL);
    }
}

static void orphan(long n)
{
    if (fork() == 0) {
        if (fork() == 0) {
            take(n);
            wait_ms(400);
            _exit(0);
        }
        _exit(0);
    }
    wait(NULL);
}

static void say(const char *what, long n)
{
    char line[64];
    const char *fd = getenv("MEMTOOL_FD");
    int len = snprintf(line, sizeof line, n < 0 ? "memtool:%s end\n" : "memtool:%s %ld\n", what, n);
    if (!fd || write(atoi(fd), line, (size_t)len) != len)
        exit(97);
}

static void linger(long n)
{
    if (fork() == 0) {
        wait_ms(n);
        _exit(0);
    }
}

static void leak(long n)
{
    for (long i = 0; i < n; i++) {
        if (getenv("PHASES_STEPS"))
            say("step", i);
        char *p = map(64 << 10, MAP_PRIVATE | MAP_ANONYMOUS, -1);
        memset(p, 1, 64 << 10);
        wait_ms(10);
    }
}

static void saw(long n)
{
    for (long i = 1; i <= n; i++) {
        take(1);
        wait_ms(10);
        while (i % 20 == 0 && block_n)
            give();
    }
}

static void stairs(long n)
{
    for (long i = 0; i < n; i++) {
        take(4);
        wait_ms(400);
    }
}

static void load(long n, long beside)
{
    for (long i = 0; i < n; i++) {
        map_file(1);
        size_t size = (size_t)beside * MIB;
        if (size)
            memset(map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1), 1, size);
        wait_ms(100);
    }
}

static void burn(long n)
{
    struct timespec t;
    long begun = -1, now = 0;
    for (; begun < 0 || now < begun + n * 1000; now = t.tv_sec * 1000000 + t.tv_nsec / 1000) {
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        begun = begun < 0 ? t.tv_sec * 1000000 + t.tv_nsec / 1000 : begun;
    }
}

/* Memory of the function that is not given back when it returns. */
static void __attribute__((noinline)) touch_stack(size_t n)
{
    volatile char *p = __builtin_alloca(n);
    for (size_t i = 0; i < n; i += 1024)
        p[i] = 1;
}

static void *stay(void *arg)
{
    char *volatile kept = arg;
    touch_stack(512 << 10);
    for (int i = 0; i < 256; i++) {
        kept = malloc(1024 - 16);
        memset(kept, 1, 1024 - 16);
    }
    for (;;)
        pause();
    return kept;
}

static void threads(long n)
{
    pthread_t thread;
    for (long i = 0; i < n; i++)
        if (pthread_create(&thread, NULL, stay, NULL) != 0)
            exit(96);
}

static void phase(const char *what, long n)
{
    if (strcmp(what, "malloc") == 0)
        take(n);
    else if (strcmp(what, "file") == 0)
        map_file(n);
    else if (strcmp(what, "shared") == 0)
        memset(map((size_t)n * MIB, MAP_SHARED | MAP_ANONYMOUS, -1), 1, (size_t)n * MIB);
    else if (strcmp(what, "child") == 0)
        child(n);
    else if (strcmp(what, "spike") == 0)
        take(n), give();
    else if (strcmp(what, "many") == 0)
        many(n);
    else if (strcmp(what, "orphan") == 0)
        orphan(n);
    else if (strcmp(what, "wait") == 0)
        wait_ms(n);
    else if (strcmp(what, "step") == 0)
        say("step", n);
    else if (strcmp(what, "mark") == 0)
        say("mark mark", n);
    else if (strcmp(what, "bad") == 0)
        while (n--)
            say("pets", n);
    else if (strcmp(what, "linger") == 0)
        linger(n);
    else if (strcmp(what, "leak") == 0)
        leak(n);
    else if (strcmp(what, "saw") == 0)
        saw(n);
    else if (strcmp(what, "load") == 0)
        load(n, 2);
    else if (strcmp(what, "map") == 0)
        load(n, 0);
    else if (strcmp(what, "burn") == 0)
        burn(n);
    else if (strcmp(what, "stack") == 0)
        touch_stack((size_t)n * MIB);
    else if (strcmp(what, "threads") == 0)
        threads(n);
    else if (strcmp(what, "stairs") == 0)
        stairs(n);
    else if (strcmp(what, "kill") == 0)
        raise((int)n);
    else if (strcmp(what, "exit") == 0)
        exit((int)n);
    else
        exit(98);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "free") == 0)
            give();
        else if (strcmp(argv[i], "rss") == 0)
            print_rss();
        else if (i + 1 < argc) {
            phase(argv[i], atol(argv[i + 1]));
            i++;
        }
    return 0;
}
