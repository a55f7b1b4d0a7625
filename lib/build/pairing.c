/*
 * Pairs frees with allocations: each with the latest one at its address, if that is open and of its
 * size. An address holds one block at a time: what is open there ends, unpaired, where a record
 * shows another one. Addresses are told apart by process and device. Whatever makes up a key is
 * numbered first, so that keys are exact, however wide an address is.
 */
#include "lib/build/build.h"

#include <stdlib.h>

enum { CLOSED = MT_NONE - 1 }; /* a key seen before under which nothing is open now */

/* Open allocations by key, the newest first. */
struct stacks {
    struct mt_map top;   /* key -> the newest */
    struct mt_map below; /* allocation -> the next older one of its key */
};

/* An address of a process and device: allocations, or MT_NONE. */
struct place {
    uint32_t open;
    uint32_t replaced; /* the one that was open when that one came */
};

struct pairing {
    struct mt_recording *r;
    struct mt_map spaces;       /* process, device -> number */
    MT_VEC(struct mt_map) maps; /* of each space: address -> place */
    MT_VEC(struct place) places;
    struct mt_map ended; /* record -> the allocation that has ended by then */
    struct mt_map gone;  /* allocations that have ended */
    struct mt_map sizes; /* bytes -> number */
};

static void push(struct stacks *s, uint64_t key, uint32_t i)
{
    uint32_t *top = mt_map_at(&s->top, key);
    if (*top < CLOSED)
        *mt_map_at(&s->below, i) = *top;
    *top = i;
}

static void pop(struct stacks *s, uint64_t key)
{
    uint32_t *top = mt_map_at(&s->top, key);
    uint32_t older = mt_map_get(&s->below, *top);
    *top = older == MT_NONE ? CLOSED : older;
}

/* MT_NONE: there is none. Drops what is gone. */
static uint32_t newest(struct stacks *s, uint64_t key, const struct mt_map *gone)
{
    for (;; pop(s, key)) {
        uint32_t top = mt_map_get(&s->top, key);
        if (top >= CLOSED)
            return MT_NONE;
        if (mt_map_get(gone, top) == MT_NONE)
            return top;
    }
}

static void free_stacks(struct stacks *s)
{
    mt_map_free(&s->top);
    mt_map_free(&s->below);
}

/* The number of a key: keys are numbered as they come. */
static uint32_t number_of(struct mt_map *map, uint64_t key)
{
    uint32_t *number = mt_map_at(map, key);
    if (*number == MT_NONE)
        *number = (uint32_t)map->n - 1;
    return *number;
}

static uint32_t space_of(struct pairing *p, const struct mt_record *rec)
{
    return number_of(&p->spaces,
                     (uint64_t)p->r->threads.v[rec->thread].process << 16 | rec->device);
}

static uint32_t size_of(struct pairing *p, const struct mt_record *rec)
{
    return number_of(&p->sizes, (uint64_t)(rec->bytes < 0 ? -rec->bytes : rec->bytes));
}

static uint32_t place_of(struct pairing *p, const struct mt_record *rec)
{
    uint32_t space = space_of(p, rec);
    while (space >= p->maps.n)
        *mt_vec_push(&p->maps) = (struct mt_map){0};
    uint32_t *place = mt_map_at(&p->maps.v[space], rec->addr);
    if (*place == MT_NONE) {
        *place = (uint32_t)p->places.n;
        *mt_vec_push(&p->places) = (struct place){MT_NONE, MT_NONE};
    }
    return *place;
}

static void join(struct mt_recording *r, uint32_t alloc, uint32_t death)
{
    r->records.v[alloc].mate = death;
    r->records.v[death].mate = alloc;
}

/* Nobody knows which of two records of one moment on two threads came first. */
static bool may_swap(const struct mt_record *a, const struct mt_record *b)
{
    return a->t_ns == b->t_ns && a->thread != b->thread;
}

/* Whether a free is not of what is open at its address, but of what that replaced: it came before,
 * or what it frees came after. */
static bool frees_replaced(const struct mt_record *v, const struct place *at,
                           const struct mt_record *rec)
{
    if (at->open == MT_NONE || at->replaced == MT_NONE || v[at->replaced].bytes != -rec->bytes)
        return false;
    return may_swap(&v[at->open], rec) ||
           (v[at->open].bytes != -rec->bytes && may_swap(&v[at->replaced], &v[at->open]));
}

static void take_alloc(struct pairing *p, struct place *at, uint32_t i)
{
    if (at->open != MT_NONE)
        *mt_map_at(&p->ended, i) = at->open;
    at->replaced = at->open;
    at->open = i;
}

