/*
 * json_walk.h - a JSON document of any size, one member or element after the other, through a
 * window of the stream. A document that is damaged ends the walk: to go on behind damage is the
 * caller's own business.
 *
 *     MT_TRY(mt_json_walk_begin(&w, in, err));
 *     MT_TRY(mt_json_walk_enter(&w, '{', err));
 *     while ((st = mt_json_walk_member(&w, &any, err)) == MT_OK && any)
 *         ... one of mt_json_walk_value, mt_json_walk_enter; w.key is its name
 *
 * Errors of all functions: MT_EIO; MT_EINPUT: no JSON, or other JSON than asked for, with its
 * place; or the input ended before the document did: then w->cut is set, and the message is the
 * caller's to write; w->damaged: compressed data are. MT_ELIMIT: a single value is larger than a
 * window may be.
 */
#ifndef MT_JSON_WALK_H
#define MT_JSON_WALK_H

#include "lib/input/json.h"
#include "lib/input/stream.h"

/* Zero-initialise, but for progress and closure. */
struct mt_json_walk {
    struct mt_stream *in;
    struct mt_json json;
    const char *p, *base;            /* position and beginning of the window */
    uint64_t base_offset;            /* decompressed offset of base */
    bool eof;                        /* no more bytes will come */
    bool cut;                        /* they ended inside the document */
    bool damaged;                    /* no more bytes of compressed data can be had */
    struct mt_buf key;               /* of the member, escapes resolved; key.s is never NULL */
    void (*progress)(void *closure); /* called for every window, may be NULL */
    void *closure;
};

/* Begins at the stream's position. `in` stays the caller's. Free also on failure. Errors: as of
 * mt_stream_peek. */
enum mt_status mt_json_walk_begin(struct mt_json_walk *w, struct mt_stream *in, struct mt_err *err);
void mt_json_walk_free(struct mt_json_walk *w);

/* Offset in the input of the position. */
static inline uint64_t mt_json_walk_offset(const struct mt_json_walk *w)
{
    return w->base_offset + (uint64_t)(w->p - w->base);
}

/* What stands next: the first byte of a value, a bracket; 0 at the end of the input. */
enum mt_status mt_json_walk_next(struct mt_json_walk *w, char *c, struct mt_err *err);

/* Goes into an object ('{') or array ('['), which must come next. */
enum mt_status mt_json_walk_enter(struct mt_json_walk *w, char bracket, struct mt_err *err);

/* The next member of the object, at its value, or the next element of the array; *any false: there
 * is none, and the walk is behind the closing bracket. The value before must be behind. */
enum mt_status mt_json_walk_member(struct mt_json_walk *w, bool *any, struct mt_err *err);
enum mt_status mt_json_walk_element(struct mt_json_walk *w, bool *any, struct mt_err *err);

/* Goes through an array: calls `item` before each element, which it must put behind it. Errors:
 * those of `item`, too. */
enum mt_status mt_json_walk_each(struct mt_json_walk *w,
                                 enum mt_status (*item)(void *closure, struct mt_err *err),
                                 void *closure, struct mt_err *err);

/* The whole value as a slice of the window, with the quotes of a string; valid until the next call.
 */
enum mt_status mt_json_walk_value(struct mt_json_walk *w, struct mt_slice *out, struct mt_err *err);

/* A string, appended with its escapes resolved; *is false: it is none, and behind. */
enum mt_status mt_json_walk_text(struct mt_json_walk *w, struct mt_buf *out, bool *is,
                                 struct mt_err *err);

/* Behind the document: reads to the end of the input, for its hash. *n = bytes there that are not
 * blank, *first = offset of the first. */
enum mt_status mt_json_walk_rest(struct mt_json_walk *w, uint64_t *n, uint64_t *first,
                                 struct mt_err *err);

#endif
