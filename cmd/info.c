#include "cmd/category_line.h"
#include "cmd/common.h"
#include "cmd/view.h"
#include "gen/queries.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/model/steps_advice.h"
#include "lib/render/columns.h"
#include "lib/render/run_notes.h"
#include "lib/render/stmt_report.h"
#include "lib/run/knows.h"
#include "lib/usage/gaps.h"
#include "lib/usage/process.h"
#include "lib/usage/samples.h"
#include <stdlib.h>
#include <string.h>

/* Two columns, what and value: readable as a table, and stable in csv and json. What programs read
 * has no blanks: cpu.peak_b, file.host_name. */
static void put(struct mt_report *r, const char *what, struct mt_cell value)
{
    struct mt_row *row = mt_report_row(r);
    row->cells[0] = mt_cell_text(mt_report_text(r, what));
    row->cells[1] = value;
}

/* "cpu peak" for people, "cpu.peak_b" for programs. */
static const char *name_of(struct mt_report *r, const char *of, const char *name)
{
    if (!of)
        return name;
    return mt_report_textf(r, mt_people_read() ? "%s %s" : "%s.%s", of, name);
}

static void put_text(struct mt_report *r, const char *what, const char *text)
{
    put(r, what, mt_cell_text(mt_report_text(r, text)));
}

/*
 * A figure: people read "cpu peak  16.55 MiB (17,355,520 B)", programs "cpu.peak_b  17355520". of:
 * what it is the figure of, NULL = the run; the unit is the end of the machine's name. INT64_MIN:
 * unknown. at_most: people read that it is no more than that.
 */
static void put_bound(struct mt_report *r, const char *of, const char *what, const char *machine,
                      int64_t value, bool at_most)
{
    char human[MT_HUMAN_MAX], both[MT_HUMAN_LONG];
    bool people = mt_people_read(), bytes = mt_unit_of_name(machine) == MT_UNIT_BYTES;
    const char *name = name_of(r, of, people ? what : machine);
    struct mt_cell raw = value == INT64_MIN ? (struct mt_cell){0} : mt_cell_int(value);
    if (!people && of)
        mt_report_device_total(r, of, machine, raw);
    else if (!people)
        mt_report_total(r, machine, raw);
    if (!people || value == INT64_MIN)
        put(r, name, raw);
    else if (at_most)
        put_text(r, name, mt_report_textf(r, "at most %s", mt_human_with_exact(value, both)));
    else if (mt_unit_of_name(machine) == MT_UNIT_COUNT)
        put_text(r, name, mt_human_count(value, human));
    else
        put_text(r, name, bytes ? mt_human_with_exact(value, both) : mt_human_ns(value, human));
}

static void put_figure(struct mt_report *r, const char *of, const char *what, const char *machine,
                       int64_t value)
{
    put_bound(r, of, what, machine, value, false);
}

/* A time, which people read in the run's own unit. */
static void put_time(struct mt_report *r, const struct mt_run *run, const char *of,
                     const char *what, const char *machine, int64_t t)
{
    char text[MT_HUMAN_LONG];
    if (mt_people_read() && t != MT_UNKNOWN)
        put_text(r, name_of(r, of, what),
                 mt_report_text(r, mt_human_time(run->time_unit, t, text)));
    else
        put_figure(r, of, what, machine, t);
}

/* How long the run is: the same. */
static void put_span(struct mt_report *r, const struct mt_run *run, const char *what,
                     const char *machine)
{
    char text[MT_HUMAN_LONG];
    if (mt_people_read() && *run->time_unit)
        put_text(r, what, mt_report_text(r, mt_human_span(run->time_unit, run->dur_ns, text)));
    else
        put_figure(r, NULL, what, machine, *run->time_unit ? run->dur_ns : MT_UNKNOWN);
}

/* What the recorder itself counted. */
static enum mt_status put_totals(struct mt_report *r, struct mt_db *db,
                                 const struct mt_run_device *d, struct mt_err *err)
{
    struct mt_recorder_total total;
    MT_TRY(mt_recorder_total(db, d, &total, err));
    bool known = total.base_b != INT64_MIN;
    if (mt_people_read() ? mt_recorder_before(&total, d) != 0 : known)
        put_figure(r, d->name, "more before, by the recorder", "base_b", total.base_b);
    if (total.residual_b != INT64_MIN && total.residual_b)
        put_figure(r, d->name, "recorder's net minus ours", "residual_b", total.residual_b);
    return MT_OK;
}

