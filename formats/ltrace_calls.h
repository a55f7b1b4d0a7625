/*
 * ltrace_calls.h - the calls in lines of ltrace: which there are, their arguments and results.
 */
#ifndef MT_LTRACE_CALLS_H
#define MT_LTRACE_CALLS_H

#include "lib/input/fields.h"

enum mt_ltrace_op {
    MT_LTRACE_NOTHING,
    MT_LTRACE_ALLOCATES,
    MT_LTRACE_ALLOCATES_MANY,
    MT_LTRACE_ALLOCATES_ALIGNED,
    MT_LTRACE_MOVES,
    MT_LTRACE_MOVES_MANY,
    MT_LTRACE_FREES,
    MT_LTRACE_LOST,
    MT_LTRACE_FORKS
};

/* Zeroed before its name is read. */
struct mt_ltrace_call {
    enum mt_ltrace_op op;
    size_t name;     /* which it is called, for mt_ltrace_is */
    uint32_t object; /* who calls, for the reader of the log */
    uint64_t old;    /* address of the block that it is given; 0: of none */
    int64_t bytes;
};

/* "app->malloc(128": takes who calls (*object, NULL: the line does not say), and which call it is;
 * behind it stand its arguments. */
enum mt_ltrace_op mt_ltrace_name(struct mt_fields *f, struct mt_ltrace_call *call,
                                 const char **object, size_t *object_n);
/* Whether "malloc", as in "<... malloc resumed>", is what the call is called. */
bool mt_ltrace_is(const struct mt_ltrace_call *call, const char *name, size_t n);
/* "0x12", "nil" or "0", of any call. */
bool mt_ltrace_address(struct mt_fields *f, uint64_t *v);
/* The arguments of a call that is not lost, as many as say what it does; false: damaged, or a size
 * that no process can have. */
bool mt_ltrace_args(struct mt_fields *f, struct mt_ltrace_call *call);
/* What stands behind the last " = " of the line; false: it has none. */
bool mt_ltrace_result(struct mt_fields *f);
/* Whether it gives a block another place or size. */
bool mt_ltrace_moves(const struct mt_ltrace_call *call);
/* Whether the line ends as one does whose call returns later. */
bool mt_ltrace_later(const struct mt_fields *f);
/* Whether a call stands there that allocates or frees, as far as ltrace writes it at once, or the
 * rest of one with its result. */
bool mt_ltrace_whole(struct mt_fields f);
/* Whether such a call, or the rest of one, stands behind something else, as what a program printed
 * without an end of line. */
bool mt_ltrace_hides(const struct mt_fields *f);

#endif
