/*
 * Ends blocks that no record frees though their memory is handed out again: something freed them
 * where the profiler did not look, at the latest then. Each gets a free of its own, just before the
 * allocation that shows it; from there on all figures follow as from any other free.
 */
#include "lib/build.h"

#include <stdio.h>
#include <stdlib.h>

/* A block that no record frees. */
struct survivor {
    uint64_t start, end; /* its addresses, up to but without the end */
    uint32_t record;     /* its allocation */
};

/* The survivors of one process on one device, by address. Those open now overlap no other: a tree
 * of their ends finds the ones in a range. */
struct space {
    MT_VEC(struct survivor) all;
    size_t leaf_n;  /* a power of two; leaf i of the tree is node leaf_n + i, the root is node 1 */
    uint64_t *most; /* by node: the largest end of what is open below it, 0 = nothing is */
};

/* A block that ends before a record, which hands out its memory. */
struct ending {
    uint32_t birth, before;
};

struct sweep {
    struct mt_recording *r;
    struct mt_map space_of; /* process and device -> space */
    MT_VEC(struct space) spaces;
    MT_VEC(struct ending) endings; /* in order of `before` */
};

static uint64_t end_of(const struct mt_record *rec)
{
    uint64_t end = rec->addr + (uint64_t)rec->bytes;
    return end < rec->addr ? UINT64_MAX : end;
}

static bool hands_out_memory(const struct mt_recording *r, const struct mt_record *rec)
{
    return rec->bytes > 0 && rec->has_addr && !r->devices.v[rec->device].no_addresses;
}

static uint64_t space_key(const struct mt_recording *r, const struct mt_record *rec)
{
    return (uint64_t)r->threads.v[rec->thread].process << 16 | rec->device;
}

/* ---- the survivors ---- */

static int survivor_cmp(const void *a, const void *b)
{
    const struct survivor *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->record < y->record ? -1 : x->record > y->record;
}

static void find_survivors(struct sweep *w)
{
    for (uint32_t i = 0; i < w->r->records.n; i++) {
        const struct mt_record *rec = &w->r->records.v[i];
        if (!hands_out_memory(w->r, rec) || rec->mate != MT_NONE)
            continue;
        uint32_t *at = mt_map_at(&w->space_of, space_key(w->r, rec));
        if (*at == MT_NONE) {
            *at = (uint32_t)w->spaces.n;
            *mt_vec_push(&w->spaces) = (struct space){.leaf_n = 1};
        }
        *mt_vec_push(&w->spaces.v[*at].all) = (struct survivor){rec->addr, end_of(rec), i};
    }
    for (size_t i = 0; i < w->spaces.n; i++) {
        struct space *s = &w->spaces.v[i];
        qsort(s->all.v, s->all.n, sizeof *s->all.v, survivor_cmp);
        while (s->leaf_n < s->all.n)
            s->leaf_n *= 2;
        s->most = mt_alloc(2 * s->leaf_n * sizeof *s->most);
    }
}

/* Opens a survivor, or closes it (end 0). */
static void set_end(struct space *s, uint32_t survivor, uint64_t end)
{
    size_t node = s->leaf_n + survivor;
    for (s->most[node] = end; node > 1; node /= 2) {
        uint64_t most = s->most[node] > s->most[node ^ 1] ? s->most[node] : s->most[node ^ 1];
        if (s->most[node / 2] == most)
            return;
        s->most[node / 2] = most;
    }
}

/* An open survivor that overlaps [start, end), among the n leaves of a node from one on. */
static uint32_t overlapping(const struct space *s, size_t node, uint32_t first, uint32_t n,
                            uint64_t start, uint64_t end)
{
    if (s->most[node] <= start || first >= s->all.n || s->all.v[first].start >= end)
        return MT_NONE;
    if (n == 1)
        return first;
    uint32_t found = overlapping(s, 2 * node + 1, first + n / 2, n / 2, start, end);
    return found != MT_NONE ? found : overlapping(s, 2 * node, first, n / 2, start, end);
}

static void open_survivor(struct space *s, uint32_t record, uint64_t start, uint64_t end)
{
    const struct survivor key = {start, end, record};
    const struct survivor *at = bsearch(&key, s->all.v, s->all.n, sizeof *s->all.v, survivor_cmp);
    set_end(s, (uint32_t)(at - s->all.v), end);
}

/* ---- their ends ---- */

/* Of two records of one moment on two threads nobody knows which came first. */
static bool comes_later(const struct mt_record *before, const struct mt_record *rec)
{
    return rec->t_ns > before->t_ns || rec->thread == before->thread;
}

