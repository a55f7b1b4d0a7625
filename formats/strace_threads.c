/* Whose memory a line of strace is about: threads, and the processes they belong to. */
#include "formats/strace_parts.h"

#include <assert.h>
#include <string.h>

struct mt_strace_process *mt_strace_process_of(struct mt_strace *r, uint32_t thread)
{
    return &r->processes.all.v[r->processes.threads.v[thread].process];
}

static uint32_t add_process(struct mt_strace *r, bool forked)
{
    *mt_vec_push(&r->processes.all) = (struct mt_strace_process){.forked = forked};
    return (uint32_t)r->processes.all.n - 1;
}

/* A thread of a process, which has ended if there was one of its number. Its group is its own,
 * until it is known better. */
static uint32_t add_thread(struct mt_strace *r, uint64_t pid, uint32_t process)
{
    struct mt_strace_processes *p = &r->processes;
    uint32_t *at = mt_map_at(&p->of_pid, pid);
    if (*at == MT_MAP_NONE) {
        *at = (uint32_t)p->threads.n;
        *mt_vec_push(&p->threads) = (struct mt_strace_thread){.ended = true};
    }
    struct mt_strace_thread *t = &p->threads.v[*at];
    struct mt_buf pending = t->pending;
    if (!t->ended) /* nobody has said so */
        mt_strace_exit(r, *at);
    *t = (struct mt_strace_thread){
        .pid = pid, .process = process, .root = MT_NONE, .group = *at, .group_n = t->group_n + 1};
    t->pending = pending;
    mt_buf_clear(&t->pending);
    p->all.v[process].thread_n++;
    if (!p->running_n++ && p->last != process + 1) /* it was not the last one */
        p->left = p->last;
    return *at;
}

static void set_group(struct mt_strace_processes *p, uint32_t thread, uint32_t group)
{
    struct mt_strace_thread *t = &p->threads.v[thread];
    p->threads.v[t->group].group_n--;
    p->threads.v[group].group_n++;
    t->group = group;
}

/* Whether a call, "clone({flags=CLONE_VM|..", has a flag. */
static bool has_flag(const char *s, size_t n, const char *flag, uint64_t bit)
{
    static const char named[] = "flags=";
    struct mt_fields f = mt_fields_of(s, n);
    const char *at = memmem(s, n, named, sizeof named - 1);
    uint64_t flags;
    if (memmem(s, n, flag, strlen(flag)))
        return true;
    f.p = at ? at + sizeof named - 1 : f.p;
    return (at || mt_field_take(&f, "clone(")) && mt_strace_number(&f, &flags) && flags & bit;
}

/* What such a call makes of its maker's memory: 0: a process with its own, else 1 + 2 * maker, and
 * 1 more for one that ends when its maker does, a thread. */
static uint32_t sharing_of(uint32_t maker, const char *s, size_t n)
{
    enum { VM = 0x100, THREAD = 0x10000 };
    struct mt_fields f = mt_fields_of(s, n);
    /* -e verbose=none: the C library makes threads so, and what runs another program */
    const bool hidden = mt_field_take(&f, "clone3(") && !memmem(s, n, "flags=", 6);
    if (!hidden && !mt_field_take(&f, "vfork") && !has_flag(s, n, "CLONE_VM", VM))
        return 0;
    return 1 + 2 * maker + has_flag(s, n, "CLONE_THREAD", THREAD);
}

/* A thread, or a process, that another has made. */
static uint32_t add_made(struct mt_strace *r, uint64_t pid, uint32_t sharing)
{
    struct mt_strace_processes *p = &r->processes;
    const uint32_t maker = (sharing - 1) / 2;
    if (!sharing)
        return add_thread(r, pid, add_process(r, true));
    uint32_t thread = add_thread(r, pid, p->threads.v[maker].process);
    if ((sharing - 1) % 2)
        set_group(p, thread, p->threads.v[maker].group);
    return thread;
}

/* One that is known to have been made. */
static uint32_t announce(struct mt_strace *r, uint64_t pid, uint32_t sharing)
{
    uint32_t thread = add_made(r, pid, sharing); /* threads may move */
    r->processes.threads.v[thread].announced = true;
    return thread;
}

/* Whose memory one has that a call returned, and that had no line; MT_MAP_NONE: none is known. */
static uint32_t take_made(struct mt_strace_processes *p, uint64_t pid)
{
    if (p->made_last == pid)
        p->made_last = 0;
    return mt_map_take(&p->made, pid);
}

