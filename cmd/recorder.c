#include "cmd/recorder.h"

#include "gen/queries.h"
#include "lib/base/human.h"
#include "lib/base/thread.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* Events that wait for a database that is busy. Of more, those that only tell the curve are
 * dropped. With MANY of them the writer does not wait. */
enum { WAITING = 1 << 16, MANY = 1 << 12, SAID_WAITING = 1 << 12 };
enum { SELDOM = 5 }; /* seconds between two times that the run is written; at first it is less */
enum { CALM = 3, CALMEST = 2 * CALM };  /* looks at which nothing changed: then they are rarer */
enum { SELDOMEST = 500 * 1000 * 1000 }; /* ns between two looks, unless more were asked for */
enum { BUSY = 1000 * 1000 * 1000 };     /* ns: a shorter wait for others is not at fault */
static const int64_t ms = 1000 * 1000, second = 1000 * 1000 * 1000;

static int64_t clock_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * second + t.tv_nsec;
}

void mt_recorder_init(struct mt_recorder *r, int64_t interval_ms)
{
    *r = (struct mt_recorder){.asked_ns = interval_ms * ms, .interval_ns = interval_ms * ms};
    r->err = (struct mt_err)MT_ERR_INIT;
    r->begun_ns = clock_of(CLOCK_MONOTONIC);
    r->watch.children_fd = r->watch.newest_fd = r->watch.group_fd = -1;
    mt_marks_open(&r->marks);
    pthread_mutex_init(&r->mutex, NULL);
    pthread_cond_init(&r->wake, NULL);
}

int64_t mt_recorder_now(const struct mt_recorder *r)
{
    return clock_of(CLOCK_MONOTONIC) - r->begun_ns;
}

/* ---- the writer ---- */

/* They are written before their second is over. */
static bool are_many(const struct mt_recorder *r)
{
    return r->seen.n >= MANY || r->said_n >= SAID_WAITING / 2;
}

/* There is no room: whose fault is it? */
static void drop(struct mt_recorder *r)
{
    bool busy = r->writing && clock_of(CLOCK_MONOTONIC) - r->writing_ns > BUSY &&
                mt_db_waited(r->db) != r->waited_n;
    ++*(busy ? &r->dropped_n : &r->overflowed_n);
}

/* After 1, 2 and 5 seconds, then each five. */
static int64_t seconds_until_next(int64_t taken_n)
{
    static const int64_t first[] = {1, 1, SELDOM - 2};
    return taken_n < (int64_t)MT_ARRAY_LEN(first) ? first[taken_n] : SELDOM;
}

/* Waits for that, or for the end; takes what was seen. */
static bool take_seen(struct mt_recorder *r, struct mt_seen **v, size_t *n, int64_t *until)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += seconds_until_next(r->taken_n++);
    pthread_mutex_lock(&r->mutex);
    r->writing = false;
    while (!r->ended && !are_many(r) && pthread_cond_timedwait(&r->wake, &r->mutex, &t) == 0)
        continue;
    *v = r->seen.v;
    *n = r->seen.n;
    *until = r->seen_until_ns;
    memset(&r->seen, 0, sizeof r->seen);
    r->said_n = 0;
    r->writing = true;
    r->writing_ns = clock_of(CLOCK_MONOTONIC);
    r->waited_n = mt_db_waited(r->db);
    bool ended = r->ended;
    pthread_mutex_unlock(&r->mutex);
    return ended;
}

static void note_age(const struct mt_target *target, struct mt_live *live)
{
    char age[MT_HUMAN_MAX];
    mt_live_note(live, MT_NOTE_ATTACHED, target->peak_b,
                 target->age_ns < 0 ? "some time" : mt_human_ns(target->age_ns, age));
}

