/* memtool peak --per step and --per name. */
#include "cmd/common.h"
#include "cmd/peak.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/render/columns.h"
#include "lib/render/table.h"
#include "lib/usage/op_peak.h"
#include "lib/usage/step_growth.h"
#include <stdlib.h>

/* Of a file that ends early: a step that begins behind the last record read is not known, nor what
 * follows that record in the step that it is in. */
static void hide_unread(const struct mt_peak *p, const struct mt_step *st, struct mt_row *row)
{
    static const char *const later[] = {"end_b", "change_b", "grew_b", "site"};
    static const char *const whole[] = {"start_b", "peak_b", "peak_ns"};
    bool behind = st->start_ns > p->known_until_ns;
    for (size_t i = 0; i < MT_ARRAY_LEN(later) && (behind || st->end_ns > p->known_until_ns); i++)
        row->cells[mt_report_find_column(p->report, later[i])] = (struct mt_cell){0};
    for (size_t i = 0; i < MT_ARRAY_LEN(whole) && behind; i++)
        row->cells[mt_report_find_column(p->report, whole[i])] = (struct mt_cell){0};
}

static void add_step(struct mt_peak *p, uint32_t step, const struct mt_step_growth *most)
{
    const struct mt_levels *levels = &p->levels;
    const struct mt_step *st = &p->view->blocks.steps.all.v[step];
    int64_t first = mt_levels_before(levels, st->start_ns),
            last = mt_levels_before(levels, mt_steps_until(&p->view->blocks.steps, step));
    int64_t peak = mt_levels_peak(levels, first, last);
    /* what it starts with was reached before */
    int64_t peak_ns = peak > first ? mt_levels_time(levels, peak, 0) : st->start_ns;
    struct mt_row *row = mt_report_row(p->report);
    int64_t start_b = mt_levels_value(levels, first), end_b = mt_levels_value(levels, last);
    int c = 0;
    row->cells[c++] = mt_cell_int(st->number);
    row->cells[c++] = mt_cell_int(start_b);
    row->cells[c++] = mt_cell_int(mt_levels_value(levels, peak));
    row->cells[c++] = mt_cell_int(end_b);
    row->cells[c++] = mt_cell_int(mt_wrap_sub(end_b, start_b));
    row->cells[c++] = mt_cell_int(peak_ns);
    row->cells[c++] = mt_cell_int(st->start_ns);
    row->cells[c++] = mt_cell_int(st->end_ns);
    row->cells[c++] = most->site ? mt_cell_int(most->bytes) : (struct mt_cell){0};
    row->cells[c++] = mt_cell_text(mt_report_text(p->report, most->site));
    hide_unread(p, st, row);
}

/* The levels at the ends of the steps, and what is highest in between. */
static enum mt_status load_levels(struct mt_peak *p, struct mt_err *err)
{
    size_t n = p->view->blocks.steps.all.n;
    int64_t *moments = mt_alloc((2 * n + 1) * sizeof *moments);
    for (size_t i = 0; i < n; i++) {
        moments[2 * i] = p->view->blocks.steps.all.v[i].start_ns;
        moments[2 * i + 1] = p->view->blocks.steps.all.v[i].end_ns;
    }
    enum mt_status st = mt_levels_load_near(p->view->db, &p->view->run, &p->view->device, moments,
                                            2 * n, &p->levels, err);
    free(moments);
    return st;
}

static void step_columns(struct mt_report *r)
{
    mt_report_columns(r, "step start_b peak_b end_b change_b peak_ns -start_ns -end_ns grew_b "
                         "site=ALLOCATED_IN");
}

static enum mt_status steps_missing(const struct mt_peak *p, struct mt_err *err)
{
    MT_FAIL(err, MT_EUSAGE, "run '%s' has no steps", p->view->run.name);
    mt_err_cannot_tell(err);
    mt_err_hint(err, "%s", mt_run_how_to_mark(&p->view->run));
    return MT_EUSAGE;
}

