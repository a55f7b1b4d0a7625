/*
 * Pairs frees with allocations: each with the latest one of its size that is open at its address.
 * Addresses are told apart by process and device. Whatever makes up a key is numbered first, so
 * that keys are exact, however wide an address is.
 */
#include "lib/build.h"

#include <stdlib.h>

enum { CLOSED = MT_NONE - 1 }; /* blocks seen before of which none is open now */

/* An address of a process and device. */
struct place {
    uint32_t newest; /* its last allocation, open or not; MT_NONE = none */
    uint32_t open_n; /* allocations open there */
};

struct pairing {
    struct mt_recording *r;
    uint32_t *process;          /* of each thread: a number from 0 */
    struct mt_map spaces;       /* process, device -> number */
    MT_VEC(struct mt_map) maps; /* of each space: address -> place */
    MT_VEC(struct place) places;
    struct mt_map sizes;      /* bytes -> number */
    struct mt_map open;       /* place, size -> the newest open allocation */
    struct mt_map below;      /* allocation -> the next older open one of its place and size */
    MT_VEC(uint32_t) covered; /* allocations at whose place another one came while they were open */
};

static void number_processes(struct pairing *p)
{
    struct mt_strtab known;
    mt_strtab_init(&known);
    p->process = mt_alloc((p->r->threads.n + 1) * sizeof *p->process);
    for (size_t i = 0; i < p->r->threads.n; i++) {
        const struct mt_thread *t = &p->r->threads.v[i];
        const int64_t key[2] = {t->pid_name == MT_NONE ? t->pid : 0, t->pid_name};
        p->process[i] = mt_strtab_add(&known, (const char *)key, sizeof key);
    }
    mt_strtab_free(&known);
}

/* The number of a key: keys are numbered as they come. */
static uint32_t number_of(struct mt_map *map, uint64_t key)
{
    uint32_t *number = mt_map_at(map, key);
    if (*number == MT_NONE)
        *number = (uint32_t)map->n - 1;
    return *number;
}

static uint32_t place_of(struct pairing *p, const struct mt_record *rec)
{
    uint64_t key = (uint64_t)p->process[rec->thread] << 16 | rec->device;
    uint32_t space = number_of(&p->spaces, key);
    if (space == p->maps.n)
        *mt_vec_push(&p->maps) = (struct mt_map){0};
    uint32_t *place = mt_map_at(&p->maps.v[space], rec->addr);
    if (*place == MT_NONE) {
        *place = (uint32_t)p->places.n;
        *mt_vec_push(&p->places) = (struct place){MT_NONE, 0};
    }
    return *place;
}

static void pair_free(struct pairing *p, uint32_t i, uint32_t place, uint32_t *open)
{
    struct mt_record *rec = &p->r->records.v[i];
    if (*open == MT_NONE)
        *open = CLOSED;
    if (*open == CLOSED) {
        if (p->places.v[place].open_n)
            mt_rec_note(p->r, MT_NOTE_SIZE_MISMATCH, -1, 0);
        return;
    }
    p->r->records.v[*open].mate = i;
    rec->mate = *open;
    uint32_t older = mt_map_get(&p->below, *open);
    *open = older == MT_NONE ? CLOSED : older;
    p->places.v[place].open_n--;
}

static void pair_alloc(struct pairing *p, uint32_t i, uint32_t place, uint32_t *open)
{
    struct place *at = &p->places.v[place];
    if (*open != MT_NONE && *open != CLOSED)
        *mt_map_at(&p->below, i) = *open;
    if (at->newest != MT_NONE && p->r->records.v[at->newest].mate == MT_NONE)
        *mt_vec_push(&p->covered) = at->newest;
    *open = at->newest = i;
    at->open_n++;
}

static void pair(struct pairing *p, uint32_t i)
{
    const struct mt_record *rec = &p->r->records.v[i];
    if (!rec->has_addr || rec->bytes == 0)
        return;
    uint32_t place = place_of(p, rec);
    uint32_t size = number_of(&p->sizes, (uint64_t)(rec->bytes < 0 ? -rec->bytes : rec->bytes));
    uint32_t *open = mt_map_at(&p->open, (uint64_t)place << 32 | size);
    if (rec->bytes > 0)
        pair_alloc(p, i, place, open);
    else
        pair_free(p, i, place, open);
}

void mt_build_pairs(struct mt_recording *r)
{
    struct pairing p = {.r = r};
    number_processes(&p);
    for (uint32_t i = 0; i < r->records.n; i++)
        pair(&p, i);
    for (size_t i = 0; i < p.covered.n; i++) {
        const struct mt_record *rec = &r->records.v[p.covered.v[i]];
        if (rec->mate == MT_NONE)
            mt_rec_note(r, MT_NOTE_REUSED_ADDRESS, -1, rec->bytes);
    }
    free(p.process);
    mt_map_free(&p.spaces);
    for (size_t i = 0; i < p.maps.n; i++)
        mt_map_free(&p.maps.v[i]);
    mt_vec_free(&p.maps);
    mt_vec_free(&p.places);
    mt_map_free(&p.sizes);
    mt_map_free(&p.open);
    mt_map_free(&p.below);
    mt_vec_free(&p.covered);
}
