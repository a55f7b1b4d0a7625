#include "formats/snapshot_cut.h"

#include "formats/snapshot_part.h"
#include "lib/base/pickle_out.h"
#include <stdlib.h>
#include <string.h>

enum { GRANULE = 512, PIECE = 1 << 16 };

struct cutter {
    const struct mt_snap_cut *cut;
    struct mt_snap_objects *o;
    struct mt_pickle *p;
    struct mt_buf text;
    struct mt_pickle_out to;
    struct mt_map strings, frames, paths; /* number -> what the pickle keeps it as */
};

static void flush(struct cutter *c)
{
    if (c->text.n < PIECE)
        return;
    fwrite(c->text.s, 1, c->text.n, c->cut->out);
    mt_buf_clear(&c->text);
}

/* ---- values ---- */

/* A string of the pickle; MT_NONE: "". */
static void put_string(struct cutter *c, uint32_t id)
{
    uint32_t *kept = id == MT_NONE ? NULL : mt_map_at(&c->strings, id);
    if (kept && *kept != MT_MAP_NONE) {
        mt_pickle_put_kept(&c->to, *kept);
        return;
    }
    mt_pickle_put_text(&c->to, kept ? mt_strtab_get(mt_pickle_strings(c->p), id) : "");
    if (kept)
        *kept = mt_pickle_keep(&c->to);
}

static void put_word(struct cutter *c, const char *word)
{
    put_string(c, mt_strtab_add(mt_pickle_strings(c->p), word, strlen(word)));
}

static void put_int(struct cutter *c, const char *key, int64_t v)
{
    put_word(c, key);
    mt_pickle_put_int(&c->to, v);
}

static void put_pool(struct cutter *c, const char *key, uint32_t pool)
{
    if (pool == MT_NONE)
        return;
    char *second;
    uint64_t first = strtoull(mt_strtab_get(mt_pickle_strings(c->p), pool), &second, 10);
    put_word(c, key);
    mt_pickle_put_pair(&c->to, (int64_t)first, (int64_t)strtoull(second + 1, NULL, 10));
}

static void put_frame(struct cutter *c, uint32_t number)
{
    const struct mt_snap_frame *f = &c->o->paths.frames.v[number];
    uint32_t *kept = mt_map_at(&c->frames, number);
    if (*kept != MT_MAP_NONE) {
        mt_pickle_put_kept(&c->to, *kept);
        return;
    }
    mt_pickle_put_dict(&c->to);
    *kept = mt_pickle_keep(&c->to);
    put_word(c, "name");
    put_string(c, f->name);
    put_word(c, "filename");
    put_string(c, f->file);
    put_int(c, "line", f->line);
    mt_pickle_put_end(&c->to);
}

/* Innermost first. */
static void put_path(struct cutter *c, uint32_t path)
{
    put_word(c, "frames");
    uint32_t *kept = path == MT_NONE ? NULL : mt_map_at(&c->paths, path);
    if (kept && *kept != MT_MAP_NONE) {
        mt_pickle_put_kept(&c->to, *kept);
        return;
    }
    mt_pickle_put_list(&c->to);
    if (kept)
        *kept = mt_pickle_keep(&c->to);
    for (; path != MT_NONE; path = c->o->paths.path.v[path].outer)
        put_frame(c, c->o->paths.path.v[path].frame);
    mt_pickle_put_end(&c->to);
}

/* A value of the file as it is. */
static void put_value(struct cutter *c, mt_pvalue v, int depth)
{
    int64_t i = 0;
    double d = 0;
    size_t n;
    enum mt_pickle_kind kind = mt_pickle_kind(v);
    const mt_pvalue *items = mt_pickle_items(c->p, v, &n);
    bool dict = kind == MT_PICKLE_DICT;
    if (kind == MT_PICKLE_STR) {
        put_string(c, mt_pickle_number(v));
    } else if (kind == MT_PICKLE_BOOL) {
        mt_pickle_put_bool(&c->to, mt_pickle_int(c->p, v, &i) && i);
    } else if (mt_pickle_int(c->p, v, &i)) {
        mt_pickle_put_int(&c->to, i);
    } else if (mt_pickle_real(c->p, v, &d)) {
        mt_pickle_put_real(&c->to, d);
    } else if (depth && (dict || kind == MT_PICKLE_LIST || kind == MT_PICKLE_TUPLE)) {
        dict ? mt_pickle_put_dict(&c->to) : mt_pickle_put_list(&c->to);
        for (size_t k = 0; k < n - n % (dict ? 2 : 1); k++)
            put_value(c, items[k], depth - 1);
        mt_pickle_put_end(&c->to);
    } else {
        mt_pickle_put_none(&c->to);
    }
}

