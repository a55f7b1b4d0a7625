/*
 * gaps.h - what a recording does not cover, so that its figures are those of a part.
 */
#ifndef MT_GAPS_H
#define MT_GAPS_H

#include "lib/live.h"

enum mt_gap {
    MT_GAP_HISTORY = 1, /* a snapshot without history: of one moment */
    MT_GAP_BEGIN = 2,   /* the recorder dropped the oldest events */
    MT_GAP_END = 4,     /* the file ends early */
};

/* The gaps of a run, enum mt_gap or-ed. Errors: MT_EDB. */
enum mt_status mt_run_gaps(struct mt_db *db, const struct mt_run *run, unsigned *out,
                           struct mt_err *err);

/* "has no history, only ...": what follows the name of a run with gaps. Static. */
const char *mt_gaps_text(unsigned gaps);

/* Whether the peak of the device is known. Else it is that of a part of the run, or leaves out
 * older blocks (records without addresses): the device held that much at least. */
static inline bool mt_peak_is_known(const struct mt_run_device *device, unsigned gaps)
{
    return !gaps && mt_lives_are_known(device);
}

#endif
