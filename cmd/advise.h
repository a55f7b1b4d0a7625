/*
 * advise.h - the parts of `memtool advise`.
 */
#ifndef MT_CMD_ADVISE_H
#define MT_CMD_ADVISE_H

#include "cmd/view.h"
#include "lib/advice/advice.h"

/* A part in percent; 0 of nothing. */
double mt_advise_percent(int64_t part, int64_t whole);

/* The columns of advice, and a row of it for a run with that peak, which for people is a paragraph.
 * verify: the command that compares it with what the changed program recorded. */
void mt_advise_columns(struct mt_report *r);
void mt_advise_add_row(struct mt_report *r, const struct mt_advice *a, int64_t peak_b,
                       const char *verify);

/* Fills the report, which has its columns, with what gives back memory that the allocator of a
 * snapshot holds beyond what is in use, at the peak of that. Errors: MT_EDB. */
enum mt_status mt_advise_reserved(struct mt_view *v, struct mt_report *r, double least_pct,
                                  bool all, struct mt_err *err);

/* What is asked about the size of batches. */
struct mt_batch_asked {
    const char *device;   /* NULL: the one with most bytes allocated */
    int64_t batch;        /* the peak at that size; MT_UNKNOWN: not asked */
    const char *fit;      /* the largest size that fits in so much; NULL: not asked */
    const char *reserved; /* of that, so much is for other things; NULL: nothing */
};

/* Whether the arguments are runs with their batch sizes, "base:16". */
bool mt_advise_has_sizes(const struct mt_args *args);

/* Shows the peak at other batch sizes, from one run or two, a third being a check; *exit_code is 3
 * where the runs do not tell. Errors: MT_EUSAGE: sizes that are missing, equal, or no sizes; what
 * opening runs gives. */
enum mt_status mt_advise_batch(const struct mt_args *args, const struct mt_batch_asked *asked,
                               int *exit_code, struct mt_err *err);

/* What is asked of a changed program. */
struct mt_verify_asked {
    const char *run;    /* that it recorded */
    const char *device; /* NULL: the one with most bytes allocated */
    const char *only;   /* what was changed; NULL: what the runs show to have been */
    const struct mt_advice_choice *choice;
    bool parts_given;            /* the micro-batches of `choice`; else they are those of NEWRUN */
    double tolerance, least_pct; /* percent: of the saving; of the peak, to be looked for */
};

/* Shows what was predicted for the run of a reference (NULL: @latest) against what the changed
 * program recorded. *exit_code: 1 a prediction is further off, 3 it cannot be told. Errors: of
 * opening runs, and mt_advices_find. */
enum mt_status mt_advise_verify(const char *ref, const struct mt_verify_asked *asked,
                                int *exit_code, struct mt_err *err);

#endif
