/*
 * layers.h - where the layers of a model end in which results are made, as far as they repeat
 * themselves: variables of a function name what it makes until it returns.
 */
#ifndef MT_ADVICE_LAYERS_H
#define MT_ADVICE_LAYERS_H

#include "lib/advice/facts.h"

/* By top op that makes a result (result[i] is not MT_NONE) the last op of its layer that does;
 * MT_NONE: it is of none that repeats itself. Allocated. */
uint32_t *mt_advice_layer_ends(const struct mt_advice_facts *f, const uint32_t *result);

#endif
