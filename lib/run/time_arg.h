/*
 * time_arg.h - the steps of a run, and the moments and windows that users name on the command line.
 */
#ifndef MT_TIME_ARG_H
#define MT_TIME_ARG_H

#include "lib/model/recording.h"
#include "lib/run/runs.h"

/* What a program said of itself while it was recorded. */
struct mt_said {
    char *text;
    int64_t t_ns;
};
/* The steps of a run in order of time; times relative to the run's start. What is at the end of a
 * step is no longer in it, but the last moment of the run is in a last step that ends with it. */
struct mt_steps {
    MT_VEC(struct mt_step) all;
    int64_t dur_ns;               /* of the run */
    MT_VEC(struct mt_said) marks; /* in order of time; none before mt_steps_load_marks */
};
enum mt_status mt_steps_load(struct mt_db *db, const struct mt_run *run, struct mt_steps *out,
                             struct mt_err *err);
/* What users name, too: it looks at all events of the run. */
enum mt_status mt_steps_load_marks(struct mt_db *db, const struct mt_run *run, struct mt_steps *out,
                                   struct mt_err *err);
void mt_steps_free(struct mt_steps *s);

/* The first nanosecond behind a step; INT64_MAX: it lasts to the end of the run. */
int64_t mt_steps_until(const struct mt_steps *s, size_t index);
/* Index of the step under way at a moment; -1 = none. */
int64_t mt_steps_under_way(const struct mt_steps *s, int64_t t_ns);
/* Number of that step; INT64_MIN: none. */
int64_t mt_steps_number_at(const struct mt_steps *s, int64_t t_ns);
/* Index of the last step that has begun by t_ns, -1 = none: also after its end, so that it tells
 * in which iteration something happens between two steps. */
int64_t mt_steps_index_at(const struct mt_steps *s, int64_t t_ns);

/* What is at from_ns belongs to it, what is at to_ns to what comes next. INT64_MIN, INT64_MAX: the
 * whole run. */
struct mt_window {
    int64_t from_ns, to_ns;
};
static inline bool mt_window_has(const struct mt_window *w, int64_t t_ns)
{
    return t_ns >= w->from_ns && t_ns < w->to_ns;
}

/* Numbers of steps, both ends included; "3", "2..5", "2..". Errors: MT_EUSAGE. */
struct mt_step_range {
    int64_t from, to;
};
enum mt_status mt_step_range_parse(const char *text, struct mt_step_range *out, struct mt_err *err);

/* From the start of the first to the end of the last step of a range, to_ns as mt_steps_until.
 * Errors: MT_EUSAGE: no such step, saying which there are. */
enum mt_status mt_steps_window(const struct mt_steps *s, const struct mt_step_range *range,
                               const struct mt_run *run, struct mt_window *out, struct mt_err *err);

/*
 * A moment on the command line: "12ms" after the run's start, "@start", "@end", "@peak",
 * "@step 3" (when it ends), "@step 3:start", "@step 3:peak", "@mark TEXT" (the first of that text).
 * A time is a moment after all records
 * of that time; the start and the end of a step come before the records of their time, which belong
 * to what begins then.
 * Errors: MT_EUSAGE: none of these, a time before the run's start or after its end, or no such step
 * or mark in the run.
 */
struct mt_time_arg {
    enum mt_time_arg_kind { MT_AT_TIME, MT_AT_PEAK } kind;
    int64_t t_ns;    /* MT_AT_TIME: INT64_MIN before all records, INT64_MAX after them */
    int64_t from_ns; /* MT_AT_PEAK: of which window, t_ns being its end */
    bool before;     /* MT_AT_TIME: before the records at t_ns */
};
enum mt_status mt_time_arg_parse(const char *text, const struct mt_run *run,
                                 const struct mt_steps *steps, struct mt_time_arg *out,
                                 struct mt_err *err);

/*
 * The window that --from, --to and --step A..B name together; NULL = not given. A time at the end
 * of the run is the end of all: the last record is in the window.
 * Errors: MT_EUSAGE: unreadable, no such steps, --step beside the others, an end before its start.
 */
enum mt_status mt_window_parse(const char *from, const char *to, const char *step,
                               const struct mt_run *run, const struct mt_steps *steps,
                               struct mt_window *out, struct mt_err *err);

#endif
