/*
 * formats.h - the forms in which stacks are written. Adding one: a writer in a file of its own, its
 * line below and a row in formats.c, a part of docs/man/memtool-export.mdoc and of
 * tests/matrix/test_export.py.
 */
#ifndef MT_EXPORT_FORMATS_H
#define MT_EXPORT_FORMATS_H

#include "lib/base/err.h"
#include "lib/export/stacks.h"
#include <stdio.h>

struct mt_export_format {
    const char *name;
    const char *endings; /* of files, blanks between them */
    bool phases;         /* it has a place for the phase of a path */
    bool one_measure;    /* it holds one measure, the one asked for */
    bool end;            /* it holds what is alive at the end, too */
    void (*write)(const struct mt_stacks *s, enum mt_measure measure, FILE *out);
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

#endif
