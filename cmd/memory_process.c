#include "cmd/memory_process.h"

#include "cmd/common.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/render/columns.h"
#include "lib/run/knows.h"
#include "lib/usage/profiled.h"
#include "lib/usage/sample_series.h"
#include "lib/usage/work.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOMENTS = 2 };

/* Whether a log told a figure of its own, such as what its program says of PyTorch. */
static bool is_own(const char *metric)
{
    if (!mt_metric_is_bytes(metric))
        return false;
    for (int i = 0; i < MT_METRIC_N; i++)
        if (strcmp(mt_metric_names[i], metric) == 0)
            return i == MT_METRIC_PEAK_RSS;
    return strcmp(metric, MT_COUNTED_PYTORCH) != 0 && strcmp(metric, MT_COUNTED_REST) != 0;
}

static const char *own_column(struct mt_report *r, const char *metric)
{
    return mt_report_textf(r, "%s_b", metric);
}

static enum mt_status add_own_columns(struct mt_report *r, const struct mt_view *v,
                                      const struct mt_run_device *d, struct mt_err *err)
{
    const struct mt_samples *all;
    MT_TRY(mt_sample_series_load(v->db, v->run.id, d->id, MT_SAMPLE_VALUES, &all, err));
    for (const struct mt_sample_series *s = mt_sample_first(all, d->id); s;
         s = mt_sample_next(all, s)) {
        const char *name = own_column(r, s->name);
        if (!is_own(s->name) || mt_report_find_column(r, name) >= 0)
            continue;
        char *title = mt_strdup(s->name);
        for (char *c = title; *c; c++)
            *c = *c == '_' ? ' ' : (char)toupper((unsigned char)*c);
        mt_report_column(r, name, mt_report_text(r, title), MT_UNIT_BYTES);
        free(title);
    }
    return MT_OK;
}

enum mt_status mt_memory_step_columns(struct mt_report *r, const struct mt_view *v,
                                      struct mt_err *err)
{
    struct mt_run_device *all = NULL;
    size_t n = 0;
    r->keep_order = true;
    mt_report_columns(r, "step start_ns end_b=RSS peak_b=MOST pytorch_last_b=PYTORCH "
                         "pytorch_max_b=MOST");
    enum mt_status st = v->has_device ? add_own_columns(r, v, &v->device, err)
                                      : mt_run_devices(v->db, &v->run, &all, &n, err);
    for (size_t i = 0; i < n && st == MT_OK; i++)
        st = add_own_columns(r, v, &all[i], err);
    free(all);
    mt_report_columns(r, "threads_n cpu_ns device");
    return st;
}

void mt_memory_process_columns(struct mt_report *r, size_t at_n)
{
    r->keep_order = true;
    if (!at_n) {
        mt_report_column(r, "at_peak_b", "AT PEAK RSS", MT_UNIT_BYTES);
        mt_report_columns(r, "threads_n cpu_ns");
        return;
    }
    mt_report_columns(r, at_n == MOMENTS ? "change_b before_b after_b" : "live_b=THEN");
    mt_report_columns(r, "device metric");
    r->columns.v[r->columns.n - 1].whole = true;
    mt_report_columns(r, at_n == MOMENTS ? "threads_n cpu_ns" : "threads_n");
}

/* In the row of its rss stands what the process did meanwhile. */
static void work_cells(struct mt_report *r, const struct mt_work *work, const struct mt_window *w,
                       struct mt_cell *cells)
{
    int threads = mt_report_find_column(r, "threads_n"), cpu = mt_report_find_column(r, "cpu_ns");
    cells[threads] = mt_cell_known(mt_work_threads(work, w));
    if (cpu >= 0)
        cells[cpu] = mt_cell_known(mt_work_cpu(work, w));
}

/* Of very many processes people compare these. */
static bool is_shown(const struct mt_counted *c, const struct mt_memory_asked *asked)
{
    static const char *const first[] = {"rss", "pss", "private", MT_COUNTED_PYTORCH};
    for (size_t i = 0; i < MT_ARRAY_LEN(first) && asked->brief; i++)
        if (strcmp(c->metric, first[i]) == 0)
            return true;
    *asked->hidden |= asked->brief;
    return !asked->brief;
}

/* ---- a window ---- */