/* ---- events ---- */

static void put_event(struct cutter *c, const struct mt_snap_event *e, const char *action)
{
    mt_pickle_put_dict(&c->to);
    put_word(c, "action");
    put_word(c, action);
    put_int(c, e->action == MT_SNAP_OOM ? "device_free" : "addr", (int64_t)e->addr);
    put_int(c, "size", e->size);
    put_int(c, "stream", e->stream);
    if (e->time_us != MT_GONE)
        put_int(c, "time_us", e->time_us);
    put_pool(c, "pool_id", e->pool);
    if (e->label != MT_NONE || c->o->has_category) {
        put_word(c, c->o->has_category ? "category" : "user_metadata");
        put_string(c, e->label);
    }
    if (e->path != MT_NONE)
        put_path(c, e->path);
    mt_pickle_put_end(&c->to);
    flush(c);
}

static int64_t whole_us(int64_t t_ns)
{
    return t_ns / 1000 - (t_ns % 1000 < 0);
}

/* A block that is alive when the window begins is allocated a microsecond before: no region of the
 * window is around it, but that of its own allocation, as a label. */
static void put_first(struct cutter *c, const struct mt_snap_life *life)
{
    put_event(c,
              &(struct mt_snap_event){
                  .addr = life->address,
                  .size = life->size,
                  .time_us = c->o->timed_n ? whole_us(c->cut->window.from_ns) - 1 : MT_GONE,
                  .stream = life->stream,
                  .path = life->path,
                  .label = life->label,
                  .pool = life->pool,
                  .action = MT_SNAP_ALLOC},
              "alloc");
}

static bool is_alive(const struct mt_snap_life *life, size_t k)
{
    return life->from <= k && life->to > k && life->size;
}

static const struct mt_snap_event *event_at(const struct cutter *c, const struct mt_snap_part *part,
                                            size_t i)
{
    return &c->o->events.v[mt_pickle_number(part->src->events[i])];
}

static void put_events(struct cutter *c, const struct mt_snap_part *part)
{
    const struct mt_strtab *strings = mt_pickle_strings(c->p);
    mt_pickle_put_list(&c->to);
    for (size_t i = 0; part && part->first && i < part->lives.all.n; i++)
        if (is_alive(&part->lives.all.v[i], part->first))
            put_first(c, &part->lives.all.v[i]);
    for (size_t i = part ? part->first : 0; part && i < part->end; i++) {
        const struct mt_snap_event *e = event_at(c, part, i);
        put_event(c, e, mt_snap_action_name(c->o, strings, e));
    }
    mt_pickle_put_end(&c->to);
}

/* ---- segments ---- */

struct sums {
    int64_t allocated, active, requested;
};

/* Blocks of a segment, by address. */
struct placed {
    const struct mt_snap_life *life;
    uint64_t size; /* rounded */
    bool pending;
};
struct placed_all {
    MT_VEC(struct placed) all;
};

static int by_address(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->life->address != y->life->address)
        return x->life->address < y->life->address ? -1 : 1;
    return (x->life->from > y->life->from) - (x->life->from < y->life->from);
}

/* All that is alive when the window ends. */
static void place(const struct cutter *c, const struct mt_snap_part *part, struct placed_all *out)
{
    for (size_t i = 0; i < part->lives.all.n; i++) {
        const struct mt_snap_life *life = &part->lives.all.v[i];
        if (!is_alive(life, part->end))
            continue;
        bool final = life->final_block != MT_NONE;
        const struct mt_snap_block *b = final ? &c->o->blocks.v[life->final_block] : NULL;
        bool unseen = final && b->state == MT_BLOCK_PENDING_FREE && life->requested == SIZE_MAX;
        *mt_vec_push(&out->all) = (struct placed){
            .life = life,
            .size = final ? (uint64_t)b->size
                          : ((uint64_t)life->size + GRANULE - 1) & -(uint64_t)GRANULE,
            .pending = unseen || life->requested <= part->end};
    }
    if (out->all.n)
        qsort(out->all.v, out->all.n, sizeof *out->all.v, by_address);
}

