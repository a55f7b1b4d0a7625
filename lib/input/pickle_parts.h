/*
 * pickle_parts.h - the machine's insides, shared by pickle.c (the loop), pickle_ops.c (opcodes) and
 * pickle_value.c (values).
 */
#ifndef MT_PICKLE_PARTS_H
#define MT_PICKLE_PARTS_H

#include "lib/input/pickle.h"
#include <string.h>

/* A list, tuple or dict. */
struct mt_pickle_box {
    mt_pvalue *v; /* dicts: key, value, key, value ... */
    uint32_t n, cap;
    uint32_t memo; /* its memo entry + 1, 0 = none */
    uint8_t kind, depth;
    bool shared;     /* referred to more than once: its number must stay */
    mt_pvalue token; /* stands for it, 0 = none */
};

struct mt_pickle {
    struct mt_stream *in;
    struct mt_pickle_hooks hooks;
    uint64_t max_bytes, box_bytes;
    struct mt_strtab strings;
    MT_VEC(mt_pvalue) stack;
    MT_VEC(mt_pvalue) memo;
    MT_VEC(uint32_t) marks; /* heights of the stack */
    MT_VEC(struct mt_pickle_box) boxes;
    MT_VEC(uint32_t) free_boxes;
    MT_VEC(struct mt_pickle_wide {
        uint64_t bits;
        bool is_unsigned;
    })
    wides;
    MT_VEC(double) reals;
    struct mt_strtab tuples; /* small tuples of plain values, each once: bytes -> number */
    MT_VEC(uint32_t) tuple_box;
    const char *why; /* what is wrong, static; NULL: nothing */
    bool limit;      /* `why` is about a limit */
    bool stopped;
};

static inline mt_pvalue mt_pickle_make(enum mt_pickle_kind kind, uint64_t payload)
{
    return (mt_pvalue)kind << 60 | (payload & (((mt_pvalue)1 << 60) - 1));
}
static inline bool mt_pickle_is_box(mt_pvalue v)
{
    return v >> 60 >= MT_PICKLE_LIST && v >> 60 <= MT_PICKLE_DICT;
}
static inline struct mt_pickle_box *mt_pickle_box(const struct mt_pickle *p, mt_pvalue v)
{
    return &p->boxes.v[(uint32_t)v];
}

/* ---- opcodes (pickle_ops.c) ---- */

/* Opcodes without `run` are refused. */
struct mt_pickle_opcode {
    const char *name;
    uint8_t arg;    /* bytes of the argument */
    uint8_t prefix; /* bytes of a length, behind which that many bytes follow */
    /* at: the argument, n bytes. Sets p->why on failure. */
    void (*run)(struct mt_pickle *p, const uint8_t *at, size_t n);
    bool of_objects; /* refused where no classes are known */
};
extern const struct mt_pickle_opcode mt_pickle_opcodes[256];

#define MT_PICKLE_ITEMS_MAX ((size_t)1 << 30) /* of the stack and of the memo */

/* n bytes, little endian; n <= 8. */
static inline uint64_t mt_pickle_number_at(const uint8_t *at, size_t n)
{
    uint64_t v = 0;
    memcpy(&v, at, n);
    return v;
}

static inline void mt_pickle_push(struct mt_pickle *p, mt_pvalue v)
{
    *mt_vec_push(&p->stack) = v;
}

/* Pushes the memo's object number i; false if there is none. */
static inline bool mt_pickle_get(struct mt_pickle *p, size_t i)
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
    mt_pickle_push(p, v);
    return true;
}

/* ---- values (pickle_value.c) ---- */

/* Each makes a value; the pickle owns what stands behind it. */
mt_pvalue mt_pickle_new_int(struct mt_pickle *p, int64_t i);
/* n bytes, little endian, two's complement. */
mt_pvalue mt_pickle_new_long(struct mt_pickle *p, const uint8_t *bytes, size_t n);
mt_pvalue mt_pickle_new_real(struct mt_pickle *p, double d);
mt_pvalue mt_pickle_new_box(struct mt_pickle *p, enum mt_pickle_kind kind);

/* A tuple of n values; small ones of plain values are shared. */
mt_pvalue mt_pickle_new_tuple(struct mt_pickle *p, const mt_pvalue *v, size_t n);

/*
 * Puts n values into the list or dict at *target, offering it to the hooks if it is complete with
 * them; *target then becomes the token. v may be part of the stack. Sets p->why on failure.
 */
void mt_pickle_fill(struct mt_pickle *p, mt_pvalue *target, const mt_pvalue *v, size_t n,
                    bool one_batch);

#endif
