/* memtool record --pid: processes that run already. */
#include "cmd/record_parts.h"
#include "lib/base/human.h"
#include <ctype.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Signals that end the recording. What was ignored when we were started is not for us. */
static int take_signals(void)
{
    static const int all[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    sigset_t signals;
    struct sigaction now;
    sigemptyset(&signals);
    for (size_t i = 0; i < MT_ARRAY_LEN(all); i++)
        if (sigaction(all[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&signals, all[i]);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    return signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
}

enum mt_status mt_record_pid_begin(struct mt_record_pid *p, struct mt_err *err)
{
    size_t n = p->asked ? strlen(p->asked) : 0;
    if (n && (isdigit((unsigned char)p->asked[n - 1]) ||
              !mt_parse_time("ns", p->asked, &p->for_ns) || p->for_ns <= 0)) {
        MT_FAIL(err, MT_EUSAGE, "--for takes a time like 30s, 5min or 2h, not \"%s\"", p->asked);
        mt_err_hint(err, "Nothing was recorded.");
        return MT_EUSAGE;
    }
    if (p->pid < 1 || p->pid > INT_MAX) {
        MT_FAIL(err, MT_EUSAGE, "--pid takes the number of a process");
        mt_err_hint(err, "Nothing was recorded.");
        return MT_EUSAGE;
    }
    return mt_target_open((pid_t)p->pid, &p->target, err);
}

/* Looks until it ends, a signal comes or time is over. */
static void watch(struct mt_recorder *r, const struct mt_record_pid *p, int signal_fd)
{
    int64_t until = p->for_ns ? p->for_ns : INT64_MAX;
    bool last = false;
    for (;;) {
        int64_t now = mt_recorder_now(r);
        mt_recorder_look(r, now);
        if (last || now >= until || !mt_watch_goes_on(&r->watch))
            return;
        int64_t left = (r->due_ns < until ? r->due_ns : until) - mt_recorder_now(r);
        struct pollfd on[] = {{signal_fd, POLLIN, 0}, {p->target.fd, POLLIN, 0}};
        const struct timespec wait = {left / 1000000000, left % 1000000000};
        last = left > 0 && ppoll(on, MT_ARRAY_LEN(on), &wait, NULL) > 0;
    }
}

enum mt_status mt_record_pid(struct mt_record_pid *p, struct mt_db *db, const char *name,
                             int64_t interval_ms, struct mt_err *err)
{
    struct mt_recorder r;
    const struct mt_recorder_ended unknown = {0};
    const struct mt_args words = {.v = (const char **)p->target.words.v, .n = p->target.words.n};
    char *command = mt_record_command(&words), how[64];
    int signal_fd = take_signals();
    mt_recorder_init(&r, interval_ms);
    r.target = &p->target;
    r.opts = (struct mt_live_opts){
        .name = name, .program = mt_record_program(&words), .command = command};
    mt_recorder_begin(&r, db, p->target.pid);
    watch(&r, p, signal_fd);
    int64_t dur_ns = mt_recorder_now(&r);
    enum mt_status st = mt_recorder_end(&r, dur_ns, &unknown, err);
    snprintf(how, sizeof how, "process %d %s", (int)p->target.pid,
             mt_watch_goes_on(&r.watch) ? "goes on" : "has ended");
    mt_record_summarise(&r, how, dur_ns);
    mt_recorder_free(&r);
    free(command);
    close(signal_fd);
    if (st == MT_OK)
        mt_record_say_growth(db, r.name);
    return st;
}
