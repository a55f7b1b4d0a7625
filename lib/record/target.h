/*
 * target.h - a process that runs already, and is to be recorded.
 */
#ifndef MT_RECORD_TARGET_H
#define MT_RECORD_TARGET_H

#include "lib/base/err.h"
#include "lib/base/mem.h"
#include <stdint.h>
#include <sys/types.h>

struct mt_target {
    pid_t pid;
    int fd;         /* can be read (poll) once it has ended; -1: the kernel has no such thing */
    int64_t age_ns; /* for so long it had run; -1: unknown */
    int64_t peak_b; /* its highest rss so far */
    MT_VEC(char *) words; /* of its command line, or its name; at least one, owned */
};

/* Errors: MT_EUSAGE: there is no such process, it has ended, is a thread or of the kernel, or is
 * hidden. */
enum mt_status mt_target_open(pid_t pid, struct mt_target *out, struct mt_err *err);
void mt_target_close(struct mt_target *t);

#endif
