/*
 * profiled.h - when PyTorch's profiler was in a process that was recorded (memtool record --torch).
 * What it keeps is in the process's memory, and grows with every operator.
 */
#ifndef MT_PROFILED_H
#define MT_PROFILED_H

#include "lib/run/time_arg.h"

struct mt_profiled {
    bool any, other;                    /* one was here; in another process of the run */
    struct mt_window life;              /* to_ns INT64_MAX: to the end, or nobody knows */
    struct mt_window starting, writing; /* parts of that, with memory of their own; else empty */
};

/* Of a device that is a process. Of several profilers, one after the other, from the begin of the
 * first to the end of the last. Errors: MT_EDB. */
enum mt_status mt_profiled_load(struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *process, struct mt_profiled *out,
                                struct mt_err *err);

/* Whether it started, or wrote its trace, at that time. */
static inline bool mt_profiled_is_busy(const struct mt_profiled *p, int64_t t_ns)
{
    return (t_ns >= p->starting.from_ns && t_ns < p->starting.to_ns) ||
           (t_ns >= p->writing.from_ns && t_ns < p->writing.to_ns);
}

#endif
