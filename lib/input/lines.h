/*
 * lines.h - the lines of a text input, one after the other, without copying them.
 *
 * A line ends with "\n"; a "\r" before that belongs to the end. What is left at the end of the
 * input is a line too, one that is `cut` if it has bytes: it has no end, so nobody knows whether
 * more was to come. NUL bytes are bytes like others.
 */
#ifndef MT_LINES_H
#define MT_LINES_H

#include "lib/input/stream.h"
#include <string.h>

#define MT_LINE_MAX (MT_STREAM_MAX_PEEK - 2) /* bytes of a line */

struct mt_line {
    const char *s; /* valid until the next line is asked for; s[n] can be read: it is no digit */
    size_t n;
    uint64_t offset; /* decompressed byte of the input where it begins */
    bool cut;        /* the input ends behind it, without the end of a line */
};

/* Zero-initialise but for the input, which nobody else reads meanwhile. */
struct mt_lines {
    struct mt_stream *in;
    const char *window, *at, *end;   /* window..at: lines used; behind `end`: zero bytes */
    void (*progress)(void *closure); /* called for every window, may be NULL */
    void *closure;
    uint64_t looked_at; /* mt_lines_due */
};

/* The part of mt_lines_next where a window ends. */
enum mt_status mt_lines_more(struct mt_lines *l, struct mt_line *out, bool *any,
                             struct mt_err *err);

/*
 * The next line; *any false: there is none. Errors: MT_EIO; MT_EINPUT where compressed data are
 * damaged or cut off, after all lines before that, or where a line is longer than MT_LINE_MAX.
 */
static inline enum mt_status mt_lines_next(struct mt_lines *l, struct mt_line *out, bool *any,
                                           struct mt_err *err)
{
    size_t left = (size_t)(l->end - l->at);
    const char *end = left ? (const char *)memchr(l->at, '\n', left) : NULL;
    if (!end)
        return mt_lines_more(l, out, any, err);
    out->s = l->at;
    out->n = (size_t)(end - l->at);
    out->n -= out->n && end[-1] == '\r';
    out->offset = mt_stream_offset(l->in) + (uint64_t)(l->at - l->window);
    out->cut = false;
    l->at = end + 1;
    *any = true;
    return MT_OK;
}

/* Bytes of the input before the next line. */
static inline uint64_t mt_lines_offset(const struct mt_lines *l)
{
    return mt_stream_offset(l->in) + (uint64_t)(l->at - l->window);
}

/* Whether there is reason to look at memory: so much text came since it last said so. A line may
 * have megabytes, so lines are not counted. */
static inline bool mt_lines_due(struct mt_lines *l)
{
    enum { TEXT = 256 << 10 };
    const uint64_t at = mt_lines_offset(l);
    if (at - l->looked_at < TEXT)
        return false;
    l->looked_at = at;
    return true;
}

/*
 * Reads a user's own text file: each line goes to `take`, which fails where it makes no sense.
 * Errors: that one, as MT_EINPUT with the line's number; those of mt_stream_open and mt_lines_next.
 * They name the file. The hint is `done`, what was not done, and where it is of a line, `rule`:
 * what a line is.
 */
enum mt_status mt_lines_file(const char *path,
                             enum mt_status (*take)(void *closure, const char *s, size_t n,
                                                    struct mt_err *err),
                             void *closure, const char *done, const char *rule, struct mt_err *err);

#endif
