/* The sink of heap logs: opened, checked, and closed into the recording. */
#include "lib/model/heap_parts.h"

#include "lib/model/extras.h"
#include <string.h>

enum { MOMENT_BITS = 62 }; /* as in lib/build/validate.c */

/* Where the bits of enum mt_sum_figures are in struct mt_sums. */
static const size_t figures[] = {
    offsetof(struct mt_sums, alloc_b),   offsetof(struct mt_sums, alloc_n),
    offsetof(struct mt_sums, at_peak_b), offsetof(struct mt_sums, at_peak_n),
    offsetof(struct mt_sums, at_end_b),  offsetof(struct mt_sums, at_end_n),
};
_Static_assert(1 << MT_ARRAY_LEN(figures) == MT_SUM_ALL + 1, "a place for each figure");

struct mt_heap *mt_heap_open(struct mt_recording *rec, int device_type)
{
    struct mt_heap *h = mt_alloc(sizeof *h);
    *h = (struct mt_heap){.rec = rec,
                          .device = (uint16_t)mt_rec_device(rec, device_type, -1),
                          .peak_event = -1,
                          .stride = 1,
                          .sample_stride = 1,
                          .first_sample = rec->samples.n,
                          .change_limit = MT_HEAP_CHANGES,
                          .free_large = -1,
                          .last_event = UINT32_MAX,
                          .sums_known = MT_SUM_ALL};
    h->min.record = -1;
    h->block_of.near = true;
    mt_strtab_init(&h->extra_keys);
    rec->summed = rec->without_ops = true;
    mt_packer_start(&h->packer, h->device, 0);
    return h;
}

void mt_heap_free(struct mt_heap *h)
{
    if (!h)
        return;
    mt_rec_beside(h->rec, &h->beside, 0);
    mt_buf_free(&h->packer.packed);
    mt_vec_free(&h->slots);
    mt_vec_free(&h->slot_of);
    mt_vec_free(&h->touched);
    mt_vec_free(&h->held);
    mt_vec_free(&h->changes);
    mt_vec_free(&h->change_b);
    mt_vec_free(&h->moments);
    mt_vec_free(&h->large);
    mt_vec_free(&h->kinds);
    mt_vec_free(&h->sums);
    mt_vec_free(&h->extra_at);
    mt_strtab_free(&h->extra_keys);
    mt_map_free(&h->block_of);
    mt_map_free(&h->sized);
    mt_vec_free(&h->sized_of);
    mt_vec_free(&h->chain);
    free(h);
}

enum mt_status mt_heap_exceeds(struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT, "the allocations exceed 1 EiB, or are negative");
    mt_err_hint(err, "Nothing was imported. The file is damaged, or no profiler wrote it.");
    return MT_EINPUT;
}

enum mt_status mt_heap_check_time(int64_t t, struct mt_err *err)
{
    if (t >= 0 && t < (int64_t)1 << MOMENT_BITS)
        return MT_OK;
    MT_FAIL(err, MT_EINPUT, "a time in the file is out of range");
    mt_err_hint(err, "Nothing was imported. The file is damaged, or no profiler wrote it.");
    return MT_EINPUT;
}

enum mt_status mt_heap_check_memory(struct mt_heap *h, struct mt_err *err)
{
    enum { FOR_A_LEVEL = 2 * sizeof(struct mt_level) }; /* reports unpack them */
    uint64_t now = mt_vec_bytes(&h->slots) + mt_vec_bytes(&h->slot_of) + mt_vec_bytes(&h->touched) +
                   mt_vec_bytes(&h->held) + mt_vec_bytes(&h->changes) + mt_vec_bytes(&h->change_b) +
                   mt_vec_bytes(&h->moments) + mt_vec_bytes(&h->large) + mt_vec_bytes(&h->kinds) +
                   mt_vec_bytes(&h->sums) + mt_vec_bytes(&h->extra_at) +
                   mt_strtab_bytes(&h->extra_keys) + mt_map_bytes(&h->block_of) +
                   mt_map_bytes(&h->sized) + mt_vec_bytes(&h->sized_of) +
                   h->rec->history.curve.packed.n + h->packed_n * FOR_A_LEVEL;
    mt_rec_beside(h->rec, &h->beside, now);
    return mt_rec_check_memory(h->rec, err);
}

int64_t mt_heap_level(const struct mt_heap *h)
{
    return h->level;
}

