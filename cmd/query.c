#include "cmd/common.h"
#include "cmd/output.h"
#include "cmd/query_times.h"
#include "cmd/rows.h"
#include "cmd/view.h"
#include "gen/queries.h"
#include "lib/base/human.h"
#include "lib/render/columns.h"
#include "lib/render/stmt_report.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows that are read before any is written: whoever reads the output slowly keeps no importer
 * waiting for them. More come one by one. */
enum { HELD = 10000 };

static struct mt_strings params;
static int64_t limit;
static bool list;
static struct mt_db *running;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    if (running)
        mt_db_interrupt(running);
}

/* All of a file, or nothing: a statement that ends early may mean something else. */
static enum mt_status read_sql(const char *name, FILE *f, struct mt_buf *text, struct mt_err *err)
{
    enum { MOST_B = 16 << 20 };
    char block[4096];
    errno = 0;
    for (size_t n; text->n <= MOST_B && (n = fread(block, 1, sizeof block, f)) > 0;)
        mt_buf_add(text, block, n);
    if (ferror(f))
        MT_FAIL(err, MT_EIO, "cannot be read: %s", strerror(errno));
    else if (text->n > MOST_B)
        MT_FAIL(err, MT_EUSAGE, "this SQL is longer than %d MiB", MOST_B >> 20);
    else if (text->n && memchr(text->s, '\0', text->n))
        MT_FAIL(err, MT_EUSAGE, "not SQL: contains a zero byte");
    if (err->code == MT_OK)
        return MT_OK;
    mt_err_input(err, f == stdin ? "standard input" : name);
    mt_err_hint(err, "Nothing was run.");
    return err->code;
}

/* The SQL text: a named report, a file, "-", or the argument itself. *owned is freed by the caller.
 */
static enum mt_status sql_of(const char *arg, const char **sql, char **owned, struct mt_err *err)
{
    *owned = NULL;
    *sql = arg;
    if (strpbrk(arg, " \n\t"))
        return MT_OK;
    for (int q = 0; q < MT_QUERY_N; q++)
        if (strcmp(mt_queries[q].name, arg) == 0) {
            *sql = mt_queries[q].sql;
            return MT_OK;
        }
    FILE *f = strcmp(arg, "-") == 0 ? stdin : fopen(arg, "r");
    if (!f) {
        mt_err_input(err, arg);
        MT_FAIL(err, MT_EUSAGE, "neither SQL nor a file: %s", strerror(errno));
        mt_err_hint(err, "Try: memtool query \"SELECT * FROM v_device\". `memtool query --list` "
                         "lists the views, `memtool schema` explains them.");
        return MT_EUSAGE;
    }
    struct mt_buf text = {0};
    mt_output_spare(arg);
    enum mt_status st = read_sql(arg, f, &text, err);
    if (f != stdin)
        fclose(f);
    *sql = *owned = text.s ? text.s : mt_strdup("");
    return st;
}

/* "run, step": the parameters of a statement, but for those that have a value (NULL: all). */
static char *names_of(const struct mt_stmt *s, const bool *given)
{
    struct mt_buf names = {0};
    for (int i = 1; i <= mt_stmt_param_n(s); i++)
        if (!given || !given[i]) {
            mt_buf_adds(&names, names.n ? ", " : "");
            mt_stmt_param_name(s, i, &names);
        }
    return names.s;
}

static enum mt_status unknown_param(const struct mt_stmt *s, const char *name, struct mt_err *err)
{
    char *known = names_of(s, NULL);
    MT_FAIL(err, MT_EUSAGE, "the SQL has no parameter '%s'", name);
    mt_err_hint(err,
                "Nothing was run. It has %s; a parameter is written :NAME in the SQL and --param "
                "NAME=VALUE here.",
                known ? known : "none");
    free(known);
    return MT_EUSAGE;
}

/* Unbound, a parameter would be NULL, and the answer mostly no row. */
static enum mt_status check_given(const struct mt_stmt *s, const bool *given, struct mt_err *err)
{
    char *missing = names_of(s, given);
    if (!missing)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "the SQL has parameters without a value: %s", missing);
    mt_err_hint(err, "Nothing was run. Give each one: --param %.*s=VALUE",
                (int)strcspn(missing, ","), missing);
    free(missing);
    return MT_EUSAGE;
}

static enum mt_status bind_params(struct mt_stmt *s, struct mt_err *err)
{
    bool *given = mt_alloc(((size_t)mt_stmt_param_n(s) + 1) * sizeof *given);
    enum mt_status st = MT_OK;
    for (size_t i = 0; i < params.n && st == MT_OK; i++) {
        const char *eq = strchr(params.v[i], '=');
        char *name = mt_strndup(params.v[i], eq ? (size_t)(eq - params.v[i]) : 0);
        int at = eq ? mt_stmt_bind_name(s, name, eq + 1) : 0;
        bool again = at && given[at];
        given[at] = true;
        if (!eq) {
            st = MT_FAIL(err, MT_EUSAGE, "--param '%s' is not NAME=VALUE", params.v[i]);
            mt_err_hint(err, "Nothing was run. A parameter is written :NAME in the SQL and --param "
                             "NAME=VALUE here.");
        } else if (!at) {
            st = unknown_param(s, name, err);
        } else if (again) {
            st = MT_FAIL(err, MT_EUSAGE, "--param gives '%s' two values", name);
            mt_err_hint(err, "Nothing was run. A parameter has one, wherever it is used.");
        }
        free(name);
    }
    if (st == MT_OK)
        st = check_given(s, given, err);
    free(given);
    return st;
}

