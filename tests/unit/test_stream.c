/* lib/input/stream.h: what comes out, and in which windows. */
#include "lib/input/stream.h"
#include "tests/unit/encode.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/memtool-test-stream-XXXXXX"; /* a file for each test to overwrite */

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_file(const struct mt_buf *b)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(b->s, 1, b->n, f), b->n);
    assert_int_equal(fclose(f), 0);
}

/* ---- standard input, written in pieces by a thread ---- */

struct feed {
    const struct mt_buf *b;
    size_t piece;
    int fd, saved_stdin;
    pthread_t thread;
};

static void *feed(void *arg)
{
    struct feed *f = arg;
    for (size_t i = 0; i < f->b->n; i += f->piece) {
        size_t n = f->piece < f->b->n - i ? f->piece : f->b->n - i;
        assert_int_equal(write(f->fd, f->b->s + i, n), n);
    }
    close(f->fd);
    return NULL;
}

static void replace_stdin(struct feed *f)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    f->fd = fds[1];
    f->saved_stdin = dup(STDIN_FILENO);
    dup2(fds[0], STDIN_FILENO);
    close(fds[0]);
}

static void restore_stdin(struct feed *f)
{
    if (f->saved_stdin >= 0) {
        dup2(f->saved_stdin, STDIN_FILENO);
        close(f->saved_stdin);
    } else {
        close(STDIN_FILENO);
    }
}

/* ---- reading ---- */

static struct mt_stream *open_memory(const struct mt_buf *b)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_stream *s = NULL;
    assert_int_equal(mt_stream_open_memory(b->s, b->n, &s, &err), MT_OK);
    return s;
}

static struct mt_stream *open_path(const char *name)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_stream *s = NULL;
    assert_int_equal(mt_stream_open(name, &s, &err), MT_OK);
    return s;
}

/*
 * Reads s to its end or failure, asking for `min` bytes and consuming 1..step at a time, and checks
 * every byte against want (n bytes), every window's size and padding. Returns the bytes consumed.
 */
static size_t read_all(struct mt_stream *s, const char *want, size_t n, size_t min, size_t step,
                       struct mt_err *err)
{
    static const char zeros[MT_STREAM_PAD];
    uint32_t seed = 7;
    size_t at = 0, base = mt_stream_offset(s);
    for (;;) {
        const char *p;
        size_t got;
        enum mt_status st = mt_stream_peek(s, min, &p, &got, err);
        assert_int_equal(st, err->code);
        assert_true(at + got <= n);
        assert_true(got >= min || st != MT_OK || at + got == n);
        assert_memory_equal(p + got, zeros, MT_STREAM_PAD);
        if (got)
            assert_int_equal(p[got - 1], want[at + got - 1]);
        if (got == 0)
            return at;
        seed = seed * 1664525 + 1013904223;
        size_t k = 1 + (seed >> 4) % step;
        k = k < got ? k : got;
        assert_int_equal(memcmp(p, want + at, k), 0);
        mt_stream_consume(s, k);
        at += k;
        assert_int_equal(mt_stream_offset(s), base + at);
    }
}

static void check_whole(struct mt_stream *s, size_t n, size_t raw_n, char hex[33])
{
    struct mt_err err = MT_ERR_INIT;
    uint64_t done, total;
    assert_int_equal(read_all(s, text(n), n, 1, n + 1, &err), n);
    assert_int_equal(err.code, MT_OK);
    mt_stream_progress(s, &done, &total);
    assert_int_equal(done, raw_n);
    assert_true(total == raw_n || total == 0);
    mt_stream_hash(s, hex);
    mt_stream_close(s);
}

