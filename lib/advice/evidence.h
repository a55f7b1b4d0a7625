/*
 * evidence.h - where in a program the bytes are that a change touches.
 */
#ifndef MT_ADVICE_EVIDENCE_H
#define MT_ADVICE_EVIDENCE_H

#include "lib/advice/advice.h"

/* Fills what the plan touches of what was alive at the recorded peak: sites, at_peak_b, at_peak_n
 * of *out. Texts go into strings. */
void mt_advice_find_evidence(const struct mt_advice_plan *p, struct mt_strtab *strings,
                             struct mt_advice *out);

/* The innermost node of the call tree that is around both; MT_NONE: none is. */
uint32_t mt_advice_around(const struct mt_advice_facts *f, uint32_t a, uint32_t b);

/* Appends what a piece of the program is called whose ops are inside of the node: "Block_3", or
 * the annotation around it; nothing where it has no name. */
void mt_advice_add_piece_name(const struct mt_advice_facts *f, uint32_t node, struct mt_buf *out);

#endif
