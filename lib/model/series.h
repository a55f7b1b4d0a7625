/*
 * series.h - dumps of one process, written one after the other, as one recording with moments: what
 * paths held at each. Its levels are known at these moments only, what is alive at the end is what
 * the last dump has, and what was allocated in all is what the last one says.
 *
 * Dumps are in order of their times where all know when they were written, and times are then ns
 * from the first; else in the order given, and times are their numbers from 0, in "dumps".
 */
#ifndef MT_SERIES_H
#define MT_SERIES_H

#include "lib/model/recording.h"

struct mt_series;

/* The recording is empty; its format, kind, limits are set. Free with mt_series_free. */
struct mt_series *mt_series_new(struct mt_recording *into);
void mt_series_free(struct mt_series *s); /* accepts NULL */

/* Adds a dump as its reader left it; name: for messages. Errors: MT_EUSAGE (it is no dump of one
 * moment that says what was alive), MT_ELIMIT. */
enum mt_status mt_series_add(struct mt_series *s, const struct mt_recording *dump, const char *name,
                             struct mt_err *err);

/* Puts them into the recording. Errors: MT_EUSAGE (fewer than two; what was allocated in all falls
 * from one to the next, so that they are of several processes, or not in order), MT_EINPUT,
 * MT_ELIMIT. */
enum mt_status mt_series_close(struct mt_series *s, struct mt_err *err);

#endif
