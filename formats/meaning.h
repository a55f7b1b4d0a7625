/*
 * meaning.h - files that have a number for each call path, and do not say what it counts.
 */
#ifndef MT_MEANING_H
#define MT_MEANING_H

#include "formats/format.h"
#include "lib/model/heap.h"

/* What the numbers are: as the user says (opts->values), else `usual`, which is then noted. */
enum mt_meaning mt_meaning_of(const struct mt_read_opts *opts, enum mt_meaning usual,
                              struct mt_recording *rec);

/* The figures (enum mt_sum_figures) that this is of. */
unsigned mt_meaning_figures(enum mt_meaning what, bool blocks);

/* The figure of a path; node MT_NONE: of none. blocks MT_UNKNOWN: the file does not say. Call it
 * with 0 of no path once, lest a file without paths knows nothing. Errors: as mt_heap_sums. */
enum mt_status mt_meaning_give(struct mt_heap *h, uint32_t node, enum mt_meaning what,
                               int64_t bytes, int64_t blocks, struct mt_err *err);

#endif
