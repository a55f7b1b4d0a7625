#include "lib/base/strtab.h"

#include "lib/base/hash.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 1024, LARGEST_BLOCK = 64 * 1024, FIRST_SLOTS = 64 };

void mt_strtab_init(struct mt_strtab *t)
{
    *t = (struct mt_strtab){.slot_n = FIRST_SLOTS};
    t->slot = mt_alloc(FIRST_SLOTS * sizeof *t->slot);
    t->seed = mt_hash_seed();
}

void mt_strtab_free(struct mt_strtab *t)
{
    for (size_t i = 0; i < t->blocks.n; i++)
        free(t->blocks.v[i]);
    mt_vec_free(&t->blocks);
    free(t->v);
    free(t->slot);
    *t = (struct mt_strtab){0};
}

void mt_strtab_keep_texts(struct mt_strtab *t)
{
    free(t->v);
    free(t->slot);
    t->v = NULL;
    t->slot = NULL;
    t->n = t->cap = t->slot_n = 0;
}

static const char *keep(struct mt_strtab *t, const char *s, size_t n)
{
    if (!t->blocks.n || t->block_used + n + 1 > t->block_size) {
        size_t usual = t->blocks.n < 7 ? (size_t)FIRST_BLOCK << t->blocks.n : LARGEST_BLOCK;
        t->block_size = n + 1 > usual ? n + 1 : usual;
        *mt_vec_push(&t->blocks) = mt_alloc(t->block_size);
        t->text_bytes += t->block_size;
        t->block_used = 0;
    }
    char *copy = t->blocks.v[t->blocks.n - 1] + t->block_used;
    memcpy(copy, s, n);
    copy[n] = '\0';
    t->block_used += n + 1;
    return copy;
}

static void grow_slots(struct mt_strtab *t)
{
    const uint32_t old_n = t->slot_n;
    struct mt_strtab_slot *old = t->slot;
    t->slot_n *= 2;
    t->slot = mt_alloc(t->slot_n * sizeof *t->slot);
    for (uint32_t k = 0; k < old_n; k++) {
        if (!old[k].id)
            continue;
        uint32_t i = old[k].hash & (t->slot_n - 1);
        while (t->slot[i].id)
            i = (i + 1) & (t->slot_n - 1);
        t->slot[i] = old[k];
    }
    free(old);
}

static uint32_t hash_of(const struct mt_strtab *t, const char *s, size_t n)
{
    return (uint32_t)mt_hash_short(t->seed, s, n);
}

/* The slot of a string; a free one: it is not there. */
static inline uint32_t slot_of(const struct mt_strtab *t, uint32_t h, const char *s, size_t n)
{
    uint32_t i = h & (t->slot_n - 1);
    for (; t->slot[i].id; i = (i + 1) & (t->slot_n - 1)) {
        if (t->slot[i].hash != h)
            continue;
        const struct mt_strtab_entry *e = &t->v[t->slot[i].id - 1];
        if (e->n == n && memcmp(e->s, s, n) == 0)
            break;
    }
    return i;
}

uint32_t mt_strtab_find(const struct mt_strtab *t, const char *s, size_t n)
{
    return t->slot[slot_of(t, hash_of(t, s, n), s, n)].id - 1;
}

bool mt_strtab_has(const struct mt_strtab *t, const char *s)
{
    return mt_strtab_find(t, s, strlen(s)) != MT_STRTAB_NONE;
}

uint32_t mt_strtab_soon(const struct mt_strtab *t, const char *s, size_t n)
{
    const uint32_t h = hash_of(t, s, n);
    __builtin_prefetch(&t->slot[h & (t->slot_n - 1)]);
    return h;
}

uint32_t mt_strtab_add(struct mt_strtab *t, const char *s, size_t n)
{
    return mt_strtab_add_hashed(t, s, n, hash_of(t, s, n));
}

uint32_t mt_strtab_add_hashed(struct mt_strtab *t, const char *s, size_t n, uint32_t h)
{
    const uint32_t i = slot_of(t, h, s, n);
    if (t->slot[i].id)
        return t->slot[i].id - 1;
    if (t->n == t->cap) {
        t->cap = t->cap ? t->cap * 2 : FIRST_SLOTS / 2;
        t->v = mt_realloc(t->v, t->cap * sizeof *t->v);
    }
    uint32_t id = t->n++;
    t->v[id] = (struct mt_strtab_entry){keep(t, s, n), (uint32_t)n};
    t->slot[i] = (struct mt_strtab_slot){h, id + 1};
    if (t->n > t->slot_n / 4 * 3)
        grow_slots(t);
    return id;
}
