/*
 * attention.h - where nn.MultiheadAttention attends to itself: without a graph and in eval mode it
 * takes a fast path, which on CPUs computes all weights at once, though with a graph they never
 * are (scaled_dot_product_attention), or, where they are returned, in the place of the scores.
 */
#ifndef MT_ADVICE_ATTENTION_H
#define MT_ADVICE_ATTENTION_H

#include "lib/advice/facts.h"

/* Fills attention of facts whose ops and operands are loaded; where no shapes were recorded, there
 * is none. Errors: MT_EDB. */
enum mt_status mt_advice_find_attention(struct mt_allocations *blocks, struct mt_advice_facts *f,
                                        struct mt_err *err);

#endif
