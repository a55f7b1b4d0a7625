/* The end of a snapshot: its own list of segments and blocks. */
#include "formats/snapshot_parts.h"

static enum mt_status end_block(struct mt_snap_replayer *r, struct mt_snap_device *d,
                                const struct mt_snap_block *b, const struct mt_snap_segment *s,
                                uint32_t segment, struct mt_err *err)
{
    struct mt_block *known;
    uint32_t birth = mt_snap_live_at(d, b->address);
    if (b->state == MT_BLOCK_FREED)
        return MT_OK;
    MT_TRY(mt_snap_count_size(r, b->requested, err));
    d->used_at_end_b += b->requested;
    r->rec->segments.v[segment].allocated_b += b->size;
    if (birth != MT_NONE && r->block_of.v[birth] != MT_NONE) {
        known = &r->rec->blocks.v[r->block_of.v[birth]];
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

static enum mt_status end_segment(struct mt_snap_replayer *r, struct mt_snap_device *d,
                                  const struct mt_snap_segment *s, struct mt_err *err)
{
    uint32_t i = mt_map_get(&d->segments, s->address);
    bool seen = i < MT_SNAP_CLOSED && (s->expandable || r->rec->segments.v[i].size == s->total);
    if (!seen) {
        i = (uint32_t)r->rec->segments.n;
        *mt_vec_push(&r->rec->segments) = (struct mt_segment){
            .address = s->address,
            .born_ns = MT_GONE,
            .freed_ns = MT_GONE,
            .born_record = MT_NONE,
            .freed_record = MT_NONE,
            .pool = MT_NONE,
            .node = mt_snap_node(&r->o->paths, r->rec, r->strings, MT_NONE, s->path),
            .device = d->device};
    }
    struct mt_segment *g = &r->rec->segments.v[i];
    g->size = s->total; /* a contiguous range of an expandable one may have grown */
    g->allocated_b = 0;
    g->stream = s->stream;
    g->small = s->small;
    g->expandable = s->expandable;
    if (s->pool != MT_NONE)
        g->pool = mt_snap_pool(r, s->pool);
    for (uint32_t k = 0; k < s->block_n; k++)
        MT_TRY(
            end_block(r, d, &r->o->blocks.v[r->o->final_blocks.v[s->first_block + k]], s, i, err));
    return MT_OK;
}

enum mt_status mt_snap_end_device(struct mt_snap_replayer *r, struct mt_snap_device *d,
                                  struct mt_err *err)
{
    bool known = d->src->segments != NULL;
    for (size_t i = 0; i < d->src->segment_n; i++)
        if (mt_snap_is_own(r->o, d->src, d->src->segments[i]))
            MT_TRY(
                end_segment(r, d, &r->o->segments.v[mt_pickle_number(d->src->segments[i])], err));
    struct mt_device *out = &r->rec->devices.v[d->device];
    out->start_b = d->start_b;
    out->has_total = known;
    out->first_total_b = d->start_b;
    out->last_total_b = d->used_at_end_b;
    return MT_OK;
}
