/*
 * memtool leaks of what processes have in memory: whether that grows, by how much in a step or a
 * minute, how sure that is, and what stands out in the curve.
 */
#include "cmd/common.h"
#include "cmd/leaks.h"
#include "lib/analysis/growth.h"
#include "lib/analysis/jumps.h"
#include "lib/base/human.h"
#include "lib/render/columns.h"
#include "lib/usage/gaps.h"
#include "lib/usage/process.h"
#include "lib/usage/traced.h"
#include <stdlib.h>
#include <string.h>

/* In the order of add_columns. */
enum column {
    DEVICE,
    VERDICT,
    METRIC,
    PER_STEP,
    PER_MINUTE,
    PER_EVENT,
    AT_LEAST,
    AT_MOST,
    BY,
    AT,
    FROM,
    TO,
    LOOKS,
    PARTS
};
enum { JUMPS = 10 }; /* that people see of a process */

struct found {
    const struct mt_run_device *device;
    struct mt_growth_process p;
    struct mt_jumps jumps;
    struct mt_growth_causes causes;
};

struct judged {
    struct mt_view *v;
    const struct mt_leaks_wanted *wanted;
    struct mt_report *r;
    struct mt_leaks_answer *answer;
    unsigned gaps;
    bool has_unit[MT_PER_EVENT + 1]; /* of some process, growth is by that */
    int64_t left_out_n;              /* processes that are not seen to grow */
    bool may_grow;                   /* one does, or perhaps */
    bool timed;
    bool asked_malloc; /* of some process it is known what malloc has */
};

static void add_columns(struct mt_report *r)
{
    r->keep_order = true;
    mt_report_columns(r, "device verdict metric per_step_b per_minute_b per_event_b rate_least_b "
                         "rate_most_b by_b at_ns=WHEN start_ns end_ns -looks_n -parts_n");
    r->columns.v[PER_STEP].unit = MT_UNIT_CHANGE;
    r->columns.v[VERDICT].whole = true;
}

/* ---- the answer ---- */

/* Whether it grows by less than is asked about, however it is meant. */
static bool is_below(const struct mt_growth *g, int64_t min_b)
{
    return g->known && !g->rose && min_b > 0 && g->most < (double)min_b;
}

void mt_leaks_judge(const struct mt_growth_process *p, bool asked, int64_t min_b,
                    struct mt_leaks_answer *answer)
{
    const struct mt_growth *g = &p->growth;
    bool untold = g->verdict == MT_GROWTH_SHORT || g->verdict == MT_GROWTH_UNKNOWN;
    if (g->verdict == MT_GROWTH_GROWS && g->rate >= (double)min_b)
        answer->leaking = true;
    else if (g->verdict == MT_GROWTH_GROWS)
        answer->unknown |= g->rose;
    else if (untold && (asked || !p->young))
        answer->unknown |= !is_below(g, min_b);
    answer->unknown |= p->gaps != 0;
}

bool mt_leaks_is_other(const struct mt_run_device *device, const struct mt_run_device *first)
{
    return device->id != first->id && mt_device_is_process(device) &&
           !mt_device_is_processes(device);
}

/* ---- rows ---- */

void mt_leaks_rates(struct mt_cell *c, const struct mt_growth *g, bool timed)
{
    struct mt_growth minute;
    c[g->unit] = mt_cell_int(mt_growth_bytes(g->rate));
    if (mt_growth_per_minute(g, timed, &minute))
        c[MT_PER_MINUTE] = mt_cell_int(mt_growth_bytes(minute.rate));
    c[AT_LEAST - PER_STEP] = mt_cell_int(mt_growth_bytes(g->least));
    c[AT_MOST - PER_STEP] = mt_cell_int(mt_growth_bytes(g->most));
    c[BY - PER_STEP] = mt_cell_int(mt_growth_bytes(g->grew_b));
}

static const char *verdict_of(const struct found *f)
{
    const char *cause = mt_growth_cause_names[f->causes.most];
    return cause ? cause : mt_growth_names[f->p.growth.verdict];
}

static void add_process(struct judged *j, const struct found *f)
{
    const struct mt_growth *g = &f->p.growth;
    struct mt_row *row = mt_report_row(j->r);
    row->cells[DEVICE] = mt_cell_text(mt_report_text(j->r, f->device->name));
    row->cells[VERDICT] = mt_cell_text(verdict_of(f));
    row->cells[METRIC] = mt_cell_text(mt_metric_names[MT_METRIC_RSS]);
    j->has_unit[g->unit] = true;
    if (g->known) {
        mt_leaks_rates(&row->cells[PER_STEP], g, j->timed);
        row->cells[PARTS] = mt_cell_int(g->part_n);
    }
    if (g->to_ns > g->from_ns && f->p.part != MT_PART_NONE) {
        row->cells[FROM] = mt_cell_int(g->from_ns);
        row->cells[TO] = mt_cell_int(g->to_ns);
        row->cells[LOOKS] = mt_cell_int(g->look_n);
    }
}

