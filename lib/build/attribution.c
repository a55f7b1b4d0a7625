/* Gives memory records their ops, finds each device's totals and its peak. */
#include "lib/base/sort.h"
#include "lib/build/build.h"

#include <stdlib.h>
#include <string.h>

static int record_cmp(const void *a, const void *b)
{
    const struct mt_record *x = a, *y = b;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* The ops of a thread that are open while time goes on, by start: the last one is the innermost.
 * Ops that have ended may stay below one that outlives them. */
struct open_ops {
    MT_VEC(uint32_t) all; /* op numbers */
};

struct thread_walk {
    uint32_t started;     /* ops of the thread that have started */
    struct open_ops ends; /* with those that end at this moment */
    struct open_ops open; /* without them; kept where whole microseconds ask for it */
};

/* Innermost op that ends at t or later; MT_NONE = none. */
static uint32_t innermost(const struct mt_thread *t, struct open_ops *o, int64_t t_ns)
{
    while (o->all.n && t->ops.v[o->all.v[o->all.n - 1] - t->op_base].end_ns < t_ns)
        o->all.n--;
    return o->all.n ? o->all.v[o->all.n - 1] : MT_NONE;
}

/*
 * The op of a record. Where times are whole microseconds, a free at the moment an op ends is taken
 * for what comes just behind it: it belongs to the op around, which frees what it no longer needs.
 * docs/attribution.md has the figures behind this.
 */
static uint32_t op_of(const struct mt_recording *r, const struct mt_record *rec,
                      struct thread_walk *w)
{
    const struct mt_thread *t = &r->threads.v[rec->thread];
    for (; w->started < t->ops.n && t->ops.v[w->started].start_ns <= rec->t_ns; w->started++) {
        *mt_vec_push(&w->ends.all) = t->op_base + w->started;
        if (r->whole_us)
            *mt_vec_push(&w->open.all) = t->op_base + w->started;
    }
    uint32_t op = MT_NONE;
    if (r->whole_us && rec->bytes < 0)
        op = innermost(t, &w->open, rec->t_ns + 1);
    return op == MT_NONE ? innermost(t, &w->ends, rec->t_ns) : op;
}

static void find_ops(struct mt_recording *r)
{
    struct thread_walk *walks = mt_alloc((r->threads.n + 1) * sizeof *walks);
    for (size_t i = 0; i < r->records.n; i++) {
        struct mt_record *rec = &r->records.v[i];
        rec->op = op_of(r, rec, &walks[rec->thread]);
        if (rec->op == MT_NONE)
            mt_rec_note(r, MT_NOTE_OUTSIDE, -1, rec->bytes);
    }
    for (size_t i = 0; i < r->threads.n; i++) {
        mt_vec_free(&walks[i].ends.all);
        mt_vec_free(&walks[i].open.all);
    }
    free(walks);
}

/* What the running total of an accelerator's allocator holds beyond what the recording frees: it
 * counts all blocks there are. That of the CPU counts what profilers saw, freed since or not. */
static void trust_total(struct mt_device *d)
{
    int64_t kept_b = d->first_total_b - d->first_bytes - d->start_b;
    if (!d->has_total || d->type == MT_DEVICE_CPU || d->kept_from != MT_KEPT_UNKNOWN || kept_b < 0)
        return;
    d->kept_b = kept_b;
    d->kept_from = MT_KEPT_RECORDER;
}

/* Devices with records of several processes; allocated. Each has an allocator of its own, and the
 * first record is of one of them. */
static bool *find_shared(const struct mt_recording *r)
{
    bool *shared = mt_alloc((r->devices.n + 1) * sizeof *shared);
    uint32_t *process = mt_alloc((r->devices.n + 1) * sizeof *process);
    for (size_t d = 0; d < r->devices.n; d++)
        process[d] = MT_NONE;
    for (size_t i = 0; i < r->records.n; i++) {
        const struct mt_record *rec = &r->records.v[i];
        if (rec->thread >= r->threads.n) /* one that nobody recorded */
            continue;
        uint32_t of = r->threads.v[rec->thread].process;
        shared[rec->device] |= process[rec->device] != MT_NONE && process[rec->device] != of;
        process[rec->device] = of;
    }
    free(process);
    return shared;
}

/* Blocks that the recording frees without having seen them come were there when it began, and so
 * was what is known to be there all the time. */
static void find_start(struct mt_recording *r)
{
    bool *shared = find_shared(r);
    for (size_t i = 0; i < r->records.n; i++) {
        const struct mt_record *rec = &r->records.v[i];
        if (mt_rec_frees_older(r, rec))
            r->devices.v[rec->device].start_b -= rec->bytes;
    }
    for (size_t d = 0; d < r->devices.n; d++) {
        if (!shared[d])
            trust_total(&r->devices.v[d]);
        r->devices.v[d].start_b += r->devices.v[d].kept_b;
    }
    free(shared);
}

/* Running sums per device: totals, peak and its moment. */
static void run_totals(struct mt_recording *r)
{
    for (size_t d = 0; d < r->devices.n; d++) {
        r->devices.v[d].peak_record = SIZE_MAX;
        r->devices.v[d].peak_b = r->devices.v[d].start_b;
    }
    for (size_t i = 0; i < r->records.n; i++) {
        const struct mt_record *rec = &r->records.v[i];
        struct mt_device *d = &r->devices.v[rec->device];
        if (rec->bytes >= 0) {
            d->alloc_b += rec->bytes;
            d->alloc_n++;
        } else {
            d->freed_b -= rec->bytes;
            d->freed_n++;
            if (mt_rec_frees_older(r, rec)) {
                d->before_freed_b -= rec->bytes;
                d->before_freed_n++;
                mt_rec_note(r, MT_NOTE_BEFORE, -1, -rec->bytes);
            }
        }
        if (d->start_b + d->alloc_b - d->freed_b > d->peak_b) {
            d->peak_b = d->start_b + d->alloc_b - d->freed_b;
            d->peak_ns = rec->t_ns;
            d->peak_record = i;
        }
    }
}

/* What records say of the bytes a device holds, each of its own process, as samples of all: one per
 * change. */
static void sample_reserved(struct mt_recording *r)
{
    struct mt_map last = {0}; /* process and device -> what was said last */
    int64_t *held_b = mt_alloc((r->devices.n + 1) * sizeof *held_b);
    for (size_t i = 0; i < r->records.n; i++) {
        const struct mt_record *rec = &r->records.v[i];
        const struct mt_told *told = mt_rec_told_at(r, i);
        if (!told || !told->reserved_b)
            continue;
        uint64_t process = r->threads.v[rec->thread].process;
        uint32_t *at = mt_map_at(&last, process << 16 | rec->device), before = *at;
        *at = rec->told - 1;
        int64_t was_b = before == MT_MAP_NONE ? 0 : r->told.v[before].reserved_b;
        if (before != MT_MAP_NONE && told->reserved_b == was_b)
            continue;
        mt_wrap_inc(&held_b[rec->device], mt_wrap_sub(told->reserved_b, was_b));
        *mt_vec_push(&r->samples) = (struct mt_sample){.t_ns = rec->t_ns,
                                                       .value = held_b[rec->device],
                                                       .order = rec->order,
                                                       .record_n = (uint32_t)i + 1,
                                                       .event = MT_GONE,
                                                       .device = rec->device,
                                                       .metric = MT_METRIC_RESERVED};
    }
    mt_map_free(&last);
    free(held_b);
}

/* The call path of the op that is open on a thread at a moment; MT_NONE = none. */
static uint32_t node_at(const struct mt_thread *t, int64_t t_ns)
{
    size_t low = 0, high = t->ops.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (t->ops.v[mid].start_ns <= t_ns)
            low = mid + 1;
        else
            high = mid;
    }
    const struct mt_op *op = low ? &t->ops.v[low - 1] : NULL;
    while (op && op->end_ns < t_ns)
        op = op->parent == MT_NONE ? NULL : &t->ops.v[op->parent - t->op_base];
    return op ? op->node : MT_NONE;
}

