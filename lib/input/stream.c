#include "lib/input/stream.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/input/decode.h"
#include "lib/input/source.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BLOCKS      6
#define BLOCK_BYTES ((size_t)256 << 10)
#define HEADROOM    ((size_t)32 << 10) /* in front of a block, for what the reader left over */
#define BLOCK_SPAN  (HEADROOM + BLOCK_BYTES + MT_STREAM_PAD)

struct block {
    uint8_t *memory; /* BLOCK_SPAN bytes, allocated when first used: most inputs are small */
    uint8_t *data;   /* behind the headroom */
    size_t n;
};

struct mt_stream {
    /* The reader's. The window lies in the block taken last, or in `side`, where windows are put
     * together that are longer than a block. */
    const char *p;
    size_t n;
    uint64_t offset;
    bool begun;     /* bytes were asked for */
    uint64_t taken; /* blocks */
    bool in_side;
    char *side;
    size_t side_cap;

    /* Both threads', under the lock. Block number i stands in blocks[i % BLOCKS]. */
    pthread_mutex_t lock;
    pthread_cond_t was_filled, was_freed;
    uint64_t filled, freed; /* blocks */
    uint64_t used;          /* bytes that may be any number */
    bool stop;              /* the reader wants no more */
    bool compressed;        /* set before the first block comes */
    bool done;              /* no more blocks will come; what follows is set */
    struct mt_err failed;   /* why not; MT_OK is the end of the input */
    char hex[33];

    /* The decoding thread's. */
    struct block blocks[BLOCKS];
    struct mt_source src;
    pthread_t thread;
};

/* ---- the decoding thread ---- */

static struct block *wait_for_room(struct mt_stream *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->filled - s->freed == BLOCKS && !s->stop)
        pthread_cond_wait(&s->was_freed, &s->lock);
    struct block *b = s->stop ? NULL : &s->blocks[s->filled % BLOCKS];
    pthread_mutex_unlock(&s->lock);
    if (b && !b->memory) {
        b->memory = mt_realloc(NULL, BLOCK_SPAN);
        b->data = b->memory + HEADROOM;
    }
    return b;
}

static void publish(struct mt_stream *s)
{
    pthread_mutex_lock(&s->lock);
    s->filled++;
    pthread_cond_signal(&s->was_filled);
    pthread_mutex_unlock(&s->lock);
}

static void publish_end(struct mt_stream *s, const struct mt_hash *hash, const struct mt_err *err)
{
    pthread_mutex_lock(&s->lock);
    if (hash)
        mt_hash_hex(hash, s->hex);
    s->failed = *err;
    s->done = true;
    pthread_cond_signal(&s->was_filled);
    pthread_mutex_unlock(&s->lock);
}

/* A few bytes may stand for any number: of a file whose size is known that is bounded. */
static enum mt_status check_length(struct mt_stream *s, const struct mt_decoder *d,
                                   struct mt_err *err)
{
    pthread_mutex_lock(&s->lock);
    const uint64_t counted = s->filled * BLOCK_BYTES - s->used;
    pthread_mutex_unlock(&s->lock);
    if (!d->detect || !s->src.total ||
        counted / MT_STREAM_FOR_A_BYTE <= MT_STREAM_LEAST / MT_STREAM_FOR_A_BYTE + s->src.total)
        return MT_OK;
    enum mt_status st =
        MT_FAIL(err, MT_ELIMIT,
                "decompresses to more than %" PRIu64 " MiB, more than a file of its size should",
                (MT_STREAM_LEAST + MT_STREAM_FOR_A_BYTE * s->src.total) >> 20);
    mt_source_name_error(&s->src, err);
    mt_err_hint(err, "Nothing was imported. What a pipe brings may be of any length: zstd -dc FILE "
                     "(or gzip, lz4) | memtool import -");
    return st;
}

static enum mt_status decode_all(struct mt_stream *s, const struct mt_decoder *d, void *state,
                                 struct mt_hash *hash, struct mt_err *err)
{
    if (!state || !hash)
        return MT_FAIL(err, MT_ELIMIT, "there is not enough memory to read the %s", s->src.noun);
    for (;;) {
        struct block *b = wait_for_room(s);
        if (!b)
            return MT_EINTERRUPT;
        enum mt_status st = d->decode(state, &s->src, b->data, BLOCK_BYTES, &b->n, err);
        memset(b->data + b->n, 0, MT_STREAM_PAD);
        bool last = st != MT_OK || b->n < BLOCK_BYTES;
        mt_hash_add(hash, b->data, b->n);
        if (b->n)
            publish(s);
        if (last)
            return st;
        MT_TRY(check_length(s, d, err));
    }
}

