/*
 * finder.h - looks for a regular expression in many texts, in bounded memory.
 *
 * The C library keeps what it finds out about an expression until that is freed, a state for each
 * character at worst, and looks again from every character. Here a text is looked at once, and
 * what was found out is forgotten when it takes too much memory.
 */
#ifndef MT_FINDER_H
#define MT_FINDER_H

#include "lib/base/pattern.h"

struct mt_finder {
    regex_t re;
    char *text;       /* the expression as it was compiled */
    bool whole;       /* it begins with what may stand in front: "^.*(text)" */
    size_t state_b;   /* what the C library keeps for a character at worst, about */
    unsigned made_at; /* counts how often all was forgotten */
};

/* Compiles one; free it with mt_finder_free. Errors: those of mt_pattern; nothing to free then. */
enum mt_status mt_finder_make(struct mt_finder *f, const char *what, const char *text,
                              struct mt_err *err);
void mt_finder_free(struct mt_finder *f);

/* Whether the expression matches a part of the text. */
bool mt_finder_finds(struct mt_finder *f, const char *text);

#endif