enum mt_status mt_heap_until(struct mt_heap *h, int64_t t, struct mt_err *err)
{
    MT_TRY(mt_heap_check_time(t, err));
    if (t > h->rec->end_ns)
        h->rec->end_ns = t;
    return MT_OK;
}

void mt_heap_knows_extra(struct mt_heap *h, const char *figure)
{
    enum mt_extra extra = mt_extra_find(figure);
    h->knows_extras |= extra < MT_EXTRA_N ? MT_KNOWS_EXTRA(extra) : 0;
}

void mt_heap_extra(struct mt_heap *h, uint32_t node, const char *figure, int64_t value)
{
    struct mt_recording *r = h->rec;
    uint32_t name = mt_strtab_add(&r->strings, figure, strlen(figure));
    const uint32_t key[] = {node, h->device, name};
    uint32_t id = mt_strtab_add(&h->extra_keys, (const char *)key, sizeof key);
    if (id == h->extra_at.n) {
        *mt_vec_push(&h->extra_at) = (uint32_t)r->extras.n;
        *mt_vec_push(&r->extras) = (struct mt_node_extra){node, h->device, name, 0};
        mt_heap_knows_extra(h, figure);
    }
    int64_t *sum = &r->extras.v[h->extra_at.v[id]].value;
    bool fits = *sum != MT_UNKNOWN && (value < 0 || *sum <= INT64_MAX - value);
    *sum = fits ? mt_wrap_add(*sum, value) : MT_UNKNOWN;
}

void mt_heap_lacks_extra(struct mt_heap *h, const char *figure)
{
    struct mt_recording *r = h->rec;
    uint32_t name = mt_strtab_add(&r->strings, figure, strlen(figure));
    enum mt_extra extra = mt_extra_find(figure);
    size_t kept = 0;
    for (size_t i = 0; i < r->extras.n; i++)
        if (r->extras.v[i].device != h->device || r->extras.v[i].figure != name)
            r->extras.v[kept++] = r->extras.v[i];
    r->extras.n = kept;
    h->knows_extras &= extra < MT_EXTRA_N ? ~MT_KNOWS_EXTRA(extra) : ~0u;
}

/* Of each two neighbours the larger value stays. */
static void thin_samples(struct mt_heap *h)
{
    struct mt_sample *v = h->rec->samples.v;
    size_t kept = h->first_sample;
    for (size_t i = h->first_sample; i + 1 < h->rec->samples.n; i += 2)
        v[kept++] = v[i + 1].value > v[i].value ? v[i + 1] : v[i];
    h->rec->samples.n = kept;
    h->sample_stride *= 2;
}

void mt_heap_sample(struct mt_heap *h, int metric, int64_t value)
{
    struct mt_recording *r = h->rec;
    struct mt_sample *last =
        r->samples.n > h->first_sample ? &r->samples.v[r->samples.n - 1] : NULL;
    const struct mt_sample now = {.t_ns = h->now,
                                  .value = value,
                                  .order = (uint32_t)h->sample_n,
                                  .device = h->device,
                                  .metric = (uint8_t)metric,
                                  .event = MT_GONE};
    h->last_sample = now;
    if (h->sample_n++ % h->sample_stride == 0 || !last) {
        if (r->samples.n - h->first_sample >= MT_HEAP_SAMPLES)
            thin_samples(h);
        *mt_vec_push(&r->samples) = now;
    } else if (value > last->value) {
        *last = now;
    }
}

/* What was last is kept, however small: what the process has now. */
static void close_samples(struct mt_heap *h)
{
    struct mt_recording *r = h->rec;
    if (h->sample_n && r->samples.v[r->samples.n - 1].order != h->last_sample.order)
        *mt_vec_push(&r->samples) = h->last_sample;
}

/* ---- sums ---- */

static int64_t *figure_of(struct mt_sums *s, size_t i)
{
    return (int64_t *)(void *)((char *)s + figures[i]);
}

void mt_heap_knows(struct mt_heap *h, unsigned figures_known)
{
    h->by_sums = true;
    h->sums_known = figures_known;
}

