/* memtool peak: what was alive at the peak of a device, or at any other moment. */
#include "cmd/peak.h"

#include "cmd/by.h"
#include "cmd/categories_file.h"
#include "cmd/category_line.h"
#include "cmd/common.h"
#include "cmd/glossary.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/render/columns.h"
#include "lib/render/table.h"
#include "lib/run/knows.h"
#include "lib/usage/process.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *by, *categories, *category, *device_name, *from, *job, *to, *step, *per;
static struct mt_strings at;
static struct mt_rows rows = MT_ROWS(20);
static struct mt_by keys; /* --by */

/* "in aten::empty of aten::conv2d, step 3": where the block was allocated that made the level so.
 */
static void describe_allocation(struct mt_buf *out, const struct mt_tree *t,
                                const struct mt_allocation *life)
{
    if (life->origin.node == MT_NONE)
        mt_buf_adds(out, ", outside ops");
    else {
        const struct mt_tree_node *n = &t->nodes.v[life->origin.node];
        mt_buf_addf(out, ", in %s", mt_strtab_get(&t->strings, n->frame));
        if (n->top != n->frame)
            mt_buf_addf(out, " of %s", mt_strtab_get(&t->strings, n->top));
    }
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)life->origin.step);
    if (life->origin.step != INT64_MIN && (!step || strcmp(step, number) != 0))
        mt_buf_addf(out, ", step %s", number);
}

/* Which peak it is, where that of a window is asked for. */
static void add_window(struct mt_buf *out)
{
    if (step)
        mt_buf_addf(out, " of step %s:", step);
    else if (from || to)
        mt_buf_addf(out, " between %s and %s:", from ? from : "@start", to ? to : "@end");
}

static void describe(struct mt_peak *p, const struct mt_peak_found *f,
                     const struct mt_live_set *live)
{
    char level[MT_HUMAN_LONG], when[MT_HUMAN_LONG];
    struct mt_buf title = {0};
    mt_buf_addf(&title, "%s · %s · ", p->view->run.name, p->view->device.shown);
    if (p->view->device.one_moment && !at.n)
        mt_buf_addf(&title, "live %s when it was dumped; no history, so the peak is unknown",
                    mt_human_with_exact(f->level_b, level));
    else {
        bool process = mt_device_is_process(&p->view->device);
        mt_buf_adds(&title, !f->text ? "peak" : process ? "rss" : "live");
        add_window(&title);
        mt_buf_addf(&title, " %s%s", mt_at_most(&p->view->device, f->level_b),
                    mt_human_with_exact(f->level_b, level));
        if (f->t_ns != MT_UNKNOWN)
            mt_buf_addf(&title, " at %s", mt_human_time(p->view->run.time_unit, f->t_ns, when));
        if (p->moments.levels.all.n && f->held_ns != f->t_ns)
            mt_buf_addf(&title, ", as of %s",
                        mt_human_time(p->view->run.time_unit, f->held_ns, when));
    }
    for (size_t i = live->blocks.n; i-- > 0;)
        if (!f->text && mt_device_has_events(&p->view->device) &&
            live->blocks.v[i].alloc_record == f->record)
            describe_allocation(&title, &p->view->blocks.tree, &live->blocks.v[i]);
    p->report->title = title.s;
    mt_report_total(p->report, f->text ? "live_b" : "peak_b", mt_cell_int(f->level_b));
    mt_report_total(p->report, "at_ns", mt_cell_known(f->t_ns));
    if (p->moments.levels.all.n) {
        mt_report_total(p->report, "moment_ns", mt_cell_known(f->held_ns));
        mt_report_total(p->report, "level_b", mt_cell_int(f->whole_b));
    }
}

static void key_columns(struct mt_report *r)
{
    for (int k = 0; k < keys.n; k++)
        mt_report_column(r, mt_group_key_name(keys.v[k]),
                         keys.v[k] == MT_BY_SITE ? "ALLOCATED IN" : NULL, MT_UNIT_NONE);
}