/* When its rss was highest in the window; MT_UNKNOWN: nobody knows. */
static int64_t peak_time(const struct mt_run_device *d, const struct mt_process_counts *counts,
                         const struct mt_window *w)
{
    const struct mt_levels *rss = &counts->all.v[0].levels;
    int64_t first = mt_levels_before(rss, w->from_ns), last = mt_levels_before(rss, w->to_ns);
    if (w->from_ns <= 0 && w->to_ns == INT64_MAX)
        return d->peak_ns;
    if (last < 0)
        return MT_UNKNOWN;
    int64_t t_ns = mt_levels_time(rss, mt_levels_peak(rss, first < 0 ? 0 : first, last), 0);
    return t_ns > w->from_ns ? t_ns : w->from_ns; /* it may have had that much since before */
}

/* Reading what is shared costs much: it is done seldom. Children may be many, and say nothing. */
static void note_few(struct mt_report *r, const struct mt_run_device *d, const struct mt_counted *c,
                     size_t rss_n)
{
    char at[MT_HUMAN_MAX];
    size_t n = c->levels.all.n;
    if (strcmp(d->name, "process") != 0 || strcmp(c->metric, mt_metric_names[MT_METRIC_PSS]) != 0)
        return;
    if (n > 1 && n < rss_n)
        mt_report_footer(r,
                         "pss and private have %zu values, rss has %zu: between them pss and "
                         "private may have been higher.",
                         n, rss_n);
    else if (n == 1)
        mt_report_footer(r,
                         "pss and private have one value, read at %s: they may have been higher.",
                         mt_human_ns(c->levels.all.v[0].t_ns, at));
}

static void window_rows(struct mt_report *r, const struct mt_run_device *d,
                        const struct mt_process_counts *counts, const struct mt_work *work,
                        const struct mt_memory_asked *asked)
{
    const struct mt_window *w = &asked->window;
    int at_peak = mt_report_find_column(r, "at_peak_b");
    int64_t most_b, last_b, rss_b = MT_UNKNOWN, peak_ns = peak_time(d, counts, w);
    for (size_t i = 0; i < counts->all.n; i++) {
        const struct mt_counted *c = &counts->all.v[i];
        mt_process_counted_within(counts, c, w, &most_b, &last_b);
        int64_t then_b = i == 0                  ? most_b
                         : peak_ns == MT_UNKNOWN ? MT_UNKNOWN
                                                 : mt_process_counted_at(counts, c, peak_ns);
        if (c->rest && then_b == MT_UNKNOWN && last_b == MT_UNKNOWN && mt_people_read())
            continue; /* nothing of it is known */
        if (!is_shown(c, asked))
            continue;
        rss_b = i ? rss_b : most_b;
        note_few(r, d, c, counts->all.v[0].levels.all.n);
        if (strcmp(c->metric, "cgroup") == 0)
            mt_report_footer(r, "cgroup is of the whole control group, and no part of rss.");
        struct mt_cell *cells = mt_report_row(r)->cells;
        cells[0] = mt_cell_text(mt_report_text(r, d->name));
        cells[1] = mt_cell_text(mt_report_text(r, c->metric));
        cells[2] = mt_cell_known(last_b);
        cells[3] = mt_cell_known(most_b);
        cells[at_peak] = mt_cell_known(then_b);
        if (!i)
            work_cells(r, work, w, cells);
    }
    if (peak_ns != MT_UNKNOWN && !asked->brief)
        mt_memory_process_sum(r, d, counts, peak_ns, rss_b);
}

/* ---- moments ---- */

struct moment {
    int64_t t_ns, rss_b;
};

static enum mt_status find_moment(const struct mt_view *v, const struct mt_process_counts *counts,
                                  const char *text, struct moment *out, struct mt_err *err)
{
    struct mt_time_arg m;
    const struct mt_levels *rss = &counts->all.v[0].levels;
    MT_TRY(mt_time_arg_parse(text, &v->run, &v->blocks.steps, &m, err));
    bool exact = m.kind == MT_AT_TIME && m.t_ns != INT64_MIN && m.t_ns != INT64_MAX;
    int64_t index = mt_levels_of_moment(rss, &m);
    out->t_ns = exact ? m.t_ns : mt_levels_time(rss, index, 0);
    if (m.t_ns == INT64_MAX && m.kind == MT_AT_TIME)
        out->t_ns = mt_process_last(counts, v->run.dur_ns);
    out->rss_b = out->t_ns < counts->end_ns ? mt_levels_value(rss, index) : MT_UNKNOWN;
    return MT_OK;
}

