/*
 * named.h - how long a program names the results of ops, as far as stacks tell.
 */
#ifndef MT_ADVICE_NAMED_H
#define MT_ADVICE_NAMED_H

#include "lib/advice/facts.h"

/* When the outermost call returns that a result of op `maker` is handed to, of those around op
 * `user`: a call names its arguments. The end of `user` where that is the maker itself, or no
 * stacks were recorded. */
int64_t mt_advice_returned(const struct mt_advice_facts *f, uint32_t maker, uint32_t user);

#endif
