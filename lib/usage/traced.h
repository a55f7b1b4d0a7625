/*
 * traced.h - what PyTorch allocated in a process that was recorded: the traces of it in the groups
 * of its run, on its clock. Both clocks are the system's, and agree to the millisecond.
 */
#ifndef MT_TRACED_H
#define MT_TRACED_H

#include "lib/usage/levels.h"

/* One trace: the tensors in the process's memory. */
struct mt_traced {
    struct mt_run run;
    struct mt_run_device device;
    int64_t offset_ns;       /* the trace begins so long after the process's run */
    struct mt_window known;  /* by the clock of that; to_ns INT64_MAX: to the end of the process */
    struct mt_levels levels; /* the same clock */
};

struct mt_traced_all {
    MT_VEC(struct mt_traced) all; /* in order of time */
};

/* Whether a device is the process of that PID; -1: of a PID that nobody knows, as the command may
 * be. One that no device has is the command's, too. Errors: MT_EDB. */
enum mt_status mt_process_has_pid(struct mt_db *db, const struct mt_run *run,
                                  const struct mt_run_device *process, int64_t pid, bool *is,
                                  struct mt_err *err);

/* Those of a device that is a process. Free them also on failure. Errors: MT_EDB. */
enum mt_status mt_traced_load(struct mt_db *db, const struct mt_run *run,
                              const struct mt_run_device *process, struct mt_traced_all *out,
                              struct mt_err *err);
void mt_traced_free(struct mt_traced_all *t);

/* How many traces in the groups of a run of processes are left out, as it is not known when they or
 * the run began; name: that of one of them. Errors: MT_EDB. */
enum mt_status mt_traced_unplaced(struct mt_db *db, const struct mt_run *run, int64_t *n,
                                  char name[256], struct mt_err *err);

/* All of them as one curve, known in that window. They come one after the other: what one ended
 * with is taken to stay until the next. */
void mt_traced_levels(const struct mt_traced_all *t, struct mt_levels *out,
                      struct mt_window *known);

#endif
