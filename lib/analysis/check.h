/*
 * check.h - whether a run, or the repeats of one, keeps to the rules.
 *
 * Compared is the median of the repeats (mt_median). A rule passes when the median is within the
 * limit. It fails when the median exceeds the limit by more than the spread: that of the new
 * repeats and, for growth, that of the baseline's, which scales with the limit. In between the
 * figures are too noisy to tell: inconclusive. So is a rule that cannot be applied; `why` says why.
 * Repeats of recorders that count differently have no median.
 *
 * A limit that is no growth is meant for every run: where the median keeps it and a run exceeds it,
 * the rule is inconclusive. So is growth per step that leaks alone keep, but not leaks and
 * candidates (leaks.h) together; and a limit that is kept by what is known of a part only, such as
 * the peak of a snapshot without history, or of a trace that leaves out so much that is older than
 * itself; and one that is exceeded only with blocks that may be dead, for they may have been freed
 * where nobody saw it.
 */
#ifndef MT_CHECK_H
#define MT_CHECK_H

#include "lib/analysis/rules.h"

enum mt_check_verdict { MT_CHECK_PASS, MT_CHECK_FAIL, MT_CHECK_INCONCLUSIVE, MT_CHECK_N };
extern const char *const mt_check_names[MT_CHECK_N]; /* "pass", "fail", "inconclusive" */

/* Several recordings of the same thing; a baseline file is one that knows its spread. */
struct mt_repeats {
    MT_VEC(struct mt_baseline) v;
};
void mt_repeats_free(struct mt_repeats *r);

enum { MT_EXPLAIN_MAX = 3 };

struct mt_checked {
    const struct mt_rule *rule;
    enum mt_check_verdict verdict;
    char device[MT_BASELINE_NAME_MAX]; /* with its categories, if the rule is about some */
    /* MT_BASELINE_UNKNOWN: unknown or does not apply */
    int64_t measured, limit, base;
    int64_t spread;        /* of measured */
    int64_t base_spread;   /* base_unlisted included */
    int64_t doubt;         /* measured may be so much less: blocks that may be dead */
    bool least;            /* measured is that much at least: of a repeat a part is known */
    bool most;             /* it is that much at most: a bound of a process that nobody looked at */
    bool profiled;         /* PyTorch's profiler was in the process: doubt is of that */
    bool or_child;         /* it is the device's, or that of a child of this process */
    int64_t unlisted;      /* it may be so much more: sites that the run does not list */
    int64_t base_unlisted; /* the same of the baseline */
    const struct mt_baseline_other *other; /* what measured is, where it is no figure of a file */
    char why[320];    /* inconclusive: a sentence without a full stop; else "" */
    size_t repeat_n;  /* runs that are judged together */
    size_t new_index; /* the repeat whose figure is the median */
    size_t base_index;
    bool nothing_matches; /* no site there is of the rule's op and scope */
    bool of_no_run;       /* of ranks of the job that are not there: no index is of a run */
    bool look;            /* one of the repeats is worth a look: on failure that of the median */
    size_t look_index;
    /* On failure: the sites that explain most; of growth rules by how much they grew. */
    struct mt_explain {
        const char *op, *scope, *line; /* borrowed from the repeats; NULL = none, unknown */
        int64_t amount;
    } explain[MT_EXPLAIN_MAX];
    size_t explain_n;
};

/* Whether a figure is of sites that are not listed: no more than that is known of it. */
static inline bool mt_check_is_open(int64_t v, int64_t unlisted)
{
    return !v && unlisted;
}

/* base NULL: none. same_run: base and new hold the same recording. A rule that names no device is
 * about the one with most bytes allocated. */
void mt_check_rule(const struct mt_rule *rule, const struct mt_repeats *new,
                   const struct mt_repeats *base, bool same_run, struct mt_checked *out);

/* The same about a device by its whole name; NULL: as above. */
void mt_check_rule_on(const struct mt_rule *rule, const char *device, const struct mt_repeats *new,
                      const struct mt_repeats *base, bool same_run, struct mt_checked *out);

#endif