enum mt_status mt_peak_per_step(struct mt_peak *p, const struct mt_rows *rows, struct mt_err *err)
{
    char peak[MT_HUMAN_LONG], steps[MT_HUMAN_LONG];
    struct mt_step_growth *most = NULL;
    if (!p->view->blocks.steps.all.n)
        return steps_missing(p, err);
    enum mt_status st = MT_OK;
    MT_TRY_OUT(load_levels(p, err));
    MT_TRY_OUT(mt_step_growths_load(&p->view->blocks, &p->view->device, &most, err));
    step_columns(p->report);
    for (uint32_t i = 0; i < p->view->blocks.steps.all.n; i++)
        add_step(p, i, &most[i]);
    p->report->keep_order = true;
    p->report->title =
        mt_asprintf("%s · %s · %s (%s) · peak %s", p->view->run.name, p->view->device.shown,
                    mt_human_plural((int64_t)p->view->blocks.steps.all.n, "step", steps),
                    p->view->run.step_marker, mt_peak_words(&p->view->device, peak));
    int64_t peak_b = p->view->device.peak_b;
    mt_report_total(p->report, "peak_b", mt_cell_known(peak_b));
    mt_report_total(p->report, "step_n", mt_cell_int((int64_t)p->view->blocks.steps.all.n));
    MT_TRY_OUT(mt_rows_apply(rows, p->report, "peak_b", err));
    mt_rows_footer(rows, p->report, NULL, "");
out:
    free(most);
    return st;
}

/* The largest rise among the nodes of one name. */
static void add_name(struct mt_peak *p, const struct mt_group *group, const struct mt_op_peak *best)
{
    struct mt_row *row = mt_report_row(p->report);
    int c = 0;
    row->cells[c++] = mt_cell_int(best->rise_b);
    row->cells[c++] = mt_cell_int(best->kept_b);
    row->cells[c++] = mt_cell_int(best->t_ns);
    row->cells[c++] = mt_cell_int(group->calls_n);
    row->cells[c++] = mt_cell_text(mt_report_text(p->report, group->key[0]));
}

enum mt_status mt_peak_per_name(struct mt_peak *p, const struct mt_rows *rows, struct mt_err *err)
{
    const enum mt_group_key name = MT_BY_NAME;
    struct mt_tree tree = {0};
    struct mt_groups groups = {0};
    struct mt_op_peak *rises = NULL, *best = NULL;
    enum mt_status st = MT_OK;
    MT_TRY_OUT(mt_load_rollup(p->view->db, &p->view->run, NULL, &tree, err));
    MT_TRY_OUT(mt_op_peaks_load(p->view->db, &p->view->run, &p->view->device, &p->view->blocks.tree,
                                &rises, err));
    mt_group(&tree, &name, 1, &groups);
    best = mt_alloc((groups.rows.n + 1) * sizeof *best);
    for (size_t i = 0; i < tree.items.n; i++)
        if (rises[tree.items.v[i].node].rise_b > best[tree.items.v[i].group].rise_b)
            best[tree.items.v[i].group] = rises[tree.items.v[i].node];
    mt_report_columns(p->report, "rise_b kept_b at_ns calls_n name");
    p->report->columns.v[p->report->columns.n - 1].text = MT_TEXT_OPS;
    for (size_t i = 0; i < groups.rows.n; i++)
        if (best[i].rise_b > 0)
            add_name(p, &groups.rows.v[i], &best[i]);
    p->report->title = mt_asprintf("%s · %s · largest rise in usage while each op ran",
                                   p->view->run.name, p->view->device.shown);
    const struct mt_sort sort = {.column = "rise_b", .by_size = true};
    if (!p->report->rows.n && mt_run_is_snapshot(&p->view->run))
        mt_report_cannot_tell(p->report, "Allocator snapshots have no operators.",
                              "`memtool peak --by site` shows what held memory.");
    mt_table_sort(p->report, &sort);
    MT_TRY_OUT(mt_rows_apply(rows, p->report, "rise_b", err));
    mt_rows_footer(rows, p->report, NULL, "");
out:
    free(rises);
    free(best);
    mt_groups_free(&groups);
    mt_tree_free(&tree);
    return st;
}
