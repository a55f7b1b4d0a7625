/*
 * columns.h - the columns of reports. What a column is called, its heading for people, its unit and
 * what it means stand in one table, so that no two reports differ in it: the figures of groups,
 * sites and devices in lib/run/figures.c, the rest in columns.c.
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

/* The i-th column of all; false: there are no more. */
bool mt_column_at(size_t i, struct mt_column_def *out);

/* The column of that name; false: none. */
bool mt_column_find(const char *name, struct mt_column_def *out);

/*
 * Adds columns by their names, blanks between them, to a report: "net_b self_net_b -time_ns". A "-"
 * before a name hides the column from people; "at_end_b=LAST" has another heading here, in which
 * "_" is a blank. All names stand in the table.
 */
void mt_report_columns(struct mt_report *r, const char *names);

#endif
