#include "formats/snapshot_parts.h"

#include <stdlib.h>
#include <string.h>

/* More than any device will hold: beyond it sums could overflow. */
#define TOTAL_MAX_B ((int64_t)1 << 61)

enum {
    LABELS_MAX = 1000,    /* different texts of user metadata that become frames */
    EVENTS_AT_ONCE = 1024 /* between two looks at the memory in use */
};

enum mt_status mt_snap_count_size(struct mt_snap_replayer *r, int64_t size, struct mt_err *err)
{
    if ((r->total_b += size) <= TOTAL_MAX_B)
        return MT_OK;
    MT_FAIL(err, MT_EINPUT, "the sizes in this file add up to more than 2 EiB");
    mt_err_hint(err, "Nothing was imported: the file is damaged.");
    return MT_EINPUT;
}

uint32_t mt_snap_pool(struct mt_snap_replayer *r, uint32_t pool)
{
    if (pool == MT_NONE)
        return MT_NONE;
    uint32_t *id = mt_map_at(&r->pools, pool);
    if (*id == MT_NONE) {
        const char *text = mt_strtab_get(r->strings, pool);
        *id = mt_strtab_add(&r->rec->strings, text, strlen(text));
    }
    return *id;
}

/* ---- where it happened ---- */

/* The node of a path under the open regions and what the user attached to the event. */
static uint32_t node_of(struct mt_snap_replayer *r, const struct mt_snap_device *d, uint32_t path,
                        uint32_t label)
{
    uint32_t region = d->around->node;
    if (label != MT_NONE) {
        if (mt_map_get(&r->labels, label) == MT_MAP_NONE && r->labels.n < LABELS_MAX) {
            const char *text = mt_strtab_get(r->strings, label);
            *mt_map_at(&r->labels, label) = mt_rec_label(
                r->rec, mt_strtab_add(&r->rec->strings, text, strlen(text)), MT_FRAME_ANNOTATION);
        }
        uint32_t known = mt_map_get(&r->labels, label);
        if (known != MT_MAP_NONE)
            region =
                mt_snap_region_node(&r->o->paths, r->rec, region, r->rec->labels.v[known].frame);
    }
    return mt_snap_node(&r->o->paths, r->rec, r->strings, region, path);
}

/* ---- blocks ---- */

static enum mt_status add_record(struct mt_snap_replayer *r, const struct mt_snap_device *d,
                                 const struct mt_snap_event *e, int64_t t_ns, int64_t bytes,
                                 struct mt_err *err)
{
    struct mt_record *rec;
    MT_TRY(mt_snap_count_size(r, e->size, err));
    MT_TRY(mt_rec_record(r->rec, &rec, err));
    rec->t_ns = t_ns;
    rec->bytes = bytes;
    rec->addr = e->addr;
    rec->has_addr = true;
    rec->order = (uint32_t)r->rec->records.n - 1;
    rec->device = d->device;
    rec->op = node_of(r, d, e->path, e->label);
    if (rec->op == MT_NONE)
        mt_rec_note(r->rec, MT_NOTE_NO_PATH, -1, bytes);
    *mt_vec_push(&r->block_of) = MT_NONE;
    return MT_OK;
}

struct mt_block *mt_snap_add_block(struct mt_snap_replayer *r, uint64_t address, int64_t stream,
                                   uint32_t pool)
{
    struct mt_block *b = mt_vec_push(&r->rec->blocks);
    *b = (struct mt_block){.address = address,
                           .size = MT_GONE,
                           .stream = stream,
                           .free_requested_ns = MT_GONE,
                           .segment = MT_NONE,
                           .pool = mt_snap_pool(r, pool),
                           .state = MT_BLOCK_FREED};
    return b;
}

