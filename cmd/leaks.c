/* memtool leaks: what grows from step to step, and what is merely alive at the end. */
#include "lib/analysis/leaks.h"
#include "cmd/by.h"
#include "cmd/categories_file.h"
#include "cmd/common.h"
#include "cmd/leaks.h"
#include "cmd/output.h"
#include "cmd/rows.h"
#include "lib/render/columns.h"
#include "lib/run/knows.h"
#include "lib/usage/process.h"

static const char *by, *categories, *category, *device_name;
enum { WARMUP = 1 };
static int64_t warmup = -1, min_b; /* -1: not given */
static bool fail, all, no_suppressions;
static struct mt_strings suppression_files;
static struct mt_rows rows = MT_ROWS(20);

/* In the order of add_columns. */
enum column { PER_STEP_B, PER_STEP_N, SINCE, LAST, AT_END_B, AT_END_N, VERDICT, COLUMN_N };
/* Whole where it can be: integers stay exact. */
static struct mt_cell rate(int64_t amount, int64_t steps)
{
    if (!steps)
        return (struct mt_cell){0};
    return amount % steps ? mt_cell_real((double)amount / (double)steps)
                          : mt_cell_int(amount / steps);
}

static bool is_suspect(const struct mt_leak *l)
{
    return l->verdict == MT_VERDICT_LEAK || l->verdict == MT_VERDICT_CANDIDATE;
}

/* What is no suspect is for programs and --all: people read below the table what it comes to. */
static bool is_listed(const struct mt_leak *l)
{
    return all || is_suspect(l) || !mt_people_read();
}

static bool large_enough(const struct mt_leak *l)
{
    return mt_leaks_large_enough(l, min_b);
}

static void add_columns(struct mt_report *r, const struct mt_by *keys, bool steps)
{
    mt_report_columns(r, steps ? "per_step_b per_step_n since_step"
                               : "-per_step_b -per_step_n -since_step");
    mt_report_columns(r, "-last_step at_end_b at_end_n verdict");
    for (int k = 0; k < keys->n; k++)
        mt_report_column(r, mt_group_key_name(keys->v[k]), NULL, MT_UNIT_NONE);
    mt_report_columns(r, "-doubt_at_end_b");
    r->keep_order = true;
    r->empty = steps ? "nothing grows from step to step" : "nothing is alive at the end";
}

static struct mt_cell step_cell(int64_t number)
{
    return number == INT64_MIN ? (struct mt_cell){0} : mt_cell_int(number);
}

static void add_row(struct mt_report *r, const struct mt_leak *l, const struct mt_by *keys)
{
    const struct mt_cell none = {0};
    struct mt_row *row = mt_report_row(r);
    row->explicit_row = l->explicit_row;
    row->cells[PER_STEP_B] = rate(l->growth_b, l->growth_steps);
    row->cells[PER_STEP_N] = l->whole ? none : rate(l->growth_n, l->growth_steps);
    row->cells[SINCE] = step_cell(l->first_step);
    row->cells[LAST] = step_cell(l->last_step);
    row->cells[AT_END_B] = l->whole ? none : mt_cell_int(l->at_end_b);
    row->cells[AT_END_N] = l->whole ? none : mt_cell_int(l->at_end_n);
    row->cells[VERDICT] = mt_cell_text(mt_verdict_names[l->verdict]);
    for (int k = 0; k < keys->n; k++)
        row->cells[COLUMN_N + k] = mt_cell_text(mt_report_text(r, l->key[k]));
    row->cells[COLUMN_N + keys->n] = mt_cell_int(l->doubt_b);
}

/* What is known to be there all the time, without a block: no suspect either. */
static void add_kept(struct mt_report *r, int64_t kept_b, const struct mt_by *keys)
{
    if (!kept_b || kept_b < min_b || (!all && mt_people_read()))
        return;
    struct mt_row *row = mt_report_row(r);
    row->explicit_row = true;
    row->cells[AT_END_B] = mt_cell_int(kept_b);
    row->cells[VERDICT] = mt_cell_text(mt_verdict_names[MT_VERDICT_STATE]);
    for (int k = 0; k < keys->n; k++)
        row->cells[COLUMN_N + k] = mt_cell_text("[before trace]");
}

static void add_rows(struct mt_report *r, const struct mt_leaks *found, int64_t kept_b,
                     const struct mt_by *keys)
{
    for (size_t i = 0; i < found->rows.n; i++) {
        const struct mt_leak *l = &found->rows.v[i];
        if (is_listed(l) && large_enough(l))
            add_row(r, l, keys);
        else
            r->left_out_n += is_listed(l);
    }
    add_kept(r, kept_b, keys);
}