enum mt_status mt_heap_sums(struct mt_heap *h, uint32_t node, const struct mt_sums *s,
                            struct mt_err *err)
{
    struct mt_sums own = *s;
    uint32_t slot = mt_heap_slot(h, node);
    while (h->sums.n <= slot)
        *mt_vec_push(&h->sums) = (struct mt_sums){0};
    h->by_sums = true;
    for (size_t i = 0; i < MT_ARRAY_LEN(figures); i++) {
        int64_t v = *figure_of(&own, i);
        if (v == MT_UNKNOWN)
            h->sums_known &= ~(1u << i);
        if (!(h->sums_known >> i & 1))
            continue;
        MT_TRY(mt_heap_add_to(figure_of(&h->sums_total, i), v, err));
        *figure_of(&h->sums.v[slot], i) += v;
    }
    const bool due = !(h->rec->event_n++ & MT_HEAP_CHECK) || mt_rec_grew(h->rec);
    return due ? mt_heap_check_memory(h, err) : MT_OK;
}

enum mt_status mt_heap_left(struct mt_heap *h, uint32_t node, int64_t bytes, int64_t blocks,
                            struct mt_err *err)
{
    struct mt_sums s = MT_SUMS_UNKNOWN;
    s.at_end_b = bytes;
    s.at_end_n = blocks;
    return mt_heap_sums(h, node, &s, err);
}

enum mt_status mt_heap_peak_at(struct mt_heap *h, int64_t t, struct mt_err *err)
{
    MT_TRY(mt_heap_check_time(t, err));
    h->has_peak_t = true;
    h->peak_t = t;
    return mt_heap_until(h, t, err);
}

/* ---- into the recording ---- */

void mt_heap_add_stat(struct mt_heap *h, uint32_t node, const struct mt_sums *s)
{
    struct mt_device *d = &h->rec->devices.v[h->device];
    if (!(s->alloc_b | s->freed_b | s->alloc_n | s->at_peak_b | s->at_end_b | s->at_peak_n |
          s->at_end_n))
        return;
    if (node != MT_NONE) {
        *mt_vec_push(&h->rec->stats) =
            (struct mt_node_stat){.node = node, .device = h->device, .self = *s};
        return;
    }
    d->outside_n = s->alloc_n ? s->alloc_n : 1; /* there is something, however many */
    d->outside_alloc_b = s->alloc_b;
    d->outside_freed_b = s->freed_b;
    d->outside_alloc_n = s->alloc_n;
    d->outside_at_peak_b = s->at_peak_b;
    d->outside_at_end_b = s->at_end_b;
}

/* Figures of node i - 1; NULL: it has none. */
static const struct mt_heap_node *own_of(const struct mt_heap *h, size_t i)
{
    return h->slot_of.v[i] ? &h->slots.v[h->slot_of.v[i] - 1] : NULL;
}

static void put_peak(struct mt_heap *h, struct mt_device *d)
{
    d->peak_b = h->peak;
    d->peak_ns = h->peak_event >= 0 ? h->peak_t : MT_UNKNOWN;
    d->peak_record = h->peak_event >= 0 ? (size_t)h->peak_event : SIZE_MAX;
}

/* Moments, and what changes with each. */
static void put_history(struct mt_heap *h)
{
    struct mt_history *to = &h->rec->history;
    int64_t first = (int64_t)to->moments.n;
    uint8_t kind = h->by_moments ? MT_MOMENT_SNAPSHOT : MT_MOMENT_TICK;
    mt_packer_end(&h->packer, &to->curve);
    if (!(h->rec->devices.v[h->device].knows & MT_KNOWS_MOMENTS))
        return;
    for (size_t i = 0; i < h->moments.n; i++)
        *mt_vec_push(&to->moments) = (struct mt_moment){h->moments.v[i], h->device, kind};
    mt_heap_put_changes(h, first);
}

static void close_events(struct mt_heap *h)
{
    struct mt_device *d = &h->rec->devices.v[h->device];
    bool timed = h->rec->time_unit;
    mt_heap_end_window(h);
    mt_heap_end_moment(h);
    d->knows = MT_KNOWS_ALLOC | MT_KNOWS_PEAK | MT_KNOWS_AT_PEAK | MT_KNOWS_AT_END |
               MT_KNOWS_COUNTS | (timed ? MT_KNOWS_LEVEL | MT_KNOWS_MOMENTS : 0);
    put_history(h); /* first: its parts are given back before there are others */
    mt_heap_close_kinds(h);
    for (size_t i = 0; i < h->slot_of.n; i++) {
        const struct mt_heap_node *n = own_of(h, i);
        if (!n)
            continue;
        bool still = n->epoch != h->epoch; /* unchanged since the peak */
        mt_heap_add_stat(h, n->node,
                         &(struct mt_sums){.alloc_b = n->alloc_b,
                                           .freed_b = n->alloc_b + n->came_b - n->live_b,
                                           .alloc_n = n->alloc_n,
                                           .at_peak_b = still ? n->live_b : n->peak_b,
                                           .at_peak_n = still ? n->live_n : n->peak_n,
                                           .at_end_b = n->live_b,
                                           .at_end_n = n->live_n});
    }
    put_peak(h, d);
    d->alloc_b = h->alloc_b;
    d->alloc_n = h->alloc_n;
    d->freed_b = h->freed_b;
    d->freed_n = h->freed_n;
    d->at_end_b = h->level;
    d->at_end_n = h->older_n + h->alloc_n + h->split_n - h->freed_n;
    d->start_b = d->older_b = h->older_b;
}