/* Of what it grows, where that is known; the rates add up. */
static void add_causes(struct judged *j, const struct found *f)
{
    static const char *const metrics[MT_CAUSE_N] = {[MT_CAUSE_IN_USE] = "malloc_in_use",
                                                    [MT_CAUSE_HELD] = "malloc_held",
                                                    [MT_CAUSE_OUTSIDE] = "outside_malloc"};
    const struct mt_growth *g = &f->p.growth;
    bool shown = f->causes.known && g->verdict == MT_GROWTH_GROWS;
    for (int i = MT_CAUSE_IN_USE; i < MT_CAUSE_N && shown; i++) {
        struct mt_row *row = mt_report_row(j->r);
        row->cells[DEVICE] = mt_cell_text(mt_report_text(j->r, f->device->name));
        row->cells[METRIC] = mt_cell_text(metrics[i]);
        row->cells[PER_STEP + (int)g->unit] = mt_cell_int(mt_growth_bytes(f->causes.rate[i]));
        row->cells[BY] = mt_cell_int(mt_growth_bytes(f->causes.rate[i] * g->units));
        j->asked_malloc = true;
    }
}

static void add_jump(struct judged *j, const struct found *f, const struct mt_jump *jump)
{
    struct mt_row *row = mt_report_row(j->r);
    row->cells[DEVICE] = mt_cell_text(mt_report_text(j->r, f->device->name));
    row->cells[VERDICT] = mt_cell_text(jump->kind == MT_SPIKE ? "spike" : "jump");
    row->cells[BY] = mt_cell_int(jump->bytes);
    row->cells[AT] = mt_cell_int(jump->t_ns);
}

static int size_cmp(const void *a, const void *b)
{
    const struct mt_jump *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : x->t_ns < y->t_ns ? -1 : 1;
}

static int time_cmp(const void *a, const void *b)
{
    const struct mt_jump *x = a, *y = b;
    return x->t_ns != y->t_ns ? (x->t_ns < y->t_ns ? -1 : 1) : (int)x->kind - (int)y->kind;
}

/* Programs load what they need, and are warm after that: that is no news. */
static void leave_out_warm_up(struct judged *j, struct found *f)
{
    size_t kept = 0, n = f->jumps.all.n;
    for (size_t i = 0; i < n; i++)
        if (f->jumps.all.v[i].t_ns >= f->p.growth.from_ns)
            f->jumps.all.v[kept++] = f->jumps.all.v[i];
    f->jumps.all.n = kept;
    if (kept < n)
        mt_report_footer(j->r,
                         "%s: %zu of %zu jumps and spikes came in the warm-up, and are left out; "
                         "--all lists them",
                         f->device->name, n - kept, n);
}

/* The largest, in their order in time. */
static void add_jumps(struct judged *j, struct found *f)
{
    if (mt_people_read() && !j->wanted->all && f->p.growth.known)
        leave_out_warm_up(j, f);
    size_t n = f->jumps.all.n, shown = n;
    if (!n)
        return;
    if (mt_people_read() && !j->wanted->all && n > JUMPS) {
        shown = JUMPS;
        qsort(f->jumps.all.v, n, sizeof *f->jumps.all.v, size_cmp);
        qsort(f->jumps.all.v, shown, sizeof *f->jumps.all.v, time_cmp);
        mt_report_footer(j->r, "%s: the %zu largest of %zu jumps and spikes; --all lists them",
                         f->device->name, shown, n);
    }
    for (size_t i = 0; i < shown; i++)
        add_jump(j, f, &f->jumps.all.v[i]);
}

/* ---- words ---- */

static const char *const advice[MT_CAUSE_N] = {
    [MT_CAUSE_IN_USE] =
        "The program has these blocks of malloc in use: heaptrack, memray and others say "
        "who allocated them, and memtool reads their files.",
    [MT_CAUSE_HELD] =
        "The program's blocks do not grow: malloc keeps what was freed. malloc_trim(0) gives "
        "it back; MALLOC_TRIM_THRESHOLD_=131072, MALLOC_ARENA_MAX=2 or jemalloc keep less.",
    [MT_CAUSE_OUTSIDE] =
        "It is not malloc's: mapped memory, such as Python's own arenas, stacks of "
        "threads, libraries of GPUs, or files.",
};

