/* The pickle machine: its opcodes, and the loop over them. */
#include "lib/pickle_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOOK_AHEAD = 32,             /* longer than any opcode with its fixed argument */
    MARKS_MAX = MT_PICKLE_DEPTH, /* containers being filled inside each other */
    STRING_MAX = MT_STREAM_MAX_PEEK - LOOK_AHEAD,
    ITEMS_MAX = 1 << 30, /* of the stack and of the memo */
};
#define BYTES_MAX ((uint64_t)64 << 30)

/* ---- the stack ---- */

static void push(struct mt_pickle *p, mt_pvalue v)
{
    *mt_vec_push(&p->stack) = v;
}

/* The upper n values; what lies under a mark is out of reach. NULL (and p->why) if there are fewer.
 */
static mt_pvalue *top(struct mt_pickle *p, size_t n)
{
    size_t floor = p->marks.n ? p->marks.v[p->marks.n - 1] : 0;
    if (p->stack.n - floor >= n)
        return p->stack.v + p->stack.n - n;
    p->why = "it takes more values than there are";
    return NULL;
}

/* Values above the last mark, which goes; NULL without a mark. */
static mt_pvalue *pop_mark(struct mt_pickle *p, size_t *n)
{
    if (!p->marks.n) {
        p->why = "it asks for a mark that was not set";
        return NULL;
    }
    size_t floor = p->marks.v[--p->marks.n];
    *n = p->stack.n - floor;
    return p->stack.v + floor;
}

static uint64_t number(const uint8_t *at, size_t n)
{
    uint64_t v = 0;
    memcpy(&v, at, n);
    return v;
}

/* ---- opcodes: at = argument, n = length of the bytes there ---- */

static void op_proto(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)n;
    if (*at > 5)
        p->why = "the protocol is newer than 5";
}

static void op_skip(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)p, (void)at, (void)n;
}

static void op_stop(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    if (p->marks.n || p->stack.n != 1)
        p->why = "the pickle ends with values left over";
    p->stopped = true;
}

static void op_mark(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    if (p->marks.n >= MARKS_MAX) {
        p->why = "containers are nested too deeply";
        p->limit = true;
    }
    *mt_vec_push(&p->marks) = (uint32_t)p->stack.n;
}

static void op_pop(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    if (p->marks.n && p->marks.v[p->marks.n - 1] == p->stack.n)
        p->marks.n--; /* as Python does: a mark on top is popped */
    else if (top(p, 1))
        p->stack.n--;
}

static void op_pop_mark(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at;
    if (pop_mark(p, &n))
        p->stack.n -= n;
}

static void op_none(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    push(p, mt_pickle_make(MT_PICKLE_NONE, 0));
}

static void op_true(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    push(p, mt_pickle_make(MT_PICKLE_BOOL, 1));
}

static void op_false(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    push(p, mt_pickle_make(MT_PICKLE_BOOL, 0));
}

static void op_unsigned(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    push(p, mt_pickle_make(MT_PICKLE_INT, number(at, n)));
}

static void op_int(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    push(p, mt_pickle_make(MT_PICKLE_INT, (uint64_t)(int64_t)(int32_t)number(at, n)));
}

static void op_long(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    push(p, mt_pickle_new_long(p, at, n));
}

static void op_float(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    uint64_t bits = 0;
    double d;
    for (size_t i = 0; i < n; i++)
        bits = bits << 8 | at[i];
    memcpy(&d, &bits, sizeof d);
    push(p, mt_pickle_new_real(p, d));
}

static void op_string(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    push(p, mt_pickle_make(MT_PICKLE_STR, mt_strtab_add(&p->strings, (const char *)at, n)));
}

static void op_empty_list(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    push(p, mt_pickle_new_box(p, MT_PICKLE_LIST));
}

static void op_empty_dict(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    push(p, mt_pickle_new_box(p, MT_PICKLE_DICT));
}

