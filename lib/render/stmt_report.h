/*
 * stmt_report.h - a report whose rows are those of an SQL statement.
 */
#ifndef MT_STMT_REPORT_H
#define MT_STMT_REPORT_H

#include "lib/db/db.h"
#include "lib/render/report.h"

/* Adds the statement's columns (units by their names' endings: _b, _ns, _n) and its rows, at most
 * `limit` (0 = all); further rows are counted in left_out_n, as far as that takes no longer than a
 * second (left_out_more). */
enum mt_status mt_report_from_stmt(struct mt_report *r, struct mt_stmt *s, int64_t limit,
                                   struct mt_err *err);

/*
 * The same, but only the first held_n rows are read now, the others when the report is written
 * (next and ended in report.h). `rows` and the statement must live as long; a query of many rows
 * keeps importers out while it is written.
 */
struct mt_stmt_rows {
    struct mt_report *report;
    struct mt_stmt *stmt;
    int64_t limit, row_n;
    bool over; /* the last row was read */
    enum mt_status status;
    struct mt_err err;
};
enum mt_status mt_report_stream(struct mt_report *r, struct mt_stmt *s, int64_t limit,
                                int64_t held_n, struct mt_stmt_rows *rows, struct mt_err *err);

/* The unit a column name promises. */
enum mt_unit mt_unit_of_name(const char *name);

#endif
