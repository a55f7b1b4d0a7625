/*
 * category_words.h - the words of --category: sets of what memory is for.
 */
#ifndef MT_CATEGORY_WORDS_H
#define MT_CATEGORY_WORDS_H

#include "lib/base/err.h"
#include "lib/model/categories.h"

/* Categories as bits (1 << enum mt_category). */
enum { MT_CATEGORIES_ALL = 0 }; /* no choice was made */

/* Every word that is taken, with a blank between two. */
extern const char mt_category_words[];

/*
 * Parses "activations,gradients": the words of reports, in singular or plural; a blank within one
 * may be written as '-' or '_'. *set: the categories, as bits; words: as reports name them, "a, b",
 * cut where there is no room. Errors: MT_EUSAGE: an unknown word, with the nearest; one named
 * twice.
 */
enum { MT_CATEGORY_WORDS_MAX = 120 };
enum mt_status mt_category_set_parse(const char *list, unsigned *set,
                                     char words[MT_CATEGORY_WORDS_MAX], struct mt_err *err);

/* Whether a set has a category. */
static inline bool mt_category_in(unsigned set, uint8_t category)
{
    return !set || (set >> category & 1);
}

/* Whether a set has every category that a trace tells. */
static inline bool mt_category_set_is_whole(unsigned set)
{
    const unsigned none = 1u << MT_CATEGORY_NONE | 1u << MT_CATEGORY_BEFORE;
    return !set || (set | none) == (1u << MT_CATEGORY_N) - 1;
}

#endif