static enum mt_status fill(struct mt_view *v, struct mt_report *r, const struct mt_by *keys,
                           struct mt_leaks_answer *answer, struct mt_err *err)
{
    struct mt_allocations *lives = &v->blocks;
    const struct mt_run_device *d = &v->device;
    struct mt_leaks found = {0};
    const struct mt_leaks_wanted w = {.device = device_name,
                                      .keys = keys->v,
                                      .key_n = keys->n,
                                      .min_b = min_b,
                                      .all = all,
                                      .warmup = warmup};
    const bool few = !mt_leaks_can_tell((int64_t)lives->steps.all.n, warmup);
    int64_t kept_b = mt_run_kept(&v->run, d);
    enum mt_status st = MT_OK;
    MT_TRY_OUT(mt_leaks_find(lives, d, keys->v, keys->n, warmup, &found, err));
    add_columns(r, keys, lives->steps.all.n > 0);
    add_rows(r, &found, kept_b, keys);
    mt_leaks_answer_all(&found, min_b, answer);
    answer->unknown |= few;
    if (!answer->leaking)
        mt_leaks_say_too_few(r, lives, &w);
    if (lives->steps.all.n && few)
        r->empty = "too few steps to detect growth";
    else if (lives->steps.all.n && found.gaps)
        r->empty = "growth is unknown";
    mt_leaks_describe(r, d, lives, &found, &w);
    MT_TRY_OUT(mt_rows_apply(&rows, r, "at_end_b", err));
    struct mt_rows asked = rows;
    asked.min_b = min_b; /* applied above: it is about growth, too */
    mt_rows_footer(&asked, r, NULL, "");
    mt_leaks_explain_rest(r, lives, &found, kept_b, &w);
    MT_TRY_OUT(mt_leaks_other_devices(lives, d, &w, r, answer, err));
out:
    mt_leaks_free(&found);
    return st;
}

/* What is no leak in a run of sums: what files say, and unless that is not wanted, what the program
 * says and what is usual. */
static enum mt_status suppress(struct mt_view *v, struct mt_suppressions *s, struct mt_err *err)
{
    for (size_t i = 0; i < suppression_files.n; i++) {
        mt_output_spare(suppression_files.v[i]);
        MT_TRY(mt_suppressions_read(s, suppression_files.v[i], err));
    }
    if (no_suppressions)
        return MT_OK;
    MT_TRY(mt_suppressions_add_embedded(s, v->db, &v->run, err));
    mt_suppressions_add_usual(s);
    return MT_OK;
}

static enum mt_status no_suppressions_here(struct mt_err *err)
{
    MT_FAIL(err, MT_EUSAGE, "--suppressions is for one heap log");
    mt_err_hint(err, "What grows from step to step or from run to run is judged by its growth.");
    return MT_EUSAGE;
}

static enum mt_status of_processes(struct mt_view *v, struct mt_report *r,
                                   struct mt_leaks_answer *answer, struct mt_err *err)
{
    const struct mt_leaks_wanted w = {
        .device = device_name, .min_b = min_b, .all = all, .warmup = warmup, .rows = &rows};
    return suppression_files.n ? no_suppressions_here(err)
                               : mt_leaks_of_processes(v, &w, r, answer, err);
}

/* What sites are told apart by in such a run. */
static enum mt_status settle_keys(struct mt_by *keys, struct mt_db *db, const struct mt_run *run,
                                  struct mt_report *r, struct mt_err *err)
{
    MT_TRY(mt_by_finer(keys, by, db, run, err));
    return mt_by_note_lines(keys, db, run, r, err);
}

static enum mt_status one_run(const char *ref, struct mt_by *keys, struct mt_report *r,
                              struct mt_leaks_answer *answer, struct mt_err *err)
{
    const struct mt_view_wanted wanted = {MT_VIEW_DEVICE | MT_VIEW_BLOCKS, device_name, 0,
                                          category};
    struct mt_view v;
    struct mt_suppressions suppressions = {0};
    enum mt_status st = MT_OK;
    MT_TRY_OUT(mt_view_open(&v, ref, &wanted, err));
    mt_view_about(&v, r, MT_LEAKS_ABOUT);
    mt_report_param(r, "warmup", mt_cell_int(warmup));
    answer->unknown = !v.has_device;
    if (!v.has_device)
        mt_report_no_memory(r, &v.run);
    else if (mt_device_is_process(&v.device) && !by)
        MT_TRY_OUT(of_processes(&v, r, answer, err));
    else if (mt_by_known(keys, v.db, &v.run, &v.device, err) != MT_OK ||
             settle_keys(keys, v.db, &v.run, r, err) != MT_OK)
        st = err->code;
    else if (!mt_device_has_events(&v.device)) {
        const struct mt_leaks_wanted w = {.keys = keys->v,
                                          .key_n = keys->n,
                                          .min_b = min_b,
                                          .all = all,
                                          .rows = &rows,
                                          .suppressions = &suppressions};
        MT_TRY_OUT(suppress(&v, &suppressions, err));
        MT_TRY_OUT(mt_leaks_at_end(&v, &w, r, answer, err));
        mt_report_others(r, v.other_n);
    } else if (suppression_files.n)
        MT_TRY_OUT(no_suppressions_here(err));
    else
        MT_TRY_OUT(fill(&v, r, keys, answer, err));
out:
    mt_suppressions_free(&suppressions);
    mt_view_close(&v);
    return st;
}

