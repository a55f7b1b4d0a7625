#include "lib/model/series.h"

#include "lib/model/heap.h"
#include <stdlib.h>
#include <string.h>

/* What a path held in a dump, and allocated up to it. */
struct held {
    uint32_t node; /* of the series; MT_NONE: no call path */
    int64_t end_b, end_n, alloc_b, alloc_n;
};

struct dump {
    char *name;
    int64_t t_ns;    /* since the Unix epoch; 0: unknown */
    size_t position; /* as given */
    size_t first, n; /* of held */
    int64_t total_b, alloc_b;
    unsigned knows;
    bool counted;
    struct mt_note notes[MT_NOTE_N];
};

struct mt_series {
    struct mt_recording *rec;
    MT_VEC(struct dump) dumps;
    MT_VEC(struct held) held;
    struct mt_strtab frames; /* a frame's fields -> frame of the recording */
    struct mt_map children;  /* parent, frame -> node */
    int device_type;
    MT_VEC(uint32_t) frame_of, node_of; /* of the dump under way -> of the recording */
    uint64_t beside;                    /* counted in rec->beside_bytes */
};

struct mt_series *mt_series_new(struct mt_recording *into)
{
    struct mt_series *s = mt_alloc(sizeof *s);
    *s = (struct mt_series){.rec = into};
    mt_strtab_init(&s->frames);
    return s;
}

void mt_series_free(struct mt_series *s)
{
    if (!s)
        return;
    mt_rec_beside(s->rec, &s->beside, 0);
    for (size_t i = 0; i < s->dumps.n; i++)
        free(s->dumps.v[i].name);
    mt_vec_free(&s->dumps);
    mt_vec_free(&s->held);
    mt_vec_free(&s->frame_of);
    mt_vec_free(&s->node_of);
    mt_strtab_free(&s->frames);
    mt_map_free(&s->children);
    free(s);
}

/* ---- call paths ---- */

static uint32_t text(struct mt_series *s, const struct mt_recording *dump, uint32_t id)
{
    if (id == MT_NONE)
        return MT_NONE;
    const char *t = mt_strtab_get(&dump->strings, id);
    return mt_strtab_add(&s->rec->strings, t, strlen(t));
}

static void take_frames(struct mt_series *s, const struct mt_recording *dump)
{
    s->frame_of.n = 0;
    for (size_t i = 0; i < dump->frames.n; i++) {
        struct mt_frame f = dump->frames.v[i];
        f.name = text(s, dump, f.name);
        f.object = text(s, dump, f.object);
        f.file = text(s, dump, f.file);
        const int64_t key[] = {f.name, f.object, f.file, f.instance, f.kind};
        uint32_t frame = mt_strtab_add(&s->frames, (const char *)key, sizeof key);
        if (frame == s->rec->frames.n)
            *mt_vec_push(&s->rec->frames) = f;
        *mt_vec_push(&s->frame_of) = frame;
    }
}

static uint32_t frame_at(const struct mt_series *s, uint32_t frame)
{
    return frame == MT_NONE ? MT_NONE : s->frame_of.v[frame];
}

static void take_nodes(struct mt_series *s, const struct mt_recording *dump)
{
    s->node_of.n = 0;
    for (size_t i = 0; i < dump->nodes.n; i++) {
        struct mt_node n = dump->nodes.v[i];
        n.parent = n.parent == MT_NONE ? MT_NONE : s->node_of.v[n.parent];
        n.frame = frame_at(s, n.frame);
        n.top = frame_at(s, n.top);
        n.scope = frame_at(s, n.scope);
        n.module = frame_at(s, n.module);
        uint32_t *at = mt_map_at(&s->children, (uint64_t)n.parent << 32 | n.frame);
        if (*at == MT_MAP_NONE) {
            *at = (uint32_t)s->rec->nodes.n;
            *mt_vec_push(&s->rec->nodes) = n;
        } else if (s->rec->nodes.v[*at].line != n.line) {
            s->rec->nodes.v[*at].line = 0; /* calls come from several */
        }
        *mt_vec_push(&s->node_of) = *at;
    }
}

/* ---- dumps ---- */

