/*
 * metrics.h - what values over time are of: of devices with segments, and of processes.
 */
#ifndef MT_METRICS_H
#define MT_METRICS_H

#include <stdbool.h>

enum mt_metric {
    MT_METRIC_RESERVED = 0,
    MT_METRIC_OOM = 1,
    MT_METRIC_DEVICE_FREE = 2,
    MT_METRIC_RSS = 3, /* what the process has in memory, whatever it is for */
    /* of processes: parts of it, */
    MT_METRIC_ANON,
    MT_METRIC_FILE,
    MT_METRIC_SHMEM,
    /* where shared pages count by how many share them; those that nobody shares; */
    MT_METRIC_PSS,
    MT_METRIC_PRIVATE,
    MT_METRIC_SWAP,
    MT_METRIC_VIRTUAL,  /* what it has addresses for, */
    MT_METRIC_PEAK_RSS, /* and its highest rss so far */
    /* of several processes together: no more, and no less than that */
    MT_METRIC_AT_MOST,
    MT_METRIC_AT_LEAST,
    /* of malloc in it: blocks in use, of these mapped ones, free ones, of these the top of the
     * heap; what of the free ones is in memory, at most; anonymous memory that is neither */
    MT_METRIC_MALLOC_IN_USE,
    MT_METRIC_MALLOC_MAPPED,
    MT_METRIC_MALLOC_FREE,
    MT_METRIC_MALLOC_TOP,
    MT_METRIC_MALLOC_HELD,
    MT_METRIC_OTHER_ANON,
    MT_METRIC_CGROUP, /* what the control group of the process has, whoever is in it */
    MT_METRIC_STACKS, /* of OTHER_ANON, what is known to be stacks */
    /* no bytes: how many threads it has, and the processor time it has taken since it began */
    MT_METRIC_THREADS,
    MT_METRIC_CPU,
    MT_METRIC_N /* from here on: mt_recording.own_metrics */
};
extern const char *const mt_metric_names[MT_METRIC_N];

/* Whether values of that name are bytes. */
bool mt_metric_is_bytes(const char *name);

#endif
