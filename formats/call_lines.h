/*
 * call_lines.h - what stands around the calls in logs of strace and ltrace: whose call it is, when
 * and where it was, and whether it ends later.
 */
#ifndef MT_CALL_LINES_H
#define MT_CALL_LINES_H

#include "lib/input/fields.h"

/* Zeroed at the beginning of a log. */
struct mt_call_clock {
    int64_t day, last; /* ns: of the midnight before, of the last line */
    bool absolute; /* a line had a time of day or of the epoch: none is behind the line before */
};

/* "[pid 12] ", or "12 " where that is no time, also with a name, "12<app> "; 0: it has none. */
uint64_t mt_call_pid(struct mt_fields *f);

/* "11:16:33.123456", "1795213450.137316", "0.000123" (behind the line before), in ns; over midnight
 * it goes on. false: it has none. */
bool mt_call_time(struct mt_fields *f, struct mt_call_clock *clock, int64_t *t);

/* Takes the place of a call, "[00007f0123456789] " or "[0x401136] ", if there is one. */
void mt_call_place(struct mt_fields *f);

/* Whether the line ends in the text, as with "<unfinished ...>" where a call returns later. */
bool mt_call_ends(const struct mt_fields *f, const char *text);

/* The name of a call whose rest stands somewhere in the line, "<... NAME resumed>", *n bytes; NULL:
 * there is none. */
const char *mt_call_resumed(const struct mt_fields *f, size_t *n);

#endif
