/*
 * leaks.h - the parts of `memtool leaks`.
 */
#ifndef MT_LEAKS_CMD_H
#define MT_LEAKS_CMD_H

#include "cmd/by.h"
#include "cmd/rows.h"
#include "cmd/view.h"
#include "lib/analysis/growth.h"
#include "lib/analysis/leaks_answer.h"
#include "lib/analysis/site_moments.h"
#include "lib/analysis/suppressions.h"

/* What these reports show (enum mt_about). */
#define MT_LEAKS_ABOUT                                                                             \
    (MT_ABOUT_END | MT_ABOUT_SITES | MT_ABOUT_LIFETIMES | MT_ABOUT_STEPS | MT_ABOUT_SCOPES)

struct mt_leaks_wanted {
    const char *device;             /* NULL: the one of the first run with most bytes allocated */
    const struct mt_narrow *narrow; /* categories that are looked at; NULL: all */
    const enum mt_group_key *keys;
    int key_n;
    int64_t min_b;  /* leaks and candidates grow by that much per run; others hold it at an end */
    bool all;       /* not only leaks and candidates */
    int64_t warmup; /* steps of each run that may build up state */
    const struct mt_rows *rows;                 /* whose min_b is not used */
    const struct mt_suppressions *suppressions; /* NULL = none; of a run of sums */
    bool apart; /* sites of several runs cannot be matched: whether they grow is unknown */
};

/* ---- leaks_describe.c ---- */

struct mt_leaks;
/* Of sites that were found: the title, totals, and what leads to a doubt. */
void mt_leaks_describe(struct mt_report *r, const struct mt_run_device *d,
                       const struct mt_allocations *lives, const struct mt_leaks *found,
                       const struct mt_leaks_wanted *w);
/* What is alive and no suspect, and why. kept_b: older than the run, of no site. */
void mt_leaks_explain_rest(struct mt_report *r, const struct mt_allocations *lives,
                           const struct mt_leaks *found, int64_t kept_b,
                           const struct mt_leaks_wanted *w);
/* That no leak can be told, for want of steps, which is the first thing to mend. */
void mt_leaks_say_too_few(struct mt_report *r, const struct mt_allocations *lives,
                          const struct mt_leaks_wanted *w);

/* ---- leaks_devices.c ---- */

/* Says what the answer of a device is that the report does not show. */
void mt_leaks_note_device(struct mt_report *r, const char *device, int64_t min_b,
                          const struct mt_leaks_answer *answer);
/* How notes begin on devices that are not shown: one leaks; of one nobody knows. */
#define MT_LEAKS_THERE   "There is a leak on "
#define MT_LEAKS_PERHAPS "Cannot tell whether "

/* Judges the devices of a run that are not shown, and says what comes of it. Errors: MT_EDB. */
enum mt_status mt_leaks_other_devices(struct mt_allocations *lives,
                                      const struct mt_run_device *shown,
                                      const struct mt_leaks_wanted *w, struct mt_report *r,
                                      struct mt_leaks_answer *answer, struct mt_err *err);

/* ---- leaks_end.c ---- */

/* Of a run of sums (lib/run/knows.h): a row for each site that holds at least min_b at the end; any
 * of them is a leak, as nothing else can be told. Where there are moments, how it came to that; if
 * nobody knows the end, a row for each that rises, and the answer is unknown. Errors: MT_EUSAGE
 * (nobody knows either), MT_EDB. */
enum mt_status mt_leaks_at_end(struct mt_view *v, const struct mt_leaks_wanted *w,
                               struct mt_report *r, struct mt_leaks_answer *answer,
                               struct mt_err *err);

/* ---- leaks_keys.c ---- */

/* What sites of several runs are told apart by, asked for or not, in place of one run's keys (mt_by
 * of "site"). Lines are told apart by their top ops, too; where some runs have no lines, ops are
 * compared, or, where sites are asked for, *apart. Notes tell. Errors: of mt_open_run. */
enum mt_status mt_leaks_settle_keys(const struct mt_args *refs, bool asked, struct mt_by *keys,
                                    bool *apart, struct mt_report *r, struct mt_err *err);

/* Refuses keys that a run does not know (mt_by_known). Of labels the last run has to have those
 * that are asked for. */
