/*
 * formats.h - the forms in which runs are written. Adding one: a writer in a file of its own, its
 * line below and a row in formats.c, a part of docs/export.md, docs/man/memtool-export.mdoc and of
 * tests/matrix/test_export*.py.
 */
#ifndef MT_EXPORT_FORMATS_H
#define MT_EXPORT_FORMATS_H

#include "lib/base/err.h"
#include "lib/export/counters.h"
#include "lib/export/stacks.h"
#include <stdio.h>

/* Options that a format has a use for. */
enum mt_export_takes {
    MT_EXPORT_AT = 1,
    MT_EXPORT_MEASURE = 2,
    MT_EXPORT_MIN = 4,
    MT_EXPORT_DEVICE = 8,
    MT_EXPORT_SOURCE = 16,
    MT_EXPORT_WINDOW = 32,
    MT_EXPORT_VIEW = 64,
    MT_EXPORT_ROLLUP = 128
};

struct mt_export_format {
    const char *name;
    const char *endings; /* of files, blanks between them */
    bool binary;         /* no text to show on a terminal */
    unsigned takes;      /* enum mt_export_takes, or-ed; of MT_EXPORT_MEASURE: it holds one alone */
    /* One of these writes it. Call paths: */
    void (*stacks)(const struct mt_stacks *s, enum mt_measure measure, FILE *out);
    bool whole;  /* each path is written from its root on: of deep ones that is much */
    bool phases; /* it has a place for the phase of a path */
    bool end;    /* it holds what is alive at the end, too */
    /* Curves: */
    void (*counters)(const struct mt_counters *c, FILE *out);
    /* Curves in an archive with the trace itself, which is gzipped or not. False: something cannot
       be read or kept. */
    bool (*archive)(struct mt_counters *c, FILE *trace, bool gzip, FILE *out);
    /* A part of an allocator snapshot, which its reader writes (formats/snapshot_cut.h). */
    bool snapshot;
    /* Rows of a view (views.h), in the output format of that name (lib/render/render.h). */
    bool rows;
    /* Rows of a job (rollup.h) alone, behind this statement. */
    const char *statement;
};

extern const struct mt_export_format mt_export_formats[]; /* ends with a name of NULL */

/* Of that name; NULL: none. */
const struct mt_export_format *mt_export_format_by_name(const char *name);
/* Of the ending of a file; NULL: none. */
const struct mt_export_format *mt_export_format_by_ending(const char *path);

/* Writes out a text that grows, once it has that many bytes, and empties it. */
enum { MT_EXPORT_PIECE = 1 << 16 };
void mt_export_flush(struct mt_buf *text, FILE *out, size_t least);

/* The writers. Errors of output are left to ferror. */
void mt_export_collapsed(const struct mt_stacks *s, enum mt_measure measure, FILE *out);
void mt_export_pprof(const struct mt_stacks *s, enum mt_measure measure, FILE *out);
void mt_export_speedscope(const struct mt_stacks *s, enum mt_measure measure, FILE *out);
void mt_export_dhat(const struct mt_stacks *s, enum mt_measure measure, FILE *out);
void mt_export_perfetto(const struct mt_counters *c, FILE *out);
void mt_export_perfetto_json(const struct mt_counters *c, FILE *out);
bool mt_export_perfetto_tar(struct mt_counters *c, FILE *trace, bool gzip, FILE *out);

#endif
