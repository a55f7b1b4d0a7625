/*
 * text_header.h - a number in front of what a line of a log says, which may be a PID: behind a date
 * or a level, in brackets, or in a column of its own.
 */
#ifndef MT_TEXT_HEADER_H
#define MT_TEXT_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "2026-11-28 10:00:00 713 rss", "[2026-11-28 10:00:00] [4711] [INFO] ", "0 | ": the first number
 * of the header; its end, or NULL: there is none, or it counts what is behind it, "3 workers".
 * *sure: a PID stands there, by a level. */
const char *mt_text_header(const char *line, size_t n, uint64_t *number, bool *sure);
/* Whether the number in front of p counts what is there: "3 workers", "45 req/s", "3 of 7",
 * "25 ms". */
bool mt_text_is_counted(const char *p, const char *end);

#endif
