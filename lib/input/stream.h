/*
 * stream.h - the bytes of an input file, decompressed, one window at a time.
 *
 * Plain, gzip (any number of members), zstd and LZ4 (any number of frames) inputs look the same;
 * which one it is, the first bytes say, never the name. Decompression runs in its own thread, a few
 * blocks ahead of the reader. Memory use is bounded whatever the input's size. A byte order mark of
 * UTF-8 at the very beginning is passed over: offsets count it, no reader is shown it.
 */
#ifndef MT_STREAM_H
#define MT_STREAM_H

#include "lib/base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MT_STREAM_PAD      64          /* readable zero bytes behind every window */
#define MT_STREAM_MAX_PEEK (16u << 20) /* largest window that can be asked for */
/* A compressed file of known size may decompress to this, and as much for each of its bytes, beside
 * what mt_stream_used says. */
#define MT_STREAM_LEAST      (UINT64_C(256) << 20)
#define MT_STREAM_FOR_A_BYTE UINT64_C(256)

struct mt_stream;

/*
 * Opens path for reading; "-" is standard input. On success *out is owned by the caller
 * (mt_stream_close). Errors: MT_EIO (missing, unreadable, a folder), with the file named.
 */
enum mt_status mt_stream_open(const char *path, struct mt_stream **out, struct mt_err *err);

/* The same over bytes in memory (compressed or not), borrowed until close. For tests and fuzzing.
 */
enum mt_status mt_stream_open_memory(const void *bytes, size_t n, struct mt_stream **out,
                                     struct mt_err *err);

/* Accepts NULL. Also stops the decompressing thread, wherever it is. */
void mt_stream_close(struct mt_stream *s);

/*
 * Points *p at the unconsumed bytes: at least `min` of them unless the input ends before, and
 * *n says how many. Behind them stand MT_STREAM_PAD zero bytes. Does not advance. *n < min means
 * that the input ends there (still MT_OK). Valid until the next call on s. min <=
 * MT_STREAM_MAX_PEEK. Errors: MT_EIO (read error), MT_EINPUT (damaged or cut-off data), MT_ELIMIT
 * (a compressed file that stands for more than files of its size do). The bytes decoded before the
 * damage are delivered first; the error comes when the window cannot be filled to `min`, with the
 * compressed file's byte offset in the message.
 */
enum mt_status mt_stream_peek(struct mt_stream *s, size_t min, const char **p, size_t *n,
                              struct mt_err *err);

void mt_stream_consume(struct mt_stream *s, size_t n); /* n <= the last *n of peek */

/* n bytes of the input are what it is there for, and took no time to speak of: they do not count
 * against what a compressed file may decompress to. */
void mt_stream_used(struct mt_stream *s, uint64_t n);

/*
 * For a reader that could not make sense of the bytes: goes on to the end of a compressed input
 * and returns its failure if those data are damaged, which then is why. MT_OK when they are sound
 * and for plain input, which is not read any further. The window is gone.
 */
enum mt_status mt_stream_check_rest(struct mt_stream *s, struct mt_err *err);

uint64_t mt_stream_offset(const struct mt_stream *s); /* decompressed bytes consumed so far */

/* Raw (compressed) bytes read so far, and the raw size of the input or 0 if unknown (a pipe): for
 * progress. Safe to call while the thread runs. */
void mt_stream_progress(const struct mt_stream *s, uint64_t *done, uint64_t *total);

/* 128-bit content hash (XXH3) of all decompressed bytes, as 32 hex digits and NUL. Only valid once
 * peek has reported the end of the input. The same content hashes alike however it is compressed.
 */
void mt_stream_hash(const struct mt_stream *s, char hex[33]);

/*
 * 1-based line number of decompressed byte `offset` in the file at path, by reading it again;
 * 0 if that cannot be done ("-", or the file is gone). For error messages only.
 */
int64_t mt_stream_line_of(const char *path, uint64_t offset);

#endif
