/*
 * format.h - what a reader of an input format is.
 *
 * Adding a format: write formats/NAME.c with one `const struct mt_reader`, declare it below,
 * add it to formats[] in registry.c, a page to docs/formats and a fuzz target to tests/fuzz.
 */
#ifndef MT_FORMAT_H
#define MT_FORMAT_H

#include "lib/base/err.h"
#include "lib/input/stream.h"
#include "lib/model/recording.h"
#include <regex.h>

#define MT_PROBE_BYTES (64 * 1024)

/* Which C and C++ frames of recorded stacks call paths keep. */
enum mt_cpp_frames {
    MT_CPP_FOLD, /* those that say something: not interpreter, dispatcher, allocator, start-up */
    MT_CPP_ALL,
    MT_CPP_NONE, /* none, but for the first one of a path that begins with no other */
};

struct mt_read_opts {
    bool partial; /* keep what is complete of a file that is cut off */
    enum mt_cpp_frames cpp_frames;
    const regex_t *alloc_fn; /* further functions of heap logs that are allocators; NULL = none */
    void (*progress)(void *closure); /* called now and then, may be NULL */
    void *closure;
};

struct mt_reader {
    const char *name, *summary;
    enum mt_run_kind kind;
    bool binary; /* errors name no lines */
    /* 0..100 for the first n decompressed bytes: >= 90 certain, 20 possible, 0 no. Pure. */
    int (*probe)(const char *head, size_t n);
    /* Reads the whole stream into rec. Errors: MT_EINPUT, MT_ELIMIT, MT_EIO, with offset. */
    enum mt_status (*read)(struct mt_stream *in, const struct mt_read_opts *opts,
                           struct mt_recording *rec, struct mt_err *err);
};

/* Reads with a reader, and notes in rec which. As mt_reader.read. */
enum mt_status mt_reader_read(const struct mt_reader *reader, struct mt_stream *in,
                              const struct mt_read_opts *opts, struct mt_recording *rec,
                              struct mt_err *err);

extern const struct mt_reader mt_reader_pytorch_trace, mt_reader_cuda_snapshot, mt_reader_heaptrack,
    mt_reader_massif, mt_reader_dhat;

/*
 * The format whose probe scores highest on the head of the stream (nothing is consumed), be it
 * damaged or cut off behind that.
 * Errors: MT_EINPUT when none recognises it (the message says what the file seems to be) or two do
 * equally well; MT_EIO.
 */
enum mt_status mt_reader_of(struct mt_stream *in, const struct mt_reader **out, struct mt_err *err);

#endif