static enum mt_status allocate(struct mt_snap_replayer *r, struct mt_snap_device *d,
                               const struct mt_snap_event *e, int64_t t_ns, struct mt_err *err)
{
    uint32_t i = (uint32_t)r->rec->records.n;
    MT_TRY(add_record(r, d, e, t_ns, e->size, err));
    r->block_of.v[i] = (uint32_t)r->rec->blocks.n;
    mt_snap_add_block(r, e->addr, e->stream, e->pool);
    uint32_t *live = mt_map_at(&d->live, e->addr);
    if (*live < i)
        mt_rec_note(r->rec, MT_NOTE_REUSED_ADDRESS, -1, r->rec->records.v[*live].bytes);
    *live = i;
    return MT_OK;
}

static enum mt_status release(struct mt_snap_replayer *r, struct mt_snap_device *d,
                              const struct mt_snap_event *e, int64_t t_ns, struct mt_err *err)
{
    uint32_t i = (uint32_t)r->rec->records.n, alloc = mt_snap_live_at(d, e->addr);
    MT_TRY(add_record(r, d, e, t_ns, -e->size, err));
    if (alloc != MT_NONE && r->rec->records.v[alloc].bytes == e->size) {
        r->rec->records.v[alloc].mate = i;
        r->rec->records.v[i].mate = alloc;
        *mt_map_at(&d->live, e->addr) = MT_SNAP_CLOSED;
        return MT_OK;
    }
    if (alloc != MT_NONE)
        mt_rec_note(r->rec, MT_NOTE_SIZE_MISMATCH, -1, 0);
    r->block_of.v[i] = (uint32_t)r->rec->blocks.n;
    mt_snap_add_block(r, e->addr, e->stream, e->pool);
    d->start_b += e->size;
    return MT_OK;
}

static void request_free(struct mt_snap_replayer *r, struct mt_snap_device *d,
                         const struct mt_snap_event *e, int64_t t_ns)
{
    uint32_t alloc = mt_snap_live_at(d, e->addr);
    if (alloc != MT_NONE)
        r->rec->blocks.v[r->block_of.v[alloc]].free_requested_ns = t_ns;
}

/* ---- segments ---- */

static void sample(struct mt_snap_replayer *r, const struct mt_snap_device *d,
                   enum mt_metric metric, int64_t value, int64_t t_ns)
{
    *mt_vec_push(&r->rec->samples) = (struct mt_sample){.t_ns = t_ns,
                                                        .value = value,
                                                        .order = (uint32_t)r->rec->samples.n,
                                                        .record_n = (uint32_t)r->rec->records.n,
                                                        .event = d->event,
                                                        .device = d->device,
                                                        .metric = (uint8_t)metric};
}

/* Says of the last sample, an allocation that failed, where it was to be and who asked. */
static void name_stream(struct mt_snap_replayer *r, const struct mt_snap_device *d,
                        const struct mt_snap_event *e)
{
    struct mt_sample *s = &r->rec->samples.v[r->rec->samples.n - 1];
    s->stream = e->stream;
    s->pool = mt_snap_pool(r, e->pool);
    s->node = node_of(r, d, e->path, e->label);
    s->has_node = s->node != MT_NONE;
    s->has_stream = true;
}

static bool gets_memory(uint8_t action)
{
    return action == MT_SNAP_SEGMENT_ALLOC || action == MT_SNAP_SEGMENT_MAP;
}

static struct mt_snap_range range_of(struct mt_snap_replayer *r, const struct mt_snap_event *e)
{
    return (struct mt_snap_range){.address = e->addr,
                                  .size = (uint64_t)e->size,
                                  .stream = e->stream,
                                  .pool = mt_snap_pool(r, e->pool),
                                  .node = MT_NONE,
                                  .small = e->size <= MT_SNAP_SMALL_B,
                                  .expandable = e->action == MT_SNAP_SEGMENT_MAP ||
                                                e->action == MT_SNAP_SEGMENT_UNMAP};
}

static void change_segment(struct mt_snap_replayer *r, struct mt_snap_device *d,
                           const struct mt_snap_event *e, int64_t t_ns)
{
    if (gets_memory(e->action)) {
        struct mt_snap_range range = range_of(r, e);
        range.node = node_of(r, d, e->path, e->label);
        mt_snap_held_add(&d->held, &range);
    } else {
        mt_snap_held_remove(&d->held, e->addr, (uint64_t)e->size);
    }
    sample(r, d, MT_METRIC_RESERVED, d->reserved_b, t_ns);
}

