/*
 * map.h - a hash map from 64-bit keys to 32-bit values.
 */
#ifndef MT_MAP_H
#define MT_MAP_H

#include <stdbool.h>
#include <stdint.h>

#define MT_MAP_NONE UINT32_MAX

struct mt_map {
    struct mt_map_slot {
        uint64_t key;
        uint32_t value; /* MT_MAP_NONE = free slot */
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
 * a value before the next call. The pointer is valid until the next call. */
uint32_t *mt_map_at(struct mt_map *m, uint64_t key);

/* Forgets a key, and returns its value; MT_MAP_NONE where it is unknown. */
uint32_t mt_map_take(struct mt_map *m, uint64_t key);

/* The value of key, MT_MAP_NONE if there is none. */
uint32_t mt_map_get(const struct mt_map *m, uint64_t key);

#endif
