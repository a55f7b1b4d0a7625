/* memtool record: runs a command, and records what it and its children have in memory. */
#include "cmd/cmd.h"
#include "cmd/common.h"
#include "cmd/record_parts.h"
#include "cmd/record_torch.h"
#include "cmd/signals.h"
#include "cmd/support.h"
#include "cmd/upgrade.h"
#include "gen/queries.h"
#include "lib/base/human.h"
#include "lib/base/json_out.h"
#include "lib/store/store.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CACHE_KIB = 400 };
enum { INTERVAL = 10, LONGEST = 60 * 1000, MS = 1000000, EXIT_NOT_FOUND = 127, EXIT_NOT_RUN = 126 };

static const char *name;
static const char *interval_asked;
static int64_t interval_ms = INTERVAL;
static struct mt_record_pid attach = {.pid = -1};
static struct mt_record_torch torch;
static bool with_malloc;
static char *malloc_library;

/* Signals that are for the command, and that of a child's end: they are read. */
static sigset_t signals, before;
static int signal_fd;

static void block_signals(void)
{
    static const int all[] = {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    sigemptyset(&signals);
    for (size_t i = 0; i < MT_ARRAY_LEN(all); i++)
        sigaddset(&signals, all[i]);
    sigprocmask(SIG_BLOCK, &signals, &before);
    signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* ---- the command ---- */

/* In the child: says through the pipe what it has had in memory, which is no memory of the command;
 * becomes that, or says why not. What it runs on the way it has run before it says so: the pages of
 * that count. */
static void become(const struct mt_args *args, const struct mt_recorder *r, int pipe_fd)
{
    char **argv = mt_alloc((args->n + 1) * sizeof *argv), number[16];
    int marks_fd = mt_marks_give(&r->marks);
    for (size_t i = 0; i < args->n; i++)
        argv[i] = (char *)(uintptr_t)args->v[i];
    argv[args->n] = NULL;
    snprintf(number, sizeof number, "%d", marks_fd);
    if (marks_fd >= 0)
        setenv("MEMTOOL_FD", number, 1);
    mt_signals_restore();
    mt_record_torch_env(&torch);
    mt_malloc_env(&r->malloc, malloc_library, getppid());
    sigprocmask(SIG_SETMASK, &before, NULL);
    struct rusage own = {0};
    execvp("/", argv);
    getrusage(RUSAGE_SELF, &own);
    ssize_t n = write(pipe_fd, &own.ru_maxrss, 0);
    getrusage(RUSAGE_SELF, &own);
    n = write(pipe_fd, &own.ru_maxrss, sizeof own.ru_maxrss);
    if (n == sizeof own.ru_maxrss)
        execvp(argv[0], argv);
    int why = errno;
    n = write(pipe_fd, &why, sizeof why);
    _exit(n == sizeof why ? EXIT_NOT_RUN : EXIT_NOT_FOUND);
}

/* Starts the command; *why: errno of what was wrong with it, 0 = it runs; *rss_b: the highest rss
 * of the new process before that. */
static enum mt_status start(const struct mt_args *args, const struct mt_recorder *r, pid_t *pid,
                            int *why, int64_t *rss_b, struct mt_err *err)
{
    int ends[2];
    long rss = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return MT_FAIL(err, MT_EIO, "cannot start a process: %s", strerror(errno));
    *pid = fork();
    if (*pid == 0)
        become(args, r, ends[1]);
    close(ends[1]);
    *why = 0;
    ssize_t n = *pid < 0 ? 0 : read(ends[0], &rss, sizeof rss);
    n = n == sizeof rss ? read(ends[0], why, sizeof *why) : 0;
    *rss_b = (int64_t)rss * 1024;
    close(ends[0]);
    if (*pid < 0)
        return MT_FAIL(err, MT_EIO, "cannot start a process: %s", strerror(errno));
    if (n == 0)
        *why = 0;
    return MT_OK;
}

/* A signal that came for us is for the command. What the terminal sent it has got, too. */
static void pass_on(const struct signalfd_siginfo *s, pid_t pid)
{
    int number = (int)s->ssi_signo;
    bool keyboard = number == SIGINT || number == SIGQUIT;
    if (!keyboard || s->ssi_code <= 0)
        kill(pid, number);
}

/* Waits for all that have ended; whether the command has. What it waited for is asked before that.
 * Others are ours because they outlived their parents. */
static bool reap(pid_t pid, struct mt_recorder_ended *out, bool *waited)
{
    struct rusage own;
    bool ended = false;
    int how;
    for (;;) {
        siginfo_t one = {0};
        if (waitid(P_ALL, 0, &one, WEXITED | WNOHANG | WNOWAIT) != 0 || !one.si_pid)
            return ended;
        if (one.si_pid == pid)
            *waited = mt_proc_waited(pid);
        wait4(one.si_pid, &how, 0, &own);
        const int64_t most = (int64_t)own.ru_maxrss * 1024;
        if (one.si_pid == pid) {
            ended = out->known = true;
            out->status = how;
            out->usage = own;
        } else if (most > out->left_b)
            out->left_b = most;
    }
}

/* What there is to read. */
struct ready {
    bool signal, said;
};

/* Waits until t_ns, a signal, or something that the command says. The latter waits, too, where it
 * comes too fast to be read each time. */
static struct ready wait_until(const struct mt_recorder *r, int64_t t_ns)
{
    enum { PAUSE = 1000 * 1000 };
    int64_t now = mt_recorder_now(r);
    bool pause = now - r->said_ns < PAUSE && r->said_ns;
    struct pollfd on[] = {{signal_fd, POLLIN, 0}, {pause ? -1 : r->marks.wake_fd, POLLIN, 0}};
    int64_t left = (pause && r->said_ns + PAUSE < t_ns ? r->said_ns + PAUSE : t_ns) - now;
    const struct timespec wait = {left > 0 ? left / 1000000000 : 0,
                                  left > 0 ? left % 1000000000 : 0};
    ppoll(on, MT_ARRAY_LEN(on), &wait, NULL);
    return (struct ready){on[0].revents, on[1].fd < 0 || on[1].revents};
}

/* Looks until the command has ended. */
static void watch(struct mt_recorder *r, pid_t pid, struct mt_recorder_ended *how)
{
    struct ready ready = {.said = true};
    for (bool ended = false; !ended;) {
        struct signalfd_siginfo s;
        int64_t now = mt_recorder_now(r);
        if (ready.said)
            mt_recorder_listen(r, now);
        if (now >= r->due_ns)
            mt_recorder_look(r, now);
        ready = wait_until(r, r->due_ns);
        while (ready.signal && !ended && read(signal_fd, &s, sizeof s) == sizeof s)
            if (s.ssi_signo == SIGCHLD)
                ended = reap(pid, how, &r->waited);
            else
                pass_on(&s, pid);
    }
}

/* Ends as the command did, by the same signal if it was one. */
static int end_like(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    int number = WTERMSIG(status);
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(number, SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    return 128 + number;
}

/* ---- all of it ---- */

/* What is handed from thread to thread is one's and then the other's: with a heap each, both keep
 * room for the most that there ever was. Large arrays go back to the system at once. */
static void keep_small(void)
{
    enum { LARGE = 64 << 10 };
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, LARGE);
}

static enum mt_status cannot_run(const struct mt_args *args, int why, int *exit_code)
{
    struct mt_buf safe = {0};
    mt_escape_terminal(&safe, args->v[0]);
    fprintf(stderr, "memtool: cannot run %s: %s\nNothing was recorded.\n", safe.s, strerror(why));
    mt_buf_free(&safe);
    *exit_code = why == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
    return MT_OK;
}

static enum mt_status record(const struct mt_args *args, const char *path, struct mt_db *db,
                             int *exit_code, struct mt_err *err)
{
    struct mt_recorder r;
    struct mt_recorder_ended how = {0};
    char text[64];
    pid_t pid = -1;
    int why = 0;
    struct mt_err failed = MT_ERR_INIT;
    block_signals();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    mt_recorder_init(&r, interval_ms);
    if (with_malloc)
        MT_TRY(mt_malloc_open(&r.malloc, r.interval_ns, err));
    MT_TRY(start(args, &r, &pid, &why, &r.own_rss_b, err));
    if (why) {
        reap(pid, &how, &r.waited);
        return cannot_run(args, why, exit_code);
    }
    char *command = mt_record_command(args);
    r.opts = (struct mt_live_opts){.name = name,
                                   .program = mt_record_program(args),
                                   .command = command,
                                   .torch = torch.folder};
    mt_recorder_begin(&r, db, pid);
    watch(&r, pid, &how);
    int64_t dur_ns = mt_recorder_now(&r);
    mt_recorder_look_last(&r, dur_ns);
    reap(pid, &how, &r.waited); /* what ended after the command, and was not looked at any more */
    mt_record_torch_said(&torch, &r);
    enum mt_status st = mt_recorder_end(&r, dur_ns, &how, &failed);
    mt_record_summarise(&r, mt_record_exit_text(how.status, text), dur_ns);
    torch.keep = st != MT_OK;
    if (st != MT_OK)
        mt_print_error(&failed);
    else
        mt_record_torch_import(&torch, path, r.name);
    mt_recorder_free(&r);
    free(command);
    if (st == MT_OK)
        mt_record_say_growth(db, r.name);
    mt_record_torch_end(&torch);
    *exit_code = end_like(how.status);
    return MT_OK;
}

/* The list that names it is separated by blanks and colons. */
static enum mt_status find_library(struct mt_err *err)
{
    MT_TRY(mt_support_path("malloc.so", &malloc_library, err));
    if (!strpbrk(malloc_library, " :"))
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "--malloc: the system cannot load %s", malloc_library);
    mt_err_hint(err, "Nothing was run. Its path must have no blanks and no colons.");
    return MT_EUSAGE;
}

static enum mt_status refuse(const char *what, const char *hint, struct mt_err *err)
{
    MT_FAIL(err, MT_EUSAGE, "%s", what);
    mt_err_hint(err, "Nothing was recorded. %s", hint);
    return MT_EUSAGE;
}

/* A bare number is milliseconds. */
static enum mt_status read_interval(struct mt_err *err)
{
    size_t n = interval_asked ? strlen(interval_asked) : 0;
    int64_t ns = 0;
    if (!n)
        return MT_OK;
    bool bare = isdigit((unsigned char)interval_asked[n - 1]);
    bool read = mt_parse_time("ns", interval_asked, &ns);
    interval_ms = bare ? ns : ns / MS;
    if (!read || (!bare && ns % MS) || interval_ms < 1 || interval_ms > LONGEST)
        return MT_FAIL(err, MT_EUSAGE, "--interval takes 1ms to %ds, not \"%s\"", LONGEST / 1000,
                       interval_asked);
    return MT_OK;
}

static enum mt_status check_options(const struct mt_args *args, struct mt_err *err)
{
    bool running = attach.pid >= 0;
    MT_TRY(read_interval(err));
    if (!running && !args->n)
        return refuse("there is no command to record",
                      "Write `memtool record -- COMMAND`, or --pid for a process that runs.", err);
    if (!running && attach.asked)
        return refuse("--for is for --pid", "A command is recorded until it ends.", err);
    if (!running)
        return MT_OK;
    if (args->n)
        return refuse("--pid and a command are two things to record", "Leave one out.", err);
    if (with_malloc || torch.asked)
        return refuse(with_malloc ? "--malloc is not for --pid" : "--torch is not for --pid",
                      "What is recorded so is started by memtool: `memtool record -- COMMAND`.",
                      err);
    return mt_record_pid_begin(&attach, err);
}

/* No run has the name that was asked for. */
static enum mt_status check_name(struct mt_db *db, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_RUN_BY_NAME, &s, err));
    mt_stmt_bind(s, "s", name);
    MT_TRY(mt_stmt_step(s, &row, err));
    if (!row)
        return MT_OK;
    mt_stmt_end(s);
    MT_FAIL(err, MT_EUSAGE, "there is a run '%s'", name);
    struct mt_buf word = {0};
    mt_shell_word(&word, name);
    mt_err_hint(err, "Nothing was run. Choose another --name, or `memtool runs --delete %s`.",
                word.s);
    mt_buf_free(&word);
    return MT_EUSAGE;
}

