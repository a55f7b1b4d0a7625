/*
 * run_ends.h - what sites hold at the ends of several runs, and which of them grow from run to run.
 */
#ifndef MT_RUN_ENDS_H
#define MT_RUN_ENDS_H

#include "lib/analysis/leaks.h"
#include "lib/base/strtab.h"
#include "lib/usage/live.h"

#define MT_RUN_ENDS_MIN 3 /* runs, to call growth a leak */

/* Bytes at an end: with what may be dead (doubt.h), and without. */
struct mt_run_end {
    int64_t most_b, least_b;
};

struct mt_run_ends_site {
    const char *key[MT_BY_N]; /* of the last run that has it */
    bool explicit_row;
    struct mt_run_end *at_end; /* by run */
};

struct mt_run_ends {
    const enum mt_group_key *keys;
    int key_n;
    size_t run_n;
    bool unknown; /* of some run nobody knows what is alive at its end: nothing is called a leak */
    MT_VEC(struct mt_run_ends_site) sites;
    struct mt_strtab texts;
};

/* keys: borrowed, what a site is. Free with mt_run_ends_free. */
void mt_run_ends_init(struct mt_run_ends *e, const enum mt_group_key *keys, int key_n,
                      size_t run_n);
void mt_run_ends_free(struct mt_run_ends *e);

/* Adds what is alive at the end of run i of a device; runs come in order. Sites are matched with
 * those of the runs before as two runs are (lib/run/match.h). Errors: MT_EDB, MT_ELIMIT. */
enum mt_status mt_run_ends_add(struct mt_run_ends *e, size_t i, struct mt_allocations *blocks,
                               const struct mt_run_device *device, struct mt_err *err);

/* A leak grows in every run, of three or more; a candidate grows in some and never shrinks; all
 * else is state. *doubtful: it would be a leak if nothing of it were dead that may be. */
enum mt_verdict mt_run_ends_judge(const struct mt_run_ends *e, const struct mt_run_ends_site *site,
                                  bool *doubtful);

/* Whether more is alive at the end of each run than of the one before, of three or more, and some
 * sites hold nothing any more where others begin to hold as much: they may be the same, under
 * another name, as of recordings with stacks and without. That no site grows is then no answer, if
 * all together grow by min_b in a run. */
bool mt_run_ends_renamed(const struct mt_run_ends *e, int64_t min_b);

#endif
