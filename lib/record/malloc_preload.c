/*
 * The library that `memtool record --malloc` loads into programs: a thread of its own asks glibc,
 * now and then, what malloc has, and writes it where the recorder reads it (table.h). It allocates
 * nothing, says nothing, and where anything is not as it should be it does nothing.
 *
 * mallinfo2 takes the lock of each arena, one after the other: that is why it is asked in a thread,
 * never in a signal handler or at a fork; glibc's own fork takes the same locks before. With very
 * many free chunks it takes milliseconds, in which others wait: it is asked so seldom that it takes
 * one two-hundredth of the time.
 */
#include "lib/record/malloc_table.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STACK = 64 << 10 };

/* glibc has it from 2.33 on; another C library has none. */
#pragma weak mallinfo2

static struct mt_malloc_table *table;
static struct mt_malloc_place *place; /* this process's */

/* Processor time of this thread: where it waits for a lock or for its turn, it costs nothing. */
static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The place of this process, from before an exec, or a free one; NULL: all are taken. */
static struct mt_malloc_place *take_place(void)
{
    int32_t pid = (int32_t)getpid();
    for (int i = 0; i < MT_MALLOC_PLACES; i++)
        if (atomic_load(&table->places[i].pid) == pid)
            return &table->places[i];
    for (int i = 0; i < MT_MALLOC_PLACES; i++) {
        struct mt_malloc_place *p = &table->places[mt_malloc_place_at(pid, i)];
        int32_t none = 0;
        if (atomic_compare_exchange_strong(&p->pid, &none, pid))
            return p;
    }
    atomic_fetch_add(&table->full_n, 1);
    return NULL;
}

static void tell(struct mt_malloc_place *p, const struct mallinfo2 *m, uint64_t cost_ns)
{
    atomic_fetch_add(&p->seq, 1);
    p->used = m->uordblks;
    p->mapped = m->hblkhd;
    p->free = m->fordblks;
    p->top = m->keepcost;
    p->cost_ns = cost_ns;
    atomic_fetch_add(&p->number, 1);
    p->state = MT_MALLOC_COUNTED;
    atomic_fetch_add(&p->seq, 1);
}

/* Until the place is another process's: the recorder does not see this one's PID as we do. */
static void *count(void *of)
{
    struct mt_malloc_place *p = of;
    const int32_t pid = (int32_t)getpid();
    prctl(PR_SET_NAME, "memtool");
    while (atomic_load(&p->pid) == pid) {
        uint32_t asked = atomic_load(&p->asked);
        uint64_t begun = cpu_ns();
        struct mallinfo2 m = mallinfo2();
        uint64_t cost = cpu_ns() - begun, wait = table->interval_ns;
        tell(p, &m, cost);
        wait = cost * MT_MALLOC_SHARE > wait ? cost * MT_MALLOC_SHARE : wait;
        struct timespec t = {(time_t)(wait / 1000000000), (long)(wait % 1000000000)};
        syscall(SYS_futex, &p->asked, FUTEX_WAIT, asked, &t, NULL,
                0); /* it is no matter why it ends */
    }
    return NULL;
}

static void start(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all, before;
    place = take_place();
    if (!place)
        return;
    atomic_store(&place->state, MT_MALLOC_NOTHING);
    atomic_store(&place->seq, 0); /* an exec may have come in between */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the program's */
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, STACK);
    if (pthread_create(&thread, &attr, count, place) !=
        0) { /* such as with much thread-local data */
        pthread_attr_init(&attr);
        pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
        pthread_create(&thread, &attr, count, place);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Who has a function. False: nobody knows, or a program that is linked to a fixed address only
 * takes the function's: then that of its own jump to it is everybody's. */
static bool find_owner(void *function, Dl_info *out)
{
    const ElfW(Sym) *symbol = NULL;
    return function && dladdr1(function, out, (void **)&symbol, RTLD_DL_SYMENT) &&
           (!symbol || symbol->st_shndx != SHN_UNDEF);
}

/* Who has malloc: whoever has one has the others, and few programs take the address of all. */
static bool find_malloc(Dl_info *out)
{
    static const char *const names[] = {"malloc", "calloc", "realloc", "free"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (find_owner(dlsym(RTLD_DEFAULT, names[i]), out))
            return true;
    return find_owner(dlsym(RTLD_NEXT, "malloc"), out);
}

/* Whose malloc it is, if not that of the library which has mallinfo2; NULL: it is. */
static const char *other_malloc(void)
{
    Dl_info own, theirs;
    void *info = dlsym(RTLD_DEFAULT, "mallinfo2");
    if (!info || !dladdr(info, &own) || !find_malloc(&theirs))
        return "";
    if (own.dli_fbase == theirs.dli_fbase)
        return strstr(own.dli_fname, "libc") ? NULL : own.dli_fname;
    return theirs.dli_fname;
}

static void cannot(const char *why)
{
    const char *slash = strrchr(why, '/');
    place = take_place();
    if (!place)
        return;
    strncpy(place->why, slash ? slash + 1 : why, MT_MALLOC_WHY - 1);
    atomic_store(&place->state, MT_MALLOC_CANNOT);
}

static void open_table(void)
{
    const char *path = getenv(MT_MALLOC_ENV);
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *p = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (p == MAP_FAILED)
        return;
    table = p;
    if (table->magic == MT_MALLOC_MAGIC)
        return;
    munmap(p, sizeof *table);
    table = NULL;
}

/* A child has the thread that forked, and no other. */
static void in_child(void)
{
    start();
}

__attribute__((constructor)) static void begin(void)
{
    open_table();
    if (!table)
        return;
    const char *why = other_malloc();
    if (why) {
        cannot(why);
        return;
    }
    pthread_atfork(NULL, NULL, in_child);
    start();
}
