/*
 * malloc.h - what malloc has in recorded processes: the recorder's side of malloc_table.h.
 */
#ifndef MT_RECORD_MALLOC_H
#define MT_RECORD_MALLOC_H

#include "lib/base/err.h"
#include "lib/base/mem.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mt_malloc {
    struct mt_malloc_table *table; /* NULL: nothing is counted */
    int fd;
};

/* What malloc has; bytes. in_use has the mapped blocks in it. */
struct mt_malloc_values {
    int64_t in_use, mapped, free, top;
    uint32_t number;       /* of the look */
    int64_t until_next_ns; /* at most, unless nobody looks any more */
};

/* Errors: MT_EIO: the system has no memory to share. */
enum mt_status mt_malloc_open(struct mt_malloc *m, int64_t interval_ns, struct mt_err *err);
void mt_malloc_close(struct mt_malloc *m);
/* From now on processes look at it as often; no table: nothing. */
void mt_malloc_pace(const struct mt_malloc *m, int64_t interval_ns);
/* In the process that becomes the command: sets its environment; library: the path of the library,
 * recorder: the PID of the process that has it open. */
void mt_malloc_env(const struct mt_malloc *m, const char *library, pid_t recorder);

/* What it had when it was looked at last. False: nothing, or that is being written now. */
bool mt_malloc_read(const struct mt_malloc *m, pid_t pid, struct mt_malloc_values *out);
/* Has all look once more, now, where that is cheap; waits for it, on a machine that is busy 50 ms
 * at most. */
void mt_malloc_ask(const struct mt_malloc *m);
/* The process has ended: its place is free. */
void mt_malloc_ended(const struct mt_malloc *m, pid_t pid);
/* So are those of processes that are not there any more, if nobody saw them end. */
void mt_malloc_sweep(const struct mt_malloc *m);
/* Why nothing was read of a process, for people: never "". Before mt_malloc_ended. */
void mt_malloc_why(const struct mt_malloc *m, pid_t pid, struct mt_buf *out);

#endif
