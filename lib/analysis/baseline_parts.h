/*
 * baseline_parts.h - what the files lib/baseline*.c share; nobody else includes it.
 */
#ifndef MT_BASELINE_PARTS_H
#define MT_BASELINE_PARTS_H

#include "lib/analysis/baseline.h"

/* The text as the baseline keeps it. */
const char *mt_baseline_text(struct mt_baseline *b, const char *s);

/* Room for the figures of each repeat, all 0. */
int64_t *mt_baseline_each_new(size_t repeat_n);

/* Frees the figures of each repeat where they are the same in all. */
void mt_baseline_each_settle(struct mt_baseline_site *s, size_t repeat_n);

/* The sites of the device of that name in any of n repeats; `which` gives their own figures. */
void mt_baseline_fold_sites(const struct mt_baseline *repeats, size_t n, size_t which,
                            const char *name, struct mt_baseline *out,
                            struct mt_baseline_device *to);

#endif
