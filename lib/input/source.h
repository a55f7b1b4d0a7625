/*
 * source.h - the raw bytes of an input, as stored: a file, standard input or memory.
 *
 * Internal to the stream: one thread (the decoding one) takes the bytes; any other may stop it and
 * ask for its progress.
 */
#ifndef MT_SOURCE_H
#define MT_SOURCE_H

#include "lib/base/err.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_source {
    const uint8_t *next; /* the n raw bytes at hand; a decoder advances both with mt_source_take */
    size_t n;
    const char *noun; /* "file" or "input": how a message calls it */
    /* Private to source.c. */
    char *name; /* for messages; NULL for memory */
    int fd;     /* -1 for memory */
    bool owns_fd;
    int wake_fd; /* becomes readable when the source is stopped, so that no read can hang */
    uint8_t *buf;
    const uint8_t *rest; /* memory not yet at hand */
    size_t rest_n;
    uint64_t total;             /* size of the whole, 0 = unknown */
    atomic_uint_least64_t done; /* bytes obtained so far */
    atomic_bool stopped;
};

/*
 * Opens path ("-" is standard input). Errors: MT_EIO with the path named; the source then needs no
 * close. The second borrows bytes until mt_source_close.
 */
enum mt_status mt_source_open(struct mt_source *src, const char *path, struct mt_err *err);
void mt_source_open_memory(struct mt_source *src, const void *bytes, size_t n);
void mt_source_close(struct mt_source *src);

/* Makes every read under way or yet to come return MT_EINTERRUPT. From any thread. */
void mt_source_stop(struct mt_source *src);

/*
 * Has at least `min` bytes at hand (min <= 16), or all that are left: n < min means that the input
 * ends behind them. Bytes at hand stay. Errors: MT_EIO; MT_EINTERRUPT (err untouched) once stopped.
 */
enum mt_status mt_source_fill(struct mt_source *src, size_t min, struct mt_err *err);

/* Moves some bytes, at least one, to out; *got == 0 is the end. Errors: as mt_source_fill. */
enum mt_status mt_source_read(struct mt_source *src, uint8_t *out, size_t cap, size_t *got,
                              struct mt_err *err);

static inline void mt_source_take(struct mt_source *src, size_t n)
{
    src->next += n;
    src->n -= n;
}

/* Bytes obtained so far; from any thread. */
static inline uint64_t mt_source_done(const struct mt_source *src)
{
    return atomic_load_explicit(&src->done, memory_order_relaxed);
}

/* Raw offset of the first byte at hand. */
static inline uint64_t mt_source_offset(const struct mt_source *src)
{
    return mt_source_done(src) - src->n;
}

/* Names the input in a failure just recorded. */
void mt_source_name_error(const struct mt_source *src, struct mt_err *err);

#endif