static int64_t known(const struct mt_heap *h, enum mt_sum_figures figure, int64_t value)
{
    return h->sums_known & figure ? value : MT_UNKNOWN;
}

/* The peak is the highest level, so that of the end, too, and that of any block. */
static enum mt_status check_sums(const struct mt_heap *h, struct mt_err *err)
{
    const struct mt_sums *t = &h->sums_total;
    const unsigned k = h->sums_known;
    bool below = k & MT_SUM_AT_END_B && t->at_peak_b < t->at_end_b;
    bool none = k & MT_SUM_ALLOC_B && t->alloc_b > 0 && t->at_peak_b == 0;
    if (!(k & MT_SUM_AT_PEAK_B) || (!below && !none))
        return MT_OK;
    MT_FAIL(err, MT_EINPUT,
            below ? "more is alive at the end than at the peak"
                  : "blocks were allocated, and nothing was held at the peak");
    mt_err_hint(err, "Nothing was imported. The file is damaged, or no profiler wrote it.");
    return MT_EINPUT;
}

/* Whether no path holds more at the end than it allocated, as files say that contradict themselves.
 */
static bool none_is_short(const struct mt_heap *h)
{
    for (size_t i = 0; i < h->sums.n; i++)
        if (h->sums.v[i].alloc_b < h->sums.v[i].at_end_b)
            return false;
    return true;
}

static void close_sums(struct mt_heap *h)
{
    struct mt_device *d = &h->rec->devices.v[h->device];
    const struct mt_sums *t = &h->sums_total;
    const unsigned k = h->sums_known;
    bool alloc = k & MT_SUM_ALLOC_B, end = k & MT_SUM_AT_END_B, peak = k & MT_SUM_AT_PEAK_B;
    bool freed = alloc && end && none_is_short(h);
    bool alloc_n = k & MT_SUM_ALLOC_N, end_n = k & MT_SUM_AT_END_N, peak_n = k & MT_SUM_AT_PEAK_N;
    /* known of all that is known in bytes, or of none */
    bool counts = alloc_n >= alloc && end_n >= end && peak_n >= peak && (alloc_n | end_n | peak_n);
    for (size_t i = 0; i < h->slot_of.n; i++) {
        if (!h->slot_of.v[i] || h->slot_of.v[i] > h->sums.n)
            continue;
        struct mt_sums s = h->sums.v[h->slot_of.v[i] - 1];
        for (size_t f = 0; f < MT_ARRAY_LEN(figures); f++)
            *figure_of(&s, f) = k >> f & 1 ? *figure_of(&s, f) : 0;
        s.freed_b = freed ? s.alloc_b - s.at_end_b : 0;
        mt_heap_add_stat(h, (uint32_t)i - 1u, &s);
    }
    d->alloc_b = known(h, MT_SUM_ALLOC_B, t->alloc_b);
    d->alloc_n = known(h, MT_SUM_ALLOC_N, t->alloc_n);
    d->at_end_b = known(h, MT_SUM_AT_END_B, t->at_end_b);
    d->at_end_n = known(h, MT_SUM_AT_END_N, t->at_end_n);
    d->freed_b = freed ? t->alloc_b - t->at_end_b : MT_UNKNOWN;
    bool more = alloc_n && end_n && t->alloc_n >= t->at_end_n; /* of samples, both are estimates */
    d->freed_n = more ? t->alloc_n - t->at_end_n : MT_UNKNOWN;
    h->peak_event = h->has_peak_t ? 0 : -1;
    put_peak(h, d);
    d->peak_b = known(h, MT_SUM_AT_PEAK_B, t->at_peak_b);
    d->knows = (alloc ? MT_KNOWS_ALLOC : 0) | (peak ? MT_KNOWS_PEAK | MT_KNOWS_AT_PEAK : 0) |
               (end ? MT_KNOWS_AT_END : 0) | (counts ? MT_KNOWS_COUNTS : 0);
    put_history(h);
}

