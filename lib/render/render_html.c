/* A report as a table of a page. Its cells say what people read; beside them, for the script and
 * for who points at them, the exact value. */
#include "lib/base/human.h"
#include "lib/render/columns.h"
#include "lib/render/render_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_bytes(enum mt_unit unit)
{
    return unit == MT_UNIT_BYTES || unit == MT_UNIT_CHANGE;
}

void mt_render_html_heading(struct mt_buf *out, const struct mt_column *column)
{
    struct mt_buf words = {0};
    mt_render_heading(&words, column);
    for (char *p = words.s; *p; p++)
        *p = p == words.s ? *p : (char)tolower((unsigned char)*p);
    mt_escape_xml(out, words.s);
    mt_buf_free(&words);
}

static void add_head(struct mt_buf *out, const struct mt_report *r, const struct mt_shown *shown,
                     size_t n)
{
    mt_buf_adds(out, "<thead><tr>");
    for (size_t k = 0; k < n; k++) {
        const struct mt_column *column = &r->columns.v[shown[k].index];
        struct mt_column_def def;
        mt_buf_addf(out, "<th scope=\"col\" class=\"%s c-%s\"", shown[k].text ? "t" : "n",
                    column->name);
        if (mt_column_find(column->name, &def) && def.meaning) {
            mt_buf_adds(out, " title=\"");
            mt_escape_xml(out, def.meaning);
            mt_buf_addc(out, '"');
        }
        mt_buf_addc(out, '>');
        mt_render_html_heading(out, column);
        mt_buf_adds(out, "</th>");
    }
    mt_buf_adds(out, "</tr></thead>\n");
}

/* Of figures the exact one: "12,656,896 B". */
static void add_exact(struct mt_buf *out, const struct mt_cell *cell,
                      const struct mt_column *column)
{
    char text[MT_HUMAN_MAX];
    enum mt_unit unit = column->unit;
    if (cell->kind == MT_CELL_TEXT || mt_render_unknown(cell))
        return;
    mt_buf_adds(out, " data-v=\"");
    mt_render_raw(out, cell);
    mt_buf_addc(out, '"');
    if (cell->kind == MT_CELL_INT && (is_bytes(unit) || unit == MT_UNIT_NS))
        mt_buf_addf(out, " title=\"%s %s\"", mt_human_count(cell->i, text),
                    is_bytes(unit)      ? "B"
                    : column->time_unit ? column->time_unit
                                        : "ns");
}

/* Largest magnitude of the column that bars are drawn of. */
static double most_of(const struct mt_report *r, size_t column)
{
    double most = 0;
    for (size_t i = 0; i < r->rows.n; i++) {
        const struct mt_cell *cell = &r->rows.v[i].cells[column];
        double v = cell->kind == MT_CELL_INT ? (double)cell->i : 0;
        v = v < 0 ? -v : v;
        most = v > most ? v : most;
    }
    return most;
}

static void add_bar(struct mt_buf *out, const struct mt_cell *cell, double most, bool change)
{
    double v = cell->kind == MT_CELL_INT ? (double)cell->i : 0;
    const char *kind = v < 0 ? " less" : v > 0 && change ? " more" : "";
    double part = most > 0 ? 100 * (v < 0 ? -v : v) / most : 0;
    mt_buf_addf(out, "<i class=\"bar%s\" style=\"width:%.1f%%\"></i>", kind, part);
}

/* A cell; most: what its bar is measured by, 0: it has none. */
static void add_cell(struct mt_buf *out, const struct mt_row *row, const struct mt_shown *shown,
                     const struct mt_column *column, double most)
{
    const struct mt_cell *cell = &row->cells[shown->index];
    struct mt_buf text = {0};
    mt_buf_addf(out, "<td class=\"%s c-%s\"", shown->text ? "t" : "n", column->name);
    add_exact(out, cell, column);
    if (shown->text && cell->kind == MT_CELL_TEXT && strlen(cell->s) < 1024) {
        mt_buf_adds(out, " data-v=\"");
        mt_escape_xml(out, cell->s);
        mt_buf_addc(out, '"');
    }
    mt_buf_addc(out, '>');
    mt_render_cell(&text, cell, column, false);
    mt_escape_xml(out, text.s);
    if (most > 0 && cell->kind == MT_CELL_INT)
        add_bar(out, cell, most, column->unit == MT_UNIT_CHANGE);
    mt_buf_adds(out, "</td>");
    mt_buf_free(&text);
}

static bool says_nothing(const struct mt_cell *cell)
{
    return mt_render_unknown(cell) || (cell->kind == MT_CELL_TEXT && !*cell->s);
}

/* Columns in which no cell says anything have no place on a page. Returns how many are left. */
static size_t drop_empty(const struct mt_report *r, struct mt_shown *shown, size_t n)
{
    size_t left = 0;
    for (size_t k = 0; k < n; k++) {
        size_t i = 0;
        while (i < r->rows.n && says_nothing(&r->rows.v[i].cells[shown[k].index]))
            i++;
        if (i < r->rows.n)
            shown[left++] = shown[k];
    }
    return left ? left : n;
}

void mt_render_html_table(const struct mt_report *r, const char *caption, struct mt_buf *out)
{
    size_t n, first = SIZE_MAX;
    struct mt_shown *shown = mt_render_shown(r, &n);
    n = drop_empty(r, shown, n);
    for (size_t k = n; k-- > 0;)
        if (is_bytes(r->columns.v[shown[k].index].unit))
            first = k;
    double most = first == SIZE_MAX ? 0 : most_of(r, shown[first].index);
    mt_buf_addf(out, "<table data-schema=\"%s\"><caption>", r->schema);
    mt_escape_xml(out, caption);
    mt_buf_adds(out, "</caption>\n");
    add_head(out, r, shown, n);
    mt_buf_adds(out, "<tbody>\n");
    for (size_t i = 0; i < r->rows.n; i++) {
        const struct mt_row *row = &r->rows.v[i];
        mt_buf_adds(out, row->explicit_row ? "<tr class=\"dim\">" : "<tr>");
        for (size_t k = 0; k < n; k++)
            add_cell(out, row, &shown[k], &r->columns.v[shown[k].index], k == first ? most : 0);
        mt_buf_adds(out, "</tr>\n");
    }
    mt_buf_adds(out, "</tbody></table>\n");
    free(shown);
}
