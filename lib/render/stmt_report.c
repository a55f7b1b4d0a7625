#include "lib/render/stmt_report.h"

#include <stdlib.h>
#include <string.h>

enum mt_unit mt_unit_of_name(const char *name)
{
    const char *low = strrchr(name, '_');
    if (low && strcmp(low, "_b") == 0)
        return MT_UNIT_BYTES;
    if (low && strcmp(low, "_ns") == 0)
        return MT_UNIT_NS;
    if (low && strcmp(low, "_n") == 0)
        return MT_UNIT_COUNT;
    return MT_UNIT_NONE;
}

/* The text of a cell lives until the next step. */
static struct mt_cell cell_of(const struct mt_stmt *s, int column)
{
    switch (mt_stmt_kind(s, column)) {
    case MT_VALUE_INT:
        return mt_cell_int(mt_stmt_int(s, column));
    case MT_VALUE_REAL:
        return mt_cell_real(mt_stmt_real(s, column));
    case MT_VALUE_TEXT: /* what ends at a NUL would be a part, taken for all of it */
        return mt_cell_text(mt_stmt_is_text(s, column) ? mt_stmt_text(s, column)
                                                       : "[bytes: hex() shows them]");
    default:
        return (struct mt_cell){0};
    }
}

static void keep_row(struct mt_report *r, const struct mt_stmt *s)
{
    struct mt_row *out = mt_report_row(r);
    for (int c = 0; c < mt_stmt_column_n(s); c++) {
        out->cells[c] = cell_of(s, c);
        if (out->cells[c].kind == MT_CELL_TEXT)
            out->cells[c].s = mt_report_text(r, out->cells[c].s);
    }
}

/* The next row within the limit; those behind it are counted. */
static bool step(struct mt_stmt_rows *rows)
{
    bool row = false, all;
    if (rows->over)
        return false;
    if (rows->limit > 0 && rows->row_n == rows->limit) {
        rows->status = mt_stmt_count_rest(rows->stmt, &rows->report->left_out_n, &all, &rows->err);
        rows->report->left_out_more = rows->status == MT_OK && !all;
    } else {
        rows->status = mt_stmt_step(rows->stmt, &row, &rows->err);
    }
    rows->row_n += row;
    rows->over = !row;
    return row;
}

static bool next_row(void *closure, struct mt_cell *cells)
{
    struct mt_stmt_rows *rows = closure;
    if (!step(rows))
        return false;
    for (int c = 0; c < mt_stmt_column_n(rows->stmt); c++)
        cells[c] = cell_of(rows->stmt, c);
    return true;
}

static enum mt_status ended(void *closure, struct mt_err *err)
{
    const struct mt_stmt_rows *rows = closure;
    if (rows->status == MT_OK)
        return MT_OK;
    *err = rows->err;
    err->hint[0] = '\0'; /* whether something was written is the caller's to say */
    return rows->status;
}

/* Whether one of the first n columns is called so. */
static bool is_called(const struct mt_stmt *s, int n, const char *name)
{
    for (int c = 0; c < n; c++)
        if (strcmp(mt_stmt_column_name(s, c), name) == 0)
            return true;
    return false;
}

/* A name that no other column has: programs that read JSON would lose one of them. The second "n"
 * is "n_2". */
static const char *own_name(struct mt_report *r, const struct mt_stmt *s, int column)
{
    const char *name = mt_stmt_column_name(s, column), *kept;
    int n = 1;
    for (int c = 0; c < column; c++)
        n += strcmp(mt_stmt_column_name(s, c), name) == 0;
    if (n == 1)
        return mt_report_text(r, name);
    char *own = mt_asprintf("%s_%d", name, n);
    while (is_called(s, mt_stmt_column_n(s), own)) {
        free(own);
        own = mt_asprintf("%s_%d", name, n += mt_stmt_column_n(s));
    }
    kept = mt_report_text(r, own);
    free(own);
    return kept;
}

enum mt_status mt_report_stream(struct mt_report *r, struct mt_stmt *s, int64_t limit,
                                int64_t held_n, struct mt_stmt_rows *rows, struct mt_err *err)
{
    *rows = (struct mt_stmt_rows){r, s, limit, 0, false, MT_OK, MT_ERR_INIT};
    for (int c = 0; c < mt_stmt_column_n(s); c++) {
        const char *name = mt_stmt_column_name(s, c);
        enum mt_unit unit = mt_unit_of_name(name);
        mt_report_column(r, own_name(r, s, c), NULL, unit);
        r->columns.v[c].text = MT_TEXT_STORED;
    }
    while (rows->row_n < held_n) {
        if (!step(rows)) {
            if (rows->status != MT_OK)
                *err = rows->err;
            return rows->status;
        }
        keep_row(r, s);
    }
    r->next = next_row;
    r->ended = ended;
    r->closure = rows;
    return MT_OK;
}

enum mt_status mt_report_from_stmt(struct mt_report *r, struct mt_stmt *s, int64_t limit,
                                   struct mt_err *err)
{
    struct mt_stmt_rows rows;
    return mt_report_stream(r, s, limit, INT64_MAX, &rows, err);
}
