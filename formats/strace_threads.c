/* Whose memory a line of strace is about: threads, and the processes they belong to. */
#include "formats/strace_parts.h"

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

/* A thread of a process, which has ended if there was one of its number. */
static uint32_t add_thread(struct mt_strace *r, uint64_t pid, uint32_t process)
{
    struct mt_strace_processes *p = &r->processes;
    uint32_t *at = mt_map_at(&p->of_pid, pid);
    if (*at == MT_MAP_NONE) {
        *at = (uint32_t)p->threads.n;
        *mt_vec_push(&p->threads) = (struct mt_strace_thread){.root = MT_NONE};
    }
    struct mt_strace_thread *t = &p->threads.v[*at];
    const struct mt_strace_thread new = {.pid = pid, .process = process, .root = MT_NONE};
    struct mt_buf pending = t->pending;
    *t = new;
    t->pending = pending;
    mt_buf_clear(&t->pending);
    p->all.v[process].thread_n++;
    p->running_n++;
    return *at;
}

/* Whether a call, "clone({flags=CLONE_VM|..", makes what has the memory of its maker. */
static bool shares_memory(const char *s, size_t n)
{
    enum { VM = 0x100 };
    static const char named[] = "flags=";
    struct mt_fields f = mt_fields_of(s, n);
    const char *at = memmem(s, n, named, sizeof named - 1);
    uint64_t flags;
    if (memmem(s, n, "CLONE_VM", 8) || mt_field_take(&f, "vfork"))
        return true;
    if (!at && mt_field_take(&f, "clone3(")) /* -e verbose=none; the C library makes threads so */
        return true;
    f.p = at ? at + sizeof named - 1 : f.p;
    return (at || mt_field_take(&f, "clone(")) && mt_strace_number(&f, &flags) && flags & VM;
}

/* A thread, or a process, that another is known to have made. */
static void announce(struct mt_strace *r, uint64_t pid, uint32_t process)
{
    uint32_t thread = add_thread(r, pid, process); /* threads may move */
    r->processes.threads.v[thread].announced = true;
}

void mt_strace_attached(struct mt_strace *r, uint64_t pid)
{
    struct mt_strace_processes *p = &r->processes;
    const uint32_t shared = mt_map_get(&p->made, pid);
    *mt_map_at(&p->children, pid) = 0;
    mt_map_take(&p->made, pid);
    if (shared != MT_MAP_NONE && mt_map_get(&p->of_pid, pid) == MT_MAP_NONE)
        announce(r, pid, shared ? shared - 1 : add_process(r, true));
}

static bool is_follower(const struct mt_strace_processes *p)
{
    return p->children.n > 0;
}

/* The thread whose lines have no number, or had none so far, as it was the only one; MT_NONE: it is
 * not that. */
static uint32_t unnumbered(struct mt_strace_processes *p, uint64_t pid)
{
    size_t i = 0;
    if (!is_follower(p) || !p->threads.n)
        return MT_NONE;
    if (!pid) {
        while (p->running_n == 1 && i < p->threads.n && p->threads.v[i].ended)
            i++;
        return i < p->threads.n && !p->threads.v[i].ended ? (uint32_t)i : MT_NONE;
    }
    if (p->threads.v[0].pid || p->threads.v[0].ended ||
        mt_map_get(&p->of_pid, pid) != MT_MAP_NONE || mt_map_get(&p->children, pid) != MT_MAP_NONE)
        return MT_NONE;
    p->threads.v[0].pid = pid;
    return *mt_map_at(&p->of_pid, pid) = 0;
}

/* One that nobody has announced is of a call that has not returned yet; or else a thread. */
uint32_t mt_strace_thread(struct mt_strace *r, uint64_t pid)
{
    struct mt_strace_processes *p = &r->processes;
    uint32_t only = unnumbered(p, pid);
    if (only != MT_NONE)
        return only;
    uint32_t known = mt_map_get(&p->of_pid, pid), maker = p->forking;
    if (known != MT_MAP_NONE && !p->threads.v[known].ended)
        return known;
    if (!p->threads.n)
        return add_thread(r, pid, add_process(r, false));
    const uint32_t made = mt_map_get(&p->made, pid);
    if (made != MT_MAP_NONE) { /* -q: strace has not said that it attached it */
        mt_map_take(&p->made, pid);
        announce(r, pid, made ? made - 1 : add_process(r, true));
        return mt_map_get(&p->of_pid, pid);
    }
    const struct mt_buf *call = maker == MT_NONE ? NULL : &p->threads.v[maker].pending;
    if (call && call->n) {
        uint32_t process =
            shares_memory(call->s, call->n) ? p->threads.v[maker].process : add_process(r, true);
        return add_thread(r, pid, process);
    }
    if (p->tells && !p->threads.v[0].pid && !p->threads.v[0].ended) { /* the first, of all lines */
        p->threads.v[0].pid = pid;
        return *mt_map_at(&p->of_pid, pid) = 0;
    }
    uint32_t thread = add_thread(r, pid, p->threads.v[0].process);
    p->threads.v[thread].guessed = true;
    return thread;
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
    bool shares = shares_memory(call->name, (size_t)(call->args.end - call->name));
    const uint32_t own = p->threads.v[call->thread].process;
    if (!p->threads.v[0].pid && !is_follower(p)) { /* not in the log, or attached later */
        *mt_map_at(&p->made, pid) = shares ? own + 1 : 0;
        p->tells = true;
        return;
    }
    uint32_t known = mt_map_get(&p->of_pid, pid);
    if (known != MT_MAP_NONE && !p->threads.v[known].announced) {
        p->threads.v[known].announced = true;
        return;
    }
    announce(r, pid, shares ? own : add_process(r, true));
}

enum mt_status mt_strace_run(struct mt_strace *r, uint32_t thread, struct mt_err *err)
{
    struct mt_strace_process *p = mt_strace_process_of(r, thread);
    if (p->thread_n < 2) {
        p->forked = false;
        return mt_mappings_clear(&p->mappings, r->heap, err);
    }
    p->thread_n--;
    uint32_t own = add_process(r, false);
    r->processes.threads.v[thread].process = own;
    r->processes.threads.v[thread].guessed = false;
    r->processes.all.v[own].thread_n = 1;
    return MT_OK;
}

void mt_strace_exit(struct mt_strace *r, uint32_t thread)
{
    struct mt_strace_process *p = mt_strace_process_of(r, thread);
    r->processes.threads.v[thread].ended = true;
    r->processes.running_n--;
    if (!--p->thread_n && r->processes.running_n)
        r->processes.left = r->processes.threads.v[thread].process + 1;
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

void mt_strace_was_child(struct mt_strace *r, uint32_t thread, uint64_t pid, bool ended)
{
    struct mt_strace_processes *p = &r->processes;
    const uint32_t known = mt_map_get(&p->of_pid, pid);
    if (known == MT_MAP_NONE)
        return;
    r->mixed_n += p->threads.v[known].guessed;
    p->threads.v[known].guessed = false;
    const uint32_t process = p->threads.v[known].process;
    const bool shared =
        process == p->threads.v[thread].process; /* it has the thread's own memory */
    for (size_t i = known; ended && p->all.v[process].thread_n && i < p->threads.n; i++)
        if (!p->threads.v[i].ended && (shared ? i == known : p->threads.v[i].process == process))
            mt_strace_exit(r, (uint32_t)i);
}
