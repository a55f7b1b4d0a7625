/*
 * render_parts.h - what the writers behind render.h share. Only lib/render*.c includes it.
 */
#ifndef MT_RENDER_PARTS_H
#define MT_RENDER_PARTS_H

#include "lib/render/render.h"

/* A column as people see it. */
struct mt_shown {
    size_t index; /* in the report's columns and cells */
    bool text;    /* left aligned, may be cut; else a figure, right aligned */
    int width;    /* for the table: terminal columns of its widest cell or heading, */
    int least;    /* and how far it may be cut */
};

/* The columns people see, in their order; *n of them. Free it. */
struct mt_shown *mt_render_shown(const struct mt_report *r, size_t *n);

/* Appends the heading of a column: its title, or its name in capitals. */
void mt_render_heading(struct mt_buf *out, const struct mt_column *column);

/* Appends a cell of a column as people read it, safe for a terminal. */
void mt_render_cell(struct mt_buf *out, const struct mt_cell *cell, const struct mt_column *column,
                    bool bytes);

/* Appends the raw value: digits of a number, text as it is, nothing when it is unknown. */
void mt_render_raw(struct mt_buf *out, const struct mt_cell *cell);

/* NULL, NaN or infinite. */
bool mt_render_unknown(const struct mt_cell *cell);

/* The next of the rows a report makes as they are written (report.h); false after the last. */
bool mt_render_next(const struct mt_report *r, struct mt_cell *cells);

/* Appends memtool's own words, safe for a terminal, and for an ASCII one the signs they use
 * (tree lines, middle dots, dashes, arrows) replaced. */
void mt_render_words(struct mt_buf *out, const char *s, bool ascii);

/* ---- the writers of output_formats.c: as mt_render ---- */

void mt_render_table(const struct mt_report *r, const struct mt_render *how, FILE *out);
void mt_render_markdown(const struct mt_report *r, const struct mt_render *how, FILE *out);
void mt_render_csv(const struct mt_report *r, const struct mt_render *how, FILE *out);
void mt_render_tsv(const struct mt_report *r, const struct mt_render *how, FILE *out);
void mt_render_json(const struct mt_report *r, const struct mt_render *how, FILE *out);
void mt_render_jsonl(const struct mt_report *r, const struct mt_render *how, FILE *out);

#endif