static void make_tuple(struct mt_pickle *p, const mt_pvalue *v, size_t n)
{
    if (!v)
        return;
    mt_pvalue t = mt_pickle_new_tuple(p, v, n);
    p->stack.n -= n;
    push(p, t);
}

static void op_empty_tuple(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    static const mt_pvalue none[1];
    push(p, mt_pickle_new_tuple(p, none, 0));
}

static void op_tuple(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at;
    const mt_pvalue *v = pop_mark(p, &n);
    make_tuple(p, v, n);
}

static void op_tuple1(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    make_tuple(p, top(p, 1), 1);
}

static void op_tuple2(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    make_tuple(p, top(p, 2), 2);
}

static void op_tuple3(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    make_tuple(p, top(p, 3), 3);
}

/* n values at the top go into the container under them. */
static void fill(struct mt_pickle *p, size_t n, bool one_batch)
{
    mt_pvalue *v = top(p, n + 1);
    if (!v)
        return;
    if (mt_pickle_kind(*v) == MT_PICKLE_DICT && n % 2)
        p->why = "a key has no value";
    else
        mt_pickle_fill(p, v, v + 1, n, one_batch);
    p->stack.n -= n;
}

static void op_append(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    fill(p, 1, false);
}

static void op_set_item(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    fill(p, 2, false);
}

static void op_fill(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at;
    if (pop_mark(p, &n))
        fill(p, n, true);
}

/* LIST and DICT: a new container of what lies above the mark. */
static void make_of_marked(struct mt_pickle *p, enum mt_pickle_kind kind)
{
    size_t n;
    mt_pvalue *v = pop_mark(p, &n);
    if (!v)
        return;
    mt_pvalue c = mt_pickle_new_box(p, kind);
    if (kind == MT_PICKLE_DICT && n % 2)
        p->why = "a key has no value";
    else
        mt_pickle_fill(p, &c, v, n, true);
    p->stack.n -= n;
    push(p, c);
}

static void op_list(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    make_of_marked(p, MT_PICKLE_LIST);
}

static void op_dict(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    make_of_marked(p, MT_PICKLE_DICT);
}

/* ---- the memo ---- */

static inline bool get(struct mt_pickle *p, size_t i)
{
    mt_pvalue v = i < p->memo.n ? p->memo.v[i] : 0;
    if (mt_pickle_is_box(v)) {
        struct mt_pickle_box *b = mt_pickle_box(p, v);
        b->shared = true;
        v = b->token ? b->token : v;
    }
    if (!v) {
        p->why = "it refers to an object that is not there";
        return false;
    }
    push(p, v);
    return true;
}

static void op_get(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    get(p, number(at, n));
}

/* Picklers count up: a number far ahead could only be meant to make us allocate. */
static void put(struct mt_pickle *p, size_t i)
{
    const mt_pvalue *v = top(p, 1);
    if (!v)
        return;
    if (i > p->memo.n || i >= ITEMS_MAX) {
        p->why = "it numbers an object out of turn";
        return;
    }
    if (i == p->memo.n)
        *mt_vec_push(&p->memo) = 0;
    if (mt_pickle_is_box(p->memo.v[i])) {
        struct mt_pickle_box *old = mt_pickle_box(p, p->memo.v[i]);
        old->shared = true;
        old->memo = 0;
    }
    p->memo.v[i] = *v;
    if (mt_pickle_is_box(*v)) {
        struct mt_pickle_box *b = mt_pickle_box(p, *v);
        b->shared |= b->memo != 0;
        b->memo = (uint32_t)i + 1;
    }
}

static void op_put(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    put(p, number(at, n));
}

static void op_memoize(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    put(p, p->memo.n);
}

/* ---- the table ---- */