static struct mt_cell count_cell(int64_t n)
{
    return n < 0 ? (struct mt_cell){0} : mt_cell_int(n);
}

static void one_moment(struct mt_peak *p, const struct mt_live_groups *g,
                       const struct mt_peak_found *f)
{
    struct mt_report *r = p->report;
    bool peak = !f->text;
    bool events = mt_device_has_events(&p->view->device);
    mt_report_columns(r, peak ? "at_peak_b at_peak_n" : "live_b live_n");
    mt_report_columns(r, events ? "largest_b age_ns=OLDEST" : "-largest_b -age_ns=OLDEST");
    r->columns.v[1].hidden = !mt_device_knows(&p->view->device, MT_KNOWS_COUNTS);
    key_columns(r);
    for (size_t i = 0; i < g->rows.n; i++) {
        const struct mt_live_group *from_group = &g->rows.v[i];
        const struct mt_live_total *s = &from_group->at[0];
        struct mt_row *row = mt_report_row(r);
        int c = 0;
        row->explicit_row = from_group->explicit_row;
        row->cells[c++] = mt_cell_int(s->bytes);
        row->cells[c++] = count_cell(s->blocks_n);
        row->cells[c++] = s->largest_b && events ? mt_cell_int(s->largest_b) : (struct mt_cell){0};
        row->cells[c++] = s->oldest_ns == INT64_MIN
                              ? (struct mt_cell){0}
                              : mt_cell_int(mt_wrap_sub(f->t_ns, s->oldest_ns));
        for (int k = 0; k < keys.n; k++)
            row->cells[c++] = mt_cell_text(mt_report_text(r, from_group->key[k]));
    }
}

static void two_moments(struct mt_peak *p, const struct mt_live_groups *g)
{
    struct mt_report *r = p->report;
    bool counts = mt_device_knows(&p->view->device, MT_KNOWS_COUNTS);
    mt_report_columns(r, counts ? "change_b before_b after_b before_n after_n"
                                : "change_b before_b after_b -before_n -after_n");
    key_columns(r);
    for (size_t i = 0; i < g->rows.n; i++) {
        const struct mt_live_group *group = &g->rows.v[i];
        const struct mt_live_total *a = &group->at[0], *b = &group->at[1];
        struct mt_row *row = mt_report_row(r);
        int c = 0;
        row->explicit_row = group->explicit_row;
        row->cells[c++] = mt_cell_int(b->bytes - a->bytes);
        row->cells[c++] = mt_cell_int(a->bytes);
        row->cells[c++] = mt_cell_int(b->bytes);
        row->cells[c++] = count_cell(counts ? a->blocks_n : -1);
        row->cells[c++] = count_cell(counts ? b->blocks_n : -1);
        for (int k = 0; k < keys.n; k++)
            row->cells[c++] = mt_cell_text(mt_report_text(r, group->key[k]));
    }
}

static void describe_change(struct mt_peak *p, const struct mt_peak_found f[2])
{
    char text[3][MT_HUMAN_MAX], when[2][MT_HUMAN_LONG];
    const char *unit = p->view->run.time_unit;
    int64_t change = mt_wrap_sub(f[1].level_b, f[0].level_b);
    free(p->report->title);
    p->report->title = mt_asprintf(
        "%s · %s · %s at %s -> %s at %s  (%s%s)", p->view->run.name, p->view->device.shown,
        mt_human_bytes(f[0].level_b, text[0]), mt_human_time(unit, f[0].t_ns, when[0]),
        mt_human_bytes(f[1].level_b, text[1]), mt_human_time(unit, f[1].t_ns, when[1]),
        change > 0 ? "+" : "", mt_human_bytes(change, text[2]));
    mt_report_total(p->report, "before_b", mt_cell_int(f[0].level_b));
    mt_report_total(p->report, "after_b", mt_cell_int(f[1].level_b));
    mt_report_total(p->report, "change_b", mt_cell_int(change));
}

