#include "lib/input/protobuf.h"

#include "lib/input/cursor.h"

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

enum outcome { READ, NO_ROOM, NO_FIELD }; /* NO_ROOM: it goes on behind the end */

static enum outcome take_varint(struct mt_cursor *c, uint64_t *v)
{
    *v = mt_cursor_varint(c);
    return c->more ? NO_ROOM : c->p[-1] & 0x80 ? NO_FIELD : READ;
}

static enum outcome take_fixed(struct mt_cursor *c, size_t n, uint64_t *v)
{
    *v = mt_cursor_fixed(c, n);
    return c->more ? NO_ROOM : READ;
}

/* NO_ROOM: f->n says how long the field is, if that is known; else it is 0. */
static enum outcome take_field(const char **at, const char *end, struct mt_proto_field *f)
{
    struct mt_cursor c = {*at, end, false};
    uint64_t key, n;
    enum outcome done = take_varint(&c, &key);
    *f = (struct mt_proto_field){0};
    if (done != READ)
        return done;
    if (key >> 3 == 0 || key >> 32)
        return NO_FIELD;
    f->number = (uint32_t)(key >> 3);
    switch (key & 7) {
    case WIRE_VARINT:
        done = take_varint(&c, &f->value);
        break;
    case WIRE_64:
        done = take_fixed(&c, 8, &f->value);
        break;
    case WIRE_32:
        done = take_fixed(&c, 4, &f->value);
        break;
    case WIRE_BYTES:
        if ((done = take_varint(&c, &n)) != READ)
            return done;
        f->bytes = true;
        f->s = c.p;
        f->n = n;
        mt_cursor_bytes(&c, n);
        done = c.more ? NO_ROOM : READ;
        break;
    default:
        return NO_FIELD;
    }
    if (done == READ)
        *at = c.p;
    return done;
}

bool mt_proto_next(struct mt_proto *m, struct mt_proto_field *f)
{
    if (m->damaged || m->p == m->end)
        return false;
    m->damaged = take_field(&m->p, m->end, f) != READ;
    return !m->damaged;
}

bool mt_proto_number(const struct mt_proto_field *f, struct mt_proto *at, uint64_t *v)
{
    if (!f->bytes) {
        bool first = !at->p;
        at->p = at->end = "";
        *v = f->value;
        return first;
    }
    if (at->damaged || at->p == at->end)
        return false;
    struct mt_cursor c = {at->p, at->end, false};
    at->damaged = take_varint(&c, v) != READ;
    at->p = c.p;
    return !at->damaged;
}

/* ---- streams ---- */

/* Has more bytes in the window than there are, `want` of them if it can; *more false: the input
 * ends here. */
static enum mt_status more_bytes(struct mt_proto_stream *s, size_t want, bool *more,
                                 struct mt_err *err)
{
    size_t left = (size_t)(s->end - s->at), n;
    const char *p;
    if (s->at > s->window)
        mt_stream_consume(s->in, (size_t)(s->at - s->window));
    s->window = s->at = s->end = NULL;
    MT_TRY(mt_stream_peek(s->in, want > left ? want : left + 1, &p, &n, err));
    s->window = s->at = p;
    s->end = p + n;
    *more = n > left;
    if (s->progress)
        s->progress(s->closure);
    return MT_OK;
}

static enum mt_status no_field(const struct mt_proto_stream *s, const char *what,
                               struct mt_err *err)
{
    err->offset = (int64_t)mt_proto_offset(s);
    return MT_FAIL(err, MT_EINPUT, "%s", what);
}

enum mt_status mt_proto_stream_next(struct mt_proto_stream *s, struct mt_proto_field *f, bool *any,
                                    struct mt_err *err)
{
    for (;;) {
        bool more = false;
        enum outcome done = take_field(&s->at, s->end, f);
        *any = true;
        if (done == READ)
            return MT_OK;
        if (done == NO_FIELD)
            return no_field(s, "damaged: this is no field of a protocol buffer", err);
        if (f->n > MT_PROTO_FIELD_MAX)
            return no_field(s, "damaged: a field is longer than 16 MiB", err);
        size_t want = f->bytes ? (size_t)(f->s - s->at) + f->n : 0;
        MT_TRY(more_bytes(s, want, &more, err));
        if (more)
            continue;
        *any = s->at < s->end;
        return *any ? no_field(s, "ends early: the file was cut off", err) : MT_OK;
    }
}
