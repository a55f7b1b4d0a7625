#include "lib/base/human.h"
#include "lib/render/render_parts.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool names_the_row(const struct mt_column *c)
{
    return c->unit == MT_UNIT_TREE || strcmp(c->name, "name") == 0;
}

/* A column without a unit is a figure when it has numbers only. */
static bool is_text(const struct mt_report *r, size_t index)
{
    enum mt_unit unit = r->columns.v[index].unit;
    if (unit != MT_UNIT_NONE)
        return unit == MT_UNIT_TREE || unit == MT_UNIT_WORDS;
    bool numbers = false;
    for (size_t i = 0; i < r->rows.n; i++) {
        enum mt_cell_kind kind = r->rows.v[i].cells[index].kind;
        if (kind == MT_CELL_TEXT)
            return true;
        numbers |= kind != MT_CELL_NULL;
    }
    return !numbers;
}

struct mt_shown *mt_render_shown(const struct mt_report *r, size_t *n)
{
    struct mt_shown *shown = mt_alloc((r->columns.n + 1) * sizeof *shown);
    size_t last = SIZE_MAX;
    *n = 0;
    for (size_t i = 0; i < r->columns.n; i++) {
        if (r->columns.v[i].hidden)
            continue;
        if (!r->keep_order && last == SIZE_MAX && names_the_row(&r->columns.v[i]))
            last = i;
        else
            shown[(*n)++].index = i;
    }
    if (last != SIZE_MAX)
        shown[(*n)++].index = last;
    for (size_t i = 0; i < *n; i++)
        shown[i].text = is_text(r, shown[i].index);
    return shown;
}

void mt_render_heading(struct mt_buf *out, const struct mt_column *column)
{
    size_t from = out->n;
    mt_escape_terminal(out, column->title ? column->title : column->name);
    if (column->title)
        return;
    for (char *p = out->s + from; *p; p++)
        *p = (char)toupper((unsigned char)*p);
}

bool mt_render_unknown(const struct mt_cell *cell)
{
    return cell->kind == MT_CELL_NULL || (cell->kind == MT_CELL_REAL && !isfinite(cell->r));
}

bool mt_render_next(const struct mt_report *r, struct mt_cell *cells)
{
    for (size_t c = 0; c < r->columns.n; c++)
        cells[c] = (struct mt_cell){0};
    return r->next(r->closure, cells);
}

void mt_render_raw(struct mt_buf *out, const struct mt_cell *cell)
{
    char digits[40];
    mt_buf_adds(out, "");
    if (mt_render_unknown(cell))
        return;
    switch (cell->kind) {
    case MT_CELL_INT:
        snprintf(digits, sizeof digits, "%" PRId64, cell->i);
        mt_buf_adds(out, digits);
        break;
    case MT_CELL_REAL:
        snprintf(digits, sizeof digits, "%.15g", cell->r);
        if (strtod(digits, NULL) != cell->r)
            snprintf(digits, sizeof digits, "%.17g", cell->r);
        mt_buf_adds(out, digits);
        break;
    case MT_CELL_TEXT:
    case MT_CELL_JSON:
        mt_buf_adds(out, cell->s);
        break;
    case MT_CELL_BOOL:
        mt_buf_adds(out, cell->i ? "true" : "false");
        break;
    case MT_CELL_NULL:
        break;
    }
}

static void add_integer(struct mt_buf *out, int64_t i, const struct mt_column *column)
{
    char text[MT_HUMAN_LONG];
    enum mt_unit unit = column->unit;
    if (unit == MT_UNIT_BYTES || unit == MT_UNIT_CHANGE)
        mt_buf_adds(out, mt_human_bytes(i, text));
    else if (unit == MT_UNIT_NS)
        mt_buf_adds(out, mt_human_time(column->time_unit ? column->time_unit : "ns", i, text));
    else if (unit == MT_UNIT_COUNT)
        mt_buf_adds(out, mt_human_count(i, text));
    else
        mt_buf_addf(out, "%" PRId64, i);
}

static void add_real(struct mt_buf *out, double v, const struct mt_column *column)
{
    enum mt_unit unit = column->unit;
    char text[MT_HUMAN_MAX];
    bool whole =
        unit == MT_UNIT_BYTES || unit == MT_UNIT_CHANGE || unit == MT_UNIT_NS || fabs(v) >= 1000;
    if (whole && fabs(v) < 0x1p63)
        add_integer(out, llround(v), column);
    else
        mt_buf_adds(out, mt_human_number(v, text));
}

void mt_render_text(struct mt_buf *out, const char *s, enum mt_text how)
{
    mt_buf_adds(out, "");
    if (how == MT_TEXT_STORED)
        mt_escape_terminal(out, s);
    else if (how == MT_TEXT_OPS)
        mt_escape_op(out, s);
    else
        mt_escape_short(out, s);
}

void mt_render_cell(struct mt_buf *out, const struct mt_cell *cell, const struct mt_column *column,
                    bool bytes)
{
    enum mt_unit unit = column->unit;
    bool raw = bytes && unit != MT_UNIT_COUNT;
    if (mt_render_unknown(cell)) {
        mt_buf_adds(out, "-");
        return;
    }
    if (cell->kind == MT_CELL_TEXT) {
        mt_render_text(out, cell->s, column->text);
        return;
    }
    if (cell->kind == MT_CELL_BOOL || cell->kind == MT_CELL_JSON) {
        mt_render_raw(out, cell);
        return;
    }
    if (unit == MT_UNIT_CHANGE && (cell->kind == MT_CELL_INT ? cell->i > 0 : cell->r > 0))
        mt_buf_addc(out, '+');
    if (raw)
        mt_render_raw(out, cell);
    else if (cell->kind == MT_CELL_INT)
        add_integer(out, cell->i, column);
    else
        add_real(out, cell->r, column);
}

void mt_render_words(struct mt_buf *out, const char *s, bool ascii)
{
    static const struct {
        const char *sign, *plain;
    } signs[] = {
        {"│", "|"}, {"├", "|"}, {"└", "`"}, {"─", "-"}, {"·", "-"}, {"…", "..."}, {"→", "->"},
    };
    if (!ascii) {
        mt_escape_short(out, s);
        return;
    }
    struct mt_buf safe = {0};
    mt_buf_adds(out, "");
    mt_escape_short(&safe, s);
    for (const char *p = safe.s; *p;) {
        size_t i = 0;
        while (i < MT_ARRAY_LEN(signs) && strncmp(p, signs[i].sign, strlen(signs[i].sign)) != 0)
            i++;
        if (i < MT_ARRAY_LEN(signs)) {
            mt_buf_adds(out, signs[i].plain);
            p += strlen(signs[i].sign);
        } else {
            mt_buf_addc(out, *p++);
        }
    }
    mt_buf_free(&safe);
}
