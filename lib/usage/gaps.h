/*
 * gaps.h - what a recording does not cover, so that its figures are those of a part.
 */
#ifndef MT_GAPS_H
#define MT_GAPS_H

#include "lib/run/category_words.h"
#include "lib/run/knows.h"
#include "lib/usage/live.h"

/* The gaps of a run in what it says of a device, enum mt_gap or-ed. Errors: MT_EDB. */
enum mt_status mt_run_gaps(struct mt_db *db, const struct mt_run *run,
                           const struct mt_run_device *device, unsigned *out, struct mt_err *err);

/* "has no history, only ...": what follows the name of a run with gaps. Static. */
const char *mt_gaps_text(unsigned gaps);

/* Up to when the levels of a run with such gaps are known: of a file that ends early, up to the
 * last record that was read; of processes, up to the last look. INT64_MAX: to its end. Errors:
 * MT_EDB. */
enum mt_status mt_run_known_until(struct mt_db *db, const struct mt_run *run, unsigned gaps,
                                  int64_t *out, struct mt_err *err);

/* Whether it is open which blocks are of the categories that the device is narrowed to: a trace
 * tells what memory is for by when it is freed, too. What they hold is then neither known nor a
 * bound. */
static inline bool mt_categories_are_open(const struct mt_run *run,
                                          const struct mt_run_device *device, unsigned gaps)
{
    return !mt_category_set_is_whole(device->only) && run->kind == MT_RUN_TRACE &&
           gaps & MT_GAPS_OF_FREES;
}

/* Whether the peak of the device is known. Else it is that of a part of the run, or leaves out
 * older blocks (records without addresses): the device held that much at least, but for
 * MT_GAPS_OF_LEVELS. */
static inline bool mt_peak_is_known(const struct mt_run_device *device, unsigned gaps)
{
    return !gaps && (mt_device_has_events(device) ? mt_allocations_are_known(device)
                                                  : mt_device_knows(device, MT_KNOWS_PEAK));
}

#endif
