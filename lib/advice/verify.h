/*
 * verify.h - what was predicted of a change against what the changed program recorded.
 */
#ifndef MT_ADVICE_VERIFY_H
#define MT_ADVICE_VERIFY_H

#include "lib/advice/advice.h"

/* One of the two programs. */
struct mt_verify_run {
    const char *name; /* of the run */
    const struct mt_advice_facts *facts;
    const struct mt_advices *advices; /* all rules, tried on it */
};

/* Why nothing can be said of a change by these recordings, a sentence, allocated; NULL: they are of
 * one loop, as far as they show. */
char *mt_verify_differ(const struct mt_verify_run *before, const struct mt_verify_run *after);

/* The same of what learns alone, whatever the loops are. */
char *mt_verify_differ_in_model(const struct mt_verify_run *before,
                                const struct mt_verify_run *after);

/* The same of what optimizers keep, which a larger batch does not explain: half as much or less in
 * one, as it has another optimizer, or made its state before its recording. */
char *mt_verify_differ_in_optimizer(const struct mt_verify_run *before,
                                    const struct mt_verify_run *after);

/* Whether the second program shows what the advice says: it applies to the first, and to the second
 * no longer, or saves next to nothing there. Other changes may lead to the same. */
bool mt_verify_is_made(const struct mt_advice *a, const struct mt_verify_run *before,
                       const struct mt_verify_run *after);

/* Why a change that somebody says was made was not, a sentence, allocated; NULL: it may have been:
 * the second program does what it would (recompute, more backward passes), or no longer what the
 * advice is against. */
char *mt_verify_unseen(const char *id, const struct mt_verify_run *before,
                       const struct mt_verify_run *after);

/* How far the saving is off, as a share of the one recorded, percent; no figure (false) where the
 * peak is no lower. */
bool mt_verify_error(const struct mt_advice *a, int64_t recorded_b, double *percent);

/* What a recorded peak says of a prediction. */
enum mt_verdict_of_advice {
    MT_VERIFY_HOLDS,
    MT_VERIFY_MORE, /* more was saved than predicted, by more than the tolerance */
    MT_VERIFY_OFF,  /* less was */
    MT_VERIFY_N
};
extern const char *const mt_verify_names[MT_VERIFY_N]; /* "holds", "saved more", "off" */

/* A prediction holds within that many percent of the recorded saving, or 1 % of the peak of the
 * first program. What saves "up to" so much holds with anything from 0 to that. */
enum mt_verdict_of_advice mt_verify_judge(const struct mt_advice *a, int64_t peak_b,
                                          int64_t recorded_b, double tolerance);

/* Whether it is off, or is not, only with blocks that may be dead: by how much less the peaks of
 * the first and the second program may be (doubt_at_peak_b). */
bool mt_verify_turns(const struct mt_advice *a, int64_t peak_b, int64_t recorded_b,
                     const int64_t doubt_b[2], double tolerance);

/* How many backward passes the second program runs for each one of the first, by step of an
 * optimizer: into how many parts it cuts a batch. MT_UNKNOWN: not a whole number of two or more. */
int64_t mt_verify_parts(const struct mt_verify_run *before, const struct mt_verify_run *after);

#endif