static enum mt_status refuse(const char *name, const char *what, struct mt_err *err)
{
    mt_err_input(err, name);
    MT_FAIL(err, MT_EUSAGE, "%s", what);
    mt_err_hint(err, "Nothing was imported. A series is made of dumps that say what was alive when "
                     "each was written: of jemalloc, gperftools, pprof, tracemalloc. Other files "
                     "are runs of their own.");
    return MT_EUSAGE;
}

static void hold(struct mt_series *s, const struct mt_device *d, uint32_t node,
                 const struct mt_sums *sums)
{
    bool alloc = d->knows & MT_KNOWS_ALLOC;
    *mt_vec_push(&s->held) =
        (struct held){.node = node,
                      .end_b = sums->at_end_b,
                      .end_n = d->at_end_n == MT_UNKNOWN ? MT_UNKNOWN : sums->at_end_n,
                      .alloc_b = alloc ? sums->alloc_b : 0,
                      .alloc_n = alloc && d->alloc_n != MT_UNKNOWN ? sums->alloc_n : 0};
}

static enum mt_status check_memory(struct mt_series *s, struct mt_err *err)
{
    mt_rec_beside(s->rec, &s->beside,
                  mt_vec_bytes(&s->dumps) + mt_vec_bytes(&s->held) + mt_vec_bytes(&s->frame_of) +
                      mt_vec_bytes(&s->node_of) + mt_strtab_bytes(&s->frames) +
                      mt_map_bytes(&s->children));
    return mt_rec_check_memory(s->rec, err);
}

enum mt_status mt_series_add(struct mt_series *s, const struct mt_recording *dump, const char *name,
                             struct mt_err *err)
{
    const struct mt_device *d = dump->devices.n ? &dump->devices.v[0] : NULL;
    if (!dump->summed || dump->time_unit || dump->devices.n != 1 || !(d->knows & MT_KNOWS_AT_END))
        return refuse(name, "a recording over time, not a dump of one moment", err);
    if (s->dumps.n && d->type != s->device_type)
        return refuse(name, "of another kind of memory than the dumps before it", err);
    struct dump add = {.name = mt_strdup(name),
                       .t_ns = dump->base_ns,
                       .position = s->dumps.n,
                       .first = s->held.n,
                       .total_b = d->at_end_b,
                       .alloc_b = d->knows & MT_KNOWS_ALLOC ? d->alloc_b : MT_UNKNOWN,
                       .knows = d->knows,
                       .counted = d->at_end_n != MT_UNKNOWN};
    memcpy(add.notes, dump->notes, sizeof add.notes);
    s->device_type = d->type;
    take_frames(s, dump);
    take_nodes(s, dump);
    struct mt_sums outside = {.at_end_b = d->outside_at_end_b,
                              .at_end_n = d->at_end_n,
                              .alloc_b = d->outside_alloc_b,
                              .alloc_n = d->outside_alloc_n};
    for (size_t i = 0; i < dump->stats.n; i++) {
        const struct mt_node_stat *of = &dump->stats.v[i];
        hold(s, d, s->node_of.v[of->node], &of->self);
        outside.at_end_n = mt_wrap_sub(outside.at_end_n, of->self.at_end_n);
    }
    if (outside.at_end_b || outside.alloc_b)
        hold(s, d, MT_NONE, &outside);
    add.n = s->held.n - add.first;
    *mt_vec_push(&s->dumps) = add;
    s->rec->event_n += dump->event_n;
    s->rec->values_unsaid |= dump->values_unsaid;
    return check_memory(s, err);
}

/* ---- the whole ---- */

static int dump_cmp(const void *a, const void *b)
{
    const struct dump *x = a, *y = b;
    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    return x->position < y->position ? -1 : 1;
}

/* Whether all know when they were written; they are in that order then. */
static bool put_in_order(struct mt_series *s)
{
    bool timed = true;
    for (size_t i = 0; i < s->dumps.n; i++)
        timed &= s->dumps.v[i].t_ns > 0;
    if (timed)
        qsort(s->dumps.v, s->dumps.n, sizeof *s->dumps.v, dump_cmp);
    return timed;
}