/* How what no record frees is known, or that it is not. */
static void put_older(struct mt_report *r, const struct mt_run *run, const struct mt_run_device *d)
{
    static const char *const froms[][2] = {{"option", "import --base"},
                                           {"file", "the file's own memtool_base"},
                                           {"recorder", "the recorder's running total"}};
    const char *from = d->older_from;
    if (mt_run_is_snapshot(run))
        return;
    for (size_t i = 0; i < MT_ARRAY_LEN(froms) && mt_people_read(); i++)
        if (strcmp(froms[i][0], from) == 0)
            from = froms[i][1];
    const struct mt_cell cell = mt_cell_text(mt_report_text(r, *from ? from : NULL));
    if (!mt_people_read())
        mt_report_device_total(r, d->name, "older_from", cell);
    if (*from)
        put(r, name_of(r, d->name, mt_people_read() ? "older blocks known from" : "older_from"),
            cell);
    if (d->older_used && !mt_people_read()) { /* people read it in a note */
        put_figure(r, d->name, NULL, "older_least_b", d->older_least_b);
        put_figure(r, d->name, NULL, "older_most_b", d->older_most_b);
    }
}

/* What nobody saw, and how much of the other figures may be none. */
static void put_unseen(struct mt_report *r, const struct mt_run_device *d)
{
    if (d->alloc_unseen_n) {
        put_figure(r, d->name, "allocated unseen", "alloc_unseen_b", d->alloc_unseen_b);
        put_figure(r, d->name, "blocks allocated unseen", "alloc_unseen_n", d->alloc_unseen_n);
    }
    if (!d->unseen_n)
        return;
    put_figure(r, d->name, "freed unseen", "unseen_b", d->unseen_b);
    put_figure(r, d->name, "blocks freed unseen", "unseen_n", d->unseen_n);
    put_figure(r, d->name, "in doubt at the peak", "doubt_at_peak_b", d->doubt_at_peak_b);
    put_figure(r, d->name, "in doubt at the end", "doubt_at_end_b", d->doubt_at_end_b);
}

/* What is alive at the end. Sums of a part of a log are those of that part, as other reports say.
 */
static void put_end(struct mt_report *r, const struct mt_run_device *d, unsigned gaps)
{
    char both[MT_HUMAN_LONG];
    bool known = !(gaps & MT_GAPS_OF_FREES);
    if (!known && mt_people_read() && !mt_device_has_events(d) && d->at_end_b != MT_UNKNOWN)
        put_text(r, name_of(r, d->name, "at end of what was recorded"),
                 mt_human_with_exact(d->at_end_b, both));
    else
        put_bound(r, d->name, "at end", "at_end_b", known ? d->at_end_b : INT64_MIN,
                  d->doubt_at_end_b != 0);
}

/* The most that the process had in memory, where that is recorded. */
static enum mt_status put_rss(struct mt_report *r, const struct mt_view *v,
                              const struct mt_run_device *d, struct mt_err *err)
{
    struct mt_levels rss;
    enum mt_status st = mt_samples_load(v->db, &v->run, d, "rss", &rss, err);
    if (st == MT_OK && rss.all.n) {
        int64_t at = mt_levels_peak(&rss, 0, (int64_t)rss.all.n - 1);
        put_figure(r, d->name, "peak rss", "peak_rss_b", mt_levels_value(&rss, at));
    }
    mt_levels_free(&rss);
    return st;
}

/* Of a process nobody knows what is allocated. */
static enum mt_status put_process(struct mt_report *r, const struct mt_view *v,
                                  const struct mt_run_device *d, struct mt_err *err)
{
    struct mt_process_counts counts;
    enum mt_status st = mt_process_counts_load(v->db, &v->run, d, &counts, err);
    if (!mt_device_is_processes(d))
        put_figure(r, d->name, "peak rss", "peak_b", d->peak_b);
    if (d->peak_ns != MT_UNKNOWN)
        put_time(r, &v->run, d->name, "peak at", "peak_ns", d->peak_ns);
    for (size_t i = 0; i < counts.all.n && st == MT_OK; i++) {
        const struct mt_counted *c = &counts.all.v[i];
        const char *metric = mt_report_text(r, c->metric);
        int64_t last = mt_levels_value(&c->levels, (int64_t)c->levels.all.n - 1);
        if (i || mt_device_is_processes(d))
            put_figure(r, d->name, mt_report_textf(r, "most %s", metric), "most_b", c->most_b);
        if (c->levels.all.n && last != MT_UNKNOWN)
            put_figure(r, d->name, mt_report_textf(r, "last %s", metric), "last_b", last);
    }
    mt_process_counts_free(&counts);
    return st;
}

/* What is alive at the peak in the words of who trains models, where that is known. */
static enum mt_status put_categories(struct mt_report *r, const struct mt_view *v,
                                     const struct mt_run_device *d, struct mt_err *err)
{
    struct mt_category_parts parts;
    struct mt_buf line = {0};
    MT_TRY(mt_category_parts_at_peak(v->db, d, &parts, err));
    mt_category_line(&line, &parts);
    if (line.n && mt_people_read())
        put_text(r, name_of(r, d->name, "peak consists of"), mt_report_text(r, line.s));
    mt_buf_free(&line);
    return MT_OK;
}

