/* The opcodes of the pickle machine. */
#include "lib/input/pickle_parts.h"

enum {
    MARKS_MAX = MT_PICKLE_DEPTH, /* containers being filled inside each other */
};

/* ---- the stack ---- */

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
    mt_pickle_push(p, mt_pickle_make(MT_PICKLE_NONE, 0));
}

static void op_true(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    mt_pickle_push(p, mt_pickle_make(MT_PICKLE_BOOL, 1));
}

static void op_false(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    mt_pickle_push(p, mt_pickle_make(MT_PICKLE_BOOL, 0));
}

static void op_unsigned(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    mt_pickle_push(p, mt_pickle_make(MT_PICKLE_INT, mt_pickle_number_at(at, n)));
}

static void op_int(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    mt_pickle_push(
        p, mt_pickle_make(MT_PICKLE_INT, (uint64_t)(int64_t)(int32_t)mt_pickle_number_at(at, n)));
}

static void op_long(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    mt_pickle_push(p, mt_pickle_new_long(p, at, n));
}

static void op_float(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    uint64_t bits = 0;
    double d;
    for (size_t i = 0; i < n; i++)
        bits = bits << 8 | at[i];
    memcpy(&d, &bits, sizeof d);
    mt_pickle_push(p, mt_pickle_new_real(p, d));
}

static void op_string(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    mt_pickle_push(p,
                   mt_pickle_make(MT_PICKLE_STR, mt_strtab_add(&p->strings, (const char *)at, n)));
}

static void op_empty_list(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    mt_pickle_push(p, mt_pickle_new_box(p, MT_PICKLE_LIST));
}

static void op_empty_dict(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    mt_pickle_push(p, mt_pickle_new_box(p, MT_PICKLE_DICT));
}

static void make_tuple(struct mt_pickle *p, const mt_pvalue *v, size_t n)
{
    if (!v)
        return;
    mt_pvalue t = mt_pickle_new_tuple(p, v, n);
    p->stack.n -= n;
    mt_pickle_push(p, t);
}

static void op_empty_tuple(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    static const mt_pvalue none[1];
    mt_pickle_push(p, mt_pickle_new_tuple(p, none, 0));
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
    mt_pickle_push(p, c);
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

static void op_get(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    mt_pickle_get(p, mt_pickle_number_at(at, n));
}

/* Picklers count up: a number far ahead could only be meant to make us allocate. */
static void put(struct mt_pickle *p, size_t i)
{
    const mt_pvalue *v = top(p, 1);
    if (!v)
        return;
    if (i > p->memo.n || i >= MT_PICKLE_ITEMS_MAX) {
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
    put(p, mt_pickle_number_at(at, n));
}

static void op_memoize(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    put(p, p->memo.n);
}

/* ---- objects: a class is its name, an object the dict of its attributes ---- */

static void op_class(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    const mt_pvalue *v = top(p, 2);
    const char *module = v ? mt_pickle_str(p, v[0]) : NULL,
               *name = v ? mt_pickle_str(p, v[1]) : NULL;
    struct mt_buf full = {0};
    bool known = false;
    if (!v)
        return;
    mt_buf_addf(&full, "%s.%s", module ? module : "", name ? name : "");
    for (const char *const *c = p->hooks.classes; *c; c++)
        known |= strcmp(*c, full.s) == 0;
    p->stack.n -= 2;
    mt_pickle_push(p, mt_pickle_make(MT_PICKLE_STR, mt_strtab_add(&p->strings, full.s, full.n)));
    mt_buf_free(&full);
    if (!known)
        p->why = "it names a class that such a file does not have";
}

static void op_object(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    const mt_pvalue *v = top(p, 2);
    if (!v)
        return;
    mt_pickle_items(p, v[1], &n);
    if (mt_pickle_kind(v[0]) != MT_PICKLE_STR || mt_pickle_kind(v[1]) != MT_PICKLE_TUPLE || n) {
        p->why = "it makes an object of something else than a class alone";
        return;
    }
    p->stack.n -= 2;
    mt_pickle_push(p, mt_pickle_new_box(p, MT_PICKLE_DICT));
}

static void op_build(struct mt_pickle *p, const uint8_t *at, size_t n)
{
    (void)at, (void)n;
    mt_pvalue *v = top(p, 2);
    if (!v)
        return;
    const mt_pvalue *items = mt_pickle_items(p, v[1], &n);
    if (mt_pickle_kind(v[0]) != MT_PICKLE_DICT || mt_pickle_kind(v[1]) != MT_PICKLE_DICT ||
        mt_pickle_box(p, v[0])->n)
        p->why = "it fills an object with something else than attributes";
    else
        mt_pickle_fill(p, v, items, n, false);
    p->stack.n--;
}

/* ---- the table ---- */

const struct mt_pickle_opcode mt_pickle_opcodes[256] = {
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
    [0x93] = {"STACK_GLOBAL", 0, 0, op_class, true},
    ['R'] = {.name = "REDUCE"},
    ['b'] = {"BUILD", 0, 0, op_build, true},
    ['i'] = {.name = "INST"},
    ['o'] = {.name = "OBJ"},
    [0x81] = {"NEWOBJ", 0, 0, op_object, true},
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
