/*
 * rows.h - what commands that show rows share: --limit, --min, --name and --columns.
 */
#ifndef MT_ROWS_H
#define MT_ROWS_H

#include "cmd/cmd.h"
#include "lib/base/finder.h"
#include "lib/render/report.h"

struct mt_rows {
    int64_t limit;  /* 0 = all, MT_LIMIT_NONE = not given: mt_rows_limit says what holds */
    int64_t people; /* how many people see where it is not given; programs get all */
    int64_t min_b;
    const char *name, *columns; /* NULL: not given */
};
#define MT_LIMIT_NONE (-1)
/* Initial value: without options, people see n rows. */
#define MT_ROWS(n)                                                                                 \
    {                                                                                              \
        .limit = MT_LIMIT_NONE, .people = (n)                                                      \
    }

/* How many rows to show in the output format chosen; 0 = all. */
int64_t mt_rows_limit(const struct mt_rows *rows);

/* What help says of --limit. */
#define MT_LIMIT_HELP(people) "show N rows; 0 = all (default: " people "; csv, tsv and json: all)"

/* Rows of an option table. `of_what` says in --help which column --min is about. */
#define MT_ROWS_OPTS(rows, of_what, limit_text)                                                     \
    {"limit", 'n', MT_OPT_INT, &(rows).limit, "N", MT_LIMIT_HELP(limit_text)},                      \
        {"name", 0, MT_OPT_STRING, &(rows).name, "REGEX", "only rows that match"},                  \
        {"min", 0, MT_OPT_SIZE, &(rows).min_b, "SIZE", "only rows of at least this size " of_what}, \
    {                                                                                               \
        "columns", 0, MT_OPT_STRING, &(rows).columns, "LIST",                                       \
            "these columns, in this order, by their csv names or headings"                          \
    }

/* The column that --min is about in rows sorted by any: that one if it holds bytes, else
 * `otherwise`. */
const char *mt_rows_size(const struct mt_report *r, const char *sorted, const char *otherwise);

/*
 * Applies them to sorted rows: what is left out is counted in left_out_n. --min is about the
 * magnitude of `column`; --name looks at every text of a row; explicit rows stay only if they
 * match too. Errors: MT_EUSAGE: no regular expression; a column that is unknown (listing
 * those there are) or named twice.
 */
enum mt_status mt_rows_apply(const struct mt_rows *rows, struct mt_report *r, const char *column,
                             struct mt_err *err);

/*
 * Below the table: how many rows were left out, if any, and which options show them; in place of
 * the table, where the filters left no row. sum: what all rows add up to, NULL = nothing that could
 * be said. advice: what else to do, behind "--limit 0 shows all"; "" = nothing. Formats without a
 * place below the table have it on stderr.
 */
void mt_rows_footer(const struct mt_rows *rows, struct mt_report *r, const char *sum,
                    const char *advice);

/* A picture is of all rows (`draws`: "every segment"). odd: a further option that selects some, or
 * NULL. Errors: MT_EUSAGE: that or one of --limit, --name, --min and --columns is given, and a
 * picture wanted. */
enum mt_status mt_rows_check_svg(const struct mt_rows *rows, const char *odd, const char *draws,
                                 struct mt_err *err);

/* Compiles the expression of --name; on success free it with mt_finder_free. Errors: MT_EUSAGE. */
enum mt_status mt_name_finder(const char *text, struct mt_finder *f, struct mt_err *err);
/* Whether it matches a name, whole or as people read it in a column of such texts. */
bool mt_name_matches(struct mt_finder *f, const char *name, enum mt_text how);

#endif
