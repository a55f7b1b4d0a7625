#include "lib/record/watch_parts.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    PROCESSES = 4000, /* in all: more are not looked at */
    AT_ONCE = 500,
    QUICK = 300,               /* of so many two files stay open, */
    LISTED = 50,               /* of so many a third */
    FRESH = 100 * 1000 * 1000, /* ns that what was read of a process stands, */
    FEW = 10,                  /* or looks */
    SHARE = 1000,              /* what takes time is done so seldom that it takes a 1000th of it */
    LONGEST = 500 * 1000 * 1000, /* ns, but for children: those that live as long are seen */
    SLACK = 256 << 10,           /* the kernel does not count every page at once */
    SETTLED = 2 * FRESH,
    MARKED = 256,                 /* marks at which the parts of a process are told */
    UNCOUNTED = 500 * 1000 * 1000 /* ns that malloc may be unknown, and it means nothing */
};

int64_t mt_watch_cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static void close_file(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void close_files(const struct mt_watched *p)
{
    close_file(p->fd);
    close_file(p->rss_fd);
    close_file(p->children_fd);
}

static void forget(struct mt_watched *p)
{
    close_files(p);
    mt_thread_stacks_free(&p->stacks);
}

void mt_watch_free(struct mt_watch *w)
{
    for (size_t i = 0; i < w->all.n; i++)
        forget(&w->all.v[i]);
    close_file(w->children_fd);
    close_file(w->newest_fd);
    close_file(w->group_fd);
    mt_vec_free(&w->all);
    mt_vec_free(&w->seen);
    mt_vec_free(&w->pids);
    mt_buf_free(&w->uncounted);
}

/* ---- what is told ---- */

int64_t mt_watch_less(int64_t *n, int64_t *step)
{
    enum { TOLD = 768, LESS = 4 };
    *step *= ++*n % TOLD ? 1 : LESS;
    return *step;
}

void mt_watch_tell(struct mt_watch *w, enum mt_seen_kind kind, uint32_t process, int64_t t,
                   int64_t value)
{
    *mt_vec_push(&w->seen) =
        (struct mt_seen){.kind = kind, .process = process, .t_ns = t, .value = value};
}

void mt_watch_tell_metric(struct mt_watch *w, uint32_t process, int64_t told[MT_METRIC_N],
                          int metric, int64_t t, int64_t value)
{
    if (told[metric] == value + 1)
        return;
    told[metric] = value + 1;
    mt_watch_tell(w, MT_SEEN_SAMPLE, process, t, value);
    w->seen.v[w->seen.n - 1].metric = metric;
}

static void tell_metric(struct mt_watch *w, struct mt_watched *p, int metric, int64_t t,
                        int64_t value)
{
    mt_watch_tell_metric(w, p->process, p->told, metric, t, value);
}

/* Of the free blocks some were given back to the system, and of those in use some were never
 * touched: so much is held at most. Stacks are no part of either. */
static void tell_malloc(struct mt_watch *w, struct mt_watched *p, int64_t t,
                        const struct mt_proc_values *v)
{
    const struct mt_malloc_values *m = &v->malloc;
    if (!v->counted)
        return;
    p->least.counted = false;
    int64_t rest = v->anon > m->in_use ? v->anon - m->in_use : 0;
    int64_t heap = rest > p->stacks_b ? rest - p->stacks_b : 0;
    int64_t held = m->free < heap ? m->free : heap;
    tell_metric(w, p, MT_METRIC_MALLOC_IN_USE, t, m->in_use);
    tell_metric(w, p, MT_METRIC_MALLOC_MAPPED, t, m->mapped);
    tell_metric(w, p, MT_METRIC_MALLOC_FREE, t, m->free);
    tell_metric(w, p, MT_METRIC_MALLOC_TOP, t, m->top);
    tell_metric(w, p, MT_METRIC_MALLOC_HELD, t, held);
    tell_metric(w, p, MT_METRIC_OTHER_ANON, t, rest - held);
}

static void tell_parts(struct mt_watch *w, struct mt_watched *p, int64_t t,
                       const struct mt_proc_values *v)
{
    tell_metric(w, p, MT_METRIC_ANON, t, v->anon);
    tell_metric(w, p, MT_METRIC_FILE, t, v->file);
    tell_metric(w, p, MT_METRIC_SHMEM, t, v->shmem);
    tell_metric(w, p, MT_METRIC_SWAP, t, v->swap);
    tell_malloc(w, p, t, v);
}

/* What comes and goes between two times that parts are told: the least is what stays. */
static void keep_least(struct mt_watched *p, int64_t t, const struct mt_proc_values *v)
{
    if (!v->counted || (p->least.counted && p->least.malloc.in_use <= v->malloc.in_use))
        return;
    p->least = *v;
    p->least_ns = t;
}

static void tell_least(struct mt_watch *w, struct mt_watched *p, const struct mt_proc_values *v)
{
    const struct mt_proc_values least = p->least;
    if (least.counted && least.malloc.in_use < v->malloc.in_use)
        tell_malloc(w, p, p->least_ns, &least);
}

static void tell_peak_parts(struct mt_watch *w, struct mt_watched *p)
{
    if (!p->peak_waits)
        return;
    p->peak_waits = false;
    tell_parts(w, p, p->peak_ns, &p->at_peak);
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

/* Figures of a program that became another one, which does not count, are none: the thread that
 * counted is not there any more. */
static void read_malloc(struct mt_watch *w, struct mt_watched *p, int64_t t,
                        struct mt_proc_values *v)
{
    const struct mt_malloc_values *m = &v->malloc;
    if (!w->malloc || !mt_malloc_read(w->malloc, p->pid, &v->malloc))
        return;
    if (m->number != p->malloc_number) {
        p->malloc_number = m->number;
        p->malloc_ns = t;
    }
    v->counted = v->threads_n != 1 && t - p->malloc_ns < m->until_next_ns;
    p->counted_ns = v->counted ? t + 1 : p->counted_ns;
}

/* What was told of malloc stands until then, and no longer. An exec takes a moment until the next
 * program counts. */
static void end_counting(struct mt_watch *w, struct mt_watched *p, int64_t t,
                         const struct mt_proc_values *v)
{
    if (v->counted || !p->told[MT_METRIC_MALLOC_IN_USE] ||
        t - p->counted_ns <= UNCOUNTED + w->interval_ns)
        return;
    mt_watch_tell(w, MT_SEEN_UNCOUNTED, p->process, p->counted_ns, 0);
    for (int i = MT_METRIC_MALLOC_IN_USE; i <= MT_METRIC_OTHER_ANON; i++)
        p->told[i] = 0;
    p->least.counted = false;
}

static void use(struct mt_watch *w, struct mt_watched *p, int64_t t, struct mt_proc_values *v)
{
    read_malloc(w, p, t, v);
    p->last = *v;
    p->last_ns = t;
    int64_t most = v->peak > p->before_b ? v->peak : v->rss;
    if (most <= p->peak_b)
        tell_peak_parts(w, p);
    mt_watch_tell(w, MT_SEEN_LEVEL, p->process, t, v->rss);
    if (most > p->peak_b) {
        if (most > v->rss)
            mt_watch_tell(w, MT_SEEN_PEAK, p->process, t, most);
        rise(w, p, t, most);
    }
    keep_least(p, t, v);
    end_counting(w, p, t, v);
    bool due = t >= p->part_ns, marked = w->marked && p->marked_n < MARKED;
    mt_watch_work(w, p, t, due || marked);
    if (!due && !marked)
        return;
    p->marked_n += !due;
    tell_peak_parts(w, p);
    tell_least(w, p, v);
    tell_parts(w, p, t, v);
    if (due)
        p->part_ns = t + mt_watch_less(&p->part_n, &p->part_step);
}

/* ---- processes ---- */

/* Those that are found at once ran before. */
static bool is_older(const struct mt_watch *w)
{
    return w->attached && !w->family_ns;
}

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
        close_file(fd);
        if (!w->process_n)
            mt_watch_tell(w, MT_SEEN_PROCESS, w->process_n++, t, pid);
        return;
    }
    *mt_vec_push(&w->all) =
        (struct mt_watched){.pid = pid,
                            .fd = fd,
                            .rss_fd = w->all.n < QUICK ? mt_proc_open_rss(pid) : -1,
                            .children_fd = w->all.n < LISTED ? mt_proc_open_children(pid) : -1,
                            .before_b = is_older(w) ? v.peak : 0,
                            .process = w->process_n,
                            .begun_ns = t,
                            .part_step = 10 * w->interval_ns};
    mt_watch_tell(w, MT_SEEN_PROCESS, w->process_n++, t, pid);
    w->seen.v[w->seen.n - 1].older = is_older(w);
    use(w, &w->all.v[w->all.n - 1], t, &v);
}