/* ---- events ---- */

/* What changes no memory is kept as it is; so is the last event of a file without history, which
 * knows of one moment alone. */
static void keep_event(struct mt_snap_replayer *r, const struct mt_snap_device *d,
                       const struct mt_snap_event *e, int64_t t_ns)
{
    struct mt_strtab *strings = &r->rec->strings;
    const char *action = mt_snap_action_name(r->o, r->strings, e);
    const char *text = e->label == MT_NONE ? NULL : mt_strtab_get(r->strings, e->label);
    *mt_vec_push(&r->rec->other_events) =
        (struct mt_other_event){.t_ns = t_ns,
                                .bytes = e->size,
                                .address = e->addr,
                                .action = mt_strtab_add(strings, action, strlen(action)),
                                .text = text ? mt_strtab_add(strings, text, strlen(text)) : MT_NONE,
                                .record_n = (uint32_t)r->rec->records.n,
                                .device = d->device};
}

static enum mt_status play(struct mt_snap_replayer *r, struct mt_snap_device *d, int64_t t_ns,
                           struct mt_err *err)
{
    d->event = (int64_t)d->at;
    const struct mt_snap_event *e = mt_snap_event_at(r, d, d->at++);
    if (r->timed && e->time_us != MT_GONE && e->time_us * 1000 < t_ns)
        mt_rec_note(r->rec, MT_NOTE_CLOCK, -1, 0);
    d->last_ns = t_ns;
    mt_snap_mark_regions(r, t_ns);
    if (e->size == 0 && e->action <= MT_SNAP_FREE_COMPLETED)
        return MT_OK; /* no bytes, no block */
    if (r->one_moment && e->action <= MT_SNAP_FREE_COMPLETED) {
        keep_event(r, d, e, t_ns);
        return MT_OK;
    }
    switch (e->action) {
    case MT_SNAP_ALLOC:
        return allocate(r, d, e, t_ns, err);
    case MT_SNAP_FREE_REQUESTED:
        if (d->by_request && mt_map_get(&d->pending, e->addr) != (uint32_t)d->event)
            return release(r, d, e, t_ns, err);
        request_free(r, d, e, t_ns);
        return MT_OK;
    case MT_SNAP_FREE_COMPLETED:
        return release(r, d, e, t_ns, err);
    case MT_SNAP_SEGMENT_ALLOC:
    case MT_SNAP_SEGMENT_MAP:
    case MT_SNAP_SEGMENT_FREE:
    case MT_SNAP_SEGMENT_UNMAP:
        change_segment(r, d, e, t_ns);
        return MT_OK;
    case MT_SNAP_OOM:
        sample(r, d, MT_METRIC_OOM, e->size, t_ns);
        name_stream(r, d, e);
        sample(r, d, MT_METRIC_DEVICE_FREE, (int64_t)e->addr, t_ns);
        mt_rec_note(r->rec, MT_NOTE_OOM, -1, e->size);
        return MT_OK;
    case MT_SNAP_USER_DEFINED:
        if (mt_snap_user_defined(r, e))
            mt_snap_region_mark(&d->regions, &d->user_defined, &r->o->paths, r->rec, r->strings);
        return MT_OK;
    default: /* snapshot, annotate and what we do not know change no memory */
        keep_event(r, d, e, t_ns);
        return MT_OK;
    }
}

/* What the file's own list says is held at the end. */
static enum mt_status held_at_end(struct mt_snap_replayer *r, struct mt_snap_device *d,
                                  struct mt_err *err)
{
    for (size_t i = 0; i < d->src->segment_n; i++) {
        if (!mt_snap_is_own(r->o, d->src, d->src->segments[i]))
            continue;
        const struct mt_snap_segment *s = &r->o->segments.v[mt_pickle_number(d->src->segments[i])];
        MT_TRY(mt_snap_count_size(r, s->total, err));
        mt_snap_held_add(&d->held, &(struct mt_snap_range){.address = s->address,
                                                           .size = (uint64_t)s->total,
                                                           .stream = s->stream,
                                                           .pool = mt_snap_pool(r, s->pool),
                                                           .node = MT_NONE,
                                                           .small = s->small,
                                                           .expandable = s->expandable});
    }
    return MT_OK;
}

