/* What paths hold at moments, and the level over time. */
#include "lib/model/heap_parts.h"

/* ---- level ---- */

void mt_heap_put_level(struct mt_heap *h, struct mt_level level)
{
    int64_t change = level.level_b - h->packer.now.last.level_b;
    h->packed_n += change != 0;
    mt_packer_add(&h->packer, &h->rec->history.curve, level.record, level.t_ns, change,
                  MT_ORIGIN_OUTSIDE);
}

void mt_heap_end_window(struct mt_heap *h)
{
    const struct mt_level last = {h->now, h->level, (int64_t)h->event_n - 1};
    h->window_ticks = 0;
    if (h->min.record < 0)
        return;
    bool min_first = h->min.record < h->max.record;
    mt_heap_put_level(h, min_first ? h->min : h->max);
    mt_heap_put_level(h, min_first ? h->max : h->min);
    mt_heap_put_level(h, last);
    h->min.record = -1;
}

/* ---- moments ---- */

static void move_change(struct mt_heap *h, size_t to, size_t from)
{
    h->changes.v[to] = h->changes.v[from];
    if (h->change_b.n)
        h->change_b.v[to] = h->change_b.v[from];
}

static bool is_change(const struct mt_heap *h, size_t i)
{
    return h->changes.v[i].blocks || (h->change_b.n && h->change_b.v[i]);
}

/* Adds the changes from..to to those of moment `into`, first..n; returns its new end. */
static size_t merge_into(struct mt_heap *h, uint32_t into, size_t first, size_t n, size_t from,
                         size_t to)
{
    struct mt_heap_change *v = h->changes.v;
    for (size_t i = first; i < n; i++)
        *mt_heap_at(h, v[i].of) = (uint32_t)i + 1;
    for (size_t i = from; i < to; i++) {
        const uint32_t at = *mt_heap_at(h, v[i].of);
        if (!at) {
            move_change(h, n, i);
            v[n++].moment = into;
            continue;
        }
        v[at - 1].blocks += v[i].blocks;
        if (h->change_b.n)
            h->change_b.v[at - 1] += h->change_b.v[i];
    }
    size_t kept = first;
    for (size_t i = first; i < n; i++) {
        *mt_heap_at(h, v[i].of) = 0;
        if (is_change(h, i))
            move_change(h, kept++, i);
    }
    return kept;
}

/* Every second moment goes, its changes come with the next one. */
static void thin(struct mt_heap *h)
{
    struct mt_heap_change *v = h->changes.v;
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < h->changes.n;) {
        uint32_t pair = v[i].moment / 2;
        size_t first = n, from;
        for (uint32_t half = v[i].moment; i < h->changes.n && v[i].moment == half; i++) {
            move_change(h, n, i);
            v[n++].moment = pair;
        }
        for (from = i; i < h->changes.n && v[i].moment / 2 == pair;)
            i++;
        n = merge_into(h, pair, first, n, from, i);
    }
    h->changes.n = n;
    h->change_b.n = h->change_b.n ? n : 0;
    for (size_t i = 1; i < h->moments.n; i += 2)
        h->moments.v[kept++] = h->moments.v[i];
    if (h->moments.n % 2)
        h->moments.v[kept++] = h->moments.v[h->moments.n - 1];
    h->moments.n = kept;
    h->stride *= 2;
}

void mt_heap_push_change(struct mt_heap *h, uint32_t of, int64_t bytes, int64_t blocks)
{
    if (!bytes && !blocks)
        return;
    *mt_vec_push(&h->changes) = (struct mt_heap_change){of, (uint32_t)h->moments.n, blocks};
    if (!h->kinds.n)
        *mt_vec_push(&h->change_b) = bytes;
}

void mt_heap_push_moment(struct mt_heap *h, int64_t t)
{
    *mt_vec_push(&h->moments) = t;
    if (h->moments.n >= MT_HEAP_MOMENTS)
        thin(h);
    while (h->changes.n > h->change_limit && h->moments.n > MT_HEAP_FEW_MOMENTS)
        thin(h);
    if (h->changes.n > h->change_limit)
        h->change_limit *= 2;
}

static void push_slots(struct mt_heap *h)
{
    enum { AHEAD = 16 }; /* slots are fetched into the processor's cache before their turn */
    for (size_t i = 0; i < h->touched.n; i++) {
        struct mt_heap_node *n = &h->slots.v[h->touched.v[i]];
        if (i + AHEAD < h->touched.n) {
            __builtin_prefetch(&h->slots.v[h->touched.v[i + AHEAD]].live_b, 1);
            __builtin_prefetch(&h->slots.v[h->touched.v[i + AHEAD]].last_n, 1);
        }
        mt_heap_push_change(h, h->touched.v[i], n->live_b - n->last_b, n->live_n - n->last_n);
        n->last_b = n->live_b;
        n->last_n = n->live_n;
        n->at = 0;
    }
}