static enum mt_status check_order(const struct mt_series *s, struct mt_err *err)
{
    if (s->dumps.n < 2) {
        MT_FAIL(err, MT_EUSAGE, "a series has two dumps or more");
        mt_err_hint(err, "Nothing was imported. Leave out --series to import one file.");
        return MT_EUSAGE;
    }
    for (size_t i = 1; i < s->dumps.n; i++) {
        const struct dump *before = &s->dumps.v[i - 1], *d = &s->dumps.v[i];
        if (d->alloc_b == MT_UNKNOWN || before->alloc_b == MT_UNKNOWN ||
            d->alloc_b >= before->alloc_b)
            continue;
        mt_err_input(err, d->name);
        MT_FAIL(err, MT_EUSAGE,
                "less was allocated in all than in %s before it: no later dump of one process",
                before->name);
        mt_err_hint(err, "Nothing was imported. Give the dumps of one process, the oldest first.");
        return MT_EUSAGE;
    }
    return MT_OK;
}

/* What import noted of the dumps is of the series; how figures were made is of the last one. */
static void take_notes(struct mt_series *s)
{
    for (size_t i = 0; i < s->dumps.n; i++)
        for (int k = 0; k < MT_NOTE_N; k++) {
            const struct mt_note *from = &s->dumps.v[i].notes[k];
            struct mt_note *to = &s->rec->notes[k];
            if (!from->count)
                continue;
            const struct mt_note before = *to;
            *to = *from;
            if (k == MT_NOTE_SAMPLED || k == MT_NOTE_SAMPLE_TYPES)
                continue;
            to->count = mt_wrap_add((int64_t)before.count, (int64_t)from->count);
            to->bytes = mt_wrap_add(before.bytes, from->bytes);
        }
    /* nothing was alive in one of them: that says nothing of the whole */
    if (s->rec->notes[MT_NOTE_NO_ALLOCATIONS].count < s->dumps.n)
        s->rec->notes[MT_NOTE_NO_ALLOCATIONS] = (struct mt_note){0};
    s->rec->notes[MT_NOTE_DUMPS] = (struct mt_note){.count = s->dumps.n, .first_offset = -1};
}

static enum mt_status give_dump(struct mt_series *s, struct mt_heap *heap, const struct dump *d,
                                int64_t t, bool last, struct mt_err *err)
{
    bool allocated = last;
    for (size_t i = 0; i < s->dumps.n; i++)
        allocated &= s->dumps.v[i].alloc_b != MT_UNKNOWN;
    MT_TRY(mt_heap_moment(heap, t, d->total_b, true, err));
    for (size_t i = d->first; i < d->first + d->n; i++) {
        const struct held *h = &s->held.v[i];
        MT_TRY(mt_heap_held(heap, h->node, h->end_b, h->end_n, err));
        if (allocated)
            MT_TRY(mt_heap_allocated(heap, h->node, h->alloc_b, h->alloc_n, err));
    }
    if (allocated)
        MT_TRY(mt_heap_allocated(heap, MT_NONE, 0, 0, err)); /* known, be there none */
    return MT_OK;
}

enum mt_status mt_series_close(struct mt_series *s, struct mt_err *err)
{
    bool timed = put_in_order(s);
    MT_TRY(check_order(s, err));
    struct mt_recording *r = s->rec;
    r->time_unit = timed ? "ns" : "dumps";
    r->base_ns = timed ? s->dumps.v[0].t_ns : 0;
    struct mt_heap *heap = mt_heap_open(r, s->device_type);
    enum mt_status st = MT_OK;
    uint64_t event_n = r->event_n;
    for (size_t i = 0; i < s->dumps.n && st == MT_OK; i++) {
        const struct dump *d = &s->dumps.v[i];
        int64_t t = timed ? d->t_ns - r->base_ns : (int64_t)i;
        st = give_dump(s, heap, d, t, i + 1 == s->dumps.n, err);
    }
    mt_heap_last_is_end(heap);
    if (st == MT_OK)
        st = mt_heap_close(heap, err);
    mt_heap_free(heap);
    r->event_n = event_n;
    take_notes(s);
    return st;
}
