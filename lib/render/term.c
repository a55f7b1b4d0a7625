#include "lib/render/term.h"
#include "lib/base/human.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_WIDTH  80
#define DEFAULT_HEIGHT 24
#define MAX_SIZE       10000
#define REDRAW_NS      (100 * 1000 * 1000)
#define ETA_FROM_NS    (500 * 1000 * 1000) /* before, the rate is a guess */

extern char **environ;

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

/* What a variable says, 0 = nothing. */
static int size_by(const char *variable)
{
    const char *text = getenv(variable);
    char *end = NULL;
    long n = text ? strtol(text, &end, 10) : 0;
    return n <= 0 || *end ? 0 : n < MAX_SIZE ? (int)n : MAX_SIZE;
}

static int width_of(int fd)
{
    int n = size_by("COLUMNS");
    struct winsize size;
    if (n == 0 && ioctl(fd, TIOCGWINSZ, &size) == 0)
        n = size.ws_col;
    return n ? n : DEFAULT_WIDTH;
}

static int height_of(int fd)
{
    int n = size_by("LINES");
    struct winsize size;
    if (n == 0 && ioctl(fd, TIOCGWINSZ, &size) == 0)
        n = size.ws_row;
    return n ? n : DEFAULT_HEIGHT;
}

static bool wants_color(enum mt_color color, bool able)
{
    if (color != MT_COLOR_AUTO)
        return color == MT_COLOR_ALWAYS;
    if (is_set("NO_COLOR"))
        return false;
    const char *force = getenv("CLICOLOR_FORCE");
    return able || (force && *force && strcmp(force, "0") != 0);
}

struct mt_term mt_term_probe(enum mt_color color)
{
    const char *type = getenv("TERM");
    struct mt_term t = {
        .out_tty = isatty(STDOUT_FILENO),
        .err_tty = isatty(STDERR_FILENO),
        .dumb = !type || !*type || strcmp(type, "dumb") == 0,
        .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
    };
    t.color = wants_color(color, t.out_tty && !t.dumb);
    t.width = t.out_tty ? width_of(STDOUT_FILENO) : 0;
    t.err_width = t.err_tty ? width_of(STDERR_FILENO) : 0;
    t.height = t.out_tty ? height_of(STDOUT_FILENO) : 0;
    return t;
}

int mt_term_colors(void)
{
    static const char *const few[] = {"linux", "vt", "ansi", "cons", "sun"};
    const char *type = getenv("TERM"), *more = getenv("COLORTERM");
    if ((more && (strcmp(more, "truecolor") == 0 || strcmp(more, "24bit") == 0)) ||
        (type && strstr(type, "direct")))
        return 1 << 24;
    for (size_t i = 0; type && i < MT_ARRAY_LEN(few); i++)
        if (strncmp(type, few[i], strlen(few[i])) == 0)
            return 0;
    return 256;
}

/* The pager that runs, pid 0 = none, and what it has replaced. */
static struct {
    pid_t pid;
    int terminal; /* stdout before */
    struct sigaction on_int, on_pipe;
} pager;

static const char *pager_command(void)
{
    const char *command = getenv("MEMTOOL_PAGER");
    if (!command)
        command = getenv("PAGER");
    if (!command)
        return "less -FRX";
    return strcmp(command, "cat") == 0 ? "" : command;
}

/* Starts the command with `input` as its stdin. Without a shell where none is needed, because
 * only then a program that does not exist shows here and not after stdout is gone. */
static bool spawn_pager(char *command, int input)
{
    char *argv[64], *rest = NULL;
    size_t n = 0;
    if (strpbrk(command, "|&;<>()$`\\\"'*?[#~=%\n")) {
        argv[n++] = "sh";
        argv[n++] = "-c";
        argv[n++] = command;
    } else {
        for (char *word = strtok_r(command, " \t", &rest); word;
             word = strtok_r(NULL, " \t", &rest))
            if (n < MT_ARRAY_LEN(argv) - 1)
                argv[n++] = word;
    }
    argv[n] = NULL;
    if (n == 0)
        return false;
    sigset_t reset;
    sigemptyset(&reset);
    sigaddset(&reset, SIGINT);
    sigaddset(&reset, SIGPIPE);
    sigaddset(&reset, SIGXFSZ);
    posix_spawnattr_t attr;
    posix_spawn_file_actions_t files;
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigdefault(&attr, &reset);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    bool ok = posix_spawnp(&pager.pid, argv[0], &files, &attr, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    if (!ok)
        pager.pid = 0;
    return ok;
}

static void end_at_exit(void)
{
    if (pager.pid)
        mt_stdout_end();
}

static void replace_stdout(int with)
{
    static bool registered;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGINT, &ignore, &pager.on_int);
    sigaction(SIGPIPE, &ignore, &pager.on_pipe);
    dup2(with, STDOUT_FILENO);
    if (!registered)
        atexit(end_at_exit);
    registered = true;
}

