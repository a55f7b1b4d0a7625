/* memtool export: rows of a view of the database, for other databases and scripts. */
#include "cmd/export.h"

#include "cmd/common.h"
#include "cmd/view.h"
#include "lib/base/utf8.h"
#include "lib/export/views.h"
#include "lib/render/stmt_report.h"
#include <string.h>

/* Read before any is written, as by `memtool query`. */
enum { HELD = 10000 };

static struct mt_export_asked asked;

/* Rows that come one by one, their texts as valid UTF-8. */
struct rows {
    struct mt_stmt_rows read;
    bool (*next)(void *closure, struct mt_cell *cells);
    enum mt_status (*ended)(void *closure, struct mt_err *err);
    struct mt_buf *texts; /* by column, of the row under way */
    size_t column_n;
};

static void mend(struct mt_buf *text, struct mt_cell *cell)
{
    if (cell->kind != MT_CELL_TEXT)
        return;
    mt_buf_clear(text);
    mt_utf8_mend(text, cell->s);
    cell->s = text->n ? text->s : "";
}

static bool next_row(void *closure, struct mt_cell *cells)
{
    struct rows *rows = closure;
    if (!rows->next(&rows->read, cells))
        return false;
    for (size_t c = 0; c < rows->column_n; c++)
        mend(&rows->texts[c], &cells[c]);
    return true;
}

static enum mt_status ended(void *closure, struct mt_err *err)
{
    struct rows *rows = closure;
    return rows->ended(&rows->read, err);
}

static void mend_held(struct mt_report *r)
{
    struct mt_buf text = {0};
    for (size_t i = 0; i < r->rows.n; i++)
        for (size_t c = 0; c < r->columns.n; c++) {
            struct mt_cell *cell = &r->rows.v[i].cells[c];
            mend(&text, cell);
            if (cell->kind == MT_CELL_TEXT)
                cell->s = mt_report_text(r, cell->s);
        }
    mt_buf_free(&text);
}

static enum mt_status refuse_view(struct mt_err *err)
{
    struct mt_buf names = {0};
    if (asked.view)
        MT_FAIL(err, MT_EUSAGE, "there is no view '%s' of a run", asked.view);
    else
        MT_FAIL(err, MT_EUSAGE, "%s holds the rows of one view, and none is named",
                asked.format->name);
    for (const struct mt_export_view *v = mt_export_views; v->name; v++)
        mt_buf_addf(&names, "%s%s", names.n ? ", " : "", v->name);
    mt_err_hint(err,
                "Nothing was written. --view is one of %s; `memtool schema v_alloc` says what "
                "is in one.",
                names.s);
    mt_buf_free(&names);
    return MT_EUSAGE;
}

static enum mt_status show(struct mt_report *r, struct rows *rows, struct mt_err *err)
{
    rows->next = r->next;
    rows->ended = r->ended;
    rows->column_n = r->columns.n;
    rows->texts = mt_alloc((rows->column_n + 1) * sizeof *rows->texts);
    mend_held(r);
    if (r->next) {
        r->next = next_row;
        r->ended = ended;
        r->closure = rows;
    }
    enum mt_status st = mt_show(r, err);
    for (size_t c = 0; c < rows->column_n; c++)
        mt_buf_free(&rows->texts[c]);
    free(rows->texts);
    return st;
}

static enum mt_status export_view(struct mt_view *v, struct mt_report *r, struct mt_err *err)
{
    const struct mt_export_view *view = asked.view ? mt_export_view_by_name(asked.view) : NULL;
    struct mt_stmt *s = NULL;
    struct rows rows = {0};
    if (!view)
        return refuse_view(err);
    char *sql = mt_export_view_sql(view);
    mt_common.format = asked.format->name; /* a form of reports, too */
    r->keep_order = true;
    enum mt_status st = mt_db_prepare(v->db, sql, &s, err);
    if (st == MT_OK) {
        mt_stmt_bind(s, "s", v->run.name);
        st = mt_report_stream(r, s, 0, HELD, &rows.read, err);
    }
    for (size_t c = 0; c < r->columns.n; c++)
        r->columns.v[c].wanted = true;
    if (st == MT_OK)
        st = show(r, &rows, err);
    mt_stmt_free(s);
    free(sql);
    return st;
}

enum mt_status mt_export_rows(const struct mt_args *args, const struct mt_export_asked *what,
                              struct mt_err *err)
{
    const struct mt_view_wanted wanted = {0, NULL, 0, NULL};
    asked = *what;
    return mt_report_on_view(args, &wanted, "memtool.export", export_view, err);
}

void mt_export_view_names(struct mt_buf *words)
{
    for (const struct mt_export_view *v = mt_export_views; v->name; v++)
        mt_buf_addf(words, "%s%s", words->n ? " " : "", v->name);
}
