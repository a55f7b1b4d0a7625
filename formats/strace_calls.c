#include "formats/strace_parts.h"

#include <stdio.h>
#include <string.h>

enum { PAGE = 4096 };

void mt_strace_init(struct mt_strace *r)
{
    mt_path_tree_init(&r->paths, r->rec);
    mt_strtab_init(&r->functions);
    r->heap = mt_heap_open(r->rec, MT_DEVICE_HEAP);
}

void mt_strace_free(struct mt_strace *r)
{
    mt_heap_free(r->heap);
    mt_rec_beside(r->rec, &r->beside, 0);
    mt_buf_free(&r->held);
    for (size_t i = 0; i < r->processes.threads.n; i++)
        mt_buf_free(&r->processes.threads.v[i].pending);
    for (size_t i = 0; i < r->processes.all.n; i++)
        mt_mappings_free(&r->processes.all.v[i].mappings);
    mt_vec_free(&r->processes.threads);
    mt_vec_free(&r->processes.all);
    mt_vec_free(&r->processes.moving);
    mt_vec_free(&r->processes.making);
    mt_map_free(&r->processes.of_pid);
    mt_map_free(&r->processes.children);
    mt_map_free(&r->processes.made);
    mt_path_tree_free(&r->paths);
    mt_strtab_free(&r->functions);
    mt_vec_free(&r->known);
    mt_vec_free(&r->steps);
    mt_buf_free(&r->text);
    mt_buf_free(&r->name);
}

enum mt_status mt_strace_check_memory(struct mt_strace *r, struct mt_err *err)
{
    const struct mt_strace_processes *p = &r->processes;
    uint64_t now = mt_path_tree_bytes(&r->paths) + mt_strtab_bytes(&r->functions) +
                   mt_vec_bytes(&r->known) + mt_vec_bytes(&p->threads) + mt_vec_bytes(&p->all) +
                   mt_map_bytes(&p->of_pid);
    for (size_t i = 0; i < p->all.n; i++)
        now += mt_mappings_bytes(&p->all.v[i].mappings);
    mt_rec_beside(r->rec, &r->beside, now);
    return mt_rec_check_memory(r->rec, err);
}

/* ---- times ---- */

enum mt_status mt_strace_time(struct mt_strace *r, bool timed, int64_t t, struct mt_err *err)
{
    if (!timed || r->event_n)
        return MT_OK;
    if (!r->timed)
        r->first_time = t;
    r->timed = true;
    return mt_heap_tick(r->heap, t > r->first_time ? t - r->first_time : 0, err);
}

/* ---- calls ---- */

static const struct {
    const char *name;
    enum mt_strace_what what;
} calls[] = {{"mmap", MT_STRACE_MAPS},         {"mmap2", MT_STRACE_MAPS},
             {"munmap", MT_STRACE_UNMAPS},     {"mremap", MT_STRACE_MOVES},
             {"mprotect", MT_STRACE_PROTECTS}, {"brk", MT_STRACE_BREAKS},
             {"clone", MT_STRACE_FORKS},       {"clone3", MT_STRACE_FORKS},
             {"fork", MT_STRACE_FORKS},        {"vfork", MT_STRACE_FORKS},
             {"execve", MT_STRACE_RUNS},       {"execveat", MT_STRACE_RUNS},
             {"wait4", MT_STRACE_WAITS},       {"waitpid", MT_STRACE_WAITS},
             {"exit", MT_STRACE_EXITS},        {"exit_group", MT_STRACE_EXITS_ALL}};

static enum mt_strace_what call_of(const char *name, size_t n)
{
    for (size_t i = 0; i < MT_ARRAY_LEN(calls); i++)
        if (strlen(calls[i].name) == n && memcmp(calls[i].name, name, n) == 0)
            return calls[i].what;
    return MT_STRACE_NOTHING;
}

bool mt_strace_knows(const char *name, size_t n)
{
    return call_of(name, n) != MT_STRACE_NOTHING;
}

bool mt_strace_makes(const char *name, size_t n)
{
    return call_of(name, n) == MT_STRACE_FORKS;
}

