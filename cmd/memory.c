/* memtool memory: what torch.cuda.memory_stats() would have said, at the end or of any window. */
#include "cmd/common.h"
#include "cmd/glossary.h"
#include "cmd/memory_process.h"
#include "cmd/rows.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/model/process.h"
#include "lib/render/columns.h"
#include "lib/run/knows.h"
#include "lib/usage/gaps.h"
#include "lib/usage/memstats.h"
#include "lib/usage/oom.h"
#include <stdlib.h>
#include <string.h>

static const char *device_name, *from, *to, *step;
static const char *per;      /* NULL, or "step" */
static struct mt_strings at; /* moments of a process, at most two */

static const struct column {
    const char *name;
    int spare;
    size_t offset;
} columns[] = {
#define AT(member) offsetof(struct mt_memstat_row, member)
    {"current_b", 0, AT(current_b)},         {"peak_b", 0, AT(peak_b)},
    {"total_alloc_b", 0, AT(total_alloc_b)}, {"total_freed_b", 0, AT(total_freed_b)},
    {"current_n", 1, AT(current_n)},         {"peak_n", 2, AT(peak_n)},
    {"total_alloc_n", 3, AT(total_alloc_n)}, {"total_freed_n", 4, AT(total_freed_n)},
#undef AT
};

/* What rounding costs at the end, of all GPUs that are shown: the blocks that count as active count
 * as requested. */
static struct {
    size_t gpu_n;
    int64_t active_b, requested_b;
} at_end;
static int64_t last_ns = INT64_MAX; /* of the records read, where the window lies behind them */
static struct mt_rows rows = MT_ROWS(8); /* of processes that others started */
static bool brief, hidden; /* of these people see the first figures; there are others */
static bool one_moment;    /* of a device that is shown nothing else is known */

static enum mt_status add_device(struct mt_report *r, const struct mt_view *v,
                                 const struct mt_run_device *d, const struct mt_window *w,
                                 struct mt_err *err)
{
    struct mt_memstat_row stats[MT_STAT_N];
    int64_t until_ns;
    unsigned gaps;
    if (mt_device_is_process(d) != (v->run.kind == MT_RUN_PROCESS))
        return MT_OK; /* of a damaged database: the columns are others */
    if (mt_device_is_process(d)) {
        const struct mt_memory_asked asked = {.window = *w,
                                              .levels = from || to || at.n,
                                              .steps = step || per,
                                              .at = at,
                                              .per_step = per,
                                              .brief = brief && mt_process_is_child(d->name),
                                              .hidden = &hidden};
        return mt_memory_process(r, v, d, &asked, err);
    }
    if (!(d->knows & (MT_KNOWS_ALLOC | MT_KNOWS_PEAK | MT_KNOWS_AT_END | MT_KNOWS_LEVEL)))
        MT_TRY(mt_knows(&v->run, d, MT_KNOWS_AT_END, err)); /* as DHAT's copies and events */
    if (!mt_device_has_events(d) && (from || to || step))
        MT_TRY(mt_knows(&v->run, d, MT_KNOWS_BLOCKS, err));
    MT_TRY(mt_memstats(v->db, &v->run, d, w, stats, err));
    MT_TRY(mt_run_gaps(v->db, &v->run, d, &gaps, err));
    MT_TRY(mt_run_known_until(v->db, &v->run, gaps, &until_ns, err));
    bool unread = w->from_ns > until_ns; /* what the file had of it is lost */
    last_ns = unread && until_ns < last_ns ? until_ns : last_ns;
    one_moment |= d->one_moment != 0;
    mt_report_older(r, &v->run, d);
    if (stats[MT_STAT_RESERVED].unseen)
        mt_report_note(r, "%s: " MT_RESERVED_UNSEEN, d->name);
    const bool gpu = d->type != MT_DEVICE_CPU && d->type != MT_DEVICE_HOST;
    at_end.gpu_n += gpu;
    if (gpu && stats[MT_STAT_ACTIVE].current_b != MT_STAT_UNKNOWN) {
        mt_wrap_inc(&at_end.active_b, stats[MT_STAT_ACTIVE].current_b);
        mt_wrap_inc(&at_end.requested_b, stats[MT_STAT_REQUESTED].current_b);
    }
    for (int i = 0; i < MT_STAT_N; i++) {
        if (!stats[i].known)
            continue;
        struct mt_row *row = mt_report_row(r);
        row->cells[0] = mt_cell_text(mt_report_text(r, d->name));
        row->cells[1] = mt_cell_text(mt_memstat_names[i]);
        for (size_t c = 0; c < MT_ARRAY_LEN(columns); c++) {
            int64_t figure;
            memcpy(&figure, (const char *)&stats[i] + columns[c].offset, sizeof figure);
            if (figure != MT_STAT_UNKNOWN && !unread)
                row->cells[2 + c] = mt_cell_int(figure);
        }
    }
    return MT_OK;
}

