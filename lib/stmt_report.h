/*
 * stmt_report.h - a report whose rows are those of an SQL statement.
 */
#ifndef MT_STMT_REPORT_H
#define MT_STMT_REPORT_H

#include "lib/db.h"
#include "lib/report.h"

/* Adds the statement's columns (units by their names' endings: _b, _ns, _n) and its rows, at most
 * `limit` (0 = all); further rows are counted in left_out_n. */
enum mt_status mt_report_from_stmt(struct mt_report *r, struct mt_stmt *s, int64_t limit,
                                   struct mt_err *err);

/* The unit a column name promises. */
enum mt_unit mt_unit_of_name(const char *name);

#endif
