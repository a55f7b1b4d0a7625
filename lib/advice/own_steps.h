/*
 * own_steps.h - the steps of one process of several, whose loops say nothing of each other.
 */
#ifndef MT_ADVICE_OWN_STEPS_H
#define MT_ADVICE_OWN_STEPS_H

#include "lib/advice/facts.h"

/* Finds the steps of a part from its own ops: ProfilerStep#N, else from the end of one round of its
 * optimizers to the end of the next, a round being as many of their steps as backward passes repeat
 * themselves after (docs/attribution.md). part: its backward passes, links and optimizers are
 * known. out: empty where it has none, or they cannot be told; numbered from 0. Free it with
 * mt_steps_free. */
void mt_advice_find_steps(const struct mt_advice_facts *part, struct mt_steps *out);

#endif
