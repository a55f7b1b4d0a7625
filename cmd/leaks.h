/*
 * leaks.h - the parts of `memtool leaks`.
 */
#ifndef MT_LEAKS_CMD_H
#define MT_LEAKS_CMD_H

#include "cmd/cmd.h"
#include "lib/load.h"
#include "lib/report.h"

/* What --fail asks for. */
struct mt_leaks_answer {
    bool leaking;
    bool unknown; /* nobody can tell: too few steps or runs, a candidate that grows, or
                     nothing recorded */
};

/*
 * Growth over several runs of one program, in the order given: a row per site that is alive at the
 * end of any. A site that rises from each run to the next is a leak when there are three runs or
 * more, else a candidate, as is one that rises and never falls. The answer is about leaks of at
 * least min_b per run.
 */
enum mt_status mt_leaks_over_runs(const struct mt_args *refs, const char *device_name,
                                  const enum mt_group_key *keys, int key_n, int64_t min_b,
                                  struct mt_report *r, struct mt_leaks_answer *answer,
                                  struct mt_err *err);

#endif