static enum mt_status write_rest(struct mt_recorder *r, struct mt_live *live, int64_t until,
                                 struct mt_err *err)
{
    for (size_t i = 0; i < r->meta.n; i++)
        mt_live_meta(live, r->meta.v[i].key, r->meta.v[i].json, strlen(r->meta.v[i].json));
    const struct mt_watch *w = &r->watch;
    if (w->unseen_b)
        mt_live_note(live, w->unseen_of_command ? MT_NOTE_PEAK_AT_MOST : MT_NOTE_PEAK_UNSEEN,
                     w->unseen_b,
                     r->target ? "between two samples it may have been what it was before that,"
                               : "the command ended after the last sample, with");
    if (r->target)
        note_age(r->target, live);
    if (r->missing.n)
        mt_live_note(live, MT_NOTE_UNWATCHED, 0, r->missing.s);
    if (r->uncounted.n)
        mt_live_note(live, MT_NOTE_NO_MALLOC, 0, r->uncounted.s);
    if (r->profiled.n)
        mt_live_note(live, MT_NOTE_PROFILER, 0, r->profiled.s);
    if (r->untraced.n)
        mt_live_note(live, MT_NOTE_NO_TRACE, 0, r->untraced.s);
    return mt_live_end(live, until, err);
}

static enum mt_status write_seen(struct mt_recorder *r, struct mt_live *live, struct mt_err *err)
{
    struct mt_seen *v;
    size_t n;
    int64_t until, written = -1;
    for (bool ended = false; !ended;) {
        ended = take_seen(r, &v, &n, &until);
        enum mt_status st = mt_live_take(live, v, n, err);
        free(v);
        MT_TRY(st);
        if (ended)
            return write_rest(r, live, until, err);
        if (until > written)
            MT_TRY(mt_live_write(live, until, err));
        written = until;
    }
    return MT_OK;
}

/* Who uses the database for long only puts it off, until the command has ended. */
static enum mt_status make_run(struct mt_recorder *r, struct mt_live **live, struct mt_err *err)
{
    for (;;) {
        *err = (struct mt_err)MT_ERR_INIT;
        pthread_mutex_lock(&r->mutex);
        bool ended = r->ended;
        pthread_mutex_unlock(&r->mutex);
        enum mt_status st = mt_live_open(r->db, &r->opts, live, err);
        if (st != MT_EDB || ended || !mt_db_is_busy(r->db))
            return st;
    }
}

static void *write_run(void *recorder)
{
    struct mt_recorder *r = recorder;
    struct mt_live *live = NULL;
    struct mt_err err = MT_ERR_INIT;
    enum mt_status st = make_run(r, &live, &err);
    if (st == MT_OK) {
        st = write_seen(r, live, &err);
        pthread_mutex_lock(&r->mutex);
        snprintf(r->written_name, sizeof r->written_name, "%s", mt_live_name(live));
        pthread_mutex_unlock(&r->mutex);
        if (st == MT_EDB && *err.hint) { /* it cannot be tried again, and some of it is there */
            *err.hint = '\0';
            mt_err_hint(&err, "What was written before that is kept; what came later is lost.");
        }
    }
    mt_live_free(live);
    pthread_mutex_lock(&r->mutex);
    r->err = err;
    pthread_mutex_unlock(&r->mutex);
    return NULL;
}

/* ---- the watcher ---- */

void mt_recorder_begin(struct mt_recorder *r, struct mt_db *db, pid_t pid)
{
    r->db = db;
    r->begun_ns = clock_of(CLOCK_MONOTONIC);
    r->opts.start_ns = clock_of(CLOCK_REALTIME);
    r->opts.interval_ns = r->interval_ns;
    r->judged_cpu_ns = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    mt_watch_begin(&r->watch, pid, r->interval_ns, r->target);
    r->watch.malloc = r->malloc.table ? &r->malloc : NULL;
    r->writing = true;
    r->writing_ns = clock_of(CLOCK_MONOTONIC);
    r->waited_n = mt_db_waited(db);
    r->running = mt_thread_start(&r->thread, write_run, r) == 0;
}

/* Of the time of the process since the cost was judged, what looks took, and with them those who
 * write what they saw: what the program says takes time as well, and is not less with fewer looks.
 */
static int64_t cost_of_looks(const struct mt_recorder *r, int64_t cpu_ns)
{
    enum { WRITING = 3 };
    int64_t looks = r->looks_cpu_ns * WRITING, all = cpu_ns - r->judged_cpu_ns;
    return looks < all ? looks : all;
}

/* Looks as often as a 125th of a core allows: each second, and at once where the share of a second
 * is gone, the interval changes as far as that was missed, up to SELDOMEST, so that children that
 * live a second are seen. What processes ask of malloc follows. */
