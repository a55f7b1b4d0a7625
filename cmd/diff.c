/* memtool diff: what changed from one run to another. */
#include "lib/analysis/diff.h"
#include "cmd/by.h"
#include "cmd/categories_file.h"
#include "cmd/common.h"
#include "cmd/diff.h"
#include "cmd/view.h"
#include "lib/model/process.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *by, *categories, *category, *device_name, *sections, *threshold;
static struct mt_strings groups;
static int64_t warmup = 1;
static bool per_step, all, exit_code_wanted, strict;
static struct mt_rows rows = MT_ROWS(10);

/* What is compared: blocks by where they were allocated, ops by their name; --by is for both. */
struct comparison {
    const char *devices[2]; /* that are compared; NULL: the one of BASE with most bytes allocated */
    char shared[32];        /* of those that both have, if NEW lacks that one */
    struct mt_view view[2];
    struct mt_diff live, op;
    int other_n;   /* further devices of the run that has more of them */
    bool lines[2]; /* whether sites of the runs are lines of the user's code */
};

static void add_hint(struct mt_err *err, const char *more)
{
    size_t n = strlen(err->hint);
    snprintf(err->hint + n, sizeof err->hint - n, "%s", more);
}

/* device: of the run before, NULL = this is the first, and chooses; so does the other one where
 * that is a child, which is no other run's. What is named comes before both. */
static enum mt_status open_side(struct mt_view *v, const char *ref, const char *named,
                                const char *device, struct mt_diff_side *out, struct mt_err *err)
{
    const char *same = device && !mt_process_is_child(device) ? device : NULL;
    const struct mt_view_wanted wanted = {MT_VIEW_DEVICE, named ? named : same, 0, category};
    enum mt_status st = mt_view_open(v, ref, &wanted, err);
    bool none;
    if (st == MT_OK && !wanted.device && mt_process_is_child(v->device.name))
        st = mt_run_device(v->db, &v->run, "process", &v->device, &none, &v->other_n, err);
    if (st == MT_OK && named && same)
        st = mt_run_device_like(v->db, &v->run, named, same, &v->device, &none, &v->other_n, err);
    if (st == MT_OK && named && same)
        st = mt_narrow_device(v->db, &v->run, &v->narrow, &v->device, err);
    out->db = v->db;
    out->run = v->run;
    out->device = v->device;
    if (st == MT_EUSAGE && v->run.id && device && !named) {
        mt_err_cannot_tell(err);
        if (v->other_n >= 0) /* it has others */
            add_hint(err, " --device names one that all runs have.");
    }
    if (v->has_device || st != MT_OK)
        return st;
    return mt_fail_no_memory(&v->run, "", err);
}

/* The device compared and, where no other is named, all others of both runs; or of the kind. */
static enum mt_status judge_runs(const struct comparison *c, struct mt_report *r,
                                 enum mt_diff_answer *answer, struct mt_err *err)
{
    struct mt_diff_threshold t;
    MT_TRY(mt_diff_threshold(threshold, &t, err));
    if (mt_run_same(&c->live.side[0].run, &c->live.side[1].run)) { /* under whatever name */
        mt_report_note(
            r, "From a %s to itself nothing can get worse: name one to compare it with as BASE.",
            mt_diff_is_one(&c->live) ? "run" : "recording");
        *answer = MT_DIFF_OPEN;
        return MT_OK;
    }
    MT_TRY(mt_diff_tell(&c->live, &t, device_name, warmup, r, answer, err));
    if (mt_diff_of_processes(&c->live))
        MT_TRY(mt_diff_tell_processes(&c->live, &t, warmup, r, answer, err));
    return MT_OK;
}

