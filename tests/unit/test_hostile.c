/* formats/: inputs made to exhaust memory or the stack. Each is written through a pipe by a child,
 * read as `memtool import` reads it, and must leave memory bounded and a clear answer behind. */
#include "formats/format.h"
#include "lib/base/mem.h"
#include "tests/unit/rows.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

/* What ASan keeps of freed memory is not ours. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=1";
}

#define MB       1000000
#define MOST_KIB (208 << 10) /* of resident memory, with the sanitizers' share */
#define EVENT(name)                                                                                \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":" \
    "1}"

struct hostile {
    const char *name;
    const char *head, *unit;
    size_t repeat_b; /* bytes of `unit` over and over between head and tail; "########" in it is
                        another number each time */
    const char *tail;
    bool gzip;
    uint64_t max_memory; /* 0: none */
    enum mt_status want;
    const char *says; /* part of the message */
    uint64_t ops, skipped;
};

static const struct hostile inputs[] = {
    {"brackets only", "", "[", MB, "", .want = MT_EINPUT, .says = "not events"},
    {"brackets under a key", "{\"a\":", "[", MB, "", .want = MT_EINPUT, .says = "nested too deep"},
    {"brackets in an event", "{\"traceEvents\":[{\"ph\":\"X\",\"args\":", "[", MB,
     "}," EVENT("a") "]}", .ops = 1, .skipped = 1},
    {"objects in an event", "{\"traceEvents\":[{\"ph\":\"X\",\"args\":", "{\"a\":", MB,
     "}," EVENT("a") "]}", .ops = 1, .skipped = 1},
    {"a 1 GB string in an event", "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"", "x", 1000 * MB,
     "\",\"ts\":1,\"dur\":1}," EVENT("a") "]}", .ops = 1, .skipped = 1},
    {"a 200 MB string of escapes", "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"", "\\u0041",
     200 * MB, "\",\"ts\":1,\"dur\":1}," EVENT("a") "]}", .ops = 1, .skipped = 1},
    {"a 200 MB number", "{\"traceEvents\":[{\"ph\":\"X\",\"ts\":", "7", 200 * MB,
     ",\"dur\":1}," EVENT("a") "]}", .ops = 1, .skipped = 1},
    {"a 200 MB string under a key", "{\"a\":\"", "x", 200 * MB, "\",\"traceEvents\":[]}",
     .want = MT_ELIMIT, .says = "longer than 16 MiB"},
    {"a string without an end", "{\"traceEvents\":[{\"name\":\"", "x", 200 * MB, "",
     .want = MT_EINPUT, .says = "cut off"},
    {"a 1 GB gzip of blanks in a trace", "{\"traceEvents\":[", " ", 1000 * MB, EVENT("a") "]}",
     .gzip = true, .ops = 1},
    {"a 200 MB gzip of blanks", "", " ", 200 * MB, "", .gzip = true, .want = MT_EINPUT,
     .says = "no known format"},
    {"a 200 MB gzip of one event", "{\"traceEvents\":[", EVENT("a") ",", 200 * MB, EVENT("a") "]}",
     .gzip = true, .max_memory = 20 << 20, .want = MT_ELIMIT, .says = "needs more than 20 MiB"},
    {"a 200 MB gzip of one string", "{\"traceEvents\":[{\"name\":\"", "aten::", 200 * MB,
     "\"}," EVENT("a") "]}", .gzip = true, .ops = 1, .skipped = 1},
    {"200 MB of names", "{\"traceEvents\":[", EVENT("a########") ",", 200 * MB, EVENT("a") "]}",
     .max_memory = 20 << 20, .want = MT_ELIMIT, .says = "needs more than 20 MiB"},
    {"200 MB of shapes", "{\"traceEvents\":[",
     "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,"
     "\"args\":{\"Input Dims\":[[########]]}},",
     200 * MB, EVENT("a") "]}", .max_memory = 20 << 20, .want = MT_ELIMIT,
     .says = "needs more than 20 MiB"},
    {"200 MB of threads", "{\"traceEvents\":[",
     "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1########,\"ts\":1,"
     "\"dur\":1},",
     200 * MB, EVENT("a") "]}", .max_memory = 20 << 20, .want = MT_ELIMIT,
     .says = "needs more than 20 MiB"},
    {"200 MB of threads' names", "{\"traceEvents\":[",
     "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":1########,\"args\":{\"name\":"
     "\"a########\"}},",
     200 * MB, EVENT("a") "]}", .max_memory = 20 << 20, .want = MT_ELIMIT,
     .says = "needs more than 20 MiB"},
    {"200 MB of events that begin", "{\"traceEvents\":[",
     "{\"ph\":\"B\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1},", 200 * MB, EVENT("a") "]}",
     .max_memory = 20 << 20, .want = MT_ELIMIT, .says = "needs more than 20 MiB"},
    {"200 MB of failed allocations", "{\"traceEvents\":[",
     "{\"ph\":\"i\",\"name\":\"[OutOfMemory]\",\"pid\":1,\"tid\":1,\"ts\":1,\"args\":{\"Bytes\":1,"
     "\"Device Type\":1,\"Device Id\":0}},",
     200 * MB, EVENT("a") "]}", .max_memory = 20 << 20, .want = MT_ELIMIT,
     .says = "needs more than 20 MiB"},
    {"200 MB of keys", "{", "\"a########\":0,", 200 * MB, "\"traceEvents\":[]}",
     .max_memory = 20 << 20, .want = MT_ELIMIT, .says = "needs more than 20 MiB"},
    {"60 MB of kinds of allocations", "v 10400 2\n", "a 1 0\n", 60 * MB, "+ 0\n# strings: 0\n",
     .max_memory = 20 << 20, .want = MT_ELIMIT, .says = "needs more than 20 MiB"},
    /* Pickles are measured by their size when no limit is asked for. */
    {"300 MB of dicts", "\x80\x04", "}", 300 * MB, "", .gzip = true, .want = MT_ELIMIT,
     .says = "more than any snapshot does"},
    {"300 MB of None", "\x80\x04", "N", 300 * MB, "", .gzip = true, .want = MT_ELIMIT,
     .says = "more than any snapshot does"},
    {"300 MB of None, remembered", "\x80\x04", "N\x94", 300 * MB, "", .gzip = true,
     .want = MT_ELIMIT, .says = "more than any snapshot does"},
    {"300 MB of None, remembered and dropped", "\x80\x04",
     "N\x94"
     "0",
     300 * MB, "", .gzip = true, .want = MT_ELIMIT, .says = "more than any snapshot does"},
    {"300 MB of lists of one", "\x80\x04", "(Nl", 300 * MB, "", .gzip = true, .want = MT_ELIMIT,
     .says = "more than any snapshot does"},
    {"300 MB of events that say nothing",
     "\x80\x04N\x94"
     "0\x8c\x06"
     "action\x94"
     "0](",
     "}(h\x01h\x01u", 300 * MB, "", .gzip = true, .want = MT_ELIMIT,
     .says = "more than any snapshot does"},
    /* A few bytes refer to what is there: once each. */
    {"one event two million times",
     "\x80\x04N\x94"
     "0\x8c\x06"
     "action\x94"
     "0}\x94(h\x01h\x01u0}(\x8c\x0d"
     "device_traces](](",
     "h\x02", 4 * MB, "eeu.", .want = MT_EINPUT, .says = "hold one more than once"},
    {"a list of 150,000 events for each of 20 devices",
     "\x80\x04N\x94"
     "0\x8c\x06"
     "action\x94"
     "0]\x94(",
     "}(h\x01h\x01u", MB,
     "e0}(\x8c\x0d"
     "device_traces]("
     "h\x02h\x02h\x02h\x02h\x02h\x02h\x02h\x02h\x02h\x02h\x02h\x02h\x02h\x02h\x02h\x02h\x02h\x02h"
     "\x02h\x02"
     "eu.",
     .want = MT_EINPUT, .says = "hold one more than once"},
    {"one segment a million times",
     "\x80\x04N\x94"
     "0}\x94(\x8c\x06"
     "blocks]\x8c\x0atotal_sizeK\x01u0}(\x8c\x08segments](",
     "h\x01", 2 * MB, "eu.", .want = MT_EINPUT, .says = "more than once"},
    {"one block four times in each segment",
     "\x80\x04N\x94"
     "0}\x94(\x8c\x05stateN\x8c\x04sizeK\x01u0}(\x8c\x08segments](",
     "}(\x8c\x06"
     "blocks](h\x01h\x01h\x01h\x01"
     "e\x8c\x0atotal_sizeK\x01u",
     2 * MB, "eu.", .want = MT_EINPUT, .says = "more than once"},
    {"300 MB of dicts, 60 MiB allowed", "\x80\x04", "}", 300 * MB, "", .gzip = true,
     .max_memory = 60 << 20, .want = MT_ELIMIT, .says = "needs more than 60 MiB"},
};

