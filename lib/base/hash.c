#include "lib/base/hash.h"

#include <stdio.h>
#include <sys/random.h>
#include <xxhash.h>
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h> /* the same functions, with AVX where the machine has it */
#endif

/* struct mt_hash is never defined: it stands for xxHash's own state. */

struct mt_hash *mt_hash_new(void)
{
    XXH3_state_t *x = XXH3_createState();
    if (x)
        XXH3_128bits_reset(x);
    return (struct mt_hash *)x;
}

void mt_hash_add(struct mt_hash *h, const void *bytes, size_t n)
{
    XXH3_128bits_update((XXH3_state_t *)h, bytes, n);
}

void mt_hash_hex(const struct mt_hash *h, char hex[33])
{
    XXH128_canonical_t c;
    XXH128_canonicalFromHash(&c, XXH3_128bits_digest((const XXH3_state_t *)h));
    for (size_t i = 0; i < sizeof c.digest; i++)
        sprintf(hex + 2 * i, "%02x", c.digest[i]);
}

void mt_hash_free(struct mt_hash *h)
{
    XXH3_freeState((XXH3_state_t *)h);
}

uint64_t mt_hash_seed(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) < 0)
        seed = (uint64_t)(uintptr_t)&seed;
    return seed;
}

uint64_t mt_hash_short(uint64_t seed, const void *bytes, size_t n)
{
    return XXH3_64bits_withSeed(bytes, n, seed);
}