/* Opcodes without `run` are refused. */
static const struct opcode {
    const char *name;
    uint8_t arg;    /* bytes of the argument */
    uint8_t prefix; /* bytes of a length, behind which that many bytes follow */
    void (*run)(struct mt_pickle *p, const uint8_t *at, size_t n);
} opcodes[256] = {
    [0x80] = {"PROTO", 1, 0, op_proto},
    [0x95] = {"FRAME", 8, 0, op_skip},
    ['.'] = {"STOP", 0, 0, op_stop},
    ['('] = {"MARK", 0, 0, op_mark},
    ['0'] = {"POP", 0, 0, op_pop},
    ['1'] = {"POP_MARK", 0, 0, op_pop_mark},
    ['N'] = {"NONE", 0, 0, op_none},
    [0x88] = {"NEWTRUE", 0, 0, op_true},
    [0x89] = {"NEWFALSE", 0, 0, op_false},
    ['K'] = {"BININT1", 1, 0, op_unsigned},
    ['M'] = {"BININT2", 2, 0, op_unsigned},
    ['J'] = {"BININT", 4, 0, op_int},
    [0x8a] = {"LONG1", 0, 1, op_long},
    [0x8b] = {"LONG4", 0, 4, op_long},
    ['G'] = {"BINFLOAT", 8, 0, op_float},
    [0x8c] = {"SHORT_BINUNICODE", 0, 1, op_string},
    ['X'] = {"BINUNICODE", 0, 4, op_string},
    [0x8d] = {"BINUNICODE8", 0, 8, op_string},
    [']'] = {"EMPTY_LIST", 0, 0, op_empty_list},
    ['}'] = {"EMPTY_DICT", 0, 0, op_empty_dict},
    [')'] = {"EMPTY_TUPLE", 0, 0, op_empty_tuple},
    ['t'] = {"TUPLE", 0, 0, op_tuple},
    [0x85] = {"TUPLE1", 0, 0, op_tuple1},
    [0x86] = {"TUPLE2", 0, 0, op_tuple2},
    [0x87] = {"TUPLE3", 0, 0, op_tuple3},
    ['a'] = {"APPEND", 0, 0, op_append},
    ['e'] = {"APPENDS", 0, 0, op_fill},
    ['s'] = {"SETITEM", 0, 0, op_set_item},
    ['u'] = {"SETITEMS", 0, 0, op_fill},
    ['l'] = {"LIST", 0, 0, op_list},
    ['d'] = {"DICT", 0, 0, op_dict},
    ['h'] = {"BINGET", 1, 0, op_get},
    ['j'] = {"LONG_BINGET", 4, 0, op_get},
    ['q'] = {"BINPUT", 1, 0, op_put},
    ['r'] = {"LONG_BINPUT", 4, 0, op_put},
    [0x94] = {"MEMOIZE", 0, 0, op_memoize},
    ['c'] = {.name = "GLOBAL"},
    [0x93] = {.name = "STACK_GLOBAL"},
    ['R'] = {.name = "REDUCE"},
    ['b'] = {.name = "BUILD"},
    ['i'] = {.name = "INST"},
    ['o'] = {.name = "OBJ"},
    [0x81] = {.name = "NEWOBJ"},
    [0x92] = {.name = "NEWOBJ_EX"},
    [0x82] = {.name = "EXT1"},
    [0x83] = {.name = "EXT2"},
    [0x84] = {.name = "EXT4"},
    ['P'] = {.name = "PERSID"},
    ['Q'] = {.name = "BINPERSID"},
    [0x96] = {.name = "BYTEARRAY8"},
    [0x97] = {.name = "NEXT_BUFFER"},
    [0x98] = {.name = "READONLY_BUFFER"},
    ['I'] = {.name = "INT"},
    ['L'] = {.name = "LONG"},
    ['S'] = {.name = "STRING"},
    ['T'] = {.name = "BINSTRING"},
    ['U'] = {.name = "SHORT_BINSTRING"},
    ['V'] = {.name = "UNICODE"},
    ['F'] = {.name = "FLOAT"},
    ['g'] = {.name = "GET"},
    ['p'] = {.name = "PUT"},
    ['B'] = {.name = "BINBYTES"},
    ['C'] = {.name = "SHORT_BINBYTES"},
    [0x8e] = {.name = "BINBYTES8"},
    [0x8f] = {.name = "EMPTY_SET"},
    [0x90] = {.name = "ADDITEMS"},
    [0x91] = {.name = "FROZENSET"},
    ['2'] = {.name = "DUP"},
};