enum mt_status mt_leaks_keys_known(const struct mt_leaks_wanted *w, bool last, struct mt_db *db,
                                   const struct mt_run *run, const struct mt_run_device *device,
                                   struct mt_err *err);

/* ---- leaks_process.c ---- */

/* Of a run of processes, whose device is the one shown first: a row for each with its verdict, and
 * one for each jump and spike of its curve. It is unknown where one that ran to the end cannot be
 * judged. Errors: MT_EDB, MT_EUSAGE. */
enum mt_status mt_leaks_of_processes(struct mt_view *v, const struct mt_leaks_wanted *w,
                                     struct mt_report *r, struct mt_leaks_answer *answer,
                                     struct mt_err *err);

/* The one that is asked about where none is named: the command, or what a log is about, whatever
 * its children have; else of several the one with most that was not there for a short time only,
 * which says nothing, unless all were. Errors: MT_EDB. */
enum mt_status mt_leaks_first_process(struct mt_view *v, const char *named, int64_t warmup,
                                      struct mt_run_device *out, struct mt_err *err);

/* Adds what one process says to the answer. asked: it is the one that is asked about, which has to
 * be known. */
void mt_leaks_judge(const struct mt_growth_process *p, bool asked, int64_t min_b,
                    struct mt_leaks_answer *answer);

/* Whether a device of the run is another process than the one shown first. */
bool mt_leaks_is_other(const struct mt_run_device *device, const struct mt_run_device *first);

/* What a recording lacks that would show whether a process grows; NULL: nothing. Static. */
const char *mt_leaks_lack(const struct mt_run_device *device, const struct mt_growth_process *p);

/* The cells of per_step_b, per_minute_b, per_event_b, rate_least_b, rate_most_b, by_b. timed: its
 * times are ns. */
void mt_leaks_rates(struct mt_cell *cells, const struct mt_growth *g, bool timed);

/* ---- leaks_words.c ---- */

extern const struct mt_glossary mt_leaks_words[];

/* ---- leaks_process_runs.c ---- */

/* Of several recordings of processes (*are; else nothing is done): a row for each, with its
 * verdict, and one for each other process that grows. Only what grows in all of them leaks; in some
 * is unknown. Errors: those of mt_open_run; MT_EUSAGE: one of them is of no process. */
enum mt_status mt_leaks_of_process_runs(const struct mt_args *refs,
                                        const struct mt_leaks_wanted *wanted, struct mt_report *r,
                                        struct mt_leaks_answer *answer, bool *are,
                                        struct mt_err *err);

/* ---- leaks_suppressed.c ---- */

/* What is alive at the end and no leak, as suppressions say. */
struct mt_leaks_suppressed {
    struct mt_live_total all; /* blocks_n -1: unknown */
    MT_VEC(struct mt_leaks_pattern {
        const char *pattern; /* borrowed */
        int64_t bytes;
    })
    by; /* the patterns that matched, in their order */
};
void mt_leaks_suppressed_free(struct mt_leaks_suppressed *s);
/* Takes what is suppressed out of a set; `of`: mt_suppressions_of_nodes. */
void mt_leaks_suppress(struct mt_live_set *live, const struct mt_suppressions *patterns,
                       const uint32_t *of, struct mt_leaks_suppressed *out);
/* Says below the table what was suppressed, and by what; nothing if nothing was. */
void mt_leaks_describe_suppressed(const struct mt_leaks_suppressed *s, struct mt_report *r);
/* The same where only what is held at moments is known. patterns NULL: none. */
void mt_leaks_describe_held(const struct mt_site_moments *m, const struct mt_suppressions *patterns,
                            struct mt_report *r);

/* ---- leaks_runs.c ---- */

/*
 * Growth over several runs of one program, in the order given: a row per site that is alive at the
 * end of any, sites being matched as diff does. A site that rises from each run to the next is a
 * leak when there are three runs or more, else a candidate, as is one that rises and never falls.
 * The answer is about rows of at least min_b, and all devices where none is wanted. It is unknown,
 * not clean, where the ends leave out what is older than the runs, or a run by itself leaks.
 */
enum mt_status mt_leaks_over_runs(const struct mt_args *refs, const struct mt_leaks_wanted *wanted,
                                  struct mt_report *r, struct mt_leaks_answer *answer,
                                  struct mt_err *err);

#endif
