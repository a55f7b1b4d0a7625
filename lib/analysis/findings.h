/*
 * findings.h - all rules, for all devices of runs and, if asked, for each run by itself.
 */
#ifndef MT_FINDINGS_H
#define MT_FINDINGS_H

#include "lib/analysis/loaded.h"

struct mt_findings {
    MT_VEC(struct mt_checked) v;
    int64_t n_of[MT_CHECK_N];
    const struct mt_loaded *new, *base; /* base NULL: none */
    size_t rule_n;
    size_t of_no_run_n; /* findings of ranks that are not there */
    size_t
        child_n; /* of processes with another number in every run: rules of growth pass over them */
    bool each;   /* findings of every rule for every run, rules one after the other */
    unsigned about;          /* what all are about, as mt_findings_about */
    struct mt_strtab living; /* devices of which some are about what is alive */
    bool unnamed;            /* nobody named the run, so that its name is news */
};

/* base NULL: none. A rule that names no device is for every one that a run has. missing: the
 * sentence about ranks of the job that are not among the runs, of which no rule is known to be
 * kept; NULL: none. rules, new and base outlive the findings. */
void mt_findings_find(const struct mt_rules *rules, const struct mt_loaded *new,
                      const struct mt_loaded *base, bool each, const char *missing,
                      struct mt_findings *out);
void mt_findings_free(struct mt_findings *f);

/* How many devices they are about. */
size_t mt_findings_devices(const struct mt_findings *f);

/* Whether some rule is about a level: what is older than the recording is part of it. */
bool mt_findings_of_levels(const struct mt_findings *f);

/* What the findings are about, of a run: enum mt_about (lib/model/notes.h), or-ed. */
unsigned mt_findings_about(const struct mt_findings *f, const struct mt_baseline *run);

#endif
