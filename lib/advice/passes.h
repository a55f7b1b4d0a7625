/*
 * passes.h - which forward passes a backward pass runs, and what others make.
 */
#ifndef MT_ADVICE_PASSES_H
#define MT_ADVICE_PASSES_H

#include "lib/advice/facts.h"

/* Inside of what an op is of no forward pass: of enum mt_inside. */
#define MT_OTHER_WORK (MT_IN_ENGINE | MT_IN_OPTIMIZER | MT_IN_ZERO_GRAD | MT_IN_LOADER)

/* By op, allocated: whether a backward pass has run it, or what lies around it; a few ops in a row
 * that none runs are no forward pass of their own. first, of_op: of mt_advice_blocks_of_ops. row,
 * by op: the first one since the last that was run backward. */
bool *mt_advice_find_consumed(const struct mt_advice_facts *f, const uint32_t *first,
                              const uint32_t *of_op, uint32_t *row);

/* By block, allocated: made in a forward pass that no backward pass runs, and given to none. */
bool *mt_advice_find_evaluated(const struct mt_advice_facts *f);

#endif
