/*
 * text_doubt.h - numbers of a line that are, or may be, the rss of the process, though nobody can
 * say how many bytes that is: no limit passes by them.
 */
#ifndef MT_TEXT_DOUBT_H
#define MT_TEXT_DOUBT_H

#include "formats/text_pair.h"

/* Whether a number of no known unit is that of an rss, as its name ends in that or it is large:
 * "ru_maxrss: 9437184", "rss=9G". `end` is that of the line. */
bool mt_text_is_bare_rss(const struct mt_text_pair *p, const char *end);

/* Whether a name is of several figures at once: "rss cur/peak". */
bool mt_text_is_of_several(const char *name);

/* What stands in front of a size in its line. */
enum mt_text_behind {
    MT_BEHIND_LEVEL,  /* an rss, or its peak */
    MT_BEHIND_CHANGE, /* how much more it is, a limit */
    MT_BEHIND_AVERAGE /* or the least */
};

/* Whether the name of a size may mean that what stands in front of it was that at most, or became
 * that, or that another process has it: "RSS: 5 MB (max 7 MB)", "RSS grew by 5 MB, now 7 MB", "RSS:
 * main 5 MB, worker 7 MB". */
bool mt_text_is_another(const char *name, enum mt_text_behind behind);

#endif
