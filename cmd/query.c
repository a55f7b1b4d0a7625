#include "cmd/common.h"
#include "cmd/rows.h"
#include "gen/queries.h"
#include "lib/human.h"
#include "lib/stmt_report.h"
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
static struct mt_db *running;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    if (running)
        mt_db_interrupt(running);
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
        MT_FAIL(err, MT_EUSAGE, "this is no SQL, no report of memtool's and no file: %s",
                strerror(errno));
        mt_err_hint(err, "Try: memtool query \"SELECT * FROM v_device\"");
        return MT_EUSAGE;
    }
    struct mt_buf text = {0};
    char block[4096];
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0 && text.n < 1 << 20;)
        mt_buf_add(&text, block, n);
    if (f != stdin)
        fclose(f);
    *sql = *owned = text.s ? text.s : mt_strdup("");
    return MT_OK;
}

static enum mt_status bind_params(struct mt_stmt *s, struct mt_err *err)
{
    for (size_t i = 0; i < params.n; i++) {
        const char *eq = strchr(params.v[i], '=');
        char *name = eq ? mt_strndup(params.v[i], (size_t)(eq - params.v[i])) : NULL;
        bool ok = eq && mt_stmt_bind_name(s, name, eq + 1);
        free(name);
        if (!ok) {
            MT_FAIL(err, MT_EUSAGE,
                    eq ? "the SQL has no parameter for '%s'" : "'%s' is not NAME=VALUE",
                    params.v[i]);
            mt_err_hint(err,
                        "A parameter is written :NAME in the SQL and --param NAME=VALUE here.");
            return MT_EUSAGE;
        }
    }
    return MT_OK;
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    struct mt_db *db = NULL;
    struct mt_stmt *s = NULL;
    struct mt_report report;
    const char *sql;
    char *owned = NULL;
    struct mt_stmt_rows rows = {0};
    enum mt_status st = MT_OK;
    mt_report_init(&report, "memtool.query", 1);
    report.keep_order = true;
    MT_TRY_OUT(sql_of(args->v[0], &sql, &owned, err));
    MT_TRY_OUT(mt_open_for_reading(&db, err));
    MT_TRY_OUT(mt_db_prepare(db, sql, &s, err));
    MT_TRY_OUT(bind_params(s, err));
    running = db;
    signal(SIGINT, on_interrupt);
    MT_TRY_OUT(
        mt_report_stream(&report, s, limit, mt_people_read() ? INT64_MAX : HELD, &rows, err));
    mt_rows_footer(&(struct mt_rows){.limit = limit}, &report, NULL, "");
    MT_TRY_OUT(mt_show(&report, err));
    if ((st = rows.status) != MT_OK) {
        *err = rows.err;
        err->hint[0] = '\0';
        mt_err_hint(err, "What was written is not all. Nothing was changed.");
    }
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

static const struct mt_opt opts[] = {
    {"param", 'p', MT_OPT_LIST, &params, "NAME=VALUE", "value of :NAME in the SQL"},
    {"limit", 'n', MT_OPT_INT, &limit, "N", "at most N rows (default: all)"},
    {0},
};

const struct mt_cmd mt_cmd_query = {
    .name = "query",
    .summary = "run SQL over the database, read-only",
    .usage = "[options] SQL|FILE.sql|-",
    .examples =
        "  memtool query \"SELECT name, sum(self_alloc_b) AS alloc_b FROM v_node GROUP BY name\"\n"
        "  memtool query \"SELECT * FROM v_step WHERE run = :run\" --param run=trace\n",
    .opts = opts,
    .args_min = 1,
    .args_max = 1,
    .run = run,
};
