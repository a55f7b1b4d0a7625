/* What calls of strace do to the memory of their process, and on which call path. */
#include "formats/strace_parts.h"

#include <string.h>

enum { STACK_MAX = 1 << 12 };

/* ---- stacks ---- */

/* "/usr/lib/libc.so.6(mmap+0x13) [0x1019b3]", "/home/you/app() [0x1250]" */
static struct mt_native_step new_step(struct mt_strace *r, const char *s, size_t n)
{
    mt_buf_set(&r->name, s, strnlen(s, n));
    char *text = r->name.s, *place = strrchr(text, '[');
    uint64_t at = 0;
    if (place && place > text) {
        struct mt_fields f = mt_fields_of(place + 1, strlen(place + 1));
        mt_field_address(&f, &at);
        place[-1] = '\0';
    }
    char *name = strchr(text, '('), *close = strrchr(text, ')'), *plus;
    if (!name || !close || (close[1] && close[1] != ' ')) /* behind " " a line of source: -kk */
        return mt_native_explicit(&r->paths, "[unknown function]");
    *close = *name++ = '\0';
    if ((plus = strrchr(name, '+')) && strncmp(plus, "+0x", 3) == 0)
        *plus = '\0';
    const struct mt_native_frame frame = {.name = name, .object = text, .file = ""};
    return *name ? mt_native_step(&r->paths, &frame, r->opts->alloc_fn)
                 : mt_native_place(&r->paths, text, at);
}

void mt_strace_frame(struct mt_strace *r, struct mt_fields f)
{
    const char *s;
    size_t n;
    mt_field_rest(&f, &s, &n);
    if (!r->next.what || !n || r->steps.n == STACK_MAX)
        return;
    uint32_t id = mt_strtab_add(&r->functions, s, n);
    if (id == r->known.n)
        *mt_vec_push(&r->known) = new_step(r, s, n);
    *mt_vec_push(&r->steps) = r->known.v[id];
}

static uint32_t root_of(struct mt_strace *r, uint32_t thread)
{
    struct mt_strace_thread *t = &r->processes.threads.v[thread];
    if (r->opts->split & MT_SPLIT_THREAD && t->root == MT_NONE)
        t->root = mt_path_thread(&r->paths, thread);
    return t->root;
}

/* The path of the call: its stack, or what kind of memory it is for; MT_NONE: it has neither. */
static uint32_t node_of(struct mt_strace *r)
{
    if (r->steps.n)
        return mt_native_path(&r->paths, root_of(r, r->next.thread), r->steps.v, r->steps.n,
                              r->opts->cpp_frames == MT_CPP_ALL);
    return r->next.kind == MT_NONE
               ? MT_NONE
               : mt_path_node(&r->paths, root_of(r, r->next.thread), r->next.kind);
}

/* ---- what happens ---- */

/* A log without times: the number of the call is its time. */
static enum mt_status tick(struct mt_strace *r, struct mt_err *err)
{
    if (r->timed)
        return MT_OK;
    r->rec->time_unit = "events";
    return mt_heap_tick(r->heap, ++r->event_n, err);
}

/* Where a call gets addresses that another thread's mremap() has not left yet, it has left them:
 * where to will be said when it returns. */
static enum mt_status leave_moving(struct mt_strace *r, struct mt_err *err)
{
    struct mt_strace_processes *p = &r->processes;
    const uint32_t process = p->threads.v[r->next.thread].process;
    for (size_t i = 0; i < p->moving.n; i++) {
        struct mt_strace_thread *t = &p->threads.v[p->moving.v[i]];
        bool known;
        if (!t->moves_bytes)
            p->moving.v[i--] = p->moving.v[--p->moving.n];
        else if (t->process == process && (r->next.at - t->moves_at < t->moves_bytes ||
                                           t->moves_at - r->next.at < r->next.bytes)) {
            MT_TRY(mt_mappings_unmap(&p->all.v[process].mappings, r->heap, t->moves_at,
                                     t->moves_bytes, &known, err));
            t->moves_bytes = 0;
            t->moved = true;
        }
    }
    return MT_OK;
}

