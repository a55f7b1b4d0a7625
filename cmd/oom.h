/*
 * oom.h - what the two sides of `memtool oom` share: one dump, and several.
 */
#ifndef MT_OOM_CMD_H
#define MT_OOM_CMD_H

#include "cmd/rows.h"
#include "cmd/view.h"
#include "lib/usage/oom.h"

/* What is said of the device and of PyTorch's memory, for people. */
#define MT_OOM_FREE     "free on the GPU"
#define MT_OOM_RESERVED "reserved by PyTorch, of which"
#define MT_OOM_HOLE     "largest free range"

/* The site that asked for a failed allocation, a text of the report; NULL: unknown. */
const char *mt_oom_asker(struct mt_report *r, struct mt_tree *t, const struct mt_oom *oom);

/* The last failed allocation of each run of a group or of those named: a row each, the earliest
 * first. For people also what the first rank held beyond the median one. *exit_code is 3 where none
 * of the runs would say. Errors: those of mt_ranks_load and mt_rows_apply. */
enum mt_status mt_oom_of_ranks(const struct mt_args *args, const char *device,
                               const struct mt_rows *rows, int *exit_code, struct mt_err *err);

#endif
