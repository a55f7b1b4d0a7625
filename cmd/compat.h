/*
 * compat.h - `memtool table --compat torch`: PyTorch's own table of a stored run.
 */
#ifndef MT_CMD_COMPAT_H
#define MT_CMD_COMPAT_H

#include "cmd/common.h"

struct mt_compat_opts {
    const char *version; /* "torch" or "torch:2.6" */
    const char *sort;    /* PyTorch's sort key; NULL = its own order */
    int64_t limit;       /* 0 = all */
    bool by_shape;
};

/* Computes and shows the table. Errors: MT_EUSAGE (version, sort key), MT_EDB, MT_EIO. */
enum mt_status mt_compat_table(struct mt_db *db, const struct mt_run *run,
                               const struct mt_compat_opts *opts, struct mt_report *report,
                               struct mt_err *err);

#endif
