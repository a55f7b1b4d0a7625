/*
 * numbered.h - sites whose scopes are called by a number: record_function(f"step {i}") is another
 * scope in every step.
 */
#ifndef MT_NUMBERED_H
#define MT_NUMBERED_H

#include "lib/base/mem.h"

/* Append a scope, or a site, with # for each number in the scope, so that "step 3" and "step 14"
 * are one. A word of digits and letters (7f3a9c) is a number; of three letters or more with digits
 * behind them (layer12) the letters stay. Of a site that is no more than a scope, words of digits
 * alone are numbers, but for those of lines (train.py:12). */
void mt_numbered_scope_add(struct mt_buf *out, const char *scope);
void mt_numbered_site_add(struct mt_buf *out, const char *site);

#endif