/* Says of which moment the call paths are, where more or less was live at the one asked for. */
static void tell_held(struct mt_peak *p, const struct mt_peak_found *f)
{
    char a[MT_HUMAN_LONG], b[MT_HUMAN_LONG], level[MT_HUMAN_MAX], held[MT_HUMAN_MAX];
    const char *unit = p->view->run.time_unit;
    if (!p->moments.levels.all.n || f->whole_b == f->level_b)
        return;
    mt_report_note(p->report,
                   "What call paths held is known at moments: here at %s, when %s were live. At %s "
                   "it was %s.",
                   mt_human_time(unit, f->held_ns, b), mt_human_bytes(f->level_b, held),
                   mt_human_time(unit, f->whole_ns, a), mt_human_bytes(f->whole_b, level));
}

/* The peak of the whole run, of which no call paths are known. */
static void tell_unknown(struct mt_peak *p)
{
    const struct mt_run_device *d = &p->view->device;
    if (mt_device_has_events(d) || mt_device_knows(d, MT_KNOWS_AT_PEAK))
        return;
    mt_report_note(p->report, "What call paths held at the peak is not recorded%s",
                   mt_device_knows(d, MT_KNOWS_MOMENTS)
                       ? "; --at @peak shows the highest moment of which it is."
                       : ".");
}

/* Of a moment at which levels are not known. */
static enum mt_status unread_report(struct mt_peak *p, bool peak, struct mt_err *err)
{
    struct mt_buf title = {0};
    mt_buf_addf(&title, "%s · %s · %s", p->view->run.name, p->view->device.shown,
                peak ? "peak" : "live");
    add_window(&title);
    mt_buf_adds(&title, " unknown");
    p->report->title = title.s;
    p->report->empty = "unknown: the file ends before that";
    p->report->keep_order = true;
    mt_report_unanswered(p->report, "The file ends before that.",
                         "Ask for a moment that was read: `memtool info` says how far.");
    mt_report_columns(p->report, peak ? "at_peak_b at_peak_n" : "live_b live_n");
    mt_report_columns(p->report, "largest_b age_ns=OLDEST");
    key_columns(p->report);
    mt_report_total(p->report, peak ? "peak_b" : "live_b", (struct mt_cell){0});
    mt_report_total(p->report, "at_ns", (struct mt_cell){0});
    return mt_rows_apply(&rows, p->report, p->report->columns.v[0].name, err);
}

/* What was counted of a process at those moments. */
static void count_row(struct mt_report *r, const struct mt_process_counts *counts,
                      const struct mt_counted *c, const struct mt_peak_found *f, int n,
                      int64_t dur_ns)
{
    bool rss = strcmp(c->metric, mt_metric_names[MT_METRIC_RSS]) == 0;
    int64_t v[2] = {MT_UNKNOWN, MT_UNKNOWN};
    struct mt_cell *cells = mt_report_row(r)->cells;
    for (int i = 0; i < n; i++)
        v[i] = rss ? f[i].level_b
                   : mt_process_counted_at(counts, c,
                                           f[i].counted_ns == INT64_MAX
                                               ? mt_process_last(counts, dur_ns)
                                               : f[i].counted_ns);
    if (n == 2) {
        bool both = v[0] != MT_UNKNOWN && v[1] != MT_UNKNOWN;
        *cells++ = mt_cell_known(both ? mt_wrap_sub(v[1], v[0]) : MT_UNKNOWN);
    }
    for (int i = 0; i < n; i++)
        *cells++ = mt_cell_known(v[i]);
    *cells = mt_cell_text(mt_report_text(r, c->metric));
}

