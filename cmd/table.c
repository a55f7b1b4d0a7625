#include "lib/render/table.h"
#include "cmd/by.h"
#include "cmd/categories_file.h"
#include "cmd/common.h"
#include "cmd/rows.h"
#include "cmd/totals.h"
#include "cmd/view.h"
#include "lib/base/human.h"
#include "lib/run/knows.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/compat.h"

static const char *sort_key, *by, *categories, *category, *device_name, *steps, *thread, *compat;
#define TORCH_ROWS 100 /* row_limit of PyTorch's table() */
static struct mt_rows rows = MT_ROWS(20);
static struct mt_by keys;   /* --by */
static struct mt_sort sort; /* --sort */
static struct mt_table_paths paths;

/* PyTorch's sort keys name a device, too. NULL: none is asked for. */
static const char *wanted_device(void)
{
    return device_name ? device_name : sort.device;
}

/* Of a run without memory: what its ops did. */
enum { NO_DEVICE = MT_KNOWS_OPS };

static unsigned known_on(const struct mt_run_device *d)
{
    unsigned lacks = mt_groups_are_sizes(d, keys.v, keys.n) ? MT_KNOWS_EXTRAS : 0;
    bool frees = !mt_own_needs_blocks(d, keys.v, keys.n) || mt_device_knows(d, MT_KNOWS_BLOCKS);
    return d->knows & ~(lacks | (frees ? 0 : MT_KNOWS_FREED));
}

/* One device's groups into the report. */
static enum mt_status add_device(struct mt_report *r, const struct mt_view *v,
                                 const struct mt_run_device *d, int64_t *net_b, struct mt_err *err)
{
    struct mt_tree tree = {.paths = sort.paths ? &paths.of : NULL};
    struct mt_groups groups = {0};
    struct mt_op_filter filter = {
        .thread = thread, .by_step = steps != NULL, .keys = keys.v, .key_n = keys.n};
    enum mt_status st = MT_OK;
    if (steps)
        MT_TRY(mt_step_range_parse(steps, &filter.steps, err));
    bool events = !d || mt_device_has_events(d); /* else paths say the thread */
    bool by_category = mt_group_has(keys.v, keys.n, MT_BY_CATEGORY);
    if (thread || steps || (events && mt_group_needs_ops(keys.v, keys.n)) ||
        (d && mt_own_needs_blocks(d, keys.v, keys.n) && mt_device_knows(d, MT_KNOWS_BLOCKS)))
        MT_TRY_OUT(mt_group_ops(v->db, &v->run, d, &filter, &tree, &groups, err));
    else if (mt_groups_are_sizes(d, keys.v, keys.n))
        MT_TRY_OUT(mt_group_sizes(v->db, d, &tree, &groups, err));
    else if (d && by_category && mt_device_categorizes(d))
        MT_TRY_OUT(mt_group_categories(v->db, &v->run, d, keys.v, keys.n, &tree, &groups, err));
    else
        MT_TRY_OUT(mt_group_nodes(v->db, &v->run, d, keys.v, keys.n, &tree, &groups, err));
    mt_table_rows(r, &groups, keys.n, keys.device ? d ? d->name : "-" : NULL, sort.paths != NULL,
                  d ? known_on(d) : NO_DEVICE, net_b);
out:
    mt_groups_free(&groups);
    mt_tree_free(&paths.tree);
    paths.tree = tree;
    return st;
}

/* The devices that the table is about, most allocated bytes first. */
struct devices {
    struct mt_run_device *v;
    size_t n;   /* 0: the run has none */
    int others; /* devices of the run that are none of them */
};

static enum mt_status find_devices(const struct mt_view *v, bool each, struct devices *out,
                                   struct mt_err *err)
{
    *out = (struct devices){0};
    if (!v->has_device)
        return MT_OK;
    if (each)
        MT_TRY(mt_run_devices(v->db, &v->run, &out->v, &out->n, err));
    for (size_t i = 0; i < out->n; i++)
        MT_TRY(mt_narrow_device(v->db, &v->run, &v->narrow, &out->v[i], err));
    if (each)
        return MT_OK;
    out->v = mt_alloc(sizeof *out->v);
    out->v[out->n++] = v->device;
    out->others = v->other_n;
    return MT_OK;
}

