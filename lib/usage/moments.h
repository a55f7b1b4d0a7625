/*
 * moments.h - what call paths hold over time, of runs that know no single blocks: at the moments of
 * a heap log, at its peak, and where it has no moments at its end.
 */
#ifndef MT_MOMENTS_H
#define MT_MOMENTS_H

#include "lib/usage/live.h"

/* What a path holds differs by so much from the moment before. */
struct mt_moment_change {
    uint32_t moment; /* index in the levels */
    uint32_t node;   /* MT_NONE: no call path */
    int64_t bytes, blocks_n;
};

struct mt_moments {
    struct mt_levels levels; /* of the moments, in order of time; what all paths hold then */
    MT_VEC(struct mt_moment_change) changes; /* by moments, of these by nodes */
    int64_t peak;             /* index of the peak; -1: what paths held then is unknown */
    bool peak_rest_n_unknown; /* in how many blocks was then what no call path is known of */
};

/* All of a device without events, or all but the peak. Times of a run that knows none are
 * MT_UNKNOWN. Free it also on failure. Errors: MT_EDB. */
enum mt_status mt_moments_load(struct mt_allocations *l, const struct mt_run_device *device,
                               bool peak, struct mt_moments *out, struct mt_err *err);
void mt_moments_free(struct mt_moments *m);

/* What paths hold at a moment by its index, -1 = nothing: an entry for each path, as mt_live_at. */
void mt_moments_live(const struct mt_moments *m, const struct mt_run_device *device, int64_t moment,
                     struct mt_live_set *out);

#endif
