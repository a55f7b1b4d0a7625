/* Segments of a snapshot: what is held from the driver as events change it, and the file's own list
 * of segments and blocks at the end. */
#include "formats/snapshot_parts.h"

/* ---- by events ---- */

/* A range is there from the event being played on. */
static void segment_comes(struct mt_snap_device *d, struct mt_snap_range *range)
{
    struct mt_recording *rec = d->replayer->rec;
    bool known = d->event != MT_GONE;
    range->segment = (uint32_t)rec->segments.n;
    *mt_vec_push(&rec->segments) =
        (struct mt_segment){.address = range->address,
                            .size = (int64_t)range->size,
                            .stream = range->stream,
                            .allocated_b = MT_GONE,
                            .alloc_ns = known ? d->last_ns : MT_GONE,
                            .freed_ns = MT_GONE,
                            .alloc_event = d->event,
                            .freed_event = MT_GONE,
                            .alloc_record = known ? (uint32_t)rec->records.n : MT_NONE,
                            .freed_record = MT_NONE,
                            .pool = range->pool,
                            .node = range->node,
                            .device = d->device,
                            .small = range->small,
                            .expandable = range->expandable};
}

static void held_changed(void *closure, struct mt_snap_range *range, bool there)
{
    struct mt_snap_device *d = closure;
    struct mt_recording *rec = d->replayer->rec;
    d->reserved_b += there ? (int64_t)range->size : -(int64_t)range->size;
    if (there) {
        segment_comes(d, range);
        return;
    }
    struct mt_segment *g = &rec->segments.v[range->segment];
    g->freed_ns = d->last_ns;
    g->freed_event = d->event;
    g->freed_record = (uint32_t)rec->records.n;
}

static void held_from_start(void *closure, struct mt_snap_range *range)
{
    held_changed(closure, range, true);
}

void mt_snap_follow_held(struct mt_snap_replayer *r, struct mt_snap_device *d)
{
    d->replayer = r;
    mt_snap_held_each(&d->held, held_from_start, d);
    d->held.changed = held_changed;
    d->held.closure = d;
}

/* ---- at the end ---- */

void mt_snap_find_pending(struct mt_snap_replayer *r, struct mt_snap_device *d)
{
    for (size_t i = 0; i < d->src->segment_n; i++) {
        if (!mt_snap_is_own(r->o, d->src, d->src->segments[i]))
            continue;
        const struct mt_snap_segment *s = &r->o->segments.v[mt_pickle_number(d->src->segments[i])];
        for (uint32_t k = 0; k < s->block_n; k++) {
            const struct mt_snap_block *b =
                &r->o->blocks.v[r->o->final_blocks.v[s->first_block + k]];
            if (b->state == MT_BLOCK_PENDING_FREE)
                *mt_map_at(&d->pending, b->address) = (uint32_t)d->src->event_n;
        }
    }
    for (size_t i = 0; i < d->src->event_n && d->pending.n; i++) {
        const struct mt_snap_event *e = mt_snap_event_at(r, d, i);
        if (e->size && e->action <= MT_SNAP_FREE_COMPLETED &&
            mt_map_get(&d->pending, e->addr) != MT_MAP_NONE)
            *mt_map_at(&d->pending, e->addr) = (uint32_t)i;
    }
}

static enum mt_status end_block(struct mt_snap_replayer *r, struct mt_snap_device *d,
                                const struct mt_snap_block *b, const struct mt_snap_segment *s,
                                uint32_t segment, struct mt_err *err)
{
    struct mt_block *known;
    uint32_t alloc = mt_snap_live_at(d, b->address);
    if (b->state == MT_BLOCK_FREED)
        return MT_OK;
    MT_TRY(mt_snap_count_size(r, b->requested, err));
    d->used_at_end_b += b->requested;
    r->rec->segments.v[segment].allocated_b += b->size;
    if (alloc != MT_NONE && r->block_of.v[alloc] != MT_NONE) {
        known = &r->rec->blocks.v[r->block_of.v[alloc]];
    } else {
        uint32_t node = mt_snap_node(&r->o->paths, r->rec, r->strings, MT_NONE, b->path);
        *mt_vec_push(&r->rec->older) = (struct mt_older){b->requested, node, d->device};
        d->start_b += b->requested;
        known = mt_snap_add_block(r, b->address, s->stream, s->pool);
    }
    known->size = b->size;
    known->segment = segment;
    known->state = b->state;
    if (known->pool == MT_NONE)
        known->pool = mt_snap_pool(r, s->pool);
    return MT_OK;
}

/* The row of a segment in the list at the end: of the range the events leave there, or of one that
 * only the list knows, as if it came behind the last event. */
static uint32_t row_at_end(struct mt_snap_replayer *r, struct mt_snap_device *d,
                           const struct mt_snap_segment *s)
{
    const struct mt_snap_range *range = mt_snap_held_find(&d->held, s->address, (uint64_t)s->total);
    if (range && r->rec->segments.v[range->segment].allocated_b == MT_GONE)
        return range->segment;
    struct mt_snap_range lone = {.address = s->address,
                                 .size = (uint64_t)s->total,
                                 .stream = s->stream,
                                 .pool = MT_NONE,
                                 .node = MT_NONE,
                                 .expandable = s->expandable};
    segment_comes(d, &lone);
    r->rec->segments.v[lone.segment].alloc_ns = MT_GONE;
    return lone.segment;
}

static enum mt_status end_segment(struct mt_snap_replayer *r, struct mt_snap_device *d,
                                  const struct mt_snap_segment *s, struct mt_err *err)
{
    uint32_t i = row_at_end(r, d, s);
    struct mt_segment *g = &r->rec->segments.v[i];
    g->allocated_b = 0;
    g->small = s->small;
    if (g->node == MT_NONE)
        g->node = mt_snap_node(&r->o->paths, r->rec, r->strings, MT_NONE, s->path);
    if (s->pool != MT_NONE)
        g->pool = mt_snap_pool(r, s->pool);
    for (uint32_t k = 0; k < s->block_n; k++)
        MT_TRY(
            end_block(r, d, &r->o->blocks.v[r->o->final_blocks.v[s->first_block + k]], s, i, err));
    return MT_OK;
}

/* What the events leave but a list does not have went unseen. */
static void lose_unlisted(void *closure, struct mt_snap_range *range)
{
    struct mt_snap_device *d = closure;
    struct mt_segment *g = &d->replayer->rec->segments.v[range->segment];
    if (g->allocated_b != MT_GONE)
        return;
    g->freed_event = d->event;
    g->freed_record = (uint32_t)d->replayer->rec->records.n;
}

enum mt_status mt_snap_end_device(struct mt_snap_replayer *r, struct mt_snap_device *d,
                                  struct mt_err *err)
{
    bool known = d->src->segments != NULL;
    d->event = (int64_t)d->src->event_n;
    for (size_t i = 0; i < d->src->segment_n; i++)
        if (mt_snap_is_own(r->o, d->src, d->src->segments[i]))
            MT_TRY(
                end_segment(r, d, &r->o->segments.v[mt_pickle_number(d->src->segments[i])], err));
    if (d->src->segment_n)
        mt_snap_held_each(&d->held, lose_unlisted, d);
    struct mt_device *out = &r->rec->devices.v[d->device];
    out->start_b = d->start_b;
    out->has_total = known;
    out->first_total_b = d->start_b;
    out->last_total_b = d->used_at_end_b;
    return MT_OK;
}