static enum mt_status process_report(struct mt_peak *p, const struct mt_peak_found *f, int n,
                                     struct mt_err *err)
{
    const struct mt_view *v = p->view;
    struct mt_process_counts counts;
    struct mt_report *r = p->report;
    enum mt_status st = mt_process_counts_load(v->db, &v->run, &v->device, &counts, err);
    mt_report_columns(r, n == 2 ? "change_b before_b after_b" : f->text ? "live_b" : "at_peak_b");
    mt_report_columns(r, "metric");
    r->keep_order = true;
    for (size_t i = 0; i < counts.all.n && st == MT_OK; i++)
        count_row(r, &counts, &counts.all.v[i], f, n, v->run.dur_ns);
    mt_process_counts_free(&counts);
    MT_TRY(st);
    if (n == 2)
        describe_change(p, f);
    else
        describe(p, f, &(struct mt_live_set){0});
    MT_TRY(mt_rows_apply(&rows, r, r->columns.v[0].name, err));
    mt_rows_footer(&rows, r, NULL, "");
    return MT_OK;
}

/* What is live in the words of who trains models: totals, and for people a line below the title. */
static void tell_categories(struct mt_peak *p, const struct mt_live_set *live,
                            const struct mt_peak_found *f)
{
    const struct mt_category_parts parts = mt_category_parts_of(&p->view->device, live, f->level_b);
    const struct mt_steps *steps = &p->view->blocks.steps;
    struct mt_buf line = {0};
    mt_category_totals(p->report, "", &parts);
    mt_category_line(&line, &parts);
    mt_category_add_earlier(&line, live,
                            steps->all.n ? mt_steps_number_at(steps, f->t_ns) : INT64_MIN);
    p->report->figure = mt_category_figure(&line);
}

static enum mt_status live_report(struct mt_peak *p, struct mt_err *err)
{
    struct mt_live_groups groups = {0};
    struct mt_peak_found f[2];
    char sum[MT_HUMAN_MAX];
    int n;
    enum mt_status st = MT_OK;
    MT_TRY(mt_peak_find(p, &(struct mt_peak_asked){from, to, step, &at}, f, &n, err));
    if (f[0].unread || (n == 2 && f[1].unread))
        return unread_report(p, n == 1 && !f[0].text, err);
    if (mt_device_is_process(&p->view->device))
        return process_report(p, f, n, err);
    mt_live_groups_init(&groups, &p->view->blocks, keys.v, keys.n);
    for (int i = 0; i < n; i++) {
        struct mt_live_set live = {0};
        st = mt_peak_live(p, &f[i], &live, err);
        mt_live_groups_add(&groups, &live, f[i].level_b, i);
        if (st == MT_OK && n == 1) {
            describe(p, &f[i], &live);
            tell_categories(p, &live, &f[i]);
        }
        mt_live_set_free(&live);
        if (st != MT_OK)
            goto out;
    }
    p->report->keep_order = true;
    if (n == 1)
        one_moment(p, &groups, &f[0]);
    else {
        two_moments(p, &groups);
        describe_change(p, f);
    }
    const struct mt_sort sort = {.column = p->report->columns.v[0].name, .by_size = true};
    mt_table_sort(p->report, &sort);
    MT_TRY_OUT(mt_rows_apply(&rows, p->report, sort.column, err));
    mt_human_bytes(n == 1 ? f[0].level_b : mt_wrap_sub(f[1].level_b, f[0].level_b), sum);
    bool peak = n == 1 && !f[0].text;
    mt_rows_footer(&rows, p->report,
                   mt_report_textf(p->report, "%s%s", peak ? "the peak, " : "", sum), "");
    for (int i = 0; i < n; i++)
        tell_held(p, &f[i]);
    if (n == 1 && !f[0].text && !p->moments.levels.all.n)
        tell_unknown(p);
out:
    mt_live_groups_free(&groups);
    return st;
}