static void judge_cost(struct mt_recorder *r, int64_t t_ns)
{
    enum { SHARE = 125 };
    static const double most = 4, least = 1.0 / 8;
    int64_t passed = t_ns - r->judged_ns, cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    int64_t cost = cost_of_looks(r, cpu);
    if (passed < r->asked_ns || (passed < second && cost < second / SHARE))
        return;
    double times = (double)cost * SHARE / (double)passed;
    times = times > most ? most : times < least ? least : times;
    r->interval_ns = (int64_t)((double)r->interval_ns * times);
    r->interval_ns = r->interval_ns < SELDOMEST ? r->interval_ns : SELDOMEST;
    r->interval_ns = r->interval_ns > r->asked_ns ? r->interval_ns : r->asked_ns;
    r->judged_ns = t_ns;
    r->judged_cpu_ns = cpu;
    r->looks_cpu_ns = 0;
    mt_malloc_pace(&r->malloc, r->interval_ns);
}

static void hand_over(struct mt_recorder *r, int64_t t_ns)
{
    pthread_mutex_lock(&r->mutex);
    for (size_t i = 0; i < r->watch.seen.n; i++) {
        const struct mt_seen *s = &r->watch.seen.v[i];
        if (r->seen.n < WAITING || (s->kind != MT_SEEN_LEVEL && s->kind != MT_SEEN_SAMPLE))
            *mt_vec_push(&r->seen) = *s;
        else
            drop(r);
    }
    r->seen_until_ns = t_ns;
    if (are_many(r))
        pthread_cond_signal(&r->wake);
    pthread_mutex_unlock(&r->mutex);
    r->watch.seen.n = 0;
}

static void judge_time(struct mt_recorder *r, int64_t t_ns)
{
    int64_t late = t_ns - r->due_ns;
    if (late < 0)
        return; /* something was said */
    r->late_n += r->due_ns > 0;
    r->late_sum_ns += r->due_ns ? late : 0;
    r->late_most_ns = r->due_ns && late > r->late_most_ns ? late : r->late_most_ns;
}

/* Where nothing changes, looks are rarer; the first change ends that. */
static int64_t until_next(struct mt_recorder *r, int64_t t_ns)
{
    r->calm_n = r->watch.changed ? 0 : r->calm_n + 1;
    int64_t wait = r->interval_ns * (r->calm_n < CALM ? 1 : r->calm_n < CALMEST ? 2 : 4);
    int64_t most = r->interval_ns > SELDOMEST ? r->interval_ns : SELDOMEST;
    return (wait < most ? wait : most) - t_ns % r->interval_ns;
}

void mt_recorder_look(struct mt_recorder *r, int64_t t_ns)
{
    judge_time(r, t_ns);
    r->looked_ns = t_ns;
    int64_t begun = clock_of(CLOCK_THREAD_CPUTIME_ID);
    mt_watch_look(&r->watch, t_ns);
    hand_over(r, t_ns);
    r->looks_cpu_ns += clock_of(CLOCK_THREAD_CPUTIME_ID) - begun;
    judge_cost(r, t_ns);
    int64_t wait = until_next(r, t_ns);
    if (t_ns >= r->due_ns || t_ns + wait < r->due_ns)
        r->due_ns = t_ns + wait;
}

/* ---- what the command says ---- */

struct listening {
    struct mt_recorder *r;
    int64_t t_ns;
    bool any, marked;
};

static void hear(void *closure, const struct mt_mark *m)
{
    static const uint8_t kinds[] = {[MT_MARK_STEP] = MT_SEEN_STEP,
                                    [MT_MARK_STEP_END] = MT_SEEN_STEP_END,
                                    [MT_MARK_TEXT] = MT_SEEN_MARK,
                                    [MT_MARK_DAMAGED] = MT_SEEN_DAMAGED};
    struct listening *l = closure;
    struct mt_recorder *r = l->r;
    l->any |= m->kind != MT_MARK_DAMAGED;
    l->marked |= m->kind == MT_MARK_TEXT;
    if (r->said_n == SAID_WAITING) {
        drop(r);
        return;
    }
    if (++r->said_n == SAID_WAITING / 2)
        pthread_cond_signal(&r->wake);
    struct mt_seen *seen = mt_vec_push(&r->seen);
    *seen = (struct mt_seen){.kind = kinds[m->kind], .t_ns = l->t_ns, .value = m->number};
    if (m->kind == MT_MARK_TEXT || m->kind == MT_MARK_DAMAGED)
        seen->text = mt_strndup(m->text, m->n < MT_MARK_TEXT_MAX ? m->n : MT_MARK_TEXT_MAX);
}

