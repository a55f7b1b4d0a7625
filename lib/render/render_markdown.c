#include "lib/base/human.h"
#include "lib/render/render_parts.h"

#include <stdlib.h>
#include <string.h>

/*
 * Names stand in code spans: there GitHub sees no mention, link or HTML in them. A backslash before
 * a pipe cannot be written in a table's code span, so that pipe is shown as \x7c.
 */
static void add_code(struct mt_buf *out, const char *s)
{
    size_t fence = 1, run = 0;
    for (const char *p = s; *p; p++) {
        run = *p == '`' ? run + 1 : 0;
        if (run >= fence)
            fence = run + 1;
    }
    if (!*s)
        return;
    const char *blank = *s == '`' || s[strlen(s) - 1] == '`' ? " " : "";
    for (size_t i = 0; i < fence; i++)
        mt_buf_addc(out, '`');
    mt_buf_adds(out, blank);
    for (const char *p = s; *p; p++) {
        if (*p != '|')
            mt_buf_addc(out, *p);
        else
            mt_buf_adds(out, p > s && p[-1] == '\\' ? "\\x7c" : "\\|");
    }
    mt_buf_adds(out, blank);
    for (size_t i = 0; i < fence; i++)
        mt_buf_addc(out, '`');
}

static void add_words(struct mt_buf *out, const char *s, bool ascii)
{
    struct mt_buf safe = {0};
    mt_render_words(&safe, s, ascii);
    for (const char *p = safe.s; *p; p++) {
        bool at_start = p == safe.s && strchr("-+=", *p);
        if (at_start || strchr("\\`*_{}[]<>#|~&", *p))
            mt_buf_addc(out, '\\');
        mt_buf_addc(out, *p);
        if (*p == '@') /* of nobody that GitHub should call */
            mt_buf_adds(out, "<!-- -->");
    }
    mt_buf_free(&safe);
}

static void add_cell(struct mt_buf *line, const struct mt_cell *cell, const char *tree,
                     const struct mt_column *column, const struct mt_render *how)
{
    if (cell->kind != MT_CELL_TEXT) {
        mt_render_cell(line, cell, column, how->bytes);
        return;
    }
    struct mt_buf text = {0};
    if (tree && column->unit == MT_UNIT_TREE)
        mt_render_words(&text, tree, how->ascii);
    mt_render_cell(&text, cell, column, how->bytes);
    if (column->unit == MT_UNIT_WORDS)
        add_words(line, text.s, how->ascii);
    else
        add_code(line, text.s);
    mt_buf_free(&text);
}

static void put_rows(const struct mt_report *r, const struct mt_render *how, FILE *out)
{
    struct mt_buf line = {0}, heading = {0};
    size_t n;
    struct mt_shown *shown = mt_render_shown(r, &n);
    for (size_t k = 0; k < n; k++) {
        mt_buf_clear(&heading);
        mt_render_heading(&heading, &r->columns.v[shown[k].index]);
        mt_buf_adds(&line, "| ");
        add_words(&line, heading.s, how->ascii);
        mt_buf_addc(&line, ' ');
    }
    mt_buf_adds(&line, "|\n");
    for (size_t k = 0; k < n; k++)
        mt_buf_adds(&line, shown[k].text ? "| :--- " : "| ---: ");
    fprintf(out, "%s|\n", line.s);
    for (size_t i = 0; i < r->rows.n && !ferror(out); i++) {
        const struct mt_row *row = &r->rows.v[i];
        mt_buf_clear(&line);
        for (size_t k = 0; k < n; k++) {
            size_t c = shown[k].index;
            mt_buf_adds(&line, "| ");
            add_cell(&line, &row->cells[c], row->tree, &r->columns.v[c], how);
            mt_buf_addc(&line, ' ');
        }
        fprintf(out, "%s|\n", line.s);
    }
    free(shown);
    mt_buf_free(&line);
    mt_buf_free(&heading);
}

void mt_render_markdown(const struct mt_report *r, const struct mt_render *how, FILE *out)
{
    struct mt_buf line = {0};
    mt_buf_adds(&line, "");
    if (r->title)
        add_words(&line, r->title, how->ascii);
    if (r->title_end && *r->title_end) {
        if (line.n)
            mt_render_words(&line, " · ", how->ascii);
        add_words(&line, r->title_end, how->ascii);
    }
    if (line.n)
        fprintf(out, "%s\n\n", line.s);
    if (r->rows.n)
        put_rows(r, how, out);
    else if (!r->cannot_tell.why) {
        mt_buf_clear(&line);
        add_words(&line, r->empty ? r->empty : "no rows", how->ascii);
        fprintf(out, "%s\n", line.s);
    }
    if (r->cannot_tell.why) {
        char *said = mt_report_cannot_tell_text(r);
        mt_buf_clear(&line);
        add_words(&line, said, how->ascii);
        fprintf(out, "%s%s\n", r->rows.n ? "\n" : "", line.s);
        free(said);
    }
    for (size_t i = 0; i < r->footer.n; i++) {
        mt_buf_clear(&line);
        add_words(&line, r->footer.v[i], how->ascii);
        fprintf(out, "\n%s\n", line.s);
    }
    mt_buf_free(&line);
}
