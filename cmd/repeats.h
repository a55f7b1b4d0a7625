/*
 * repeats.h - measures the runs that a command line names as repeats, or reads a baseline file.
 */
#ifndef MT_REPEATS_H
#define MT_REPEATS_H

#include "cmd/cmd.h"
#include "lib/analysis/loaded.h"

/*
 * Measures the runs of the references, each of which may be a baseline file if `files`, and all
 * runs of a group (NULL: none); without either the latest run. Free *out also on failure. Errors:
 * those of mt_open_run and mt_baseline_read; MT_EUSAGE: a baseline file among other repeats.
 */
enum mt_status mt_load_repeats(const struct mt_args *refs, const char *group, bool files,
                               int64_t warmup, struct mt_loaded *out, struct mt_err *err);
#endif