/* Blocks have no forward op: by that, operators are all there is to compare. */
static enum mt_status choose_keys(struct comparison *c, struct mt_diff_wanted *w,
                                  struct mt_err *err)
{
    struct mt_by live, op;
    MT_TRY(mt_categories_file(categories, &by, err));
    MT_TRY(mt_by_parse(&mt_cmd_diff, by, "name", &op, err));
    bool forward = false;
    for (int k = 0; k < op.n; k++)
        forward |= op.v[k] == MT_BY_FORWARD;
    if (forward && !sections)
        w->section[MT_SECTION_PEAK] = w->section[MT_SECTION_LEAK] = false;
    bool blocks = w->section[MT_SECTION_PEAK] || w->section[MT_SECTION_LEAK] ||
                  (sections && w->section[MT_SECTION_END]);
    if (forward && blocks) {
        MT_FAIL(err, MT_EUSAGE, "--by forward does not apply to the sections peak and leak");
        mt_err_hint(err, "Blocks have no forward op. Add --section total,op.");
        return MT_EUSAGE;
    }
    MT_TRY(mt_by_parse(&mt_cmd_diff, forward ? NULL : by, "site", &live, err));
    c->live.strict = c->op.strict = strict;
    c->live.key_n = live.n;
    c->op.key_n = op.n;
    memcpy(c->live.keys, live.v, sizeof live.v);
    memcpy(c->op.keys, op.v, sizeof op.v);
    return MT_OK;
}

static enum mt_status check_options(const struct mt_args *args, struct comparison *c,
                                    struct mt_diff_wanted *w, struct mt_err *err)
{
    struct mt_diff_threshold unused;
    MT_TRY(mt_diff_threshold(threshold, &unused, err));
    *w = (struct mt_diff_wanted){.per_step = per_step,
                                 .people = mt_people_read(),
                                 .all = all,
                                 .whole_rows = groups.n > 0 || mt_show_is_taken(),
                                 .warmup = warmup,
                                 .rows = &rows};
    MT_TRY(mt_diff_sections(sections, w, err));
    MT_TRY(choose_keys(c, w, err));
    if (threshold && !exit_code_wanted) {
        MT_FAIL(err, MT_EUSAGE, "--threshold needs --exit-code");
        mt_err_hint(err, "Nothing was compared. --min hides small changes.");
        return MT_EUSAGE;
    }
    if (args->n >= 2)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "diff needs two runs: BASE and NEW");
    mt_err_hint(err, "`memtool diff @latest~1 @latest` compares the last two imported.");
    return MT_EUSAGE;
}

static enum mt_status steps_known(const struct mt_diff_side *s, struct mt_err *err)
{
    if (s->step_n)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "--per-step: run '%s' has no steps", s->run.name);
    mt_err_cannot_tell(err);
    mt_err_hint(err, "%s", mt_run_how_to_mark(&s->run));
    return MT_EUSAGE;
}

/* With more than two runs: all of them, one row each. */
static enum mt_status trend(const struct mt_args *args, const struct comparison *c,
                            struct mt_diff_wanted *w, struct mt_err *err)
{
    char device[sizeof c->live.side[0].device.name];
    for (size_t i = 0; args->n > 2 && i < args->n; i++) {
        struct mt_view view;
        struct mt_diff one = {.key_n = c->live.key_n};
        struct mt_diff_trend row = {.name = {0}};
        memcpy(one.keys, c->live.keys, sizeof one.keys);
        enum mt_status st =
            open_side(&view, args->v[i], device_name, i ? device : NULL, &one.side[0], err);
        if (st == MT_OK)
            st = mt_diff_load(&one, 0, MT_DIFF_LIVES, warmup, err);
        snprintf(row.name, sizeof row.name, "%s", one.side[0].run.name);
        memcpy(device, one.side[0].device.name, sizeof device);
        row.step_n = one.side[0].step_n;
        row.whole = one.side[0].whole;
        row.counts_older = one.side[0].device.older_from[0] != '\0';
        row.leaves_out = one.side[0].device.older_used != 0;
        if (st == MT_OK && per_step)
            st = steps_known(&one.side[0], err);
        mt_figures_per_step(&row.whole, per_step ? row.step_n : 0);
        *mt_vec_push(&w->trend) = row;
        mt_diff_free(&one);
        mt_view_close(&view);
        MT_TRY(st);
    }
    return MT_OK;
}

static enum mt_status keys_known(const struct mt_by *keys, const struct mt_diff_side *s,
                                 struct mt_err *err)
{
    return mt_by_known(keys, s->db, &s->run, &s->device, err);
}

/* Whether both runs can be grouped by the keys of --by. A label is enough in one of them. */
static enum mt_status check_known(const struct comparison *c, struct mt_err *err)
{
    struct mt_by keys = {.n = c->op.key_n};
    struct mt_err ignored = MT_ERR_INIT;
    memcpy(keys.v, c->op.keys, sizeof c->op.keys);
    const struct mt_by any_label = mt_by_any_label(&keys);
    for (int s = 0; s < 2; s++)
        MT_TRY(keys_known(&any_label, &c->live.side[s], err));
    return keys_known(&keys, &c->live.side[0], &ignored) == MT_OK
               ? MT_OK
               : keys_known(&keys, &c->live.side[1], err);
}

