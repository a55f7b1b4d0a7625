/* memtool advise RUN --verify NEWRUN: what was predicted against what the changed program had. */
#include "cmd/advise.h"
#include "cmd/common.h"
#include "cmd/opts.h"
#include "lib/advice/verify.h"
#include "lib/base/human.h"
#include "lib/render/columns.h"
#include "lib/render/run_notes.h"
#include "lib/run/knows.h"
#include "lib/usage/gaps.h"
#include <stdlib.h>
#include <string.h>

enum { BEFORE, AFTER, SIDES };
enum { NEEDED = MT_KNOWS_CATEGORIES | MT_KNOWS_BLOCKS };

/* One of the two runs, with all advice on it. */
struct side {
    struct mt_view view;
    struct mt_advice_facts facts;
    struct mt_strtab strings;
    struct mt_advices advices;
};

struct verification {
    const struct mt_verify_asked *asked;
    struct side side[SIDES];
    struct mt_advice_choice choice;
    struct mt_advices judged; /* those asked for, or made */
    struct mt_strtab strings;
    struct mt_report *r;
    int exit_code;
};

/* ---- the runs ---- */

static enum mt_status load_facts(struct side *s, struct mt_err *err)
{
    return mt_advice_facts_load(&s->view.blocks, &s->view.device, &s->facts, err);
}

static enum mt_status open_before(struct verification *v, const char *ref, struct mt_err *err)
{
    const struct mt_view_wanted wanted = {MT_VIEW_DEVICE | MT_VIEW_BLOCKS, v->asked->device, NEEDED,
                                          NULL};
    struct side *s = &v->side[BEFORE];
    MT_TRY(mt_view_open(&s->view, ref, &wanted, err));
    if (!s->view.has_device)
        return mt_fail_no_memory(&s->view.run, ": nothing was predicted", err);
    return load_facts(s, err);
}

static void cannot_tell(struct verification *v, const char *why, const char *ask_instead)
{
    mt_report_cannot_tell(v->r, why, ask_instead);
    v->exit_code = 3;
}

/* The device that the first run is about, where the second has it, too. */
static enum mt_status find_device(struct mt_view *view, const char *name, struct mt_err *err)
{
    struct mt_run_device *all = NULL;
    size_t n = 0;
    MT_TRY(mt_run_devices(view->db, &view->run, &all, &n, err));
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].name, name) == 0)
            view->device = all[i];
    free(all);
    return MT_OK;
}

/* Why the second run cannot be compared, a sentence, allocated; NULL: it can. */
static char *why_not(const struct mt_view *view, const char *device)
{
    const char *run = view->run.name,
               *lack = mt_knows_lack(&view->run, mt_view_device(view), NEEDED);
    if (!view->has_device)
        return mt_asprintf("run '%s' has no memory records.", run);
    if (*lack)
        return mt_asprintf("run '%s' %s.", run, lack);
    if (strcmp(view->device.name, device) != 0)
        return mt_asprintf("run '%s' is about %s, not %s.", run, view->device.name, device);
    return NULL;
}

/* *told: whether the run knows enough to be compared. */
static enum mt_status open_after(struct verification *v, bool *told, struct mt_err *err)
{
    struct side *s = &v->side[AFTER];
    const char *device = v->side[BEFORE].view.device.name;
    struct mt_view_wanted wanted = {MT_VIEW_DEVICE, NULL, 0, NULL};
    MT_TRY(mt_view_open(&s->view, v->asked->run, &wanted, err));
    if (s->view.has_device)
        MT_TRY(find_device(&s->view, device, err));
    char *why = why_not(&s->view, device);
    *told = !why;
    if (why) {
        cannot_tell(v, why, "Record the changed program as the first one was.");
        free(why);
        return MT_OK;
    }
    mt_view_close(&s->view);
    s->view = (struct mt_view){0};
    wanted = (struct mt_view_wanted){MT_VIEW_DEVICE | MT_VIEW_BLOCKS, device, NEEDED, NULL};
    MT_TRY(mt_view_open(&s->view, v->asked->run, &wanted, err));
    return load_facts(s, err);
}