static void take_death(struct pairing *p, struct place *at, uint32_t i)
{
    const struct mt_record *v = p->r->records.v, *rec = &v[i];
    if (frees_replaced(v, at, rec)) {
        join(p->r, at->replaced, i);
        at->replaced = MT_NONE;
        if (may_swap(&v[at->open], rec))
            return; /* what is open came behind it */
    } else if (at->open != MT_NONE && v[at->open].bytes == -rec->bytes)
        join(p->r, at->open, i);
    else if (at->open != MT_NONE) {
        mt_rec_note(p->r, MT_NOTE_SIZE_MISMATCH, -1, 0);
        *mt_map_at(&p->ended, i) = at->open;
    }
    *at = (struct place){MT_NONE, MT_NONE};
}

static void pair(struct pairing *p, uint32_t i)
{
    const struct mt_record *rec = &p->r->records.v[i];
    uint32_t place = place_of(p, rec);
    struct place *at = &p->places.v[place];
    if (rec->bytes > 0)
        take_alloc(p, at, i);
    else
        take_death(p, at, i);
}

/* ---- records without an address ---- */

/* Devices where most records have no address know of no lifetimes. True if elsewhere some records
 * have none. */
static bool find_unaddressed(struct mt_recording *r)
{
    struct {
        size_t n, without_n;
    } *of = mt_alloc((r->devices.n + 1) * sizeof *of);
    bool some = false;
    for (size_t i = 0; i < r->records.n; i++) {
        of[r->records.v[i].device].n++;
        of[r->records.v[i].device].without_n += !r->records.v[i].has_addr;
    }
    for (size_t d = 0; d < r->devices.n; d++) {
        r->devices.v[d].no_addresses = of[d].without_n > of[d].n / 2;
        some |= of[d].without_n && !r->devices.v[d].no_addresses;
    }
    free(of);
    return some;
}

/* Takes a record from the note on devices without addresses to that on what was paired by size. */
static void note_by_size(struct mt_recording *r, const struct mt_record *rec)
{
    struct mt_note *from = &r->notes[MT_NOTE_NO_ADDRESS];
    mt_rec_note(r, MT_NOTE_BY_SIZE, from->first_offset, rec->bytes < 0 ? -rec->bytes : rec->bytes);
    from->count--;
}

/* What is left over is paired by size, where at least one of the two has no address. */
static void pair_by_size(struct pairing *p, uint32_t i, struct stacks open[2])
{
    const struct mt_record *rec = &p->r->records.v[i];
    uint32_t ended = mt_map_get(&p->ended, i);
    if (p->r->devices.v[rec->device].no_addresses)
        return;
    if (!rec->has_addr)
        note_by_size(p->r, rec);
    if (ended != MT_NONE)
        *mt_map_at(&p->gone, ended) = 1;
    if (rec->bytes == 0 || rec->mate != MT_NONE)
        return;
    uint64_t key = (uint64_t)space_of(p, rec) << 32 | size_of(p, rec);
    if (rec->bytes > 0) {
        push(&open[rec->has_addr], key, i);
        return;
    }
    uint32_t alloc[2] = {newest(&open[0], key, &p->gone),
                         rec->has_addr ? MT_NONE : newest(&open[1], key, &p->gone)};
    bool with = alloc[0] == MT_NONE || (alloc[1] != MT_NONE && alloc[1] > alloc[0]);
    if (alloc[with] == MT_NONE)
        return;
    join(p->r, alloc[with], i);
    pop(&open[with], key);
}

static void pair_all_by_size(struct pairing *p)
{
    struct stacks open[2] = {0}; /* without and with an address, by space and size */
    for (uint32_t i = 0; i < p->r->records.n; i++)
        pair_by_size(p, i, open);
    free_stacks(&open[0]);
    free_stacks(&open[1]);
}

void mt_build_pairs(struct mt_recording *r)
{
    struct pairing p = {.r = r};
    for (uint32_t i = 0; i < r->records.n; i++)
        if (r->records.v[i].has_addr && r->records.v[i].bytes != 0)
            pair(&p, i);
    if (find_unaddressed(r))
        pair_all_by_size(&p);
    mt_map_free(&p.spaces);
    for (size_t i = 0; i < p.maps.n; i++)
        mt_map_free(&p.maps.v[i]);
    mt_vec_free(&p.maps);
    mt_vec_free(&p.places);
    mt_map_free(&p.ended);
    mt_map_free(&p.gone);
    mt_map_free(&p.sizes);
}