static enum mt_status put_device(struct mt_report *r, const struct mt_view *v,
                                 const struct mt_run_device *d, struct mt_err *err)
{
    unsigned gaps;
    MT_TRY(mt_run_gaps(v->db, &v->run, d, &gaps, err));
    if (mt_device_is_process(d) && mt_people_read())
        return put_process(r, v, d, err);
    put_figure(r, d->name, "allocated", "alloc_b", d->alloc_b);
    put_figure(r, d->name, "freed", "freed_b", d->freed_b);
    put_figure(r, d->name, "net", "net_b", d->net_b);
    put_bound(r, d->name, "peak", "peak_b", d->one_moment ? INT64_MIN : d->peak_b,
              d->doubt_at_peak_b != 0);
    put_time(r, &v->run, d->name, "peak at", "peak_ns", d->one_moment ? INT64_MIN : d->peak_ns);
    MT_TRY(put_categories(r, v, d, err));
    put_end(r, d, gaps);
    MT_TRY(put_rss(r, v, d, err));
    if (d->start_b && !(d->one_moment && mt_people_read()))
        put_figure(r, d->name, "older than the recording", "start_b", d->start_b);
    if (mt_knows_net(d->knows))
        put_figure(r, d->name, "outside ops", "outside_b",
                   mt_wrap_sub(d->outside_alloc_b, d->outside_freed_b));
    if (d->before_freed_b)
        put_figure(r, d->name, "of these freed in it", "before_freed_b", d->before_freed_b);
    put_older(r, &v->run, d);
    put_unseen(r, d);
    return put_totals(r, v->db, d, err);
}

static enum mt_status put_devices(struct mt_report *r, const struct mt_view *v, struct mt_err *err)
{
    struct mt_run_device *all;
    size_t n;
    MT_TRY(mt_run_devices(v->db, &v->run, &all, &n, err));
    enum mt_status st = MT_OK;
    for (size_t i = 0; i < n && st == MT_OK; i++)
        st = put_device(r, v, &all[i], err);
    free(all);
    return st;
}

/* What `memtool record` says of a recording, as people read it: a number of such units, by the end
 * of its name. */
static bool put_recorded(struct mt_report *r, const char *key, const char *value)
{
    static const char *const words[][2] = {
        {"interval_ms", "interval at the end"},
        {"late_mean_us", "jitter on average"},
        {"late_most_us", "jitter at most"},
        {"recorder_cpu_ms", "cpu of the recorder"},
        {"cpu_ms", "cpu of the command"},
        {"ru_maxrss_b", "highest rss (ru_maxrss)"},
        {"cgroup_max_b", "limit of the control group"},
    };
    char text[MT_HUMAN_LONG];
    size_t i = 0, n = strlen(key);
    while (i < MT_ARRAY_LEN(words) && strcmp(words[i][0], key) != 0)
        i++;
    if (i == MT_ARRAY_LEN(words))
        return false;
    int64_t number = strtoll(value, NULL, 10);
    bool bytes = key[n - 1] == 'b';
    if (bytes)
        mt_human_with_exact(number, text);
    else
        mt_human_ns(mt_wrap_mul(number, key[n - 2] == 'm' ? 1000000 : 1000), text);
    put_text(r, words[i][1], text);
    return true;
}

static enum mt_status put_rows(struct mt_report *r, const struct mt_view *v, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    char ops[MT_HUMAN_LONG];
    MT_TRY(mt_db_query(v->db, MT_Q_INFO_THREADS, &s, err));
    mt_stmt_bind(s, "i", v->run.id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        put_text(r, name_of(r, "thread", mt_stmt_text(s, 0)),
                 mt_report_textf(r, "%s  %s", mt_human_plural(mt_stmt_int(s, 2), "op", ops),
                                 mt_stmt_text(s, 1)));
    }
    MT_TRY(mt_db_query(v->db, MT_Q_INFO_NOTES, &s, err));
    mt_stmt_bind(s, "i", v->run.id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            break;
        put_text(r, "note", mt_stmt_text(s, 0));
    }
    MT_TRY(mt_db_query(v->db, MT_Q_INFO_META, &s, err));
    mt_stmt_bind(s, "i", v->run.id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        const char *key = mt_stmt_text(s, 0);
        bool own = mt_people_read() && strcmp(v->run.format, "record") == 0 &&
                   put_recorded(r, key, mt_stmt_text(s, 1));
        if (!own && strncmp(key, "memtool.", 8) != 0 && strcmp(key, "traceEvents") != 0)
            put_text(r, name_of(r, "file", key), mt_stmt_text(s, 1));
    }
}