static void encodings_and_sources(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 3, 1000, 262144, 300001, 3000000};
    static const size_t pieces[] = {1, 7, 4096, 65536};
    for (size_t i = 0; i < MT_ARRAY_LEN(sizes); i++) {
        char first[33] = "";
        for (int e = PLAIN; e < ENCODINGS; e++) {
            size_t n = sizes[i];
            struct mt_buf b = encode(e, text(n), n);
            char hex[33];
            check_whole(open_memory(&b), n, b.n, hex);
            if (e == PLAIN)
                strcpy(first, hex);
            assert_string_equal(hex, first);
            write_file(&b);
            check_whole(open_path(path), n, b.n, hex);
            assert_string_equal(hex, first);
            for (size_t k = b.n > 100000 ? 2 : 0; k < MT_ARRAY_LEN(pieces); k++) {
                struct feed f = {.b = &b, .piece = pieces[k]};
                replace_stdin(&f);
                assert_int_equal(pthread_create(&f.thread, NULL, feed, &f), 0);
                check_whole(open_path("-"), n, b.n, hex);
                assert_string_equal(hex, first);
                pthread_join(f.thread, NULL);
                restore_stdin(&f);
            }
            mt_buf_free(&b);
        }
        if (sizes[i] == 0)
            assert_string_equal(first, "99aa06d3014798d86001c324468d497f"); /* xxh128sum's */
    }
}

static void windows(void **state)
{
    (void)state;
    static const size_t mins[] = {1,     2,      64,     4096,   32767,  32768,   32769,
                                  65536, 262143, 262144, 262145, 300000, 1000000, 5000000};
    static const size_t steps[] = {40, 3000, 40000, 300000, 2000000};
    static const size_t sizes[] = {262144, 2000000, 3000007};
    for (size_t i = 0; i < MT_ARRAY_LEN(sizes); i++) {
        struct mt_buf b = encode(i == 1 ? GZIP : PLAIN, text(sizes[i]), sizes[i]);
        for (size_t m = 0; m < MT_ARRAY_LEN(mins); m++)
            for (size_t k = 0; k < MT_ARRAY_LEN(steps); k++) {
                struct mt_err err = MT_ERR_INIT;
                struct mt_stream *s = open_memory(&b);
                assert_int_equal(read_all(s, text(sizes[i]), sizes[i], mins[m], steps[k], &err),
                                 sizes[i]);
                assert_int_equal(err.code, MT_OK);
                mt_stream_close(s);
            }
        mt_buf_free(&b);
    }
}

/* Windows that grow, as for a string whose end is not in sight, then shrink again. */
static void growing_windows(void **state)
{
    (void)state;
    size_t n = 20u << 20, got, at = 0;
    const char *want = text(n), *p;
    struct mt_buf b = {.s = (char *)want, .n = n};
    struct mt_err err = MT_ERR_INIT;
    struct mt_stream *s = open_memory(&b);
    for (size_t min = 1; min <= MT_STREAM_MAX_PEEK; min = min * 2 + (min & 1)) {
        assert_int_equal(mt_stream_peek(s, min, &p, &got, &err), MT_OK);
        assert_true(got >= min);
        assert_memory_equal(p, want + at, got);
        mt_stream_consume(s, 1000);
        at += 1000;
    }
    assert_int_equal(mt_stream_peek(s, got + 1, &p, &got, &err), MT_ELIMIT);
    assert_string_equal(err.what, "one item is larger than 16 MiB");
    err = (struct mt_err)MT_ERR_INIT;
    assert_int_equal(mt_stream_peek(s, MT_STREAM_MAX_PEEK, &p, &got, &err), MT_OK);
    assert_memory_equal(p, want + at, got);
    mt_stream_consume(s, got - 10);
    at += got - 10;
    assert_int_equal(read_all(s, want + at, n - at, 100, 5000, &err), n - at);
    mt_stream_close(s);
}