void mt_heap_end_moment(struct mt_heap *h)
{
    if (h->changes.n + h->touched.n > h->change_limit && h->moments.n > MT_HEAP_FEW_MOMENTS) {
        /* before they are added, so that there need not be room for all */
        for (size_t i = 0; i < h->touched.n; i++)
            *mt_heap_at(h, h->touched.v[i]) = 0;
        thin(h);
    }
    size_t before = h->changes.n;
    h->ticks = 0;
    if (h->kinds.n)
        mt_heap_push_kinds(h);
    else
        push_slots(h);
    h->touched.n = 0;
    /* behind a peak, too, after which all is as it was: what was held then is not held on */
    if (h->changes.n > before || h->moment_epoch != h->epoch)
        mt_heap_push_moment(h, h->now);
    h->moment_epoch = h->epoch;
}

/* ---- into the recording ---- */

/* Where a node comes in their order; no call path is first. */
static size_t place_of_change(const struct mt_heap *h, size_t i)
{
    const uint32_t of = h->changes.v[i].of;
    return (h->kinds.n ? h->kinds.v[of].node : h->slots.v[of].node) + 1u;
}

static int64_t bytes_of_change(const struct mt_heap *h, size_t i)
{
    const struct mt_heap_change *c = &h->changes.v[i];
    return h->kinds.n ? c->blocks * h->kinds.v[c->of].bytes : h->change_b.v[i];
}

/* Leaves out changes from..to that are none, and those of kinds come together that are of one path
 * and moment. Returns the end of those that are left, behind each other from `kept` on. */
static size_t merge_changes(struct mt_retained_change *v, size_t kept, size_t from, size_t to)
{
    const size_t first = kept;
    for (size_t i = from; i < to; i++) {
        if (kept > first && v[kept - 1].step == v[i].step) {
            v[kept - 1].bytes += v[i].bytes;
            v[kept - 1].blocks_n += v[i].blocks_n;
        } else {
            v[kept++] = v[i];
        }
        if (!v[kept - 1].bytes && !v[kept - 1].blocks_n &&
            (i + 1 == to || v[i + 1].step != v[i].step))
            kept--;
    }
    return kept;
}

/* Puts the changes behind `kept`, those of each place together, of these by moments. Returns where
 * those of each place end. */
static size_t *sort_changes(struct mt_heap *h, size_t places, size_t kept, int64_t first)
{
    struct mt_retained *to = &h->rec->history.holdings;
    size_t *place = mt_alloc(places * sizeof *place);
    for (size_t i = 0; i < h->changes.n; i++)
        place[place_of_change(h, i)]++;
    for (size_t i = 0, next = kept; i < places; i++) {
        size_t n = place[i];
        place[i] = next;
        next += n;
    }
    mt_vec_room(&to->all, kept + h->changes.n);
    for (size_t i = 0; i < h->changes.n; i++)
        to->all.v[place[place_of_change(h, i)]++] =
            (struct mt_retained_change){.step = first + h->changes.v[i].moment,
                                        .bytes = bytes_of_change(h, i),
                                        .blocks_n = h->changes.v[i].blocks};
    mt_vec_free(&h->changes);
    mt_vec_free(&h->change_b);
    return place;
}

/* By paths, for rows are quickest written in their order. */
void mt_heap_put_changes(struct mt_heap *h, int64_t first)
{
    struct mt_history *to = &h->rec->history;
    const size_t places = h->rec->nodes.n + 1;
    size_t kept = to->holdings.all.n, from = kept;
    size_t *end = sort_changes(h, places, kept, first);
    for (size_t i = 0; i < places; i++) {
        const size_t own = kept;
        kept = merge_changes(to->holdings.all.v, kept, from, end[i]);
        from = end[i];
        for (size_t k = own; k < kept; k++)
            to->holdings.all.v[k].site = (uint32_t)to->sites.n;
        if (kept > own)
            *mt_vec_push(&to->sites) =
                (struct mt_site){.node = (uint32_t)i - 1u, .device = h->device};
    }
    to->holdings.all.n = kept;
    free(end);
}

/* ---- moments that the file gives ---- */

enum mt_status mt_heap_moment(struct mt_heap *h, int64_t t, int64_t total_b, bool has_tree,
                              struct mt_err *err)
{
    int64_t fits = 0;
    MT_TRY(mt_heap_end_held(h, err));
    MT_TRY(mt_heap_check_time(t, err));
    MT_TRY(mt_heap_add_to(&fits, total_b, err));
    if (t < h->now)
        mt_rec_note(h->rec, MT_NOTE_CLOCK, -1, 0);
    else
        h->now = t;
    mt_lull_add(&h->rec->lull, h->now);
    h->by_moments = h->moment_open = true;
    h->moment_tree = has_tree;
    h->moment_total = total_b;
    h->rec->event_n++;
    return mt_heap_check_memory(h, err);
}