/* The change of a figure between two moments; MT_UNKNOWN. */
static int64_t change_of(const struct mt_process_counts *counts, const char *metric,
                         const struct moment *m)
{
    for (size_t i = 1; i < counts->all.n; i++) {
        const struct mt_counted *c = &counts->all.v[i];
        if (strcmp(c->metric, metric) != 0)
            continue;
        int64_t before = mt_process_counted_at(counts, c, m[0].t_ns);
        int64_t after = mt_process_counted_at(counts, c, m[1].t_ns);
        return before == MT_UNKNOWN || after == MT_UNKNOWN ? MT_UNKNOWN
                                                           : mt_wrap_sub(after, before);
    }
    return MT_UNKNOWN;
}

/* Where is what PyTorch freed and the system did not get, as far as malloc was asked. */
static char *who_keeps(int64_t kept_b, bool all, int64_t held_b)
{
    char held[MT_HUMAN_MAX];
    if (held_b == MT_UNKNOWN)
        return mt_asprintf("malloc keeps %s, or others took it", all ? "it" : "the rest");
    if (held_b <= 0)
        return mt_asprintf("others took %s", all ? "it" : "the rest");
    return mt_asprintf("malloc holds %s more%s", mt_human_bytes(held_b, held),
                       held_b < kept_b - kept_b / 10 ? ", and others took the rest" : "");
}

/* What came back, and to whom; held_b: what malloc holds more, MT_UNKNOWN. */
static void explain_change(struct mt_report *r, int64_t pytorch_b, int64_t rss_b, int64_t held_b)
{
    char a[MT_HUMAN_MAX], b[MT_HUMAN_MAX];
    if (!pytorch_b)
        mt_report_footer(r, "PyTorch freed nothing, or no more than it allocated: what it has is "
                            "still referenced, or in cycles that gc.collect() finds.");
    if (pytorch_b >= 0)
        return;
    mt_human_bytes(-pytorch_b, a);
    char *who = who_keeps(rss_b < 0 ? rss_b - pytorch_b : -pytorch_b, rss_b >= 0, held_b);
    if (rss_b >= 0)
        mt_report_footer(r, "PyTorch freed %s, and the system got none of it back: %s.", a, who);
    else if (rss_b > pytorch_b - pytorch_b / 10)
        mt_report_footer(r, "PyTorch freed %s, of which the system got %s back: %s.", a,
                         mt_human_bytes(-rss_b, b), who);
    else
        mt_report_footer(r, "PyTorch freed %s, and the system got %s back.", a,
                         mt_human_bytes(-rss_b, b));
    free(who);
}

/* Where to look for the tensors themselves: those that came or went, else those that are there. */
static void point_to_trace(struct mt_report *r, const struct mt_traced_all *traced,
                           const struct moment *m, bool changed)
{
    struct mt_buf run = {0};
    for (size_t i = 0; i < traced->all.n; i++) {
        const struct mt_traced *t = &traced->all.v[i];
        int64_t from_ns = m[0].t_ns - t->offset_ns, to_ns = m[1].t_ns - t->offset_ns;
        to_ns = to_ns > t->run.dur_ns ? t->run.dur_ns : to_ns;
        if (from_ns < 0 || (changed && from_ns > to_ns))
            continue;
        mt_shell_word(&run, t->run.name);
        if (changed)
            mt_report_footer(r, "`memtool peak %s --at %lldns --at %lldns` shows whose tensors.",
                             run.s, (long long)from_ns, (long long)to_ns);
        else
            mt_report_footer(r, "`memtool peak %s --at %lldns` shows whose tensors are alive.",
                             run.s, (long long)to_ns);
        break;
    }
    mt_buf_free(&run);
}

