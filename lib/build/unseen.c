/*
 * Ends blocks that no record frees though their memory is handed out again: something freed them
 * where the profiler did not look, at the latest then. Each gets a free of its own, just before the
 * allocation that shows it; from there on all figures follow as from any other free.
 */
#include "lib/build/build.h"
#include "lib/build/spans.h"

#include <stdlib.h>

/* A block that no record frees. */
static bool survives(const struct mt_record *rec)
{
    return rec->bytes > 0 && rec->mate == MT_NONE;
}

/* Frees of those whose memory is handed out again. */
struct endings {
    MT_VEC(struct mt_inserted) all;
};

static void find_endings(const struct mt_recording *r, struct mt_spans *spans, struct endings *out)
{
    for (uint32_t i = 0; i < r->records.n; i++) {
        const struct mt_record *rec = &r->records.v[i];
        if (rec->bytes < 0 || !mt_span_known(r, rec))
            continue;
        for (uint32_t alloc; (alloc = mt_spans_take(spans, r, i)) != MT_NONE;)
            if (r->records.n + out->all.n < UINT32_MAX - 1)
                *mt_vec_push(&out->all) =
                    (struct mt_inserted){.mate = alloc, .before = i, .t_ns = rec->t_ns};
        if (survives(rec))
            mt_spans_open(spans, r, i);
    }
}

/* ---- where they were allocated ---- */

static uint64_t site_key(const struct mt_recording *r, uint32_t node)
{
    if (node == MT_NONE)
        return UINT64_MAX;
    return (uint64_t)r->frames.v[r->nodes.v[node].top].name << 32 | r->nodes.v[node].scope;
}

static uint64_t losing_key(uint32_t node, uint16_t device)
{
    return (uint64_t)(node + 1) << 16 | device; /* MT_NONE + 1 is 0 */
}

bool mt_rec_loses_frees(const struct mt_recording *r, uint32_t node, uint16_t device)
{
    return r->losing.n && mt_map_get(&r->losing, losing_key(node, device)) != MT_NONE;
}

static void add_unseen(struct mt_recording *r, struct mt_strtab *known, const struct mt_record *rec)
{
    const struct {
        int64_t bytes;
        uint32_t node, device; /* as bytes a key, without padding */
    } key = {-rec->bytes, mt_rec_node(r, &r->records.v[rec->mate]), rec->device};
    uint32_t at = mt_strtab_add(known, (const char *)&key, sizeof key);
    if (at == r->unseen.n)
        *mt_vec_push(&r->unseen) =
            (struct mt_unseen){.node = key.node, .device = rec->device, .bytes = key.bytes};
    r->unseen.v[at].n++;
    mt_rec_note(r, MT_NOTE_UNSEEN, -1, key.bytes);
    struct mt_device *d = &r->devices.v[rec->device];
    d->unseen_b += key.bytes;
    d->unseen_n++;
}

/* All nodes of a site lose frees if one does. */
static void mark_sites(struct mt_recording *r, uint16_t device)
{
    struct mt_map sites = {0};
    for (size_t i = 0; i < r->unseen.n; i++)
        if (r->unseen.v[i].device == device)
            *mt_map_at(&sites, site_key(r, r->unseen.v[i].node)) = 1;
    for (uint32_t node = 0; sites.n && node < r->nodes.n; node++)
        if (mt_map_get(&sites, site_key(r, node)) != MT_NONE)
            *mt_map_at(&r->losing, losing_key(node, device)) = 1;
    if (mt_map_get(&sites, UINT64_MAX) != MT_NONE)
        *mt_map_at(&r->losing, losing_key(MT_NONE, device)) = 1;
    mt_map_free(&sites);
}

/* What a site lost, of all devices. */
struct loss {
    uint32_t node; /* one of the site */
    int64_t bytes;
};

