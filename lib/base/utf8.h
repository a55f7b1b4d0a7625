/*
 * utf8.h - strict UTF-8, one character at a time.
 */
#ifndef MT_UTF8_H
#define MT_UTF8_H

#include "lib/base/mem.h"
#include <stdbool.h>
#include <stdint.h>

/*
 * Decodes the character at s (NUL-terminated, not at its end) into *cp and returns its length,
 * 1 to 4 bytes. Returns 0 when no valid character begins there: a stray or missing continuation
 * byte, an overlong form, a surrogate, a value above U+10FFFF. Never looks past the NUL.
 */
int mt_utf8_next(const char *s, uint32_t *cp);

/* True for characters that act on a terminal or reorder text instead of being shown: C0 and C1
 * controls, DEL, line separators, bidirectional marks, embeddings, overrides and isolates. */
bool mt_utf8_acts(uint32_t cp);

/* Appends s as every format can hold it: bytes that are no UTF-8 become U+FFFD, characters that act
 * a blank. */
void mt_utf8_clean(struct mt_buf *to, const char *s);
/* The same, but what acts stays. */
void mt_utf8_mend(struct mt_buf *to, const char *s);

#endif
