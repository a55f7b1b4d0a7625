/*
 * processes.h - traces are merged from those of several processes: each is judged by itself, for
 * what one of them runs says nothing of another. Their blocks are held together.
 */
#ifndef MT_ADVICE_PROCESSES_H
#define MT_ADVICE_PROCESSES_H

#include "lib/advice/rules.h"

/* Splits facts whose ops, blocks and records are loaded into `parts`, one for each process, where
 * there are several. process: by op. The parts are to be finished (facts.h). */
void mt_advice_split(struct mt_advice_facts *f, const uint32_t *process, uint32_t process_n);
void mt_advice_parts_free(struct mt_advice_facts *f);

/* Applies a rule to the plan, to each process by itself. Returns whether there is anything to
 * change in any; p->because says in how many. */
bool mt_advice_apply_rule(struct mt_advice_plan *p, const struct mt_advice_rule *rule);

#endif
