/*
 * pickle.h - a pickle machine for files from strangers: builds plain values, runs nothing.
 *
 * It knows the opcodes that plain data needs (numbers, strings, lists, tuples, dicts; protocols 0
 * to 5) and refuses all others by name and byte offset: whatever could look up or call something
 * in Python (GLOBAL, REDUCE, BUILD ...) is an error, not a value. Objects of classes that the
 * caller names are dicts.
 *
 * A file can be several GB of small dicts, so the machine does not keep them: whenever a dict or
 * list is complete it is offered to the caller, who may take what it says and leave a token, a
 * small number, in its place. A token takes the place of the object everywhere, also where it is
 * referred to later, and the object's memory is used again at once.
 *
 * When is a container complete? Python's pickler fills it in batches of 1000 items, PyTorch's C++
 * pickler in one. So a container filled by one batch shorter than 1000 is complete; others are
 * kept as they are. Filling a container after it became a token is an error.
 */
#ifndef MT_PICKLE_H
#define MT_PICKLE_H

#include "lib/base/mem.h"
#include "lib/base/strtab.h"
#include "lib/input/stream.h"
#include <stdbool.h>
#include <stdint.h>

#define MT_PICKLE_DEPTH     128 /* containers in containers; snapshots have 7 */
#define MT_PICKLE_BATCH     1000
#define MT_PICKLE_BYTES_MAX ((uint64_t)64 << 30) /* of memory, unless the caller says */

/* A value in 64 bits: what it is in the upper 4, the rest by kind. */
typedef uint64_t mt_pvalue;

enum mt_pickle_kind {
    MT_PICKLE_UNSET, /* no value */
    MT_PICKLE_NONE,
    MT_PICKLE_BOOL,
    MT_PICKLE_INT,  /* signed 60 bits inline */
    MT_PICKLE_WIDE, /* an integer of up to 64 bits, signed or not */
    MT_PICKLE_HUGE, /* an integer of more */
    MT_PICKLE_REAL,
    MT_PICKLE_STR,
    MT_PICKLE_LIST, /* from here: containers */
    MT_PICKLE_TUPLE,
    MT_PICKLE_DICT,
    MT_PICKLE_TOKEN, /* what the caller left for a container */
};

static inline enum mt_pickle_kind mt_pickle_kind(mt_pvalue v)
{
    return (enum mt_pickle_kind)(v >> 60);
}
static inline mt_pvalue mt_pickle_token(uint32_t type, uint32_t number)
{
    return (mt_pvalue)MT_PICKLE_TOKEN << 60 | (mt_pvalue)(type & 0xffff) << 32 | number;
}
static inline bool mt_pickle_is_token(mt_pvalue v, uint32_t type)
{
    return v >> 32 == ((mt_pvalue)MT_PICKLE_TOKEN << 28 | type);
}
static inline uint32_t mt_pickle_number(mt_pvalue v) /* of a token; string id of a string */
{
    return (uint32_t)v;
}

struct mt_pickle;

struct mt_pickle_hooks {
    /*
     * A dict or list is complete: n values (dicts: key, value, key, value ...). Returns the token
     * to stand for it, or 0 to keep it. v is valid during the call only. May be NULL.
     */
    mt_pvalue (*dict)(void *closure, struct mt_pickle *p, const mt_pvalue *v, size_t n);
    mt_pvalue (*list)(void *closure, struct mt_pickle *p, const mt_pvalue *v, size_t n);
    /* Called now and then; what it returns other than MT_OK ends the reading. May be NULL. */
    enum mt_status (*pause)(void *closure, struct mt_err *err);
    void *closure;
    /* "module.name" of classes whose objects may be there, NULL at the end: an object is the dict
     * of its attributes, nothing of its class is ever run. NULL: none. */
    const char *const *classes;
};

/*
 * A machine over the stream. max_bytes bounds the memory of its values (0: MT_PICKLE_BYTES_MAX).
 * Hooks are copied. Free with mt_pickle_free. Strings the caller adds to `strings` before the run
 * have the ids it expects, so that keys can be compared by number.
 */
struct mt_pickle *mt_pickle_new(struct mt_stream *in, const struct mt_pickle_hooks *hooks,
                                uint64_t max_bytes);
void mt_pickle_free(struct mt_pickle *p);
struct mt_strtab *mt_pickle_strings(struct mt_pickle *p);
uint64_t mt_pickle_bytes(const struct mt_pickle *p); /* memory in use, about */

/*
 * Runs the program to its STOP; *root is the value it leaves. Consumes the pickle and no more.
 * Errors: MT_EINPUT (no pickle, cut off, refused opcode) with offset, MT_ELIMIT, MT_EIO.
 */
enum mt_status mt_pickle_run(struct mt_pickle *p, mt_pvalue *root, struct mt_err *err);

/* Reading values. Of another kind than asked for: false, NULL, 0 items. */
bool mt_pickle_int(const struct mt_pickle *p, mt_pvalue v, int64_t *out); /* 2^64-1 wraps to -1;
                                                                   bools are 0 and 1 */
bool mt_pickle_real(const struct mt_pickle *p, mt_pvalue v, double *out);
const char *mt_pickle_str(const struct mt_pickle *p, mt_pvalue v);
/* Items of a list or tuple, or keys and values of a dict; until the machine runs on. */
const mt_pvalue *mt_pickle_items(const struct mt_pickle *p, mt_pvalue v, size_t *n);
/* Value of a dict's key; MT_PICKLE_UNSET (0) if there is none. The last of equal keys counts. */
mt_pvalue mt_pickle_find(const struct mt_pickle *p, mt_pvalue dict, const char *key);
/* Appends the value as JSON text. What is nested deeper than 8, or a token, is null; beyond 64 KiB
 * items are left out. */
void mt_pickle_json(const struct mt_pickle *p, mt_pvalue v, struct mt_buf *out);

#endif
