/*
 * torch.h - what the hook of `memtool record --torch` (lib/record/torch/sitecustomize.py) leaves in
 * its folder: of each process that imported torch what became of its profiler, and the trace.
 */
#ifndef MT_RECORD_TORCH_H
#define MT_RECORD_TORCH_H

#include "lib/base/mem.h"
#include <stdbool.h>
#include <stdint.h>

struct mt_torch_process {
    int64_t pid;
    int64_t rank;   /* of a job; -1: none */
    int64_t step_n; /* of optimizers, until the profiler ended */
    char state[16]; /* running: it has not ended; recorded; yielded, failed, missing: see why */
    char why[160];  /* for people; "": nothing to say */
    bool trace;
    int64_t start_ns[2], stop_ns[2]; /* the profiler started, and ended and wrote, from..to; since
                                        the epoch, 0: not */
};

struct mt_torch {
    bool python;                         /* some Python ran the hook */
    MT_VEC(struct mt_torch_process) all; /* by PID */
};

/* What is in the folder; one that cannot be read has nothing. Free with mt_torch_free. */
void mt_torch_read(const char *folder, struct mt_torch *out);
void mt_torch_free(struct mt_torch *t);

/* When each step ended that an optimizer made behind the profiler, ns since the epoch: of the first
 * optimizer that made trace_n steps until then, as many as the trace has. None where none did. */
typedef MT_VEC(int64_t) mt_torch_times;
void mt_torch_later_steps(const char *folder, const struct mt_torch_process *p, size_t trace_n,
                          mt_torch_times *out);

/* What the profilers did in a process's memory that the program did not, for people: when, where
 * the run began at base_ns, and whether the process's highest rss, which it had peak_ns later, is
 * theirs; "": there was none. */
void mt_torch_costs(const struct mt_torch *t, int64_t base_ns, int64_t peak_ns, struct mt_buf *out);

/* What is missing in the traces, for people; "": nothing, or nothing was there to be recorded. */
void mt_torch_missing(const struct mt_torch *t, struct mt_buf *out);

#endif
