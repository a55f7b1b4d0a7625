#include "cmd/common.h"
#include "gen/queries.h"
#include "lib/human.h"
#include <stdlib.h>
#include <string.h>

/* Two columns, what and value: readable as a table, and stable in csv and json. */
static void put(struct mt_report *r, const char *what, struct mt_cell value)
{
    struct mt_row *row = mt_report_row(r);
    row->cells[0] = mt_cell_text(mt_report_text(r, what));
    row->cells[1] = value;
}

static void put_text(struct mt_report *r, const char *what, const char *text)
{
    put(r, what, mt_cell_text(mt_report_text(r, text)));
}

static void put_bytes(struct mt_report *r, const char *device, const char *what, int64_t bytes)
{
    char human[MT_HUMAN_MAX];
    const char *name = mt_report_textf(r, "%s %s", device, what);
    if (bytes == INT64_MIN)
        put(r, name, (struct mt_cell){0});
    else
        put_text(r, name,
                 mt_report_textf(r, "%s (%lld B)", mt_human_bytes(bytes, human), (long long)bytes));
}

static enum mt_status put_devices(struct mt_report *r, struct mt_db *db, const struct mt_run *run,
                                  struct mt_err *err)
{
    struct mt_run_device *all;
    size_t n;
    MT_TRY(mt_run_devices(db, run, &all, &n, err));
    for (size_t i = 0; i < n; i++) {
        char at[MT_HUMAN_MAX];
        put_bytes(r, all[i].name, "allocated", all[i].alloc_b);
        put_bytes(r, all[i].name, "freed", all[i].freed_b);
        put_bytes(r, all[i].name, "net", all[i].net_b);
        put_bytes(r, all[i].name, "peak", all[i].peak_b);
        if (all[i].peak_ns != INT64_MIN)
            put_text(r, mt_report_textf(r, "%s peak at", all[i].name),
                     mt_human_ns(all[i].peak_ns, at));
        put_bytes(r, all[i].name, "at end", all[i].at_end_b);
        put_bytes(r, all[i].name, "outside ops", all[i].outside_alloc_b - all[i].outside_freed_b);
        if (all[i].before_freed_b)
            put_bytes(r, all[i].name, "freed from before trace", all[i].before_freed_b);
    }
    free(all);
    return MT_OK;
}

static enum mt_status put_rows(struct mt_report *r, struct mt_db *db, const struct mt_run *run,
                               struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_INFO_THREADS, &s, err));
    mt_stmt_bind(s, "i", run->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        put_text(
            r, mt_report_textf(r, "thread %s", mt_stmt_text(s, 0)),
            mt_report_textf(r, "%lld ops  %s", (long long)mt_stmt_int(s, 2), mt_stmt_text(s, 1)));
    }
    MT_TRY(mt_db_query(db, MT_Q_INFO_NOTES, &s, err));
    mt_stmt_bind(s, "i", run->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        put_text(r, "note", mt_stmt_text(s, 0));
    }
    MT_TRY(mt_db_query(db, MT_Q_INFO_META, &s, err));
    mt_stmt_bind(s, "i", run->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        const char *key = mt_stmt_text(s, 0);
        if (strncmp(key, "memtool.", 8) != 0 && strcmp(key, "traceEvents") != 0)
            put_text(r, mt_report_textf(r, "file %s", key), mt_stmt_text(s, 1));
    }
}

static enum mt_status put_run(struct mt_report *r, struct mt_db *db, const struct mt_run *run,
                              struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    char dur[MT_HUMAN_MAX];
    put(r, "id", mt_cell_int(run->id));
    put_text(r, "name", run->name);
    put_text(r, "source", run->source);
    put_text(r, "format", run->format);
    put_text(r, "duration", mt_human_ns(run->dur_ns, dur));
    put_text(r, "time resolution", run->whole_us ? "1 us" : "1 ns");
    put(r, "events", mt_cell_int(run->event_n));
    put(r, "ops", mt_cell_int(run->op_n));
    put(r, "memory records", mt_cell_int(run->record_n));
    put(r, "call paths", mt_cell_int(run->node_n));
    MT_TRY(mt_db_query(db, MT_Q_INFO_STEPS, &s, err));
    mt_stmt_bind(s, "i", run->id);
    MT_TRY(mt_stmt_step(s, &row, err));
    if (row && mt_stmt_int(s, 0))
        put_text(r, "steps",
                 mt_report_textf(r, "%lld (%lld to %lld, from %s)", (long long)mt_stmt_int(s, 0),
                                 (long long)mt_stmt_int(s, 1), (long long)mt_stmt_int(s, 2),
                                 run->step_marker));
    else
        put_text(r, "steps", "none; import with --step-marker REGEX to say what a step is");
    MT_TRY(mt_stmt_step(s, &row, err));
    return MT_OK;
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    struct mt_db *db = NULL;
    struct mt_run which;
    struct mt_report report;
    enum mt_status st = MT_OK;
    mt_report_init(&report, "memtool.info", 1);
    report.keep_order = true;
    MT_TRY_OUT(mt_open_run(args->n ? args->v[0] : NULL, &db, &which, err));
    mt_report_column(&report, "what", "WHAT", MT_UNIT_NONE);
    mt_report_column(&report, "value", "VALUE", MT_UNIT_NONE);
    report.runs[0].id = which.id;
    report.runs[0].name = mt_strdup(which.name);
    MT_TRY_OUT(put_run(&report, db, &which, err));
    MT_TRY_OUT(put_devices(&report, db, &which, err));
    MT_TRY_OUT(put_rows(&report, db, &which, err));
    MT_TRY_OUT(mt_show(&report, err));
out:
    mt_report_free(&report);
    mt_db_close(db);
    return st;
}

static const struct mt_opt opts[] = {{0}};

const struct mt_cmd mt_cmd_info = {
    .name = "info",
    .summary = "what a run holds: devices, threads, steps, data quality, the file's own words",
    .usage = "[options] [RUN]",
    .examples = "  memtool info\n  memtool info base --format json\n",
    .opts = opts,
    .args_max = 1,
    .run = run,
};
