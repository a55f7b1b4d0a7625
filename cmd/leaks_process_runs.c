/* memtool leaks of several recordings of processes: repeats of a program, side by side. */
#include "cmd/common.h"
#include "cmd/leaks.h"
#include "lib/analysis/growth.h"
#include "lib/base/human.h"
#include "lib/render/columns.h"
#include "lib/render/run_notes.h"
#include "lib/usage/process.h"
#include <stdlib.h>
#include <string.h>

/* In the order of add_columns. */
enum column { RUN, DEVICE, VERDICT, PER_STEP, PER_MINUTE, PER_EVENT, AT_LEAST, AT_MOST, BY, PEAK };

struct side {
    const struct mt_leaks_wanted *wanted;
    struct mt_report *r;
    bool has_unit[MT_PER_EVENT + 1];
    int64_t leaking_n, unknown_n, run_n;
    int64_t others_n; /* of those that leak: the command is not what grows */
};

static void add_columns(struct mt_report *r)
{
    r->keep_order = true;
    mt_report_columns(r, "run device verdict per_step_b per_minute_b per_event_b rate_least_b "
                         "rate_most_b by_b peak_b");
    r->columns.v[PER_STEP].unit = MT_UNIT_CHANGE;
    r->columns.v[VERDICT].whole = true;
}

static enum mt_status add_row(struct side *s, const struct mt_view *v,
                              const struct mt_run_device *device, const struct mt_growth_process *p,
                              struct mt_err *err)
{
    struct mt_growth_causes causes;
    MT_TRY(mt_growth_causes_load(v->db, &v->run, device, p, &causes, err));
    struct mt_row *row = mt_report_row(s->r);
    const char *cause = mt_growth_cause_names[causes.most];
    row->cells[RUN] = mt_cell_text(mt_report_text(s->r, v->run.name));
    row->cells[DEVICE] = mt_cell_text(mt_report_text(s->r, device->name));
    row->cells[VERDICT] = mt_cell_text(cause ? cause : mt_growth_names[p->growth.verdict]);
    s->has_unit[p->growth.unit] = true;
    if (p->growth.known)
        mt_leaks_rates(&row->cells[PER_STEP], &p->growth, p->wanted.timed);
    if (device->peak_b != MT_UNKNOWN)
        row->cells[PEAK] = mt_cell_int(device->peak_b);
    return MT_OK;
}

/* Says so once of all runs. */
static void say_lack(struct mt_report *r, const char *lack)
{
    for (size_t i = 0; i < r->notes.n; i++)
        if (strcmp(r->notes.v[i], lack) == 0)
            return;
    mt_report_note(r, "%s", lack);
}

/* One process of a run: a row for the one asked about, and for others that grow. */
static enum mt_status add_process(struct side *s, struct mt_view *v,
                                  const struct mt_run_device *device, bool asked,
                                  struct mt_leaks_answer *answer, struct mt_err *err)
{
    struct mt_growth_process p;
    struct mt_leaks_answer one = {0};
    MT_TRY(
        mt_growth_load(v->db, &v->run, device, &v->blocks.steps, s->wanted->warmup, &p, NULL, err));
    mt_leaks_judge(&p, asked, s->wanted->min_b, &one);
    mt_leaks_answer_add(answer, &one);
    const char *lack = asked ? mt_leaks_lack(device, &p) : NULL;
    if (lack)
        say_lack(s->r, lack);
    return asked || one.leaking ? add_row(s, v, device, &p, err) : MT_OK;
}

/* What the run says by itself: the process asked about, and unless that was chosen, all others. */
static enum mt_status add_processes(struct side *s, struct mt_view *v, struct mt_err *err)
{
    struct mt_run_device *all = NULL;
    size_t n = 0;
    struct mt_leaks_answer first = {0}, answer;
    enum mt_status st = MT_OK;
    MT_TRY_OUT(add_process(s, v, &v->device, true, &first, err));
    answer = first;
    if (!s->wanted->device)
        MT_TRY_OUT(mt_run_devices(v->db, &v->run, &all, &n, err));
    for (size_t i = 0; i < n; i++)
        if (mt_leaks_is_other(&all[i], &v->device))
            MT_TRY_OUT(add_process(s, v, &all[i], false, &answer, err));
    s->leaking_n += answer.leaking;
    s->others_n += answer.leaking && !first.leaking;
    s->unknown_n += !answer.leaking && answer.unknown;
    s->run_n++;
out:
    free(all);
    return st;
}

