#include "rows.h"

#include "lib/render/term.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static void set(const char *variable, const char *value)
{
    if (value)
        setenv(variable, value, 1);
    else
        unsetenv(variable);
}

/* Runs `act` in a child with a terminal of 100 columns as stdin, stdout and stderr; returns what
 * came out of the terminal. The child's exit code must be 0. */
static char *on_terminal(int (*act)(const void *), const void *row)
{
    struct termios raw;
    memset(&raw, 0, sizeof raw);
    cfmakeraw(&raw);
    struct winsize size = {.ws_row = 24, .ws_col = 100};
    int master;
    pid_t pid = forkpty(&master, NULL, &raw, &size);
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(act(row));
    struct mt_buf text = {0};
    mt_buf_adds(&text, "");
    char chunk[4096];
    for (ssize_t n; (n = read(master, chunk, sizeof chunk)) > 0;)
        mt_buf_add(&text, chunk, (size_t)n);
    close(master);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status != 0)
        print_error("%s\n", text.s);
    assert_int_equal(status, 0);
    return text.s;
}

struct pager_row {
    const char *name;
    const char *memtool_pager, *pager, *term;
    const char *expected;
};

static const struct pager_row pager_rows[] = {
    {"pager: ours comes first", "sed s/^/1:/", "sed s/^/2:/", "xterm", "1:one\n1:two\ndone\n"},
    {"pager: then the common one", NULL, "sed s/^/2:/", "xterm", "2:one\n2:two\ndone\n"},
    {"pager: one that needs a shell", "sed 's/^/3: /'", NULL, "xterm", "3: one\n3: two\ndone\n"},
    {"pager: empty is none", "", "sed s/^/2:/", "xterm", "one\ntwo\ndone\n"},
    {"pager: blanks are none", " \t", NULL, "xterm", "one\ntwo\ndone\n"},
    {"pager: cat is none", "cat", NULL, "xterm", "one\ntwo\ndone\n"},
    {"pager: no such program", "/nonexistent/pager -x", NULL, "xterm", "one\ntwo\ndone\n"},
    {"pager: dumb terminal", "sed s/^/1:/", NULL, "dumb", "one\ntwo\ndone\n"},
    {"pager: waits for it", "sleep 0.2; cat", NULL, "xterm", "one\ntwo\ndone\n"},
    {"pager: less is told to show colours", "printenv LESS", NULL, "xterm", "FRX\ndone\n"},
};

static int page(const void *state)
{
    const struct pager_row *row = state;
    set("MEMTOOL_PAGER", row->memtool_pager);
    set("PAGER", row->pager);
    set("TERM", row->term);
    set("LESS", NULL);
    struct mt_term term = mt_term_probe(MT_COLOR_AUTO);
    mt_pager_start(&term);
    puts("one\ntwo");
    int failed = mt_stdout_end();
    fputs("done\n", stderr);
    return failed;
}

static void test_pager(void **state)
{
    const struct pager_row *row = *state;
    char *text = on_terminal(page, row);
    assert_string_equal(text, row->expected);
    free(text);
}

/* A pager the user leaves at once: no message, no failure, nothing of the rest on the terminal. */
static int page_much(const void *state)
{
    (void)state;
    set("MEMTOOL_PAGER", "true");
    set("TERM", "xterm");
    struct mt_term term = mt_term_probe(MT_COLOR_AUTO);
    if (!mt_pager_start(&term))
        return 9;
    for (int i = 0; i < 100000; i++)
        puts("a line that nobody reads");
    int failed = mt_stdout_end();
    puts("back on the terminal");
    fflush(stdout);
    return failed;
}

static void test_left_early(void **state)
{
    (void)state;
    char *text = on_terminal(page_much, NULL);
    assert_string_equal(text, "back on the terminal\n");
    free(text);
}

static int forget_the_end(const void *state)
{
    (void)state;
    set("MEMTOOL_PAGER", "sed s/^/paged:/");
    set("TERM", "xterm");
    struct mt_term term = mt_term_probe(MT_COLOR_AUTO);
    mt_pager_start(&term);
    puts("text");
    exit(0);
}

static void test_ends_at_exit(void **state)
{
    (void)state;
    char *text = on_terminal(forget_the_end, NULL);
    assert_string_equal(text, "paged:text\n");
    free(text);
}

