/* Parts of check.c, for its own files. */
#ifndef MT_CHECK_PARTS_H
#define MT_CHECK_PARTS_H

#include "lib/analysis/check.h"

/* The verdict is open; the first reason is the one that is said. */
__attribute__((format(printf, 2, 3))) void mt_check_open(struct mt_checked *c, const char *fmt,
                                                         ...);

static inline bool mt_check_is_partial(const struct mt_rule *rule)
{
    return rule->op || rule->scope;
}

/* Whether the verdict of a growth rule, as judged, is another one where so much comes to the
 * figures of baseline and run. */
bool mt_check_turns(const struct mt_checked *c, const double add[2]);

/* Of a growth rule: opens a verdict that is another one after as many steps (step_levels.h); base
 * NULL: none. */
void mt_check_doubt_steps(const struct mt_repeats *new, const struct mt_repeats *base,
                          struct mt_checked *c);

/* What a file lumps together of a figure, or a recording does not list, and the rule is not about;
 * the most of its repeats. */
int64_t mt_check_other(const struct mt_rule *rule, const struct mt_baseline *b,
                       const struct mt_baseline_device *d, enum mt_figure f);

/* ---- what a figure is (check_measure.c) ---- */

struct mt_check_side {
    const struct mt_repeats *repeats;
    const char *name; /* "the run" */
    bool parts;       /* what is known of a part only says something, as of what a limit is about */
};

struct mt_measured {
    int64_t median, spread;
    int64_t doubt;    /* it may be so much less, */
    int64_t unlisted; /* or more */
    size_t index;
    int64_t most; /* of all repeats, and of which */
    size_t most_index;
    struct mt_baseline_unknown part; /* a repeat that knows it of a part only; run NULL: none */
    bool found;                      /* in one of the repeats there are sites the rule is about */
    bool found_median;               /* and in that of the median */
};

/* A figure of c->device. False: a repeat does not know it, which opens c. */
bool mt_check_measure(const struct mt_rule *rule, enum mt_figure figure,
                      const struct mt_check_side *side, struct mt_checked *c,
                      struct mt_measured *out);

/* ---- why it is so ---- */

/* Adds the sites that explain most of a failure to c; base NULL: none. */
void mt_check_explain(const struct mt_rule *rule, const struct mt_baseline *base,
                      const struct mt_baseline *new, struct mt_checked *c);

/* ---- what is older than the recording (docs/older.md) ---- */

/* Of a growth rule: opens it where some repeats count what others leave out, of either side. */
void mt_check_older_differs(const struct mt_rule *rule, const struct mt_repeats *new,
                            const struct mt_repeats *base, struct mt_checked *c);

/* Opens a verdict that the estimates turn; base NULL: none. */
void mt_check_doubt_older(const struct mt_repeats *new, const struct mt_repeats *base,
                          struct mt_checked *c);

#endif
