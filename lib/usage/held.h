/*
 * held.h - what each call path held, of runs that know no single blocks.
 */
#ifndef MT_HELD_H
#define MT_HELD_H

#include "lib/usage/live.h"

/* The explicit row of what is alive where the run does not say in which call paths. */
#define MT_HELD_UNKNOWN "[call paths unknown]"

/* What a call path holds (MT_NONE: no path), as blocks are kept: of no known time. */
struct mt_allocation mt_held(uint32_t node, int64_t bytes, int64_t blocks_n);

/*
 * Adds what call paths held at the peak, or, for record MT_AT_END, at the end: one entry for each
 * path, with how many blocks. What no call path is known of is one, too. Errors: MT_EDB.
 */
enum mt_status mt_held_at(struct mt_allocations *l, const struct mt_run_device *device,
                          int64_t record, struct mt_live_set *out, struct mt_err *err);

#endif
