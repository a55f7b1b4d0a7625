#include "lib/record/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

enum { TEXT = 8192 };

/* Where the system hides processes (hidepid), there is nothing to read of one that is there. */
static bool is_there(pid_t pid)
{
    return kill(pid, 0) == 0 || errno != ESRCH;
}

int mt_proc_open(pid_t pid, enum mt_proc_state *state)
{
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool gone = fd < 0 && (errno == ENOENT || errno == ESRCH) && !is_there(pid);
    *state = fd >= 0 ? MT_PROC_THERE : gone ? MT_PROC_GONE : MT_PROC_HIDDEN;
    return fd;
}

int mt_proc_open_rss(pid_t pid)
{
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* The second number, of pages. */
int64_t mt_proc_rss(int fd)
{
    char text[128], *end;
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
    if (n <= 0)
        return -1;
    text[n] = '\0';
    const char *at = strchr(text, ' ');
    int64_t pages = at ? strtoll(at, &end, 10) : 0;
    return at && end > at + 1 ? pages * sysconf(_SC_PAGESIZE) : -1;
}

int64_t mt_proc_cpu(pid_t pid)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return -1;
    return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

/* A container's own /proc/loadavg may be seconds old. */
int mt_proc_open_newest(void)
{
    struct statfs of;
    int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || (fstatfs(fd, &of) == 0 && of.f_type == PROC_SUPER_MAGIC))
        return fd;
    close(fd);
    return -1;
}

/* The last number of "0.10 0.20 0.30 2/345 6789". */
int64_t mt_proc_newest(int fd)
{
    char text[128];
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
    if (n <= 0)
        return -1;
    text[n] = '\0';
    const char *at = strrchr(text, ' ');
    int64_t pid = at ? strtoll(at, NULL, 10) : 0;
    return pid > 0 ? pid : -1;
}

/* The number of a line "VmRSS:     1234 kB", in bytes. */
static bool figure(const char *text, const char *name, int64_t *out)
{
    size_t n = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at += n)
        if (at == text || at[-1] == '\n') {
            *out = strtoll(at + n, NULL, 10) * 1024;
            return true;
        }
    return false;
}

enum mt_proc_state mt_proc_read(int fd, struct mt_proc_values *out)
{
    char text[TEXT];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    if (n <= 0)
        return n < 0 && (errno == EACCES || errno == EPERM) ? MT_PROC_HIDDEN : MT_PROC_GONE;
    text[n] = '\0';
    *out = (struct mt_proc_values){0};
    if (!figure(text, "VmRSS:", &out->rss) || !figure(text, "VmHWM:", &out->peak))
        return MT_PROC_GONE;
    figure(text, "RssAnon:", &out->anon);
    figure(text, "RssFile:", &out->file);
    figure(text, "RssShmem:", &out->shmem);
    figure(text, "VmSwap:", &out->swap);
    figure(text, "Threads:", &out->threads_n);
    out->threads_n /= 1024; /* no KiB */
    if (out->peak < out->rss)
        out->peak = out->rss;
    return MT_PROC_THERE;
}

/* Reads a small file whole; false: it cannot be read. */
static bool read_from(int fd, char text[TEXT])
{
    size_t n = 0;
    ssize_t more = fd < 0 ? -1 : 0;
    while (fd >= 0 && n < TEXT - 1 && (more = pread(fd, text + n, TEXT - 1 - n, (off_t)n)) > 0)
        n += (size_t)more;
    text[n] = '\0';
    return more >= 0;
}

static bool read_text(const char *path, char text[TEXT])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool read = read_from(fd, text);
    int why = errno;
    close(fd);
    errno = why;
    return read;
}

/* A process that has ended and was not waited for has a file without text. */
enum mt_proc_state mt_proc_shares(pid_t pid, struct mt_proc_shares *out)
{
    char path[48], text[TEXT];
    int64_t clean = 0, dirty = 0;
    *out = (struct mt_proc_shares){0};
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    errno = 0;
    if (!read_text(path, text))
        return errno == ENOENT || errno == ESRCH ? MT_PROC_GONE : MT_PROC_HIDDEN;
    if (!figure(text, "Pss:", &out->pss))
        return MT_PROC_GONE;
    figure(text, "Private_Clean:", &clean);
    figure(text, "Private_Dirty:", &dirty);
    figure(text, "Swap:", &out->swap);
    out->own = clean + dirty;
    return MT_PROC_THERE;
}

/* Source: percpu_counter_batch of the kernel. A process that has just begun was on two CPUs at most
 * or so; its pages are of files, anonymous or shared. */
int64_t mt_proc_slack(void)
{
    enum { LEAST = 32, KINDS = 3, CPUS = 2 };
    long n = sysconf(_SC_NPROCESSORS_CONF), page = sysconf(_SC_PAGESIZE);
    long batch = n * 2 > LEAST ? n * 2 : LEAST;
    return (int64_t)batch * KINDS * CPUS * page;
}

/* Its name may be anything. Behind that: state, five numbers of its family, flags, and page faults:
 * minor, those of children, major, those of children. No process is without a fault. */
int64_t mt_proc_child_faults(pid_t pid)
{
    enum { MINOR = 8, MAJOR = 10 };
    char path[48], text[TEXT];
    int64_t sum = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (!read_text(path, text))
        return -1;
    const char *at = strrchr(text, ')');
    for (int field = 0; at && field <= MAJOR; field++) {
        at = strchr(at, ' ');
        at += at != NULL;
        if (at && (field == MINOR || field == MAJOR))
            sum += strtoll(at, NULL, 10);
    }
    return at ? sum : -1;
}

bool mt_proc_waited(pid_t pid)
{
    return mt_proc_child_faults(pid) != 0;
}

int mt_proc_open_children(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void add_children(const char *text, mt_pids *out)
{
    for (char *end; *text; text = end) {
        long child = strtol(text, &end, 10);
        if (end == text)
            break;
        *mt_vec_push(out) = (pid_t)child;
    }
}

bool mt_proc_children_of(int fd, mt_pids *out)
{
    char text[TEXT];
    if (!read_from(fd, text))
        return false;
    add_children(text, out);
    return true;
}

bool mt_proc_children(pid_t pid, mt_pids *out)
{
    char path[96], text[TEXT];
    bool listed = false;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    const struct dirent *task;
    while (tasks && (task = readdir(tasks))) {
        if (task->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, task->d_name);
        if (!read_text(path, text))
            continue;
        add_children(text, out);
        listed = true;
    }
    if (tasks)
        closedir(tasks);
    return listed || !tasks;
}
