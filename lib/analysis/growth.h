/*
 * growth.h - whether what a process has in memory grows, and by how much in a step or a minute: the
 * evidence, and how sure it is.
 *
 * The window that is judged leaves out the warm-up (the first steps, or the first quarter of the
 * time) and the end, in which programs give back what they have: the last twentieth of the time, or
 * the steps to which that belongs. It is cut into equal parts, and of each the least is taken: what
 * came and went inside a part is no growth. Growth is the mean difference from part to part, with
 * the interval that Student's t gives these differences at 95 %, and as much more as the kernel
 * counts late. That holds for levels that wander at random, too, where a line through all of them
 * would see growth that is none.
 */
#ifndef MT_GROWTH_H
#define MT_GROWTH_H

#include "lib/usage/levels.h"
#include "lib/usage/profiled.h"

enum mt_growth_verdict {
    MT_GROWTH_SHORT, /* too few looks, steps, or too little time */
    MT_GROWTH_GROWS, /* the interval lies above 0, and the later half goes on */
    MT_GROWTH_FLAT,  /* the most that it can have grown by is 1 % of the level, 512 KiB, or a tenth
                        of  what comes and goes */
    MT_GROWTH_FALLS, /* that is below 0, by as much */
    MT_GROWTH_UNKNOWN, /* neither is shown */
    MT_GROWTH_N
};
extern const char *const mt_growth_names[MT_GROWTH_N];

/* What growth is counted by. */
enum mt_growth_unit { MT_PER_STEP, MT_PER_MINUTE, MT_PER_EVENT };

struct mt_growth {
    enum mt_growth_verdict verdict;
    enum mt_growth_unit unit;
    bool known;               /* the figures below are; else it is too short for any */
    int64_t from_ns, to_ns;   /* the window */
    int64_t look_n, part_n;   /* looks in it; parts */
    double units;             /* steps, minutes or events in it */
    double rate, least, most; /* bytes in a unit */
    double grew_b;            /* over the window, at that rate */
    bool rose;  /* shortly before its end it rose above all that was there, and what it grows by:
                   `most` leaves that out */
    bool slows; /* the second half of the window has less than half of the first's growth */
    bool late;  /* the window is the later half: before that it was another */
    bool hides; /* levels are of several processes, perhaps, one of which grows by more than the
                   lowest; then it is `rose`, too */
};

struct mt_growth_wanted {
    const struct mt_steps *steps; /* none in it: by time */
    bool timed;                   /* times are ns, else events */
    bool alike;                   /* other processes may have levels among these */
    int64_t warmup;               /* steps */
    int64_t first_ns, last_ns;    /* it was looked at from then to then, */
    double look_ns;               /* as often as this, on average; */
    int64_t seen_ns;              /* the last time then; 0: not known */
};

/* Of the levels of a process: changes, as looks showed them. */
void mt_growth_find(const struct mt_levels *l, const struct mt_growth_wanted *wanted,
                    struct mt_growth *out);

/* Whether so much more is as good as none. */
bool mt_growth_is_flat(double bytes, int64_t level_b);

/* The same growth by the minute; false: of a log without times, or nothing is known. */
bool mt_growth_per_minute(const struct mt_growth *g, bool timed, struct mt_growth *out);

/* The rate of other levels over a window that was judged, by the same parts: bytes in a unit. */
double mt_growth_rate_in(const struct mt_levels *l, const struct mt_growth_wanted *wanted,
                         const struct mt_growth *window);

/* ---- growth_run.c ---- */

/* What of a process is judged. Where PyTorch's profiler was in it, whose own memory grows, only
 * what came when that was gone, if it is long enough. */
enum mt_growth_part {
    MT_PART_WHOLE,
    MT_PART_BEHIND,
    MT_PART_NONE,    /* it was there all the time */
    MT_PART_UNKNOWN, /* nobody looked at the rss, such as that of all processes together */
};

/* Of a process of a run. Its levels are given out, too, unless `levels` is NULL: free them also on
 * failure. Without a part that is judged nobody can tell.
 * Errors: MT_EDB. */
struct mt_growth_process {
    struct mt_growth growth;
    struct mt_growth_wanted wanted; /* what it was found by; steps are the caller's, or none */
    struct mt_window there;         /* it was looked at */
    struct mt_profiled profiled;
    enum mt_growth_part part;
    bool loads;    /* it grew while it loaded what it needs, and had only just begun */
    bool refills;  /* it may grow where that has freed memory, and nobody sees it */
    bool young;    /* a child that was there for less than half of the run, or looked at once: that
                      it cannot be judged says nothing */
    unsigned gaps; /* why it may have grown unseen, enum mt_gap or-ed; 0: it has not */
};
enum mt_status mt_growth_load(struct mt_db *db, const struct mt_run *run,
                              const struct mt_run_device *device, const struct mt_steps *steps,
                              int64_t warmup, struct mt_growth_process *out,
                              struct mt_levels *levels, struct mt_err *err);

/* ---- growth_words.c ---- */

/* Whole bytes of a rate. */
int64_t mt_growth_bytes(double bytes);

/* "a step", "a minute", "a sample". Static. */
const char *mt_growth_unit(const struct mt_growth *g);

/* What "rss" does, of a process's growth, or the same by another unit: "grows 64 KiB a step (95 %:
 * 62 KiB to 66 KiB)", "is flat: ...", "varies too much to tell whether it grows: ...". */
void mt_growth_words(const struct mt_growth_process *p, const struct mt_growth *g,
                     struct mt_buf *out);

/* ---- growth_cause.c ---- */

/* Of what a process grows, where the recorder asked malloc. */
enum mt_growth_cause {
    MT_CAUSE_UNKNOWN, /* it did not, or of no part mostly */
    MT_CAUSE_IN_USE,  /* blocks that the program has */
    MT_CAUSE_HELD,    /* free blocks, which malloc does not give back */
    MT_CAUSE_OUTSIDE, /* memory that is not malloc's: mapped files, stacks, other anonymous */
    MT_CAUSE_N
};
extern const char *const mt_growth_cause_names[MT_CAUSE_N]; /* as verdicts; NULL for the first */

/* The growth of each, over the window of the process; they add up to its. */
struct mt_growth_causes {
    bool known;
    double rate[MT_CAUSE_N];   /* bytes in a unit */
    enum mt_growth_cause most; /* that has half of the growth or more, if it grows */
};

/* What malloc and the kernel knew of a process, over time. */
struct mt_growth_parts {
    struct mt_levels in_use;
    struct mt_levels outside[3]; /* which add up */
};

/* Known where all parts are, through the whole window, and the cause is the same without
 * its last part, in which a program may free what it leaked. */
void mt_growth_causes_find(const struct mt_growth_parts *parts, const struct mt_growth_process *p,
                           struct mt_growth_causes *out);
/* Errors: MT_EDB. */
enum mt_status mt_growth_causes_load(struct mt_db *db, const struct mt_run *run,
                                     const struct mt_run_device *device,
                                     const struct mt_growth_process *p,
                                     struct mt_growth_causes *out, struct mt_err *err);

#endif
