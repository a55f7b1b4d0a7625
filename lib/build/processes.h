/*
 * processes.h - the threads and memory records of a recording, process by process: traces are
 * merged from those of several, and what one of them does says nothing of another.
 */
#ifndef MT_BUILD_PROCESSES_H
#define MT_BUILD_PROCESSES_H

#include "lib/model/recording.h"

/* The records of a process on a device. */
struct mt_share {
    uint32_t process;
    uint16_t device;
    size_t first, n; /* of `records` */
};

struct mt_processes {
    uint32_t n;                     /* processes */
    MT_VEC(struct mt_share) shares; /* such that have records, by process and device */
    uint32_t *records;              /* share by share, in order of time in each */
    uint32_t *threads, *thread_at;  /* process by process; where each begins, and the end */
};

/* Of a recording that has been built up to its records, and has ops. */
void mt_processes_find(const struct mt_recording *r, struct mt_processes *out);
void mt_processes_free(struct mt_processes *p);

/* Calls a function with all ops of a process, thread by thread in order of start, while it returns
 * true; whether it always did. */
bool mt_processes_each_op(const struct mt_recording *r, const struct mt_processes *p,
                          uint32_t process,
                          bool (*take)(void *closure, uint32_t thread, const struct mt_op *op),
                          void *closure);

#endif
