#include "lib/usage/work.h"

#include "lib/base/wrap.h"
#include "lib/model/recording.h"
#include "lib/usage/process.h"

enum mt_status mt_work_load(struct mt_db *db, const struct mt_run *run,
                            const struct mt_run_device *device, struct mt_work *out,
                            struct mt_err *err)
{
    *out = (struct mt_work){.end_ns = INT64_MAX};
    MT_TRY(mt_process_end(db, run, device, &out->end_ns, err));
    MT_TRY(
        mt_samples_load(db, run, device, mt_metric_names[MT_METRIC_THREADS], &out->threads, err));
    return mt_samples_load(db, run, device, mt_metric_names[MT_METRIC_CPU], &out->cpu, err);
}

void mt_work_free(struct mt_work *w)
{
    mt_levels_free(&w->threads);
    mt_levels_free(&w->cpu);
}

int64_t mt_work_threads(const struct mt_work *w, const struct mt_window *window)
{
    int64_t first = mt_levels_before(&w->threads, window->from_ns);
    int64_t last = mt_levels_before(&w->threads, window->to_ns);
    if (last < 0 || window->from_ns >= w->end_ns)
        return MT_UNKNOWN;
    return mt_levels_value(&w->threads, mt_levels_peak(&w->threads, first < 0 ? 0 : first, last));
}

__extension__ typedef __int128 wide;

/* Before the first sample there was none of it. Figures of a database may be any. */
static int64_t cpu_at(const struct mt_levels *l, int64_t t_ns)
{
    int64_t at = mt_levels_at(l, t_ns);
    if (at < 0)
        return 0;
    const struct mt_level *a = &l->all.v[at], *b = a + 1;
    if (at + 1 == (int64_t)l->all.n || b->t_ns <= a->t_ns)
        return a->level_b;
    wide more = (wide)b->level_b - a->level_b;
    wide part = more * ((wide)t_ns - a->t_ns) / ((wide)b->t_ns - a->t_ns);
    return mt_wrap_add(a->level_b, (int64_t)part);
}

int64_t mt_work_cpu(const struct mt_work *w, const struct mt_window *window)
{
    int64_t from_ns = window->from_ns > 0 ? window->from_ns : 0;
    if (!w->cpu.all.n || from_ns >= w->end_ns || window->to_ns <= w->cpu.all.v[0].t_ns)
        return MT_UNKNOWN;
    return mt_wrap_sub(cpu_at(&w->cpu, window->to_ns), cpu_at(&w->cpu, from_ns));
}