struct broken_row {
    const char *name;
    bool full; /* a full disk, else a pipe nobody reads */
    int lines;
    size_t at_once; /* bytes: nothing of them stays in stdout's buffer */
    int expected;
};

static const struct broken_row broken_rows[] = {
    {"stdout: full disk", true, 1, 0, ENOSPC},
    {"stdout: full disk, much text", true, 10000, 0, ENOSPC},
    {"stdout: full disk, much text at once", true, 0, 1 << 16, ENOSPC},
    {"stdout: the reader has left", false, 1, 0, EPIPE},
    {"stdout: the reader has left, much text", false, 10000, 0, EPIPE},
    {"stdout: the reader has left, much text at once", false, 0, 1 << 16, EPIPE},
};

static void test_broken(void **state)
{
    const struct broken_row *row = *state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    signal(SIGPIPE, SIG_IGN);
    fflush(stdout);
    int before = dup(STDOUT_FILENO), full = open("/dev/full", O_WRONLY);
    assert_true(before >= 0 && full >= 0);
    close(ends[0]);
    dup2(row->full ? full : ends[1], STDOUT_FILENO);
    static const char zeros[1 << 16];
    for (int i = 0; i < row->lines; i++)
        puts("a line of text");
    fwrite(zeros, 1, row->at_once, stdout);
    int failed = mt_stdout_end();
    /* What could not be written is still in stdout's buffer; send it nowhere. */
    FILE *gone = freopen("/dev/null", "w", stdout);
    assert_non_null(gone);
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    close(full);
    close(ends[1]);
    assert_int_equal(failed, row->expected);
}

struct probe_row {
    const char *name;
    bool terminal;
    enum mt_color color;
    const char *term, *no_color, *force, *columns;
    bool colored;
    int width;
};

static const struct probe_row probe_rows[] = {
    {"probe: terminal", true, MT_COLOR_AUTO, "xterm", NULL, NULL, NULL, true, 100},
    {"probe: COLUMNS", true, MT_COLOR_AUTO, "xterm", NULL, NULL, "64", true, 64},
    {"probe: COLUMNS is no number", true, MT_COLOR_AUTO, "xterm", NULL, NULL, "64x", true, 100},
    {"probe: COLUMNS is 0", true, MT_COLOR_AUTO, "xterm", NULL, NULL, "0", true, 100},
    {"probe: COLUMNS is too large", true, MT_COLOR_AUTO, "xterm", NULL, NULL, "99999999999", true,
     10000},
    {"probe: NO_COLOR", true, MT_COLOR_AUTO, "xterm", "1", NULL, NULL, false, 100},
    {"probe: NO_COLOR is empty", true, MT_COLOR_AUTO, "xterm", "", NULL, NULL, true, 100},
    {"probe: NO_COLOR before force", true, MT_COLOR_AUTO, "xterm", "1", "1", NULL, false, 100},
    {"probe: asked for", true, MT_COLOR_ALWAYS, "dumb", "1", NULL, NULL, true, 100},
    {"probe: not wanted", true, MT_COLOR_NEVER, "xterm", NULL, "1", NULL, false, 100},
    {"probe: dumb", true, MT_COLOR_AUTO, "dumb", NULL, NULL, NULL, false, 100},
    {"probe: no TERM", true, MT_COLOR_AUTO, NULL, NULL, NULL, NULL, false, 100},
    {"probe: a file", false, MT_COLOR_AUTO, "xterm", NULL, NULL, "64", false, 0},
    {"probe: a file, forced", false, MT_COLOR_AUTO, "xterm", NULL, "1", NULL, true, 0},
    {"probe: a file, forced with 0", false, MT_COLOR_AUTO, "xterm", NULL, "0", NULL, false, 0},
};

static int probe(const void *state)
{
    const struct probe_row *row = state;
    set("TERM", row->term);
    set("NO_COLOR", row->no_color);
    set("CLICOLOR_FORCE", row->force);
    set("COLUMNS", row->columns);
    if (!row->terminal && dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO) < 0)
        return 9;
    struct mt_term t = mt_term_probe(row->color);
    fprintf(stderr, "%d %d %d %d %d", t.out_tty, t.err_tty, t.utf8, t.color, t.width);
    return 0;
}

