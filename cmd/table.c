#include "lib/table.h"
#include "cmd/by.h"
#include "cmd/common.h"
#include "cmd/rows.h"
#include "lib/human.h"
#include "lib/live.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/compat.h"

static const char *sort_key, *by, *device_name, *steps, *thread, *compat;
static struct mt_rows rows = MT_ROWS(20);

/* One device's groups into the report. */
static enum mt_status add_device(struct mt_report *r, struct mt_db *db, const struct mt_run *run,
                                 const struct mt_run_device *d, const struct mt_by *keys,
                                 int64_t *net_b, struct mt_err *err)
{
    struct mt_tree tree = {0};
    struct mt_groups groups = {0};
    struct mt_op_filter filter = {
        .thread = thread, .by_step = steps != NULL, .keys = keys->v, .key_n = keys->n};
    bool lifetimes = d && mt_lives_are_known(d);
    enum mt_status st = MT_OK;
    if (steps)
        MT_TRY(mt_step_range_parse(steps, &filter.steps, err));
    if (thread || steps || mt_group_needs_ops(keys->v, keys->n))
        MT_TRY_OUT(mt_group_ops(db, run, d, &filter, &tree, &groups, err));
    else
        MT_TRY_OUT(mt_group_nodes(db, run, d, keys->v, keys->n, &tree, &groups, err));
    mt_table_rows(r, &groups, keys->n, keys->device ? d ? d->name : "-" : NULL, lifetimes, net_b);
out:
    mt_groups_free(&groups);
    mt_tree_free(&tree);
    return st;
}

static void describe(struct mt_report *r, const struct mt_run *run, const struct mt_run_device *d,
                     int64_t net_b, const struct mt_sort *sort)
{
    char net[MT_HUMAN_MAX], peak[MT_HUMAN_MAX], at[MT_HUMAN_MAX];
    mt_report_about(r, run, d);
    mt_report_param(r, "sort", mt_cell_text(sort->column));
    mt_report_param(r, "by", mt_cell_text(by));
    if (!d) {
        mt_report_no_memory(r, run);
        return;
    }
    struct mt_buf title = {0};
    mt_buf_addf(&title, "%s · %s · net %s · peak %s", run->name, d->name,
                mt_human_bytes(net_b, net), mt_human_bytes(d->peak_b, peak));
    if (d->peak_ns != INT64_MIN)
        mt_buf_addf(&title, " at %s", mt_human_ns(d->peak_ns, at));
    if (steps)
        mt_buf_addf(&title, " · step %s", steps);
    if (thread)
        mt_buf_addf(&title, " · thread %s", thread);
    r->title = title.s;
    r->title_end = mt_asprintf("sorted by %s", sort->column);
    mt_report_total(r, "net_b", mt_cell_int(net_b));
    mt_report_total(r, "peak_b", mt_cell_int(d->peak_b));
}

static enum mt_status fill(struct mt_report *r, struct mt_db *db, const struct mt_run *run,
                           struct mt_err *err)
{
    struct mt_by keys;
    int others = 0;
    bool by_top = false, none = false;
    struct mt_sort sort;
    struct mt_run_device d;
    int64_t net_b = 0;
    char net[MT_HUMAN_MAX], more[MT_HUMAN_LONG];
    MT_TRY(mt_by_parse(&mt_cmd_table, by, "name", &keys, err));
    MT_TRY(mt_table_sort_key(sort_key ? sort_key : "self_net_b", &sort, err));
    const char *wanted = device_name ? device_name : sort.device;
    MT_TRY(mt_run_device(db, run, wanted, &d, &none, &others, err));
    bool lifetimes = !none && mt_lives_are_known(&d);
    mt_table_columns(r, keys.v, keys.n, keys.device, lifetimes);
    if (keys.device && !none && !wanted) {
        struct mt_run_device *all;
        size_t n;
        MT_TRY(mt_run_devices(db, run, &all, &n, err));
        enum mt_status st = MT_OK;
        for (size_t i = 0; i < n && st == MT_OK; i++)
            st = add_device(r, db, run, &all[i], &keys, &net_b, err);
        free(all);
        MT_TRY(st);
    } else {
        MT_TRY(add_device(r, db, run, none ? NULL : &d, &keys, &net_b, err));
        if (others > 0)
            mt_report_note(r, "%s; choose with --device, or see all with --by %s,device.",
                           mt_human_things(others, "more device", more), by ? by : "name");
    }
    for (int k = 0; k < keys.n; k++)
        by_top |= keys.v[k] == MT_BY_TOP;
    mt_table_sort(r, &sort);
    MT_TRY(mt_rows_apply(&rows, r, sort.column, err));
    describe(r, run, none ? NULL : &d, net_b, &sort);
    mt_rows_footer(&rows, r, none ? NULL : mt_report_textf(r, "net %s", mt_human_bytes(net_b, net)),
                   by_top ? "" : ", --by top what your code called");
    return MT_OK;
}

