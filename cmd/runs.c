#include "cmd/runs.h"

#include "cmd/common.h"
#include "cmd/view.h"
#include "gen/queries.h"
#include "lib/render/stmt_report.h"
#include <stdlib.h>

static struct mt_run_changes changes;
static const char *group;
static bool cache, clear_cache;

struct wanted {
    const struct mt_chosen *chosen;
    int id; /* column */
};

static bool is_wanted(const void *closure, const struct mt_row *row)
{
    const struct wanted *w = closure;
    return mt_is_chosen(w->chosen, row->cells[w->id].i);
}

/* What people see of the columns of the query. The rest, and the order, is the query's. */
static const struct {
    const char *name, *title;
    int spare; /* of struct mt_column */
} looks[] = {{"group", NULL, 3},     {"format", NULL, 6},
             {"op_n", "OPS", 5},     {"record_n", "RECORDS", 4},
             {"step_n", "STEPS", 1}, {"alloc_b", "ALLOC", 2},
             {"net_b", "NET", 0},    {"peak_b", "PEAK", 0},
             {"dur_ns", "TIME", 0},  {"imported_at", "IMPORTED", 7},
             {"source", NULL, 8}};

static void shape(struct mt_report *r)
{
    r->keep_order = true;
    for (size_t i = 0; i < MT_ARRAY_LEN(looks); i++) {
        struct mt_column *column = &r->columns.v[mt_report_find_column(r, looks[i].name)];
        column->title = looks[i].title;
        column->spare = looks[i].spare;
        column->whole = true;
    }
    r->columns.v[mt_report_find_column(r, "name")].whole = true;
    mt_report_hide_empty(r);
}

static enum mt_status list(const struct mt_args *args, struct mt_err *err)
{
    struct mt_db *db = NULL;
    struct mt_stmt *s;
    struct mt_report report;
    struct mt_chosen chosen = {0};
    enum mt_status st = MT_OK;
    mt_report_init(&report, "memtool.runs", 1);
    MT_TRY_OUT(mt_open_for_reading(&db, err));
    MT_TRY_OUT(mt_choose_runs(db, args->v, args->n, group, false, &chosen, err));
    MT_TRY_OUT(mt_db_query(db, MT_Q_RUNS, &s, err));
    MT_TRY_OUT(mt_report_from_stmt(&report, s, 0, err));
    if (args->n || group)
        mt_report_keep(&report, is_wanted,
                       &(struct wanted){&chosen, mt_report_find_column(&report, "id")});
    shape(&report);
    MT_TRY_OUT(mt_show(&report, err));
out:
    mt_vec_free(&chosen);
    mt_report_free(&report);
    mt_db_close(db);
    return st;
}

/* What goes together. */
static enum mt_status check_options(const struct mt_args *args, bool change, struct mt_err *err)
{
    if ((cache || clear_cache) && (change || group || args->n)) {
        MT_FAIL(err, MT_EUSAGE, "--cache and --clear-cache take no run and no change to one");
        mt_err_hint(err, "Nothing was changed. The cache holds files given as runs, not the runs "
                         "of the database.");
        return MT_EUSAGE;
    }
    if ((change || clear_cache) && (mt_common.format || mt_common.output)) {
        MT_FAIL(err, MT_EUSAGE, "--format and -o apply to lists, not to changes");
        mt_err_hint(err, "Nothing was changed. Leave them out.");
        return MT_EUSAGE;
    }
    return MT_OK;
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    bool change = changes.remove || changes.rename || changes.group || changes.shrink;
    MT_TRY(check_options(args, change, err));
    if (clear_cache)
        return mt_clear_cache(err);
    if (cache)
        return mt_show_cache(err);
    return change ? mt_change_runs(args->v, args->n, group, &changes, err) : list(args, err);
}

static const struct mt_opt opts[] = {
    {"group", 0, MT_OPT_STRING, &group, "NAME", "the runs of this group"},
    {"delete", 0, MT_OPT_FLAG, &changes.remove, NULL, "delete these runs and all their data"},
    {"rename", 0, MT_OPT_STRING, &changes.rename, "NAME", "give the run this name"},
    {"set-group", 0, MT_OPT_TEXT, &changes.group, "NAME",
     "put these runs in this group only; '' takes them out of all"},
    {"shrink", 0, MT_OPT_FLAG, &changes.shrink, NULL,
     "return the space of deleted runs to the disk"},
    {"cache", 0, MT_OPT_FLAG, &cache, NULL, "list the cached imports of files given as runs"},
    {"clear-cache", 0, MT_OPT_FLAG, &clear_cache, NULL, "delete the cached imports"},
    {0},
};

const struct mt_cmd mt_cmd_runs = {
    .name = "runs",
    .summary = "list, rename, group or delete the imported runs",
    .usage = "[options] [RUN ...]",
    .examples = "  memtool runs\n"
                "  memtool runs --group job42\n"
                "  memtool runs --rename base trace-3\n"
                "  memtool runs --set-group nightly r1 r2 r3\n"
                "  memtool runs --delete trace trace-2 --shrink\n",
    .opts = opts,
    .args_max = (size_t)-1,
    .run = run,
};
