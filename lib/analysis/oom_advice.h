/*
 * oom_advice.h - would an allocation fit into what an allocator holds, and what would make it fit.
 *
 * Sizes follow PyTorch's caching allocator: up to 1 MiB comes from segments of 2 MiB for small
 * blocks, up to 10 MiB from segments of 20 MiB, more from segments of its own in steps of 2 MiB.
 * Expandable segments grow and shrink by whole units (mt_seg_unit).
 */
#ifndef MT_OOM_ADVICE_H
#define MT_OOM_ADVICE_H

#include "lib/usage/segments.h"

enum mt_oom_advice_fits { MT_FITS_NO, MT_FITS_YES, MT_FITS_UNKNOWN };

struct mt_oom_advice {
    const char *remedy; /* static */
    enum mt_oom_advice_fits fits;
    int64_t gives_b; /* bytes it makes available */
    char *why;       /* a sentence; owned */
};

struct mt_oom_advices {
    MT_VEC(struct mt_oom_advice) rows; /* the first is "as it is" */
    const char *verdict;  /* "fits", "does not fit", ...: of what PyTorch does by itself;
                             static */
    int64_t stream;       /* that was asked for, or taken for it */
    bool pool_assumed;    /* the default one, though the stream has others */
    bool several_streams; /* nothing was asked for, and there are others */
};

/* What is asked for, and where. */
struct mt_oom_advice_request {
    int64_t size_b;
    int64_t device_free_b; /* what the driver has left, INT64_MIN unknown */
    int64_t stream;        /* INT64_MIN unknown: that with most bytes in use */
    const char *pool;      /* NULL unknown: the default pool */
    int64_t failed_b;      /* an allocation of so much failed at that moment; 0: none did */
};
void mt_oom_advice(const struct mt_segments *s, const struct mt_oom_advice_request *asked,
                   struct mt_oom_advices *out);
void mt_oom_advices_free(struct mt_oom_advices *f);

#endif
