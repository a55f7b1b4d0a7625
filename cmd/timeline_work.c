/* memtool timeline: threads and processor time of processes, below the curve. */
#include "cmd/timeline.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/usage/process.h"
#include "lib/usage/work.h"
#include <stdlib.h>

enum { MILLE = 1000, PER_CENT = 10 };

/* What a process had taken when it was first seen counts, but says nothing of how busy it was. */
static int64_t taken_since_seen(const struct mt_work *work, const struct mt_bucket *b,
                                int64_t cpu_ns)
{
    const struct mt_level *first = work->cpu.all.v;
    return b->start_ns < first->t_ns ? mt_wrap_sub(cpu_ns, first->level_b) : cpu_ns;
}

static void fill(struct mt_timeline *t, const struct mt_work *work)
{
    const size_t n = t->buckets.all.n;
    t->threads_n = mt_alloc(n * sizeof *t->threads_n);
    t->cpu_ns = mt_alloc(n * sizeof *t->cpu_ns);
    t->cpu_per_mille = mt_alloc(n * sizeof *t->cpu_per_mille);
    for (size_t k = 0; k < n; k++) {
        const struct mt_bucket *b = &t->buckets.all.v[k];
        const struct mt_window w = {b->start_ns, b->end_ns};
        t->threads_n[k] = mt_work_threads(work, &w);
        t->cpu_ns[k] = mt_work_cpu(work, &w);
        double span = (double)b->end_ns - (double)b->start_ns;
        const int64_t taken = taken_since_seen(work, b, t->cpu_ns[k]);
        double part = span > 0 && t->cpu_ns[k] > 0 && taken > 0 ? (double)taken / span : 0;
        t->cpu_per_mille[k] = part < INT32_MAX ? (int64_t)(part * MILLE + 0.5) : INT32_MAX;
    }
}

enum mt_status mt_timeline_work(struct mt_timeline *t, struct mt_err *err)
{
    struct mt_work work;
    if (!mt_device_is_process(&t->view->device))
        return MT_OK;
    enum mt_status st = mt_work_load(t->view->db, &t->view->run, &t->view->device, &work, err);
    if (st == MT_OK && work.cpu.all.n)
        fill(t, &work);
    mt_work_free(&work);
    return st;
}

static int64_t most_of(const int64_t *values, size_t n)
{
    int64_t most = 0;
    for (size_t k = 0; k < n; k++)
        most = values[k] > most ? values[k] : most;
    return most;
}

void mt_timeline_work_footer(struct mt_timeline *t)
{
    char time[MT_HUMAN_MAX], threads[MT_HUMAN_LONG];
    const size_t n = t->buckets.all.n;
    int64_t sum = 0;
    if (!t->cpu_ns)
        return;
    for (size_t k = 0; k < n; k++)
        sum += t->cpu_ns[k] > 0 && t->cpu_ns[k] < INT64_MAX - sum ? t->cpu_ns[k] : 0;
    mt_report_footer(t->report, "%s of processor time, up to %lld %% of a core; %s at most.",
                     mt_human_ns(sum, time),
                     (long long)(most_of(t->cpu_per_mille, n) + PER_CENT / 2) / PER_CENT,
                     mt_human_plural(most_of(t->threads_n, n), "thread", threads));
}

void mt_timeline_work_lanes(const struct mt_timeline *t, struct mt_chart *c)
{
    if (!t->cpu_ns)
        return;
    *mt_vec_push(&c->lanes) = (struct mt_chart_lane){"cpu", t->cpu_per_mille};
    *mt_vec_push(&c->lanes) = (struct mt_chart_lane){"threads", t->threads_n};
}

void mt_timeline_work_cells(const struct mt_timeline *t, size_t bucket, struct mt_cell *cells)
{
    if (!t->cpu_ns)
        return;
    if (t->threads_n[bucket] != MT_UNKNOWN)
        cells[0] = mt_cell_int(t->threads_n[bucket]);
    if (t->cpu_ns[bucket] != MT_UNKNOWN)
        cells[1] = mt_cell_int(t->cpu_ns[bucket]);
}

void mt_timeline_work_free(struct mt_timeline *t)
{
    free(t->threads_n);
    free(t->cpu_ns);
    free(t->cpu_per_mille);
}
