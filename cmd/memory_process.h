/*
 * memory_process.h - `memtool memory` of processes: what the system counted, and what PyTorch had
 * of it, by traces in the run's group.
 */
#ifndef MT_MEMORY_PROCESS_H
#define MT_MEMORY_PROCESS_H

#include "cmd/view.h"
#include "lib/render/report.h"
#include "lib/usage/process.h"

struct mt_memory_asked {
    struct mt_window window;
    bool levels, steps;   /* they are needed: a part is asked for */
    struct mt_strings at; /* one moment or two instead of a window */
    bool per_step;        /* each step instead */
    bool brief;           /* of a window or moments: the figures alone that are compared first, */
    bool *hidden;         /* which is set if there are others */
};

/* Its columns; of a window those behind the ones that all devices have. */
void mt_memory_process_columns(struct mt_report *r, size_t at_n);
/* Those of each step, one of them for each figure that a log tells of its program. Errors: MT_EDB.
 */
enum mt_status mt_memory_step_columns(struct mt_report *r, const struct mt_view *v,
                                      struct mt_err *err);
/* A row for each figure of the device. Errors: MT_EUSAGE: no such moment, or the run does not know
 * enough; MT_EDB. */
enum mt_status mt_memory_process(struct mt_report *r, const struct mt_view *v,
                                 const struct mt_run_device *d, const struct mt_memory_asked *asked,
                                 struct mt_err *err);

/* Adds a sentence, what the rss_b of a process at t_ns consists of: its parts add up to it. None
 * where neither PyTorch's nor malloc's is known, or other processes' parts are counted in it. */
void mt_memory_process_sum(struct mt_report *r, const struct mt_run_device *d,
                           const struct mt_process_counts *counts, int64_t t_ns, int64_t rss_b);

#endif
