/*
 * words.h - words that several commands have in common, explained.
 */
#ifndef MT_WORDS_H
#define MT_WORDS_H

#include "cmd/cmd.h"

/* For a list of struct mt_words: the keys of --by, and what a MOMENT can be. */
#define MT_WORDS_OF_BY                                                                             \
    {                                                                                              \
        "Words of --by, alone or several (top,phase)", mt_words_of_by                              \
    }
#define MT_WORDS_OF_MOMENTS                                                                        \
    {                                                                                              \
        "Moments", mt_words_of_moments                                                             \
    }

/* What a top op is. */
#define MT_WORD_TOP                                                                                \
    "the outermost op your code or autograd called; in snapshots your innermost line of Python"

/* The same keys as values of an option --by; of single ops too where a command knows those. */
#define MT_VALUES_OF_BY "name top site scope module phase path shape thread step"

extern const struct mt_word mt_words_of_by[], mt_words_of_moments[];

#endif
