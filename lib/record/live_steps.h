/*
 * live_steps.h - steps of a trace for the run of processes that was recorded with it.
 */
#ifndef MT_LIVE_STEPS_H
#define MT_LIVE_STEPS_H

#include "lib/db/db.h"

/* A run of processes that has no steps has those of a trace of one of them from now on, on its own
 * clock. In a transaction of the caller. Errors: MT_EDB. */
enum mt_status mt_live_take_steps(struct mt_db *db, int64_t run, int64_t trace, int64_t later_ns,
                                  struct mt_err *err);

/* Where its steps are those of that trace: the steps behind them, which ended at these times since
 * the run began, each begins with the end of the one before. In a transaction of the caller.
 * Errors: MT_EDB. */
enum mt_status mt_live_later_steps(struct mt_db *db, int64_t run, int64_t trace,
                                   const int64_t *end_ns, size_t n, struct mt_err *err);

#endif