/* Sites of both runs must be of one kind: lines, told apart by their top ops, too, or top ops. */
static enum mt_status settle_sites(struct comparison *c, struct mt_err *err)
{
    for (int s = 0; s < 2; s++)
        MT_TRY(mt_run_has_lines(c->live.side[s].db, &c->live.side[s].run, &c->lines[s], err));
    if (by || (!c->lines[0] && !c->lines[1]))
        return MT_OK;
    bool both = c->lines[0] && c->lines[1];
    c->live.keys[0] = both ? MT_BY_SITE : MT_BY_TOP;
    c->live.keys[1] = both ? MT_BY_TOP : MT_BY_SCOPE;
    c->live.key_n = 2;
    return MT_OK;
}

static enum mt_status load_sides(struct comparison *c, struct mt_err *err)
{
    for (int s = 0; s < 2; s++) {
        MT_TRY(mt_diff_load(&c->live, s, MT_DIFF_LIVES, warmup, err));
        c->op.side[s].lives = c->live.side[s].lives;
        MT_TRY(mt_diff_load(&c->op, s, MT_DIFF_OPS, warmup, err));
    }
    mt_diff_loaded(&c->live, 1);
    return MT_OK;
}

static enum mt_status open_devices(const char *const refs[2], struct comparison *c,
                                   struct mt_err *err)
{
    for (int s = 0; s < 2; s++) {
        struct mt_diff_side *from = &c->live.side[s], *to = &c->op.side[s];
        struct mt_view *view = &c->view[s];
        MT_TRY(
            open_side(view, refs[s], c->devices[s], s ? c->view[0].device.name : NULL, from, err));
        c->other_n = view->other_n > c->other_n ? view->other_n : c->other_n;
        to->db = from->db;
        to->run = from->run;
        to->device = from->device;
    }
    return MT_OK;
}

/* Of the devices of BASE that NEW has, too, that with most bytes allocated; "": none. */
static enum mt_status find_shared(struct comparison *c, struct mt_err *err)
{
    struct mt_run_device *of[2] = {NULL, NULL};
    size_t n[2] = {0, 0};
    enum mt_status st = MT_OK;
    for (int s = 0; s < 2 && st == MT_OK; s++)
        st = mt_run_devices(c->view[s].db, &c->view[s].run, &of[s], &n[s], err);
    for (size_t i = 0; i < n[0] && st == MT_OK && !c->shared[0]; i++)
        for (size_t k = 0; k < n[1]; k++)
            if (strcmp(of[0][i].name, of[1][k].name) == 0 && !mt_process_is_device(of[0][i].name))
                snprintf(c->shared, sizeof c->shared, "%s", of[0][i].name);
    free(of[0]);
    free(of[1]);
    return st;
}

/* A device that NEW lacks is no answer, but another one may have got worse. */
static enum mt_status open_sides(const char *const refs[2], struct comparison *c,
                                 struct mt_err *err)
{
    struct mt_err unused = MT_ERR_INIT;
    enum mt_status st = open_devices(refs, c, err);
    bool lacks = st == MT_EUSAGE && err->cannot_tell && !c->devices[0] && c->view[1].run.id;
    if (exit_code_wanted && lacks && find_shared(c, &unused) == MT_OK && c->shared[0]) {
        for (int s = 0; s < 2; s++) {
            mt_view_close(&c->view[s]);
            c->view[s] = (struct mt_view){0};
        }
        *err = unused;
        c->devices[0] = c->devices[1] = c->shared;
        st = open_devices(refs, c, err);
    }
    MT_TRY(st);
    MT_TRY(check_known(c, err));
    return settle_sites(c, err);
}

static void close_sides(struct comparison *c)
{
    mt_diff_free(&c->op); /* what it was lent goes last */
    mt_diff_free(&c->live);
    for (int s = 0; s < 2; s++)
        mt_view_close(&c->view[s]);
}