static void moment_rows(struct mt_report *r, const struct mt_run_device *d,
                        const struct mt_process_counts *counts, const struct mt_work *work,
                        const struct moment *m, const struct mt_memory_asked *asked)
{
    const size_t n = asked->at.n;
    const int64_t t0 = m[0].t_ns, t1 = m[n - 1].t_ns; /* in any order */
    const struct mt_window between = {t0 < t1 ? t0 : t1, (t0 < t1 ? t1 : t0) + (n == 1)};
    for (size_t i = 0; i < counts->all.n; i++) {
        const struct mt_counted *c = &counts->all.v[i];
        int64_t b[MOMENTS] = {m[0].rss_b, m[n - 1].rss_b};
        if (!is_shown(c, asked))
            continue;
        for (size_t k = 0; k < n && i; k++)
            b[k] = mt_process_counted_at(counts, c, m[k].t_ns);
        int64_t change =
            b[0] == MT_UNKNOWN || b[1] == MT_UNKNOWN ? MT_UNKNOWN : mt_wrap_sub(b[1], b[0]);
        struct mt_cell *cells = mt_report_row(r)->cells;
        if (!i)
            work_cells(r, work, &between, cells);
        if (n == MOMENTS)
            *cells++ = mt_cell_known(change);
        for (size_t k = 0; k < n; k++)
            *cells++ = mt_cell_known(b[k]);
        *cells++ = mt_cell_text(mt_report_text(r, d->name));
        *cells = mt_cell_text(mt_report_text(r, c->metric));
        if (t0 < t1 && strcmp(c->metric, MT_COUNTED_PYTORCH) == 0 && change != MT_UNKNOWN &&
            (change || b[1]))
            explain_change(r, change, mt_wrap_sub(m[1].rss_b, m[0].rss_b),
                           change_of(counts, mt_metric_names[MT_METRIC_MALLOC_HELD], m));
    }
    if (n == MOMENTS)
        point_to_trace(r, &counts->traced, m, change_of(counts, MT_COUNTED_PYTORCH, m) != 0);
    else if (!asked->brief)
        mt_memory_process_sum(r, d, counts, m[0].t_ns, m[0].rss_b);
}

/* ---- steps ---- */

static const struct mt_counted *pytorch_of(const struct mt_process_counts *counts)
{
    for (size_t i = 0; i < counts->all.n; i++)
        if (strcmp(counts->all.v[i].metric, MT_COUNTED_PYTORCH) == 0)
            return &counts->all.v[i];
    return NULL;
}

/* The column of each count that a log told of itself, -1 of the others; to be freed. */
static int *own_columns(struct mt_report *r, const struct mt_process_counts *counts)
{
    int *column = mt_alloc((counts->all.n + 1) * sizeof *column);
    for (size_t i = 0; i < counts->all.n; i++) {
        const char *metric = counts->all.v[i].metric;
        column[i] = i && is_own(metric) ? mt_report_find_column(r, own_column(r, metric)) : -1;
    }
    return column;
}

/* These, by the log's last word in the step. */
static void own_cells(const struct mt_process_counts *counts, const int *column,
                      const struct mt_window *w, struct mt_cell *cells)
{
    for (size_t i = 0; i < counts->all.n; i++) {
        int64_t most_b, last_b;
        if (column[i] < 0)
            continue;
        mt_process_counted_within(counts, &counts->all.v[i], w, &most_b, &last_b);
        cells[column[i]] = mt_cell_known(last_b);
    }
}

static void step_rows(struct mt_report *r, const struct mt_run_device *d,
                      const struct mt_steps *steps, const struct mt_process_counts *counts,
                      const struct mt_work *work)
{
    const struct mt_counted *pytorch = pytorch_of(counts);
    int *own_column_of = own_columns(r, counts);
    for (size_t i = 0; i < steps->all.n; i++) {
        const struct mt_step *s = &steps->all.v[i];
        const struct mt_window w = {s->start_ns, mt_steps_until(steps, i)};
        int64_t rss[2], own[2] = {MT_UNKNOWN, MT_UNKNOWN}; /* most, last */
        mt_process_counted_within(counts, &counts->all.v[0], &w, &rss[0], &rss[1]);
        if (pytorch)
            mt_process_counted_within(counts, pytorch, &w, &own[0], &own[1]);
        struct mt_cell *cells = mt_report_row(r)->cells;
        cells[0] = mt_cell_int(s->number);
        cells[1] = mt_cell_int(s->start_ns);
        cells[2] = mt_cell_known(rss[1]);
        cells[3] = mt_cell_known(rss[0]);
        cells[4] = mt_cell_known(own[1]);
        cells[5] = mt_cell_known(own[0]);
        own_cells(counts, own_column_of, &w, cells);
        work_cells(r, work, &w, cells);
        cells[r->columns.n - 1] = mt_cell_text(mt_report_text(r, d->name));
    }
    free(own_column_of);
}

