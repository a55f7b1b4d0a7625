/*
 * totals.h - the figures of whole devices: what table and tree say above their rows, in words for
 * people, in json as totals.
 */
#ifndef MT_CMD_TOTALS_H
#define MT_CMD_TOTALS_H

#include "lib/render/report.h"
#include "lib/run/runs.h"

struct mt_totals {
    const struct mt_run *run;
    const struct mt_run_device *v;
    size_t n;          /* of one run, at least one */
    int64_t net_b;     /* of the rows */
    const char *of[2]; /* what the rows are part of the run by, "step 2", "thread 7"; NULL: all */
};

/* The title "base · cuda:0 · net 4 B · peak 6 B at 2 us", as far as it is known; of a part of the
 * run it says that the peak is that of the run. And the same as totals and params. The first of
 * several devices says which figures there are; their peaks are at several times. */
void mt_totals_describe(const struct mt_totals *t, struct mt_report *r);

#endif