static enum mt_status compare(const struct mt_args *args, struct comparison *c, struct mt_err *err)
{
    const char *const refs[] = {args->v[0], args->v[args->n - 1]};
    MT_TRY(open_sides(refs, c, err));
    MT_TRY(load_sides(c, err));
    mt_diff_compare(&c->live);
    mt_diff_compare(&c->op);
    if (!per_step)
        return MT_OK;
    for (int s = 0; s < 2; s++)
        MT_TRY(steps_known(&c->live.side[s], err));
    mt_diff_per_step(&c->live);
    mt_diff_per_step(&c->op);
    return MT_OK;
}

/* closure: a comparison whose keys are chosen, and nothing else is. */
static enum mt_status judge_pair(void *closure, const struct mt_diff_pair_of_ranks *pair,
                                 struct mt_report *notes, enum mt_diff_answer *answer,
                                 struct mt_err *err)
{
    const char *const refs[] = {pair->side[0]->name, pair->side[1]->name};
    struct comparison c = *(const struct comparison *)closure;
    for (int s = 0; s < 2; s++)
        c.devices[s] = pair->side[s]->device->name;
    enum mt_status st = open_sides(refs, &c, err);
    for (int s = 0; s < 2 && st == MT_OK; s++)
        st = mt_diff_load(&c.live, s, MT_DIFF_LIVES, warmup, err);
    if (st == MT_OK)
        st = judge_runs(&c, notes, answer, err);
    close_sides(&c);
    return st;
}

static enum mt_status judge(const struct comparison *c, struct comparison *chosen,
                            struct mt_diff_groups *g, struct mt_report *r, int *exit_code,
                            struct mt_err *err)
{
    enum mt_diff_answer answer;
    if (groups.n)
        MT_TRY(mt_diff_groups_judge(g, judge_pair, chosen, r, &answer, err));
    else
        MT_TRY(judge_runs(c, r, &answer, err));
    if (answer == MT_DIFF_OPEN)
        mt_report_unanswered(r,
                             groups.n ? "Whether the new group got worse cannot be told."
                                      : "Whether the new run got worse cannot be told.",
                             "The notes say of what, and why.");
    *exit_code = answer == MT_DIFF_WORSE ? 1 : answer == MT_DIFF_OPEN ? 3 : 0;
    return MT_OK;
}

/* What is alive at the end is told by the growth of runs with steps; of others it has a section. */
static bool shows_end(const struct comparison *c)
{
    bool shows = true;
    for (int s = 0; s < 2; s++) {
        const struct mt_run_device *d = &c->live.side[s].device;
        shows &= !mt_device_has_events(d) && mt_device_knows(d, MT_KNOWS_AT_END);
    }
    return shows;
}

/* With --group: the runs compared in detail are those of the rank whose peak grew most. */
static enum mt_status choose_rank(struct mt_diff_groups *g, struct mt_args *args,
                                  const char *devices[2], struct mt_err *err)
{
    devices[0] = devices[1] = device_name;
    if (!groups.n)
        return MT_OK;
    if (groups.n != 2 || args->n) {
        MT_FAIL(err, MT_EUSAGE, "diff takes two groups, or runs");
        mt_err_hint(err, "`memtool diff --group BASE --group NEW` compares them rank by rank.");
        return MT_EUSAGE;
    }
    MT_TRY(mt_diff_groups_load(g, &groups, device_name, category, exit_code_wanted, err));
    *args = (struct mt_args){.v = g->runs, .n = 2};
    memcpy(devices, g->devices, sizeof g->devices);
    return MT_OK;
}

/* The ranks of groups first. */
static enum mt_status show(struct mt_diff_groups *g, struct mt_diff_reports *reports,
                           struct mt_err *err)
{
    if (!groups.n)
        return mt_show_all((const struct mt_report *const *)reports->v, reports->n, err);
    MT_TRY(mt_diff_groups_report(g, &rows, reports, err));
    const bool people = mt_people_read();
    const struct mt_report **shown = mt_alloc((reports->n + 1) * sizeof *shown);
    shown[0] = &g->report;
    for (size_t i = 0; i < reports->n; i++)
        shown[i + people] = reports->v[i];
    enum mt_status st = mt_show_all(shown, reports->n + people, err);
    free(shown);
    return st;
}

