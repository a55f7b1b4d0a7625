/*
 * heaptrack_ahead.h - what stands in the lines of an interpreted log of heaptrack, read in a thread
 * of its own, a few parcels ahead of what is made of it: most lines are events, by the million.
 */
#ifndef MT_HEAPTRACK_AHEAD_H
#define MT_HEAPTRACK_AHEAD_H

#include "lib/input/lines.h"

struct mt_ht_ahead;

/* Events, and the line behind them. */
struct mt_ht_part {
    const uint32_t *events; /* twice the number of the kind, and 1 where it frees; of kinds that
                               lines in front of it are about */
    size_t event_n;
    uint64_t offset; /* of the first of them, each of which is a line like "+ 3f" */
    bool has_line;   /* false: the next part goes on with events, or there is none */
    struct mt_line line;
};

/* Goes on with the lines where they are; they are the thread's until mt_ht_ahead_stop. Their
 * `progress` is called by mt_ht_ahead_next. kind_n: kinds so far; each line with an "a" in front is
 * one more. */
struct mt_ht_ahead *mt_ht_ahead_start(struct mt_lines *lines, size_t kind_n);

/* The next part, valid until the next call; *any false: there is none, nor will be. Errors: those
 * of mt_lines_next, after all parts before that. */
enum mt_status mt_ht_ahead_next(struct mt_ht_ahead *a, struct mt_ht_part *out, bool *any,
                                struct mt_err *err);

/* Where an event of a part stands. */
uint64_t mt_ht_part_offset(const struct mt_ht_part *part, size_t event);

/* Waits for the thread, which may have to wait for input that a pipe does not give
 * yet. Accepts NULL. */
void mt_ht_ahead_stop(struct mt_ht_ahead *a);

#endif
