#include "lib/model/metrics.h"

#include <string.h>

const char *const mt_metric_names[MT_METRIC_N] = {
    "reserved",    "oom",        "device_free",   "rss",           "anon",        "file",
    "shmem",       "pss",        "private",       "swap",          "virtual",     "peak_rss",
    "at_most",     "at_least",   "malloc_in_use", "malloc_mapped", "malloc_free", "malloc_top",
    "malloc_held", "other_anon", "cgroup",        "stacks",        "threads_n",   "cpu_ns"};

bool mt_metric_is_bytes(const char *name)
{
    return strcmp(name, mt_metric_names[MT_METRIC_THREADS]) != 0 &&
           strcmp(name, mt_metric_names[MT_METRIC_CPU]) != 0;
}