/* A recording of a part of a program had a lower peak, perhaps, for what is not in it. */
static enum mt_status check_whole(struct verification *v, bool *whole, struct mt_err *err)
{
    *whole = true;
    for (int i = 0; i < SIDES; i++) {
        const struct mt_view *view = &v->side[i].view;
        unsigned gaps;
        MT_TRY(mt_run_gaps(view->db, &view->run, &view->device, &gaps, err));
        gaps &= MT_GAPS_INSIDE;
        if (!gaps || !*whole)
            continue;
        char *why = mt_asprintf("run '%s' %s.", view->run.name, mt_gaps_text(gaps));
        cannot_tell(v, why, "Record it whole.");
        free(why);
        *whole = false;
    }
    return MT_OK;
}

/* ---- which changes ---- */

static struct mt_verify_run run_of(const struct side *s)
{
    return (struct mt_verify_run){s->view.run.name, &s->facts, &s->advices};
}

static bool is_worth_it(const struct verification *v, const struct mt_advice *a)
{
    return a->applies &&
           (double)a->saving_b * 100 >= v->asked->least_pct * (double)v->side[BEFORE].facts.peak_b;
}

/* The advice that the second program shows to have been followed: "checkpoint,fused"; how many. */
static int find_made(const struct verification *v, struct mt_buf *made)
{
    int n = 0;
    const struct mt_verify_run before = run_of(&v->side[BEFORE]), after = run_of(&v->side[AFTER]);
    const struct mt_advices *all = &v->side[BEFORE].advices;
    for (size_t i = 0; i < all->all.n; i++)
        if (is_worth_it(v, &all->all.v[i]) && mt_verify_is_made(&all->all.v[i], &before, &after))
            mt_buf_addf(made, "%s%s", n++ ? "," : "", all->all.v[i].rule->id);
    return n;
}

/* The prediction that is judged: of all together, or of the one there is; NULL: none. */
static const struct mt_advice *find_judged(const struct verification *v)
{
    const struct mt_advice *found = NULL;
    for (size_t i = 0; i < v->judged.all.n; i++) {
        const struct mt_advice *a = &v->judged.all.v[i];
        if (a->applies && (!found || a->rule == &v->judged.joined))
            found = a;
    }
    return found;
}

/* ---- the report ---- */

/* Nobody can tell whether the peaks are those: what a thread frees that nobody saw. */
static void cannot_tell_alive(struct verification *v, const int64_t doubt_b[SIDES])
{
    char text[MT_HUMAN_MAX];
    const int side = doubt_b[AFTER] >= doubt_b[BEFORE] ? AFTER : BEFORE;
    char *why =
        mt_asprintf("%s of the peak of run '%s' may not have been alive: blocks were freed, "
                    "or allocated, where the profiler did not see it.",
                    mt_human_bytes(doubt_b[side], text), v->side[side].view.run.name);
    cannot_tell(v, why, NULL);
    free(why);
}

static void add_row(struct verification *v, const struct mt_advice *a, bool judged)
{
    int64_t peak_b = v->side[BEFORE].facts.peak_b, recorded_b = v->side[AFTER].facts.peak_b;
    struct mt_cell *c = mt_report_row(v->r)->cells;
    double percent;
    c[0] = mt_cell_text(mt_report_text(v->r, a->rule->id));
    c[1] = mt_cell_int(a->new_peak_b);
    c[3] = mt_cell_int(a->saving_b);
    c[6] = mt_cell_text(mt_advice_bound_names[a->bound]);
    if (!judged)
        return;
    c[2] = mt_cell_int(recorded_b);
    c[4] = mt_cell_int(mt_wrap_sub(peak_b, recorded_b));
    if (a->bound != MT_BOUND_UP_TO && mt_verify_error(a, recorded_b, &percent))
        c[5] = mt_cell_real(percent);
    const int64_t doubt_b[SIDES] = {v->side[BEFORE].view.device.doubt_at_peak_b,
                                    v->side[AFTER].view.device.doubt_at_peak_b};
    if (mt_verify_turns(a, peak_b, recorded_b, doubt_b, v->asked->tolerance)) {
        cannot_tell_alive(v, doubt_b);
        return;
    }
    enum mt_verdict_of_advice verdict = mt_verify_judge(a, peak_b, recorded_b, v->asked->tolerance);
    c[7] = mt_cell_text(mt_verify_names[verdict]);
    v->exit_code = verdict == MT_VERIFY_OFF;
}