static void see(struct mt_strace_processes *p, uint32_t thread)
{
    struct mt_strace_thread *t = &p->threads.v[thread];
    p->seen_n += !t->seen && !t->ended;
    t->seen = true;
}

void mt_strace_attached(struct mt_strace *r, uint64_t pid)
{
    struct mt_strace_processes *p = &r->processes;
    const uint32_t sharing = take_made(p, pid);
    uint32_t known = mt_map_get(&p->of_pid, pid);
    *mt_map_at(&p->children, pid) = 0;
    p->numbered = true;
    if (!p->threads.n) { /* the first one, by -p or -D */
        p->joined = true;
        known = p->only = add_thread(r, pid, add_process(r, false));
    }
    if (sharing != MT_MAP_NONE && known == MT_MAP_NONE)
        known = announce(r, pid, sharing);
    if (known != MT_MAP_NONE)
        see(p, known);
}

/* ---- whose line it is ---- */

static bool is_resumed(const struct mt_fields *line)
{
    return line->p < line->end && *line->p == '<';
}

/* Whether what stands there is a sign, "+++ exited with 0 +++". */
static bool is_sign(const struct mt_fields *line)
{
    return line->p < line->end && (*line->p == '+' || *line->p == '-');
}

static bool runs_program(struct mt_fields line)
{
    return mt_field_take(&line, "execve(");
}

/* The last thread whose call that makes another has not returned; MT_NONE: there is none. */
static uint32_t maker_of(struct mt_strace_processes *p)
{
    for (; p->making.n; p->making.n--) {
        const struct mt_strace_thread *t = &p->threads.v[p->making.v[p->making.n - 1]];
        const char *s = t->pending.s, *end = t->pending.n ? memchr(s, '(', t->pending.n) : NULL;
        if (!t->ended && end && mt_strace_makes(s, (size_t)(end - s)))
            return p->making.v[p->making.n - 1];
    }
    return MT_NONE;
}

void mt_strace_forking(struct mt_strace *r, uint32_t thread)
{
    maker_of(&r->processes); /* those that have returned go */
    *mt_vec_push(&r->processes.making) = thread;
}

/* Whether a number that has not been seen is that of the thread whose lines had none: its next line
 * behind a call that has not returned is how that returns. */
static bool is_of_only(const struct mt_strace_processes *p, uint64_t pid, uint32_t maker,
                       const struct mt_fields *line)
{
    const struct mt_strace_thread *only = &p->threads.v[p->only];
    if (only->pid || only->ended)
        return false;
    if (p->children.n)
        return mt_map_get(&p->children, pid) == MT_MAP_NONE;
    if (mt_map_get(&p->made, pid) != MT_MAP_NONE)
        return false;
    return only->pending.n ? is_resumed(line) : p->tells && maker == MT_NONE;
}

/* One that nobody has announced is of a call that has not returned yet; or else a thread. */
static uint32_t of_number(struct mt_strace *r, uint64_t pid, const struct mt_fields *line)
{
    struct mt_strace_processes *p = &r->processes;
    const uint32_t known = mt_map_get(&p->of_pid, pid), maker = maker_of(p);
    if (known != MT_MAP_NONE &&
        (!p->threads.v[known].ended || (p->threads.v[known].gone && !runs_program(*line))))
        return known;
    if (known == MT_MAP_NONE && is_of_only(p, pid, maker, line)) {
        p->threads.v[p->only].pid = pid;
        return *mt_map_at(&p->of_pid, pid) = p->only;
    }
    const uint32_t made = take_made(p, pid);
    if (made != MT_MAP_NONE) /* -q: strace has not said that it attached it */
        return announce(r, pid, made);
    if (maker != MT_NONE) {
        const struct mt_buf *call = &p->threads.v[maker].pending;
        return add_made(r, pid, sharing_of(maker, call->s, call->n));
    }
    uint32_t thread = add_thread(r, pid, p->threads.v[0].process);
    set_group(p, thread, p->threads.v[0].group);
    p->threads.v[thread].guessed = p->guessed = true;
    return thread;
}

/* Whether a line may be the next one of a thread. */
static bool fits(const struct mt_strace_thread *t, struct mt_fields line)
{
    size_t n = 0;
    if (is_sign(&line))
        return true;
    if (!mt_field_take(&line, "<... "))
        return !t->pending.n;
    while (line.p + n < line.end && line.p[n] != ' ')
        n++;
    return t->pending.n > n && memcmp(t->pending.s, line.p, n) == 0 && t->pending.s[n] == '(';
}

/* The only one of which nobody has said that it ended; of several the first that the line may be
 * of. *sure: it may. */