/* From what is held at the end, back through the events to what was held at the start. */
static enum mt_status held_at_start(struct mt_snap_replayer *r, struct mt_snap_device *d,
                                    struct mt_err *err)
{
    MT_TRY(held_at_end(r, d, err));
    for (size_t i = d->src->event_n; i-- > 0;) {
        const struct mt_snap_event *e = mt_snap_event_at(r, d, i);
        if (e->action < MT_SNAP_SEGMENT_ALLOC || e->action > MT_SNAP_SEGMENT_UNMAP)
            continue;
        MT_TRY(mt_snap_count_size(r, e->size, err));
        struct mt_snap_range range = range_of(r, e);
        if (gets_memory(e->action))
            mt_snap_held_remove(&d->held, range.address, range.size);
        else
            mt_snap_held_add(&d->held, &range);
    }
    return MT_OK;
}

/* What must be known before the first event: its time, which of the two events of a free counts,
 * and what is held from the driver. */
static enum mt_status look_ahead(struct mt_snap_replayer *r, struct mt_snap_device *d,
                                 struct mt_err *err)
{
    bool completed = false, requested = false;
    for (size_t i = d->src->event_n; i-- > 0;) {
        const struct mt_snap_event *e = mt_snap_event_at(r, d, i);
        if (e->time_us != MT_GONE)
            d->last_ns = e->time_us * 1000;
        completed |= e->action == MT_SNAP_FREE_COMPLETED;
        requested |= e->action == MT_SNAP_FREE_REQUESTED;
    }
    d->by_request = requested && !completed;
    if (d->by_request)
        mt_snap_find_pending(r, d);
    d->event = MT_GONE;
    mt_snap_find_marks(r, d);
    MT_TRY(held_at_start(r, d, err));
    mt_snap_follow_held(r, d);
    return MT_OK;
}

/* Regions name the device that was current, which is one for a program that says for each tensor
 * where it is: where all name that one, they are around what happens on the others, too. (No file
 * has annotations beside regions of its own events, which only one nightly wrote.) */
static void find_around(struct mt_snap_replayer *r)
{
    const struct mt_snap_device *only = NULL;
    size_t marked_n = 0;
    for (size_t i = 0; i < r->device_n; i++)
        if (r->devices[i].annotations.all.n) {
            only = &r->devices[i];
            marked_n++;
        }
    for (size_t i = 0; i < r->device_n; i++)
        r->devices[i].around = marked_n == 1 ? &only->regions : &r->devices[i].regions;
}

/* When the first event of any device is; 0 where there is none. */
static int64_t first_time(const struct mt_snap_replayer *r)
{
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < r->device_n; i++)
        if (r->devices[i].src->event_n && mt_snap_next_time(r, &r->devices[i]) < first)
            first = mt_snap_next_time(r, &r->devices[i]);
    return first == INT64_MAX ? 0 : first;
}

/* What the replay takes itself counts beside what the reader holds. */
static enum mt_status check_memory(struct mt_snap_replayer *r, struct mt_err *err)
{
    uint64_t bytes = r->block_of.n * sizeof *r->block_of.v + mt_map_bytes(&r->labels) +
                     mt_map_bytes(&r->pools) + mt_snap_paths_bytes(&r->o->paths) - r->path_bytes;
    for (size_t i = 0; i < r->device_n; i++)
        bytes += mt_map_bytes(&r->devices[i].live) + mt_map_bytes(&r->devices[i].pending) +
                 mt_snap_held_bytes(&r->devices[i].held) +
                 r->devices[i].annotations.all.n * sizeof *r->devices[i].annotations.all.v;
    r->rec->beside_bytes = r->reader_bytes + bytes;
    return mt_rec_check_memory(r->rec, err);
}