static void describe(struct verification *v)
{
    char before[MT_HUMAN_MAX], after[MT_HUMAN_MAX];
    const struct side *x = &v->side[BEFORE], *y = &v->side[AFTER];
    v->r->title = mt_asprintf("%s -> %s · %s · peak %s -> %s", x->view.run.name, y->view.run.name,
                              x->view.device.name, mt_human_bytes(x->facts.peak_b, before),
                              mt_human_bytes(y->facts.peak_b, after));
}

static void explain(struct verification *v, enum mt_advice_bound bound)
{
    if (bound == MT_BOUND_UP_TO) {
        mt_report_footer(v->r,
                         "holds: up_to is the most that it saves, so any saving up to %g %% more "
                         "than predicted holds, and so does a peak within 1 %% of the first of the "
                         "predicted one. saved more: more than that, which is no failure. off: "
                         "nothing was saved.",
                         v->asked->tolerance);
        return;
    }
    mt_report_footer(
        v->r,
        "holds: the predicted saving is within %g %% of what was saved, or within 1 %% "
        "of the peak. saved more: it is lower than that, which is no failure. off: it "
        "is higher.",
        v->asked->tolerance);
}

static void judge(struct verification *v)
{
    const struct mt_advice *judged = find_judged(v);
    if (judged)
        explain(v, judged->bound);
    for (size_t i = 0; i < v->judged.all.n; i++) {
        const struct mt_advice *a = &v->judged.all.v[i];
        if (a->applies)
            add_row(v, a, a == judged);
        else {
            char *why = mt_asprintf("%s does not apply to run '%s': %s.", a->rule->id,
                                    v->side[BEFORE].view.run.name, a->because);
            cannot_tell(v, why, "`memtool advise --all` says what applies to a run, and why.");
            free(why);
        }
    }
    for (size_t i = 0; i < v->judged.all.n; i++)
        if (!v->judged.all.v[i].applies)
            v->exit_code = 3;
}

/* The first program in as many parts as the second runs, unless --accumulate says how many. */
static enum mt_status find_advice(struct verification *v, struct mt_err *err)
{
    const struct mt_verify_run before = run_of(&v->side[BEFORE]), after = run_of(&v->side[AFTER]);
    v->choice = *v->asked->choice;
    v->choice.areas = true;
    int64_t parts = v->asked->parts_given ? MT_UNKNOWN : mt_verify_parts(&before, &after);
    if (parts != MT_UNKNOWN)
        v->choice.accumulate = parts;
    for (int i = 0; i < SIDES; i++) {
        struct side *s = &v->side[i];
        MT_TRY(mt_advices_find(&s->facts, &v->choice, NULL, &s->strings, &s->advices, err));
    }
    return MT_OK;
}

/* Says in how many parts accumulate was predicted. */
static void note_parts(struct verification *v, const char *only)
{
    long long n = (long long)v->choice.accumulate;
    if (!strstr(only, "accumulate"))
        return;
    mt_report_param(v->r, "accumulate", mt_cell_int(n));
    mt_report_footer(v->r, "accumulate is predicted for %lld micro-batches%s.", n,
                     v->choice.accumulate == v->asked->choice->accumulate
                         ? ""
                         : ", as many as the changed program runs");
}

/* Why one of the changes that are said to be made was not, allocated. */
static char *why_unseen(struct verification *v, const char *only)
{
    const struct mt_verify_run before = run_of(&v->side[BEFORE]), after = run_of(&v->side[AFTER]);
    const struct mt_advices *all = &v->side[BEFORE].advices;
    char *why = NULL;
    for (size_t i = 0; i < all->all.n && !why; i++)
        if (mt_has_word(only, all->all.v[i].rule->id))
            why = mt_verify_unseen(all->all.v[i].rule->id, &before, &after);
    return why;
}

/* Why nothing can be judged, allocated; NULL: it can be. *only: what was changed, perhaps found in
 * `made`; *ask: what to ask instead, allocated. */
