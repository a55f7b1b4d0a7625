/*
 * strtab.h - string interning: equal bytes, equal id; ids count up from 0 in order of appearance.
 */
#ifndef MT_STRTAB_H
#define MT_STRTAB_H

#include "lib/base/mem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_strtab {
    struct mt_strtab_entry {
        const char *s; /* NUL-terminated, owned by the table */
        uint32_t n;
    } * v;
    uint32_t n, cap;
    struct mt_strtab_slot { /* open addressing */
        uint32_t hash;      /* a lookup asks this first: entries and texts lie anywhere in memory */
        uint32_t id;        /* + 1; 0 = free */
    } * slot;
    uint32_t slot_n;
    MT_VEC(char *) blocks; /* where the bytes lie */
    size_t block_used, block_size;
    uint64_t seed;
    size_t text_bytes; /* of the blocks */
};

void mt_strtab_init(struct mt_strtab *t);
void mt_strtab_free(struct mt_strtab *t);
/* Frees all but the texts themselves, for who has pointers to them. Ids mean nothing any more. */
void mt_strtab_keep_texts(struct mt_strtab *t);

/* Memory in use, about: for limits. */
static inline uint64_t mt_strtab_bytes(const struct mt_strtab *t)
{
    return t->text_bytes + (uint64_t)t->n * sizeof *t->v + (uint64_t)t->slot_n * sizeof *t->slot;
}
#define MT_STRTAB_MAX ((uint32_t)1 << 30) /* strings; who adds what others wrote keeps below */

/* Id of the n bytes at s (any bytes), added if new. */
uint32_t mt_strtab_add(struct mt_strtab *t, const char *s, size_t n);
/* For who adds many texts, a few at a time: hashes one and has its place fetched into the
 * processor's cache; the other adds it, with that hash. */
uint32_t mt_strtab_soon(const struct mt_strtab *t, const char *s, size_t n);
uint32_t mt_strtab_add_hashed(struct mt_strtab *t, const char *s, size_t n, uint32_t hash);
#define MT_STRTAB_NONE UINT32_MAX
/* Its id; MT_STRTAB_NONE: it is not there. */
uint32_t mt_strtab_find(const struct mt_strtab *t, const char *s, size_t n);
bool mt_strtab_has(const struct mt_strtab *t, const char *s);

static inline const char *mt_strtab_get(const struct mt_strtab *t, uint32_t id)
{
    return t->v[id].s;
}

#endif
