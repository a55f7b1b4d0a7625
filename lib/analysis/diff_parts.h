/*
 * diff_parts.h - what the parts of diff share. Only lib/analysis/diff*.c include it.
 */
#ifndef MT_ANALYSIS_DIFF_PARTS_H
#define MT_ANALYSIS_DIFF_PARTS_H

#include "lib/analysis/diff.h"

/* ---- diff_collect.c ---- */

/* Fills groups, ops and living of a side whose lives are opened, and what of leaks is in whole.
 * Errors: MT_EDB. */
enum mt_status mt_diff_collect(struct mt_diff_side *s, struct mt_grouper *grouper, int parts,
                               int64_t warmup, struct mt_err *err);

/* ---- diff_figures.c ---- */

/* kept: of which figures (enum mt_kept) it is. */
void mt_diff_part_init(struct mt_diff_part *p, unsigned kept);
void mt_diff_part_free(struct mt_diff_part *p);
/* Adds to the figures of a group those of these that the part has. */
void mt_diff_part_add(struct mt_diff_part *p, uint32_t group, const struct mt_figures *f);
/* Adds the figures of one group to those of another. */
void mt_diff_part_merge(struct mt_diff_part *p, uint32_t to, uint32_t from);
/* Keeps the marked ones of n groups, which close ranks. Figures that no group has leave the set. */
void mt_diff_part_keep(struct mt_diff_part *p, const bool *marked, size_t n);
/* Sets those figures of a group, of a set that may be less than was added; of MT_NONE they are 0.
 */
void mt_diff_part_read(const struct mt_diff_part *p, uint32_t group, struct mt_figures *out);
/* Has what that reads fetched into the processor's cache. */
void mt_diff_part_soon(const struct mt_diff_part *p, uint32_t group);
/* As mt_figures_per_step, of all groups. */
void mt_diff_part_per_step(struct mt_diff_part *p, int64_t step_n);

#endif
