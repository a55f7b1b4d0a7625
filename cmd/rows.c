#include "cmd/rows.h"

#include "cmd/common.h"
#include "lib/human.h"
#include <stdlib.h>
#include <string.h>

enum mt_status mt_name_regex(const char *text, regex_t *re, struct mt_err *err)
{
    int code = regcomp(re, text, REG_EXTENDED | REG_NOSUB);
    if (code == 0)
        return MT_OK;
    char why[100];
    regerror(code, re, why, sizeof why);
    MT_FAIL(err, MT_EUSAGE, "--name '%s' is no regular expression: %s", text, why);
    mt_err_hint(err, "Put a backslash before a character that is meant as such: '\\['.");
    return MT_EUSAGE;
}

static bool matches(const regex_t *re, const struct mt_report *r, const struct mt_cell *cells)
{
    for (size_t c = 0; c < r->columns.n; c++)
        if (cells[c].kind == MT_CELL_TEXT && regexec(re, cells[c].s, 0, NULL, 0) == 0)
            return true;
    return false;
}

struct filter {
    const struct mt_rows *rows;
    const struct mt_report *r;
    regex_t name;
    int value; /* column that --min is about, -1 = none */
};

static bool passes(const void *closure, const struct mt_row *row)
{
    const struct filter *f = closure;
    int64_t min_b = f->rows->min_b;
    if (f->rows->name && !matches(&f->name, f->r, row->cells))
        return false;
    if (!min_b || f->value < 0)
        return true;
    const struct mt_cell *c = &row->cells[f->value];
    return c->kind == MT_CELL_INT && (c->i >= min_b || c->i <= -min_b);
}

static enum mt_status filter(const struct mt_rows *rows, struct mt_report *r, const char *column,
                             struct mt_err *err)
{
    struct filter f = {.rows = rows, .r = r, .value = mt_report_find_column(r, column)};
    if (rows->name)
        MT_TRY(mt_name_regex(rows->name, &f.name, err));
    r->left_out_n += (int64_t)mt_report_keep(r, passes, &f);
    if (rows->name)
        regfree(&f.name);
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
    for (size_t i = 0; i < r->columns.n; i++)
        mt_buf_addf(&all, "%s%s", i ? ", " : "", r->columns.v[i].name);
    MT_FAIL(err, MT_EUSAGE, "there is no column '%s'", unknown);
    mt_err_hint(err, "There is: %s.", all.s);
    mt_buf_free(&all);
    free(unknown);
    return MT_EUSAGE;
}

enum mt_status mt_rows_apply(const struct mt_rows *rows, struct mt_report *r, const char *column,
                             struct mt_err *err)
{
    if (rows->name || rows->min_b)
        MT_TRY(filter(rows, r, column, err));
    mt_report_limit(r, rows->limit);
    return choose_columns(rows->columns, r, err);
}

/* "--name, --min and --limit": those that have left rows out. */
static const char *culprits(const struct mt_rows *rows, struct mt_report *r)
{
    const char *given[3];
    int n = 0;
    if (rows->name)
        given[n++] = "--name";
    if (rows->min_b)
        given[n++] = "--min";
    if (rows->limit > 0 && r->rows.n >= (size_t)rows->limit)
        given[n++] = "--limit";
    return n == 1   ? given[0]
           : n == 2 ? mt_report_textf(r, "%s and %s", given[0], given[1])
                    : mt_report_textf(r, "%s, %s and %s", given[0], given[1], given[2]);
}

void mt_rows_footer(const struct mt_rows *rows, struct mt_report *r, const char *sum,
                    const char *advice)
{
    bool filtered = rows->name || rows->min_b, one = r->left_out_n == 1;
    const char *before = "";
    if (sum)
        before = mt_report_textf(
            r, one ? "; it adds up with these to %s" : "; they add up with these to %s", sum);
    r->left_out = filtered ? mt_report_textf(r, "%s. %s left %s out.", before, culprits(rows, r),
                                             one ? "it" : "them")
                           : mt_report_textf(r, "%s. --limit 0 shows all%s.", before, advice);
    struct mt_buf text = {0};
    mt_rows_left_out(r, &text);
    if (text.n)
        mt_report_footer(r, "%s", text.s);
    mt_buf_free(&text);
}

void mt_rows_left_out(const struct mt_report *r, struct mt_buf *out)
{
    char n[MT_HUMAN_LONG];
    if (r->left_out_n && r->left_out)
        mt_buf_addf(out, "%s%s", mt_human_things(r->left_out_n, "more row", n), r->left_out);
}
