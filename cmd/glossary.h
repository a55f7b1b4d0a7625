/*
 * words.h - words that several commands have in common, explained.
 */
#ifndef MT_WORDS_H
#define MT_WORDS_H

#include "cmd/cmd.h"

/* For a list of struct mt_glossary: what a MOMENT can be. The keys of --by are in cmd/by.h. */
#define MT_WORDS_OF_MOMENTS                                                                        \
    {                                                                                              \
        "Moments", mt_glossary_times, NULL                                                         \
    }

/* What a top op is. */
#define MT_WORD_TOP                                                                                \
    "the outermost op your code or autograd called; in snapshots your innermost line of Python"

extern const struct mt_glossary_entry mt_glossary_times[];

#endif
