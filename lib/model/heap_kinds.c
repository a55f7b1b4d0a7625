/* Kinds of a heap log: blocks of one size on one path, of which events come by the million. */
#include "lib/model/heap_parts.h"

#include "lib/model/extras.h"
#include "lib/model/sizes.h"
#include <assert.h>
#include <string.h>

enum mt_status mt_heap_add_kind(struct mt_heap *h, int64_t bytes, uint32_t node, struct mt_err *err)
{
    assert(!h->slots.n);
    if (bytes >= 0)
        node = mt_heap_sized(h, node, bytes);
    *mt_vec_push(&h->kinds) = (struct mt_heap_kind){.bytes = bytes, .node = node};
    return h->kinds.n & MT_HEAP_CHECK ? MT_OK : mt_heap_check_memory(h, err);
}

size_t mt_heap_kind_n(const struct mt_heap *h)
{
    return h->kinds.n;
}

/* Where the next kinds that are touched go: there is room for those of a batch. */
static uint32_t *touched_next(struct mt_heap *h)
{
    if (h->touched.cap < h->touched.n + MT_HEAP_BATCH)
        mt_vec_room(&h->touched, 2 * h->touched.cap + MT_HEAP_BATCH);
    return h->touched.v + h->touched.n;
}

/* Events of a run, up to one that is not as most are: its kind has no size, or holds nothing that
 * it could free, or its blocks are very large. All that changes with each is in registers, and what
 * is not to be guessed is no branch: which event allocates, and whether its kind was touched since
 * the peak and the moment. Returns how many. */
static size_t run_events(struct mt_heap *h, const uint32_t *v, size_t n, uint64_t most)
{
    const bool first = h->min.record < 0;
    int64_t high = first ? INT64_MIN : h->max.level_b, low = first ? INT64_MAX : h->min.level_b;
    int64_t level = h->level, volume = 0, blocks = 0; /* of what came and went; less what went */
    struct mt_heap_kind *const kinds = h->kinds.v;
    const uint64_t before = h->event_n, moment = h->moment_event_n;
    uint64_t peak = (uint64_t)(h->peak_event + 1), event_n = before;
    uint32_t last = h->last_event, *touched = touched_next(h);
    for (; event_n < before + n; v++) {
        const uint32_t event = *v, frees = event & 1;
        struct mt_heap_kind *k = &kinds[event / 2];
        const int64_t live_n = k->live_n, peak_n = k->peak_n, sign = 1 - 2 * (int64_t)frees;
        if (live_n < frees || (uint64_t)k->bytes > most)
            break;
        k->peak_n = k->touched_at > peak ? peak_n : live_n;
        *touched = event / 2;
        touched += k->touched_at <= moment;
        k->touched_at = ++event_n;
        k->event_n++;
        k->temporary_n += frees & (event - last == 1);
        k->live_n = live_n + sign;
        last = event;
        blocks += sign;
        volume += k->bytes;
        level += k->bytes * sign;
        if (level > high) {
            high = level;
            h->max = (struct mt_level){h->now, level, (int64_t)event_n - 1};
            if (level > h->peak) {
                mt_heap_new_peak(h, level, event_n - 1);
                peak = event_n;
            }
        }
        if (level < low) {
            low = level;
            h->min = (struct mt_level){h->now, level, (int64_t)event_n - 1};
        }
    }
    const size_t done = event_n - before;
    const int64_t more_b = level - h->level;
    h->touched.n = (size_t)(touched - h->touched.v);
    h->alloc_b += (volume + more_b) / 2;
    h->freed_b += (volume - more_b) / 2;
    h->alloc_n += ((int64_t)done + blocks) / 2;
    h->freed_n += ((int64_t)done - blocks) / 2;
    h->level = level;
    h->last_event = last;
    h->event_n = event_n;
    h->rec->event_n += done;
    return done;
}

/* One of those at which a run ends; its kind has a size. */
static enum mt_status one_event(struct mt_heap *h, uint32_t event, struct mt_err *err)
{
    const struct mt_heap_kind *k = &h->kinds.v[event / 2];
    int64_t sum = h->alloc_b;
    if (event & 1 && !k->live_n) {
        h->last_event = event;
        return mt_heap_end_older(h, k->bytes, err);
    }
    if (!(event & 1))
        MT_TRY(mt_heap_add_to(&sum, k->bytes, err));
    run_events(h, &event, 1, INT64_MAX);
    return MT_OK;
}

enum mt_status mt_heap_kind_events(struct mt_heap *h, const uint32_t *v, size_t n, size_t *done,
                                   struct mt_err *err)
{
    enum { FEW = 1 << 9 }; /* kinds that stay in the processor's cache; others are fetched before */
    const uint64_t most = (uint64_t)1 << (MT_HEAP_SUM_BITS - MT_HEAP_BATCH_BITS);
    const uint64_t before = h->event_n;
    for (size_t i = 0; i < n && h->kinds.n > FEW; i++)
        __builtin_prefetch(&h->kinds.v[v[i] / 2], 1);
    for (*done = 0; *done < n;) {
        /* where so much is allocated that the sum may be too large, one by one */
        if (h->alloc_b >> (MT_HEAP_SUM_BITS - 1) == 0)
            *done += run_events(h, v + *done, n - *done, most);
        if (*done < n && h->kinds.v[v[*done] / 2].bytes < 0)
            break;
        if (*done < n) {
            MT_TRY(one_event(h, v[*done], err));
            ++*done;
        }
    }
    return (before ^ h->event_n) <= MT_HEAP_CHECK ? MT_OK : mt_heap_check_memory(h, err);
}

