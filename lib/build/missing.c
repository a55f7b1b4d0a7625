/*
 * Compares the recorder's own running total with the records: what moves it without a record was
 * done where the profiler did not look, by a thread without it, for instance. docs/attribution.md
 * says what the total counts.
 */
#include "lib/base/human.h"
#include "lib/build/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An allocator of an accelerator: each process has one. */
struct allocator {
    bool known;
    int64_t net_b;   /* of its records so far */
    int64_t first_b; /* what its total had beyond them at the first record that tells it */
    int64_t more_b;  /* how much more it has now */
    int64_t total_b;
};

/* All those of a device. */
struct walk {
    int64_t more_b, total_b; /* sums over its processes */
    int64_t unseen_b;        /* records that the build put in: they are in levels, not in net_b */
    int64_t t_ns, waiting_b; /* of the latest record, unless it shares its moment with others */
    bool waits;
};

static void note_difference(struct mt_device *d, struct walk *w)
{
    if (w->waits && w->waiting_b > d->above_b)
        d->above_b = w->waiting_b;
    if (w->waits && !d->unseen_n && !d->alloc_unseen_n && -w->waiting_b > d->below_b)
        d->below_b = -w->waiting_b; /* else those: they end as late, and begin as early as can be */
    w->waits = false;
}

/* Records of one moment may be of several threads and in any order: none of them is asked. */
static void take(struct mt_device *d, struct walk *w, struct allocator *a,
                 const struct mt_record *rec, int64_t total_b)
{
    bool alone = w->t_ns != rec->t_ns;
    int64_t beyond_b = mt_wrap_sub(total_b, a->net_b);
    if (alone)
        note_difference(d, w);
    if (!a->known)
        a->first_b = beyond_b;
    a->known = true;
    mt_wrap_inc(&w->more_b, mt_wrap_sub(mt_wrap_sub(beyond_b, a->first_b), a->more_b));
    mt_wrap_inc(&w->total_b, mt_wrap_sub(total_b, a->total_b));
    a->more_b = mt_wrap_sub(beyond_b, a->first_b);
    a->total_b = total_b;
    if (w->total_b > d->total_peak_b)
        d->total_peak_b = w->total_b;
    w->t_ns = rec->t_ns;
    w->waits = alone;
    w->waiting_b = mt_wrap_sub(w->more_b, w->unseen_b);
}

/* Devices whose records say the total of an accelerator. */
static void follow(struct mt_recording *r)
{
    struct mt_map index = {0}; /* process and device -> allocator */
    MT_VEC(struct allocator) all = {0};
    struct walk *walks = mt_alloc((r->devices.n + 1) * sizeof *walks);
    for (size_t d = 0; d < r->devices.n; d++)
        walks[d].t_ns = INT64_MIN;
    for (size_t i = 0; i < r->records.n; i++) {
        const struct mt_record *rec = &r->records.v[i];
        const struct mt_told *told = mt_rec_told_at(r, i);
        struct mt_device *d = &r->devices.v[rec->device];
        if (d->type == MT_DEVICE_CPU || !d->has_total)
            continue;
        if (rec->unseen) {
            mt_wrap_inc(&walks[rec->device].unseen_b, rec->bytes);
            continue;
        }
        uint64_t process = r->threads.v[rec->thread].process;
        uint32_t *at = mt_map_at(&index, process << 16 | rec->device);
        if (*at == MT_MAP_NONE) {
            *at = (uint32_t)all.n;
            *mt_vec_push(&all) = (struct allocator){0};
        }
        mt_wrap_inc(&all.v[*at].net_b, rec->bytes);
        if (told && told->total_b != MT_GONE)
            take(d, &walks[rec->device], &all.v[*at], rec, told->total_b);
    }
    for (size_t d = 0; d < r->devices.n; d++)
        note_difference(&r->devices.v[d], &walks[d]);
    mt_vec_free(&all);
    mt_map_free(&index);
    free(walks);
}

/* What is missing at the end. The CPU's total counts nothing of threads without the profiler. */
static void compare_ends(struct mt_device *d)
{
    int64_t theirs_b = d->last_total_b - d->first_total_b + d->first_bytes;
    int64_t ours_b = d->type == MT_DEVICE_CPU ? mt_device_recorded(d) : d->alloc_b - d->freed_b;
    d->missing_b = theirs_b - ours_b;
    d->above_b = d->missing_b > d->above_b ? d->missing_b : d->above_b;
    d->below_b = -d->missing_b > d->below_b ? -d->missing_b : d->below_b;
}

static void describe(const struct mt_device *d, struct mt_buf *out)
{
    char name[32], number[MT_HUMAN_MAX];
    mt_device_name(d->type, d->index, name);
    mt_buf_addf(out, "the recorder's own total of %s ", name);
    if (d->total_peak_b == MT_GONE) {
        mt_buf_addf(out, "ends %s", mt_human_bytes(d->above_b + d->below_b, number));
        mt_buf_adds(out, d->above_b ? " above" : " below");
    } else {
        mt_buf_addf(out, "reaches %s, ", mt_human_bytes(d->total_peak_b, number));
        if (d->above_b)
            mt_buf_addf(out, "up to %s above", mt_human_bytes(d->above_b, number));
        if (d->below_b)
            mt_buf_addf(out, "%sup to %s below", d->above_b ? " and " : "",
                        mt_human_bytes(d->below_b, number));
    }
    mt_buf_adds(out, " its records");
}

void mt_build_missing(struct mt_recording *r)
{
    struct mt_note *note = &r->notes[MT_NOTE_RESIDUAL];
    for (size_t i = 0; i < r->devices.n; i++)
        r->devices.v[i].total_peak_b = MT_GONE;
    if (!r->without_ops)
        follow(r);
    for (size_t i = 0; i < r->devices.n; i++) {
        struct mt_device *d = &r->devices.v[i];
        struct mt_buf text = {0};
        if (d->has_total)
            compare_ends(d);
        if (!d->above_b && !d->below_b)
            continue;
        describe(d, &text);
        size_t used = strlen(note->detail);
        if (used + text.n + 3 < sizeof note->detail) /* of many devices the first are named */
            snprintf(note->detail + used, sizeof note->detail - used, "%s%s", used ? "; " : "",
                     text.s);
        mt_buf_free(&text);
        mt_rec_note(r, MT_NOTE_RESIDUAL, -1, d->missing_b);
    }
}