static char *why_none(struct verification *v, const char **only, struct mt_buf *made, char **ask)
{
    const struct mt_verify_run before = run_of(&v->side[BEFORE]), after = run_of(&v->side[AFTER]);
    char *why = mt_verify_differ(&before, &after);
    if (why || *only)
        return why ? why : why_unseen(v, *only);
    if (after.facts->peak_b > before.facts->peak_b) {
        *ask = mt_strdup("Name what was changed: --only checkpoint.");
        return mt_asprintf("the peak of '%s' is higher than that of '%s': no advice was followed "
                           "alone.",
                           after.name, before.name);
    }
    int n = find_made(v, made);
    *only = made->s;
    if (n == 1)
        return why_unseen(v, *only);
    *ask = n ? mt_asprintf("Name those that were made: --only %s.", made->s)
             : mt_strdup("Name what was changed: --only checkpoint.");
    return n ? mt_asprintf("several changes may be what shows in '%s'.", after.name)
             : mt_asprintf("nothing that was advised for '%s' shows in '%s'.", before.name,
                           after.name);
}

static enum mt_status compare(struct verification *v, struct mt_err *err)
{
    struct mt_buf made = {0};
    const char *only = v->asked->only;
    char *ask = NULL;
    MT_TRY(find_advice(v, err));
    enum mt_status st = MT_OK;
    char *why = why_none(v, &only, &made, &ask);
    describe(v);
    if (why)
        cannot_tell(v, why, ask);
    else
        st =
            mt_advices_find(&v->side[BEFORE].facts, &v->choice, only, &v->strings, &v->judged, err);
    if (!why && st == MT_OK) {
        note_parts(v, only);
        judge(v);
    } else if (err->cannot_tell) {
        free(why);
        why = mt_asprintf("%s.", err->what);
        cannot_tell(v, why, err->hint);
        *err = (struct mt_err)MT_ERR_INIT;
        st = MT_OK;
    }
    free(why);
    free(ask);
    mt_buf_free(&made);
    return st;
}

/* What import noted of both. */
static void add_notes(struct verification *v)
{
    bool same = v->side[BEFORE].view.run.id == v->side[AFTER].view.run.id;
    for (int i = 0; i < (same ? 1 : SIDES); i++) {
        const struct mt_view *view = &v->side[i].view;
        const struct mt_run_device *d = mt_view_device(view);
        bool bounded = !d || mt_device_is_bounded(d);
        mt_notes_of_run(v->r, view->run.name, &view->run.notes,
                        MT_ABOUT_SUMS | MT_ABOUT_LEVELS | (bounded ? MT_ABOUT_UNSEEN : 0));
    }
}

static enum mt_status show(struct verification *v, const char *ref, struct mt_err *err)
{
    bool told = false, whole = false;
    v->r->keep_order = true;
    v->r->empty = "no prediction was compared";
    mt_report_columns(v->r, "advice new_peak_b=PREDICTED recorded_peak_b saving_b saved_b "
                            "error_pct bound verdict");
    MT_TRY(open_before(v, ref, err));
    MT_TRY(open_after(v, &told, err));
    mt_report_run(v->r, 0, v->side[BEFORE].view.run.id, v->side[BEFORE].view.run.name, NULL);
    mt_report_run(v->r, 1, v->side[AFTER].view.run.id, v->side[AFTER].view.run.name, NULL);
    add_notes(v);
    if (told)
        MT_TRY(check_whole(v, &whole, err));
    if (whole)
        MT_TRY(compare(v, err));
    return mt_show(v->r, err);
}

enum mt_status mt_advise_verify(const char *ref, const struct mt_verify_asked *asked,
                                int *exit_code, struct mt_err *err)
{
    struct verification v = {.asked = asked};
    struct mt_report report;
    mt_report_init(&report, "memtool.advise_verify", 1);
    v.r = &report;
    mt_strtab_init(&v.strings);
    for (int i = 0; i < SIDES; i++)
        mt_strtab_init(&v.side[i].strings);
    enum mt_status st = show(&v, ref, err);
    *exit_code = v.exit_code;
    mt_advices_free(&v.judged);
    mt_strtab_free(&v.strings);
    for (int i = 0; i < SIDES; i++) {
        mt_advices_free(&v.side[i].advices);
        mt_strtab_free(&v.side[i].strings);
        mt_advice_facts_free(&v.side[i].facts);
        mt_view_close(&v.side[i].view);
    }
    mt_report_free(&report);
    return st;
}
