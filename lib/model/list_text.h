/*
 * list_text.h - lists of integers, as rows of the tables `holding` and `node_extra` have them:
 * JSON, [1,-2,null]. What a call path holds changes from moment to moment: [moment, bytes, blocks,
 * moment, bytes, blocks, ...] or, where each change has the same bytes for a block, [moment,
 * blocks, moment, blocks, ...]. Moments count from the one before: they are small.
 */
#ifndef MT_LIST_TEXT_H
#define MT_LIST_TEXT_H

#include "lib/base/mem.h"
#include <stdbool.h>
#include <stdint.h>

/* Adds one to a text that is empty at first, or ends the text, which has one at least. The smallest
 * integer is null. */
void mt_list_text_add(struct mt_buf *b, int64_t v);
void mt_list_text_end(struct mt_buf *b);

/* Takes the next one from *p, at first the whole text. False: there is none, or, in a damaged
 * database, nothing that could be one. */
bool mt_list_text_next(const char **p, int64_t *v);

struct mt_held_change {
    int64_t moment, bytes, blocks;
};

/* The same of changes. size: bytes for a block; 0: they differ. last: moment of the one before, 0
 * at first; *c is the one before, all 0 at first, and becomes the next. */
void mt_held_text_add(struct mt_buf *b, int64_t size, const struct mt_held_change *c, int64_t last);
bool mt_held_text_next(const char **p, int64_t size, struct mt_held_change *c);

#endif
