#include "lib/usage/buckets.h"

#include "lib/model/knows.h"
#include <stdlib.h>

static int64_t clamp(int64_t v, int64_t least, int64_t most)
{
    return v < least ? least : v > most ? most : v;
}

struct mt_window mt_window_within(const struct mt_window *w, int64_t dur_ns)
{
    return (struct mt_window){clamp(w->from_ns, 0, dur_ns), clamp(w->to_ns, 0, dur_ns)};
}

/* Where bucket k of n begins, without a product that could overflow. */
static int64_t boundary(const struct mt_window *w, uint64_t k, uint64_t n)
{
    uint64_t span = (uint64_t)(w->to_ns - w->from_ns);
    return w->from_ns + (int64_t)(span / n * k + span % n * k / n);
}

/* As many as are asked for, but none shorter than a nanosecond. */
static size_t bucket_n(const struct mt_window *shown, size_t n)
{
    uint64_t span = (uint64_t)(shown->to_ns - shown->from_ns);
    return span >= n ? n : span ? (size_t)span : 1;
}

int64_t *mt_buckets_moments(const struct mt_window *w, const struct mt_window *shown, size_t n,
                            size_t *moment_n)
{
    n = bucket_n(shown, n);
    int64_t *moments = mt_alloc((n + 3) * sizeof *moments);
    moments[0] = w->from_ns;
    moments[1] = w->to_ns;
    for (size_t k = 0; k <= n; k++)
        moments[2 + k] = boundary(shown, k, n);
    *moment_n = n + 3;
    return moments;
}

/* The level that it has from now on. */
static void reach(struct mt_bucket *b, int64_t level, int64_t at)
{
    b->last_b = level;
    if (level == MT_UNKNOWN)
        return;
    b->min_b = level < b->min_b ? level : b->min_b;
    if (level > b->max_b) {
        b->max_b = level;
        b->max_at = at;
    }
}

void mt_buckets_fill(struct mt_buckets *out, const struct mt_levels *l, const struct mt_window *w,
                     const struct mt_window *shown, size_t n)
{
    int64_t at = mt_levels_before(l, w->from_ns), last = mt_levels_before(l, w->to_ns);
    n = bucket_n(shown, n);
    out->all.n = 0;
    for (size_t k = 0; k < n; k++) {
        struct mt_bucket b = {.start_ns = boundary(shown, k, n),
                              .end_ns = boundary(shown, k + 1, n),
                              .min_b = INT64_MAX,
                              .max_b = MT_UNKNOWN,
                              .max_at = at};
        reach(&b, mt_levels_value(l, at), at);
        for (; at < last && (k + 1 == n || l->all.v[at + 1].t_ns < b.end_ns); at++)
            reach(&b, l->all.v[at + 1].level_b, at + 1);
        *mt_vec_push(&out->all) = b;
    }
}

void mt_buckets_know(struct mt_buckets *b, const struct mt_window *known)
{
    for (size_t k = 0; k < b->all.n; k++) {
        struct mt_bucket *one = &b->all.v[k];
        /* The last one has what is at its end, too. */
        const bool before =
            k + 1 < b->all.n ? one->end_ns <= known->from_ns : one->end_ns < known->from_ns;
        if (before || one->start_ns >= known->to_ns) {
            one->min_b = INT64_MAX;
            one->max_b = one->last_b = MT_UNKNOWN;
        }
    }
}

void mt_buckets_free(struct mt_buckets *b)
{
    mt_vec_free(&b->all);
}

const struct mt_bucket *mt_buckets_peak(const struct mt_buckets *b)
{
    const struct mt_bucket *best = b->all.v;
    for (size_t k = 1; k < b->all.n; k++)
        if (b->all.v[k].max_b > best->max_b)
            best = &b->all.v[k];
    return best;
}