static enum mt_status run(const struct mt_args *given, int *exit_code, struct mt_err *err)
{
    struct mt_args runs = *given, *args = &runs;
    struct mt_diff_groups of_groups = {0};
    struct comparison c = {0}, chosen = {0};
    struct mt_diff_wanted w = {0};
    struct mt_diff_reports reports = {0};
    enum mt_status st = MT_OK;
    MT_TRY_OUT(choose_rank(&of_groups, args, c.devices, err));
    MT_TRY_OUT(check_options(args, &c, &w, err));
    MT_TRY_OUT(trend(args, &c, &w, err));
    chosen = c;
    MT_TRY_OUT(compare(args, &c, err));
    for (int s = 0; s < 2; s++)
        MT_TRY_OUT(
            mt_category_parts_at_peak(c.live.side[s].db, &c.live.side[s].device, &w.parts[s], err));
    if (!sections)
        w.section[MT_SECTION_END] = shows_end(&c);
    MT_TRY_OUT(mt_diff_report(&c.live, &c.op, &w, &reports, err));
    mt_diff_note(&c.op, per_step, reports.v[reports.n - 1]);
    if (!device_name && !groups.n && !exit_code_wanted)
        mt_report_others(reports.v[reports.n - 1], c.other_n);
    mt_diff_note_lines(&c.live, c.lines, reports.v[reports.n - 1]);
    if (exit_code_wanted && args->n > 2)
        mt_report_note(
            reports.v[reports.n - 1],
            "--exit-code judges the last run, %s, against the first, %s, and none between.",
            c.op.side[1].run.name, c.op.side[0].run.name);
    if (exit_code_wanted)
        MT_TRY_OUT(judge(&c, &chosen, &of_groups, reports.v[reports.n - 1], exit_code, err));
    MT_TRY_OUT(show(&of_groups, &reports, err));
out:
    if (exit_code_wanted && err->cannot_tell)
        *exit_code = 3;
    mt_diff_reports_free(&reports);
    mt_vec_free(&w.trend);
    close_sides(&c);
    mt_diff_groups_free(&of_groups);
    free(groups.v);
    return st;
}

static const struct mt_opt opts[] = {
    {"by", 0, MT_OPT_STRING, &by, "KEYS",
     "group by one or more of the words below (default: ops by name, blocks by site, of traces "
     "with stacks by site,top)"},
    {"section", 0, MT_OPT_STRING, &sections, "LIST",
     "only these: total, peak, end (of heap logs, else where named), op, leak"},
    MT_CATEGORIES_OPT(categories),
    MT_CATEGORY_OPT(category),
    {"device", 0, MT_OPT_STRING, &device_name, "D",
     "cpu, cuda:0, ... (default: shows the one of BASE with most bytes allocated, judges all)"},
    {"group", 0, MT_OPT_LIST, &groups, "NAME",
     "given twice, in place of runs: two groups, rank by rank, and what changed in the rank whose "
     "peak grew most"},
    {"per-step", 0, MT_OPT_FLAG, &per_step, NULL,
     "divide by steps, so that runs of different length compare"},
    {"warmup", 0, MT_OPT_INT, &warmup, "N", "steps that may build up state (default: 1)"},
    {"exit-code", 0, MT_OPT_FLAG, &exit_code_wanted, NULL,
     "exit 1 if the peak or the growth per step got worse"},
    {"threshold", 0, MT_OPT_STRING, &threshold, "X",
     "tolerated increase: a size or a percentage (default: 0)"},
    {"strict", 0, MT_OPT_FLAG, &strict, NULL,
     "rows match by the same name only: a line that moved is another one"},
    {"all", 0, MT_OPT_FLAG, &all, NULL,
     "also operators that allocated the same but differ in calls, frees or what they call"},
    MT_ROWS_OPTS(rows, "of change", "10 of each section"),
    {0},
};

static const struct mt_glossary words[] = {MT_WORDS_OF_BY(mt_by_of_ops), {0}};

static const struct mt_values values[] = {
    {"section", NULL, mt_diff_section_names}, {"category", mt_category_words, NULL}, {0}};

const struct mt_cmd mt_cmd_diff = {
    .name = "diff",
    .summary = "what changed between two runs: peak, operators, leaks",
    .usage = "[options] BASE [RUN ...] NEW | --group BASE --group NEW",
    .examples = "  memtool diff base new\n"
                "  memtool diff base new --by path --section peak\n"
                "  memtool diff --group yesterday --group today --exit-code\n"
                "  memtool diff @latest~1 @latest --exit-code --threshold 5%\n",
    .opts = opts,
    .values = values,
    .words = words,
    .args_max = 1000,
    .run = run,
};
