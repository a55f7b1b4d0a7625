/*
 * text_pair.h - a name, a number and perhaps a unit in a line of text ("RSS = 317.57 MB"), and what
 * of memory or of a loop it means.
 */
#ifndef MT_TEXT_PAIR_H
#define MT_TEXT_PAIR_H

#include "lib/input/fields.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    MT_PAIR_DIGITS = 6, /* of numbers */
    MT_PAIR_NAME = 64   /* bytes of a name */
};

/* A number is in millionths, a unit is bytes, or 0. */
struct mt_text_pair {
    char name[MT_PAIR_NAME]; /* lower case, words with one blank between */
    const char *number;      /* in the line */
    int64_t value, unit;
    uint32_t owner; /* text_owners.h; whoever asks for pairs says it */
    bool unclear;   /* mt_text_unit_unclear */
    bool sign;      /* in front of the number: "RSS (5 MB)"; alone it makes no text of memory */
    bool device;    /* a device is named in front of it: "GPU 0 (memory usage: 5 GB)" */
    bool lost;      /* MT_PAIR_UNREAD, and it may be the rss or its peak */
    bool odd;       /* something that is no unit is behind the number: 5G, 2026-11-22 */
    enum mt_pair_meaning {
        MT_PAIR_NOTHING,
        MT_PAIR_UNREAD, /* of the process, but nobody knows how many bytes */
        MT_PAIR_STEP,
        MT_PAIR_LEVEL,
        MT_PAIR_PEAK,
        MT_PAIR_OTHER
    } meaning;
};

/* The next of the line, without its meaning, and what is left of the line; false: there is none. */
bool mt_text_pair_next(struct mt_fields *f, struct mt_text_pair *out);
/* Its meaning, behind the pair `before` in its line (NULL: it is the first): "RSS: 5 MB -> 7 MB"
 * has two levels, "RSS: 5 MB (peak 7 MB)" a peak. What tracemalloc prints is known by its peak: its
 * level, which is `before`, gets another meaning then. */
void mt_text_pair_mean(struct mt_text_pair *p, struct mt_text_pair *before);
/* Whether it is the rss of the process or its peak, and its name says so: a "peak memory usage"
 * is, but only in a text that names the process's memory elsewhere. */
bool mt_text_pair_is_own(const struct mt_text_pair *p);
/* Where a word for an rss is in the n bytes at s, perhaps as part of a longer one; NULL: nowhere.
 */
const char *mt_text_rss(const char *s, size_t n);
/* Whether a name has one. */
bool mt_text_says_rss(const char *name);
/* Whether the n bytes at s are one of the words, behind the last of which NULL stands. */
bool mt_text_is_one(const char *s, size_t n, const char *const *words);
/* Its bytes; false: too many. */
bool mt_text_pair_bytes(const struct mt_text_pair *p, int64_t *bytes);
/* Whether the name ends in a word for a step of a loop, and which; a longer loop is in an epoch. */
int mt_text_step_word(const char *name);

#endif
