#include "cmd/signals.h"

#include "lib/base/mem.h"
#include <signal.h>

static struct ours {
    int number;
    void (*handler)(int);
    struct sigaction before;
} all[] = {{.number = SIGPIPE, .handler = SIG_IGN},
           {.number = SIGXFSZ, .handler = SIG_IGN},
           {.number = SIGCHLD, .handler = SIG_DFL}};

void mt_signals_begin(void)
{
    for (size_t i = 0; i < MT_ARRAY_LEN(all); i++) {
        const struct sigaction now = {.sa_handler = all[i].handler};
        sigaction(all[i].number, &now, &all[i].before);
    }
}

void mt_signals_restore(void)
{
    for (size_t i = 0; i < MT_ARRAY_LEN(all); i++)
        sigaction(all[i].number, &all[i].before, NULL);
}