bool mt_pager_start(const struct mt_term *term)
{
    if (!term->out_tty || term->dumb || pager.pid || !*pager_command())
        return false;
    fflush(stdout);
    int ends[2];
    pager.terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (pager.terminal < 0)
        return false;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        close(pager.terminal);
        return false;
    }
    /* A bare `less` from $PAGER would show colours as bytes and stay for a short table. */
    setenv("LESS", "FRX", 0);
    setenv("LV", "-c", 0);
    char *command = mt_strdup(pager_command());
    bool ok = spawn_pager(command, ends[0]);
    free(command);
    if (ok)
        replace_stdout(ends[1]);
    else
        close(pager.terminal);
    close(ends[0]);
    close(ends[1]);
    return ok;
}

static void wait_for_pager(void)
{
    dup2(pager.terminal, STDOUT_FILENO);
    close(pager.terminal);
    while (waitpid(pager.pid, NULL, 0) < 0 && errno == EINTR)
        ;
    pager.pid = 0;
    sigaction(SIGINT, &pager.on_int, NULL);
    sigaction(SIGPIPE, &pager.on_pipe, NULL);
}

int mt_write_error(int fd)
{
    struct pollfd out = {.fd = fd, .events = POLLOUT};
    struct statvfs disk;
    struct stat file;
    struct rlimit size;
    enum { MORE = 4096 }; /* a block: one that is begun may have room */
    if (poll(&out, 1, 0) > 0 && (out.revents & POLLERR))
        return EPIPE;
    if (write(fd, "", 0) < 0) /* a device that takes nothing says so again */
        return errno;
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode))
        return EIO;
    if (getrlimit(RLIMIT_FSIZE, &size) == 0 && (rlim_t)file.st_size >= size.rlim_cur)
        return EFBIG;
    if (fallocate(fd, FALLOC_FL_KEEP_SIZE, file.st_size, MORE) != 0 &&
        (errno == ENOSPC || errno == EDQUOT))
        return errno;
    return fstatvfs(fd, &disk) == 0 && disk.f_bavail == 0 ? ENOSPC : EIO;
}

int mt_stdout_end(void)
{
    int failed = 0;
    if (fflush(stdout) != 0)
        failed = errno;
    else if (ferror(stdout))
        failed = mt_write_error(STDOUT_FILENO);
    if (!pager.pid)
        return failed;
    /* What a closed pager did not take must not appear on the terminal after it. */
    __fpurge(stdout);
    clearerr(stdout);
    wait_for_pager();
    return 0;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void mt_progress_start(struct mt_progress *p, const struct mt_term *term, const char *name,
                       int64_t total_b)
{
    *p = (struct mt_progress){.total_b = total_b, .ascii = !term->utf8};
    if (!term->err_tty || term->dumb || is_set("CI"))
        return;
    struct mt_buf safe = {0};
    mt_escape_terminal(&safe, name);
    p->name = safe.s;
    p->width = width_of(STDERR_FILENO);
    p->start_ns = p->drawn_ns = now_ns();
}

void mt_progress_text(struct mt_buf *out, const struct mt_progress *p, int64_t done_b,
                      int64_t elapsed_ns)
{
    struct mt_buf figures = {0};
    char text[MT_HUMAN_MAX];
    double rate = elapsed_ns > 0 ? (double)done_b * 1e9 / (double)elapsed_ns : 0;
    if (p->total_b > 0 && done_b <= p->total_b)
        mt_buf_addf(&figures, "  %d %%", (int)((double)done_b / (double)p->total_b * 100));
    else
        mt_buf_addf(&figures, "  %s", mt_human_bytes_round(done_b, text));
    mt_buf_addf(&figures, "  %s/s", mt_human_bytes_round((int64_t)rate, text));
    if (p->total_b > done_b && rate > 0 && elapsed_ns >= ETA_FROM_NS) {
        double seconds = (double)(p->total_b - done_b) / rate;
        if (seconds < 120)
            mt_buf_addf(&figures, "  ETA %d s", (int)seconds + 1);
        else if (seconds < 1e9)
            mt_buf_addf(&figures, "  ETA %d min", (int)(seconds / 60) + 1);
    }
    int room = p->width - 1 - (int)figures.n;
    mt_cut_middle(out, p->name, room < 8 ? 8 : room, p->ascii);
    mt_buf_adds(out, figures.s);
    mt_buf_free(&figures);
}

void mt_progress_update(struct mt_progress *p, int64_t done_b)
{
    if (!p->name)
        return;
    int64_t now = now_ns();
    if (now - p->drawn_ns < REDRAW_NS)
        return;
    struct mt_buf line = {0};
    mt_progress_text(&line, p, done_b, now - p->start_ns);
    fprintf(stderr, "\r%s\033[K", line.s);
    fflush(stderr);
    mt_buf_free(&line);
    p->drawn_ns = now;
    p->on_screen = true;
}

void mt_progress_end(struct mt_progress *p)
{
    if (p->on_screen) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    free(p->name);
    *p = (struct mt_progress){0};
}
