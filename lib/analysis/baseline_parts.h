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

/* ---- the file ---- */

#define MT_BASELINE_SCHEMA "memtool.baseline"
enum {
    MT_BASELINE_VERSION = 1,
    MT_BASELINE_FILE_N = MT_FIG_SUSPECT_PER_STEP_B /* the figures that stand in files come first */
};

/* Of levels by step: where the highest rises, the highest in the last step and behind it, and
 * where the level at the end of steps changes. */
enum { MT_BASELINE_STEP_KEYS_N = 4 };
extern const char *const mt_baseline_step_keys[MT_BASELINE_STEP_KEYS_N];
/* What is older: bytes, the least and the most that it is estimated at. */
extern const char *const mt_baseline_older_keys[3];

/* Whether rows that are no ops have such a name. An op may be called the same, and says so. */
bool mt_baseline_is_explicit(const char *op);

#endif
