/*
 * process.h - what the system counted of a process over time: its resident memory, which is its
 * level, and what else was sampled of it.
 */
#ifndef MT_USAGE_PROCESS_H
#define MT_USAGE_PROCESS_H

#include "lib/model/recording.h"
#include "lib/usage/samples.h"
#include "lib/usage/traced.h"
#include <string.h>

/* What PyTorch had allocated for tensors in the process's memory, by traces of it; and what is
 * neither that nor files nor shared: the rest of its anonymous memory. */
#define MT_COUNTED_PYTORCH "pytorch"
#define MT_COUNTED_REST    "rest"

struct mt_counted {
    char metric[64];         /* "rss", "anon", ... */
    struct mt_levels levels; /* without any, `most_b` is all that is known */
    int64_t most_b;          /* in all; MT_UNKNOWN */
    int64_t until_ns;        /* known so long; INT64_MAX: until the process ended */
    bool rest;               /* it is computed from the others */
};
/* The first is rss, or at_most of all processes together; the others as the recording has them. */
struct mt_process_counts {
    MT_VEC(struct mt_counted) all;
    struct mt_traced_all traced; /* the last two are of these, where there are any */
    int64_t end_ns;              /* when it was gone; INT64_MAX: not in the recording */
};

/* Whether the device is a process: its level is what it has in memory, whoever allocated that. */
static inline bool mt_device_is_process(const struct mt_run_device *device)
{
    return device->type == MT_DEVICE_PROCESS;
}

/* Whether it stands for all processes of a run: it has no rss, in which pages would count twice. */
static inline bool mt_device_is_processes(const struct mt_run_device *device)
{
    return device->type == MT_DEVICE_PROCESS && strcmp(device->name, MT_PROCESSES_NAME) == 0;
}

/* Of a device that is a process. Allocated. Errors: MT_EDB. */
enum mt_status mt_process_counts_load(struct mt_db *db, const struct mt_run *run,
                                      const struct mt_run_device *device,
                                      struct mt_process_counts *out, struct mt_err *err);
void mt_process_counts_free(struct mt_process_counts *c);

/* When the process was gone; INT64_MAX: not in the recording. Errors: MT_EDB. */
enum mt_status mt_process_end(struct mt_db *db, const struct mt_run *run,
                              const struct mt_run_device *device, int64_t *out, struct mt_err *err);

/* When the process was there last: parts are counted behind the last change of its rss, too. */
static inline int64_t mt_process_last(const struct mt_process_counts *c, int64_t dur_ns)
{
    return c->end_ns <= dur_ns ? c->end_ns - 1 : dur_ns;
}

/* What was counted last by t_ns; MT_UNKNOWN: nothing yet. */
int64_t mt_counted_at(const struct mt_counted *c, int64_t t_ns);

/* The same of one of a process's: MT_UNKNOWN, too, where it was counted seldom, and the rss is
 * another one by then. */
int64_t mt_process_counted_at(const struct mt_process_counts *all, const struct mt_counted *c,
                              int64_t t_ns);

/* The most in the window, with what it begins with, and the last value before its end; both
 * MT_UNKNOWN where nothing is known of it, or it was gone. */
void mt_process_counted_within(const struct mt_process_counts *all, const struct mt_counted *c,
                               const struct mt_window *w, int64_t *most_b, int64_t *last_b);

#endif
