/*
 * pickle_out.h - plain data as a Python pickle of protocol 4: numbers, texts, lists, dicts.
 * Source: Lib/pickletools.py of CPython.
 *
 * Whatever is to be referred to again is kept (mt_pickle_keep) right after it was begun, and takes
 * a number.
 */
#ifndef MT_PICKLE_OUT_H
#define MT_PICKLE_OUT_H

#include "lib/base/mem.h"
#include <stdbool.h>

enum { MT_PICKLE_OUT_DEPTH = 16 };

/* Zero but for `to`. */
struct mt_pickle_out {
    struct mt_buf *to; /* may be emptied between values */
    /* private */
    uint32_t kept;
    int depth;
    struct {
        bool dict;
        uint32_t items; /* since the last batch; of dicts keys and values */
    } level[MT_PICKLE_OUT_DEPTH];
};

/* What stands before the one value of a pickle, and behind it. */
void mt_pickle_put_head(struct mt_pickle_out *p);
void mt_pickle_put_stop(struct mt_pickle_out *p);

/* Opens a list or a dict, whose keys and values follow in turn. In a list that is kept,
 * mt_pickle_keep comes before its first item. */
void mt_pickle_put_list(struct mt_pickle_out *p);
void mt_pickle_put_dict(struct mt_pickle_out *p);
/* Closes the one opened last. */
void mt_pickle_put_end(struct mt_pickle_out *p);

void mt_pickle_put_int(struct mt_pickle_out *p, int64_t v);
void mt_pickle_put_pair(struct mt_pickle_out *p, int64_t a, int64_t b); /* a tuple */
void mt_pickle_put_real(struct mt_pickle_out *p, double v);
void mt_pickle_put_bool(struct mt_pickle_out *p, bool v);
void mt_pickle_put_none(struct mt_pickle_out *p);
/* Any bytes; those that are no UTF-8 become U+FFFD. */
void mt_pickle_put_text(struct mt_pickle_out *p, const char *s);

/* Keeps the value put last; returns its number. */
uint32_t mt_pickle_keep(struct mt_pickle_out *p);
/* Puts the value of that number again. */
void mt_pickle_put_kept(struct mt_pickle_out *p, uint32_t number);

#endif
