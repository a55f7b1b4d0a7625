/*
 * protobuf.h - the wire format of protocol buffers: the fields of a message, one after the other,
 * without a schema. The outermost message is read from a stream, those in it from memory.
 *
 * Groups, which nobody writes any more, are not read.
 */
#ifndef MT_PROTOBUF_H
#define MT_PROTOBUF_H

#include "lib/input/stream.h"

/* Bytes of a field of the outermost message. */
#define MT_PROTO_FIELD_MAX (MT_STREAM_MAX_PEEK - 32)

struct mt_proto_field {
    uint32_t number;
    bool bytes;     /* a text, a message or packed numbers: s, n; else a number: value */
    uint64_t value; /* of signed ones: cast it */
    const char *s;  /* in what is read from */
    size_t n;
};

/* A message in memory, or packed numbers; zero-initialise but for p and end. */
struct mt_proto {
    const char *p, *end;
    bool damaged; /* what follows cannot be read */
};

static inline struct mt_proto mt_proto_of(const struct mt_proto_field *f)
{
    return (struct mt_proto){f->s, f->n ? f->s + f->n : f->s, false};
}

/* The next field; false: there is none, or m->damaged. */
bool mt_proto_next(struct mt_proto *m, struct mt_proto_field *f);

/* Of a repeated field of numbers, the next one that f holds: packed ones are several. `at` is
 * mt_proto_of(f) before the first; false: no more of them, or at->damaged. */
bool mt_proto_number(const struct mt_proto_field *f, struct mt_proto *at, uint64_t *v);

/* The outermost message. Zero-initialise but for the input, which nobody else reads meanwhile. */
struct mt_proto_stream {
    struct mt_stream *in;
    const char *window, *at, *end;   /* window..at: fields used */
    void (*progress)(void *closure); /* called for every window, may be NULL */
    void *closure;
};

/* Bytes of the input before the next field. */
static inline uint64_t mt_proto_offset(const struct mt_proto_stream *s)
{
    return mt_stream_offset(s->in) + (uint64_t)(s->at - s->window);
}

/*
 * The next field, valid until the one after it is asked for; *any false: there is none. Errors:
 * MT_EIO; MT_EINPUT with the offset of the field where it is no field, is cut off (*any is true) or
 * longer than MT_PROTO_FIELD_MAX, or where compressed data are damaged.
 */
enum mt_status mt_proto_stream_next(struct mt_proto_stream *s, struct mt_proto_field *f, bool *any,
                                    struct mt_err *err);

#endif