/* What of the recording is judged, and why not more. */
static void describe_window(struct judged *j, const struct found *f)
{
    const struct mt_growth *g = &f->p.growth;
    char from[MT_HUMAN_LONG], to[MT_HUMAN_LONG], samples[MT_HUMAN_LONG];
    const char *unit = j->v->run.time_unit;
    if (g->known)
        mt_report_footer(
            j->r, "judged by the lowest rss in each of %lld parts of %s to %s (%s); %s%s",
            (long long)g->part_n, mt_human_time(unit, g->from_ns, from),
            mt_human_time(unit, g->to_ns, to), mt_human_plural(g->look_n, "sample", samples),
            f->p.part == MT_PART_BEHIND ? "PyTorch's profiler was running before, and " : "",
            g->late                       ? "what comes earlier counts as warm-up"
            : g->unit == MT_PER_STEP      ? "earlier steps count as warm-up"
            : f->p.part == MT_PART_BEHIND ? "the first quarter after it counts as warm-up"
                                          : "the first quarter counts as warm-up");
    else if (g->look_n > 0)
        mt_report_footer(j->r, "%s from %s to %s", mt_human_plural(g->look_n, "sample", samples),
                         mt_human_time(unit, g->from_ns, from), mt_human_time(unit, g->to_ns, to));
}

const char *mt_leaks_lack(const struct mt_run_device *device, const struct mt_growth_process *p)
{
    if (p->growth.verdict == MT_GROWTH_SHORT)
        return "Growth needs six samples and, after the warm-up, six steps or three seconds.";
    if (p->part != MT_PART_UNKNOWN)
        return NULL;
    return mt_device_is_processes(device)
               ? "All processes together have no rss, in which pages would count twice. Without "
                 "--device each of them is judged."
               : "The recording does not say what rss this process had.";
}

static void advise(struct mt_report *r, const struct found *f)
{
    const struct mt_growth *g = &f->p.growth;
    const char *lack = mt_leaks_lack(f->device, &f->p);
    if (f->causes.most)
        mt_report_note(r, "%s", advice[f->causes.most]);
    if (f->p.part == MT_PART_NONE)
        mt_report_note(r,
                       "The profiler's own memory grows with every operator, so what the process "
                       "has then is not judged. Record longer, or without --torch; memtool "
                       "leaks of the trace judges tensors.");
    else if (f->p.refills)
        mt_report_note(r,
                       "What PyTorch's profiler freed may be used again, and hide growth. Record "
                       "longer, or without --torch.");
    else if (g->hides)
        mt_report_note(
            r, "This log may be of several processes that print alike, one of which grows, or "
               "of one whose peaks do. Let each print its rank, or write a log of its own; if "
               "it is one process, import it with --processes one.");
    else if (g->verdict == MT_GROWTH_UNKNOWN && f->p.part != MT_PART_UNKNOWN &&
             !(f->p.gaps & MT_GAPS_OF_PROCESSES))
        mt_report_note(r, "%s Record longer.",
                       g->slows       ? "It grows ever less: that may be warm-up."
                       : g->least > 0 ? "That may be warm-up."
                                      : "It goes up and down by more than it may grow.");
    if (lack)
        mt_report_note(r, "%s", lack);
}

static void describe(struct judged *j, const struct found *f)
{
    struct mt_buf words = {0};
    mt_growth_words(&f->p, &f->p.growth, &words);
    j->r->title = mt_asprintf("%s · %s · rss %s", j->v->run.name, f->device->name, words.s);
    mt_buf_free(&words);
    describe_window(j, f);
    advise(j->r, f);
}

/* ---- all of it ---- */

/* Behind its begin, and up to the end of what is judged: programs give back what they have. Those
 * of a profiler that starts, or writes its trace, are not the program's. */
static void find_jumps(const struct mt_levels *levels, struct found *f)
{
    const struct mt_growth *g = &f->p.growth;
    const struct mt_window *there = &f->p.there;
    bool open = g->late || g->to_ns <= g->from_ns;
    const struct mt_window w = {there->from_ns + (there->to_ns - there->from_ns) / 50,
                                open ? there->to_ns : g->to_ns};
    struct mt_jumps *found = &f->jumps;
    size_t kept = 0;
    mt_jumps_find(levels, &w, f->p.wanted.look_ns, found);
    for (size_t i = 0; i < found->all.n; i++)
        if (!mt_profiled_is_busy(&f->p.profiled, found->all.v[i].t_ns))
            found->all.v[kept++] = found->all.v[i];
    found->all.n = kept;
}

static enum mt_status load(struct judged *j, struct found *f, struct mt_err *err)
{
    struct mt_levels levels;
    enum mt_status st = mt_growth_load(j->v->db, &j->v->run, f->device, &j->v->blocks.steps,
                                       j->wanted->warmup, &f->p, &levels, err);
    if (st == MT_OK)
        st = mt_growth_causes_load(j->v->db, &j->v->run, f->device, &f->p, &f->causes, err);
    if (st == MT_OK)
        find_jumps(&levels, f);
    mt_levels_free(&levels);
    return st;
}

