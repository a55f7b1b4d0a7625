/*
 * kept.h - what is held longer than the iteration that it is of: by a step, or without steps from
 * where a loop makes its data.
 */
#ifndef MT_ADVICE_KEPT_H
#define MT_ADVICE_KEPT_H

#include "lib/advice/facts.h"

enum { MT_ADVICE_SCALAR_B = 8 };

/* Fills `kept` of facts that are otherwise loaded; no sites: nothing outlives its iteration, or
 * there are too few to tell. */
void mt_advice_kept_find(struct mt_advice_facts *f);
void mt_advice_kept_free(struct mt_advice_facts *f);

/* Index of the iteration at that time, -1: before the first; and when one ends. */
int64_t mt_advice_iteration_at(const struct mt_advice_kept *k, int64_t t_ns);
int64_t mt_advice_iteration_end(const struct mt_advice_kept *k, int64_t i);

/* The site of a block, if the program keeps blocks of it; NULL: it does not, as far as is known. */
const struct mt_advice_kept_site *mt_advice_kept_site_of(const struct mt_advice_facts *f,
                                                         const struct mt_advice_block *b);

/* Which blocks something keeps beyond their iterations, more in each: these are kept, too, if they
 * are made in parts, and once more if they are made again. By block, allocated. */
bool *mt_advice_find_kept(const struct mt_advice_facts *f);

#endif
