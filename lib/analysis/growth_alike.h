/*
 * growth_alike.h - growth that the least of a curve hides: several processes that print alike, such
 * as ranks, are one curve, whose least is of the lowest of them.
 */
#ifndef MT_GROWTH_ALIKE_H
#define MT_GROWTH_ALIKE_H

#include "lib/analysis/growth_fit.h"

/* Whether the mean of the looks, or the most, grows by more than the least may, of what was judged:
 * then nobody can tell. Only where others may have levels among these (wanted->alike); without
 * steps also by rounds, in which each prints once. */
bool mt_growth_hides(const struct mt_growth_curve *c, const struct mt_growth *g);

#endif
