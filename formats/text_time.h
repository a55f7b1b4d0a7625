/*
 * text_time.h - the time of lines of a text, where a pattern says where it stands: a date with a
 * time (ISO 8601, or with a blank), a time of day, or a number of seconds or of another unit.
 */
#ifndef MT_TEXT_TIME_H
#define MT_TEXT_TIME_H

#include "lib/model/recording.h"

/* Zero-initialise. */
struct mt_text_clock {
    enum mt_text_time { MT_TIME_NONE, MT_TIME_DATE, MT_TIME_OF_DAY, MT_TIME_NUMBER } kind;
    int64_t first_ns, day_ns; /* the first time; ns of the midnights that passed since */
    int64_t now_ns;           /* since the first */
    int64_t resolution_ns;    /* of the finest one */
    bool zoned;               /* the first is one of the epoch */
    bool back;                /* the last one taken is before another: now_ns is that one's */
};

/* What matches is a time or looks like one; so many groups are in it. */
extern const char mt_text_time_regex[];
enum { MT_TEXT_TIME_GROUPS = 6 };

/* ns of a unit of numbers: s, ms, us, ns. 0: it is none. */
int64_t mt_text_time_unit(const char *s, size_t n);

/* Takes the time of the next line; a number counts units of unit_ns. false: it is no time, or of
 * another kind than the one before; nothing is taken then. */
bool mt_text_clock_take(struct mt_text_clock *c, const char *s, size_t n, int64_t unit_ns);

/* All is read: what times are, into the recording. */
void mt_text_clock_end(const struct mt_text_clock *c, struct mt_recording *rec);

#endif
