#include "cmd/scratch.h"

#include "lib/mem.h"
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
static char *volatile paths[MT_SCRATCH_MAX];

/* SA_RESETHAND: the signal that is raised again ends the process as it would have. */
static void on_signal(int signal_number)
{
    for (size_t i = 0; i < MT_SCRATCH_MAX; i++)
        if (paths[i])
            unlink(paths[i]);
    for (size_t i = 0; i < MT_SCRATCH_MAX; i++)
        if (paths[i])
            rmdir(paths[i]);
    raise(signal_number);
}

/* A signal that is ignored, or that somebody waits for already, stays so. */
static void listen(void)
{
    static bool listening;
    struct sigaction now, ours = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    if (listening)
        return;
    listening = true;
    for (size_t i = 0; i < MT_ARRAY_LEN(signals); i++)
        sigaddset(&ours.sa_mask, signals[i]);
    for (size_t i = 0; i < MT_ARRAY_LEN(signals); i++)
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(signals[i], &ours, NULL);
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
