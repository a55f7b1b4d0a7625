/*
 * nearest.h - the names nearest to a word: "did you mean".
 */
#ifndef MT_NEAREST_H
#define MT_NEAREST_H

#include "lib/base/mem.h"

#define MT_NEAREST_MAX 3

/* Indexes of the up to MT_NEAREST_MAX names nearest to `word`, nearest first; returns how many.
 * A name is near at an edit distance <= 1/3 of the word's length, at least 2, less than all. */
size_t mt_nearest_of(const char *word, const char *const *names, size_t n,
                     size_t out[MT_NEAREST_MAX]);

/* Appends them: "table, tree"; nothing when none is near. */
void mt_nearest(const char *word, const char *const *names, size_t n, struct mt_buf *out);

/* Appends "Did you mean table, tree? "; nothing when none is near. */
void mt_did_you_mean(const char *word, const char *const *names, size_t n, struct mt_buf *out);

#endif
