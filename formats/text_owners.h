/*
 * text_owners.h - which processes wrote the lines of a log of text, as far as these say it:
 * "[rank1]: RSS 220 MB", "pid=4711 RSS 220 MB".
 */
#ifndef MT_TEXT_OWNERS_H
#define MT_TEXT_OWNERS_H

#include "lib/base/mem.h"

#include <stddef.h>
#include <stdint.h>

/* Words that a process's number stands behind (text_owners.c). */
enum { MT_TEXT_OWNER_WORDS = 2 };

/* Zeroed at the beginning of a log; free it. */
struct mt_text_owners {
    MT_VEC(int64_t) numbers[MT_TEXT_OWNER_WORDS]; /* that were there, some 1000 at most */
};

/* Looks at a line of n bytes that has the memory of a process. */
void mt_text_owners_see(struct mt_text_owners *o, const char *line, size_t n);
/* How many processes wrote the lines; 0: they do not say. */
size_t mt_text_owners_n(const struct mt_text_owners *o);
void mt_text_owners_free(struct mt_text_owners *o);

#endif
