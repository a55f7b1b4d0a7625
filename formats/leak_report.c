#include "formats/leak_report.h"

#include "formats/valgrind_frames.h"
#include "lib/base/hash.h"
#include "lib/base/wrap.h"

#include <string.h>

enum {
    CUT_AT = 10, /* stacks of as many calls as the longest are cut, if it has so many */
};

static const char *const roots[MT_LEAK_KIND_N] = {
    [MT_LEAK_DIRECT] = "[direct leak]",       [MT_LEAK_INDIRECT] = "[indirect leak]",
    [MT_LEAK_DEFINITE] = "[definitely lost]", [MT_LEAK_INDIRECTLY_LOST] = "[indirectly lost]",
    [MT_LEAK_POSSIBLE] = "[possibly lost]",   [MT_LEAK_REACHABLE] = "[still reachable]",
    [MT_LEAK_SUPPRESSED] = "[suppressed]",
};

bool mt_leak_take_size(struct mt_fields *f, int64_t *v)
{
    int64_t change;
    if (!mt_field_thousands(f, v) || *v < 0 || *v > MT_LEAK_SIZE_MAX)
        return false;
    struct mt_fields at = *f;
    if ((mt_field_take(&at, "(+") || mt_field_take(&at, "(-")) &&
        mt_field_thousands(&at, &change) && mt_field_take(&at, ")"))
        *f = at;
    return true;
}

bool mt_leak_take_bytes(struct mt_fields *f, int64_t *direct, int64_t *indirect)
{
    *indirect = 0;
    if (!mt_leak_take_size(f, direct))
        return false;
    return !mt_field_take(f, "(") ||
           (mt_leak_take_size(f, direct) && mt_field_take(f, "direct,") &&
            mt_leak_take_size(f, indirect) && mt_field_take(f, "indirect)"));
}

void mt_leak_report_init(struct mt_leak_report *r, const struct mt_read_opts *opts,
                         struct mt_recording *rec)
{
    *r = (struct mt_leak_report){.opts = opts, .rec = rec};
    mt_path_tree_init(&r->paths, rec);
    rec->time_unit = NULL;
}

void mt_leak_report_free(struct mt_leak_report *r)
{
    mt_rec_beside(r->rec, &r->beside, 0);
    mt_path_tree_free(&r->paths);
    mt_vec_free(&r->records);
    mt_vec_free(&r->steps);
    mt_vec_free(&r->calls);
    mt_vec_free(&r->processes);
    mt_map_free(&r->process_at);
}

/* The memory limit holds for what is kept beside the recording, too. */
static enum mt_status check_memory(struct mt_leak_report *r, struct mt_err *err)
{
    uint64_t now = mt_vec_bytes(&r->records) + mt_vec_bytes(&r->steps) + mt_vec_bytes(&r->calls) +
                   mt_vec_bytes(&r->processes) + mt_map_bytes(&r->process_at) +
                   mt_path_tree_bytes(&r->paths);
    mt_rec_beside(r->rec, &r->beside, now);
    return mt_rec_check_memory(r->rec, err);
}

/* The pointer is valid until the next call. */
static struct mt_leak_process *process_of(struct mt_leak_report *r, uint64_t process)
{
    uint32_t *at = mt_map_at(&r->process_at, process);
    if (*at == MT_MAP_NONE) {
        *at = (uint32_t)r->processes.n;
        *mt_vec_push(&r->processes) = (struct mt_leak_process){MT_NONE, MT_NONE};
    }
    return &r->processes.v[*at];
}

enum mt_status mt_leak_report_add(struct mt_leak_report *r, enum mt_leak_kind kind, int64_t bytes,
                                  int64_t blocks, uint64_t process, struct mt_err *err)
{
    struct mt_leak_process *p = process_of(r, process);
    *mt_vec_push(&r->records) = (struct mt_leak_record){.kind = kind,
                                                        .bytes = bytes,
                                                        .blocks = blocks,
                                                        .process = process,
                                                        .first = r->steps.n,
                                                        .next = p->last};
    p->last = (uint32_t)r->records.n - 1;
    return ++r->added_n % 256 ? MT_OK : check_memory(r, err);
}