static void hand_out(struct sweep *w, struct space *s, uint32_t i)
{
    const struct mt_record *rec = &w->r->records.v[i];
    uint64_t end = end_of(rec);
    for (uint32_t old;
         (old = overlapping(s, 1, 0, (uint32_t)s->leaf_n, rec->addr, end)) != MT_NONE;) {
        uint32_t birth = s->all.v[old].record;
        set_end(s, old, 0);
        if (comes_later(&w->r->records.v[birth], rec) &&
            w->r->records.n + w->endings.n < UINT32_MAX - 1)
            *mt_vec_push(&w->endings) = (struct ending){birth, i};
    }
    if (rec->mate == MT_NONE)
        open_survivor(s, i, rec->addr, end);
}

static void find_endings(struct sweep *w)
{
    for (uint32_t i = 0; i < w->r->records.n; i++) {
        const struct mt_record *rec = &w->r->records.v[i];
        if (!hands_out_memory(w->r, rec))
            continue;
        uint32_t space = mt_map_get(&w->space_of, space_key(w->r, rec));
        if (space != MT_NONE)
            hand_out(w, &w->spaces.v[space], i);
    }
}

/* ---- the records ---- */

static struct mt_record free_of(const struct mt_record *birth, uint32_t birth_at,
                                const struct mt_record *before)
{
    return (struct mt_record){.t_ns = before->t_ns,
                              .bytes = -birth->bytes,
                              .addr = birth->addr,
                              .order = before->order,
                              .thread = MT_NONE,
                              .op = MT_NONE,
                              .mate = birth_at,
                              .device = birth->device,
                              .has_addr = true,
                              .unseen = true};
}

/* Where each record goes when frees are put in between. */
static uint32_t *new_places(const struct sweep *w)
{
    uint32_t *to = mt_alloc((w->r->records.n + 1) * sizeof *to);
    size_t e = 0;
    for (uint32_t i = 0; i < w->r->records.n; i++) {
        while (e < w->endings.n && w->endings.v[e].before == i)
            e++;
        to[i] = i + (uint32_t)e;
    }
    return to;
}

static void insert_frees(struct sweep *w)
{
    struct mt_recording *r = w->r;
    uint32_t *to = new_places(w);
    uint32_t n = (uint32_t)r->records.n;
    for (size_t e = 0; e < w->endings.n; e++)
        mt_vec_push(&r->records);
    struct mt_record *v = r->records.v;
    size_t e = w->endings.n;
    for (uint32_t i = n; i-- > 0;) { /* from the end: no record is overwritten before it moves */
        struct mt_record rec = v[i];
        rec.mate = rec.mate == MT_NONE ? MT_NONE : to[rec.mate];
        v[to[i]] = rec;
        for (uint32_t at = to[i]; e && w->endings.v[e - 1].before == i;) {
            uint32_t birth = w->endings.v[--e].birth;
            v[--at] = free_of(&v[birth], to[birth], &rec);
        }
    }
    for (e = 0; e < w->endings.n; e++) { /* the k-th free stands k places behind where it was put */
        uint32_t at = w->endings.v[e].before + (uint32_t)e;
        v[v[at].mate].mate = at;
    }
    r->unseen_n = w->endings.n;
    free(to);
}

/* ---- where they were born ---- */

static uint64_t site_key(const struct mt_recording *r, uint32_t node)
{
    if (node == MT_NONE)
        return UINT64_MAX;
    return (uint64_t)r->nodes.v[node].top << 32 | r->nodes.v[node].scope;
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

static void add_site_name(const struct mt_recording *r, uint32_t node, struct mt_buf *out)
{
    if (node == MT_NONE) {
        mt_buf_adds(out, "[outside ops]");
        return;
    }
    const struct mt_node *n = &r->nodes.v[node];
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
    snprintf(note->detail, sizeof note->detail, "%s", text.s);
    mt_buf_free(&text);
    mt_buf_free(&name);
}

static void name_sites(struct mt_recording *r)
{
    MT_VEC(struct loss) all = {0};
    struct mt_map sites = {0};
    for (size_t i = 0; i < r->unseen.n; i++) {
        const struct mt_unseen *u = &r->unseen.v[i];
        uint32_t *at = mt_map_at(&sites, site_key(r, u->node));
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
        if (r->records.v[i].unseen)
            add_unseen(r, &known, &r->records.v[i]);
    mt_strtab_free(&known);
    for (size_t d = 0; d < r->devices.n; d++)
        if (r->devices.v[d].unseen_n)
            mark_sites(r, (uint16_t)d);
    name_sites(r);
}

void mt_build_unseen(struct mt_recording *r)
{
    struct sweep w = {.r = r};
    find_survivors(&w);
    if (w.spaces.n)
        find_endings(&w);
    if (w.endings.n) {
        insert_frees(&w);
        find_sites(r);
    }
    for (size_t i = 0; i < w.spaces.n; i++) {
        mt_vec_free(&w.spaces.v[i].all);
        free(w.spaces.v[i].most);
    }
    mt_vec_free(&w.spaces);
    mt_vec_free(&w.endings);
    mt_map_free(&w.space_of);
}
