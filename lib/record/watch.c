#include "lib/record/watch.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    PROCESSES = 4000, /* in all: more are not looked at */
    AT_ONCE = 500,
    SHARE = 1000, /* what takes time is done so seldom that it takes a 1000th of it, */
    PAGES = 300,  /* and a 300th what looks at all pages */
    PARTS = 2048, /* told of a process, before they are told less often */
    LESS = 4,
    SLACK = 256 << 10 /* the kernel does not count every page at once */
};
static const int64_t ms = 1000 * 1000;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 * ms + t.tv_nsec;
}

void mt_watch_free(struct mt_watch *w)
{
    for (size_t i = 0; i < w->all.n; i++)
        close(w->all.v[i].fd);
    mt_vec_free(&w->all);
    mt_vec_free(&w->seen);
    mt_vec_free(&w->pids);
}

/* ---- what is told ---- */

static void tell(struct mt_watch *w, enum mt_seen_kind kind, uint32_t process, int64_t t,
                 int64_t value)
{
    *mt_vec_push(&w->seen) =
        (struct mt_seen){.kind = kind, .process = process, .t_ns = t, .value = value};
}

static void tell_metric(struct mt_watch *w, struct mt_watched *p, int metric, int64_t t,
                        int64_t value)
{
    if (p->told[metric] == value + 1)
        return;
    p->told[metric] = value + 1;
    tell(w, MT_SEEN_SAMPLE, p->process, t, value);
    w->seen.v[w->seen.n - 1].metric = metric;
}

static void tell_parts(struct mt_watch *w, struct mt_watched *p, int64_t t,
                       const struct mt_proc_values *v)
{
    tell_metric(w, p, MT_METRIC_ANON, t, v->anon);
    tell_metric(w, p, MT_METRIC_FILE, t, v->file);
    tell_metric(w, p, MT_METRIC_SHMEM, t, v->shmem);
    tell_metric(w, p, MT_METRIC_SWAP, t, v->swap);
}

static void tell_peak_parts(struct mt_watch *w, struct mt_watched *p)
{
    if (!p->peak_waits)
        return;
    p->peak_waits = false;
    tell_parts(w, p, p->peak_ns, &p->at_peak);
}

/* Some of it is dear: seldom, and never in the first moments of a process. */
static void tell_shares(struct mt_watch *w, struct mt_watched *p, int64_t t)
{
    int64_t pss, own, begun = now_ns();
    if (t < p->share_ns)
        return;
    bool there = mt_proc_shares(p->pid, &pss, &own);
    int64_t cost = now_ns() - begun;
    p->share_ns = t + (cost * PAGES > 200 * ms ? cost * PAGES : 200 * ms);
    if (!there)
        return;
    tell_metric(w, p, MT_METRIC_PSS, t, pss);
    tell_metric(w, p, MT_METRIC_PRIVATE, t, own);
}

static void rise(struct mt_watch *w, struct mt_watched *p, int64_t t, int64_t peak_b)
{
    p->peak_b = peak_b;
    p->peak_ns = t;
    p->at_peak = p->last;
    p->peak_waits = true;
    if (peak_b <= w->peak_b)
        return;
    w->peak_b = peak_b;
    w->peak_ns = t;
    w->peak_of = p->process;
    w->at_peak = p->last;
}

static void use(struct mt_watch *w, struct mt_watched *p, int64_t t, const struct mt_proc_values *v)
{
    p->last = *v;
    p->last_ns = t;
    if (v->peak <= p->peak_b)
        tell_peak_parts(w, p);
    tell(w, MT_SEEN_LEVEL, p->process, t, v->rss);
    if (v->peak > p->peak_b) {
        if (v->peak > v->rss)
            tell(w, MT_SEEN_PEAK, p->process, t, v->peak);
        rise(w, p, t, v->peak);
    }
    if (t < p->part_ns)
        return;
    tell_peak_parts(w, p);
    tell_parts(w, p, t, v);
    p->part_step *= ++p->part_n % PARTS ? 1 : LESS;
    p->part_ns = t + p->part_step;
}

/* ---- processes ---- */

