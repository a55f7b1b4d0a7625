/*
 * heaptrack_events.h - lines of events: "+ 3f" allocates a block of kind 3f, "- 3f" frees one.
 *
 * Most of a log are such lines, often millions of them behind each other.
 */
#ifndef MT_HEAPTRACK_EVENTS_H
#define MT_HEAPTRACK_EVENTS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads up to cap events that come at *p, up to any other line, one that does not end before `end`,
 * and one whose kind is not below kind_n, to 2^31 at most. out: twice the kind, and 1 where it
 * frees. Behind `end` are 64 bytes that can be read and are no part of a line. Returns how many; *p
 * is moved behind them.
 */
size_t mt_ht_event_lines(const char **p, const char *end, uint32_t kind_n, uint32_t *out,
                         size_t cap);

#endif