/* What was allocated in all, where a file of moments says so. Where some path holds more at the end
 * nobody knows what was freed. */
static void close_allocated(struct mt_heap *h, bool end)
{
    struct mt_device *d = &h->rec->devices.v[h->device];
    bool freed = end && h->allocated_known, counts = !h->no_blocks;
    for (size_t i = 0; i < h->slots.n; i++) {
        freed &= h->slots.v[i].alloc_b >= h->slots.v[i].last_b;
        counts &= h->slots.v[i].alloc_n >= h->slots.v[i].last_n;
    }
    d->alloc_b = h->allocated_known ? h->alloc_b : MT_UNKNOWN;
    d->alloc_n = h->allocated_known && !h->no_blocks ? h->alloc_n : MT_UNKNOWN;
    d->freed_b = freed ? h->alloc_b - d->at_end_b : MT_UNKNOWN;
    d->freed_n = freed && counts ? h->alloc_n - d->at_end_n : MT_UNKNOWN;
    d->knows |= h->allocated_known ? MT_KNOWS_ALLOC : 0;
}

static void close_moments(struct mt_heap *h)
{
    struct mt_device *d = &h->rec->devices.v[h->device];
    bool end = h->last_is_end && h->last_tree, trees = h->moments.n;
    for (size_t i = 0; i < h->slot_of.n; i++) {
        const struct mt_heap_node *n = own_of(h, i);
        if (!n)
            continue;
        bool peak = h->peak_tree && n->epoch == h->epoch;
        mt_heap_add_stat(
            h, n->node,
            &(struct mt_sums){.alloc_b = n->alloc_b,
                              .alloc_n = n->alloc_n,
                              .freed_b = end && h->allocated_known ? n->alloc_b - n->last_b : 0,
                              .at_peak_b = peak ? n->peak_b : 0,
                              .at_peak_n = peak ? n->peak_n : 0,
                              .at_end_b = end ? n->last_b : 0,
                              .at_end_n = end ? n->last_n : 0});
        d->at_end_n += end ? n->last_n : 0;
    }
    put_peak(h, d);
    d->at_end_b = h->last_is_end ? h->level : MT_UNKNOWN;
    d->at_end_n = end && !h->no_blocks ? d->at_end_n : MT_UNKNOWN;
    d->knows = MT_KNOWS_PEAK | MT_KNOWS_LEVEL | (h->peak_tree ? MT_KNOWS_AT_PEAK : 0) |
               (end ? MT_KNOWS_AT_END : 0) | (trees ? MT_KNOWS_MOMENTS : 0) |
               (h->no_blocks ? 0 : MT_KNOWS_COUNTS);
    close_allocated(h, end);
    put_history(h);
}

/* Whether no figure that is known says that anything was allocated. */
static bool is_empty(const struct mt_heap *h)
{
    const struct mt_device *d = &h->rec->devices.v[h->device];
    return d->knows & (MT_KNOWS_ALLOC | MT_KNOWS_PEAK) && !h->alloc_n && d->alloc_b <= 0 &&
           d->peak_b <= 0 && d->at_end_b <= 0;
}

enum mt_status mt_heap_close(struct mt_heap *h, struct mt_err *err)
{
    MT_TRY(mt_heap_end_held(h, err));
    if (h->by_sums)
        MT_TRY(check_sums(h, err));
    if (h->by_moments)
        close_moments(h);
    else if (h->by_sums)
        close_sums(h);
    else
        close_events(h);
    close_samples(h);
    h->rec->devices.v[h->device].knows |= h->knows_extras;
    if (is_empty(h))
        mt_rec_note(h->rec, MT_NOTE_NO_ALLOCATIONS, -1, 0);
    mt_heap_settle_sizes(h);
    if (h->idle_kinds)
        mt_heap_drop_bare_paths(h->rec);
    h->rec->summed_n += h->by_sums ? 0 : h->event_n;
    MT_TRY(mt_heap_until(h, h->now, err));
    return mt_heap_check_memory(h, err);
}