static enum mt_status fill(struct mt_peak *p, struct mt_err *err)
{
    if (!per)
        return live_report(p, err);
    if (at.n || from || to || step || by) {
        MT_FAIL(err, MT_EUSAGE, "--per cannot be combined with --at, --from, --to, --step or --by");
        return MT_EUSAGE;
    }
    if (strcmp(per, "step") == 0)
        return mt_peak_per_step(p, &rows, err);
    if (strcmp(per, "name") == 0)
        return mt_peak_per_name(p, &rows, err);
    MT_FAIL(err, MT_EUSAGE, "unknown --per '%s'", per);
    mt_err_hint(err, "Values: step, name.");
    return MT_EUSAGE;
}

/* What must be known for all of --at, --from and --to: the peak and the end are no moments. */
static unsigned need_of_times(const struct mt_run_device *d)
{
    if (mt_device_is_process(d))
        return (from || to || step || at.n ? MT_KNOWS_LEVEL : 0) | (step ? MT_KNOWS_STEPS : 0);
    unsigned need = from || to ? MT_KNOWS_MOMENTS : step ? MT_KNOWS_STEPS : 0;
    unsigned at_peak = mt_device_knows(d, MT_KNOWS_MOMENTS) ? 0 : MT_KNOWS_AT_PEAK;
    for (size_t i = 0; i < at.n; i++)
        need |= strcmp(at.v[i], "@peak") == 0  ? MT_KNOWS_PEAK | at_peak
                : strcmp(at.v[i], "@end") == 0 ? MT_KNOWS_AT_END
                                               : MT_KNOWS_MOMENTS;
    return need;
}

static enum mt_status fail_process_steps(const struct mt_run *run, struct mt_err *err)
{
    struct mt_buf name = {0};
    mt_shell_word(&name, run->name);
    MT_FAIL(err, MT_EUSAGE, "run '%s' is of a process: it does not tell who allocated in a step",
            run->name);
    mt_err_cannot_tell(err);
    mt_err_hint(err, "`memtool memory %s --per step` has its figures of each step.", name.s);
    mt_buf_free(&name);
    return MT_EUSAGE;
}

/* Of runs of sums, what call paths held is known at moments. */
static enum mt_status check_known(const struct mt_peak *p, struct mt_err *err)
{
    unsigned need = need_of_times(&p->view->device);
    if (per && strcmp(per, "step") == 0 && !p->view->blocks.steps.all.n)
        return MT_OK; /* that there are none is said there */
    if (per && strcmp(per, "step") == 0 && mt_device_is_process(&p->view->device))
        return fail_process_steps(&p->view->run, err);
    if (mt_device_has_events(&p->view->device))
        return mt_by_known(&keys, p->view->db, &p->view->run, &p->view->device, err);
    if (mt_device_is_process(&p->view->device))
        need |= by || per ? MT_KNOWS_AT_PEAK : 0;
    else if (!by)
        MT_TRY(mt_by_parse(&mt_cmd_peak, NULL, "site", &keys, err));
    if (!mt_device_is_process(&p->view->device))
        MT_TRY(mt_by_known(&keys, p->view->db, &p->view->run, &p->view->device, err));
    if (mt_device_knows(&p->view->device, MT_KNOWS_MOMENTS))
        need &= ~(unsigned)MT_KNOWS_AT_END; /* the last moment is what is known of the end */
    MT_TRY(mt_knows(&p->view->run, &p->view->device, per ? MT_KNOWS_OPS : need, err));
    return at.n ? MT_OK : mt_knows(&p->view->run, &p->view->device, MT_KNOWS_PEAK, err);
}