static enum mt_status settle_warmup(size_t run_n, struct mt_err *err)
{
    bool given = warmup >= 0;
    warmup = given ? warmup : WARMUP;
    if (!given || run_n < 2)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "--warmup does not go with several runs");
    mt_err_hint(err, "Growth from run to run is measured at their ends, whatever their steps.");
    return MT_EUSAGE;
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    struct mt_by keys;
    struct mt_report report;
    struct mt_leaks_answer answer = {0};
    enum mt_status st = MT_OK;
    mt_report_init(&report, "memtool.leaks", 1);
    MT_TRY_OUT(mt_categories_file(categories, &by, err));
    MT_TRY_OUT(mt_by_parse(&mt_cmd_leaks, by, "site", &keys, err));
    MT_TRY_OUT(settle_warmup(args->n, err));
    if (args->n < 2)
        MT_TRY_OUT(one_run(args->n ? args->v[0] : NULL, &keys, &report, &answer, err));
    else if (suppression_files.n)
        MT_TRY_OUT(no_suppressions_here(err));
    else {
        struct mt_narrow narrow;
        bool apart, processes = false;
        MT_TRY_OUT(mt_narrow_parse(category, &narrow, err));
        MT_TRY_OUT(mt_leaks_settle_keys(args, by, &keys, &apart, &report, err));
        const struct mt_leaks_wanted wanted = {.device = device_name,
                                               .narrow = &narrow,
                                               .keys = keys.v,
                                               .key_n = keys.n,
                                               .min_b = min_b,
                                               .all = all || !mt_people_read(),
                                               .warmup = WARMUP,
                                               .rows = &rows,
                                               .apart = apart};
        if (!by && !category)
            MT_TRY_OUT(mt_leaks_of_process_runs(args, &wanted, &report, &answer, &processes, err));
        if (!processes)
            MT_TRY_OUT(mt_leaks_over_runs(args, &wanted, &report, &answer, err));
    }
    if (answer.unknown && !answer.leaking)
        mt_report_unanswered(&report, "No leak is proved, and none can be ruled out.",
                             "The notes and verdicts say what is missing.");
    MT_TRY_OUT(mt_show(&report, err));
    if (fail)
        *exit_code = answer.leaking ? 1 : answer.unknown ? 3 : 0;
out:
    if (err->cannot_tell)
        *exit_code = 3;
    mt_report_free(&report);
    mt_vec_free(&suppression_files);
    return st;
}

static const struct mt_opt opts[] = {
    {"by", 0, MT_OPT_STRING, &by, "KEYS",
     "what a site is: one or more of the words below (default: site, in traces with stacks "
     "site,top)"},
    {"warmup", 0, MT_OPT_INT, &warmup, "N", "steps that may build up state (default: 1)"},
    {"all", 0, MT_OPT_FLAG, &all, NULL,
     "also show state, last step and cache, not only leaks and candidates"},
    {"fail", 0, MT_OPT_FLAG, &fail, NULL, "exit 1 if there is a leak, 3 if inconclusive"},
    {"min", 0, MT_OPT_SIZE, &min_b, "SIZE",
     "leaks that grow by at least this per step (or run); other rows that hold this at the end"},
    {"suppressions", 0, MT_OPT_LIST, &suppression_files, "FILE",
     "what is no leak in a heap log: lines leak:PATTERN, as LeakSanitizer and heaptrack have them"},
    {"no-suppressions", 0, MT_OPT_FLAG, &no_suppressions, NULL,
     "without those that a heap log has in it, and what libraries are known to keep"},
    MT_CATEGORIES_OPT(categories),
    MT_CATEGORY_OPT(category),
    {"device", 0, MT_OPT_STRING, &device_name, "D",
     "cpu, cuda:0, ... (default: shows the one with most bytes allocated, judges all)"},
    {"limit", 'n', MT_OPT_INT, &rows.limit, "N", MT_LIMIT_HELP("20")},
    {"name", 0, MT_OPT_STRING, &rows.name, "REGEX", "only rows that match"},
    {"columns", 0, MT_OPT_STRING, &rows.columns, "LIST",
     "these columns, in this order, by their csv names or headings"},
    {0},
};

static const struct mt_values values[] = {
    {"category", mt_category_words, NULL},
    {"columns",
     "per_step_b per_step_n since_step last_step at_end_b at_end_n verdict site doubt_at_end_b "
     "device per_minute_b per_event_b rate_least_b rate_most_b by_b at_ns looks_n metric",
     NULL},
    {0}};

const struct mt_cmd mt_cmd_leaks = {
    .name = "leaks",
    .summary = "what grows from step to step, and what is merely alive at the end",
    .usage = "[options] [RUN ...]",
    .examples = "  memtool leaks\n"
                "  memtool leaks base --by path\n"
                "  memtool leaks --fail --min 1KiB\n"
                "  memtool leaks after1h after2h after3h\n",
    .opts = opts,
    .values = values,
    .words = mt_leaks_words,
    .args_max = 1000,
    .run = run,
};
