/*
 * leaks.h - the parts of `memtool leaks`.
 */
#ifndef MT_LEAKS_CMD_H
#define MT_LEAKS_CMD_H

#include "cmd/rows.h"
#include "lib/load.h"

/* What --fail asks for. */
struct mt_leaks_answer {
    bool leaking;
    bool unknown; /* nobody can tell: too few steps or runs, a candidate that grows, or
                     nothing recorded */
};

struct mt_leaks_wanted {
    const char *device; /* NULL: the one of the first run with most bytes allocated */
    const enum mt_group_key *keys;
    int key_n;
    int64_t min_b; /* leaks and candidates grow by that much per run; others hold it at an end */
    bool all;      /* not only leaks and candidates */
    const struct mt_rows *rows; /* whose min_b is not used */
};

/*
 * Growth over several runs of one program, in the order given: a row per site that is alive at the
 * end of any, sites being matched as diff does. A site that rises from each run to the next is a
 * leak when there are three runs or more, else a candidate, as is one that rises and never falls.
 * The answer is about rows of at least min_b.
 */
enum mt_status mt_leaks_over_runs(const struct mt_args *refs, const struct mt_leaks_wanted *wanted,
                                  struct mt_report *r, struct mt_leaks_answer *answer,
                                  struct mt_err *err);

#endif
