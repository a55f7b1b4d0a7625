/*
 * held_text.h - how what a call path holds changes from moment to moment, as a row of the table
 * `holding` has it: JSON, [moment, bytes, blocks, moment, bytes, blocks, ...].
 */
#ifndef MT_HELD_TEXT_H
#define MT_HELD_TEXT_H

#include "lib/base/mem.h"
#include <stdbool.h>
#include <stdint.h>

struct mt_held_change {
    int64_t moment, bytes, blocks;
};

/* Adds one to a text that is empty at first, or ends the text, which has one at least. */
void mt_held_text_add(struct mt_buf *b, const struct mt_held_change *c);
void mt_held_text_end(struct mt_buf *b);

/* Takes the next one from *p, at first the whole text. False: there is none, or, in a damaged
 * database, no change that could be. */
bool mt_held_text_next(const char **p, struct mt_held_change *out);

#endif
