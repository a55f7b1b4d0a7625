/*
 * glossary.h - words that several commands have in common, explained.
 */
#ifndef MT_GLOSSARY_H
#define MT_GLOSSARY_H

#include "cmd/cmd.h"

/* For a list of struct mt_glossary: what a MOMENT can be. The keys of --by are in cmd/by.h. */
#define MT_WORDS_OF_MOMENTS                                                                        \
    {                                                                                              \
        "Times", mt_glossary_times, NULL                                                           \
    }

/* What a top op is. */
extern const struct mt_glossary_entry mt_glossary_times[];

#endif
