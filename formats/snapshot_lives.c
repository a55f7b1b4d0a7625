#include "formats/snapshot_lives.h"

#include "formats/snapshot_parts.h"

struct finder {
    struct mt_snap_objects *o;
    const struct mt_snap_source *src;
    struct mt_snap_lives *out;
    struct mt_map live;    /* address -> life */
    struct mt_map pending; /* address -> its last event: let go of, but not free */
    bool by_request;
};

static const struct mt_snap_event *event_at(const struct finder *f, size_t i)
{
    return &f->o->events.v[mt_pickle_number(f->src->events[i])];
}

static struct mt_snap_life *add(struct finder *f, uint64_t address, int64_t size, size_t from)
{
    struct mt_snap_life *life = mt_vec_push(&f->out->all);
    *life = (struct mt_snap_life){.address = address,
                                  .size = size,
                                  .path = MT_NONE,
                                  .label = MT_NONE,
                                  .pool = MT_NONE,
                                  .final_block = MT_NONE,
                                  .from = from,
                                  .to = SIZE_MAX,
                                  .requested = SIZE_MAX};
    return life;
}

static struct mt_snap_life *live_at(struct finder *f, uint64_t address)
{
    uint32_t i = mt_map_get(&f->live, address);
    return i >= MT_SNAP_CLOSED ? NULL : &f->out->all.v[i];
}

static void allocate(struct finder *f, const struct mt_snap_event *e, size_t i)
{
    struct mt_snap_life *life = add(f, e->addr, e->size, i + 1);
    life->stream = e->stream;
    life->path = e->path;
    life->label = e->label;
    life->pool = e->pool;
    *mt_map_at(&f->live, e->addr) = (uint32_t)f->out->all.n - 1;
}

/* Of a block that is not known: it is older. */
static void release(struct finder *f, const struct mt_snap_event *e, size_t i)
{
    struct mt_snap_life *life = live_at(f, e->addr);
    if (!life || life->size != e->size) {
        life = add(f, e->addr, e->size, 0);
        life->stream = e->stream;
        life->pool = e->pool;
    } else {
        *mt_map_at(&f->live, e->addr) = MT_SNAP_CLOSED;
    }
    life->to = i + 1;
}

static void play(struct finder *f, size_t i)
{
    const struct mt_snap_event *e = event_at(f, i);
    if (!e->size)
        return;
    if (e->action == MT_SNAP_ALLOC)
        allocate(f, e, i);
    else if (e->action == MT_SNAP_FREE_COMPLETED ||
             (e->action == MT_SNAP_FREE_REQUESTED && f->by_request &&
              mt_map_get(&f->pending, e->addr) != (uint32_t)i))
        release(f, e, i);
    else if (e->action == MT_SNAP_FREE_REQUESTED && live_at(f, e->addr))
        live_at(f, e->addr)->requested = i + 1;
}

static void end_block(struct finder *f, const struct mt_snap_segment *s, uint32_t block)
{
    const struct mt_snap_block *b = &f->o->blocks.v[block];
    if (b->state == MT_BLOCK_FREED)
        return;
    struct mt_snap_life *life = live_at(f, b->address);
    if (!life) {
        life = add(f, b->address, b->requested, 0);
        life->path = b->path;
        life->stream = s->stream;
    }
    if (life->pool == MT_NONE)
        life->pool = s->pool;
    life->final_block = block;
}

/* Which of the two events of a free counts (docs/formats/cuda-snapshot.md). */
static void look_ahead(struct finder *f)
{
    bool completed = false, requested = false;
    for (size_t i = 0; i < f->src->event_n; i++) {
        completed |= event_at(f, i)->action == MT_SNAP_FREE_COMPLETED;
        requested |= event_at(f, i)->action == MT_SNAP_FREE_REQUESTED;
    }
    f->by_request = requested && !completed;
    if (!f->by_request)
        return;
    struct mt_snap_replayer r = {.o = f->o};
    struct mt_snap_device d = {.src = f->src};
    mt_snap_find_pending(&r, &d);
    f->pending = d.pending;
}

void mt_snap_lives_find(struct mt_snap_objects *o, const struct mt_snap_source *source,
                        struct mt_snap_lives *out)
{
    struct finder f = {.o = o, .src = source, .out = out};
    look_ahead(&f);
    for (size_t i = 0; i < source->event_n; i++)
        play(&f, i);
    for (size_t i = 0; i < source->segment_n; i++) {
        if (!mt_snap_is_own(o, source, source->segments[i]))
            continue;
        const struct mt_snap_segment *s = &o->segments.v[mt_pickle_number(source->segments[i])];
        for (uint32_t k = 0; k < s->block_n; k++)
            end_block(&f, s, o->final_blocks.v[s->first_block + k]);
    }
    mt_map_free(&f.live);
    mt_map_free(&f.pending);
}

/* ---- what is held ---- */

static struct mt_snap_range range_of(const struct mt_snap_event *e)
{
    return (struct mt_snap_range){.address = e->addr,
                                  .size = (uint64_t)e->size,
                                  .stream = e->stream,
                                  .pool = e->pool,
                                  .node = MT_NONE,
                                  .segment = MT_NONE,
                                  .small = e->size <= MT_SNAP_SMALL_B,
                                  .expandable = e->action == MT_SNAP_SEGMENT_UNMAP};
}

static void add_list(struct mt_snap_objects *o, const struct mt_snap_source *source,
                     struct mt_snap_held *out)
{
    for (size_t i = 0; i < source->segment_n; i++) {
        if (!mt_snap_is_own(o, source, source->segments[i]))
            continue;
        const struct mt_snap_segment *s = &o->segments.v[mt_pickle_number(source->segments[i])];
        mt_snap_held_add(out, &(struct mt_snap_range){.address = s->address,
                                                      .size = (uint64_t)s->total,
                                                      .stream = s->stream,
                                                      .pool = s->pool,
                                                      .node = s->path,
                                                      .segment = MT_NONE,
                                                      .small = s->small,
                                                      .expandable = s->expandable});
    }
}

/* What asked for the ranges, as far as events say: the list says it only of those at the end. */
static void find_paths(struct mt_snap_objects *o, const struct mt_snap_source *source, size_t k,
                       struct mt_snap_held *held)
{
    for (size_t i = 0; i < k; i++) {
        const struct mt_snap_event *e = &o->events.v[mt_pickle_number(source->events[i])];
        struct mt_snap_range *range = NULL;
        if (e->action == MT_SNAP_SEGMENT_ALLOC || e->action == MT_SNAP_SEGMENT_MAP)
            range = mt_snap_held_find(held, e->addr, (uint64_t)e->size);
        if (range && range->node == MT_NONE)
            range->node = e->path;
    }
}

void mt_snap_held_after(struct mt_snap_objects *o, const struct mt_snap_source *source, size_t k,
                        struct mt_snap_held *out)
{
    add_list(o, source, out);
    for (size_t i = source->event_n; i-- > k;) {
        const struct mt_snap_event *e = &o->events.v[mt_pickle_number(source->events[i])];
        struct mt_snap_range range = range_of(e);
        if (e->action == MT_SNAP_SEGMENT_ALLOC || e->action == MT_SNAP_SEGMENT_MAP)
            mt_snap_held_remove(out, range.address, range.size);
        else if (e->action == MT_SNAP_SEGMENT_FREE || e->action == MT_SNAP_SEGMENT_UNMAP)
            mt_snap_held_add(out, &range);
    }
    find_paths(o, source, k, out);
}
