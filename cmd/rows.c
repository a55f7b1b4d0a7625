#include "cmd/rows.h"

#include "cmd/common.h"
#include "lib/base/human.h"
#include "lib/base/nearest.h"
#include "lib/render/render.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum mt_status mt_name_finder(const char *text, struct mt_finder *f, struct mt_err *err)
{
    if (mt_finder_make(f, "--name", text, err) == MT_OK)
        return MT_OK;
    mt_err_hint(err, "Put a backslash before a character that is meant literally: '\\['.");
    return MT_EUSAGE;
}

bool mt_name_matches(struct mt_finder *f, const char *name, enum mt_text how)
{
    if (mt_finder_finds(f, name))
        return true;
    struct mt_buf shown = {0};
    mt_render_text(&shown, name, how);
    bool found = mt_finder_finds(f, shown.s);
    mt_buf_free(&shown);
    return found;
}

static bool matches(struct mt_finder *f, const struct mt_report *r, const struct mt_cell *cells)
{
    for (size_t c = 0; c < r->columns.n; c++)
        if (cells[c].kind == MT_CELL_TEXT && mt_name_matches(f, cells[c].s, r->columns.v[c].text))
            return true;
    return false;
}

struct filter {
    const struct mt_rows *rows;
    const struct mt_report *r;
    struct mt_finder *name; /* NULL = none is asked for */
    int value;              /* column that --min is about, -1 = none */
};

static bool passes(const void *closure, const struct mt_row *row)
{
    const struct filter *f = closure;
    int64_t min_b = f->rows->min_b;
    if (f->name && !matches(f->name, f->r, row->cells))
        return false;
    if (!min_b || f->value < 0)
        return true;
    const struct mt_cell *c = &row->cells[f->value];
    if (c->kind == MT_CELL_REAL)
        return fabs(c->r) >= (double)min_b;
    return c->kind == MT_CELL_INT && (c->i >= min_b || c->i <= -min_b);
}

static enum mt_status filter(const struct mt_rows *rows, struct mt_report *r, const char *column,
                             struct mt_err *err)
{
    struct mt_finder name;
    struct filter f = {.rows = rows,
                       .r = r,
                       .name = rows->name ? &name : NULL,
                       .value = mt_report_find_column(r, column)};
    if (f.name)
        MT_TRY(mt_name_finder(rows->name, &name, err));
    r->left_out_n += (int64_t)mt_report_keep(r, passes, &f);
    if (f.name)
        mt_finder_free(&name);
    return MT_OK;
}

static enum mt_status refuse_twice(const struct mt_report *r, struct mt_err *err)
{
    for (size_t i = 0; i < r->columns.n; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(r->columns.v[i].name, r->columns.v[k].name) == 0) {
                MT_FAIL(err, MT_EUSAGE, "--columns names '%s' twice", r->columns.v[i].name);
                mt_err_hint(err, "Name each column once.");
            }
    return err->code;
}

static enum mt_status choose_columns(const char *columns, struct mt_report *r, struct mt_err *err)
{
    if (!columns)
        return MT_OK;
    char *unknown = mt_report_select(r, columns);
    if (!unknown)
        return refuse_twice(r, err);
    struct mt_buf all = {0};
    const char **names = mt_alloc((r->columns.n + 1) * sizeof *names);
    for (size_t i = 0; i < r->columns.n; i++)
        names[i] = r->columns.v[i].name;
    mt_did_you_mean(unknown, names, r->columns.n, &all);
    for (size_t i = 0; i < r->columns.n; i++)
        mt_buf_addf(&all, "%s%s", i ? ", " : "Columns: ", names[i]);
    MT_FAIL(err, MT_EUSAGE, "there is no column '%s'", unknown);
    mt_err_hint(err, "%s.", all.s);
    mt_buf_free(&all);
    free(names);
    free(unknown);
    return MT_EUSAGE;
}

int64_t mt_rows_limit(const struct mt_rows *rows)
{
    if (rows->limit != MT_LIMIT_NONE)
        return rows->limit;
    return mt_people_read() ? rows->people : 0;
}

