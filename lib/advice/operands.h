/*
 * operands.h - which results ops take, as far as shapes tell: a residual connection takes one that
 * was made long before, a joined list many. A trace names no tensors, so a result is known by its
 * size: of several, one that nothing has taken yet, the latest; else one that is taken again.
 */
#ifndef MT_ADVICE_OPERANDS_H
#define MT_ADVICE_OPERANDS_H

#include "lib/advice/facts.h"

/* Fills operands of facts whose ops are loaded. Errors: MT_EDB. */
enum mt_status mt_advice_find_operands(struct mt_allocations *blocks, struct mt_advice_facts *f,
                                       struct mt_err *err);

/* Whether an op of that name runs over time in one piece. */
bool mt_advice_is_recurrent(const char *name);

/* Whether it takes weights beside its first operand: a layer does. */
bool mt_advice_is_weighted(const char *name);

/* When the first op of a layer begins, or a matrix product: models are built by then. INT64_MAX:
 * none does. */
int64_t mt_advice_first_layer(const struct mt_advice_facts *f);

/* The block that a top op hands on: the largest that it leaves, of recurrent ops the first;
 * MT_NONE: it leaves none. first, of_op: of mt_advice_blocks_of_ops. */
uint32_t mt_advice_result_of(const struct mt_advice_facts *f, const uint32_t *first,
                             const uint32_t *of_op, uint32_t top);

/* Numbers in a block, of the type it has or else that of the model. */
int64_t mt_advice_numbers(const struct mt_advice_facts *f, const struct mt_advice_block *b);

/*
 * By top op, allocated: the last op of its thread that takes its result; MT_NONE: none is known.
 * result: by top op, the block that it hands on; MT_NONE: none, or it is of no interest: it takes
 * nothing then, and nothing is taken across it. any_type: else integers are left out, which in
 * layers choose, or are data, and are not what ops hand on to each other.
 */
uint32_t *mt_advice_last_takers(const struct mt_advice_facts *f, const uint32_t *result,
                                const bool *skipped, bool any_type);

#endif
