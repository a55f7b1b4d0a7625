/*
 * growth_words.h - whether a process grows, in words.
 */
#ifndef MT_GROWTH_WORDS_H
#define MT_GROWTH_WORDS_H

#include "lib/analysis/growth.h"

/* Whole bytes of a rate. */
int64_t mt_growth_bytes(double bytes);

/* "a step", "a minute", "an event". Static. */
const char *mt_growth_unit(const struct mt_growth *g);

/* Behind "rss": "grows 64 KiB a step (95 %: 62 KiB to 66 KiB)", "flat: ...", "cannot tell: ...". */
void mt_growth_words(const struct mt_growth_process *p, struct mt_buf *out);

#endif