bool mt_strace_counts(const char *name, size_t n)
{
    const enum mt_strace_what what = call_of(name, n);
    return what != MT_STRACE_NOTHING && what <= MT_STRACE_RUNS;
}

/* strace -X raw and -e raw write numbers for NULL, sizes and flags. */
bool mt_strace_number(struct mt_fields *f, uint64_t *v)
{
    int64_t number;
    if (mt_field_address(f, v))
        return true;
    if (!mt_field_decimal(f, &number) || number < 0)
        return false;
    *v = (uint64_t)number;
    return true;
}

static bool take_address(struct mt_fields *f, uint64_t *v)
{
    *v = 0;
    return mt_field_take(f, "NULL") || mt_field_address(f, v) || mt_field_take(f, "0");
}

bool mt_strace_ends(const struct mt_fields *f)
{
    return f->p == f->end || strchr(",) \t", *f->p);
}

static bool take_size(struct mt_fields *f, uint64_t *v)
{
    return mt_field_take(f, ",") && mt_strace_number(f, v) && *v <= INT64_MAX && mt_strace_ends(f);
}

/* The next argument, which is a word, or several with "|" between them. */
static struct mt_fields take_flags(struct mt_fields *f)
{
    mt_field_take(f, ",");
    mt_field_blanks(f);
    const char *s = f->p;
    while (f->p < f->end && *f->p != ',' && *f->p != ')')
        f->p++;
    return (struct mt_fields){s, f->p};
}

/* Bits of flags that are numbers. */
enum { SHARED = 0x1, DONTUNMAP = 0x4, ANONYMOUS = 0x20, FOR_STACK = 0x20000 };

static bool has(struct mt_fields f, const char *flag, uint64_t bit)
{
    uint64_t flags;
    return memmem(f.p, (size_t)(f.end - f.p), flag, strlen(flag)) ||
           (mt_strace_number(&f, &flags) && flags & bit);
}

/* Whether nobody may touch what a call is about. */
static bool is_none(struct mt_fields prot)
{
    uint64_t flags;
    return has(prot, "PROT_NONE", 0) || (mt_strace_number(&prot, &flags) && !flags);
}

/* "[file libc.so.6]" where the log has the names of files (strace -y). */
static uint32_t file_frame(struct mt_strace *r, struct mt_fields fd)
{
    const char *open = memchr(fd.p, '<', (size_t)(fd.end - fd.p)), *end = fd.end;
    mt_buf_clear(&r->name);
    mt_buf_adds(&r->name, "[files]");
    if (open && end[-1] == '>') {
        const char *slash = memrchr(open, '/', (size_t)(end - open));
        open = slash ? slash + 1 : open + 1;
        mt_buf_clear(&r->name);
        mt_buf_adds(&r->name, "[file ");
        mt_buf_add(&r->name, open, (size_t)(end - 1 - open));
        mt_buf_adds(&r->name, "]");
    }
    return mt_native_explicit(&r->paths, r->name.s).frame;
}

static uint32_t kind_of(struct mt_strace *r, struct mt_fields flags, struct mt_fields fd)
{
    const char *name = has(flags, "MAP_STACK", FOR_STACK) ? "[thread stacks]"
                       : has(flags, "MAP_SHARED", SHARED) ? "[shared memory]"
                                                          : "[anonymous memory]";
    return has(flags, "MAP_ANON", ANONYMOUS) ? mt_native_explicit(&r->paths, name).frame
                                             : file_frame(r, fd);
}

