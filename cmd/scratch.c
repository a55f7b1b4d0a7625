#include "cmd/scratch.h"

#include "lib/base/mem.h"
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
static char *volatile paths[MT_SCRATCH_MAX];

/* The signals stay blocked meanwhile, and `timeout` sends them twice. The one that is raised again
 * ends the process as it would have. */
static void on_signal(int signal_number)
{
    for (size_t i = 0; i < MT_SCRATCH_MAX; i++)
        if (paths[i])
            unlink(paths[i]);
    for (size_t i = 0; i < MT_SCRATCH_MAX; i++)
        if (paths[i])
            rmdir(paths[i]);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void add_all(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < MT_ARRAY_LEN(signals); i++)
        sigaddset(set, signals[i]);
}

/* A signal that is ignored, or that somebody waits for already, stays so. */
static void listen(void)
{
    static bool listening;
    struct sigaction now, ours = {.sa_handler = on_signal};
    if (listening)
        return;
    listening = true;
    add_all(&ours.sa_mask);
    for (size_t i = 0; i < MT_ARRAY_LEN(signals); i++)
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(signals[i], &ours, NULL);
}

void mt_scratch_hold(sigset_t *before)
{
    sigset_t ours;
    add_all(&ours);
    pthread_sigmask(SIG_BLOCK, &ours, before);
}

void mt_scratch_release(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

void mt_scratch_add(const char *path)
{
    listen();
    for (size_t i = 0; i < MT_SCRATCH_MAX; i++)
        if (!paths[i]) {
            paths[i] = mt_strdup(path);
            return;
        }
}

void mt_scratch_like(int fd, const struct stat *old)
{
    if ((old->st_uid == geteuid() && old->st_gid == getegid()) ||
        fchown(fd, old->st_uid, old->st_gid) == 0)
        (void)!fchmod(fd, old->st_mode & 07777);
    else
        (void)!fchmod(fd, old->st_mode & 0777);
}

void mt_scratch_drop(const char *path)
{
    for (size_t i = 0; i < MT_SCRATCH_MAX; i++) {
        char *own = paths[i];
        if (!own || strcmp(own, path) != 0)
            continue;
        paths[i] = NULL; /* before it is freed: a signal may come in between */
        free(own);
    }
}