static uint32_t only_one(const struct mt_strace_processes *p, struct mt_fields line, bool *sure)
{
    uint32_t found = MT_NONE;
    *sure = false;
    for (uint32_t i = 0; i < p->threads.n && !*sure; i++) {
        const struct mt_strace_thread *t = &p->threads.v[i];
        if (t->ended || !t->seen)
            continue;
        *sure = fits(t, line);
        if (found == MT_NONE || *sure)
            found = i;
    }
    assert(found != MT_NONE); /* p->seen_n counts them */
    return found;
}

/* strace follows only one: the others have ended. */
static enum mt_status end_others(struct mt_strace *r, uint32_t only, struct mt_err *err)
{
    struct mt_strace_processes *p = &r->processes;
    for (uint32_t i = 0; i < p->threads.n && p->seen_n > 1; i++)
        if (i != only && p->threads.v[i].seen && !p->threads.v[i].ended) {
            mt_strace_exit(r, i);
            MT_TRY(mt_strace_leave(r, err));
        }
    return MT_OK;
}

/* A line without a number; known: of a call that is read, or of no other program. */
static enum mt_status of_no_number(struct mt_strace *r, const struct mt_fields *line, bool known,
                                   uint32_t *thread, struct mt_err *err)
{
    struct mt_strace_processes *p = &r->processes;
    const struct mt_strace_thread *last = &p->threads.v[p->only];
    bool sure = false;
    *thread = p->only;
    if (!known && !p->seen_n) /* a program's, or of strace -c */
        return MT_OK;
    if (p->seen_n == 1 && last->seen && !last->ended)
        return MT_OK;
    if (p->seen_n) {
        if (known || p->seen_n == 1)
            *thread = only_one(p, *line, &sure);
        return sure && known ? end_others(r, *thread, err) : MT_OK;
    }
    if (last->gone && (is_sign(line) || is_resumed(line) || !p->made_last))
        if (!runs_program(*line))
            return MT_OK;
    const uint64_t pid = p->made_last;
    const uint32_t made = pid ? take_made(p, pid) : MT_MAP_NONE;
    *thread =
        made != MT_MAP_NONE ? announce(r, pid, made) : add_thread(r, 0, p->threads.v[0].process);
    return MT_OK;
}

enum mt_status mt_strace_thread(struct mt_strace *r, uint64_t pid, struct mt_fields line,
                                bool known, uint32_t *thread, struct mt_err *err)
{
    struct mt_strace_processes *p = &r->processes;
    if (!p->threads.n)
        *thread = add_thread(r, pid, add_process(r, false));
    else if (pid)
        *thread = of_number(r, pid, &line);
    else
        MT_TRY(of_no_number(r, &line, known, thread, err));
    see(p, *thread);
    if (!pid)
        p->only = *thread;
    p->bare |= !pid && known;
    p->numbered |= pid > 0;
    return mt_strace_leave(r, err);
}

/* ---- how they begin and end ---- */

/* A process of which a line came before its maker's call returned, and another's was under way. */
static void correct(struct mt_strace *r, uint32_t thread, uint32_t sharing)
{
    struct mt_strace_processes *p = &r->processes;
    uint32_t *process = &p->threads.v[thread].process, old = *process;
    const uint32_t maker = (sharing - 1) / 2;
    p->threads.v[thread].announced = true;
    if (p->threads.v[thread].ran || p->threads.v[thread].ended)
        return;
    if (sharing ? *process == p->threads.v[maker].process : p->all.v[*process].thread_n == 1)
        return;
    const uint32_t new = sharing ? p->threads.v[maker].process : add_process(r, true);
    *process = new;
    p->all.v[old].thread_n--;
    p->all.v[new].thread_n++;
    p->threads.v[thread].guessed = false;
    set_group(p, thread, (sharing - 1) % 2 && sharing ? p->threads.v[maker].group : thread);
}

void mt_strace_forked(struct mt_strace *r, const struct mt_strace_call *call)
{
    struct mt_strace_processes *p = &r->processes;
    struct mt_fields f = call->result;
    uint64_t pid;
    if (mt_field_take(&f, "-") || mt_field_take(&f, "?")) /* it failed, or is begun again */
        return;
    if (!mt_strace_number(&f, &pid) || !(mt_strace_ends(&f) || *f.p == '<')) { /* "7<app>": -Y */
        mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
        return;
    }
    if (!pid)
        return;
    const uint32_t sharing =
        sharing_of(call->thread, call->name, (size_t)(call->args.end - call->name));
    const uint32_t known = mt_map_get(&p->of_pid, pid);
    if (known != MT_MAP_NONE && !p->threads.v[known].announced)
        correct(r, known, sharing);
    else if (mt_map_get(&p->children, pid) != MT_MAP_NONE)
        see(p, announce(r, pid, sharing));
    else if (p->bare) { /* not in the log perhaps, or seen later */
        *mt_map_at(&p->made, pid) = sharing;
        p->thread_n += sharing && (sharing - 1) % 2;
        p->made_last = pid;
        p->tells = true;
    } else
        announce(r, pid, sharing);
}