static void describe(struct mt_report *r, const struct mt_run *run)
{
    struct mt_buf title = {0};
    mt_buf_addf(&title, "%s", run->name);
    for (size_t i = 0; i < at.n; i++)
        mt_buf_addf(&title, "%s%s", i ? " -> " : " · ", at.v[i]);
    if (step)
        mt_buf_addf(&title, " · step %s", step);
    else if (from || to)
        mt_buf_addf(&title, " · %s to %s", from ? from : "@start", to ? to : "@end");
    mt_report_about(r, run, NULL,
                    MT_ABOUT_SUMS | MT_ABOUT_LEVELS | MT_ABOUT_END | (step ? MT_ABOUT_STEPS : 0));
    r->title = title.s;
    mt_report_param(r, "from", mt_cell_text(from));
    mt_report_param(r, "to", mt_cell_text(to));
    mt_report_param(r, "step", mt_cell_text(step));
}

/* Where to look next, unless there is one sample alone. */
static void point_to_growth(struct mt_report *r, const struct mt_run *run)
{
    struct mt_buf name = {0};
    if (run->record_n < 2)
        return;
    mt_shell_word(&name, run->name);
    mt_report_footer(r, "`memtool leaks %s` says whether it grows.", name.s);
    mt_buf_free(&name);
}

/* People look for torch.cuda.max_memory_allocated(). */
static void explain(struct mt_report *r, const struct mt_run *run)
{
    char rounding[MT_HUMAN_MAX];
    const char *more = "";
    if (!mt_run_is_snapshot(run))
        return;
    /* less: blocks of the history are not in the list */
    if (at_end.requested_b > 0 && at_end.active_b >= at_end.requested_b)
        more = mt_report_textf(
            r, " (%s more at the end%s)",
            mt_human_bytes(mt_wrap_sub(at_end.active_b, at_end.requested_b), rounding),
            at_end.gpu_n > 1 ? ", of all GPUs" : "");
    if (one_moment) {
        mt_report_footer(r, "No history: only the state at the time of the dump is known.");
        return;
    }
    mt_report_footer(r,
                     "A snapshot tells rounded sizes only of blocks in use at its end: allocated "
                     "and active have no peak.");
    if (at_end.gpu_n)
        mt_report_footer(
            r,
            "The peak of requested stands for torch.cuda.max_memory_allocated(), which "
            "rounds each block up%s.",
            more);
}

static void add_columns(struct mt_report *r, bool process)
{
    if (at.n) {
        mt_memory_process_columns(r, at.n);
        return;
    }
    r->keep_order = true;
    mt_report_columns(r, "device metric");
    r->columns.v[1].whole = true;
    for (size_t c = 0; c < MT_ARRAY_LEN(columns); c++) {
        mt_report_columns(r, columns[c].name);
        r->columns.v[2 + c].spare = columns[c].spare;
    }
    if (process) {
        r->columns.v[2].title = "LAST"; /* it may have ended long ago */
        mt_memory_process_columns(r, 0);
    }
}

static enum mt_status hint_peak(const struct mt_view *v, struct mt_err *err)
{
    struct mt_steps steps = {0};
    struct mt_err ignored = MT_ERR_INIT;
    struct mt_buf name = {0};
    bool any = mt_steps_load(v->db, &v->run, &steps, &ignored) == MT_OK && steps.all.n;
    mt_shell_word(&name, v->run.name);
    if (at.n)
        mt_err_hint(err, "`memtool peak %s --at TIME` shows what was in use then.", name.s);
    else if (any)
        mt_err_hint(err, "`memtool peak %s --per step` shows the steps.", name.s);
    else
        mt_err_hint(err, "It has no steps either. %s", mt_run_how_to_mark(&v->run));
    mt_buf_free(&name);
    mt_steps_free(&steps);
    return MT_EUSAGE;
}

