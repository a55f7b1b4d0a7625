#include "lib/record/watch_parts.h"

/* What looks at all pages takes such a part of the time, where there are several and with one: what
 * that shares is hardly more than its files. Where it has another rss by now, what was read says
 * little. */
enum { PAGES = 300, PAGES_CHANGED = 2000, PAGES_ALONE = 5000 };
static const int64_t soonest = 200 * 1000 * 1000, ripe = 100 * 1000 * 1000;

static void tell(struct mt_watch *w, int metric, int64_t t, int64_t value)
{
    mt_watch_tell_metric(w, w->together.process, w->together.told, metric, t, value);
}

/* What they had since that was told, and at the last look. */
static void tell_looked(struct mt_watch *w)
{
    struct mt_watched_all *all = &w->together;
    if (all->most_since_ns < all->look_ns)
        tell(w, MT_METRIC_AT_MOST, all->most_since_ns, all->most_since_b);
    tell(w, MT_METRIC_AT_MOST, all->look_ns, all->look_most_b);
    tell(w, MT_METRIC_AT_LEAST, all->look_ns, all->look_least_b);
    all->most_since_b = 0;
    all->look_told = true;
}

/* Shared pages count in each process, or in the largest of them only: what they have in all lies
 * between these. */
static void tell_bounds(struct mt_watch *w, int64_t t)
{
    struct mt_watched_all *all = &w->together;
    int64_t most = 0, least = 0;
    for (size_t i = 0; i < w->all.n; i++) {
        int64_t rss = w->all.v[i].last.rss;
        most += rss;
        least = rss > least ? rss : least;
    }
    if (most >= all->most_since_b) {
        all->most_since_b = most;
        all->most_since_ns = t;
    }
    all->most_b = most > all->most_b ? most : all->most_b;
    all->least_b = least > all->least_b ? least : all->least_b;
    all->look_ns = t;
    all->look_most_b = most;
    all->look_least_b = least;
    all->look_told = false;
    mt_watch_work_together(w, t, t >= all->part_ns);
    if (t < all->part_ns)
        return;
    tell_looked(w);
    all->part_ns = t + mt_watch_less(&all->part_n, &all->part_step);
}

/* Finding stacks takes several times as long: of many only so many are asked for them at once, in
 * turn. */
static bool is_asked_stacks(const struct mt_watch *w, const struct mt_watched *p)
{
    enum { AT_ONCE = 50 };
    return w->malloc && ((int64_t)p->process + w->share_n) % ((int64_t)w->all.n / AT_ONCE + 1) == 0;
}

/* All at once, so that shares add up. What has ended meanwhile has none; of what cannot be read
 * there is no sum. */
static bool read_shares(struct mt_watch *w, int64_t t, struct mt_proc_shares *sum)
{
    bool whole = true;
    *sum = (struct mt_proc_shares){0};
    for (size_t i = 0; i < w->all.n; i++) {
        struct mt_watched *p = &w->all.v[i];
        struct mt_proc_shares own;
        bool stacks = is_asked_stacks(w, p);
        enum mt_proc_state state =
            stacks ? mt_thread_stacks_read(p->pid, &p->stacks, &own, &p->stacks_b)
                   : mt_proc_shares(p->pid, &own);
        whole &= state != MT_PROC_HIDDEN;
        if (state != MT_PROC_THERE)
            continue;
        sum->pss += own.pss;
        sum->own += own.own;
        sum->swap += own.swap;
        mt_watch_tell_metric(w, p->process, p->told, MT_METRIC_PSS, t, own.pss);
        mt_watch_tell_metric(w, p->process, p->told, MT_METRIC_PRIVATE, t, own.own);
        if (stacks)
            mt_watch_tell_metric(w, p->process, p->told, MT_METRIC_STACKS, t, p->stacks_b);
    }
    return whole;
}

static int64_t part_of(const struct mt_watch *w)
{
    enum { PERCENT = 100 };
    int64_t rss = w->all.v[0].last.rss, off = rss - w->share_rss_b;
    if (w->all.n > 1 || w->thorough)
        return PAGES;
    return (off < 0 ? -off : off) > rss / PERCENT ? PAGES_CHANGED : PAGES_ALONE;
}

/* Soon where there is a new process, but not in its first moments; and where the program says
 * something. */
static bool is_time(struct mt_watch *w, int64_t t)
{
    int64_t rest = w->share_read_ns + w->share_cost_ns * part_of(w);
    int64_t soon = t + ripe > rest ? t + ripe : rest;
    if (w->process_n != w->share_process_n && soon < w->share_ns)
        w->share_ns = soon;
    w->share_process_n = w->process_n;
    return (t >= w->share_ns || w->thorough) && t >= rest;
}

static void tell_shares(struct mt_watch *w, int64_t t)
{
    struct mt_watched_all *all = &w->together;
    struct mt_proc_shares sum;
    if (!is_time(w, t))
        return;
    int64_t begun = mt_watch_cpu();
    bool whole = read_shares(w, t, &sum);
    w->share_cost_ns = mt_watch_cpu() - begun;
    w->share_read_ns = t;
    w->share_rss_b = w->all.v[0].last.rss;
    w->share_ns = t + mt_watch_less(&w->share_n, &w->share_step);
    all->unread |= !whole;
    if (!all->any || !whole)
        return;
    all->least_b = sum.pss > all->least_b ? sum.pss : all->least_b;
    tell(w, MT_METRIC_PSS, t, sum.pss);
    tell(w, MT_METRIC_PRIVATE, t, sum.own);
    tell(w, MT_METRIC_SWAP, t, sum.swap);
}

void mt_watch_together(struct mt_watch *w, int64_t t)
{
    struct mt_watched_all *all = &w->together;
    int64_t threads = 0;
    if (!w->share_step)
        w->share_step = soonest;
    for (size_t i = 0; i < w->all.n; i++)
        threads += w->all.v[i].last.threads_n;
    w->threads_n = threads > w->threads_n ? threads : w->threads_n;
    if (!all->any && w->all.n > 1) {
        *all = (struct mt_watched_all){
            .any = true, .process = w->process_n++, .part_step = 10 * w->interval_ns};
        mt_watch_tell(w, MT_SEEN_PROCESS, all->process, t, MT_PROCESSES);
    }
    if (all->any && w->all.n)
        tell_bounds(w, t);
    if (w->all.n)
        tell_shares(w, t);
}

void mt_watch_together_end(struct mt_watch *w)
{
    if (w->together.look_ns && !w->together.look_told)
        tell_looked(w);
}