static void note_others(struct mt_report *r, const struct devices *d)
{
    char more[MT_HUMAN_LONG];
    mt_human_plural(d->others, "more device", more);
    if (d->others <= 0)
        return;
    if (!keys.device)
        mt_report_note(r, "%s; choose with --device, or see all with --by %s,device.", more,
                       by ? by : "name");
    else if (device_name)
        mt_report_note(r, "%s; leave --device out to see all.", more);
    else
        mt_report_note(r, "%s; --sort %s is about %s alone, --sort %s about all.", more, sort_key,
                       d->v[0].name, sort.column);
}

static void describe(struct mt_report *r, const struct mt_run *run, const struct devices *d,
                     int64_t net_b)
{
    bool one = d->n == 1;
    mt_report_about(r, run, one ? &d->v[0] : NULL,
                    MT_ABOUT_SUMS | MT_ABOUT_LEVELS | MT_ABOUT_END | MT_ABOUT_SITES |
                        MT_ABOUT_DURATIONS | mt_by_about(&keys) | (steps ? MT_ABOUT_STEPS : 0));
    if (d->n > 1)
        mt_report_param(r, "device", (struct mt_cell){0});
    mt_report_param(r, "sort", mt_cell_text(sort.column));
    mt_report_param(r, "by", mt_cell_text(by));
    if (steps)
        mt_report_param(r, "step", mt_cell_text(steps));
    if (thread)
        mt_report_param(r, "thread", mt_cell_text(thread));
    if (!d->n) {
        mt_report_no_memory(r, run);
        return;
    }
    struct mt_totals totals = {run, d->v, d->n, net_b, {NULL, NULL}};
    if (steps)
        totals.of[0] = mt_report_textf(r, "step %s", steps);
    if (thread)
        totals.of[1] = mt_report_textf(r, "thread %s", thread);
    mt_totals_describe(&totals, r);
    r->title_end = mt_asprintf("sorted by %s", sort.column);
}

/* What any of them knows. */
static unsigned known_of(const struct devices *d)
{
    unsigned knows = d->n ? 0 : NO_DEVICE;
    for (size_t i = 0; i < d->n; i++)
        knows |= known_on(&d->v[i]);
    return knows;
}

/* Refuses what the run cannot be grouped, filtered or sorted by. */
static enum mt_status check_known(struct mt_db *db, const struct mt_run *run,
                                  const struct devices *d, struct mt_err *err)
{
    for (size_t i = 0; i < d->n; i++) {
        if (!mt_device_has_events(&d->v[i]) && !(d->v[i].knows & MT_KNOWS_EXTRAS))
            MT_TRY(mt_knows_sums(run, &d->v[i], err));
        if (!mt_groups_are_sizes(&d->v[i], keys.v, keys.n))
            MT_TRY(mt_by_known(&keys, db, run, &d->v[i], err));
        unsigned sums = mt_knows_net(d->v[i].knows) ? MT_KNOWS_EXTRAS : ~0u;
        MT_TRY(mt_knows(run, &d->v[i], mt_table_needs(sort.column) & sums, err));
        if (mt_device_has_events(&d->v[i]))
            continue;
        MT_TRY(mt_knows(run, &d->v[i],
                        steps    ? MT_KNOWS_STEPS
                        : thread ? MT_KNOWS_THREADS | MT_KNOWS_OPS /* to choose by */
                                 : 0,
                        err));
    }
    return MT_OK;
}

/* The groups of all these devices as rows; *net_b: what they add up to. */
static enum mt_status add_rows(struct mt_report *r, const struct mt_view *v,
                               const struct devices *d, int64_t *net_b, struct mt_err *err)
{
    mt_table_columns(r, keys.v, keys.n, keys.device, known_of(d), rows.columns);
    *net_b = 0;
    if (!d->n)
        return add_device(r, v, NULL, net_b, err);
    for (size_t i = 0; i < d->n; i++)
        MT_TRY(add_device(r, v, &d->v[i], net_b, err));
    return MT_OK;
}

