/*
 * diff.h - how a comparison becomes reports.
 */
#ifndef MT_DIFF_CMD_H
#define MT_DIFF_CMD_H

#include "cmd/category_line.h"
#include "cmd/ranks.h"
#include "cmd/rows.h"
#include "lib/analysis/diff_judge.h"

struct mt_diff_trend {
    char name[256];
    int64_t step_n;
    struct mt_figures whole;
    bool counts_older, leaves_out; /* what is older than the recording is in its levels, or not */
};

struct mt_diff_wanted {
    struct mt_category_parts parts[2]; /* of the peaks of both runs */
    bool section[MT_SECTION_N];
    bool per_step;
    bool people;     /* read the reports, not programs */
    bool all;        /* for people too, rows whose bytes did not change */
    bool whole_rows; /* none are made as they are written: others come behind them, or a page has
                        them */
    int64_t warmup;
    const struct mt_rows *rows;
    MT_VEC(struct mt_diff_trend) trend; /* with more than two runs: all of them */
};

/* Appends the names of all sections, a blank behind each. */
void mt_diff_section_names(struct mt_buf *out);

/* Parses "peak,leak"; NULL: all. Errors: MT_EUSAGE. */
enum mt_status mt_diff_sections(const char *list, struct mt_diff_wanted *out, struct mt_err *err);

/*
 * For people a report of each section, else one report of all with the column `section`; at least
 * one.
 */
struct mt_diff_reports {
    struct mt_report **v;
    size_t n, cap;
    struct mt_diff_stream *stream; /* of rows that are made as they are written; NULL */
};
/* live: compared by where blocks were allocated; op: the ops. Both stay until `out` is shown. */
enum mt_status mt_diff_report(const struct mt_diff *live, const struct mt_diff *op,
                              const struct mt_diff_wanted *w, struct mt_diff_reports *out,
                              struct mt_err *err);
void mt_diff_reports_free(struct mt_diff_reports *r);

/* ---- diff_group.c: two groups, rank by rank ---- */

/* A rank of both groups. */
struct mt_diff_pair_of_ranks {
    const struct mt_rank *side[2];
    int64_t delta_b; /* of the peaks; MT_UNKNOWN */
};

struct mt_diff_groups {
    struct mt_ranks ranks[2];
    struct mt_narrow narrow;                    /* the categories that all figures are of */
    MT_VEC(struct mt_diff_pair_of_ranks) pairs; /* what grew most first */
    struct mt_report report;                    /* a row for each of them */
    int64_t rank;                               /* whose peak grew most: */
    const char *runs[2], *devices[2];           /* another one where the rank moved */
    size_t rank_n;                              /* that both have */
    bool judged;
};

/* Matches the ranks of two groups by their numbers. category: of --category. judged:
 * mt_diff_groups_judge follows. It stays where it is: ranks refer to it. Free it also on failure.
 * Errors: of mt_ranks_load, mt_narrow_parse; MT_EUSAGE: they have no rank in common. */
enum mt_status mt_diff_groups_load(struct mt_diff_groups *g, const struct mt_strings *names,
                                   const char *device, const char *category, bool judged,
                                   struct mt_err *err);
/* Says in the reports on that rank which it is. For people g->report is then to be shown before
 * them; for programs its rows are in theirs. Errors: of mt_rows_apply. */
enum mt_status mt_diff_groups_report(struct mt_diff_groups *g, const struct mt_rows *rows,
                                     struct mt_diff_reports *out, struct mt_err *err);
/* What --exit-code says of two runs: the answer, and notes on why. Errors: any of a comparison. */
typedef enum mt_status mt_diff_judge_pair(void *closure, const struct mt_diff_pair_of_ranks *pair,
                                          struct mt_report *notes, enum mt_diff_answer *answer,
                                          struct mt_err *err);
/* Has every pair judged, whose runs have the device: a column of its row says how, notes in r say
 * of how many ranks what was told, and of a few why. A rank without a counterpart leaves the answer
 * open. */
enum mt_status mt_diff_groups_judge(struct mt_diff_groups *g, mt_diff_judge_pair *judge,
                                    void *closure, struct mt_report *r, enum mt_diff_answer *answer,
                                    struct mt_err *err);
void mt_diff_groups_free(struct mt_diff_groups *g);

/* ---- diff_judge.c: what --exit-code answers ---- */

/* Says in the report whether the peak or the growth per step got worse, where that cannot be told,
 * and of devices that it does not show all that matters. asked: of these, of a kind alone
 * (mt_diff_judge_others). Errors: MT_EDB. */
enum mt_status mt_diff_tell(const struct mt_diff *d, const struct mt_diff_threshold *t,
                            const char *asked, int64_t warmup, struct mt_report *r,
                            enum mt_diff_answer *answer, struct mt_err *err);

/* Whether both sides are processes; and whether, beside the peak, what is seen of their growth got
 * worse: takes that into the answer. Errors: MT_EDB. */
bool mt_diff_of_processes(const struct mt_diff *d);
enum mt_status mt_diff_tell_processes(const struct mt_diff *d, const struct mt_diff_threshold *t,
                                      int64_t warmup, struct mt_report *r,
                                      enum mt_diff_answer *answer, struct mt_err *err);

/* Notes that, or how much the peak changes with what is estimated to be older. */
void mt_diff_note_older(const struct mt_diff *d, struct mt_report *r);

/* ---- diff_notes.c ---- */

/* Whether it is one run, given twice. */
bool mt_diff_is_one(const struct mt_diff *d);
/* Notes where two runs can hardly be compared, and what else is to be known of each. per_step:
 * figures are, so that other numbers of steps do not matter. */
void mt_diff_note(const struct mt_diff *d, bool per_step, struct mt_report *r);
/* What is to be known of sites that are lines of the user's code, in both runs or in one: lines
 * says of each whether they are. */
void mt_diff_note_lines(const struct mt_diff *live, const bool lines[2], struct mt_report *r);

#endif
