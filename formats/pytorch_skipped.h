/*
 * pytorch_skipped.h - the damaged text that a reader of traces skips: whether the events end in it,
 * or the file was cut off there.
 */
#ifndef MT_PYTORCH_SKIPPED_H
#define MT_PYTORCH_SKIPPED_H

#include <stdbool.h>
#include <stdint.h>

/* Brackets so far, outside strings. Zero-initialise. */
struct mt_skipped {
    uint64_t objects, arrays;
    enum { MT_IN_EVENTS, MT_BEHIND_EVENTS, MT_BEHIND_DOCUMENT } place;
    bool string, escape;
    char last; /* that is no white space */
};

/* Looks at the next bytes that are skipped. The first ones are of an event or stand between two. */
void mt_skipped_add(struct mt_skipped *s, const char *from, const char *end);

/* Whether, with the end of the input behind it, it holds the end of the events. In doubt not: it
 * then looks as if it was cut off. */
bool mt_skipped_ended(const struct mt_skipped *s);

#endif