void mt_leak_report_frame(struct mt_leak_report *r, const struct mt_native_frame *f,
                          uint64_t address)
{
    struct mt_leak_record *last = &r->records.v[r->records.n - 1];
    if (last->n > MT_STACK_MAX)
        return;
    *mt_vec_push(&r->steps) = mt_native_step(&r->paths, f, r->opts->alloc_fn);
    *mt_vec_push(&r->calls) = address;
    last->n++;
}

/* ---- processes that report again ---- */

static void move_to(uint32_t *record, const uint32_t *moved)
{
    if (*record != MT_NONE)
        *record = moved[*record];
}

/* Makes room of the records that were dropped, and of their stacks. */
static void sweep(struct mt_leak_report *r)
{
    size_t kept = 0, step_n = 0;
    uint32_t *moved = mt_alloc((r->records.n + 1) * sizeof *moved);
    for (size_t i = 0; i < r->records.n; i++) {
        struct mt_leak_record at = r->records.v[i];
        moved[i] = (uint32_t)kept;
        if (at.dropped)
            continue;
        if (at.n) {
            memmove(&r->steps.v[step_n], &r->steps.v[at.first], at.n * sizeof *r->steps.v);
            memmove(&r->calls.v[step_n], &r->calls.v[at.first], at.n * sizeof *r->calls.v);
        }
        at.first = step_n;
        step_n += at.n;
        r->records.v[kept++] = at;
    }
    r->records.n = kept;
    r->steps.n = r->calls.n = step_n;
    r->dropped_n = 0;
    for (size_t i = 0; i < kept; i++)
        move_to(&r->records.v[i].next, moved);
    for (size_t i = 0; i < r->processes.n; i++) {
        move_to(&r->processes.v[i].last, moved);
        move_to(&r->processes.v[i].earlier, moved);
    }
    free(moved);
}

/* Drops the records of a report. What goes is swept up when it is half of all: in time that grows
 * with the log. */
static void drop(struct mt_leak_report *r, uint32_t *first)
{
    r->again_n += *first != MT_NONE;
    for (uint32_t i = *first; i != MT_NONE; i = r->records.v[i].next) {
        r->records.v[i].dropped = true;
        r->dropped_n++;
    }
    *first = MT_NONE;
    if (r->dropped_n > r->records.n / 2)
        sweep(r);
}

void mt_leak_report_forget(struct mt_leak_report *r, uint64_t process)
{
    drop(r, &process_of(r, process)->last);
}

/* Of a stack: its functions and their addresses. */
static uint64_t hash_of(const struct mt_leak_report *r, const struct mt_leak_record *at)
{
    uint64_t hash = at->n;
    for (size_t i = at->first; i < at->first + at->n; i++) {
        const uint64_t frame[] = {r->calls.v[i], r->steps.v[i].frame};
        hash = mt_hash_short(hash, frame, sizeof frame);
    }
    return hash;
}

/* Whether a stack of its earlier report is in its last one, too. */
static bool repeats(const struct mt_leak_report *r, const struct mt_leak_process *p)
{
    struct mt_map last = {0};
    bool any = false;
    for (uint32_t i = p->last; i != MT_NONE; i = r->records.v[i].next)
        *mt_map_at(&last, hash_of(r, &r->records.v[i])) = 0;
    for (uint32_t i = p->earlier; i != MT_NONE && !any; i = r->records.v[i].next)
        any = mt_map_get(&last, hash_of(r, &r->records.v[i])) != MT_MAP_NONE;
    mt_map_free(&last);
    return any;
}

/* The last report of a process is whole: it stands for the earlier one, or that was another's. */
static void settle(struct mt_leak_report *r, struct mt_leak_process *p)
{
    if (p->earlier != MT_NONE && repeats(r, p))
        drop(r, &p->earlier);
    r->apart_n += p->earlier != MT_NONE;
    p->earlier = MT_NONE;
}

void mt_leak_report_again(struct mt_leak_report *r, uint64_t process)
{
    struct mt_leak_process *p = process_of(r, process);
    settle(r, p);
    p->earlier = p->last;
    p->last = MT_NONE;
}

/* ---- the end ---- */

