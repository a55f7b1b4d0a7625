#include "lib/base/map.h"

#include "lib/base/mem.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64 };

static inline uint64_t mix(uint64_t k)
{
    k = (k ^ k >> 32) * 0x9e3779b97f4a7c15u; /* 2^64 over the golden ratio */
    return k ^ k >> 32;
}

/* Where a key stands if the place is free. Of addresses, 128 bytes share eight slots, and begin in
 * any of these: many are of whole pages. */
static inline uint64_t home_of(const struct mt_map *m, uint64_t key)
{
    uint64_t i = mix(m->near ? key >> 7 : key);
    i = m->near ? (i << 3 | i >> 61) ^ (key >> 4 & 7) : i;
    return i & (m->slot_n - 1);
}

static inline struct mt_map_slot *find(const struct mt_map *m, uint64_t key)
{
    uint64_t i = home_of(m, key);
    while (m->slot[i].value != MT_MAP_NONE && m->slot[i].key != key)
        i = (i + 1) & (m->slot_n - 1);
    return &m->slot[i];
}

static void resize(struct mt_map *m, uint64_t slot_n)
{
    struct mt_map old = *m;
    m->slot_n = slot_n;
    m->slot = mt_alloc(slot_n * sizeof *m->slot);
    memset(m->slot, 0xff, slot_n * sizeof *m->slot);
    for (uint64_t i = 0; i < old.slot_n; i++)
        if (old.slot[i].value != MT_MAP_NONE)
            *find(m, old.slot[i].key) = old.slot[i];
    free(old.slot);
}

void mt_map_free(struct mt_map *m)
{
    free(m->slot);
    *m = (struct mt_map){0};
}

struct mt_map_slot *mt_map_slot_at(struct mt_map *m, uint64_t key)
{
    if ((m->n + 1) * 2 > m->slot_n)
        resize(m, m->slot_n ? m->slot_n * 2 : FIRST_SLOTS);
    struct mt_map_slot *s = find(m, key);
    if (s->value == MT_MAP_NONE) {
        *s = (struct mt_map_slot){key, MT_MAP_NONE, 0};
        m->n++;
    }
    return s;
}

/* What stands behind the gap moves into it, unless it would then stand before its place. */
static void close_gap(struct mt_map *m, uint64_t gap)
{
    const uint64_t mask = m->slot_n - 1;
    for (uint64_t i = (gap + 1) & mask; m->slot[i].value != MT_MAP_NONE; i = (i + 1) & mask) {
        uint64_t home = home_of(m, m->slot[i].key);
        if (((i - home) & mask) < ((i - gap) & mask))
            continue;
        m->slot[gap] = m->slot[i];
        gap = i;
    }
    m->slot[gap] = (struct mt_map_slot){UINT64_MAX, MT_MAP_NONE, 0};
    m->n--;
}

struct mt_map_slot mt_map_slot_take(struct mt_map *m, uint64_t key)
{
    if (!m->slot_n)
        return (struct mt_map_slot){key, MT_MAP_NONE, 0};
    struct mt_map_slot *s = find(m, key), was = *s;
    if (was.value != MT_MAP_NONE)
        close_gap(m, (uint64_t)(s - m->slot));
    return was;
}

uint32_t mt_map_get(const struct mt_map *m, uint64_t key)
{
    return m->slot_n ? find(m, key)->value : MT_MAP_NONE;
}

void mt_map_soon(const struct mt_map *m, uint64_t key)
{
    if (m->slot_n)
        __builtin_prefetch(&m->slot[home_of(m, key)]);
}
