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

/* Whether the second program shows what the advice says: it applies to the first, and to the second
 * no longer, or saves next to nothing there. Other changes may lead to the same. */
bool mt_verify_is_made(const struct mt_advice *a, const struct mt_verify_run *before,
                       const struct mt_verify_run *after);

/* How far the saving is off, as a share of the one recorded, percent; no figure (false) where the
 * peak is no lower. */
bool mt_verify_error(const struct mt_advice *a, int64_t recorded_b, double *percent);

/* Whether the prediction holds within that many percent of the recorded saving, or 1 % of the peak
 * of the first program. What saves "up to" so much holds with anything from 0 to that. */
bool mt_verify_holds(const struct mt_advice *a, int64_t peak_b, int64_t recorded_b,
                     double tolerance);

#endif
