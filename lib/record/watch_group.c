#include "lib/record/watch_parts.h"

void mt_watch_group_begin(struct mt_watch *w, pid_t pid)
{
    mt_cgroup_of(pid, &w->group);
    w->group_fd = mt_cgroup_open_current(&w->group);
    mt_cgroup_read(&w->group, &w->group_first);
    w->group_last = w->group_first;
    w->group_step = 10 * w->interval_ns;
    w->system_ooms_n = mt_system_oom_kills();
}

/* Those who are in another group are in no figure of this one. One that ends is in none: then its
 * memory is gone already. That takes a thousandth of the time at most. */
static void find_leavers(struct mt_watch *w, int64_t t)
{
    enum { SHARE = 1000 };
    if (t < w->group_left_ns)
        return;
    int64_t begun = mt_watch_cpu();
    for (size_t i = 0; i < w->all.n; i++) {
        struct mt_watched *p = &w->all.v[i];
        struct mt_proc_values now;
        if (p->group_left || mt_cgroup_has(&w->group, p->pid) ||
            mt_proc_read(p->fd, &now) != MT_PROC_THERE)
            continue;
        p->group_left = true;
        w->group_left_n++;
    }
    w->group_left_ns = t + (mt_watch_cpu() - begun) * SHARE;
}

/* What else there is of it is read now and then: it may be gone at the end. */
void mt_watch_group(struct mt_watch *w, int64_t t)
{
    enum { ALL = 16, LEAVERS = 2 };
    struct mt_cgroup_values v;
    if (!w->group.dir[0] || t < w->group_ns)
        return;
    w->group_ns = t + mt_watch_less(&w->group_n, &w->group_step);
    int64_t current_b = mt_cgroup_current(w->group_fd);
    if (current_b < 0)
        return; /* it is gone */
    if (w->all.n && w->all.v[0].process == 0)
        mt_watch_tell_metric(w, 0, w->all.v[0].told, MT_METRIC_CGROUP, t, current_b);
    if (w->group_n % ALL == 1)
        mt_cgroup_read(&w->group, &v);
    if (w->group_n % ALL == 1 && v.current_b >= 0)
        w->group_last = v;
    if (w->group_n % LEAVERS == 1)
        find_leavers(w, t);
}

int64_t mt_watch_oom_kills(struct mt_watch *w, bool *own)
{
    struct mt_cgroup_values v;
    mt_cgroup_read(&w->group, &v);
    if (v.current_b >= 0)
        w->group_last = v;
    int64_t in_group = w->group_last.oom_kill_n - w->group_first.oom_kill_n;
    int64_t in_system = mt_system_oom_kills() - w->system_ooms_n;
    *own = in_group > 0;
    return *own ? in_group : w->system_ooms_n < 0 || in_system < 0 ? 0 : in_system;
}