static void put_block(struct cutter *c, uint64_t address, uint64_t size, const struct placed *b)
{
    mt_pickle_put_dict(&c->to);
    put_int(c, "address", (int64_t)address);
    put_int(c, "size", (int64_t)size);
    put_int(c, "requested_size", b ? b->life->size : 0);
    put_word(c, "state");
    put_word(c, !b ? "inactive" : b->pending ? "active_pending_free" : "active_allocated");
    put_path(c, b ? b->life->path : MT_NONE);
    mt_pickle_put_end(&c->to);
    flush(c);
}

/* Blocks n from v on that lie in the segment, and what is free between them. Put: NULL, they are
 * only added up. */
static void go_through(struct cutter *put, const struct mt_snap_range *range,
                       const struct placed *v, size_t n, struct sums *sums)
{
    uint64_t at = range->address, end = range->address + range->size;
    for (size_t i = 0; i < n; i++) {
        uint64_t next = i + 1 < n ? v[i + 1].life->address : end, begin = v[i].life->address;
        if (begin < at)
            continue; /* it lies upon another: the file contradicts itself */
        uint64_t size = v[i].size > next - begin ? next - begin : v[i].size;
        if (!size)
            continue;
        if (put && begin > at)
            put_block(put, at, begin - at, NULL);
        if (put)
            put_block(put, begin, size, &v[i]);
        sums->active += (int64_t)size;
        sums->allocated += v[i].pending ? 0 : (int64_t)size;
        sums->requested += v[i].life->size;
        at = begin + size;
    }
    if (put && at < end)
        put_block(put, at, end - at, NULL);
}

static void put_segment(struct cutter *c, const struct mt_snap_part *part,
                        const struct mt_snap_range *range, const struct placed *v, size_t n)
{
    struct sums sums = {0}, again = {0};
    go_through(NULL, range, v, n, &sums);
    mt_pickle_put_dict(&c->to);
    put_int(c, "device", part->src->number);
    put_int(c, "address", (int64_t)range->address);
    put_int(c, "total_size", (int64_t)range->size);
    put_int(c, "allocated_size", sums.allocated);
    put_int(c, "active_size", sums.active);
    put_int(c, "requested_size", sums.requested);
    put_int(c, "stream", range->stream);
    put_word(c, "segment_type");
    put_word(c, range->small ? "small" : "large");
    put_pool(c, "segment_pool_id", range->pool);
    put_word(c, "is_expandable");
    mt_pickle_put_bool(&c->to, range->expandable);
    put_path(c, range->node);
    put_word(c, "blocks");
    mt_pickle_put_list(&c->to);
    go_through(c, range, v, n, &again);
    mt_pickle_put_end(&c->to);
    mt_pickle_put_end(&c->to);
}

struct ranges {
    MT_VEC(struct mt_snap_range) all;
};

static void keep_range(void *closure, struct mt_snap_range *range)
{
    *mt_vec_push(&((struct ranges *)closure)->all) = *range;
}

static void put_segments(struct cutter *c, const struct mt_snap_part *part)
{
    struct mt_snap_held held = {0};
    struct ranges ranges = {0};
    struct placed_all placed = {0};
    size_t at = 0;
    place(c, part, &placed);
    mt_snap_held_after(c->o, part->src, part->end, &held);
    mt_snap_held_each(&held, keep_range, &ranges);
    for (size_t i = 0; i < ranges.all.n; i++) {
        const struct mt_snap_range *range = &ranges.all.v[i];
        while (at < placed.all.n && placed.all.v[at].life->address < range->address)
            at++;
        size_t first = at;
        while (at < placed.all.n && placed.all.v[at].life->address - range->address < range->size)
            at++;
        put_segment(c, part, range, placed.all.v + first, at - first);
    }
    mt_snap_held_free(&held);
    mt_vec_free(&ranges.all);
    mt_vec_free(&placed.all);
}

/* ---- annotations ---- */