/* What lies behind rows that come one by one is counted, and told, only when these are written. */
static enum mt_status show_rows(struct mt_report *report, struct mt_err *err)
{
    const struct mt_rows shown = {.limit = limit};
    mt_rows_footer(&shown, report, NULL, "");
    const bool told = report->left_out;
    MT_TRY(mt_show(report, err));
    if (told)
        return MT_OK;
    mt_rows_footer(&shown, report, NULL, "");
    if (report->left_out && mt_show_how().format != MT_FORMAT_JSON)
        mt_show_note("%s", report->left_out);
    return MT_OK;
}

static enum mt_status run_sql(const char *what, struct mt_err *err)
{
    struct mt_db *db = NULL;
    struct mt_stmt *s = NULL;
    struct mt_report report;
    const char *sql;
    char *owned = NULL;
    struct mt_stmt_rows rows = {0};
    enum mt_status st = MT_OK;
    mt_report_init(&report, "memtool.query", 1);
    report.keep_order = true;
    MT_TRY_OUT(sql_of(what, &sql, &owned, err));
    MT_TRY_OUT(mt_open_for_reading(&db, err));
    MT_TRY_OUT(mt_db_prepare(db, sql, &s, err));
    MT_TRY_OUT(bind_params(s, err));
    running = db;
    signal(SIGINT, on_interrupt);
    MT_TRY_OUT(
        mt_report_stream(&report, s, limit, mt_people_read() ? INT64_MAX : HELD, &rows, err));
    if (mt_people_read())
        MT_TRY_OUT(mt_query_times(db, &report, err));
    for (size_t c = 0; c < report.columns.n; c++)
        report.columns.v[c].wanted = true;
    st = show_rows(&report, err);
out:
    signal(SIGINT, SIG_DFL);
    running = NULL;
    free(owned);
    mt_stmt_free(s);
    mt_report_free(&report);
    mt_db_close(db);
    free(params.v);
    return st;
}

/* The comment that ends where a view is made, its lines as one. */
static void add_comment(struct mt_buf *out, const char *schema, const char *view)
{
    const char *first = view;
    while (first > schema) {
        const char *line = first - 1;
        while (line > schema && line[-1] != '\n')
            line--;
        if (strncmp(line, "-- ", 3) != 0)
            break;
        first = line;
    }
    for (const char *line = first; line < view; line = strchr(line, '\n') + 1) {
        mt_buf_adds(out, out->n ? " " : "");
        mt_buf_add(out, line + 3, strcspn(line + 3, "\n"));
    }
}

/* The views, which are what queries of a user's own stand on, with what they hold. */
static enum mt_status show_views(struct mt_err *err)
{
    static const char create[] = "CREATE VIEW ";
    const char *schema = mt_queries[MT_Q_SCHEMA].sql;
    struct mt_report report;
    mt_report_init(&report, "memtool.views", 1);
    report.keep_order = true;
    mt_report_columns(&report, "view about");
    for (const char *at = schema; (at = strstr(at, create)); at++) {
        const char *name = at + sizeof create - 1;
        struct mt_buf about = {0};
        struct mt_row *row = mt_report_row(&report);
        add_comment(&about, schema, at);
        row->cells[0] =
            mt_cell_text(mt_report_textf(&report, "%.*s", (int)strcspn(name, " "), name));
        row->cells[1] = mt_cell_text(mt_report_text(&report, about.s));
        mt_buf_free(&about);
    }
    mt_report_footer(&report, "memtool schema explains every column, and the tables below.");
    enum mt_status st = mt_show(&report, err);
    mt_report_free(&report);
    return st;
}

static enum mt_status check_sql(const struct mt_args *args, struct mt_err *err)
{
    if ((args->n == 1) != list)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, list ? "--list takes no SQL" : "there is no SQL to run");
    mt_err_hint(err,
                "Nothing was run. Try: memtool query \"SELECT * FROM v_device\"; memtool query "
                "--list lists the views.");
    return MT_EUSAGE;
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    MT_TRY(check_sql(args, err));
    return list ? show_views(err) : run_sql(args->v[0], err);
}

static const struct mt_opt opts[] = {
    {"param", 'p', MT_OPT_LIST, &params, "NAME=VALUE", "value of :NAME in the SQL"},
    {"limit", 'n', MT_OPT_INT, &limit, "N", "at most N rows (default: all)"},
    {"list", 0, MT_OPT_FLAG, &list, NULL, "list the views that SQL can ask, with what they hold"},
    {0},
};

const struct mt_cmd mt_cmd_query = {
    .name = "query",
    .summary = "run SQL over the database, read-only",
    .usage = "[options] SQL|FILE.sql|-",
    .examples =
        "  memtool query \"SELECT name, sum(self_alloc_b) AS alloc_b FROM v_node GROUP BY name\"\n"
        "  memtool query \"SELECT * FROM v_step WHERE run = :run\" --param run=trace\n"
        "  memtool query --list\n",
    .opts = opts,
    .more_formats = "jsonl",
    .args_max = 1,
    .run = run,
};