/* "0 to 4", "0" */
static const char *step_range(struct mt_report *r, int64_t first, int64_t last)
{
    return first == last ? mt_report_textf(r, "%lld", (long long)first)
                         : mt_report_textf(r, "%lld to %lld", (long long)first, (long long)last);
}

/* Where the steps came from, and what would give better ones. s: a row of MT_Q_INFO_STEPS. */
static void put_steps(struct mt_report *r, const struct mt_run *run, struct mt_stmt *s)
{
    char count[MT_HUMAN_MAX];
    const char *marker = run->step_marker, *steps = "none";
    int64_t step_n = mt_stmt_int(s, 0);
    bool snapshot = mt_run_is_snapshot(run);
    bool none = (run->kind != MT_RUN_TRACE && !snapshot) || mt_stmt_int(s, 5);
    const char *advice = none ? NULL
                              : mt_steps_advice(&(struct mt_steps_source){
                                    marker, step_n > 0, mt_stmt_int(s, 3) > 0, snapshot});
    if (!mt_people_read()) {
        put_figure(r, NULL, NULL, "step_n", step_n);
        put_text(r, "step_marker", *marker ? marker : NULL);
        return;
    }
    if (step_n)
        steps = mt_report_textf(r, "%s (%s, from %s)", mt_human_count(step_n, count),
                                step_range(r, mt_stmt_int(s, 1), mt_stmt_int(s, 2)), marker);
    else if (mt_stmt_int(s, 4))
        steps = "unknown";
    else if (*marker)
        steps = mt_report_textf(r, "none; no %s matches --step-marker '%s'",
                                snapshot ? "scope" : "name", marker);
    put_text(r, "steps", advice ? mt_report_textf(r, "%s; %s", steps, advice) : steps);
}

/* How exactly times are known; NULL: the format does not say. */
static const char *resolution(const struct mt_run *run, char text[MT_HUMAN_MAX])
{
    if (run->resolution_ns)
        return mt_human_ns(run->resolution_ns, text);
    return run->kind == MT_RUN_HEAP || run->kind == MT_RUN_PROCESS ? NULL
           : run->whole_us                                         ? "1 us"
                                                                   : "1 ns";
}

static enum mt_status put_run(struct mt_report *r, const struct mt_view *v, struct mt_err *err)
{
    const struct mt_run *run = &v->run;
    struct mt_stmt *s;
    char text[MT_HUMAN_MAX];
    bool row;
    put(r, "id", mt_cell_int(run->id));
    put_text(r, "name", run->name);
    put_text(r, "source", run->source);
    put_text(r, "format", run->format);
    put_span(r, run, "duration", "duration_ns");
    if (strcmp(run->time_unit, "ns") != 0)
        put_text(r, mt_people_read() ? "time unit" : "time_unit",
                 *run->time_unit ? run->time_unit : NULL);
    else
        put_text(r, mt_people_read() ? "time resolution" : "time_resolution",
                 resolution(run, text));
    put_figure(r, NULL, "events", "event_n", run->event_n);
    put_figure(r, NULL, "ops", "op_n", run->op_n);
    put_figure(r, NULL, "memory records", "record_n", run->record_n);
    put_figure(r, NULL, "call paths", "node_n", run->node_n);
    MT_TRY(mt_db_query(v->db, MT_Q_INFO_STEPS, &s, err));
    mt_stmt_bind(s, "i", run->id);
    MT_TRY(mt_stmt_step(s, &row, err));
    put_steps(r, run, s); /* sums always have a row */
    MT_TRY(mt_stmt_step(s, &row, err));
    return MT_OK;
}

static enum mt_status show(struct mt_view *v, struct mt_report *r, struct mt_err *err)
{
    r->version = 2; /* 1 had blanks in its keys, and the devices among the other totals */
    r->keep_order = true;
    mt_report_columns(r, "what value");
    r->columns.v[0].whole = true;
    struct mt_run told = v->run;
    told.notes.n = 0; /* its notes are rows */
    mt_report_about(r, &told, NULL, 0);
    if (!mt_people_read()) {
        mt_notes_of_run(r, v->run.name, &v->run.notes, MT_ABOUT_UNSEEN);
        mt_notes_of_older(r, v->run.name, &v->run.notes);
    }
    MT_TRY(put_run(r, v, err));
    MT_TRY(put_devices(r, v, err));
    MT_TRY(put_rows(r, v, err));
    return mt_show(r, err);
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    return mt_report_on_view(args, &(struct mt_view_wanted){0}, "memtool.info", show, err);
}

static const struct mt_opt opts[] = {{0}};

const struct mt_cmd mt_cmd_info = {
    .name = "info",
    .summary = "what a run contains: devices, threads, steps, data quality, metadata",
    .usage = "[options] [RUN]",
    .examples =
        "  memtool info\n  memtool info base --format json | jq .totals.devices.cpu.peak_b\n",
    .opts = opts,
    .args_max = 1,
    .run = run,
};
