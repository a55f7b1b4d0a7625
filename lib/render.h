/*
 * render.h - writes a report (report.h) in one of the output formats to a FILE.
 */
#ifndef MT_RENDER_H
#define MT_RENDER_H

#include "lib/report.h"
#include <stdio.h>

enum mt_format {
    MT_FORMAT_TABLE,    /* aligned, for people; fits `width` */
    MT_FORMAT_CSV,      /* RFC 4180: header line, quoting where needed, \n line ends */
    MT_FORMAT_TSV,      /* header line; tab, newline, backslash in text as \t \n \\ */
    MT_FORMAT_JSON,     /* one object: schema, version, runs, params, totals, rows, notes */
    MT_FORMAT_MARKDOWN, /* a pipe table with human figures, title above, footer below */
};

struct mt_render {
    enum mt_format format;
    int width;    /* terminal columns; 0 = unlimited (not a terminal) */
    bool bytes;   /* raw integers instead of KiB and ms in table and markdown */
    bool color;   /* ANSI colours in tables */
    bool ascii;   /* tree lines and the cut mark in ASCII: not a UTF-8 terminal */
};

/* The format of that name ("table", "csv", "tsv", "json", "markdown", also "md"), or -1. */
int mt_format_by_name(const char *name);

/* Writes the report. Output errors stay in the FILE's error flag; the caller checks it once. */
void mt_render(const struct mt_report *r, const struct mt_render *how, FILE *out);

#endif
