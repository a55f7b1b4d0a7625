#include "lib/stmt_report.h"

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

static struct mt_cell cell_of(struct mt_report *r, const struct mt_stmt *s, int column)
{
    switch (mt_stmt_kind(s, column)) {
    case MT_VALUE_INT:
        return mt_cell_int(mt_stmt_int(s, column));
    case MT_VALUE_REAL:
        return mt_cell_real(mt_stmt_real(s, column));
    case MT_VALUE_TEXT:
        return mt_cell_text(mt_report_text(r, mt_stmt_text(s, column)));
    default:
        return (struct mt_cell){0};
    }
}

enum mt_status mt_report_from_stmt(struct mt_report *r, struct mt_stmt *s, int64_t limit,
                                   struct mt_err *err)
{
    bool row = true;
    for (int c = 0; c < mt_stmt_column_n(s); c++) {
        const char *name = mt_report_text(r, mt_stmt_column_name(s, c));
        mt_report_column(r, name, NULL, mt_unit_of_name(name));
    }
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        if (limit > 0 && r->rows.n >= (size_t)limit) {
            r->left_out_n++;
            continue;
        }
        struct mt_row *out = mt_report_row(r);
        for (int c = 0; c < mt_stmt_column_n(s); c++)
            out->cells[c] = cell_of(r, s, c);
    }
}
