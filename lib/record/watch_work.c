#include "lib/record/watch_parts.h"

/* Of whom something is told. */
struct who {
    uint32_t process;
    int64_t *told;
    struct mt_watched_work *work;
};

static void tell_cpu(struct mt_watch *w, const struct who *who, int64_t t, int64_t cpu_ns)
{
    mt_watch_tell_metric(w, who->process, who->told, MT_METRIC_CPU, t, cpu_ns);
    who->work->cpu_told_ns = t;
}

/* The most threads since they were told last, too: many live shortly. */
static void tell(struct mt_watch *w, const struct who *who, int64_t t, int64_t threads_n,
                 int64_t cpu_ns, bool parts)
{
    struct mt_watched_work *work = who->work;
    if (threads_n >= work->most_n) {
        work->most_n = threads_n;
        work->most_ns = t;
    }
    /* At a step or a mark, where time counts, but not at each of very many. */
    if (!work->said_step)
        work->said_step = w->interval_ns;
    bool said = !parts && w->thorough && t - work->cpu_told_ns >= work->said_step;
    if (parts || said)
        tell_cpu(w, who, t, cpu_ns);
    if (said)
        mt_watch_less(&work->said_n, &work->said_step);
    if (!parts)
        return;
    if (work->most_ns < t)
        mt_watch_tell_metric(w, who->process, who->told, MT_METRIC_THREADS, work->most_ns,
                             work->most_n);
    mt_watch_tell_metric(w, who->process, who->told, MT_METRIC_THREADS, t, threads_n);
    work->most_n = 0;
}

static struct who one(struct mt_watched *p)
{
    return (struct who){p->process, p->told, &p->work};
}

void mt_watch_work(struct mt_watch *w, struct mt_watched *p, int64_t t, bool parts)
{
    const struct who who = one(p);
    bool began = !t && !w->attached; /* what it took until now took us to start it */
    int64_t cpu_ns = began ? 0 : mt_proc_cpu(p->pid);
    if (cpu_ns > p->cpu_ns)
        p->cpu_ns = cpu_ns;
    tell(w, &who, t, p->last.threads_n, p->cpu_ns, parts);
}

void mt_watch_work_ended(struct mt_watch *w, struct mt_watched *p)
{
    const struct who who = one(p);
    tell_cpu(w, &who, p->last_ns, p->cpu_ns);
    w->ended_cpu_ns += p->cpu_ns;
}

static struct who together(struct mt_watch *w)
{
    struct mt_watched_all *all = &w->together;
    return (struct who){all->process, all->told, &all->work};
}

static int64_t sum_cpu(const struct mt_watch *w)
{
    int64_t sum = w->ended_cpu_ns;
    for (size_t i = 0; i < w->all.n; i++)
        sum += w->all.v[i].cpu_ns;
    return sum;
}

void mt_watch_work_together(struct mt_watch *w, int64_t t, bool parts)
{
    const struct who who = together(w);
    int64_t threads_n = 0;
    for (size_t i = 0; i < w->all.n; i++)
        threads_n += w->all.v[i].last.threads_n;
    tell(w, &who, t, threads_n, sum_cpu(w), parts);
}

/* What it has by itself it has if it waited for nobody; all have at least what was seen. */
void mt_watch_work_end(struct mt_watch *w, int64_t t, const struct mt_watch_ended *how)
{
    const struct who command = one(&w->first), all = together(w);
    int64_t sum = sum_cpu(w);
    if (!how->waited && how->cpu_ns >= w->first.cpu_ns)
        tell_cpu(w, &command, t, how->cpu_ns);
    if (w->together.any)
        tell_cpu(w, &all, t, how->cpu_ns > sum ? how->cpu_ns : sum);
}