static struct listening listen(struct mt_recorder *r, int64_t t_ns, bool ended)
{
    struct listening l = {.r = r, .t_ns = t_ns};
    int64_t before = r->marks.at;
    pthread_mutex_lock(&r->mutex);
    mt_marks_read(&r->marks, ended, hear, &l);
    pthread_mutex_unlock(&r->mutex);
    if (r->marks.at > before)
        r->said_ns = t_ns;
    return l;
}

void mt_recorder_listen(struct mt_recorder *r, int64_t t_ns)
{
    const struct listening said = listen(r, t_ns, false);
    if (!said.any || t_ns - (said.marked ? r->marked_ns : r->looked_ns) < r->interval_ns / 32)
        return;
    r->watch.thorough = true;
    r->watch.marked = said.marked;
    mt_recorder_look(r, t_ns);
    r->watch.thorough = r->watch.marked = false;
    r->marked_ns = said.marked ? t_ns : r->marked_ns;
}

static void say_uncounted(struct mt_recorder *r)
{
    const struct mt_watch *w = &r->watch;
    char processes[MT_HUMAN_LONG];
    if (!w->uncounted_n)
        return;
    if (w->process_n > 1)
        mt_buf_addf(&r->uncounted, "of %s it is unknown; of one, ",
                    mt_human_plural(w->uncounted_n, "process", processes));
    mt_buf_adds(&r->uncounted, w->uncounted.s);
}

static void set_meta(struct mt_recorder *r, const char *key, int64_t value)
{
    *mt_vec_push(&r->meta) = (struct mt_recorder_meta){key, mt_asprintf("%lld", (long long)value)};
}

/* SIGKILL may be anybody's; what the kernel counts of its own is the evidence. */
static void find_cause(struct mt_recorder *r, const struct mt_recorder_ended *how)
{
    int status = how->status;
    bool own, killed = how->known && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    bool like_killed =
        killed || (how->known && WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGKILL);
    char limit[MT_HUMAN_MAX], at[MT_HUMAN_MAX + 16] = "";
    int64_t n = mt_watch_oom_kills(&r->watch, &own), max = r->watch.group_last.max_b;
    if (!n || (!own && !like_killed))
        return;
    if (max >= 0)
        snprintf(at, sizeof at, ", limit %s", mt_human_bytes(max, limit));
    if (own)
        snprintf(
            r->cause, sizeof r->cause,
            "the out-of-memory killer killed %s (oom_kill of its control group rose by %lld%s)",
            killed                                      ? "it"
            : r->target && !mt_watch_goes_on(&r->watch) ? "it, a process beside it or a child"
                                                        : "a process beside it or a child",
            (long long)n, at);
    else
        snprintf(r->cause, sizeof r->cause,
                 "perhaps by the out-of-memory killer (oom_kill of the system rose by %lld)",
                 (long long)n);
}

static void set_meta_group(struct mt_recorder *r)
{
    const struct mt_watch *w = &r->watch;
    if (w->group_last.max_b >= 0)
        set_meta(r, "cgroup_max_b", w->group_last.max_b);
    if (w->group_last.oom_kill_n > w->group_first.oom_kill_n)
        set_meta(r, "cgroup_oom_kill_n", w->group_last.oom_kill_n - w->group_first.oom_kill_n);
    if (w->group_left_n)
        set_meta(r, "cgroup_left_n", w->group_left_n);
    if (r->cause[0])
        *mt_vec_push(&r->meta) =
            (struct mt_recorder_meta){"cause", mt_asprintf("\"%s\"", r->cause)};
}

