/*
 * stamp.h - times between what is written again and again, each in a line of its own, as `date`
 * writes them: seconds of the epoch (`date +%s`, `date +%s.%N`), ISO 8601 (`date -Is`), and what
 * `date` writes without a format in English.
 *
 * What comes next happens at the last stamp. Without any, times are the numbers of what comes, from
 * 0: each round of it is one.
 */
#ifndef MT_STAMP_H
#define MT_STAMP_H

#include "lib/model/recording.h"

/* Zero-initialise. */
struct mt_stamps {
    bool any, zoned; /* there are stamps; they say of which zone they are */
    bool older;      /* the last one is before the first */
    int64_t first_ns;
    int64_t now; /* the time of what comes: ns from the first stamp, or a number */
    int64_t round_n;
};

/* Whether the line is a stamp; *ns since the epoch, *zoned: of a zone that is said. */
bool mt_stamp_read(const char *s, size_t n, int64_t *ns, bool *zoned);
/* The same of a time of day alone, "23:38:55.123"; *ns of the day. */
bool mt_stamp_time_of_day(const char *s, size_t n, int64_t *ns);

/* Takes the line if it is a stamp. Those behind the first round of a text that began without one
 * are taken, and mean nothing. */
bool mt_stamps_take(struct mt_stamps *st, const char *s, size_t n);

/* Another round begins. */
void mt_stamps_round(struct mt_stamps *st);

/* All is read: what times are, into the recording. */
void mt_stamps_end(const struct mt_stamps *st, struct mt_recording *rec);

#endif