/* PyTorch's table is what it is: options it does not know are refused, not left unheard. */
static enum mt_status check_compat(const struct mt_run *run, struct mt_err *err)
{
    if (mt_run_is_snapshot(run)) {
        MT_FAIL(err, MT_EUSAGE, "run '%s' is an allocator snapshot, which has no operators",
                run->name);
        mt_err_hint(err, "PyTorch's table is made of profiler traces.");
        return MT_EUSAGE;
    }
    bool by_shape = by && strcmp(by, "shape") == 0;
    const char *odd = by && !by_shape ? "--by"
                      : rows.name     ? "--name"
                      : rows.min_b    ? "--min"
                      : rows.columns  ? "--columns"
                      : steps         ? "--step"
                      : thread        ? "--thread"
                      : device_name   ? "--device"
                                      : NULL;
    if (!odd)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "%s does not go with --compat", odd);
    mt_err_hint(err, "PyTorch's table knows --sort, --limit and --by shape.");
    return MT_EUSAGE;
}

static enum mt_status show(struct mt_report *r, struct mt_db *db, const struct mt_run *run,
                           struct mt_err *err)
{
    const struct mt_compat_opts o = {.version = compat,
                                     .sort = sort_key,
                                     .limit = mt_rows_limit(&rows),
                                     .by_shape = by && strcmp(by, "shape") == 0};
    if (compat) {
        MT_TRY(check_compat(run, err));
        return mt_compat_table(db, run, &o, r, err);
    }
    MT_TRY(fill(r, db, run, err));
    return mt_show(r, err);
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    return mt_report_on_run(args, "memtool.table", show, err);
}

static const struct mt_opt opts[] = {
    {"sort", 's', MT_OPT_STRING, &sort_key, "KEY",
     "a column, or PyTorch's name for it: self_cpu_memory_usage (default: self_net_b)"},
    {"by", 0, MT_OPT_STRING, &by, "KEYS",
     "group by one or more of the words below (default: name)"},
    MT_DEVICE_OPT(device_name),
    {"step", 0, MT_OPT_STRING, &steps, "A..B", "only ops that start in these steps"},
    {"thread", 0, MT_OPT_STRING, &thread, "TID", "only ops of this thread"},
    MT_ROWS_OPTS(rows, "in the sorted column", "20"),
    {"compat", 0, MT_OPT_STRING, &compat, "torch[:V]",
     "PyTorch's own key_averages() table, of its version V"},
    {0},
};

static const struct mt_words words[] = {MT_WORDS_OF_BY(mt_by_of_devices), {0}};

static const struct mt_values values[] = {{"sort", NULL, mt_table_sort_names},
                                          {"columns", NULL, mt_table_column_names},
                                          {"compat", "torch", NULL},
                                          {0}};

const struct mt_cmd mt_cmd_table = {
    .name = "table",
    .summary = "who allocated what: self and inclusive memory of every operator",
    .usage = "[options] [RUN]",
    .examples = "  memtool table --sort self_cpu_memory\n"
                "  memtool table base --by top,phase --limit 10\n"
                "  memtool table --compat torch --sort self_cpu_memory_usage\n",
    .opts = opts,
    .values = values,
    .words = words,
    .args_max = 1,
    .run = run,
};
