/*
 * buckets.h - a curve of any number of changes as a few buckets of equal length, none of its
 * extremes lost: the largest maximum of all buckets is the peak itself.
 */
#ifndef MT_BUCKETS_H
#define MT_BUCKETS_H

#include "lib/usage/levels.h"

struct mt_bucket {
    int64_t start_ns, end_ns; /* changes at end_ns belong to the next bucket, if there is one */
    int64_t min_b, max_b;     /* of what is known; the level it begins with counts as well */
    int64_t last_b;           /* level at its end; MT_UNKNOWN */
    int64_t max_at;           /* index in the levels of the first max_b; -1 = before all */
};

/* Nothing is known of it: min_b is above max_b. */
static inline bool mt_bucket_unknown(const struct mt_bucket *b)
{
    return b->min_b > b->max_b;
}

struct mt_buckets {
    MT_VEC(struct mt_bucket) all;
};

/* The part of a window that lies within a run of that length; open ends become 0 and dur_ns. */
struct mt_window mt_window_within(const struct mt_window *w, int64_t dur_ns);

/*
 * Cuts `shown` (mt_window_within of w) into n buckets, or into as many as it has nanoseconds when
 * these are fewer, at least one. `out` is emptied first.
 */
void mt_buckets_fill(struct mt_buckets *out, const struct mt_levels *l, const struct mt_window *w,
                     const struct mt_window *shown, size_t n);
/* The moments that the same call looks at (mt_levels_load_near); allocated, *moment_n of them. */
int64_t *mt_buckets_moments(const struct mt_window *w, const struct mt_window *shown, size_t n,
                            size_t *moment_n);
/* Buckets that lie outside a window become unknown. */
void mt_buckets_know(struct mt_buckets *b, const struct mt_window *known);
void mt_buckets_free(struct mt_buckets *b);

/* The first bucket with the largest maximum. */
const struct mt_bucket *mt_buckets_peak(const struct mt_buckets *b);

#endif