static void *run(void *arg)
{
    struct mt_stream *s = arg;
    struct mt_err err = MT_ERR_INIT;
    struct mt_hash *hash = mt_hash_new();
    if (mt_source_fill(&s->src, MT_DECODER_HEAD, &err) == MT_OK) {
        const struct mt_decoder *d = mt_decoder_find(s->src.next, s->src.n);
        pthread_mutex_lock(&s->lock);
        s->compressed = d->detect != NULL;
        pthread_mutex_unlock(&s->lock);
        void *state = d->open();
        decode_all(s, d, state, hash, &err);
        d->close(state);
    }
    publish_end(s, hash, &err);
    mt_hash_free(hash);
    return NULL;
}

/* ---- the reader ---- */

/* At the end of the input, while what was read of it is put to use: all blocks but that of the
 * window. */
static void free_read(struct mt_stream *s)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        const char *at = (const char *)s->blocks[i].memory;
        if (at && !s->in_side && s->p >= at && s->p < at + BLOCK_SPAN)
            continue;
        free(s->blocks[i].memory);
        s->blocks[i].memory = NULL;
    }
}

/* The next block, waited for; NULL when there is none. */
static const struct block *take_block(struct mt_stream *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->taken == s->filled && !s->done)
        pthread_cond_wait(&s->was_filled, &s->lock);
    const struct block *b = s->taken < s->filled ? &s->blocks[s->taken % BLOCKS] : NULL;
    pthread_mutex_unlock(&s->lock);
    if (b)
        s->taken++;
    else
        free_read(s);
    return b;
}

/* Gives back all blocks taken so far, but for the last `keep`. */
static void free_blocks(struct mt_stream *s, unsigned keep)
{
    pthread_mutex_lock(&s->lock);
    s->freed = s->taken - keep;
    /* Not for each block: waking a thread costs more than the reader needs for half of them. */
    if (s->filled - s->freed <= BLOCKS / 2)
        pthread_cond_signal(&s->was_freed);
    pthread_mutex_unlock(&s->lock);
}

/* Puts a short window in front of the block behind it. */
static void move_to_block(struct mt_stream *s, const struct block *b)
{
    char *start = (char *)b->data - s->n;
    memcpy(start, s->p, s->n);
    s->p = start;
    s->n += b->n;
    s->in_side = false;
    free_blocks(s, 1);
}

/* Has the window in the side buffer, with `extra` bytes and the padding free behind it. */
static void move_to_side(struct mt_stream *s, size_t extra)
{
    size_t at = s->in_side ? (size_t)(s->p - s->side) : 0;
    size_t need = s->n + extra + MT_STREAM_PAD;
    if (s->in_side && at + need <= s->side_cap)
        return;
    /* Twice what is needed, and moving to the front only when half is consumed: no byte is moved
     * more than a few times, whatever sizes are asked for. */
    if (need <= s->side_cap && (!s->in_side || at >= s->n)) {
        memmove(s->side, s->p, s->n);
    } else {
        char *grown = mt_realloc(NULL, 2 * need);
        memcpy(grown, s->p, s->n);
        free(s->side);
        s->side = grown;
        s->side_cap = 2 * need;
    }
    s->p = s->side;
    s->in_side = true;
}

static void append_to_side(struct mt_stream *s, const struct block *b)
{
    move_to_side(s, b->n);
    char *end = s->side + (s->p - s->side) + s->n;
    memcpy(end, b->data, b->n);
    memset(end + b->n, 0, MT_STREAM_PAD);
    s->n += b->n;
    free_blocks(s, 0);
}

static enum mt_status too_wide(const struct mt_stream *s, struct mt_err *err)
{
    enum mt_status st =
        MT_FAIL(err, MT_ELIMIT, "one item is larger than %u MiB", MT_STREAM_MAX_PEEK >> 20);
    mt_source_name_error(&s->src, err);
    return st;
}

static enum mt_status widen(struct mt_stream *s, size_t min, struct mt_err *err)
{
    if (min > MT_STREAM_MAX_PEEK)
        return too_wide(s, err);
    while (s->n < min) {
        const struct block *b = take_block(s);
        if (b && s->n <= HEADROOM)
            move_to_block(s, b);
        else if (b)
            append_to_side(s, b);
        else
            break;
    }
    /* s->failed may be read without the lock: take_block has seen `done`. */
    if (s->n < min && s->failed.code != MT_OK) {
        if (err->code == MT_OK)
            *err = s->failed;
        return s->failed.code;
    }
    return MT_OK;
}

