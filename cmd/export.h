/*
 * export.h - the parts of `memtool export`.
 */
#ifndef MT_EXPORT_H
#define MT_EXPORT_H

#include "cmd/cmd.h"
#include "lib/export/formats.h"
#include "lib/run/runs.h"

/* What is asked for, as it was given. */
struct mt_export_asked {
    const struct mt_export_format *format;
    const char *at, *device;      /* NULL: not given */
    const char *measure;          /* the same */
    const char *source;           /* the same */
    const char *from, *to, *step; /* the same */
    const char *view;             /* the same */
    const char *rollup;           /* the same */
    bool blocks;                  /* of rollup, single ones too */
    int64_t min_b;                /* -1: the same */
};

/* Names of the measures, blanks between them. */
extern const char mt_export_measures[];

/* Writes call paths of a run (of the argument) in a format of stacks. */
enum mt_status mt_export_stacks(const struct mt_args *args, const struct mt_export_asked *asked,
                                struct mt_err *err);

/* Where the recording of a run is: --source, or where it was imported from; borrowed. Errors:
 * MT_EUSAGE: it is not there, or another one is. */
enum mt_status mt_export_source(const struct mt_run *run, const struct mt_export_asked *asked,
                                const char **path, struct mt_err *err);

/* The same as mt_export_stacks for a part of the recording itself. */
enum mt_status mt_export_snapshot(const struct mt_args *args, const struct mt_export_asked *asked,
                                  struct mt_err *err);

/* The same for rows of a view; and the names of views, for completion. */
enum mt_status mt_export_rows(const struct mt_args *args, const struct mt_export_asked *asked,
                              struct mt_err *err);
void mt_export_view_names(struct mt_buf *words);

/* Rows of the runs of a group (--rollup). Errors: of mt_ranks_load_all; MT_EIO. */
enum mt_status mt_export_rollup(const struct mt_export_asked *asked, struct mt_err *err);

/* The same for a format of curves. */
enum mt_status mt_export_counters(const struct mt_args *args, const struct mt_export_asked *asked,
                                  struct mt_err *err);

#endif