static enum mt_status add_run(struct side *s, size_t i, size_t n, const char *ref,
                              struct mt_err *err)
{
    const struct mt_view_wanted wanted = {MT_VIEW_DEVICE | MT_VIEW_BLOCKS, s->wanted->device, 0,
                                          NULL};
    struct mt_view v;
    enum mt_status st = MT_OK;
    MT_TRY_OUT(mt_view_open(&v, ref, &wanted, err));
    if (v.run.kind != MT_RUN_PROCESS || !v.has_device) {
        MT_FAIL(err, MT_EUSAGE, "run '%s' does not say what a process had in memory", v.run.name);
        mt_err_cannot_tell(err);
        mt_err_hint(err, "The runs before it do. What they have is no sum of blocks, and does not "
                         "compare.");
        st = err->code;
        goto out;
    }
    if (i == 0 || i == n - 1)
        mt_report_run(s->r, i > 0, v.run.id, v.run.name, v.run.time_unit);
    mt_notes_of_run(s->r, v.run.name, &v.run.notes, MT_LEAKS_ABOUT);
    MT_TRY_OUT(mt_leaks_first_process(&v, s->wanted->device, s->wanted->warmup, &v.device, err));
    st = add_processes(s, &v, err);
out:
    mt_view_close(&v);
    return st;
}

/* "grows in all 3 runs", "grows in 2 of 3 runs, and 1 cannot tell" */
static void describe(const struct side *s)
{
    struct mt_report *r = s->r;
    char runs[MT_HUMAN_LONG], n[MT_HUMAN_MAX];
    const char *who = s->others_n && s->others_n == s->leaking_n ? "rss of a child" : "rss";
    struct mt_buf title = {0};
    mt_human_plural(s->run_n, "run", runs);
    mt_buf_addf(&title, "%s of processes · ", runs);
    if (s->leaking_n == s->run_n)
        mt_buf_addf(&title, "%s grows in all of them", who);
    else if (s->leaking_n)
        mt_buf_addf(&title, "%s grows in %s of them", who, mt_human_count(s->leaking_n, n));
    else
        mt_buf_adds(&title, s->unknown_n ? "rss is not seen to grow" : "rss grows in none");
    if (s->unknown_n)
        mt_buf_addf(&title, ", %s cannot tell", mt_human_count(s->unknown_n, n));
    r->title = title.s;
    if (s->leaking_n && s->leaking_n < s->run_n)
        mt_report_note(r, "The runs do not agree, which is no answer: record longer. memtool leaks "
                          "of each says more.");
}

/* Whether the first of the runs is one of processes. Errors: those of mt_open_run. */
static enum mt_status is_process(const char *ref, bool *is, struct mt_err *err)
{
    struct mt_db *db = NULL;
    struct mt_run run;
    enum mt_status st = mt_open_run(ref, &db, &run, err);
    *is = st == MT_OK && run.kind == MT_RUN_PROCESS;
    mt_db_close(db);
    return st;
}

enum mt_status mt_leaks_of_process_runs(const struct mt_args *refs,
                                        const struct mt_leaks_wanted *wanted, struct mt_report *r,
                                        struct mt_leaks_answer *answer, bool *are,
                                        struct mt_err *err)
{
    struct side s = {.wanted = wanted, .r = r};
    MT_TRY(is_process(refs->v[0], are, err));
    if (!*are)
        return MT_OK;
    add_columns(r);
    for (size_t i = 0; i < refs->n; i++)
        MT_TRY(add_run(&s, i, refs->n, refs->v[i], err));
    describe(&s);
    answer->leaking = s.leaking_n == s.run_n;
    answer->unknown = !answer->leaking && (s.leaking_n || s.unknown_n);
    for (int i = 0; i <= MT_PER_EVENT; i++)
        r->columns.v[PER_STEP + i].hidden = !s.has_unit[i];
    mt_report_hide_empty(r);
    MT_TRY(mt_rows_apply(wanted->rows, r, "by_b", err));
    mt_rows_footer(wanted->rows, r, NULL, "");
    return MT_OK;
}