/* Its arguments, into r->next; false: they are none of such a call. */
static bool take_args(struct mt_strace *r, enum mt_strace_what what,
                      const struct mt_strace_call *call)
{
    struct mt_fields a = call->args, result = call->result, prot, flags, fd;
    uint64_t *at = &r->next.at, returned = 0;
    const bool is_address =
        take_address(&result, &returned) && returned && mt_strace_ends(&result); /* not "a = 0" */
    switch (what) {
    case MT_STRACE_MAPS:
        if (!take_address(&a, at) || !take_size(&a, &r->next.bytes))
            return false;
        r->next.anywhere = !*at;
        prot = take_flags(&a);
        flags = take_flags(&a);
        fd = take_flags(&a);
        r->next.reserved = is_none(prot);
        r->next.kind = kind_of(r, flags, fd);
        *at = returned;
        return is_address;
    case MT_STRACE_UNMAPS:
        return take_address(&a, at) && take_size(&a, &r->next.bytes);
    case MT_STRACE_MOVES:
        if (!take_address(&a, &r->next.old_at) || !take_size(&a, &r->next.old_bytes) ||
            !take_size(&a, &r->next.bytes))
            return false;
        if (has(take_flags(&a), "MREMAP_DONTUNMAP", DONTUNMAP))
            r->next.old_bytes = 0;
        *at = returned;
        return is_address;
    case MT_STRACE_PROTECTS:
        if (!take_address(&a, at) || !take_size(&a, &r->next.bytes))
            return false;
        r->next.reserved = is_none(take_flags(&a));
        return true;
    default:
        r->next.kind = mt_native_explicit(&r->paths, "[heap]").frame;
        *at = returned;
        return is_address && take_address(&a, &r->next.old_at);
    }
}

/* What a call may move that begins here. */
static void begin_moving(struct mt_strace *r, uint32_t thread, uint64_t at, uint64_t bytes)
{
    struct mt_strace_processes *p = &r->processes;
    size_t i = 0;
    p->threads.v[thread].moves_at = at;
    p->threads.v[thread].moves_bytes = bytes;
    while (i < p->moving.n && p->moving.v[i] != thread)
        i++;
    if (i == p->moving.n)
        *mt_vec_push(&p->moving) = thread;
}

/* What a call unmaps that begins here, and is not known to have worked: of munmap() all, of
 * mremap() what is then too much. */
static void begin_unmapping(struct mt_strace *r, uint32_t thread, struct mt_fields f)
{
    bool unmaps = mt_field_take(&f, "munmap("), moves = !unmaps && mt_field_take(&f, "mremap(");
    uint64_t at, bytes, left = 0;
    r->processes.threads.v[thread].early = r->processes.threads.v[thread].moved = false;
    r->processes.threads.v[thread].moves_bytes = 0;
    if ((!unmaps && !moves) || !take_address(&f, &at) || !take_size(&f, &bytes) ||
        (moves && !take_size(&f, &left)))
        return;
    left = (left + PAGE - 1) / PAGE * PAGE;
    if (moves && !has(take_flags(&f), "MREMAP_DONTUNMAP", DONTUNMAP))
        begin_moving(r, thread, at, bytes < left ? bytes : left);
    if (at % PAGE || bytes <= left)
        return; /* it fails, or unmaps nothing yet */
    r->processes.threads.v[thread].early = true;
    memset(&r->next, 0, sizeof r->next);
    r->next.what = MT_STRACE_UNMAPS;
    r->next.thread = thread;
    r->next.at = at + left;
    r->next.bytes = bytes - left;
}

void mt_strace_pending(struct mt_strace *r, uint32_t thread, const char *s, size_t n)
{
    const char *end = memchr(s, '(', n);
    const enum mt_strace_what what = end ? call_of(s, (size_t)(end - s)) : MT_STRACE_NOTHING;
    mt_buf_set(&r->processes.threads.v[thread].pending, s, n);
    if (what == MT_STRACE_FORKS)
        mt_strace_forking(r, thread);
    if (what == MT_STRACE_EXITS || what == MT_STRACE_EXITS_ALL)
        mt_strace_calls_exit(r, thread, what == MT_STRACE_EXITS_ALL);
    if (!r->processes.threads.v[thread].ended)
        begin_unmapping(r, thread, mt_fields_of(s, n));
}

enum mt_status mt_strace_becomes(struct mt_strace *r, uint32_t thread, uint64_t pid, const char *s,
                                 size_t n, struct mt_err *err)
{
    uint32_t first;
    MT_TRY(mt_strace_thread(r, pid, mt_fields_of(s, n), true, &first, err));
    mt_strace_pending(r, first, s, n);
    if (first != thread)
        mt_strace_calls_exit(r, thread, false);
    return mt_strace_leave(r, err);
}