enum mt_status mt_heap_held(struct mt_heap *h, uint32_t node, int64_t bytes, int64_t blocks,
                            struct mt_err *err)
{
    uint32_t slot = mt_heap_slot(h, node);
    struct mt_heap_node *n = &h->slots.v[slot];
    h->no_blocks |= blocks == MT_UNKNOWN;
    MT_TRY(mt_heap_add_to(&n->live_b, bytes, err));
    MT_TRY(mt_heap_add_to(&n->live_n, blocks == MT_UNKNOWN ? 0 : blocks, err));
    if (!n->at) {
        n->at = 1;
        *mt_vec_push(&h->touched) = slot;
    }
    return mt_rec_grew(h->rec) ? mt_heap_check_memory(h, err) : MT_OK;
}

enum mt_status mt_heap_allocated(struct mt_heap *h, uint32_t node, int64_t bytes, int64_t blocks,
                                 struct mt_err *err)
{
    uint32_t slot = mt_heap_slot(h, node);
    h->allocated_known = true;
    MT_TRY(mt_heap_add_to(&h->alloc_b, bytes, err));
    MT_TRY(mt_heap_add_to(&h->alloc_n, blocks, err));
    h->slots.v[slot].alloc_b += bytes;
    h->slots.v[slot].alloc_n += blocks;
    return MT_OK;
}

/* The total of the moment under way, no less than what its paths hold; the rest has no path. */
static enum mt_status settle_total(struct mt_heap *h, struct mt_err *err)
{
    int64_t sum = 0;
    for (size_t i = 0; i < h->touched.n; i++)
        MT_TRY(mt_heap_add_to(&sum, h->slots.v[h->touched.v[i]].live_b, err));
    if (sum > h->moment_total) {
        mt_rec_note(h->rec, MT_NOTE_MOMENT_SUM, -1, sum - h->moment_total);
        h->moment_total = sum;
    }
    return sum < h->moment_total ? mt_heap_held(h, MT_NONE, h->moment_total - sum, 0, err) : MT_OK;
}

static void settle_peak(struct mt_heap *h)
{
    bool higher = h->level > h->peak, told = h->level == h->peak && h->moment_tree && !h->peak_tree;
    if (h->peak_event >= 0 && !higher && !told)
        return;
    h->peak = h->level;
    h->peak_t = h->now;
    h->peak_event = (int64_t)h->event_n;
    h->peak_tree = h->moment_tree;
    h->epoch++;
    for (size_t i = 0; h->moment_tree && i < h->touched.n; i++) {
        struct mt_heap_node *n = &h->slots.v[h->touched.v[i]];
        n->peak_b = n->live_b;
        n->peak_n = n->live_n;
        n->epoch = h->epoch;
    }
}

/* What the paths of the moment hold otherwise than at the last one with a tree, and what those of
 * that one hold no more. */
static void settle_changes(struct mt_heap *h)
{
    for (size_t i = 0; i < h->held.n; i++) {
        struct mt_heap_node *n = &h->slots.v[h->held.v[i]];
        if (n->at)
            continue;
        mt_heap_push_change(h, h->held.v[i], -n->last_b, -n->last_n);
        n->last_b = n->last_n = 0;
    }
    h->held.n = 0;
    for (size_t i = 0; i < h->touched.n; i++) {
        struct mt_heap_node *n = &h->slots.v[h->touched.v[i]];
        mt_heap_push_change(h, h->touched.v[i], n->live_b - n->last_b, n->live_n - n->last_n);
        n->last_b = n->live_b;
        n->last_n = n->live_n;
        n->live_b = n->live_n = 0;
        n->at = 0;
        *mt_vec_push(&h->held) = h->touched.v[i];
    }
    h->touched.n = 0;
    mt_heap_push_moment(h, h->now);
}

enum mt_status mt_heap_end_held(struct mt_heap *h, struct mt_err *err)
{
    if (!h->moment_open)
        return MT_OK;
    if (h->moment_tree)
        MT_TRY(settle_total(h, err));
    h->level = h->moment_total;
    mt_heap_put_level(h, (struct mt_level){h->now, h->level, (int64_t)h->event_n});
    settle_peak(h);
    if (h->moment_tree)
        settle_changes(h);
    h->last_tree = h->moment_tree;
    h->moment_open = false;
    h->event_n++;
    return MT_OK;
}

void mt_heap_last_is_end(struct mt_heap *h)
{
    h->last_is_end = true;
}
