/*
 * columns.h - the columns of reports. What a column is called, its heading for people, its unit and
 * what it means stand in one table, so that no two reports differ in it. A new figure is a row here
 * and its source.
 */
#ifndef MT_COLUMNS_H
#define MT_COLUMNS_H

#include "lib/render/report.h"

struct mt_column_def {
    const char *name;  /* machine name, with its unit: _b bytes, _ns nanoseconds, _n a number */
    const char *title; /* heading for people; NULL: the name in capitals */
    enum mt_unit unit;
    const char *meaning; /* a clause for help */
};

extern const struct mt_column_def mt_column_defs[]; /* the last has no name */

/* The column of that name; NULL: none. */
const struct mt_column_def *mt_column_def(const char *name);

/*
 * Adds columns by their names, blanks between them, to a report: "net_b self_net_b -time_ns". A "-"
 * before a name hides the column from people; "at_end_b=LAST" has another heading here, in which
 * "_" is a blank. All names stand in the table.
 */
void mt_report_columns(struct mt_report *r, const char *names);

#endif