static void put_mark(struct cutter *c, const struct mt_snap_part *part,
                     const struct mt_snap_mark *m, int64_t t_ns)
{
    mt_pickle_put_dict(&c->to);
    put_word(c, "stage");
    put_word(c, m->start ? "START" : "END");
    put_word(c, "name");
    put_string(c, m->name);
    put_int(c, "device", part->src->number);
    put_int(c, "time_us", whole_us(t_ns));
    mt_pickle_put_end(&c->to);
    flush(c);
}

/* Those in the window; a region that is open when it begins, begins then. */
static void put_marks(struct cutter *c, const struct mt_snap_part *part)
{
    const struct mt_snap_window *w = &c->cut->window;
    const struct mt_snap_marks *marks = &part->marks;
    for (size_t i = 0; i < marks->all.n; i++) {
        const struct mt_snap_mark *m = &marks->all.v[i];
        bool open = m->start && (m->mate == MT_NONE || marks->all.v[m->mate].t_ns >= w->from_ns);
        if (m->t_ns >= w->to_ns && w->to_ns != INT64_MAX)
            break;
        if (m->t_ns >= w->from_ns || open)
            put_mark(c, part, m, m->t_ns >= w->from_ns ? m->t_ns : w->from_ns);
    }
}

/* ---- the file ---- */

static const struct mt_snap_part *part_of(const struct mt_snap_part *parts, size_t n, bool host,
                                          size_t number)
{
    for (size_t i = 0; i < n; i++)
        if ((parts[i].src->type == MT_DEVICE_HOST) == host &&
            parts[i].src->number == (int64_t)number)
            return &parts[i];
    return NULL;
}

/* Segments and events of the devices, or of the host. */
static void put_half(struct cutter *c, const struct mt_snap_part *parts, size_t n, bool host,
                     size_t device_n)
{
    put_word(c, host ? "host_segments" : "segments");
    mt_pickle_put_list(&c->to);
    for (size_t i = 0; i < n; i++) {
        if ((parts[i].src->type == MT_DEVICE_HOST) != host)
            continue;
        put_segments(c, &parts[i]);
        if ((size_t)parts[i].src->number >= device_n)
            device_n = (size_t)parts[i].src->number + 1;
    }
    mt_pickle_put_end(&c->to);
    put_word(c, host ? "host_traces" : "device_traces");
    mt_pickle_put_list(&c->to);
    for (size_t i = 0; i < device_n; i++)
        put_events(c, part_of(parts, n, host, i));
    mt_pickle_put_end(&c->to);
}

static void put_file(struct cutter *c, const struct mt_snap_part *parts, size_t n,
                     mt_pvalue settings, size_t device_n)
{
    enum { DEPTH = 8 };
    bool host = false;
    for (size_t i = 0; i < n; i++)
        host |= parts[i].src->type == MT_DEVICE_HOST;
    mt_pickle_put_head(&c->to);
    mt_pickle_put_dict(&c->to);
    put_half(c, parts, n, false, device_n);
    if (settings) {
        put_word(c, "allocator_settings");
        put_value(c, settings, DEPTH);
    }
    put_word(c, "external_annotations");
    mt_pickle_put_list(&c->to);
    for (size_t i = 0; i < n; i++)
        put_marks(c, &parts[i]);
    mt_pickle_put_end(&c->to);
    if (host)
        put_half(c, parts, n, true, 0);
    mt_pickle_put_end(&c->to);
    mt_pickle_put_stop(&c->to);
    fwrite(c->text.s, 1, c->text.n, c->cut->out);
}

void mt_snap_cut_write(const struct mt_snap_cut *cut, struct mt_snap_objects *o,
                       struct mt_pickle *p, const struct mt_snap_source *sources, size_t n,
                       mt_pvalue settings, size_t device_n)
{
    struct cutter c = {.cut = cut, .o = o, .p = p};
    struct mt_snap_part *parts = mt_alloc((n + 1) * sizeof *parts);
    c.to.to = &c.text;
    for (size_t i = 0; i < n; i++)
        parts[i].src = &sources[i];
    mt_snap_parts_find(o, &cut->window, parts, n);
    put_file(&c, parts, n, settings, device_n);
    for (size_t i = 0; i < n; i++)
        mt_snap_part_free(&parts[i]);
    free(parts);
    mt_buf_free(&c.text);
    mt_map_free(&c.strings);
    mt_map_free(&c.frames);
    mt_map_free(&c.paths);
}