/* Whatever the thread is at, closing ends it, and soon. */
static void close_early(void **state)
{
    (void)state;
    struct mt_buf b = encode(GZIP, text(5000000), 5000000);
    struct mt_err err = MT_ERR_INIT;
    const char *p;
    size_t n;
    alarm(60);
    mt_stream_close(NULL);
    for (int i = 0; i < 200; i++)
        mt_stream_close(open_memory(&b));
    for (size_t min = 1; min <= 1000000; min *= 10) {
        struct mt_stream *s = open_memory(&b);
        assert_int_equal(mt_stream_peek(s, min, &p, &n, &err), MT_OK);
        mt_stream_close(s);
    }
    struct mt_stream *full = open_memory(&b);
    usleep(50000); /* until all blocks are filled */
    mt_stream_close(full);
    struct feed silent = {0};
    replace_stdin(&silent);
    for (int i = 0; i < 20; i++) {
        struct mt_stream *s = open_path("-");
        usleep(i % 2 ? 2000 : 0); /* until it waits in a read */
        mt_stream_close(s);
    }
    close(silent.fd);
    restore_stdin(&silent);
    alarm(0);
    mt_buf_free(&b);
}

static void cannot_open(void **state)
{
    (void)state;
    static const struct {
        const char *path, *what, *hint;
    } cases[] = {
        {"/no/such/trace.json", "cannot open the file: No such file or directory",
         "Check the name"},
        {"/tmp", "cannot open the file: Is a directory", "Name a file in that folder"},
        {"", "cannot open the file: No such file or directory", "Nothing was imported"},
        {"/dev/null/x", "cannot open the file: Not a directory", "Nothing was imported"},
    };
    for (size_t i = 0; i < MT_ARRAY_LEN(cases); i++) {
        struct mt_err err = MT_ERR_INIT;
        struct mt_stream *s = NULL;
        assert_int_equal(mt_stream_open(cases[i].path, &s, &err), MT_EIO);
        assert_null(s);
        assert_string_equal(err.what, cases[i].what);
        assert_string_equal(err.input, cases[i].path);
        assert_non_null(strstr(err.hint, cases[i].hint));
        assert_int_equal(err.offset, -1);
    }
}

/* Opens, but cannot be read: /proc/self/mem has no page at 0. */
static void cannot_read(void **state)
{
    (void)state;
    struct mt_err err = MT_ERR_INIT;
    struct mt_stream *s = open_path("/proc/self/mem");
    const char *p;
    size_t n;
    assert_int_equal(mt_stream_peek(s, 1, &p, &n, &err), MT_EIO);
    assert_string_equal(err.what, "cannot read the file at byte 0: Input/output error");
    assert_string_equal(err.input, "/proc/self/mem");
    mt_stream_close(s);
}

static void line_of(void **state)
{
    (void)state;
    static const char s[] = "one\ntwo\n\nfour";
    static const struct {
        uint64_t offset;
        int64_t line;
    } cases[] = {{0, 1}, {3, 1}, {4, 2}, {7, 2}, {8, 3}, {9, 4}, {13, 4}, {14, 0}, {1000000, 0}};
    for (int e = PLAIN; e < ENCODINGS; e++) {
        struct mt_buf b = encode(e, s, sizeof s - 1);
        write_file(&b);
        for (size_t i = 0; i < MT_ARRAY_LEN(cases); i++)
            assert_int_equal(mt_stream_line_of(path, cases[i].offset), cases[i].line);
        mt_buf_free(&b);
    }
    assert_int_equal(mt_stream_line_of("-", 0), 0);
    assert_int_equal(mt_stream_line_of("/no/such/trace.json", 0), 0);
    assert_int_equal(mt_stream_line_of("/tmp", 0), 0);
    struct mt_buf b = encode(GZIP, text(1000000), 1000000);
    int64_t lines = 1;
    for (size_t i = 0; i < 900000; i++)
        lines += text(1000000)[i] == '\n';
    write_file(&b);
    assert_int_equal(mt_stream_line_of(path, 900000), lines);
    mt_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodings_and_sources),
        cmocka_unit_test(windows),
        cmocka_unit_test(growing_windows),
        cmocka_unit_test(close_early),
        cmocka_unit_test(cannot_open),
        cmocka_unit_test(cannot_read),
        cmocka_unit_test(line_of),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