/* Others that do not grow are not listed to people: there may be thousands. */
static void add(struct judged *j, struct found *f, bool first)
{
    mt_leaks_judge(&f->p, first, j->wanted->min_b, j->answer);
    j->gaps |= f->p.gaps;
    if (first)
        describe(j, f);
    else if (f->p.growth.verdict != MT_GROWTH_GROWS && !j->wanted->all && mt_people_read()) {
        j->left_out_n++;
        return;
    }
    enum mt_growth_verdict verdict = f->p.growth.verdict;
    j->may_grow |= verdict == MT_GROWTH_GROWS || verdict == MT_GROWTH_UNKNOWN;
    add_process(j, f);
    add_causes(j, f);
    add_jumps(j, f);
}

/* Where to look next. */
static void point_to_parts(struct mt_report *r, const char *run, const struct mt_traced_all *traced)
{
    struct mt_buf name = {0};
    mt_shell_word(&name, run);
    mt_report_footer(r, "`memtool memory %s` shows what the rss consists of.", name.s);
    for (size_t i = 0; i < traced->all.n; i++) {
        mt_buf_clear(&name);
        mt_shell_word(&name, traced->all.v[i].run.name);
        mt_report_footer(r, "`memtool leaks %s` judges what PyTorch has of it.", name.s);
    }
    mt_buf_free(&name);
}

static void explain(struct judged *j, const struct mt_traced_all *traced)
{
    char processes[MT_HUMAN_LONG];
    if (j->left_out_n)
        mt_report_footer(j->r, "%s that %s not seen to grow; --all lists them",
                         mt_human_plural(j->left_out_n, "other process", processes),
                         j->left_out_n == 1 ? "is" : "are");
    if (j->may_grow)
        point_to_parts(j->r, j->v->run.name, traced);
    if (j->gaps)
        mt_report_note(j->r, "%s %s: that nothing grows in what is known is no answer.",
                       j->v->run.name, mt_gaps_text(j->gaps));
}

static bool is_command(const struct mt_run_device *device)
{
    char name[32];
    mt_device_name(MT_DEVICE_PROCESS, -1, name);
    return strcmp(device->name, name) == 0;
}

enum mt_status mt_leaks_first_process(struct mt_view *v, const char *named, int64_t warmup,
                                      struct mt_run_device *out, struct mt_err *err)
{
    struct mt_run_device *all = NULL;
    struct mt_growth_process p;
    size_t n = 0, first;
    bool found = false;
    *out = v->device;
    if (named)
        return MT_OK;
    enum mt_status st = mt_run_devices(v->db, &v->run, &all, &n, err);
    for (first = 0; first < n && st == MT_OK && !is_command(&all[first]);)
        first++;
    found = first < n;
    for (size_t i = 0; i < n && st == MT_OK && !found; i++) {
        if (!mt_device_is_process(&all[i]) || mt_device_is_processes(&all[i]))
            continue;
        st = mt_growth_load(v->db, &v->run, &all[i], &v->blocks.steps, warmup, &p, NULL, err);
        found = st == MT_OK && !p.young;
        first = i;
    }
    if (found)
        *out = all[first];
    free(all);
    return st;
}

enum mt_status mt_leaks_of_processes(struct mt_view *v, const struct mt_leaks_wanted *w,
                                     struct mt_report *r, struct mt_leaks_answer *answer,
                                     struct mt_err *err)
{
    struct judged j = {.v = v, .wanted = w, .r = r, .answer = answer};
    struct mt_run_device *all = NULL;
    struct mt_run_device first;
    struct mt_traced_all traced = {0};
    size_t n = 0;
    enum mt_status st = MT_OK;
    j.timed = strcmp(v->run.time_unit, "ns") == 0;
    add_columns(r);
    if (!w->device)
        MT_TRY_OUT(mt_run_devices(v->db, &v->run, &all, &n, err));
    MT_TRY_OUT(mt_leaks_first_process(v, w->device, w->warmup, &first, err));
    for (size_t i = 0; i <= n; i++) {
        struct found f = {.device = i ? &all[i - 1] : &first};
        if (i && !mt_leaks_is_other(f.device, &first))
            continue;
        MT_TRY_OUT(load(&j, &f, err));
        add(&j, &f, !i);
        mt_jumps_free(&f.jumps);
    }
    MT_TRY_OUT(mt_traced_load(v->db, &v->run, &first, &traced, err));
    explain(&j, &traced);
    r->columns.v[METRIC].hidden = !j.asked_malloc;
    for (int i = 0; i <= MT_PER_EVENT; i++)
        r->columns.v[PER_STEP + i].hidden = !j.has_unit[i];
    mt_report_hide_empty(r);
    MT_TRY_OUT(mt_rows_apply(w->rows, r, "by_b", err));
    mt_rows_footer(w->rows, r, NULL, "");
out:
    mt_traced_free(&traced);
    free(all);
    return st;
}