/* Moments and all steps are of processes: of others `peak` knows what is in use then. */
static enum mt_status check_asked(const struct mt_view *v, struct mt_err *err)
{
    bool process = v->run.kind == MT_RUN_PROCESS, window = from || to || step;
    const char *option = at.n ? "--at" : "--per";
    if (!at.n && !per)
        return MT_OK;
    if (!process) {
        MT_FAIL(err, MT_EUSAGE, "%s is for process logs, and run '%s' is not one", option,
                v->run.name);
        return hint_peak(v, err);
    }
    if (per && strcmp(per, "step") != 0)
        MT_FAIL(err, MT_EUSAGE, "--per is step, not '%s'", per);
    else if (at.n > 2)
        MT_FAIL(err, MT_EUSAGE, "--at is given at most twice");
    else if (window || (at.n && per))
        MT_FAIL(err, MT_EUSAGE, "%s is beside another choice of times", option);
    else
        return MT_OK;
    mt_err_hint(err, "Give moments (--at), or a window (--from, --to, --step), or --per step.");
    return MT_EUSAGE;
}

static int by_peak(const void *a, const void *b)
{
    const struct mt_run_device *const *x = a, *const *y = b;
    int64_t p = (*x)->peak_b, q = (*y)->peak_b;
    return p != q ? (p < q) - (p > q) : (*x > *y) - (*x < *y);
}

/* Leaves of the children those that had most, if there are more than are to be shown. */
static void limit_children(struct mt_report *r, struct mt_run_device *all, size_t *n)
{
    MT_VEC(const struct mt_run_device *) children = {0};
    enum { FEW = 2 }; /* are shown with all their figures */
    size_t kept = 0, limit = (size_t)mt_rows_limit(&rows);
    char processes[MT_HUMAN_LONG];
    for (size_t i = 0; i < *n; i++)
        if (mt_process_is_child(all[i].name))
            *mt_vec_push(&children) = &all[i];
    brief = children.n > FEW && mt_people_read();
    if (limit && children.n > limit) {
        qsort(children.v, children.n, sizeof *children.v, by_peak);
        bool *leave = mt_alloc(*n * sizeof *leave);
        for (size_t i = limit; i < children.n; i++)
            leave[children.v[i] - all] = true;
        for (size_t i = 0; i < *n; i++)
            if (!leave[i])
                all[kept++] = all[i];
        *n = kept;
        free(leave);
        r->left_out_more = true;
        mt_report_footer(r, "%s had less and are left out; --limit 0 shows all.",
                         mt_human_plural((int64_t)(children.n - limit), "more process", processes));
    }
    mt_vec_free(&children);
}

/* The device asked for, else all: of processes the command, and all together, before its children.
 */
static enum mt_status add_devices(struct mt_report *r, const struct mt_view *v,
                                  const struct mt_window *w, struct mt_err *err)
{
    struct mt_run_device *all;
    size_t n;
    if (v->has_device)
        return add_device(r, v, &v->device, w, err);
    MT_TRY(mt_run_devices(v->db, &v->run, &all, &n, err));
    enum mt_status st = MT_OK;
    limit_children(r, all, &n);
    for (int children = 0; children < 2; children++)
        for (size_t i = 0; i < n && st == MT_OK; i++)
            if (mt_process_is_child(all[i].name) == children)
                st = add_device(r, v, &all[i], w, err);
    if (hidden)
        mt_report_footer(r, "--device shows the other figures of one of them.");
    free(all);
    return st;
}