static enum mt_status unmap(struct mt_strace *r, uint64_t at, uint64_t bytes, struct mt_err *err)
{
    struct mt_strace_process *p = mt_strace_process_of(r, r->next.thread);
    bool known;
    MT_TRY(mt_mappings_unmap(&p->mappings, r->heap, at, bytes, &known, err));
    if (!known && !p->forked)
        mt_rec_note(r->rec, MT_NOTE_BEFORE, -1, bytes < INT64_MAX / 4 ? (int64_t)bytes : 0);
    return MT_OK;
}

/* mmap(). Where the kernel chose a place at which something is, that was unmapped by what is not in
 * the log, or is of another process. */
static enum mt_status map(struct mt_strace *r, uint32_t node, struct mt_err *err)
{
    struct mt_mappings *m = &mt_strace_process_of(r, r->next.thread)->mappings;
    bool known;
    MT_TRY(mt_mappings_unmap(m, r->heap, r->next.at, r->next.bytes, &known, err));
    r->over_n += known && r->next.anywhere;
    return mt_mappings_map(m, r->heap, r->next.at, r->next.bytes, r->next.reserved, node, err);
}

/* mremap(). Of a mapping that is older than the log, all that is there then is new. */
static enum mt_status move(struct mt_strace *r, uint32_t node, struct mt_err *err)
{
    struct mt_strace_process *p = mt_strace_process_of(r, r->next.thread);
    uint32_t frame = mt_native_explicit(&r->paths, "[anonymous memory]").frame;
    struct mt_move v = {r->next.old_at, r->next.old_bytes, r->next.at, r->next.bytes, node, node};
    bool known;
    if (node == MT_NONE)
        v.other = mt_path_node(&r->paths, root_of(r, r->next.thread), frame);
    MT_TRY(mt_mappings_move(&p->mappings, r->heap, &v, &known, err));
    if (known)
        return MT_OK;
    if (v.old_bytes)
        MT_TRY(unmap(r, v.old_at, v.old_bytes, err));
    return mt_mappings_map(&p->mappings, r->heap, v.at, v.bytes, false, v.other, err);
}

/* brk(NULL) only asks. Where the answer is another one than before, the thread is a process that
 * runs another program, and the log has not said so. */
static enum mt_status move_break(struct mt_strace *r, uint32_t node, struct mt_err *err)
{
    struct mt_strace_thread *t = &r->processes.threads.v[r->next.thread];
    const struct mt_mappings *m = &mt_strace_process_of(r, r->next.thread)->mappings;
    if (!r->next.old_at && m->has_brk && m->brk != r->next.at) {
        r->mixed_n += t->guessed;
        MT_TRY(mt_strace_run(r, r->next.thread, err));
    }
    return mt_mappings_brk(&mt_strace_process_of(r, r->next.thread)->mappings, r->heap, r->next.at,
                           node, err);
}

enum mt_status mt_strace_happen(struct mt_strace *r, struct mt_err *err)
{
    const enum mt_strace_what what = r->next.what;
    if (!what)
        return MT_OK;
    MT_TRY(tick(r, err));
    uint32_t node = what == MT_STRACE_UNMAPS ? MT_NONE : node_of(r);
    struct mt_mappings *m = &mt_strace_process_of(r, r->next.thread)->mappings;
    r->next.what = MT_STRACE_NOTHING;
    r->steps.n = 0;
    if (what == MT_STRACE_MAPS || what == MT_STRACE_MOVES)
        MT_TRY(leave_moving(r, err));
    switch (what) {
    case MT_STRACE_MAPS:
        return map(r, node, err);
    case MT_STRACE_UNMAPS:
        return unmap(r, r->next.at, r->next.bytes, err);
    case MT_STRACE_MOVES:
        return move(r, node, err);
    case MT_STRACE_PROTECTS:
        return mt_mappings_protect(m, r->heap, r->next.at, r->next.bytes, r->next.reserved, node,
                                   err);
    default:
        return move_break(r, node, err);
    }
}