/* ---- the loop ---- */

struct window {
    const uint8_t *base, *p, *end; /* p is at an opcode */
};

/* Has at least `min` bytes in the window from w->p on, or all there are. */
static enum mt_status refill(struct mt_pickle *p, struct window *w, size_t min, struct mt_err *err)
{
    const char *at;
    size_t n;
    mt_stream_consume(p->in, (size_t)(w->p - w->base));
    w->base = w->p;
    MT_TRY(mt_stream_peek(p->in, min, &at, &n, err));
    w->base = w->p = (const uint8_t *)at;
    w->end = w->p + n;
    if (p->hooks.pause)
        MT_TRY(p->hooks.pause(p->hooks.closure, err));
    if (mt_pickle_bytes(p) <= p->max_bytes && p->stack.n < ITEMS_MAX && p->strings.n < ITEMS_MAX)
        return MT_OK;
    err->offset = (int64_t)mt_stream_offset(p->in);
    MT_FAIL(err, MT_ELIMIT, "the values of this pickle need more than %llu MiB of memory",
            (unsigned long long)(p->max_bytes >> 20));
    mt_err_hint(err, "Nothing was imported. Allow more with --max-memory SIZE.");
    return MT_ELIMIT;
}

static enum mt_status fail(struct mt_pickle *p, const struct window *w, struct mt_err *err)
{
    const char *name = opcodes[*w->p].name;
    err->offset = (int64_t)mt_stream_offset(p->in) + (w->p - w->base);
    MT_FAIL(err, p->limit ? MT_ELIMIT : MT_EINPUT, "%s: opcode %s: %s",
            p->limit ? "this pickle goes beyond a limit" : "damaged pickle", name ? name : "?",
            p->why);
    mt_err_hint(err, "Nothing was imported.");
    return err->code;
}

static enum mt_status cut_off(struct mt_pickle *p, const struct window *w, struct mt_err *err)
{
    err->offset = (int64_t)mt_stream_offset(p->in) + (w->end - w->base);
    MT_FAIL(err, MT_EINPUT, "ends inside the pickle: the file was cut off");
    mt_err_hint(err, "Nothing was imported. What is left of a cut pickle cannot be used.");
    return MT_EINPUT;
}

/* An opcode of classes, calls, bytes or text numbers, or no opcode at all. */
static enum mt_status refuse(struct mt_pickle *p, const struct window *w, struct mt_err *err)
{
    const char *name = opcodes[*w->p].name;
    err->offset = (int64_t)mt_stream_offset(p->in) + (w->p - w->base);
    if (!name) {
        MT_FAIL(err, MT_EINPUT, "damaged pickle: byte 0x%02x is no opcode", *w->p);
        mt_err_hint(err, "Nothing was imported.");
        return MT_EINPUT;
    }
    const char *text = (const char *)w->p + 1;
    size_t n = (size_t)(w->end - w->p) - 1;
    const char *line = memchr(text, '\n', n < 200 ? n : 200);
    const char *end = line ? memchr(line + 1, '\n', n - (size_t)(line + 1 - text)) : NULL;
    if (*w->p == 'c' && end && end - line < 200)
        MT_FAIL(err, MT_EINPUT,
                "this pickle asks for more than data: opcode GLOBAL names %.*s.%.*s",
                (int)(line - text), text, (int)(end - line - 1), line + 1);
    else
        MT_FAIL(err, MT_EINPUT, "this pickle asks for more than plain data: opcode %s is refused",
                name);
    mt_err_hint(err, "Nothing was imported, and nothing in the file was run. Memory snapshots hold "
                     "numbers, strings, lists and dicts only.");
    return MT_EINPUT;
}