static enum mt_status show(struct mt_view *v, struct mt_report *r, struct mt_err *err)
{
    struct mt_window w;
    MT_TRY(check_asked(v, err));
    if (per)
        MT_TRY(mt_memory_step_columns(r, v, err));
    else
        add_columns(r, v->run.kind == MT_RUN_PROCESS);
    describe(r, &v->run);
    MT_TRY(mt_view_note_steps(v, step, r, err));
    MT_TRY(mt_window_parse(from, to, step, &v->run, &v->blocks.steps, &w, err));
    MT_TRY(add_devices(r, v, &w, err));
    bool process = v->run.kind == MT_RUN_PROCESS;
    if (process)
        MT_TRY(mt_view_note_traces(v, r, err));
    mt_report_unread(r, &v->run, last_ns);
    if (r->rows.n && process && !at.n && v->run.event_n != 1) /* of one sample nothing grows */
        point_to_growth(r, &v->run);
    else if (r->rows.n)
        explain(r, &v->run);
    else
        mt_report_no_memory(r, &v->run);
    mt_report_hide_empty(r);
    return mt_show(r, err);
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    const unsigned parts = MT_VIEW_STEPS | (device_name ? MT_VIEW_DEVICE : 0);
    const struct mt_view_wanted wanted = {parts, device_name, 0, NULL};
    return mt_report_on_view(args, &wanted, "memtool.memory", show, err);
}

static const struct mt_opt opts[] = {
    {"device", 0, MT_OPT_STRING, &device_name, "D", "only this device: cpu, cuda:0, ..."},
    {"from", 0, MT_OPT_STRING, &from, "TIME",
     "peaks and totals from this time on, as if the statistics were reset then"},
    {"to", 0, MT_OPT_STRING, &to, "TIME", "figures before this time"},
    {"step", 0, MT_OPT_STRING, &step, "A..B", "the same for these steps"},
    {"at", 0, MT_OPT_LIST, &at, "TIME",
     "of processes: what they have at this moment; given twice, what changed in between"},
    {"per", 0, MT_OPT_STRING, &per, "WHAT", "of processes: step, a row for each step"},
    {"limit", 'n', MT_OPT_INT, &rows.limit, "N",
     "of processes that others started: the N that had most; 0 = all (default: 8; csv, tsv and "
     "json: all)"},
    {0},
};

static const struct mt_values values[] = {{"per", "step", NULL}, {0}};

static const struct mt_glossary_entry metrics[] = {
    {"allocated", "what the program has in use, with rounding: memory_allocated()"},
    {"active", "the same, until no stream uses a freed block any more"},
    {"reserved", "what the allocator holds from the driver: memory_reserved()"},
    {"requested", "what the program asked for, without rounding"},
    {"inactive_split", "free ranges of segments that are partly in use"},
    {"rss",
     "what the process has in memory, where the recording says so; its level in process logs"},
    {"pytorch",
     "of it, what PyTorch has allocated, by traces of the process in a group of its run"},
    {"rest", "of it, what is neither that, nor mapped files, nor shared: Python's objects, other "
             "libraries, what malloc keeps"},
    {"pss", "rss, where pages that several processes share count in part, so that these add "
            "up: of \"processes\" the sum of all that were recorded"},
    {"private", "what no other process shares"},
    {"cgroup", "what the whole control group of a recorded command has, no part of rss"},
    {"at_most, at_least", "of all processes together: the sum of their rss, in which shared pages "
                          "count more than once; the largest of them"},
    {"malloc_in_use",
     "with record --malloc: blocks that the program has of malloc; malloc_mapped of these"},
    {"malloc_free",
     "blocks that were freed, malloc_top of these at the end of the heap; malloc_held: what of "
     "them is in memory, at most"},
    {"other_anon", "anonymous memory that is neither: mapped, stacks, Python's own arenas"},
    {"stacks", "of that, what is known to be stacks of threads; read seldom, as pss is"},
    {0}};
static const struct mt_glossary words[] = {{"Metrics", metrics, NULL}, MT_WORDS_OF_MOMENTS, {0}};

const struct mt_cmd mt_cmd_memory = {
    .name = "memory",
    .summary = "what a process has in memory, and PyTorch of it; figures of "
               "torch.cuda.memory_stats()",
    .usage = "[options] [RUN]",
    .examples = "  memtool memory snap\n"
                "  memtool memory snap --step 2..4\n"
                "  memtool memory snap --from 150ms --format json\n"
                "  memtool memory train --at 2s --at @end\n",
    .opts = opts,
    .words = words,
    .values = values,
    .args_max = 1,
    .run = run,
};
