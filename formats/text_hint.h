/*
 * text_hint.h - a pattern (text_pattern.h) for a text of which memtool does not know what its lines
 * say, made from one of its lines.
 */
#ifndef MT_TEXT_HINT_H
#define MT_TEXT_HINT_H

#include "lib/base/mem.h"
#include <stdbool.h>

/* Into out, which is empty: a pattern that fits the first line of the n bytes at text which has a
 * name and a size of memory. It has no quotes. false: there is no such line. */
bool mt_text_hint(const char *text, size_t n, struct mt_buf *out);

#endif
