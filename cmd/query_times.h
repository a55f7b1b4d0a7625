/*
 * query_times.h - times that a query of the user's finds, for people. Columns that end in _ns count
 * nanoseconds, but of some runs what orders them: instructions, bytes.
 */
#ifndef MT_CMD_QUERY_TIMES_H
#define MT_CMD_QUERY_TIMES_H

#include "lib/db/db.h"
#include "lib/render/report.h"

/*
 * Turns times of runs that do not count nanoseconds into texts with their unit: "1,234
 * instructions". Whose they are says the row's column time_unit, run or run_id; where none does and
 * the database has such runs, they are written without a unit. Errors: MT_EDB.
 */
enum mt_status mt_query_times(struct mt_db *db, struct mt_report *r, struct mt_err *err);

#endif