static bool is_watched(const struct mt_watch *w, pid_t pid)
{
    for (size_t i = 0; i < w->all.n; i++)
        if (w->all.v[i].pid == pid)
            return true;
    return false;
}

/* There is no new process since children were looked for, nor was there one shortly before that:
 * it may have been started by a thread that was not known yet. Those that were left out or hidden
 * may leave us their children. */
static bool has_no_new(struct mt_watch *w, int64_t t)
{
    int64_t newest = mt_proc_newest(w->newest_fd);
    if (newest != w->newest || newest < 0) { /* or something ended */
        w->newest = newest;
        w->newest_ns = t;
    }
    return t - w->newest_ns > SETTLED + 2 * w->interval_ns && !w->hidden_n && !w->left_out_n;
}

/* Each thread has children of its own. */
static void list_children(struct mt_watch *w, const struct mt_watched *p)
{
    if (p->last.threads_n != 1 || !mt_proc_children_of(p->children_fd, &w->pids))
        mt_proc_children(p->pid, &w->pids);
}

/* Children of all, and those whose parents have ended: they became ours. */
static void find_children(struct mt_watch *w, int64_t t)
{
    int64_t begun = mt_watch_cpu();
    w->pids.n = 0;
    w->hidden_now = w->left_out_now = 0;
    for (size_t i = 0; i < w->all.n; i++)
        list_children(w, &w->all.v[i]);
    w->no_lists |= !mt_proc_children_of(w->children_fd, &w->pids);
    for (size_t i = 0; i < w->pids.n; i++)
        if (!is_watched(w, w->pids.v[i]) && w->pids.v[i] != getpid())
            add(w, w->pids.v[i], t);
    w->hidden_n = w->hidden_now > w->hidden_n ? w->hidden_now : w->hidden_n;
    w->left_out_n = w->left_out_now > w->left_out_n ? w->left_out_now : w->left_out_n;
    int64_t cost = mt_watch_cpu() - begun;
    int64_t wait = cost * SHARE < LONGEST ? cost * SHARE : LONGEST;
    w->family_ns = t + (wait > w->family_step ? wait : w->family_step);
}