/* What is wrong with the database is said before the command runs. */
static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    char *path = NULL;
    struct mt_db *db = NULL;
    bool created = false;
    keep_small();
    if (torch.stacks && !torch.asked)
        torch.asked = "";
    MT_TRY(check_options(args, err));
    if (name)
        MT_TRY(mt_store_check_name(name, err));
    MT_TRY(mt_db_path(mt_common.db, &path, err));
    enum mt_status st = mt_upgrade_older(path, err);
    if (st == MT_OK)
        st = mt_db_open(path, MT_DB_WRITE, &db, &created, err);
    if (st == MT_OK)
        st = mt_db_cache(db, CACHE_KIB, err);
    if (st == MT_OK && name)
        st = check_name(db, err);
    if (st == MT_OK)
        st = mt_record_torch_begin(&torch, err);
    if (st == MT_OK && with_malloc)
        st = find_library(err);
    created &= db && st != MT_OK;
    if (st == MT_OK)
        st = attach.pid >= 0 ? mt_record_pid(&attach, db, name, interval_ms, err)
                             : record(args, path, db, exit_code, err);
    (created ? mt_db_close_unused : mt_db_close)(db);
    mt_target_close(&attach.target);
    mt_record_torch_end(&torch);
    free(malloc_library);
    free(path);
    return st;
}

