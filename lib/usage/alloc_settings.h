/*
 * alloc_settings.h - what of PYTORCH_CUDA_ALLOC_CONF shapes an allocation, as a snapshot has it.
 */
#ifndef MT_ALLOC_SETTINGS_H
#define MT_ALLOC_SETTINGS_H

#include "lib/run/runs.h"

enum { MT_ALLOC_INTERVALS = 16 };

struct mt_alloc_settings {
    int64_t max_split_b; /* blocks of that size and more are not split; 0: all may be */
    int64_t spare_b;     /* such a block serves a request if it is less than that larger */
    int64_t large_b;     /* segments for large blocks that are not large enough for their own, and
                            the unit of expandable ones */
    bool expandable;     /* segments are */
    /* Of sizes from 1 MiB << i on: the parts that each power of two has, to whose borders sizes are
     * rounded up; 0 and 1: none. Below 1 MiB the first counts. */
    int64_t divisions[MT_ALLOC_INTERVALS];
};

/* Of a run; PyTorch's defaults for what it does not have. Errors: MT_EDB. */
enum mt_status mt_alloc_settings_load(struct mt_db *db, const struct mt_run *run,
                                      struct mt_alloc_settings *out, struct mt_err *err);

/* The block that is looked for, bytes. Source: round_size() of PyTorch's CUDACachingAllocator. */
int64_t mt_alloc_round(const struct mt_alloc_settings *settings, int64_t size_b);

/* Whether a request is given a free range that is large enough for it. Source: get_free_block(). */
bool mt_alloc_takes(const struct mt_alloc_settings *settings, int64_t block_b, int64_t hole_b);

#endif