enum mt_status mt_leak_report_total(struct mt_leak_report *r, enum mt_leak_kind kind, int64_t bytes,
                                    int64_t blocks, uint64_t process, const char *why,
                                    struct mt_err *err)
{
    struct mt_leak_process *p = process_of(r, process);
    settle(r, p);
    for (uint32_t i = p->last; i != MT_NONE; i = r->records.v[i].next) {
        const struct mt_leak_record *at = &r->records.v[i];
        if (kind != MT_LEAK_KIND_N && at->kind != kind)
            continue;
        bytes = mt_wrap_sub(bytes, at->bytes);
        blocks = blocks == MT_UNKNOWN ? blocks : mt_wrap_sub(blocks, at->blocks);
    }
    if (bytes < 0 || (blocks < 0 && blocks != MT_UNKNOWN)) {
        mt_rec_note(r->rec, MT_NOTE_MOMENT_SUM, -1, bytes < 0 ? mt_wrap_sub(0, bytes) : 0);
        return MT_OK;
    }
    if (!bytes && (!blocks || blocks == MT_UNKNOWN))
        return MT_OK;
    MT_TRY(mt_leak_report_add(r, kind, bytes, blocks, process, err));
    r->records.v[r->records.n - 1].why = why;
    return MT_OK;
}

static size_t calls_of(const struct mt_leak_report *r, const struct mt_leak_record *at)
{
    return at->n ? mt_valgrind_calls(r->steps.v + at->first, r->calls.v + at->first, at->n) : 0;
}

static uint32_t node_of(struct mt_leak_report *r, const struct mt_leak_record *at, size_t longest)
{
    if (at->kind == MT_LEAK_KIND_N)
        return MT_NONE;
    uint32_t node =
        mt_path_node(&r->paths, MT_NONE, mt_native_explicit(&r->paths, roots[at->kind]).frame);
    if (!at->n)
        return node;
    const struct mt_native_step *stack = r->steps.v + at->first;
    if (longest >= CUT_AT && calls_of(r, at) == longest && !mt_native_is_rooted(stack, at->n))
        node = mt_path_node(&r->paths, node, mt_native_explicit(&r->paths, MT_STACK_CUT).frame);
    return mt_native_path(&r->paths, node, stack, at->n, r->opts->cpp_frames == MT_CPP_ALL);
}

static enum mt_status give_all(struct mt_leak_report *r, struct mt_heap *h, struct mt_err *err)
{
    size_t longest = 0;
    for (size_t i = 0; i < r->records.n; i++) {
        size_t calls = calls_of(r, &r->records.v[i]);
        longest = calls > longest ? calls : longest;
    }
    mt_heap_knows(h, MT_SUM_AT_END_B | MT_SUM_AT_END_N);
    for (size_t i = 0; i < r->records.n; i++) {
        const struct mt_leak_record *at = &r->records.v[i];
        MT_TRY(mt_heap_left(h, node_of(r, at, longest), at->bytes, at->blocks, err));
        if (at->why) {
            bool first = !r->rec->notes[MT_NOTE_UNLISTED].count;
            if (first || at->kind != MT_LEAK_SUPPRESSED) /* what can be listed is said first */
                mt_rec_note_detail(r->rec, MT_NOTE_UNLISTED, "%s", at->why);
            mt_rec_note(r->rec, MT_NOTE_UNLISTED, -1, at->bytes);
        }
        if (i % 256 == 0)
            MT_TRY(check_memory(r, err));
    }
    return mt_heap_close(h, err);
}

enum mt_status mt_leak_report_close(struct mt_leak_report *r, struct mt_err *err)
{
    struct mt_heap *h = mt_heap_open(r->rec, MT_DEVICE_HEAP);
    uint64_t process_n = 0;
    for (size_t i = 0; i < r->processes.n; i++) {
        settle(r, &r->processes.v[i]);
        process_n += r->processes.v[i].last != MT_NONE;
    }
    if (process_n + r->apart_n > 1)
        mt_rec_note_n(r->rec, MT_NOTE_REPORTS, process_n + r->apart_n, -1);
    if (r->again_n)
        mt_rec_note_n(r->rec, MT_NOTE_AGAIN, r->again_n, -1);
    sweep(r);
    enum mt_status st = give_all(r, h, err);
    mt_heap_free(h);
    return st;
}