enum mt_status mt_rows_check_svg(const struct mt_rows *rows, const char *odd, const char *draws,
                                 struct mt_err *err)
{
    odd = odd                            ? odd
          : rows->limit != MT_LIMIT_NONE ? "--limit"
          : rows->name                   ? "--name"
          : rows->min_b                  ? "--min"
          : rows->columns                ? "--columns"
                                         : NULL;
    if (!odd || !mt_show_wants_svg())
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "%s selects rows, but --format svg draws %s", odd, draws);
    mt_err_hint(err, "Nothing was drawn. Leave one of them out.");
    return MT_EUSAGE;
}

const char *mt_rows_size(const struct mt_report *r, const char *sorted, const char *otherwise)
{
    int c = mt_report_find_column(r, sorted);
    enum mt_unit unit = c < 0 ? MT_UNIT_NONE : r->columns.v[c].unit;
    return unit == MT_UNIT_BYTES || unit == MT_UNIT_CHANGE ? sorted : otherwise;
}

enum mt_status mt_rows_apply(const struct mt_rows *rows, struct mt_report *r, const char *column,
                             struct mt_err *err)
{
    if (rows->name || rows->min_b)
        MT_TRY(filter(rows, r, column, err));
    mt_report_limit(r, mt_rows_limit(rows));
    return choose_columns(rows->columns, r, err);
}

/* "--name, --min and --limit": those that have left rows out. */
static const char *culprits(const struct mt_rows *rows, struct mt_report *r)
{
    const bool did[] = {rows->name != NULL, rows->min_b != 0, r->cut_n != 0};
    static const char *const names[] = {"--name", "--min", "--limit"};
    int left = did[0] + did[1] + did[2];
    const char *text = "";
    for (size_t i = 0; i < MT_ARRAY_LEN(did); i++)
        if (did[i])
            text = mt_report_textf(r, "%s%s%s", text, names[i],
                                   --left > 1  ? ", "
                                   : left == 1 ? " and "
                                               : "");
    return text;
}

/* "17 rows hidden by --name, which sum to net 4 B": none is left. */
static const char *all_left_out(const struct mt_rows *rows, struct mt_report *r, const char *sum)
{
    char n[MT_HUMAN_LONG];
    const char *add_up = "";
    if (sum)
        add_up = mt_report_textf(r, ", which %s to %s", r->left_out_n == 1 ? "comes" : "sum", sum);
    return mt_report_textf(r, "%s hidden by %s%s", mt_human_plural(r->left_out_n, "row", n),
                           culprits(rows, r), add_up);
}

/* "17 more rows (all rows sum to net 4 B); --limit 0 shows all." */
static const char *some_left_out(const struct mt_rows *rows, struct mt_report *r, const char *sum,
                                 const char *advice)
{
    const char *before = "";
    char n[MT_HUMAN_LONG];
    if (sum)
        before = mt_report_textf(r, " (all rows sum to %s)", sum);
    if (rows->name || rows->min_b)
        return mt_report_textf(r, "%s hidden by %s%s.", mt_human_plural(r->left_out_n, "row", n),
                               culprits(rows, r), before);
    return mt_report_textf(r, "%s%s; --limit 0 shows all%s.",
                           mt_human_plural(r->left_out_n, "more row", n), before, advice);
}

/* The same of rows that were not all counted, for which only a query gives up. */
static const char *more_left_out(struct mt_report *r)
{
    char n[MT_HUMAN_LONG];
    if (!r->left_out_n)
        return "perhaps more rows; the search for them was given up. --limit 0 waits for all.";
    return mt_report_textf(r, "at least %s; not all were counted. --limit 0 waits for all.",
                           mt_human_plural(r->left_out_n, "more row", n));
}

void mt_rows_footer(const struct mt_rows *rows, struct mt_report *r, const char *sum,
                    const char *advice)
{
    if (!r->left_out_n && !r->left_out_more)
        return;
    if (r->rows.n || r->next) {
        r->left_out = r->left_out_more ? more_left_out(r) : some_left_out(rows, r, sum, advice);
        mt_report_footer(r, "%s", r->left_out);
        return;
    }
    const char *what = all_left_out(rows, r, sum);
    r->left_out = mt_report_textf(r, "No rows left: %s.", what);
    r->empty = mt_report_textf(r, "no rows left: %s", what);
}