/* "wait4(-1, [{WIFEXITED(s) ..}], 0, NULL) = 12": of several children that end at once one signal
 * may tell. */
static void waited(struct mt_strace *r, const struct mt_strace_call *call)
{
    struct mt_fields f = call->result;
    uint64_t pid;
    const bool goes_on = has(call->args, "WIFSTOPPED", 0) || has(call->args, "WIFCONTINUED", 0);
    if (!goes_on && mt_strace_number(&f, &pid) && pid)
        mt_strace_was_child(r, pid, true);
}

enum mt_status mt_strace_begin(struct mt_strace *r, const struct mt_strace_call *call,
                               struct mt_err *err)
{
    const enum mt_strace_what what = call_of(call->name, call->name_n);
    struct mt_fields result = call->result;
    int64_t failed = 0;
    if (what == MT_STRACE_NOTHING || r->processes.threads.v[call->thread].ended)
        return MT_OK;
    if (what == MT_STRACE_EXITS || what == MT_STRACE_EXITS_ALL) {
        mt_strace_calls_exit(r, call->thread, what == MT_STRACE_EXITS_ALL);
        return MT_OK;
    }
    bool fails = (mt_field_decimal(&result, &failed) && failed < 0) || mt_field_take(&result, "?");
    r->call_n += what < MT_STRACE_FORKS;
    struct mt_strace_thread *t = &r->processes.threads.v[call->thread];
    const bool begun = t->early, moved = t->moved;
    t->early = t->moved = false;
    t->moves_bytes = 0;
    if (fails) {
        if (what < MT_STRACE_FORKS &&
            memmem(result.p, (size_t)(result.end - result.p), "ENOMEM", 6))
            mt_rec_note(r->rec, MT_NOTE_OOM, (int64_t)r->line.offset, 0);
        if (begun && failed) /* what it was taken to unmap is there */
            mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
        return MT_OK;
    }
    if (begun && what == MT_STRACE_UNMAPS)
        return MT_OK;
    if (what == MT_STRACE_FORKS) {
        mt_strace_forked(r, call);
        return MT_OK;
    }
    if (what == MT_STRACE_WAITS) {
        waited(r, call);
        return MT_OK;
    }
    if (what == MT_STRACE_RUNS)
        return mt_strace_run(r, call->thread, err);
    memset(&r->next, 0, sizeof r->next);
    r->next.kind = MT_NONE;
    if (!take_args(r, what, call)) {
        mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
        return MT_OK;
    }
    if (begun) /* what is too much is gone */
        r->next.old_bytes = r->next.bytes;
    if (moved && what == MT_STRACE_MOVES)
        r->next.old_at = r->next.old_bytes = 0;
    r->next.what = what;
    r->next.thread = call->thread;
    return MT_OK;
}

/* ---- the end ---- */

/* What the log is seen to lack. */
static void note_lacks(struct mt_strace *r)
{
    const struct mt_strace_processes *p = &r->processes;
    if (!r->mixed_n && p->guessed)
        r->mixed_n = r->over_n > 0;
    if (r->mixed_n)
        mt_rec_note_n(r->rec, MT_NOTE_PROCESSES, r->mixed_n + 1, -1);
    if (!p->numbered && p->thread_n)
        mt_rec_note_detail(r->rec, MT_NOTE_UNTRACED,
                           "lines are of one thread of %u; strace -f -o writes those of all",
                           p->thread_n + 1);
    else if (!r->mixed_n && r->over_n)
        mt_rec_note_detail(r->rec, MT_NOTE_UNTRACED,
                           "memory was unmapped by what is not in the log");
    else
        return;
    mt_rec_note(r->rec, MT_NOTE_UNTRACED, -1, 0);
}

enum mt_status mt_strace_close(struct mt_strace *r, struct mt_err *err)
{
    if (r->processes.left && !mt_strace_is_first(r, r->processes.left - 1))
        MT_TRY(mt_strace_leave(r, err));
    note_lacks(r);
    if (r->again_n)
        mt_rec_note_n(r->rec, MT_NOTE_APPENDED, r->again_n + 1, -1);
    return mt_heap_close(r->heap, err);
}
