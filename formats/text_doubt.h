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

#endif
