/*
 * map.h - a hash map from 64-bit keys to 32-bit values, beside each of which there is room for 32
 * more bits: a slot has it anyway.
 */
#ifndef MT_MAP_H
#define MT_MAP_H

#include <stdbool.h>
#include <stdint.h>

#define MT_MAP_NONE UINT32_MAX

struct mt_map {
    struct mt_map_slot {
        uint64_t key;
        uint32_t value;  /* MT_MAP_NONE = free slot */
        uint32_t beside; /* as the caller left it; 0 at first */
    } * slot;
    uint64_t slot_n, n; /* slot_n is a power of two */
    bool near;          /* keys are addresses: what lies together is kept together, for what is used
                           at one time often does. To be set while the map is empty */
};

/* Zero-initialise; free with mt_map_free. */
void mt_map_free(struct mt_map *m);

static inline uint64_t mt_map_bytes(const struct mt_map *m)
{
    return m->slot_n * sizeof *m->slot;
}

/* Where the value of key is kept, added with MT_MAP_NONE if it is new: the caller must then store
 * a value before the next call, and leaves the key. The pointer is valid until the next call. */
struct mt_map_slot *mt_map_slot_at(struct mt_map *m, uint64_t key);
static inline uint32_t *mt_map_at(struct mt_map *m, uint64_t key)
{
    return &mt_map_slot_at(m, key)->value;
}

/* Forgets a key, and returns what it had; the value is MT_MAP_NONE where it is unknown. */
struct mt_map_slot mt_map_slot_take(struct mt_map *m, uint64_t key);
static inline uint32_t mt_map_take(struct mt_map *m, uint64_t key)
{
    return mt_map_slot_take(m, key).value;
}

/* The value of key, MT_MAP_NONE if there is none. */
uint32_t mt_map_get(const struct mt_map *m, uint64_t key);
/* For who knows which keys come: has the place of one fetched into the processor's cache. */
void mt_map_soon(const struct mt_map *m, uint64_t key);

#endif
