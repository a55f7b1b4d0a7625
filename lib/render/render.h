/*
 * render.h - writes a report (report.h) in one of the output formats to a FILE.
 */
#ifndef MT_RENDER_H
#define MT_RENDER_H

#include "lib/render/report.h"
#include <stdio.h>

/*
 * Text is any bytes. table and markdown show it escaped (mt_escape_terminal). csv and tsv have it
 * as it is, unless a terminal reads them, which gets it escaped. json has characters
 * that act on a terminal as \uNNNN, and a byte that is no UTF-8 as \u00NN, so that different
 * names stay different. Reals have as many digits as they need, up to 17; NaN and infinities are
 * written as unknown. LC_NUMERIC must be "C".
 */
enum mt_format {
    MT_FORMAT_TABLE,    /* aligned, for people; fits `width` by cutting names, never figures */
    MT_FORMAT_CSV,      /* RFC 4180: header line, quoting where needed, \n line ends; unknown is
                           an empty field, empty text is "" */
    MT_FORMAT_TSV,      /* header line; tab, newline, return, backslash in text as \t \n \r \\;
                           unknown is \N, so that PostgreSQL and ClickHouse read it unchanged */
    MT_FORMAT_JSON,     /* one object: schema, version, runs, params, totals, rows, left_out_n,
                           has_more, notes; one row a line */
    MT_FORMAT_JSONL,    /* the rows alone, each an object on a line of its own */
    MT_FORMAT_MARKDOWN, /* a pipe table with human figures, title above, footer below */
    MT_FORMAT_SVG,      /* a picture, of commands that draw one */
    MT_FORMAT_HTML,     /* a page, the same */
    MT_FORMAT_N
};

struct mt_render {
    enum mt_format format;
    bool terminal; /* reads it: nothing that acts on one is written but `color` */
    int width;     /* columns that tables fit into; 0 = unlimited */
    bool bytes;    /* raw numbers instead of KiB and ms in table and markdown */
    bool color;    /* ANSI colours in tables */
    bool ascii;    /* tree lines and the cut mark in ASCII: not a UTF-8 terminal */
};

/* What an output format is. To add one: a name in the enum, a row in output_formats.c, a writer. */
struct mt_output_format {
    const char *name, *alias; /* for --format; alias NULL: none */
    const char *ending;       /* of a file that is to be written so; NULL: none */
    bool people;       /* people read it: human figures, and what is left out is said in it */
    bool screen;       /* fits the width of a terminal, through a pager */
    bool notes_inside; /* has a place for notes, which else go to standard error */
    bool rows_alone;   /* of commands that name it; reports have more than rows to say */
    /* NULL: reports have no such form, the command makes it itself. */
    void (*write)(const struct mt_report *r, const struct mt_render *how, FILE *out);
};
extern const struct mt_output_format mt_output_formats[MT_FORMAT_N]; /* by enum mt_format */

/* The format of that name or alias, or of a file whose name ends so, in letters of either case;
 * NULL: none. */
const struct mt_output_format *mt_format_by_name(const char *name);
const struct mt_output_format *mt_format_by_ending(const char *path);
/* Whether a file's name ends as those do that no report is written as: pictures that are no SVG,
 * PDF, spreadsheets, XML, what is compressed. Text under such a name could not be opened. */
bool mt_ending_is_foreign(const char *path);

/* Appends a text as people read it in a column of such texts, safe for a terminal. */
void mt_render_text(struct mt_buf *out, const char *s, enum mt_text how);

/* Appends the rows as a table of an HTML page: class "n" of figures, "t" of texts, "c-NAME" of the
 * column, data-v with the exact value; in the first column of bytes a bar. */
void mt_render_html_table(const struct mt_report *r, const char *caption, struct mt_buf *out);

/* Appends the heading that a column has there: "AT PEAK" reads "At peak". */
void mt_render_html_heading(struct mt_buf *out, const struct mt_column *column);

/* Writes the report; its format has a writer. Output errors stay in the FILE's error flag; the
 * caller checks it once. Rows are no longer written once it is set. */
void mt_render(const struct mt_report *r, const struct mt_render *how, FILE *out);

#endif
