/*
 * export.h - the parts of `memtool export`.
 */
#ifndef MT_EXPORT_H
#define MT_EXPORT_H

#include "cmd/cmd.h"
#include "lib/export/formats.h"

/* What is asked for, as it was given. */
struct mt_export_asked {
    const struct mt_export_format *format;
    const char *at, *device; /* NULL: not given */
    const char *measure;     /* the same */
    const char *trace;       /* the same */
    int64_t min_b;           /* -1: the same */
};

/* Names of the measures, blanks between them. */
extern const char mt_export_measures[];

/* Writes call paths of a run (of the argument) in a format of stacks. */
enum mt_status mt_export_stacks(const struct mt_args *args, const struct mt_export_asked *asked,
                                struct mt_err *err);

/* The same for a format of curves. */
enum mt_status mt_export_counters(const struct mt_args *args, const struct mt_export_asked *asked,
                                  struct mt_err *err);

#endif
