/*
 * common.h - what all commands share: options every command has, showing a report. Opening a run is
 * view.h.
 */
#ifndef MT_COMMON_H
#define MT_COMMON_H

#include "cmd/cmd.h"
#include "lib/db/db.h"
#include "lib/render/render.h"
#include "lib/render/report.h"
#include "lib/run/runs.h"

/* Values of the common options. */
struct mt_common {
    const char *db, *format, *output;
    bool bytes, ascii, no_color, no_pager, verbose, help;
};
extern struct mt_common mt_common;
extern const struct mt_opt mt_common_opts[];

/* The row of --device in an option table; value: const char *. */
#define MT_CATEGORY_OPT(value)                                                                     \
    {                                                                                              \
        "category", 0, MT_OPT_STRING, &(value), "LIST",                                            \
            "only memory for that: parameters, gradients, optimizer-state, activations, other "    \
            "... "                                                                                 \
            "(traces with addresses)"                                                              \
    }
#define MT_DEVICE_OPT(value)                                                                       \
    {                                                                                              \
        "device", 0, MT_OPT_STRING, &(value), "D",                                                 \
            "cpu, cuda:0, ... (default: the one with most bytes allocated)"                        \
    }

/* Columns that help is written in: of the terminal, 80 where there is none. */
int mt_help_width(void);

/* Before a command runs: the format the ending of -o asks for, where --format names none. Errors:
 * MT_EUSAGE: a format the command does not have. */
enum mt_status mt_settle_format(const struct mt_cmd *cmd, struct mt_err *err);

/* Writes the report where and how the common options say. Errors: MT_EIO. */
enum mt_status mt_show(const struct mt_report *report, struct mt_err *err);

/* The same for several, one after the other; as JSON, CSV and TSV only one makes sense. */
enum mt_status mt_show_all(const struct mt_report *const *reports, size_t n, struct mt_err *err);

/* Takes what would be written; either may be NULL. */
struct mt_taker {
    void (*report)(void *closure, const struct mt_report *report);
    void (*text)(void *closure, const char *text); /* pictures and the like */
    void *closure;
};
/* From now on what is shown is given to the taker in place of being written, notes as part of
 * reports; NULL: it is written. */
void mt_show_to(const struct mt_taker *taker);
/* Whether a taker gets it: it takes reports whose rows are all there. */
bool mt_show_is_taken(void);

/* Whether the output format is one for people: table or markdown. */
bool mt_people_read(void);

/* How mt_show will write, for what is drawn before. */
struct mt_render mt_show_how(void);

/* Columns of the terminal the output goes to; 0: none. */
int mt_show_width(void);

/* --format svg: a picture, made by the command itself and written by mt_show_text. */
bool mt_show_wants_svg(void);
/* --format html: a page, the same. */
bool mt_show_wants_html(void);

/* Writes a note, whole sentences, to stderr. */
void mt_show_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Writes the notes to stderr, as mt_show does. */
void mt_show_notes(const struct mt_report *report);

/* Writes text made elsewhere (compat tables, help) to -o or stdout. */
enum mt_status mt_show_text(const char *text, struct mt_err *err);

#define MT_NOTE_MEDIAN                                                                             \
    "A baseline of ranks is their median: a rank that had less may grow up to it unseen. memtool " \
    "diff --group OLD --group NEW --exit-code judges each rank against its own."
#define MT_NOTE_BY_FRAMES                                                                          \
    "Categories of a snapshot are told by the frames of its call paths, less surely than those "   \
    "of a trace."

/* Says in the report which run it is about, and which device (NULL: none, or several); and what
 * import noted about what it shows: enum mt_about (lib/model/notes.h), or-ed. */
void mt_report_about(struct mt_report *report, const struct mt_run *run,
                     const struct mt_run_device *device, unsigned shown);
/* Of a device that is narrowed to some categories: notes where it is less sure which blocks are of
 * these. mt_report_about does so, too. */
void mt_report_narrowed(struct mt_report *report, const struct mt_run *run,
                        const struct mt_run_device *device);
/* The same of any report about categories. */
void mt_report_categories(struct mt_report *report, const struct mt_run *run);
/* Notes that two runs come from recorders that count differently: figures are shown, but no verdict
 * rests on them. */
void mt_note_recorders(struct mt_report *report, const struct mt_run *a, const struct mt_run *b);
/* Notes that the run has further devices. */
void mt_report_others(struct mt_report *report, int other_n);
/* Notes when the last record was of a file that ends early (mt_run_known_until); INT64_MAX: it does
 * not. */
void mt_report_unread(struct mt_report *report, const struct mt_run *run, int64_t known_until_ns);

/* Notes that a trace's level begins with older blocks, as far as the trace frees them, and which
 * ones its figures leave out. */
void mt_report_older(struct mt_report *report, const struct mt_run *run,
                     const struct mt_run_device *device);
/* Title and note of a report on a run without memory records. */
void mt_report_no_memory(struct mt_report *report, const struct mt_run *run);
/* Says that the report needs the history that a snapshot does not have. */
void mt_report_no_history(struct mt_report *report, const struct mt_run *run);
/* Says in JSON that there is no answer (mt_report_cannot_tell); people have read it above. */
void mt_report_unanswered(struct mt_report *report, const char *why, const char *ask_instead);
/* With --format json: the report of a command that failed because of what was recorded
 * (mt_err_cannot_tell), which says so; else nothing is written. Errors: of mt_show. */
enum mt_status mt_show_unanswered(const char *command, const struct mt_err *why,
                                  struct mt_err *err);
/* The error of a command that needs them; so: ": nothing to draw". Returns MT_EUSAGE. */
enum mt_status mt_fail_no_memory(const struct mt_run *run, const char *so, struct mt_err *err);
/* Shows such a report; there is no picture of it. Errors: of mt_show, MT_EUSAGE (--format svg). */
enum mt_status mt_show_no_memory(struct mt_report *report, const struct mt_run *run,
                                 struct mt_err *err);

/* Cuts report rows to limit (0 = all), counting them in left_out_n and cut_n. */
void mt_report_limit(struct mt_report *report, int64_t limit);

/* MT_OK if all stdout has been written. */
enum mt_status mt_check_stdout(struct mt_err *err);

/* Prints one error to stderr in the form all errors have. */
void mt_print_error(const struct mt_err *err);

#endif
