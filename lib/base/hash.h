/*
 * hash.h - the 128-bit content hash by which an import recognises what it has imported before.
 */
#ifndef MT_HASH_H
#define MT_HASH_H

#include <stddef.h>
#include <stdint.h>

struct mt_hash;

struct mt_hash *mt_hash_new(void); /* NULL when there is no memory */
void mt_hash_add(struct mt_hash *h, const void *bytes, size_t n);
void mt_hash_hex(const struct mt_hash *h, char hex[33]); /* of all bytes so far, as xxh128sum */
void mt_hash_free(struct mt_hash *h);                    /* accepts NULL */

/* Of a few bytes at once, for hash tables. With a random seed no file can be made to collide. */
uint64_t mt_hash_seed(void);
uint64_t mt_hash_short(uint64_t seed, const void *bytes, size_t n);

#endif