/* Opcodes with a length and that many bytes behind it. */
static enum mt_status run_sized(struct mt_pickle *p, struct window *w, const struct opcode *o,
                                struct mt_err *err)
{
    uint64_t n = number(w->p + 1, o->prefix);
    size_t head = 1u + o->prefix;
    if ((size_t)(w->end - w->p) < head)
        return cut_off(p, w, err);
    if (n > STRING_MAX) {
        p->why = "a value is longer than 16 MiB";
        p->limit = true;
        return fail(p, w, err);
    }
    if ((size_t)(w->end - w->p) < head + n) {
        MT_TRY(refill(p, w, head + n, err));
        if ((size_t)(w->end - w->p) < head + n)
            return cut_off(p, w, err);
    }
    o->run(p, w->p + head, n);
    if (p->why)
        return fail(p, w, err);
    w->p += head + n;
    return MT_OK;
}

static enum mt_status run_opcode(struct mt_pickle *p, struct window *w, struct mt_err *err)
{
    const struct opcode *o = &opcodes[*w->p];
    if (w->p >= w->end)
        return cut_off(p, w, err);
    if (!o->run)
        return refuse(p, w, err);
    if (o->prefix)
        return run_sized(p, w, o, err);
    if (w->end - w->p <= o->arg)
        return cut_off(p, w, err);
    o->run(p, w->p + 1, o->arg);
    if (p->why)
        return fail(p, w, err);
    w->p += 1 + o->arg;
    return MT_OK;
}

/* Three quarters of a snapshot are references to frames: these two opcodes run here. */
static void run_gets(struct mt_pickle *p, struct window *w)
{
    while (w->end - w->p >= LOOK_AHEAD) {
        uint32_t i;
        memcpy(&i, w->p + 1, sizeof i);
        if (*w->p == 'j' && get(p, i))
            w->p += 5;
        else if (*w->p == 'h' && get(p, i & 0xff))
            w->p += 2;
        else
            return;
    }
}

enum mt_status mt_pickle_run(struct mt_pickle *p, mt_pvalue *root, struct mt_err *err)
{
    struct window w = {0};
    MT_TRY(refill(p, &w, LOOK_AHEAD, err));
    while (!p->stopped) {
        if (w.end - w.p < LOOK_AHEAD)
            MT_TRY(refill(p, &w, LOOK_AHEAD, err));
        run_gets(p, &w);
        if (p->why)
            return fail(p, &w, err);
        MT_TRY(run_opcode(p, &w, err));
    }
    mt_stream_consume(p->in, (size_t)(w.p - w.base));
    *root = p->stack.v[0];
    return MT_OK;
}

struct mt_pickle *mt_pickle_new(struct mt_stream *in, const struct mt_pickle_hooks *hooks,
                                uint64_t max_bytes)
{
    struct mt_pickle *p = mt_alloc(sizeof *p);
    *p = (struct mt_pickle){.in = in, .max_bytes = max_bytes ? max_bytes : BYTES_MAX};
    if (hooks)
        p->hooks = *hooks;
    mt_strtab_init(&p->strings);
    mt_strtab_init(&p->tuples);
    push(p, 0); /* so that the stack has an address also when it is empty */
    p->stack.n = 0;
    return p;
}

void mt_pickle_free(struct mt_pickle *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->boxes.n; i++)
        free(p->boxes.v[i].v);
    mt_strtab_free(&p->strings);
    mt_strtab_free(&p->tuples);
    mt_vec_free(&p->stack);
    mt_vec_free(&p->memo);
    mt_vec_free(&p->marks);
    mt_vec_free(&p->boxes);
    mt_vec_free(&p->free_boxes);
    mt_vec_free(&p->wides);
    mt_vec_free(&p->reals);
    mt_vec_free(&p->tuple_box);
    free(p);
}

struct mt_strtab *mt_pickle_strings(struct mt_pickle *p)
{
    return &p->strings;
}