/* All others of its group end, as what it called ends them. */
static void end_group(struct mt_strace *r, uint32_t thread)
{
    struct mt_strace_processes *p = &r->processes;
    const uint32_t group = p->threads.v[thread].group;
    for (uint32_t i = 0; i < p->threads.n && p->threads.v[group].group_n > 1; i++) {
        struct mt_strace_thread *t = &p->threads.v[i];
        if (i == thread || t->ended || t->group != group)
            continue;
        if (t->guessed) { /* a process of its own, perhaps */
            set_group(p, i, i);
        } else {
            t->gone = true;
            mt_strace_exit(r, i);
        }
    }
}

void mt_strace_calls_exit(struct mt_strace *r, uint32_t thread, bool group)
{
    struct mt_strace_thread *t = &r->processes.threads.v[thread];
    if (t->ended)
        return;
    if (group && !t->guessed)
        end_group(r, thread);
    t->gone = true;
    mt_strace_exit(r, thread);
}

void mt_strace_take_over(struct mt_strace *r, uint32_t thread, uint64_t pid)
{
    static const char run[] = "execve";
    struct mt_strace_processes *p = &r->processes;
    struct mt_strace_thread *own = &p->threads.v[thread];
    for (uint32_t i = 0; i < p->threads.n; i++) {
        struct mt_strace_thread *t = &p->threads.v[i];
        const bool begun = t->pending.n > sizeof run && memcmp(t->pending.s, run, 6) == 0;
        if (i == thread || t->ended || t->process != own->process || (pid ? t->pid != pid : !begun))
            continue;
        if (begun)
            mt_buf_set(&own->pending, t->pending.s, t->pending.n);
        t->gone = true;
        mt_strace_exit(r, i);
        return;
    }
}

enum mt_status mt_strace_run(struct mt_strace *r, uint32_t thread, struct mt_err *err)
{
    struct mt_strace_process *p = mt_strace_process_of(r, thread);
    if (!r->processes.threads.v[thread].guessed)
        end_group(r, thread);
    r->processes.threads.v[thread].ran = true;
    if (p->thread_n < 2) {
        p->forked = false;
        return mt_mappings_clear(&p->mappings, r->heap, err);
    }
    p->thread_n--;
    uint32_t own = add_process(r, false);
    set_group(&r->processes, thread, thread);
    r->processes.threads.v[thread].process = own;
    r->processes.threads.v[thread].guessed = false;
    r->processes.all.v[own].thread_n = 1;
    return MT_OK;
}

void mt_strace_exit(struct mt_strace *r, uint32_t thread)
{
    struct mt_strace_process *p = mt_strace_process_of(r, thread);
    struct mt_strace_thread *t = &r->processes.threads.v[thread];
    t->ended = true;
    r->processes.threads.v[t->group].group_n--;
    r->processes.seen_n -= t->seen;
    r->processes.running_n--;
    if (!--p->thread_n)
        *(r->processes.running_n ? &r->processes.left : &r->processes.last) = t->process + 1;
}

enum mt_status mt_strace_leave(struct mt_strace *r, struct mt_err *err)
{
    struct mt_strace_processes *p = &r->processes;
    const uint32_t left = p->left;
    p->left = 0;
    return left ? mt_mappings_clear(&p->all.v[left - 1].mappings, r->heap, err) : MT_OK;
}

bool mt_strace_is_first(const struct mt_strace *r, uint32_t process)
{
    return process == r->processes.threads.v[0].process;
}

void mt_strace_was_child(struct mt_strace *r, uint64_t pid, bool ended)
{
    struct mt_strace_processes *p = &r->processes;
    const uint32_t known = mt_map_get(&p->of_pid, pid);
    take_made(p, pid);
    if (known == MT_MAP_NONE)
        return;
    struct mt_strace_thread *t = &p->threads.v[known];
    if (t->guessed) {
        r->mixed_n++;
        t->guessed = false;
        if (!t->ended)
            set_group(p, known, known);
    }
    if (!ended || t->ended)
        return;
    end_group(r, known);
    mt_strace_exit(r, known);
}