static enum mt_status play_all(struct mt_snap_replayer *r, struct mt_err *err)
{
    for (size_t i = 0; i < r->device_n; i++) {
        struct mt_snap_device *d = &r->devices[i];
        sample(r, d, MT_METRIC_RESERVED, d->reserved_b,
               d->src->event_n ? mt_snap_next_time(r, d) : first_time(r));
    }
    for (size_t n = 0;; n++) {
        struct mt_snap_device *next = NULL;
        int64_t t_ns = INT64_MAX;
        for (size_t i = 0; i < r->device_n; i++) {
            struct mt_snap_device *d = &r->devices[i];
            if (d->at < d->src->event_n && mt_snap_next_time(r, d) < t_ns) {
                next = d;
                t_ns = mt_snap_next_time(r, d);
            }
        }
        if (n % EVENTS_AT_ONCE == 0 || !next)
            MT_TRY(check_memory(r, err));
        if (!next)
            return MT_OK;
        MT_TRY(play(r, next, t_ns, err));
    }
}

/* Ops are numbered thread by thread; parents were noted by their place in the thread. */
static void number_ops(struct mt_recording *rec)
{
    uint32_t base = 0;
    for (size_t t = 0; t < rec->threads.n; t++) {
        struct mt_thread *thread = &rec->threads.v[t];
        thread->op_base = base;
        for (size_t i = 0; i < thread->ops.n; i++)
            if (thread->ops.v[i].parent != MT_NONE)
                thread->ops.v[i].parent += base;
        base += (uint32_t)thread->ops.n;
    }
}

static enum mt_status run(struct mt_snap_replayer *r, const struct mt_snap_source *sources,
                          struct mt_err *err)
{
    for (size_t i = 0; i < r->device_n; i++) {
        struct mt_snap_device *d = &r->devices[i];
        d->src = &sources[i];
        d->device = (uint16_t)mt_rec_device(
            r->rec, d->src->type, d->src->type == MT_DEVICE_CPU ? -1 : (int)d->src->number);
        MT_TRY(look_ahead(r, d, err));
    }
    find_around(r);
    MT_TRY(play_all(r, err));
    int64_t end_ns = INT64_MIN;
    for (size_t i = 0; i < r->device_n; i++)
        end_ns = r->devices[i].last_ns > end_ns ? r->devices[i].last_ns : end_ns;
    mt_snap_mark_regions(r, INT64_MAX);
    for (size_t i = 0; i < r->device_n; i++) {
        mt_snap_regions_end(&r->devices[i].regions, r->rec, end_ns);
        MT_TRY(mt_snap_end_device(r, &r->devices[i], err));
    }
    number_ops(r->rec);
    return MT_OK;
}

enum mt_status mt_snap_replay(struct mt_snap_objects *o, const struct mt_strtab *strings,
                              const struct mt_snap_source *sources, size_t n,
                              struct mt_recording *rec, struct mt_err *err)
{
    struct mt_snap_replayer r = {
        .o = o, .strings = strings, .rec = rec, .device_n = n, .timed = o->timed_n > 0};
    r.one_moment = rec->notes[MT_NOTE_STATE_ONLY].count != 0;
    r.reader_bytes = rec->beside_bytes;
    r.path_bytes = mt_snap_paths_bytes(&o->paths);
    r.devices = mt_alloc((n + 1) * sizeof *r.devices);
    mt_rec_thread(rec, 0, MT_NONE, 0, MT_NONE);
    enum mt_status st = run(&r, sources, err);
    for (size_t i = 0; i < n; i++) {
        mt_map_free(&r.devices[i].live);
        mt_map_free(&r.devices[i].pending);
        mt_snap_held_free(&r.devices[i].held);
        mt_snap_regions_end(&r.devices[i].regions, rec, 0);
        mt_vec_free(&r.devices[i].annotations.all);
        mt_vec_free(&r.devices[i].user_defined.all);
    }
    free(r.devices);
    mt_vec_free(&r.block_of);
    mt_map_free(&r.labels);
    mt_map_free(&r.pools);
    return st;
}
