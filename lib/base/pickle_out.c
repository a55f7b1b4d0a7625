#include "lib/base/pickle_out.h"

#include "lib/base/utf8.h"
#include <assert.h>
#include <string.h>

enum { BATCH = 1000 }; /* items at once, as Python's own pickler; readers count on it */

enum opcode {
    PROTO = 0x80,
    STOP = '.',
    MARK = '(',
    EMPTY_LIST = ']',
    APPENDS = 'e',
    EMPTY_DICT = '}',
    SETITEMS = 'u',
    BININT = 'J',
    BININT1 = 'K',
    BININT2 = 'M',
    LONG1 = 0x8a,
    BINFLOAT = 'G',
    TUPLE2 = 0x86,
    NEWTRUE = 0x88,
    NEWFALSE = 0x89,
    NONE = 'N',
    SHORT_BINUNICODE = 0x8c,
    BINUNICODE = 'X',
    MEMOIZE = 0x94,
    BINGET = 'h',
    LONG_BINGET = 'j'
};

static void put(struct mt_pickle_out *p, enum opcode code)
{
    mt_buf_addc(p->to, (char)code);
}

/* n bytes, the lowest first. */
static void put_bytes(struct mt_pickle_out *p, uint64_t v, int n)
{
    for (int i = 0; i < n; i++)
        mt_buf_addc(p->to, (char)(v >> (8 * i) & 0xff));
}

static void end_batch(struct mt_pickle_out *p)
{
    if (p->level[p->depth - 1].items)
        put(p, p->level[p->depth - 1].dict ? SETITEMS : APPENDS);
    p->level[p->depth - 1].items = 0;
}

/* What comes before a value, which a list or dict is around. */
static void begin_value(struct mt_pickle_out *p)
{
    if (!p->depth)
        return;
    bool dict = p->level[p->depth - 1].dict;
    if (p->level[p->depth - 1].items == (dict ? 2 * BATCH : BATCH))
        end_batch(p);
    if (!p->level[p->depth - 1].items++)
        put(p, MARK);
}

void mt_pickle_put_head(struct mt_pickle_out *p)
{
    put(p, PROTO);
    mt_buf_addc(p->to, 4);
}

void mt_pickle_put_stop(struct mt_pickle_out *p)
{
    assert(!p->depth);
    put(p, STOP);
}

static void put_container(struct mt_pickle_out *p, bool dict)
{
    begin_value(p);
    put(p, dict ? EMPTY_DICT : EMPTY_LIST);
    assert(p->depth < MT_PICKLE_OUT_DEPTH);
    p->level[p->depth].dict = dict;
    p->level[p->depth++].items = 0;
}

void mt_pickle_put_list(struct mt_pickle_out *p)
{
    put_container(p, false);
}

void mt_pickle_put_dict(struct mt_pickle_out *p)
{
    put_container(p, true);
}

void mt_pickle_put_end(struct mt_pickle_out *p)
{
    assert(p->depth > 0);
    end_batch(p);
    p->depth--;
}

static void put_int(struct mt_pickle_out *p, int64_t v)
{
    if (v >= 0 && v <= UINT8_MAX) {
        put(p, BININT1);
        put_bytes(p, (uint64_t)v, 1);
    } else if (v >= 0 && v <= UINT16_MAX) {
        put(p, BININT2);
        put_bytes(p, (uint64_t)v, 2);
    } else if (v >= INT32_MIN && v <= INT32_MAX) {
        put(p, BININT);
        put_bytes(p, (uint64_t)v, 4);
    } else {
        put(p, LONG1);
        mt_buf_addc(p->to, 8);
        put_bytes(p, (uint64_t)v, 8);
    }
}

void mt_pickle_put_int(struct mt_pickle_out *p, int64_t v)
{
    begin_value(p);
    put_int(p, v);
}

void mt_pickle_put_pair(struct mt_pickle_out *p, int64_t a, int64_t b)
{
    begin_value(p);
    put_int(p, a);
    put_int(p, b);
    put(p, TUPLE2);
}

void mt_pickle_put_real(struct mt_pickle_out *p, double v)
{
    uint64_t bits;
    begin_value(p);
    put(p, BINFLOAT);
    memcpy(&bits, &v, sizeof bits);
    for (int i = 7; i >= 0; i--)
        mt_buf_addc(p->to, (char)(bits >> (8 * i) & 0xff));
}

void mt_pickle_put_bool(struct mt_pickle_out *p, bool v)
{
    begin_value(p);
    put(p, v ? NEWTRUE : NEWFALSE);
}

void mt_pickle_put_none(struct mt_pickle_out *p)
{
    begin_value(p);
    put(p, NONE);
}

void mt_pickle_put_text(struct mt_pickle_out *p, const char *s)
{
    struct mt_buf valid = {0};
    begin_value(p);
    mt_utf8_mend(&valid, s);
    put(p, valid.n <= UINT8_MAX ? SHORT_BINUNICODE : BINUNICODE);
    put_bytes(p, valid.n, valid.n <= UINT8_MAX ? 1 : 4);
    mt_buf_add(p->to, valid.s ? valid.s : "", valid.n);
    mt_buf_free(&valid);
}

uint32_t mt_pickle_keep(struct mt_pickle_out *p)
{
    put(p, MEMOIZE);
    return p->kept++;
}

void mt_pickle_put_kept(struct mt_pickle_out *p, uint32_t number)
{
    begin_value(p);
    put(p, number <= UINT8_MAX ? BINGET : LONG_BINGET);
    put_bytes(p, number, number <= UINT8_MAX ? 1 : 4);
}