static const struct mt_opt opts[] = {
    {"name", 0, MT_OPT_STRING, &name, "NAME", "name of the run (default: the program's)"},
    {"interval", 0, MT_OPT_STRING, &interval_asked, "DURATION",
     "between two samples, as in 20ms or 1s (default: 10ms); up to four times as many where "
     "nothing "
     "changes, more where looking costs more than 1 % of a core"},
    {"pid", 0, MT_OPT_INT, &attach.pid, "PID",
     "record a process that runs already, and what it starts, until it ends or Ctrl-C"},
    {"for", 0, MT_OPT_STRING, &attach.asked, "DURATION",
     "with --pid: for this long, as in 30s or 5min"},
    {"malloc", 0, MT_OPT_FLAG, &with_malloc, NULL,
     "record what malloc has, too: in use, and free but held (glibc; a library is loaded into the "
     "command)"},
    {"torch", 0, MT_OPT_OPTIONAL, &torch.asked, "STEPS",
     "record what PyTorch allocates, too, for that many optimizer steps (default: 8), or all"},
    {"torch-stacks", 0, MT_OPT_FLAG, &torch.stacks, NULL,
     "with --torch: lines of Python, too; that takes time and memory"},
    {0},
};

const struct mt_cmd mt_cmd_record = {
    .name = "record",
    .summary = "run a command, and record what it and its children have in memory",
    .usage = "[options] -- COMMAND [ARGUMENT ...]",
    .examples = "  memtool record -- python train.py --epochs 3\n"
                "  memtool record --torch -- python train.py\n"
                "  memtool record --name before -- ./program\n"
                "  memtool record --pid 4711 --for 5min\n",
    .opts = opts,
    .without = "format output",
    .args_min = 0,
    .args_max = (size_t)-1,
    .runs_command = true,
    .run = run,
};