/* What all rows add up to; NULL: no figure of all is known. */
static const char *sum_words(struct mt_report *r, const struct devices *d, int64_t net_b)
{
    char text[MT_HUMAN_MAX];
    if (!d->n)
        return NULL;
    if (mt_knows_net(d->v[0].knows))
        return mt_report_textf(r, "net %s", mt_human_bytes(net_b, text));
    if (d->v[0].one_moment && d->n == 1)
        return mt_report_textf(r, "%s alive at the end", mt_human_bytes(d->v[0].at_end_b, text));
    if (d->n > 1 || !mt_device_knows(&d->v[0], MT_KNOWS_AT_PEAK))
        return NULL;
    return mt_report_textf(r, "the peak, %s", mt_human_bytes(d->v[0].peak_b, text));
}

static enum mt_status check_sorted(const struct mt_report *r, struct mt_err *err)
{
    if (mt_report_find_column(r, sort.column) >= 0 || strcmp(sort.column, "name") == 0)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "this table has no column '%s' to sort by", sort.column);
    if (strncmp(sort.column, "self_", 5) != 0)
        mt_err_hint(err, "Sort by self_%s.", sort.column);
    else
        mt_err_hint(err, "--format csv shows the columns that it has.");
    return MT_EUSAGE;
}

/* Times of runs that count something else, with their unit in the heading. */
static void name_times(struct mt_report *r, const struct mt_run *run)
{
    if (!run->time_unit[0] || strcmp(run->time_unit, "ns") == 0)
        return;
    for (size_t i = 0; i < r->columns.n; i++) {
        struct mt_column *c = &r->columns.v[i];
        if (c->unit != MT_UNIT_NS || !c->title)
            continue;
        c->unit = MT_UNIT_COUNT;
        c->title = mt_report_textf(r, "%s (%s)", c->title, run->time_unit);
    }
}

/* Of steps behind the last record of a file that ends early, what was allocated is lost. */
static enum mt_status note_unread(const struct mt_view *v, struct mt_report *r, struct mt_err *err)
{
    int64_t until_ns;
    MT_TRY(mt_view_known_until(v, &until_ns, err));
    mt_report_unread(r, &v->run, until_ns);
    return MT_OK;
}

/* Whether a few rows are, of all: paths of the others are then never shown. */
static bool chosen_by_figures(void)
{
    return mt_rows_limit(&rows) > 0 && !rows.name && !rows.min_b &&
           strcmp(sort.column, "name") != 0;
}

/* Whether texts of call paths can wait until then: a million of them may take gigabytes. */
static bool written_one_by_one(void)
{
    return !mt_people_read() && !mt_show_is_taken() && !rows.name && !rows.columns;
}

static enum mt_status fill(const struct mt_view *v, struct mt_report *r, struct mt_err *err)
{
    struct devices devices = {0};
    int64_t net_b;
    enum mt_status st = MT_OK;
    MT_TRY(find_devices(v, keys.device && !wanted_device(), &devices, err));
    const char *size = mt_table_sort_default(known_of(&devices));
    if (!sort_key)
        MT_TRY_OUT(mt_table_sort_key(size, &sort, err));
    MT_TRY_OUT(check_known(v->db, &v->run, &devices, err));
    MT_TRY_OUT(mt_by_note_lines(&keys, v->db, &v->run, r, err));
    sort.paths = mt_group_has(keys.v, keys.n, MT_BY_PATH) ? &paths : NULL;
    MT_TRY_OUT(add_rows(r, v, &devices, &net_b, err));
    MT_TRY_OUT(check_sorted(r, err));
    note_others(r, &devices);
    name_times(r, &v->run);
    MT_TRY_OUT(mt_view_note_steps(v, steps, r, err));
    if ((steps || mt_group_has(keys.v, keys.n, MT_BY_STEP)) && v->has_device)
        MT_TRY_OUT(note_unread(v, r, err));
    const bool stream = sort.paths && written_one_by_one();
    if (chosen_by_figures())
        sort.first_n = (size_t)mt_rows_limit(&rows);
    else if (!stream)
        mt_table_paths_put(r, &paths);
    mt_table_sort(r, &sort);
    MT_TRY_OUT(mt_rows_apply(&rows, r, mt_rows_size(r, sort.column, size), err));
    if (!stream)
        mt_table_paths_put(r, &paths);
    describe(r, &v->run, &devices, net_b);
    bool events = mt_knows_events(known_of(&devices));
    mt_rows_footer(&rows, r, sum_words(r, &devices, net_b),
                   mt_group_has(keys.v, keys.n, MT_BY_TOP) || !events
                       ? ""
                       : ", --by top what your code called");
    if (stream && r->rows.n)
        mt_table_paths_stream(r, &paths);
out:
    free(devices.v);
    return st;
}

