/*
 * diff_parts.h - what the two writers behind mt_diff_report share. Only cmd/diff_report.c and
 * cmd/diff_people.c include it.
 */
#ifndef MT_DIFF_PARTS_H
#define MT_DIFF_PARTS_H

#include "cmd/diff.h"

/* Columns that people see of a section in place of its figures; --columns takes them everywhere. */
enum mt_diff_short {
    MT_DIFF_CHANGE,
    MT_DIFF_BASE,
    MT_DIFF_NEW,
    MT_DIFF_INCLUSIVE,
    MT_DIFF_COUNT,
    MT_DIFF_NOTE,
    MT_DIFF_SHORT_N
};
extern const char *const mt_diff_short_names[MT_DIFF_SHORT_N];
/* Appends one, headed as in the one of the sections (a bit each), if it is one. */
void mt_diff_short_column(struct mt_report *r, enum mt_diff_short which, unsigned sections);
/* Fills those of these columns that the report has; NULL cells for MT_SECTION_TOTAL. */
void mt_diff_short_cells(const struct mt_diff *d, struct mt_report *r,
                         const struct mt_diff_row *from, enum mt_diff_section section,
                         struct mt_row *row);

/* A figure; a NULL cell where unknown. */
struct mt_cell mt_diff_cell(const struct mt_figures *f, enum mt_figure which);
/* BASE, NEW and their difference; NULL cells where unknown. */
void mt_diff_cells(const struct mt_figures at[2], enum mt_figure which, struct mt_cell out[3]);

/* Whole where it can be: integers stay exact. */
struct mt_cell mt_diff_number(double v);

/*
 * The rows of a section that are shown, largest change first: --name (which looks at the grouping
 * keys) and --min choose, then --limit cuts. Free the order. Errors: MT_EUSAGE: no regular
 * expression.
 */
struct mt_diff_rows {
    enum mt_diff_section section;
    MT_VEC(struct mt_diff_order {
        size_t row; /* in the comparison's rows */
        double weight;
    })
    order;
    int64_t left_out_n, cut_n; /* as in struct mt_report */
    int64_t same_n;            /* left out unless same_too: ops that differ in no byte allocated, */
    int64_t below_n;           /* and those that differ only in what they call */
};
enum mt_status mt_diff_rows(const struct mt_diff *d, const struct mt_rows *filter,
                            enum mt_diff_section section, bool same_too, struct mt_diff_rows *out,
                            struct mt_err *err);

/* Appends an empty report about both runs. */
struct mt_report *mt_diff_new_report(const struct mt_diff *d, const struct mt_diff_wanted *w,
                                     struct mt_diff_reports *out);

/* ---- diff_process.c ---- */

/* For programs: how both grow, in columns behind the others, for the row of the whole. least and
 * most are by step where there are steps, else by minute or event. Errors: MT_EDB. */
void mt_diff_growth_columns(struct mt_report *r);
enum mt_status mt_diff_growth_cells(const struct mt_diff *d, int64_t warmup, struct mt_report *r,
                                    struct mt_cell *cells, struct mt_err *err);

/* Of two processes, for people: in place of the sections. Errors: MT_EDB. */
enum mt_status mt_diff_people_processes(const struct mt_diff *d, const struct mt_diff_wanted *w,
                                        struct mt_diff_reports *out, struct mt_err *err);

/* ---- diff_people.c ---- */

/* For people, each a report of its own, appended to `out`: a row for each of more than two runs;
 * the peaks of two, and what they allocated; a section of what changed. d and w stay until `out` is
 * shown. Errors: MT_EDB; MT_EUSAGE: no such column. */
void mt_diff_people_trend(const struct mt_diff *d, const struct mt_diff_wanted *w,
                          struct mt_diff_reports *out);
void mt_diff_people_total(const struct mt_diff *d, const struct mt_diff_wanted *w,
                          struct mt_diff_reports *out);
enum mt_status mt_diff_people_section(const struct mt_diff *d, const struct mt_diff_wanted *w,
                                      enum mt_diff_section section, struct mt_diff_reports *out,
                                      struct mt_err *err);

#endif