static enum mt_status show(struct mt_view *v, struct mt_report *r, struct mt_err *err)
{
    struct mt_peak p = {.view = v, .report = r};
    enum mt_status st = MT_OK;
    mt_view_about(v, r,
                  MT_ABOUT_LEVELS | MT_ABOUT_SITES | MT_ABOUT_TIMES | mt_by_about(&keys) |
                      (step || per ? MT_ABOUT_STEPS : 0));
    if (!v->has_device) {
        mt_report_no_memory(r, &v->run);
        return mt_show(r, err);
    }
    MT_TRY(check_known(&p, err));
    MT_TRY(mt_by_note_lines(&keys, v->db, &v->run, r, err));
    MT_TRY_OUT(mt_view_note_steps(v, step, r, err));
    MT_TRY_OUT(mt_view_known_until(v, &p.known_until_ns, err));
    MT_TRY_OUT(fill(&p, err));
    if (p.asks_unread || (per && strcmp(per, "step") == 0))
        mt_report_unread(r, &v->run, p.known_until_ns);
    mt_report_older(r, &v->run, &v->device);
    mt_report_others(r, v->other_n);
    st = mt_show(r, err);
out:
    mt_levels_free(&p.levels);
    mt_moments_free(&p.moments);
    return st;
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    const struct mt_view_wanted wanted = {MT_VIEW_DEVICE | MT_VIEW_BLOCKS, device_name, 0,
                                          category};
    MT_TRY(mt_categories_file(categories, &by, err));
    enum mt_status st = mt_by_parse(&mt_cmd_peak, by, "site,phase", &keys, err);
    if (st == MT_OK)
        st = mt_report_on_group(args, job, &wanted, "memtool.peak", show, err);
    free(at.v);
    return st;
}

static const struct mt_opt opts[] = {
    {"at", 0, MT_OPT_LIST, &at, "TIME",
     "what is live at that time (see Times); twice: what changed in between"},
    {"from", 0, MT_OPT_STRING, &from, "TIME", "the peak from this time on"},
    {"to", 0, MT_OPT_STRING, &to, "TIME", "the peak before this time"},
    {"step", 0, MT_OPT_STRING, &step, "A..B", "the peak within these steps"},
    {"per", 0, MT_OPT_STRING, &per, "WHAT",
     "step: start, peak and end of every step; name: how far usage rises while each op runs"},
    {"by", 0, MT_OPT_STRING, &by, "KEYS",
     "group by one or more of the words below (default: site,phase)"},
    MT_CATEGORIES_OPT(categories),
    MT_CATEGORY_OPT(category),
    MT_GROUP_OPT(job),
    MT_DEVICE_OPT(device_name),
    MT_ROWS_OPTS(rows, "in the first column (--per step: in PEAK)", "20"),
    {0},
};

static const struct mt_glossary_entry columns_per[] = {
    {"WORKSPACE", "highest usage while the op runs, minus usage at its start"},
    {"KEPT", "usage at the end of that call, minus usage at its start"},
    {0}};
static const struct mt_glossary_entry others[] = {
    {"other, below the title",
     "inputs, temporary blocks, details of autograd, and what is unknown (--category other)"},
    {"other, as a phase",
     "work outside of forward, backward, optimizers and data loading: making tensors, metrics"},
    {0}};
static const struct mt_glossary words[] = {{"Two kinds of other", others, NULL},
                                           MT_WORDS_OF_MOMENTS,
                                           MT_WORDS_OF_BY(mt_by_of_blocks),
                                           {"Columns of --per name", columns_per, NULL},
                                           {0}};

static const struct mt_values values[] = {
    {"per", "step name", NULL}, {"category", mt_category_words, NULL}, {0}};

const struct mt_cmd mt_cmd_peak = {
    .name = "peak",
    .summary = "when memory peaked and what was alive then, or at any other time",
    .usage = "[options] [RUN]",
    .examples = "  memtool peak base\n"
                "  memtool peak base --step 2 --by path\n"
                "  memtool peak base --per step\n"
                "  memtool peak --group job42\n"
                "  memtool peak base --at '@step 1' --at @end\n",
    .opts = opts,
    .values = values,
    .words = words,
    .args_max = 1,
    .run = run,
};
