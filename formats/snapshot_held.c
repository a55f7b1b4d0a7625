#include "formats/snapshot_held.h"

#include "lib/model/recording.h"
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 256 };

/* ---- ranges by address ---- */

struct place {
    size_t chunk;
    uint32_t i;
};

static struct mt_snap_range *at(const struct mt_snap_held *h, struct place p)
{
    return &h->chunks.v[p.chunk].v[p.i];
}

/* The last range that begins at the address or before it. False: none does. */
static bool find_begun(const struct mt_snap_held *h, uint64_t address, struct place *out)
{
    size_t low = 0, high = h->chunks.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (h->chunks.v[mid].v[0].address <= address)
            low = mid + 1;
        else
            high = mid;
    }
    if (!low)
        return false;
    const struct mt_snap_chunk *c = &h->chunks.v[low - 1];
    uint32_t first = 0, end = c->n;
    while (first < end) {
        uint32_t mid = (first + end) / 2;
        if (c->v[mid].address <= address)
            first = mid + 1;
        else
            end = mid;
    }
    *out = (struct place){low - 1, first - 1};
    return true;
}

/* Makes room for a chunk at that place. */
static struct mt_snap_chunk *new_chunk(struct mt_snap_held *h, size_t place)
{
    mt_vec_push(&h->chunks);
    struct mt_snap_chunk *c = &h->chunks.v[place];
    memmove(c + 1, c, (h->chunks.n - 1 - place) * sizeof *c);
    *c = (struct mt_snap_chunk){.v = mt_alloc(CHUNK * sizeof *c->v)};
    return c;
}

/* Puts the second half of a full chunk into one of its own. */
static void split_chunk(struct mt_snap_held *h, struct place *p)
{
    struct mt_snap_chunk *half = new_chunk(h, p->chunk + 1), *c = half - 1;
    half->n = c->n / 2;
    c->n -= half->n;
    memcpy(half->v, c->v + c->n, half->n * sizeof *half->v);
    if (p->i > c->n) {
        p->i -= c->n;
        p->chunk++;
    }
}

static void insert(struct mt_snap_held *h, const struct mt_snap_range *range)
{
    struct place p = {0, 0};
    if (!h->chunks.n)
        new_chunk(h, 0);
    if (find_begun(h, range->address, &p))
        p.i++;
    if (h->chunks.v[p.chunk].n == CHUNK)
        split_chunk(h, &p);
    struct mt_snap_chunk *c = &h->chunks.v[p.chunk];
    memmove(c->v + p.i + 1, c->v + p.i, (c->n - p.i) * sizeof *c->v);
    c->v[p.i] = *range;
    c->n++;
    if (h->changed)
        h->changed(h->closure, &c->v[p.i], true);
}

static struct mt_snap_range take(struct mt_snap_held *h, struct place p)
{
    struct mt_snap_chunk *c = &h->chunks.v[p.chunk];
    struct mt_snap_range range = c->v[p.i];
    c->n--;
    memmove(c->v + p.i, c->v + p.i + 1, (c->n - p.i) * sizeof *c->v);
    if (!c->n) {
        free(c->v);
        h->chunks.n--;
        memmove(c, c + 1, (h->chunks.n - p.chunk) * sizeof *c);
    }
    if (h->changed)
        h->changed(h->closure, &range, false);
    return range;
}

/* ---- what is held ---- */

/* One past the last byte; addresses end where 64 bits do. */
static uint64_t end_of(uint64_t address, uint64_t size)
{
    return size > UINT64_MAX - address ? UINT64_MAX : address + size;
}

/* Puts back what of a range lies in from..end. */
static void keep_part(struct mt_snap_held *h, struct mt_snap_range range, uint64_t from,
                      uint64_t end)
{
    if (from >= end)
        return;
    range.address = from;
    range.size = end - from;
    insert(h, &range);
}

void mt_snap_held_remove(struct mt_snap_held *h, uint64_t address, uint64_t size)
{
    uint64_t end = end_of(address, size);
    struct place p;
    while (end > address && find_begun(h, end - 1, &p)) {
        const struct mt_snap_range *last = at(h, p);
        uint64_t last_end = last->address + last->size;
        if (last_end <= address)
            return;
        struct mt_snap_range gone = take(h, p);
        keep_part(h, gone, end, last_end);
        keep_part(h, gone, gone.address, address);
        end = gone.address;
    }
}

static bool adjoin(const struct mt_snap_range *a, const struct mt_snap_range *b)
{
    return a->expandable && b->expandable && a->address + a->size == b->address &&
           a->stream == b->stream &&
           (a->pool == b->pool || a->pool == MT_NONE || b->pool == MT_NONE);
}

/* Of two adjoining ranges one; what is known of either is known of it. */
static void join(struct mt_snap_range *to, const struct mt_snap_range *other)
{
    to->address = other->address < to->address ? other->address : to->address;
    to->size += other->size;
    to->pool = to->pool == MT_NONE ? other->pool : to->pool;
    to->small &= other->small;
}

void mt_snap_held_add(struct mt_snap_held *h, const struct mt_snap_range *range)
{
    struct mt_snap_range r = *range;
    struct place p;
    r.size = end_of(r.address, r.size) - r.address;
    if (!r.size)
        return;
    mt_snap_held_remove(h, r.address, r.size);
    if (find_begun(h, r.address, &p) && adjoin(at(h, p), &r)) {
        struct mt_snap_range before = take(h, p);
        join(&r, &before);
    }
    if (find_begun(h, r.address + r.size, &p) && adjoin(&r, at(h, p))) {
        struct mt_snap_range behind = take(h, p);
        join(&r, &behind);
    }
    insert(h, &r);
}

struct mt_snap_range *mt_snap_held_find(const struct mt_snap_held *h, uint64_t address,
                                        uint64_t size)
{
    struct place p;
    if (!find_begun(h, address, &p))
        return NULL;
    struct mt_snap_range *range = at(h, p);
    return range->address == address && range->size == size ? range : NULL;
}

void mt_snap_held_each(const struct mt_snap_held *h,
                       void (*use)(void *closure, struct mt_snap_range *range), void *closure)
{
    for (size_t i = 0; i < h->chunks.n; i++)
        for (uint32_t k = 0; k < h->chunks.v[i].n; k++)
            use(closure, &h->chunks.v[i].v[k]);
}

uint64_t mt_snap_held_bytes(const struct mt_snap_held *h)
{
    return h->chunks.n * (sizeof *h->chunks.v + CHUNK * sizeof *h->chunks.v->v);
}

void mt_snap_held_free(struct mt_snap_held *h)
{
    for (size_t i = 0; i < h->chunks.n; i++)
        free(h->chunks.v[i].v);
    mt_vec_free(&h->chunks);
}