/* ---- PyTorch's profiler ---- */

/* How much rss rose from the begin of a window to the most in it. */
static int64_t risen(const struct mt_levels *rss, const struct mt_window *w)
{
    int64_t from = mt_levels_at(rss, w->from_ns), to = mt_levels_at(rss, w->to_ns);
    if (w->to_ns == INT64_MAX || to <= from)
        return 0;
    return mt_wrap_sub(mt_levels_value(rss, mt_levels_peak(rss, from < 0 ? 0 : from, to)),
                       mt_levels_value(rss, from));
}

/* While it starts and while it writes its trace the program waits for it: that much is known. */
static void name_profiler(struct mt_report *r, const struct mt_process_counts *counts,
                          const struct mt_profiled *p)
{
    char start[MT_HUMAN_MAX], write[MT_HUMAN_MAX];
    const struct mt_levels *rss = &counts->all.v[0].levels;
    if (!p->any || !rss->all.n)
        return;
    mt_report_footer(
        r,
        "rss rose by %s while PyTorch's profiler started, and by %s while it wrote its "
        "trace; what it kept in between is unknown.",
        mt_human_bytes(risen(rss, &p->starting), start),
        mt_human_bytes(risen(rss, &p->writing), write));
}

/* ---- all ---- */

/* Of which run the figures of PyTorch are, and when they are known. */
static void name_traces(struct mt_report *r, const struct mt_run *run,
                        const struct mt_traced_all *traced, const struct mt_profiled *profiled)
{
    char from[MT_HUMAN_MAX], to[MT_HUMAN_MAX];
    for (size_t i = 0; i < traced->all.n; i++) {
        const struct mt_traced *t = &traced->all.v[i];
        bool end = t->known.to_ns == INT64_MAX || t->known.to_ns >= run->dur_ns;
        mt_report_footer(r, "pytorch is what run '%s' has on %s, recorded from %s to %s%s.",
                         t->run.name, t->device.name,
                         mt_human_ns(t->known.from_ns > 0 ? t->known.from_ns : 0, from),
                         end ? "the end" : mt_human_ns(t->known.to_ns, to),
                         end || !profiled->any ? "" : " (`record --torch=all` goes on to the end)");
        mt_report_older(r, &t->run, &t->device);
    }
}

static enum mt_status show(struct mt_report *r, const struct mt_view *v,
                           const struct mt_run_device *d, const struct mt_memory_asked *asked,
                           const struct mt_process_counts *counts, const struct mt_work *work,
                           struct mt_err *err)
{
    struct moment m[MOMENTS] = {{0}};
    struct mt_profiled profiled;
    MT_TRY(mt_profiled_load(v->db, &v->run, d, &profiled, err));
    if (asked->per_step) {
        step_rows(r, d, &v->blocks.steps, counts, work);
    } else if (asked->at.n) {
        for (size_t i = 0; i < asked->at.n; i++)
            MT_TRY(find_moment(v, counts, asked->at.v[i], &m[i], err));
        if (m[0].t_ns < counts->end_ns)
            moment_rows(r, d, counts, work, m, asked);
    } else if (asked->window.from_ns < counts->end_ns) {
        window_rows(r, d, counts, work, asked);
        name_profiler(r, counts, &profiled);
    }
    name_traces(r, &v->run, &counts->traced, &profiled);
    return MT_OK;
}

enum mt_status mt_memory_process(struct mt_report *r, const struct mt_view *v,
                                 const struct mt_run_device *d, const struct mt_memory_asked *asked,
                                 struct mt_err *err)
{
    struct mt_process_counts counts;
    struct mt_work work = {0};
    if (asked->levels && !mt_device_is_processes(d))
        MT_TRY(mt_knows(&v->run, d, MT_KNOWS_LEVEL, err));
    if (asked->steps)
        MT_TRY(mt_knows(&v->run, d, MT_KNOWS_STEPS, err));
    enum mt_status st = mt_process_counts_load(v->db, &v->run, d, &counts, err);
    if (st == MT_OK)
        st = mt_work_load(v->db, &v->run, d, &work, err);
    if (st == MT_OK)
        st = show(r, v, d, asked, &counts, &work, err);
    mt_work_free(&work);
    mt_process_counts_free(&counts);
    return st;
}
