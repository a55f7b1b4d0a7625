/*
 * format.h - what a reader of an input format is.
 *
 * Adding a format: write formats/NAME.c with one `const struct mt_reader`, name it in MT_READERS
 * below, and add a page to docs/formats and a fuzz target to tests/fuzz.
 */
#ifndef MT_FORMAT_H
#define MT_FORMAT_H

#include "formats/text_pattern.h"
#include "lib/base/err.h"
#include "lib/input/json_walk.h"
#include "lib/input/lines.h"
#include "lib/input/symbols.h"
#include "lib/model/recording.h"
#include <regex.h>

#define MT_PROBE_BYTES (64 * 1024)
#define MT_PROBE_SURE  93

/* Which C and C++ frames of recorded stacks call paths keep. */
enum mt_cpp_frames {
    MT_CPP_FOLD, /* those that say something: not interpreter, dispatcher, allocator, start-up */
    MT_CPP_ALL,
    MT_CPP_NONE, /* none, but for the first one of a path that begins with no other */
};

/* What the numbers of a file are that does not say it (formats/meaning.h). */
enum mt_meaning {
    MT_MEANS_UNSAID,
    MT_MEANS_AT_END,
    MT_MEANS_AT_PEAK,
    MT_MEANS_ALLOCATED,
    MT_MEANS_TEMPORARY,
    MT_MEANS_N
};

/* What is kept apart of heap logs, as a root of call paths; else it adds up. Bits. */
enum mt_split { MT_SPLIT_THREAD = 1, MT_SPLIT_LABEL = 2, MT_SPLIT_SIZE = 4, MT_SPLIT_ALL = 7 };

/* Who wrote a log of text, where it does not say so. */
enum mt_writers { MT_WRITERS_UNSAID, MT_WRITERS_ONE, MT_WRITERS_SEVERAL, MT_WRITERS_N };

struct mt_read_opts {
    unsigned split; /* enum mt_split */
    bool partial;   /* keep what is complete of a file that is cut off */
    enum mt_cpp_frames cpp_frames;
    bool library_sites; /* lines of Python libraries are sites like the user's own */
    enum mt_meaning values;
    enum mt_writers processes;
    const regex_t *alloc_fn; /* further functions of heap logs that are allocators; NULL = none */
    const struct mt_text_pattern
        *pattern;                    /* where figures stand in a text; NULL = by their names */
    struct mt_symbols *symbols;      /* knows the functions at places in code; NULL = nobody does */
    void (*progress)(void *closure); /* called now and then, may be NULL */
    void *closure;
};

struct mt_reader {
    const char *name; /* as in MT_READERS */
    enum mt_run_kind kind;
    bool binary; /* errors name no lines */
    /* 0..100 for the first n decompressed bytes: >= 90 certain, 20 possible, 0 no. Pure. */
    int (*probe)(const char *head, size_t n);
    bool reads_lines; /* probe takes each line apart, and scores below MT_PROBE_SURE: it is asked
                         only where no other is that sure */
    /* Reads the whole stream into rec. Errors: MT_EINPUT, MT_ELIMIT, MT_EIO, with offset unless no
     * place in the file is at fault. */
    enum mt_status (*read)(struct mt_stream *in, const struct mt_read_opts *opts,
                           struct mt_recording *rec, struct mt_err *err);
};

/* Reads with a reader, and notes in rec which. As mt_reader.read. */
enum mt_status mt_reader_read(const struct mt_reader *reader, struct mt_stream *in,
                              const struct mt_read_opts *opts, struct mt_recording *rec,
                              struct mt_err *err);

/*
 * The input ends early, or makes no sense from there on, at byte `offset`. With --partial what is
 * there is kept: MT_OK, with MT_NOTE_CUT. Else MT_EINPUT; the message is err's own if it has one,
 * and `what` if not; so it is with the hint.
 */
enum mt_status mt_reader_cut(const struct mt_read_opts *opts, struct mt_recording *rec,
                             uint64_t offset, const char *what, struct mt_err *err);

/*
 * What was recorded with MT_FAIL and MT_EINPUT is why the file is refused. Adds where (byte
 * `offset`; -1: at no place in particular), that nothing was imported, and `hint`: what to do.
 * Returns MT_EINPUT.
 */
enum mt_status mt_reader_refuse(int64_t offset, const char *hint, struct mt_err *err);

/* mt_reader_refuse of a file in which a second one begins. what: "heap profiles". */
enum mt_status mt_reader_two(const char *what, uint64_t offset, struct mt_err *err);

/* The next whole line of a text; *any false: there is none. A last one without its end, if it has
 * more than what moves a terminal's cursor, and damage, are where the file ends early
 * (mt_reader_cut). Errors: as mt_lines_next. */
