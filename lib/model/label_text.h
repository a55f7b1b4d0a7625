/*
 * label_text.h - what a recorder was told of allocations, as one text: "handler=/x, tenant=a".
 *
 * A backslash stands before a comma and a space inside a key or value, an = inside a key, and a
 * backslash where it would be taken for such a one.
 */
#ifndef MT_LABEL_TEXT_H
#define MT_LABEL_TEXT_H

#include "lib/base/mem.h"

#include <stdbool.h>

/* Adds a label to the text. */
void mt_label_add(struct mt_buf *text, const char *key, const char *value);

/* The label that begins at *at, which is behind it then: its key and value as they were added, in
 * buffers that are emptied first. false: there is none. */
bool mt_label_next(const char **at, struct mt_buf *key, struct mt_buf *value);

#endif
