/*
 * proc.h - what /proc says of a process. All sizes are bytes.
 */
#ifndef MT_PROC_H
#define MT_PROC_H

#include "lib/base/mem.h"
#include "lib/record/malloc.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mt_proc_values {
    int64_t rss, peak; /* now, and the most so far */
    int64_t anon, file, shmem, swap;
    int64_t threads_n;
    /* Of malloc, if that is counted; whoever reads a process knows it not. */
    bool counted;
    struct mt_malloc_values malloc;
};

enum mt_proc_state {
    MT_PROC_THERE,
    MT_PROC_GONE, /* it has ended, be it waited for or not */
    MT_PROC_HIDDEN
};

/* A descriptor that stays this process's, whoever gets its PID later; -1: see *state. */
int mt_proc_open(pid_t pid, enum mt_proc_state *state);
enum mt_proc_state mt_proc_read(int fd, struct mt_proc_values *out);
/* The same for mt_proc_rss: what it has now and nothing else, for a tenth of the cost. -1: unknown,
 * 0: it has ended. */
int mt_proc_open_rss(pid_t pid);
int64_t mt_proc_rss(int fd);

/* The processor time that the process has taken. -1: unknown. */
int64_t mt_proc_cpu(pid_t pid);

/* The newest process or thread of the system: as long as it is the same, there are no new ones.
 * -1: unknown, as where /proc is not the kernel's own. */
int mt_proc_open_newest(void);
int64_t mt_proc_newest(int fd);

/* Memory in which pages that several share count in part, and what nobody shares. Reading it takes
 * milliseconds for each GiB, in which the process waits for its page tables. */
struct mt_proc_shares {
    int64_t pss, own, swap;
};
enum mt_proc_state mt_proc_shares(pid_t pid, struct mt_proc_shares *out);

/* The most by which the kernel's own count of a process's rss, and so its peak, may be short: each
 * CPU counts some pages of each kind for itself before it tells. More CPUs, more pages. */
int64_t mt_proc_slack(void);

/* Whether the process has waited for children, of which nobody else knows. Also of one that has
 * ended and was not waited for. True, too, where the system does not tell. */
bool mt_proc_waited(pid_t pid);
/* Page faults of children that it waited for: more of them, more children. -1: unknown. */
int64_t mt_proc_child_faults(pid_t pid);

typedef MT_VEC(pid_t) mt_pids;
/* Adds the children that the process has now. False: the kernel does not list them. */
bool mt_proc_children(pid_t pid, mt_pids *out);
/* The same of its first thread alone, for a third of the cost. -1: the kernel does not list them.
 */
int mt_proc_open_children(pid_t pid);
bool mt_proc_children_of(int fd, mt_pids *out);

#endif