static int64_t cpu_of(const struct rusage *usage)
{
    return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * second +
           (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000;
}

/* What the system tells of a child that has ended. */
static void set_meta_ended(struct mt_recorder *r, const struct mt_recorder_ended *how)
{
    const struct rusage *usage = &how->usage;
    bool killed = WIFSIGNALED(how->status);
    set_meta(r, killed ? "signal" : "exit_status",
             killed ? WTERMSIG(how->status) : WEXITSTATUS(how->status));
    set_meta(r, "ru_maxrss_b", (int64_t)usage->ru_maxrss * 1024);
    set_meta(r, "cpu_ms", cpu_of(usage) / ms);
}

static void set_meta_watched(struct mt_recorder *r)
{
    set_meta(r, "interval_ms", r->interval_ns / ms);
    if (r->late_n) {
        set_meta(r, "late_mean_us", r->late_sum_ns / r->late_n / 1000);
        set_meta(r, "late_most_us", r->late_most_ns / 1000);
    }
    set_meta(r, "recorder_cpu_ms", clock_of(CLOCK_PROCESS_CPUTIME_ID) / ms);
    if (r->watch.left_out_n)
        set_meta(r, "processes_left_out_n", r->watch.left_out_n);
    set_meta(r, "threads_most_n", r->watch.threads_n);
    if (r->watch.together.unread)
        set_meta(r, "pss_unread", 1);
    if (r->dropped_n || r->overflowed_n)
        set_meta(r, "dropped_n", (int64_t)(r->dropped_n + r->overflowed_n));
    if (r->watch.hidden_n)
        set_meta(r, "processes_hidden_n", r->watch.hidden_n);
    set_meta(r, "pid", r->watch.first.pid);
}

void mt_recorder_look_last(struct mt_recorder *r, int64_t t_ns)
{
    listen(r, t_ns, true);
    mt_watch_look_last(&r->watch, t_ns);
    hand_over(r, t_ns);
}

static void end_watch(struct mt_recorder *r, int64_t t_ns, const struct mt_recorder_ended *how)
{
    int64_t most = (int64_t)how->usage.ru_maxrss * 1024;
    const struct mt_watch_ended ended = {.maxrss_b = most,
                                         .cpu_ns = cpu_of(&how->usage),
                                         .left_b = how->left_b,
                                         .floor = most <= r->own_rss_b + mt_proc_slack(),
                                         .waited = r->waited};
    if (how->known)
        mt_watch_end(&r->watch, t_ns, &ended);
    else
        mt_watch_end_attached(&r->watch);
    hand_over(r, t_ns);
}

enum mt_status mt_recorder_end(struct mt_recorder *r, int64_t t_ns,
                               const struct mt_recorder_ended *how, struct mt_err *err)
{
    end_watch(r, t_ns, how);
    pthread_mutex_lock(&r->mutex);
    mt_watch_missing(&r->watch, &r->missing);
    mt_watch_add_missing(&r->missing, r->dropped_n, "the database was busy, %llu values are lost");
    mt_watch_add_missing(&r->missing, r->overflowed_n,
                         "values came faster than they can be written, %llu are lost");
    say_uncounted(r);
    if (how->known)
        set_meta_ended(r, how);
    find_cause(r, how);
    set_meta_group(r);
    set_meta_watched(r);
    r->ended = true;
    pthread_cond_signal(&r->wake);
    pthread_mutex_unlock(&r->mutex);
    if (!r->running)
        return MT_FAIL(err, MT_EIO, "cannot start a thread: nothing was recorded");
    pthread_join(r->thread, NULL);
    snprintf(r->name, sizeof r->name, "%s", r->written_name);
    *err = r->err;
    return err->code;
}

void mt_recorder_free(struct mt_recorder *r)
{
    mt_watch_free(&r->watch);
    mt_marks_close(&r->marks);
    for (size_t i = 0; i < r->seen.n; i++)
        mt_seen_free(&r->seen.v[i]);
    mt_vec_free(&r->seen);
    for (size_t i = 0; i < r->meta.n; i++)
        free(r->meta.v[i].json);
    mt_vec_free(&r->meta);
    mt_buf_free(&r->missing);
    mt_buf_free(&r->untraced);
    mt_buf_free(&r->uncounted);
    mt_malloc_close(&r->malloc);
    mt_buf_free(&r->profiled);
    pthread_mutex_destroy(&r->mutex);
    pthread_cond_destroy(&r->wake);
}
