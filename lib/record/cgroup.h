/*
 * cgroup.h - what the control group of a process has in memory, and whom its limit killed. Both
 * versions of the kernel's interface. All sizes are bytes.
 */
#ifndef MT_CGROUP_H
#define MT_CGROUP_H

#include "lib/base/mem.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MT_CGROUP_ROOT "/sys/fs/cgroup"
enum { MT_CGROUP_PATH = 256 };

struct mt_cgroup {
    char dir[512];             /* of its files; "": nothing is known of it */
    char path[MT_CGROUP_PATH]; /* as the kernel calls it */
    bool second;               /* version 2 */
};
struct mt_cgroup_values {
    int64_t current_b, peak_b, max_b; /* of all processes in it; -1: unknown, or no limit */
    int64_t oom_kill_n;               /* processes that the limit killed so far; -1: unknown */
};

/* Finds the group in what /proc/PID/cgroup says, of files below root. False: there are none. */
bool mt_cgroup_find(const char *root, const char *text, struct mt_cgroup *out);
/* The same of a process. False, too, where it has ended. */
bool mt_cgroup_of(pid_t pid, struct mt_cgroup *out);
/* Whether the process is in it, too; also where that is not known. */
bool mt_cgroup_has(const struct mt_cgroup *g, pid_t pid);
/* What it has now; -1: unknown. The descriptor stays open for that; -1: there is none. */
int mt_cgroup_open_current(const struct mt_cgroup *g);
int64_t mt_cgroup_current(int fd);
void mt_cgroup_read(const struct mt_cgroup *g, struct mt_cgroup_values *out);

/* Processes that the system killed for want of memory since it was started; -1: unknown. */
int64_t mt_system_oom_kills(void);

#endif