static int loss_cmp(const void *a, const void *b)
{
    const struct loss *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static void add_frame(const struct mt_recording *r, uint32_t frame, struct mt_buf *out)
{
    const struct mt_frame *f = &r->frames.v[frame];
    mt_buf_adds(out, mt_strtab_get(&r->strings, f->name));
    if (f->instance >= 0)
        mt_buf_addf(out, "_%d", f->instance);
}

/* A Python function by itself: reports say "[Python]" of all of them (lib/run/sites.c). */
static bool is_python(const struct mt_recording *r, const struct mt_node *n)
{
    return !r->without_ops && n->top == n->frame && r->frames.v[n->top].kind == MT_FRAME_PYTHON;
}

/* site_key, but for what has one name. */
static uint64_t name_key(const struct mt_recording *r, uint32_t node)
{
    const struct mt_node *n = node == MT_NONE ? NULL : &r->nodes.v[node];
    return n && is_python(r, n) ? (uint64_t)(MT_NONE - 1) << 32 | n->scope : site_key(r, node);
}

static void add_site_name(const struct mt_recording *r, uint32_t node, struct mt_buf *out)
{
    if (node == MT_NONE) {
        mt_buf_adds(out, "[outside ops]");
        return;
    }
    const struct mt_node *n = &r->nodes.v[node];
    if (is_python(r, n))
        mt_buf_adds(out, "[Python]");
    else
        add_frame(r, n->top, out);
    if (n->scope != MT_NONE && n->scope != n->top) {
        mt_buf_adds(out, " in ");
        add_frame(r, n->scope, out);
    }
}

/* "aten::linear in train, aten::rand": as many names as the note has room for. */
static void name_losses(struct mt_recording *r, const struct loss *v, size_t n)
{
    enum { MORE = 24 }; /* room for " and 4294967295 more sites" */
    struct mt_note *note = &r->notes[MT_NOTE_UNSEEN];
    struct mt_buf text = {0}, name = {0};
    size_t named = 0;
    for (; named < n; named++) {
        mt_buf_clear(&name);
        add_site_name(r, v[named].node, &name);
        size_t room = sizeof note->detail - (named + 1 < n ? MORE : 0);
        if (text.n + 2 + name.n >= room)
            break;
        mt_buf_addf(&text, "%s%s", named ? ", " : "", name.s);
    }
    if (named < n)
        mt_buf_addf(&text, "%s%zu %ssite%s", named ? " and " : "", n - named, named ? "more " : "",
                    n - named == 1 ? "" : "s");
    mt_rec_note_detail(r, MT_NOTE_UNSEEN, "%s", text.s);
    mt_buf_free(&text);
    mt_buf_free(&name);
}

static void name_sites(struct mt_recording *r)
{
    MT_VEC(struct loss) all = {0};
    struct mt_map sites = {0};
    for (size_t i = 0; i < r->unseen.n; i++) {
        const struct mt_unseen *u = &r->unseen.v[i];
        uint32_t *at = mt_map_at(&sites, name_key(r, u->node));
        if (*at == MT_NONE) {
            *at = (uint32_t)all.n;
            *mt_vec_push(&all) = (struct loss){.node = u->node};
        }
        all.v[*at].bytes += u->bytes * u->n;
    }
    qsort(all.v, all.n, sizeof *all.v, loss_cmp);
    name_losses(r, all.v, all.n);
    mt_vec_free(&all);
    mt_map_free(&sites);
}

static void find_sites(struct mt_recording *r)
{
    struct mt_strtab known;
    mt_strtab_init(&known);
    for (size_t i = 0; i < r->records.n; i++)
        if (r->records.v[i].unseen && r->records.v[i].bytes < 0)
            add_unseen(r, &known, &r->records.v[i]);
    mt_strtab_free(&known);
    for (size_t d = 0; d < r->devices.n; d++)
        if (r->devices.v[d].unseen_n)
            mark_sites(r, (uint16_t)d);
    name_sites(r);
}

void mt_build_unseen(struct mt_recording *r)
{
    struct mt_spans spans;
    struct endings endings = {0};
    mt_spans_collect(&spans, r, survives);
    if (spans.spaces.n)
        find_endings(r, &spans, &endings);
    if (endings.all.n) {
        mt_rec_insert(r, endings.all.v, endings.all.n);
        find_sites(r);
    }
    mt_spans_free(&spans);
    mt_vec_free(&endings.all);
}
