#include "cmd/common.h"
#include "gen/queries.h"
#include "lib/stmt_report.h"

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)args, (void)exit_code;
    struct mt_db *db = NULL;
    struct mt_stmt *s;
    struct mt_report report;
    enum mt_status st = MT_OK;
    mt_report_init(&report, "memtool.runs", 1);
    report.keep_order = true;
    MT_TRY_OUT(mt_open_for_reading(&db, err));
    MT_TRY_OUT(mt_db_query(db, MT_Q_RUNS, &s, err));
    MT_TRY_OUT(mt_report_from_stmt(&report, s, 0, err));
    MT_TRY_OUT(mt_show(&report, err));
out:
    mt_report_free(&report);
    mt_db_close(db);
    return st;
}

static const struct mt_opt opts[] = {{0}};

const struct mt_cmd mt_cmd_runs = {
    .name = "runs",
    .summary = "list the imported runs",
    .usage = "[options]",
    .examples = "  memtool runs\n  memtool runs --format csv\n",
    .opts = opts,
    .run = run,
};
