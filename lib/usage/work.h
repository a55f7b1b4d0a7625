/*
 * work.h - what a process did beside having memory: its threads, and the processor time it took.
 */
#ifndef MT_USAGE_WORK_H
#define MT_USAGE_WORK_H

#include "lib/usage/samples.h"

struct mt_work {
    struct mt_levels threads, cpu; /* numbers; ns since the process began */
    int64_t end_ns;                /* when it was gone; INT64_MAX: not in the recording */
};

/* Of a device that is a process, or all of them. Allocated. Errors: MT_EDB. */
enum mt_status mt_work_load(struct mt_db *db, const struct mt_run *run,
                            const struct mt_run_device *device, struct mt_work *out,
                            struct mt_err *err);
void mt_work_free(struct mt_work *w);

/* The most threads at one time in the window, and the processor time taken in it, between two
 * samples as if it were taken evenly. MT_UNKNOWN: not recorded, or the process was gone. */
int64_t mt_work_threads(const struct mt_work *w, const struct mt_window *window);
int64_t mt_work_cpu(const struct mt_work *w, const struct mt_window *window);

#endif