/* Writes n of the unit's bytes, counting on where it has a number. */
static bool write_units(const struct hostile *in, gzFile out, char *piece, size_t n)
{
    static unsigned number;
    size_t unit = strlen(in->unit);
    const char *digits = strstr(in->unit, "########");
    char text[9];
    for (size_t at = 0; digits && at < n; at += unit) {
        snprintf(text, sizeof text, "%08u", number++);
        for (const char *p = digits; p; p = strstr(p + 8, "########"))
            memcpy(piece + at + (p - in->unit), text, 8);
    }
    return gzwrite(out, piece, (unsigned)n) > 0;
}

/* The child: writes the input to fd. A reader that has seen enough ends it early. */
static void write_input(const struct hostile *in, int fd)
{
    char piece[1 << 16];
    size_t unit = strlen(in->unit), whole = sizeof piece / unit * unit;
    gzFile out = gzdopen(fd, in->gzip ? "wb1" : "wbT");
    for (size_t i = 0; i < whole; i++)
        piece[i] = in->unit[i % unit];
    gzputs(out, in->head);
    for (size_t left = in->repeat_b / unit * unit; left;) {
        size_t n = left < whole ? left : whole;
        if (!write_units(in, out, piece, n))
            _exit(0);
        left -= n;
    }
    gzputs(out, in->tail);
    gzclose(out);
    _exit(0);
}