static bool has_malloc_changed(const struct mt_watch *w, const struct mt_watched *p)
{
    const struct mt_malloc_values *before = &p->last.malloc;
    struct mt_malloc_values now;
    if (!w->malloc || !mt_malloc_read(w->malloc, p->pid, &now))
        return false;
    return !p->last.counted || now.in_use != before->in_use || now.free != before->free;
}

/* Of many not all are read anew at one look: each has its turn. */
static bool has_turn(const struct mt_watch *w, const struct mt_watched *p)
{
    return w->all.n <= LISTED || (w->look_n + p->process) % FEW == 0;
}

/* Whether it has what it had at the last look, and all of it was read not long ago. Where that has
 * changed, its peak may have, too, and both belong to one moment. */
static bool is_unchanged(const struct mt_watch *w, struct mt_watched *p, int64_t t)
{
    int64_t fresh = FRESH < FEW * w->interval_ns ? FRESH : FEW * w->interval_ns;
    bool due = t >= p->part_ns || t - p->read_ns >= fresh;
    int64_t rss = mt_proc_rss(p->rss_fd), before = p->quick_b;
    p->quick_b = rss;
    return rss > 0 && rss == before && !w->thorough && !(due && has_turn(w, p)) &&
           !has_malloc_changed(w, p);
}

/* False: it has ended. */
static bool look(struct mt_watch *w, struct mt_watched *p, int64_t t)
{
    struct mt_proc_values v;
    if (is_unchanged(w, p, t)) {
        p->last_ns = t;
        p->counted_ns = p->last.counted ? t + 1 : p->counted_ns;
        tell_peak_parts(w, p);
        mt_watch_tell(w, MT_SEEN_LEVEL, p->process, t, p->last.rss);
        return true;
    }
    const struct mt_proc_values before = p->last;
    p->read_ns = t;
    if (mt_proc_read(p->fd, &v) != MT_PROC_THERE) {
        tell_peak_parts(w, p);
        return false;
    }
    use(w, p, t, &v);
    w->changed |= v.rss != before.rss || v.malloc.in_use != before.malloc.in_use ||
                  v.malloc.free != before.malloc.free;
    return true;
}

void mt_watch_begin(struct mt_watch *w, pid_t pid, int64_t interval_ns, bool attached)
{
    *w = (struct mt_watch){.interval_ns = interval_ns,
                           .family_step = 5 * interval_ns,
                           .children_fd = mt_proc_open_children(getpid()),
                           .newest_fd = mt_proc_open_newest(),
                           .newest = -1,
                           .share_ns = 100 * 1000 * 1000,
                           .attached = attached,
                           .child_faults = attached ? mt_proc_child_faults(pid) : 0};
    mt_watch_group_begin(w, pid);
    add(w, pid, 0);
}