/* PyTorch's table is what it is: options it does not know are refused, not left unheard. */
static enum mt_status check_compat(const struct mt_run *run, struct mt_err *err)
{
    MT_TRY(mt_knows(run, NULL, MT_KNOWS_OPS, err));
    bool by_shape = by && strcmp(by, "shape") == 0;
    const char *odd = by && !by_shape ? "--by"
                      : rows.name     ? "--name"
                      : rows.min_b    ? "--min"
                      : rows.columns  ? "--columns"
                      : steps         ? "--step"
                      : thread        ? "--thread"
                      : device_name   ? "--device"
                      : categories    ? "--categories"
                      : category      ? "--category"
                                      : NULL;
    if (!odd)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "%s does not go with --compat", odd);
    mt_err_hint(err, "PyTorch's table knows --sort, --limit and --by shape.");
    return MT_EUSAGE;
}

static enum mt_status show(struct mt_view *v, struct mt_report *r, struct mt_err *err)
{
    enum mt_status st = fill(v, r, err);
    if (st == MT_OK)
        st = mt_show(r, err);
    mt_table_paths_free(&paths);
    return st;
}

static enum mt_status show_compat(struct mt_view *v, struct mt_report *r, struct mt_err *err)
{
    const struct mt_rows torch_rows = {.limit = rows.limit, .people = TORCH_ROWS};
    const struct mt_compat_opts o = {.version = compat,
                                     .sort = sort_key,
                                     .limit = mt_rows_limit(&torch_rows),
                                     .by_shape = by && strcmp(by, "shape") == 0};
    MT_TRY(check_compat(&v->run, err));
    return mt_compat_table(v->db, &v->run, &o, r, err);
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    const char *schema = "memtool.table";
    if (compat)
        return mt_report_on_view(args, &(struct mt_view_wanted){0}, schema, show_compat, err);
    MT_TRY(mt_categories_file(categories, &by, err));
    MT_TRY(mt_by_parse(&mt_cmd_table, by, "name", &keys, err));
    sort = (struct mt_sort){0};
    if (sort_key)
        MT_TRY(mt_table_sort_key(sort_key, &sort, err));
    const struct mt_view_wanted wanted = {MT_VIEW_DEVICE, wanted_device(), 0, category};
    return mt_report_on_view(args, &wanted, schema, show, err);
}

static const struct mt_opt opts[] = {
    {"sort", 's', MT_OPT_STRING, &sort_key, "KEY",
     "a column, or PyTorch's name for it: self_cpu_memory_usage (default: self_net_b, of logs "
     "without events self_at_peak_b or self_at_end_b)"},
    {"by", 0, MT_OPT_STRING, &by, "KEYS",
     "group by one or more of the words below (default: name)"},
    MT_CATEGORIES_OPT(categories),
    MT_CATEGORY_OPT(category),
    MT_DEVICE_OPT(device_name),
    {"step", 0, MT_OPT_STRING, &steps, "A..B", "only ops that start in these steps"},
    {"thread", 0, MT_OPT_STRING, &thread, "TID",
     "only ops of this thread (PID:TID where processes share its number)"},
    MT_ROWS_OPTS(rows, "in the sorted column, or where that is not bytes in the one of the default",
                 "20, with --compat 100"),
    {"compat", 0, MT_OPT_STRING, &compat, "torch[:V]",
     "PyTorch's own key_averages() table, as its version V prints it"},
    {0},
};

static const struct mt_glossary words[] = {MT_WORDS_OF_BY(mt_by_of_devices), {0}};

static const struct mt_values values[] = {{"sort", NULL, mt_table_sort_names},
                                          {"columns", NULL, mt_table_column_names},
                                          {"category", mt_category_words, NULL},
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
