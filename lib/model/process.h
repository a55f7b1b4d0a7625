/*
 * process.h - where readers of process logs put what they read: what the system counted of each
 * process over time. The level of a process is its resident memory (rss), and every value of it is
 * kept: nothing is known between two of them. Of values that are the same the first is, and the
 * last one of all: their numbers and times say how often it was looked at, and until when. All else
 * that is counted are samples.
 *
 * A reader opens one for the recording, names processes, and gives their values in order of time;
 * closing leaves devices, their curves, steps and marks in the recording. Times are ns from the
 * file's own zero (rec->base_ns where that is known), bytes are not negative.
 *
 * Errors: MT_EINPUT for figures that cannot be true (1 EiB, times beyond 2^62 ns), MT_ELIMIT.
 */
#ifndef MT_PROCESS_H
#define MT_PROCESS_H

#include "lib/model/recording.h"

/* One process. */
struct mt_process {
    int64_t number; /* its PID, or what the file has for one; -1: the file is of one process */
    uint32_t full;  /* string id + 1 of its name; 0: it has a number */
    uint16_t device;
    bool any;   /* a level is known */
    bool older; /* it was there before its first level */
    int64_t now;
    int64_t level_b, start_b;
    int64_t peak_b, peak_ns; /* MT_UNKNOWN: none; no time */
    int64_t peak_level;      /* its number */
    int64_t level_n;
    int64_t kept; /* the number of the last level in the curve */
    struct mt_packer packer;
};

struct mt_process_log {
    struct mt_recording *rec;
    MT_VEC(struct mt_process) all;
    struct mt_map by_number, by_name; /* which of them it is; by `number`, by `full` */
    struct mt_map taken;              /* by hash: names of devices */
    uint64_t seed;
    uint64_t mark_first; /* in rec->other_events */
    uint64_t beside;     /* counted in rec->beside_bytes */
};

/* Begins a log in `rec`, which becomes a recording without ops, in nanoseconds. Free in any case.
 */
void mt_process_open(struct mt_process_log *log, struct mt_recording *rec);
/* Without mt_process_close what was given is lost. */
void mt_process_free(struct mt_process_log *log);

/* The process of that number; SIZE_MAX: there is none yet. */
size_t mt_process_find(const struct mt_process_log *log, int64_t number);

/* The same, made if need be. Errors: MT_ELIMIT. */
enum mt_status mt_process_of(struct mt_process_log *log, int64_t number, size_t *process,
                             struct mt_err *err);

/*
 * The same of one that has a name instead: "container:web". Where that is too long for a device, or
 * has bytes that are no letters, digits or one of "._-:/@", the device is called similarly, and an
 * event "name" says how in full. kind: static text. Errors: MT_ELIMIT, MT_EINPUT.
 */
enum mt_status mt_process_named(struct mt_process_log *log, const char *kind, const char *s,
                                size_t n, size_t *process, struct mt_err *err);

/* It has so many bytes in memory at t. A time before the last one is that one (MT_NOTE_CLOCK). */
enum mt_status mt_process_level(struct mt_process_log *log, size_t process, int64_t t,
                                int64_t bytes, struct mt_err *err);

/* The system says that it had so many at some time between the last two levels, or never more than
 * that where no level is known. Less than there were is nothing new. */
enum mt_status mt_process_peak(struct mt_process_log *log, size_t process, int64_t bytes,
                               struct mt_err *err);

/* Another value of it at t: enum mt_metric, or mt_rec_metric. */
enum mt_status mt_process_sample(struct mt_process_log *log, size_t process, int metric, int64_t t,
                                 int64_t value, struct mt_err *err);

/* Something happened at t: an event of the process, in any order of time. action: static text. */
enum mt_status mt_process_mark(struct mt_process_log *log, size_t process, int64_t t,
                               const char *action, const char *text, size_t n, int64_t bytes,
                               struct mt_err *err);

/* The recording goes on until t, if that is later than all else. */
enum mt_status mt_process_until(struct mt_process_log *log, int64_t t, struct mt_err *err);

/* If the file turned out to be of one process, that is "process", whatever its number. To be asked
 * before mt_process_close. */
void mt_process_sole(struct mt_process_log *log);

/* What is known of a process (enum mt_knows), but for steps. */
static inline unsigned mt_process_knows(const struct mt_process *p)
{
    return (p->peak_b == MT_UNKNOWN ? 0 : MT_KNOWS_PEAK) | (p->any ? MT_KNOWS_LEVEL : 0);
}

/* Of a figure that was rounded, by at most `off`, and which the system counts in whole units: that
 * many units in bytes. Where no such number is near, the figure. */
int64_t mt_process_whole(int64_t bytes, int64_t unit, int64_t off);

/* That was the last level of a process, so far: it is in the curve, though it may be no change. */
void mt_process_looked(struct mt_process_log *log, size_t process);

enum mt_status mt_process_close(struct mt_process_log *log, struct mt_err *err);

/* Whether a device of that name is a process, or all of them. */
bool mt_process_is_device(const char *device);
/* Whether it is a process that the first one started: such a number is another
 * in every run. */
bool mt_process_is_child(const char *device);

#endif
