#include "lib/record/malloc.h"

#include "lib/record/malloc_table.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BITS = 60, TRIES = 3 };

enum mt_status mt_malloc_open(struct mt_malloc *m, int64_t interval_ns, struct mt_err *err)
{
    m->table = NULL;
    m->fd = memfd_create("memtool-malloc", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (m->fd >= 0 && ftruncate(m->fd, sizeof *m->table) == 0 &&
        fcntl(m->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
        void *p = mmap(NULL, sizeof *m->table, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
        m->table = p == MAP_FAILED ? NULL : p;
    }
    if (!m->table)
        return MT_FAIL(err, MT_EIO, "cannot share memory with the command: %s", strerror(errno));
    m->table->interval_ns = (uint64_t)interval_ns;
    m->table->magic = MT_MALLOC_MAGIC;
    return MT_OK;
}

void mt_malloc_pace(const struct mt_malloc *m, int64_t interval_ns)
{
    if (m->table)
        m->table->interval_ns = (uint64_t)interval_ns;
}

void mt_malloc_close(struct mt_malloc *m)
{
    if (!m->table)
        return;
    munmap(m->table, sizeof *m->table);
    close(m->fd);
    m->table = NULL;
}

/* Adds to a list in the environment, behind what is there. */
static void append(const char *name, const char *value, char separator)
{
    const char *there = getenv(name);
    char *all =
        there && *there ? mt_asprintf("%s%c%s", there, separator, value) : mt_asprintf("%s", value);
    setenv(name, all, 1);
    free(all);
}

void mt_malloc_env(const struct mt_malloc *m, const char *library, pid_t recorder)
{
    char path[64];
    if (!m->table)
        return;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)recorder, m->fd);
    setenv(MT_MALLOC_ENV, path, 1);
    append("LD_PRELOAD", library, ':');
    append("ASAN_OPTIONS", "verify_asan_link_order=0", ':'); /* it may come behind us */
}

static struct mt_malloc_place *place_of(const struct mt_malloc *m, pid_t pid)
{
    for (int i = 0; m->table && i < MT_MALLOC_PLACES; i++) {
        struct mt_malloc_place *p = &m->table->places[mt_malloc_place_at((int32_t)pid, i)];
        if (atomic_load(&p->pid) == (int32_t)pid)
            return p;
    }
    return NULL;
}

static bool is_true(uint64_t v)
{
    return v < (uint64_t)1 << MOST_BITS;
}

/* On a machine that is busy looks come late. */
static int64_t until_next(const struct mt_malloc *m, uint64_t cost_ns)
{
    enum { LATE = 1000 * 1000 * 1000, TIMES = 4 };
    uint64_t wait = cost_ns < (uint64_t)1 << 40 ? cost_ns * MT_MALLOC_SHARE : 0;
    wait = wait > m->table->interval_ns ? wait : m->table->interval_ns;
    return (int64_t)(wait * TIMES) + LATE;
}

bool mt_malloc_read(const struct mt_malloc *m, pid_t pid, struct mt_malloc_values *out)
{
    const struct mt_malloc_place *p = place_of(m, pid);
    if (!p || atomic_load(&p->state) != MT_MALLOC_COUNTED)
        return false;
    for (int i = 0; i < TRIES; i++) {
        uint32_t seq = atomic_load(&p->seq);
        uint64_t used = p->used, mapped = p->mapped, rest = p->free, top = p->top;
        uint64_t cost = p->cost_ns;
        uint32_t number = p->number;
        if (seq % 2 || atomic_load(&p->seq) != seq)
            continue;
        *out = (struct mt_malloc_values){.in_use = (int64_t)(used + mapped),
                                         .mapped = (int64_t)mapped,
                                         .free = (int64_t)rest,
                                         .top = (int64_t)top,
                                         .number = number,
                                         .until_next_ns = until_next(m, cost)};
        return is_true(used) && is_true(mapped) && is_true(rest) && is_true(top);
    }
    return false;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

void mt_malloc_ask(const struct mt_malloc *m)
{
    enum { DEAR = 100 * 1000, LONGEST = 50 * 1000 * 1000 };
    static const struct timespec wait = {0, 100 * 1000};
    uint32_t before[MT_MALLOC_PLACES];
    bool asked[MT_MALLOC_PLACES];
    for (int i = 0; i < MT_MALLOC_PLACES; i++) {
        struct mt_malloc_place *p = &m->table->places[i];
        asked[i] = atomic_load(&p->pid) && atomic_load(&p->state) == MT_MALLOC_COUNTED &&
                   p->cost_ns < DEAR;
        before[i] = p->number;
        if (!asked[i])
            continue;
        atomic_fetch_add(&p->asked, 1);
        syscall(SYS_futex, &p->asked, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
    const int64_t until = now_ns() + LONGEST;
    for (int i = 0; i < MT_MALLOC_PLACES; i++)
        while (asked[i] && m->table->places[i].number == before[i] && now_ns() < until)
            nanosleep(&wait, NULL);
}

static void leave(struct mt_malloc_place *p)
{
    atomic_store(&p->state, MT_MALLOC_NOTHING);
    atomic_store(&p->seq, 0);
    atomic_store(&p->pid, 0);
}

void mt_malloc_ended(const struct mt_malloc *m, pid_t pid)
{
    struct mt_malloc_place *p = place_of(m, pid);
    if (p)
        leave(p);
}

void mt_malloc_sweep(const struct mt_malloc *m)
{
    for (int i = 0; i < MT_MALLOC_PLACES; i++) {
        struct mt_malloc_place *p = &m->table->places[i];
        int32_t pid = atomic_load(&p->pid);
        if (pid && (pid < 0 || (kill(pid, 0) != 0 && errno == ESRCH)))
            leave(p);
    }
}

void mt_malloc_why(const struct mt_malloc *m, pid_t pid, struct mt_buf *out)
{
    const struct mt_malloc_place *p = place_of(m, pid);
    uint32_t state = p ? atomic_load(&p->state) : MT_MALLOC_NOTHING;
    char why[MT_MALLOC_WHY] = "";
    for (int i = 0; p && i + 1 < MT_MALLOC_WHY && p->why[i]; i++)
        why[i] = p->why[i] > ' ' && p->why[i] < 127 ? p->why[i] : '?';
    if (state == MT_MALLOC_CANNOT && *why)
        mt_buf_addf(out, "its malloc is that of %s, not of glibc", why);
    else if (state == MT_MALLOC_COUNTED)
        mt_buf_adds(out, "it ended at once, or became a program that did not load the library that "
                         "counts");
    else if (state == MT_MALLOC_CANNOT)
        mt_buf_adds(out, "its C library is no glibc of 2.33 or later");
    else
        mt_buf_adds(out, "it did not load the library that counts: it is linked statically, runs "
                         "as another user, or ended at once");
}
