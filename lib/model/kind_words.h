/*
 * kind_words.h - what the parts of a recording are called, by its kind (knows.h).
 */
#ifndef MT_KIND_WORDS_H
#define MT_KIND_WORDS_H

#include "lib/model/knows.h"
#include <stdbool.h>

struct mt_kind_words {
    const char *noun;       /* "allocator snapshot" */
    const char *outside;    /* the explicit row of what no op, or no call path, is known of */
    const char *allocators; /* what allocates: "operators" */
    const char *no_steps;   /* what to do about one without steps: a whole sentence */
    const char *level;      /* what its curve is of: "allocated" */
};
extern const struct mt_kind_words mt_kind_words[MT_RUN_KIND_N];

/* Whether files of two formats count the same: one recorder may write both. */
bool mt_formats_alike(const char *a, const char *b);
/* What a file of a format is: "a PyTorch trace", "a heap log of dhat", "a process log of mprof". */
void mt_format_words(const char *format, char out[96]);

#endif