/* The command counts even if it has ended before anybody looked. */
static void add(struct mt_watch *w, pid_t pid, int64_t t)
{
    enum mt_proc_state state;
    if (w->process_n == PROCESSES || w->all.n == AT_ONCE) {
        w->left_out_now++;
        return;
    }
    struct mt_proc_values v;
    int fd = mt_proc_open(pid, &state);
    if (fd >= 0)
        state = mt_proc_read(fd, &v);
    w->hidden_now += state == MT_PROC_HIDDEN;
    if (state != MT_PROC_THERE) { /* such as children that have ended, whom nobody waited for */
        if (fd >= 0)
            close(fd);
        if (!w->process_n)
            tell(w, MT_SEEN_PROCESS, w->process_n++, t, pid);
        return;
    }
    *mt_vec_push(&w->all) = (struct mt_watched){.pid = pid,
                                                .fd = fd,
                                                .process = w->process_n,
                                                .part_step = 10 * w->interval_ns,
                                                .share_ns = t + 100 * ms};
    tell(w, MT_SEEN_PROCESS, w->process_n++, t, pid);
    use(w, &w->all.v[w->all.n - 1], t, &v);
}

static bool is_watched(const struct mt_watch *w, pid_t pid)
{
    for (size_t i = 0; i < w->all.n; i++)
        if (w->all.v[i].pid == pid)
            return true;
    return false;
}

/* Children of all, and those whose parents have ended: they became ours. */
static void find_children(struct mt_watch *w, int64_t t)
{
    int64_t begun = now_ns();
    w->pids.n = 0;
    w->hidden_now = w->left_out_now = 0;
    for (size_t i = 0; i < w->all.n; i++)
        mt_proc_children(w->all.v[i].pid, &w->pids);
    w->no_lists |= !mt_proc_children(getpid(), &w->pids);
    for (size_t i = 0; i < w->pids.n; i++)
        if (!is_watched(w, w->pids.v[i]))
            add(w, w->pids.v[i], t);
    w->hidden_n = w->hidden_now > w->hidden_n ? w->hidden_now : w->hidden_n;
    w->left_out_n = w->left_out_now > w->left_out_n ? w->left_out_now : w->left_out_n;
    int64_t cost = now_ns() - begun;
    w->family_ns = t + (cost * SHARE > w->family_step ? cost * SHARE : w->family_step);
}

/* False: it has ended. */
static bool look(struct mt_watch *w, struct mt_watched *p, int64_t t)
{
    struct mt_proc_values v;
    if (mt_proc_read(p->fd, &v) != MT_PROC_THERE) {
        tell_peak_parts(w, p);
        return false;
    }
    use(w, p, t, &v);
    tell_shares(w, p, t);
    return true;
}

void mt_watch_begin(struct mt_watch *w, pid_t pid, int64_t interval_ns)
{
    *w = (struct mt_watch){.interval_ns = interval_ns, .family_step = 5 * interval_ns};
    add(w, pid, 0);
}

void mt_watch_look(struct mt_watch *w, int64_t t_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->all.n; i++) {
        struct mt_watched *p = &w->all.v[i];
        bool there = look(w, p, t_ns);
        if (p->process == 0)
            w->first = *p;
        if (there)
            w->all.v[kept++] = *p;
        else
            close(p->fd);
    }
    w->all.n = kept;
    if (t_ns >= w->family_ns)
        find_children(w, t_ns);
}

/* What the command alone can have had is its own, whoever saw it. */
static void end_command(struct mt_watch *w, int64_t t_ns, int64_t maxrss_b)
{
    struct mt_watched *first = &w->first;
    tell(w, MT_SEEN_PEAK, 0, t_ns, maxrss_b);
    first->last = (struct mt_proc_values){0}; /* nobody saw what it was of */
    rise(w, first, first->last_ns, maxrss_b);
}

void mt_watch_end(struct mt_watch *w, int64_t t_ns, int64_t maxrss_b, bool floor, bool waited)
{
    struct mt_watched *first = &w->first;
    for (size_t i = 0; i < w->all.n; i++) {
        if (w->all.v[i].process == 0)
            *first = w->all.v[i];
        tell_peak_parts(w, &w->all.v[i]);
    }
    if (maxrss_b <= first->peak_b)
        return;
    if (!floor && !waited) {
        end_command(w, t_ns, maxrss_b);
        return;
    }
    if (maxrss_b <= w->peak_b + SLACK || (floor && !w->peak_b))
        return;
    w->unseen_b = maxrss_b;
    w->unseen_of_command = floor;
}

static void add_missing(struct mt_buf *out, uint64_t n, const char *text)
{
    if (!n)
        return;
    mt_buf_adds(out, out->n ? "; " : "");
    mt_buf_addf(out, text, (unsigned long long)n);
}

void mt_watch_missing(const struct mt_watch *w, uint64_t dropped_n, struct mt_buf *out)
{
    add_missing(out, w->left_out_n, "no room for processes, %llu or more");
    add_missing(out, w->hidden_n, "the system hides processes, %llu or more");
    add_missing(out, dropped_n, "the database was busy, %llu values are lost");
    if (w->no_lists)
        add_missing(out, 1, "the kernel does not list children");
}
