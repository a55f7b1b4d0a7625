/*
 * record_parts.h - what the files of `memtool record` share.
 */
#ifndef MT_RECORD_PARTS_H
#define MT_RECORD_PARTS_H

#include "cmd/cmd.h"
#include "cmd/recorder.h"

/* ---- record_said.c: words ---- */

/* What the program of a command line is called. */
const char *mt_record_program(const struct mt_args *args);
/* All of it, as a shell understands it; the caller frees. */
char *mt_record_command(const struct mt_args *args);
/* "exit 0", "killed by SIGTERM" */
const char *mt_record_exit_text(int status, char out[64]);
/* Says on stderr what was recorded; how: of its end. */
void mt_record_summarise(const struct mt_recorder *r, const char *how, int64_t dur_ns);

/* ---- record_growth.c ---- */

/* Says on stderr whether what was recorded grows. */
void mt_record_say_growth(struct mt_db *db, const char *run);

/* ---- record_pid.c: processes that run already ---- */

struct mt_record_pid {
    int64_t pid;       /* --pid; -1: not given */
    const char *asked; /* --for; NULL: not given */
    int64_t for_ns;    /* 0: as long as it runs */
    struct mt_target target;
};
/* Finds the process. Errors: MT_EUSAGE. */
enum mt_status mt_record_pid_begin(struct mt_record_pid *p, struct mt_err *err);
/* Records it until it ends, the time is over, or a signal comes. name: of the run, NULL: the
 * program's. Errors: those of the database. */
enum mt_status mt_record_pid(struct mt_record_pid *p, struct mt_db *db, const char *name,
                             int64_t interval_ms, struct mt_err *err);

#endif
