/*
 * repeats.h - measures the runs that a command line names as repeats, or reads a baseline file.
 */
#ifndef MT_REPEATS_H
#define MT_REPEATS_H

#include "cmd/cmd.h"
#include "lib/analysis/loaded.h"

struct mt_repeats_asked {
    const char *group;                /* NULL: none */
    bool files;                       /* references may be baseline files */
    int64_t warmup;                   /* mt_baseline_measure */
    const struct mt_narrows *narrows; /* the same */
};

/*
 * Measures the runs of the references, and all runs of the group; without either the latest run.
 * Free *out also on failure. Errors: those of mt_open_run and mt_baseline_read; MT_EUSAGE: a
 * baseline file among other repeats.
 */
enum mt_status mt_load_repeats(const struct mt_args *refs, const struct mt_repeats_asked *asked,
                               struct mt_loaded *out, struct mt_err *err);

/* Whether some of the runs are different ranks of a job, or of its hosts: they are no repeats of
 * one program, nor is what stands beside them. */
bool mt_loaded_are_ranks(const struct mt_loaded *l);

/* Of such: which of the job are not among them, a sentence, allocated; NULL: none, or nobody says.
 */
char *mt_loaded_missing_ranks(const struct mt_loaded *l);

#endif