/* Allocations that failed are no records: each lies behind those of its moment. */
static void place_failures(struct mt_recording *r)
{
    for (size_t i = 0; i < r->samples.n; i++) {
        struct mt_sample *s = &r->samples.v[i];
        size_t low = 0, high = r->records.n;
        if (s->metric != MT_METRIC_OOM)
            continue;
        while (low < high) {
            size_t mid = (low + high) / 2;
            if (r->records.v[mid].t_ns <= s->t_ns)
                low = mid + 1;
            else
                high = mid;
        }
        s->record_n = (uint32_t)low;
        s->node = node_at(&r->threads.v[s->thread], s->t_ns);
        s->has_node = s->node != MT_NONE;
    }
}

/* Why there is no memory record: whether the file says that there was to be any. */
static enum mt_note_kind why_no_memory(const struct mt_recording *r)
{
    if (r->notes[MT_NOTE_CUT].count)
        return MT_NOTE_CUT_MEMORY;
    for (size_t i = 0; i < r->meta.n; i++) {
        const char *value = mt_strtab_get(&r->strings, r->meta.v[i].value);
        if (strcmp(mt_strtab_get(&r->strings, r->meta.v[i].key), "profile_memory") != 0)
            continue;
        if (strcmp(value, "1") != 0)
            return MT_NOTE_NO_MEMORY;
        return r->op_n ? MT_NOTE_UNWRITTEN : MT_NOTE_EMPTY;
    }
    return MT_NOTE_NO_MEMORY;
}

/* `record --torch` writes into its traces why they end (lib/record/torch/sitecustomize.py). */
static bool has_yielded(const struct mt_recording *r)
{
    for (size_t i = 0; i < r->meta.n; i++)
        if (strcmp(mt_strtab_get(&r->strings, r->meta.v[i].key), "memtool_process") == 0)
            return strstr(mt_strtab_get(&r->strings, r->meta.v[i].value), "\"another\"") != NULL;
    return false;
}

void mt_build_attribution(struct mt_recording *r)
{
    if (!r->without_ops) {
        mt_build_cut_threads(r);
        mt_sort_by_time(r->records.v, r->records.n, sizeof *r->records.v, record_cmp);
        find_ops(r);
        mt_build_pairs(r);
        mt_build_unseen_allocs(r);
        mt_build_unseen(r);
        find_start(r);
        place_failures(r);
    }
    run_totals(r);
    sample_reserved(r);
    mt_build_missing(r);
    if (!r->records.n && !r->without_ops)
        mt_rec_note(r, why_no_memory(r), -1, 0);
    if (has_yielded(r))
        mt_rec_note(r, MT_NOTE_YIELDED, -1, 0);
}