static void test_probe(void **state)
{
    const struct probe_row *row = *state;
    char *text = on_terminal(probe, row), expected[64];
    snprintf(expected, sizeof expected, "%d 1 1 %d %d", row->terminal, row->colored, row->width);
    assert_string_equal(text, expected);
    free(text);
}

struct progress_row {
    const char *name;
    int64_t total_b, done_b, elapsed_ns;
    int width;
    const char *expected;
};

#define SECOND INT64_C(1000000000)
#define MIB    INT64_C(1048576)

static const struct progress_row progress_rows[] = {
    {"progress: half", 4 * MIB, 2 * MIB, 2 * SECOND, 80, "trace.json.gz  50 %  1 MiB/s  ETA 3 s"},
    {"progress: too early for an end", 4 * MIB, MIB, SECOND / 4, 80,
     "trace.json.gz  25 %  4 MiB/s"},
    {"progress: minutes", 1000 * MIB, 10 * MIB, 10 * SECOND, 80,
     "trace.json.gz  1 %  1 MiB/s  ETA 17 min"},
    {"progress: done", MIB, MIB, SECOND, 80, "trace.json.gz  100 %  1 MiB/s"},
    {"progress: unknown total", -1, 3 * MIB, SECOND, 80, "trace.json.gz  3 MiB  3 MiB/s"},
    {"progress: more than the total", MIB, 3 * MIB, SECOND, 80, "trace.json.gz  3 MiB  3 MiB/s"},
    {"progress: nothing yet", MIB, 0, 0, 80, "trace.json.gz  0 %  0 B/s"},
    {"progress: narrow", 4 * MIB, 2 * MIB, 2 * SECOND, 34, "tra…on.gz  50 %  1 MiB/s  ETA 3 s"},
};

static void test_progress(void **state)
{
    const struct progress_row *row = *state;
    char name[] = "trace.json.gz";
    struct mt_progress p = {.name = name, .total_b = row->total_b, .width = row->width};
    struct mt_buf out = {0};
    mt_progress_text(&out, &p, row->done_b, row->elapsed_ns);
    assert_string_equal(out.s, row->expected);
    mt_buf_free(&out);
}

struct line_row {
    const char *name;
    const char *ci, *term;
    bool drawn;
};

static const struct line_row line_rows[] = {
    {"progress line: drawn and erased", NULL, "xterm", true},
    {"progress line: not in CI", "true", "xterm", false},
    {"progress line: CI is empty", "", "xterm", true},
    {"progress line: not on a dumb terminal", NULL, "dumb", false},
};

static int draw(const void *state)
{
    const struct line_row *row = state;
    set("CI", row->ci);
    set("TERM", row->term);
    struct mt_term term = mt_term_probe(MT_COLOR_AUTO);
    struct mt_progress p;
    mt_progress_start(&p, &term, "a\033.gz", 100);
    mt_progress_update(&p, 1);
    usleep(150 * 1000);
    for (int i = 0; i < 1000; i++)
        mt_progress_update(&p, 50);
    mt_progress_end(&p);
    mt_progress_end(&p);
    return 0;
}

static void test_line(void **state)
{
    const struct line_row *row = *state;
    char *text = on_terminal(draw, row);
    if (row->drawn) {
        static const char start[] = "\ra\\x1b.gz  50 %  ", end[] = "\033[K\r\033[K";
        assert_memory_equal(text, start, sizeof start - 1);
        assert_non_null(strstr(text, end));
        assert_ptr_equal(strstr(text, end), strchr(text, '\033'));
    } else {
        assert_string_equal(text, "");
    }
    free(text);
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    unsetenv("COLUMNS");
    static struct row_tests t;
    static const struct {
        const char *name;
    } early = {"pager: left early"}, forgotten = {"pager: ends at exit"};
    ROWS_ADD(&t, test_pager, pager_rows);
    rows_add(&t, test_left_early, &early, 1, sizeof early);
    rows_add(&t, test_ends_at_exit, &forgotten, 1, sizeof forgotten);
    ROWS_ADD(&t, test_probe, probe_rows);
    ROWS_ADD(&t, test_progress, progress_rows);
    ROWS_ADD(&t, test_line, line_rows);
    ROWS_ADD(&t, test_broken, broken_rows);
    return ROWS_RUN(&t, "term");
}