enum mt_status mt_reader_line(struct mt_lines *lines, struct mt_line *line,
                              const struct mt_read_opts *opts, struct mt_recording *rec, bool *any,
                              struct mt_err *err);

/* A JSON document is read: goes to the end of the input, and notes what stands there
 * (MT_NOTE_TRAILING). Errors: as mt_json_walk_rest. */
enum mt_status mt_reader_json_rest(struct mt_json_walk *walk, struct mt_recording *rec,
                                   struct mt_err *err);

/* A process log is read: MT_EINPUT where it held no value of memory. hint: why that may be. */
enum mt_status mt_reader_found(const struct mt_recording *rec, const char *hint,
                               struct mt_err *err);

/* All readers: X(id, name, what it reads). */
#define MT_READERS(X)                                                                              \
    X(pytorch_trace, "pytorch-trace", "trace of torch.profiler: prof.export_chrome_trace()")       \
    X(cuda_snapshot, "cuda-snapshot", "torch.cuda.memory._dump_snapshot()")                        \
    X(heaptrack, "heaptrack", "heaptrack's .zst or .gz, raw or not, file versions 1 to 3")         \
    X(massif, "massif", "valgrind --tool=massif")                                                  \
    X(dhat, "dhat", "valgrind --tool=dhat, and what Rust's dhat writes")                           \
    X(lsan, "lsan", "LeakSanitizer's report, or AddressSanitizer's at exit")                       \
    X(memcheck, "memcheck", "the leaks that valgrind reports, as text")                            \
    X(memcheck_xml, "memcheck-xml", "the same as XML")                                             \
    X(xtree, "xtree", "valgrind --xtree-memory=full, --xtree-leak=yes")                            \
    X(mtrace, "mtrace", "MALLOC_TRACE of glibc's mtrace()")                                        \
    X(pprof, "pprof", "heap profiles in pprof's format: Go's pprof.WriteHeapProfile()")            \
    X(heap_profile, "heap-profile", "heap profiles as text: jemalloc, gperftools, Go's debug=1")   \
    X(pytorch_timeline, "pytorch-timeline",                                                        \
      "prof.export_memory_timeline(), as .json or .raw.json.gz")                                   \
    X(tracemalloc, "tracemalloc", "Snapshot.dump() of Python's tracemalloc")                       \
    X(memray, "memray", "memray run, file versions 6 to 13")                                       \
    X(memray_csv, "memray-csv", "memray transform csv, of any kind")                               \
    X(gprof2dot, "gprof2dot", "memray transform gprof2dot")                                        \
    X(strace, "strace", "strace of the calls that map memory")                                     \
    X(ltrace, "ltrace", "ltrace of malloc() and its family")                                       \
    X(android_heap, "android-heap", "am dumpheap -n of Android")                                   \
    X(android_allocs, "android-allocs", "record_allocs of Android's malloc_debug")                 \
    X(memleak, "memleak", "what bcc's memleak prints")                                             \
    X(v8_profile, "v8-profile", ".heapprofile of V8: node --heap-prof, Chrome's sampling")         \
    X(memray_stats, "memray-stats", "memray stats --json")                                         \
    X(collapsed, "collapsed", "collapsed stacks: heaptrack_print -F, jeprof --collapsed")          \
    X(mprof, "mprof", "mprof run of Python's memory_profiler")                                     \
    X(psrecord, "psrecord", "psrecord --log")                                                      \
    X(pidstat, "pidstat", "pidstat -r of sysstat")                                                 \
    X(proc_text, "proc-text", "/proc/PID/smaps, smaps_rollup or status, again and again")          \
    X(docker_stats, "docker-stats", "docker stats, again and again, or --format json")             \
    X(prometheus_text, "prometheus", "metrics of Prometheus: scrapes, or values with times")       \
    X(prometheus_json, "prometheus-json", "/api/v1/query_range of Prometheus")                     \
    X(memory_text, "memory-text", "memory that a program prints by itself; /usr/bin/time -v")      \
    X(csv, "csv", "rows of your own: events, sums of stacks or a series, with a header row")       \
    X(jsonl, "jsonl", "the same as JSON, an object for each row")

#define MT_READER_DECLARE(id, name, reads) extern const struct mt_reader mt_reader_##id;
MT_READERS(MT_READER_DECLARE)

/*
 * The format whose probe scores highest on the head of the stream (nothing is consumed), be it
 * damaged or cut off behind that.
 * Errors: MT_EINPUT when none recognises it (the message says what the file seems to be) or two do
 * equally well; MT_EIO.
 */
enum mt_status mt_reader_of(struct mt_stream *in, const struct mt_reader **out, struct mt_err *err);
/* A reader that has hardly a doubt, found faster than which one is best; NULL: none. Nothing is
 * consumed. */
const struct mt_reader *mt_reader_likely(struct mt_stream *in);

#endif
