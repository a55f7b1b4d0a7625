#include "lib/record/target.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TEXT = 1 << 15 };

/* A file of the process, as much as fits; -1: it cannot be read. */
static ssize_t read_own(pid_t pid, const char *name, char text[TEXT])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, TEXT - 1);
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    text[n < 0 ? 0 : n] = '\0';
    return n;
}

/* What follows a name at the beginning of a line; "": nothing. */
static const char *line_of(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at += n)
        if (at == text || at[-1] == '\n')
            return at + n + strspn(at + n, " \t");
    return "";
}

static enum mt_status refuse(pid_t pid, const char *what, const char *hint, struct mt_err *err)
{
    MT_FAIL(err, MT_EUSAGE, "--pid %d: %s", (int)pid, what);
    mt_err_hint(err, "Nothing was recorded. %s", hint);
    return MT_EUSAGE;
}

static enum mt_status check_state(pid_t pid, const char *status, struct mt_err *err)
{
    char what[96];
    long owner = strtol(line_of(status, "Tgid:"), NULL, 10);
    char state = *line_of(status, "State:");
    if (state == 'Z' || state == 'X')
        return refuse(pid, "the process has ended",
                      "It is only there until its parent waits for it.", err);
    if (owner != pid && owner > 0) {
        snprintf(what, sizeof what, "it is a thread of process %ld", owner);
        return refuse(pid, what, "Give the number of the process.", err);
    }
    if (!*line_of(status, "VmRSS:"))
        return refuse(pid, "the process has no memory of its own",
                      "It is a thread of the kernel, or ends just now.", err);
    return MT_OK;
}

/* Words end in NUL; what a program made of its own line may be one text, and NULs behind it. */
static void take_words(struct mt_target *t, char text[TEXT])
{
    ssize_t n = read_own(t->pid, "cmdline", text);
    while (n > 0 && text[n - 1] == '\0')
        n--;
    for (ssize_t at = 0; at < n; at += (ssize_t)strlen(text + at) + 1)
        *mt_vec_push(&t->words) = mt_strdup(text + at);
    if (t->words.n)
        return;
    n = read_own(t->pid, "comm", text);
    text[strcspn(text, "\n")] = '\0';
    *mt_vec_push(&t->words) = mt_strdup(n > 0 && *text ? text : "process");
}

/* Its name may be anything. Field 22 is the time since the machine's start, in ticks. */
static int64_t age_of(pid_t pid, char text[TEXT])
{
    enum { STARTED = 22, STATE = 3 };
    struct timespec now;
    long ticks = sysconf(_SC_CLK_TCK);
    const char *at = read_own(pid, "stat", text) > 0 ? strrchr(text, ')') : NULL;
    for (int field = STATE; at && field <= STARTED; field++) {
        at = strchr(at, ' ');
        at += at != NULL;
    }
    if (!at || ticks <= 0 || clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        return -1;
    int64_t second = 1000 * 1000 * 1000;
    int64_t began = (int64_t)(strtod(at, NULL) / (double)ticks * (double)second);
    int64_t age = now.tv_sec * second + now.tv_nsec - began;
    return age < 0 ? -1 : age;
}

/* Whom the system hides is there all the same: a signal finds it. */
static enum mt_status check_there(pid_t pid, struct mt_err *err)
{
    if (kill(pid, 0) != 0 && errno == ESRCH)
        return refuse(pid, "there is no such process", "It has ended, or the number is wrong.",
                      err);
    return refuse(pid, "the system hides this process of another user",
                  "Run memtool as that user, or as root.", err);
}

enum mt_status mt_target_open(pid_t pid, struct mt_target *out, struct mt_err *err)
{
    char *text = mt_alloc(TEXT);
    *out = (struct mt_target){.pid = pid, .fd = -1, .age_ns = -1};
    if (pid == getpid()) {
        free(text);
        return refuse(pid, "that is this recorder itself", "Give another process.", err);
    }
#ifdef SYS_pidfd_open
    out->fd = (int)syscall(SYS_pidfd_open, pid, 0);
#endif
    enum mt_status st =
        read_own(pid, "status", text) > 0 ? check_state(pid, text, err) : check_there(pid, err);
    if (st == MT_OK) {
        out->peak_b = strtoll(line_of(text, "VmHWM:"), NULL, 10) * 1024;
        take_words(out, text);
        out->age_ns = age_of(pid, text);
    }
    free(text);
    if (st != MT_OK)
        mt_target_close(out);
    return st;
}

void mt_target_close(struct mt_target *t)
{
    if (t->fd >= 0)
        close(t->fd);
    for (size_t i = 0; i < t->words.n; i++)
        free(t->words.v[i]);
    mt_vec_free(&t->words);
    t->fd = -1;
}
