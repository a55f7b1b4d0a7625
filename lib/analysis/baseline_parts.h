/*
 * baseline_parts.h - what the files lib/baseline*.c share; nobody else includes it.
 */
#ifndef MT_BASELINE_PARTS_H
#define MT_BASELINE_PARTS_H

#include "lib/analysis/baseline.h"
#include "lib/base/json_out.h"
#include "lib/input/json_doc.h"

/* The text as the baseline keeps it. */
const char *mt_baseline_text(struct mt_baseline *b, const char *s);

/* The figures of a site in one of the repeats that differ: at first 0. Valid until the next call.
 */
int64_t *mt_baseline_each_at(struct mt_baseline_site *s, size_t repeat);

/* Frees the figures of repeats that have none, and all where they are the same in all. */
void mt_baseline_each_settle(struct mt_baseline_site *s, size_t repeat_n);

/* The sites of the device of that name in any of n repeats; `which` gives their own figures. */
void mt_baseline_fold_sites(const struct mt_baseline *repeats, size_t n, size_t which,
                            const char *name, struct mt_baseline *out,
                            struct mt_baseline_device *to);

/* Figures in order, and whose they are; the least comes first. */
struct mt_ranked {
    int64_t value;
    size_t index;
};
int mt_ranked_cmp(const void *a, const void *b); /* for qsort */

/* ---- why a figure is unknown ---- */

/* Says it of all that a measured device does not know, or knows of a part only; what the run lacks
 * altogether is said already. */
void mt_baseline_explain_unknown(const struct mt_run_device *device, unsigned gaps,
                                 struct mt_baseline_device *to);
/* Of the device of n repeats: what the first says that does not know it. */
void mt_baseline_fold_unknown(const struct mt_baseline *repeats, size_t n, struct mt_baseline *out,
                              struct mt_baseline_device *to);
#define MT_BASELINE_UNKNOWN_KEY "unknown"
/* Always there, perhaps empty: a file without it was written before anybody asked. */
void mt_baseline_write_unknown(struct mt_json_out *j, const struct mt_baseline *b,
                               const struct mt_baseline_device *d);
/* From a device of a file, after its figures. Errors: MT_EINPUT. */
enum mt_status mt_baseline_read_unknown(const struct mt_json_doc *d,
                                        const struct mt_json_doc_value *from, struct mt_baseline *b,
                                        struct mt_baseline_device *to, struct mt_err *err);

/* What is known of the peak of a process beyond what was seen, and what it grows. Errors: MT_EDB.
 */
enum mt_status mt_baseline_measure_process(struct mt_db *db, const struct mt_run *run,
                                           const struct mt_run_device *device, unsigned gaps,
                                           const struct mt_steps *steps, struct mt_baseline *b,
                                           struct mt_baseline_device *to, struct mt_err *err);

/* ---- the file ---- */

#define MT_BASELINE_SCHEMA "memtool.baseline"
enum {
    MT_BASELINE_VERSION = 1,
    MT_BASELINE_FIRST_N =
        MT_FIG_SUSPECT_PER_STEP_B /* figures in files of all versions come first */
};

/* Of levels by step: where the highest rises, the highest in the last step and behind it, and
 * where the level at the end of steps changes. */
enum { MT_BASELINE_STEP_KEYS_N = 4 };
extern const char *const mt_baseline_step_keys[MT_BASELINE_STEP_KEYS_N];
/* What is older: bytes, the least and the most that it is estimated at. */
extern const char *const mt_baseline_older_keys[3];

/* Whether rows that are no ops have such a name. An op may be called the same, and says so. */
bool mt_baseline_is_explicit(const char *op);

/* What a figure of a file may be beside a number from 0 on: null, which is unknown; less than 0. */
enum { MT_BASELINE_MAY_BE_NULL = 1, MT_BASELINE_MAY_FALL = 2 };
enum mt_status mt_baseline_read_figure(const struct mt_json_doc *d,
                                       const struct mt_json_doc_value *v, int may, int64_t *out,
                                       struct mt_err *err);
/* Two numbers; *n: how many there are. What they should be is for the caller to say. */
enum mt_status mt_baseline_read_pair(const struct mt_json_doc *d,
                                     const struct mt_json_doc_value *pair, int may,
                                     int64_t figures[2], size_t *n, struct mt_err *err);
void mt_baseline_write_int(struct mt_json_out *j, const char *key, int64_t v);
void mt_baseline_write_pair(struct mt_json_out *j, int64_t a, int64_t b);

/* Levels by steps (baseline_steps.c), of a device and of each of its repeats, where these differ.
 */
#define MT_BASELINE_STEPS_KEY "steps_of_each"
void mt_baseline_write_steps(struct mt_json_out *j, const struct mt_baseline_device *d);
/* repeat_n: those that the file names. Errors: MT_EINPUT. */
enum mt_status mt_baseline_read_steps(const struct mt_json_doc *d,
                                      const struct mt_json_doc_value *from, size_t repeat_n,
                                      struct mt_baseline_device *to, struct mt_err *err);

/* baseline_temporary.c */
enum mt_status mt_baseline_measure_temporary(struct mt_db *db, const struct mt_run *run,
                                             const struct mt_run_device *device, unsigned gaps,
                                             struct mt_baseline_other *to, struct mt_err *err);

#endif