/* What ended at once says nothing, but for the command. */
static void end_malloc(struct mt_watch *w, const struct mt_watched *p)
{
    if (!w->malloc)
        return;
    bool never = !p->counted_ns && !p->process;
    int64_t since = p->counted_ns ? p->counted_ns : p->begun_ns;
    bool missing = never || p->last_ns - since > UNCOUNTED;
    if (missing && !w->uncounted_n++)
        mt_malloc_why(w->malloc, p->pid, &w->uncounted);
    mt_malloc_ended(w->malloc, p->pid);
}

/* Between two looks it may have been where it once was, before anybody looked. */
static void end_before(struct mt_watch *w, const struct mt_watched *p)
{
    if (p->before_b > p->peak_b && p->before_b > w->unseen_b)
        w->unseen_b = p->before_b;
}

void mt_watch_look(struct mt_watch *w, int64_t t_ns)
{
    size_t kept = 0;
    uint32_t process_n = w->process_n;
    w->look_n++;
    w->changed = w->thorough;
    if (w->marked && w->malloc)
        mt_malloc_ask(w->malloc);
    for (size_t i = 0; i < w->all.n; i++) {
        struct mt_watched *p = &w->all.v[i];
        bool there = look(w, p, t_ns);
        if (p->process == 0)
            w->first = *p;
        if (there)
            w->all.v[kept++] = *p;
        else {
            if (p->process || w->attached) /* the command's end is the recording's */
                mt_watch_tell(w, MT_SEEN_END, p->process, t_ns, 0);
            w->cut |= w->attached;
            end_before(w, p);
            end_malloc(w, p);
            mt_watch_work_ended(w, p);
            forget(p);
        }
    }
    if (kept < w->all.n) {
        w->changed = true;
        w->newest = -1; /* its number may be another one's now */
    }
    w->all.n = kept;
    if (w->last || (t_ns >= w->family_ns && !has_no_new(w, t_ns))) {
        uint32_t known_n;
        do { /* there is no look after the last one to find children of children */
            known_n = w->process_n;
            find_children(w, t_ns);
        } while (w->last && w->process_n > known_n);
        if (w->malloc)
            mt_malloc_sweep(w->malloc);
    }
    w->changed |= w->process_n > process_n;
    mt_watch_together(w, t_ns);
    mt_watch_group(w, t_ns);
}

void mt_watch_look_last(struct mt_watch *w, int64_t t_ns)
{
    w->thorough = w->last = true;
    mt_watch_look(w, t_ns);
}

/* What the command alone can have had is its own, whoever saw it. */
static void end_command(struct mt_watch *w, int64_t t_ns, int64_t maxrss_b)
{
    struct mt_watched *first = &w->first;
    mt_watch_tell(w, MT_SEEN_PEAK, 0, t_ns, maxrss_b);
    first->last = (struct mt_proc_values){0}; /* nobody saw what it was of */
    rise(w, first, first->last_ns, maxrss_b);
}

void mt_watch_end(struct mt_watch *w, int64_t t_ns, const struct mt_watch_ended *how)
{
    struct mt_watched *first = &w->first;
    mt_watch_together_end(w);
    for (size_t i = 0; i < w->all.n; i++) {
        if (w->all.v[i].process == 0)
            *first = w->all.v[i];
        tell_peak_parts(w, &w->all.v[i]);
        end_malloc(w, &w->all.v[i]);
    }
    mt_watch_work_end(w, t_ns, how);
    bool own = !how->floor && !how->waited, more = how->maxrss_b > first->peak_b;
    if (own && more)
        end_command(w, t_ns, how->maxrss_b);
    if (!own && more && (!w->peak_b || how->maxrss_b > w->peak_b + SLACK)) {
        w->unseen_b = how->maxrss_b;
        w->unseen_of_command = how->floor;
    }
    if (how->left_b > w->peak_b + SLACK && how->left_b > w->unseen_b) {
        w->unseen_b = how->left_b;
        w->unseen_of_command = false;
    }
}

void mt_watch_end_attached(struct mt_watch *w)
{
    mt_watch_together_end(w);
    for (size_t i = 0; i < w->all.n; i++) {
        tell_peak_parts(w, &w->all.v[i]);
        end_before(w, &w->all.v[i]);
    }
    if (mt_watch_goes_on(w))
        w->first = w->all.v[0];
    w->unseen_of_command = true;
    w->missed = mt_watch_goes_on(w) && mt_proc_child_faults(w->all.v[0].pid) != w->child_faults;
}
