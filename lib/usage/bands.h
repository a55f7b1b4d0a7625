/*
 * bands.h - what the buckets of a curve consist of: per bucket, at the moment of its maximum, the
 * live bytes by where they were allocated. The bands of a bucket add up to its max_b exactly.
 */
#ifndef MT_BANDS_H
#define MT_BANDS_H

#include "lib/usage/buckets.h"
#include "lib/usage/moments.h"

struct mt_band {
    const char
        *key[MT_BY_N]; /* by position of the keys; borrowed from the lives' tree, or static */
    bool explicit_row; /* [other], [before trace], [outside ops] */
    int64_t at_peak_b; /* at the first bucket with the largest maximum */
    int64_t *bytes;    /* one per bucket; only [before trace] may be below 0, in damaged runs */
};

struct mt_bands {
    MT_VEC(struct mt_band) all;
    size_t bucket_n;
    int key_n;
    bool before; /* the last band is [before trace] */
    bool other;  /* the last of those before it is [other] */
};

/*
 * The `top` groups heaviest at the peak of the buckets, heaviest first, one band each; then [other]
 * and [before trace] where these have anything.
 * Memory: 8 bytes per bucket and band, 24 per block that is live at a maximum, or
 * per group and bucket where the keys need no ops. moments: of a device without events, whose
 * levels are then these; else NULL. Errors: MT_EUSAGE (mt_knows), MT_EDB.
 */
enum mt_status mt_bands_load(struct mt_allocations *lives, const struct mt_run_device *device,
                             const struct mt_levels *levels, const struct mt_moments *moments,
                             const struct mt_buckets *buckets, const enum mt_group_key *keys,
                             int key_n, size_t top, struct mt_bands *out, struct mt_err *err);
/* The same with the groups that are heaviest in all buckets together, at the peak or not. */
enum mt_status mt_bands_load_ever(struct mt_allocations *lives, const struct mt_run_device *device,
                                  const struct mt_levels *levels, const struct mt_moments *moments,
                                  const struct mt_buckets *buckets, const enum mt_group_key *keys,
                                  int key_n, size_t top, struct mt_bands *out, struct mt_err *err);
void mt_bands_free(struct mt_bands *b);

/* The numbers of all bands in the order in which they are stacked, from the bottom: [before trace],
 * then what is steady, then what varies, so that it sways nothing but itself and growth is seen.
 * A band varies by all its changes from bucket to bucket, compared with its mean; of those that
 * vary alike the heavier comes first. order: room for all.n. */
void mt_bands_stack(const struct mt_bands *b, size_t *order);

#endif