static enum mt_status read_input(int fd, struct mt_recording *rec, struct mt_err *err)
{
    char path[32];
    struct mt_stream *s = NULL;
    const struct mt_reader *format = NULL;
    struct mt_read_opts opts = {0};
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    assert_int_equal(mt_stream_open(path, &s, err), MT_OK);
    close(fd);
    enum mt_status st = mt_reader_of(s, &format, err);
    if (st == MT_OK)
        st = mt_reader_read(format, s, &opts, rec, err);
    mt_stream_close(s);
    return st;
}

static void hostile(void **state)
{
    const struct hostile *in = *state;
    struct mt_recording rec;
    struct mt_err err = MT_ERR_INIT;
    struct rusage used;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        write_input(in, ends[1]);
    }
    close(ends[1]);
    mt_rec_init(&rec);
    rec.max_bytes = in->max_memory;
    enum mt_status st = read_input(ends[0], &rec, &err);
    waitpid(child, NULL, 0);
    getrusage(RUSAGE_SELF, &used);
    assert_int_equal(st, in->want);
    assert_int_equal(st, err.code);
    if (in->says && !strstr(err.what, in->says))
        assert_string_equal(err.what, in->says);
    if (st == MT_OK) {
        assert_int_equal(rec.op_n, in->ops);
        assert_int_equal(rec.notes[MT_NOTE_SKIPPED].count, in->skipped);
    }
    assert_in_range(used.ru_maxrss, 1, MOST_KIB);
    mt_rec_free(&rec);
}

int main(void)
{
    static struct row_tests tests;
    ROWS_ADD(&tests, hostile, inputs);
    return ROWS_RUN(&tests, "hostile inputs");
}
