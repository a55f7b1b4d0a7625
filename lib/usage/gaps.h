/*
 * gaps.h - what a recording does not cover, so that its figures are those of a part.
 */
#ifndef MT_GAPS_H
#define MT_GAPS_H

#include "lib/run/knows.h"
#include "lib/usage/live.h"

enum mt_gap {
    MT_GAP_HISTORY = 1, /* a snapshot without history: of one moment */
    MT_GAP_BEGIN = 2,   /* the recorder dropped the oldest events */
    MT_GAP_END = 4,     /* the file ends early */
    MT_GAP_REST = 8,    /* something follows the recording's end, and was left out */
    MT_GAP_DAMAGE = 16, /* damaged events were left out */
    /* The recorder's own total shows that records of the device are missing: */
    MT_GAP_MISSING = 32,  /* at the end it has more or less than they add up to */
    MT_GAP_ABOVE = 64,    /* at some time it is above the level */
    MT_GAP_BELOW = 128,   /* at some time it is below */
    MT_GAP_NOTHING = 256, /* nothing was allocated: it was hardly recorded */
};

/* Frees may be missing: what seems to stay may have been freed, so nothing can be called a leak,
 * and what is alive at the end is unknown. */
enum {
    MT_GAPS_OF_FREES = MT_GAP_END | MT_GAP_REST | MT_GAP_DAMAGE | MT_GAP_MISSING | MT_GAP_NOTHING
};
/* Frees may be missing before others that are there: levels may be too high as well as too low. */
enum { MT_GAPS_OF_LEVELS = MT_GAP_DAMAGE | MT_GAP_BELOW };

/* The gaps of a run in what it says of a device, enum mt_gap or-ed. Errors: MT_EDB. */
enum mt_status mt_run_gaps(struct mt_db *db, const struct mt_run *run,
                           const struct mt_run_device *device, unsigned *out, struct mt_err *err);

/* "has no history, only ...": what follows the name of a run with gaps. Static. */
const char *mt_gaps_text(unsigned gaps);

/* Whether the peak of the device is known. Else it is that of a part of the run, or leaves out
 * older blocks (records without addresses): the device held that much at least, but for
 * MT_GAPS_OF_LEVELS. */
static inline bool mt_peak_is_known(const struct mt_run_device *device, unsigned gaps)
{
    return !gaps && (mt_device_has_events(device) ? mt_allocations_are_known(device)
                                                  : mt_device_knows(device, MT_KNOWS_PEAK));
}

#endif