void mt_heap_push_kinds(struct mt_heap *h)
{
    enum { AHEAD = 16 }; /* kinds are fetched into the processor's cache before their turn */
    for (size_t i = 0; i < h->touched.n; i++) {
        struct mt_heap_kind *k = &h->kinds.v[h->touched.v[i]];
        if (i + AHEAD < h->touched.n)
            __builtin_prefetch(&h->kinds.v[h->touched.v[i + AHEAD]], 1);
        const int64_t more_n = k->live_n - k->last_n;
        mt_heap_push_change(h, h->touched.v[i], 0, more_n);
        k->last_n = k->live_n;
    }
    h->moment_event_n = h->event_n;
}

static struct mt_sums sums_of(const struct mt_heap *h, const struct mt_heap_kind *k)
{
    const bool changed = k->touched_at > (uint64_t)(h->peak_event + 1);
    const int64_t peak_n = changed ? k->peak_n : k->live_n;
    const int64_t freed_n = (k->event_n - k->live_n) / 2, alloc_n = freed_n + k->live_n;
    return (struct mt_sums){.alloc_b = alloc_n * k->bytes,
                            .freed_b = freed_n * k->bytes,
                            .alloc_n = alloc_n,
                            .at_peak_b = peak_n * k->bytes,
                            .at_end_b = k->live_n * k->bytes,
                            .at_peak_n = peak_n,
                            .at_end_n = k->live_n};
}

static void put_sizes(struct mt_heap *h, const struct mt_sums *of)
{
    for (unsigned class = 0; class < MT_SIZE_CLASSES; class ++)
        if (of[class].alloc_n)
            *mt_vec_push(&h->rec->size_stats) =
                (struct mt_size_stat){h->device, (uint8_t) class, of[class]};
    h->rec->devices.v[h->device].knows |= MT_KNOWS_SIZE_SUMS;
}

/* Figures of the paths that kinds with events are on. */
struct path_figures {
    uint32_t *number;     /* of nodes: from 1 on, in their order; 0: no such path */
    struct mt_sums none;  /* of no call path */
    int64_t *temporary_n; /* of each; 0: of no call path */
};

/* Gives each path an entry, which is in the recording at once: there is no room for all twice. */
static void add_paths(struct mt_heap *h, struct path_figures *p)
{
    struct mt_recording *r = h->rec;
    size_t n = 0;
    p->number = mt_alloc((r->nodes.n + 1) * sizeof *p->number);
    for (size_t i = 0; i < h->kinds.n; i++) {
        const struct mt_heap_kind *k = &h->kinds.v[i];
        h->idle_kinds |= !k->event_n;
        if (k->event_n && k->node != MT_NONE && !p->number[k->node])
            p->number[k->node] = (uint32_t)++n;
    }
    p->temporary_n = mt_alloc((n + 1) * sizeof *p->temporary_n);
    mt_vec_room(&r->stats, r->stats.n + n);
    n = 0;
    for (uint32_t i = 0; i < r->nodes.n; i++) {
        if (!p->number[i])
            continue;
        p->number[i] = (uint32_t)++n;
        *mt_vec_push(&r->stats) = (struct mt_node_stat){.node = i, .device = h->device};
    }
}

static void add_temporary(struct mt_heap *h, const struct path_figures *p)
{
    struct mt_recording *r = h->rec;
    const char *name = mt_extra_names[MT_EXTRA_TEMPORARY_MOST_N];
    const uint32_t figure = mt_strtab_add(&r->strings, name, strlen(name));
    mt_heap_knows_extra(h, name);
    if (p->temporary_n[0])
        *mt_vec_push(&r->extras) =
            (struct mt_node_extra){MT_NONE, h->device, figure, p->temporary_n[0]};
    for (uint32_t i = 0; i < r->nodes.n; i++)
        if (p->number[i] && p->temporary_n[p->number[i]])
            *mt_vec_push(&r->extras) =
                (struct mt_node_extra){i, h->device, figure, p->temporary_n[p->number[i]]};
}

void mt_heap_close_kinds(struct mt_heap *h)
{
    struct mt_sums of_sizes[MT_SIZE_CLASSES] = {{0}};
    struct path_figures p = {0};
    const size_t before = h->rec->stats.n;
    if (!h->kinds.n)
        return;
    add_paths(h, &p);
    for (size_t i = 0; i < h->kinds.n; i++) {
        const struct mt_heap_kind *k = &h->kinds.v[i];
        const struct mt_sums sums = sums_of(h, k);
        if (!k->event_n)
            continue;
        const uint32_t path = k->node == MT_NONE ? 0 : p.number[k->node];
        mt_sums_add(path ? &h->rec->stats.v[before + path - 1].self : &p.none, &sums);
        mt_sums_add(&of_sizes[mt_size_class(k->bytes)], &sums);
        p.temporary_n[path] += k->temporary_n;
    }
    mt_vec_free(&h->kinds);
    mt_heap_add_stat(h, MT_NONE, &p.none);
    put_sizes(h, of_sizes);
    add_temporary(h, &p);
    free(p.number);
    free(p.temporary_n);
}

void mt_heap_restart_kinds(struct mt_heap *h)
{
    for (size_t i = 0; i < h->kinds.n; i++) {
        struct mt_heap_kind *k = &h->kinds.v[i];
        *k = (struct mt_heap_kind){.bytes = k->bytes, .node = k->node};
    }
    h->moment_event_n = 0;
    h->last_event = UINT32_MAX;
}
