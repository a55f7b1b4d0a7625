/*
 * growing.h - which sites hold more from step to step, as `memtool leaks` tells
 * (lib/analysis/leaks.h): what advice calls growth is what leaks calls a leak or a candidate.
 */
#ifndef MT_ADVICE_GROWING_H
#define MT_ADVICE_GROWING_H

#include "lib/advice/facts.h"

/* Marks the blocks that may be dead though no record frees them (lib/analysis/doubt.h). Errors:
 * MT_EDB. */
enum mt_status mt_advice_find_doubt(struct mt_allocations *blocks, struct mt_advice_facts *f,
                                    struct mt_err *err);

/* Fills growing and growing_of of facts that are loaded; leaves them alone where steps are too few
 * to tell. Errors: MT_EDB. */
enum mt_status mt_advice_find_growing(struct mt_allocations *blocks, struct mt_advice_facts *f,
                                      struct mt_err *err);
void mt_advice_growing_free(struct mt_advice_facts *f);

#endif
