/*
 * older_estimate.h - what a process has that is older than the recording, by its gradients.
 */
#ifndef MT_OLDER_ESTIMATE_H
#define MT_OLDER_ESTIMATE_H

#include "lib/build/assigned.h"
#include "lib/build/gradients.h"
#include "lib/build/optimizers.h"

/* From least to most; most MT_GONE: unknown. */
struct mt_range {
    int64_t least, most;
};
void mt_range_add(struct mt_range *to, struct mt_range more);

/* What one process does on one device. */
struct mt_older_share {
    uint16_t device;
    const uint32_t *records;
    size_t record_n;
    const struct mt_gradient *gradients;
    size_t gradient_n;
    struct mt_backwards passes;
    const struct mt_optimizers *optimizers;
    const struct mt_map *assigned; /* ops: mt_assigned_find */
    int64_t used_ns;               /* when something first computes with parameters */
};

/* What is older: parameters, and what may go with them. */
struct mt_older_kinds {
    struct mt_range sum; /* bytes of all */
    bool state, gradients;
};

/* Whether older blocks are used there, and what they are. There are gradients. */
bool mt_older_estimate(const struct mt_recording *r, const struct mt_older_share *of,
                       struct mt_older_kinds *out);

/* Data, or the building of a model: nothing that is computed, unless it becomes a parameter; and no
 * bucket. */
bool mt_older_is_made(const struct mt_recording *r, const struct mt_older_share *of,
                      const struct mt_record *rec);

static inline int64_t mt_older_death(const struct mt_recording *r, const struct mt_record *rec)
{
    return rec->mate == MT_NONE ? INT64_MAX : r->records.v[rec->mate].t_ns;
}

#endif
