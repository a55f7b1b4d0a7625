/* Gives memory records their ops, pairs frees with allocations, finds each device's peak. */
#include "lib/build.h"

#include <stdlib.h>

enum { CLOSED = MT_NONE - 1 }; /* an address seen before where nothing is live now */

static int record_cmp(const void *a, const void *b)
{
    const struct mt_record *x = a, *y = b;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Innermost op open at t on a thread; *cursor = ops that started by the last t asked for. */
static uint32_t innermost(const struct mt_thread *t, uint32_t *cursor, int64_t t_ns)
{
    while (*cursor < t->ops.n && t->ops.v[*cursor].start_ns <= t_ns)
        ++*cursor;
    uint32_t at = *cursor ? t->op_base + *cursor - 1 : MT_NONE;
    while (at != MT_NONE && t->ops.v[at - t->op_base].end_ns < t_ns)
        at = t->ops.v[at - t->op_base].parent;
    return at;
}

/*
 * The op of a record. Where times are whole microseconds, a free at the moment an op ends is taken
 * for what comes just behind it: it belongs to the op around, which frees what it no longer needs.
 * docs/attribution.md has the figures behind this.
 */
static uint32_t op_of(const struct mt_recording *r, const struct mt_record *rec, uint32_t *cursor)
{
    const struct mt_thread *t = &r->threads.v[rec->thread];
    uint32_t closed = innermost(t, cursor, rec->t_ns), open = closed;
    if (!r->whole_us || rec->bytes >= 0)
        return closed;
    while (open != MT_NONE && t->ops.v[open - t->op_base].end_ns <= rec->t_ns)
        open = t->ops.v[open - t->op_base].parent;
    return open == MT_NONE ? closed : open;
}

static void find_ops(struct mt_recording *r)
{
    uint32_t *cursor = mt_alloc((r->threads.n + 1) * sizeof *cursor);
    for (size_t i = 0; i < r->records.n; i++) {
        struct mt_record *rec = &r->records.v[i];
        rec->op = op_of(r, rec, &cursor[rec->thread]);
        if (rec->op == MT_NONE)
            mt_rec_note(r, MT_NOTE_OUTSIDE, -1, rec->bytes);
    }
    free(cursor);
}

struct pairing {
    struct mt_map live;   /* address of a process and device -> newest live allocation */
    struct mt_map below;  /* allocation -> the older one still live at its address */
    struct mt_map spaces; /* (process, device) -> small number */
};

static uint64_t address_key(struct mt_recording *r, struct pairing *p, const struct mt_record *rec)
{
    const struct mt_thread *t = &r->threads.v[rec->thread];
    uint64_t process = t->pid_name == MT_NONE ? (uint64_t)t->pid : ~(uint64_t)t->pid_name;
    uint32_t *space = mt_map_at(&p->spaces, process << 16 ^ process >> 48 ^ rec->device);
    if (*space == MT_NONE)
        *space = (uint32_t)p->spaces.n - 1;
    return rec->addr ^ (uint64_t)*space << 48;
}

static void pair_free(struct mt_recording *r, struct pairing *p, uint32_t i)
{
    struct mt_record *rec = &r->records.v[i];
    uint32_t *live = mt_map_at(&p->live, address_key(r, p, rec));
    if (*live == MT_NONE)
        *live = CLOSED;
    if (*live == CLOSED)
        return;
    struct mt_record *birth = &r->records.v[*live];
    if (birth->bytes != -rec->bytes) {
        mt_rec_note(r, MT_NOTE_SIZE_MISMATCH, -1, 0);
        return;
    }
    birth->mate = i;
    rec->mate = *live;
    uint32_t older = mt_map_get(&p->below, *live);
    *live = older == MT_NONE ? CLOSED : older;
}

static void pair_alloc(struct mt_recording *r, struct pairing *p, uint32_t i)
{
    uint32_t *live = mt_map_at(&p->live, address_key(r, p, &r->records.v[i]));
    if (*live != MT_NONE && *live != CLOSED) {
        mt_rec_note(r, MT_NOTE_REUSED_ADDRESS, -1, r->records.v[*live].bytes);
        *mt_map_at(&p->below, i) = *live;
    }
    *live = i;
}

static void pair_records(struct mt_recording *r)
{
    struct pairing p = {0};
    for (uint32_t i = 0; i < r->records.n; i++) {
        const struct mt_record *rec = &r->records.v[i];
        if (!rec->has_addr || rec->bytes == 0)
            continue;
        if (rec->bytes > 0)
            pair_alloc(r, &p, i);
        else
            pair_free(r, &p, i);
    }
    mt_map_free(&p.live);
    mt_map_free(&p.below);
    mt_map_free(&p.spaces);
}

/* Blocks that the recording frees without having seen them come were there when it began. */
static void find_start(struct mt_recording *r)
{
    for (size_t i = 0; i < r->records.n; i++) {
        const struct mt_record *rec = &r->records.v[i];
        struct mt_device *d = &r->devices.v[rec->device];
        if (rec->bytes < 0 && rec->mate == MT_NONE && !d->no_addresses)
            d->start_b -= rec->bytes;
    }
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
            if (rec->mate == MT_NONE && !d->no_addresses) {
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

/* What records say of the bytes a device holds, as samples: one per change. */
static void sample_reserved(struct mt_recording *r)
{
    uint32_t *last = mt_alloc((r->devices.n + 1) * sizeof *last);
    for (size_t i = 0; i < r->records.n; i++) {
        const struct mt_record *rec = &r->records.v[i];
        uint32_t now = rec->reserved, before = last[rec->device];
        if (!now || now == before)
            continue;
        last[rec->device] = now;
        int64_t value = r->reserved_b.v[now - 1];
        if (!before || value != r->reserved_b.v[before - 1])
            *mt_vec_push(&r->samples) = (struct mt_sample){.t_ns = rec->t_ns,
                                                           .value = value,
                                                           .order = rec->order,
                                                           .record_n = (uint32_t)i + 1,
                                                           .device = rec->device,
                                                           .metric = MT_METRIC_RESERVED};
    }
    free(last);
}

static void check_totals(struct mt_recording *r)
{
    for (size_t i = 0; i < r->devices.n; i++) {
        const struct mt_device *d = &r->devices.v[i];
        if (!d->has_total)
            continue;
        int64_t theirs = d->last_total_b - d->first_total_b + d->first_bytes;
        if (theirs != d->alloc_b - d->freed_b)
            mt_rec_note(r, MT_NOTE_RESIDUAL, -1, theirs - (d->alloc_b - d->freed_b));
    }
}

void mt_build_attribution(struct mt_recording *r)
{
    if (!r->without_ops) {
        mt_sort_by_time(r->records.v, r->records.n, sizeof *r->records.v, record_cmp);
        find_ops(r);
        pair_records(r);
        find_start(r);
    }
    run_totals(r);
    sample_reserved(r);
    check_totals(r);
    if (!r->records.n && !r->without_ops)
        mt_rec_note(r, MT_NOTE_NO_MEMORY, -1, 0);
}