static void pass_byte_order_mark(struct mt_stream *s)
{
    static const char mark[] = {'\xef', '\xbb', '\xbf'};
    struct mt_err ignored = MT_ERR_INIT; /* it comes again, where bytes are asked for */
    s->begun = true;
    if (widen(s, sizeof mark, &ignored) == MT_OK && s->n >= sizeof mark &&
        memcmp(s->p, mark, sizeof mark) == 0)
        mt_stream_consume(s, sizeof mark);
}

enum mt_status mt_stream_peek(struct mt_stream *s, size_t min, const char **p, size_t *n,
                              struct mt_err *err)
{
    if (!s->begun)
        pass_byte_order_mark(s);
    enum mt_status st = s->n >= min ? MT_OK : widen(s, min, err);
    *p = s->p;
    *n = s->n;
    return st;
}

void mt_stream_consume(struct mt_stream *s, size_t n)
{
    s->p += n;
    s->n -= n;
    s->offset += n;
}

void mt_stream_used(struct mt_stream *s, uint64_t n)
{
    pthread_mutex_lock(&s->lock);
    s->used += n;
    pthread_mutex_unlock(&s->lock);
}

enum mt_status mt_stream_check_rest(struct mt_stream *s, struct mt_err *err)
{
    const char *p;
    size_t n;
    pthread_mutex_lock(&s->lock);
    bool compressed = s->compressed;
    pthread_mutex_unlock(&s->lock);
    do {
        mt_stream_consume(s, s->n);
        MT_TRY(compressed ? mt_stream_peek(s, 1, &p, &n, err) : MT_OK);
    } while (s->n);
    return MT_OK;
}

uint64_t mt_stream_offset(const struct mt_stream *s)
{
    return s->offset;
}

void mt_stream_progress(const struct mt_stream *s, uint64_t *done, uint64_t *total)
{
    *done = mt_source_done(&s->src);
    *total = s->src.total;
}

void mt_stream_hash(const struct mt_stream *s, char hex[33])
{
    memcpy(hex, s->hex, sizeof s->hex);
}

/* ---- opening and closing ---- */

static struct mt_stream *new_stream(void)
{
    static const char padding[MT_STREAM_PAD];
    struct mt_stream *s = mt_alloc(sizeof *s);
    s->p = padding;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->was_filled, NULL);
    pthread_cond_init(&s->was_freed, NULL);
    return s;
}

static void free_stream(struct mt_stream *s)
{
    pthread_cond_destroy(&s->was_filled);
    pthread_cond_destroy(&s->was_freed);
    pthread_mutex_destroy(&s->lock);
    for (size_t i = 0; i < BLOCKS; i++)
        free(s->blocks[i].memory);
    free(s->side);
    free(s);
}

static enum mt_status start(struct mt_stream *s, struct mt_stream **out, struct mt_err *err)
{
    int code = mt_thread_start(&s->thread, run, s);
    if (code) {
        MT_FAIL(err, MT_EIO, "cannot start a thread: %s", strerror(code));
        mt_source_name_error(&s->src, err);
        mt_source_close(&s->src);
        free_stream(s);
        return err->code;
    }
    *out = s;
    return MT_OK;
}

enum mt_status mt_stream_open(const char *path, struct mt_stream **out, struct mt_err *err)
{
    struct mt_stream *s = new_stream();
    if (mt_source_open(&s->src, path, err) != MT_OK) {
        free_stream(s);
        return err->code;
    }
    return start(s, out, err);
}

enum mt_status mt_stream_open_memory(const void *bytes, size_t n, struct mt_stream **out,
                                     struct mt_err *err)
{
    struct mt_stream *s = new_stream();
    mt_source_open_memory(&s->src, bytes, n);
    return start(s, out, err);
}

void mt_stream_close(struct mt_stream *s)
{
    if (!s)
        return;
    mt_source_stop(&s->src);
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->was_freed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    mt_source_close(&s->src);
    free_stream(s);
}

int64_t mt_stream_line_of(const char *path, uint64_t offset)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_stream *s = NULL;
    struct stat sb;
    /* Only a regular file can be read a second time, and reading others may wait for ever. */
    if (!strcmp(path, "-") || stat(path, &sb) < 0 || !S_ISREG(sb.st_mode) ||
        mt_stream_open(path, &s, &err) != MT_OK)
        return 0;
    int64_t line = 1;
    while (s->offset < offset) {
        const char *p;
        size_t n;
        mt_stream_peek(s, 1, &p, &n, &err);
        if (n == 0)
            break;
        if (n > offset - s->offset)
            n = (size_t)(offset - s->offset);
        for (const char *end = p + n; (p = memchr(p, '\n', (size_t)(end - p))); p++)
            line++;
        mt_stream_consume(s, n);
    }
    bool reached = s->offset == offset;
    mt_stream_close(s);
    return reached ? line : 0;
}
