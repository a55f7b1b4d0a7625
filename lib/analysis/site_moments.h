/*
 * site_moments.h - which sites rise through the later moments of a heap log, or through few dumps
 * of one process.
 */
#ifndef MT_SITE_MOMENTS_H
#define MT_SITE_MOMENTS_H

#include "lib/analysis/trend.h"
#include "lib/usage/live.h"
#include "lib/usage/moments.h"

struct mt_site_trend {
    const char *const *key; /* borrowed from the blocks' tree */
    bool explicit_row;
    enum mt_trend trend;
    bool goes_on;     /* it still rises (mt_trend_goes_on) */
    int64_t grew;     /* over what is judged; MT_UNKNOWN: too few moments are */
    int64_t per_hour; /* MT_UNKNOWN: that, or times are no ns */
    int64_t most_b;   /* at any moment */
};

struct mt_site_moments {
    MT_VEC(struct mt_site_trend) all; /* that hold anything at any moment */
    struct mt_site_trend suppressed;  /* what is left out, together; most_b 0: nothing */
    MT_VEC(uint32_t) patterns;        /* that leave it out, rising */
    bool judged;                      /* there are enough moments */
    bool each; /* they are few dumps of a process (lib/model/series.h): what rises does so from each
                  to the next, else through the later half */
    MT_VEC(uint32_t) of; /* insides: group -> index in all and 1 more, 0 = none */
    struct mt_grouper *grouper;
};

/* Groups are made by keys, borrowed. suppressed: of each node MT_NONE, or it is left out; NULL:
 * none is (mt_suppressions_of_nodes). only: of the same keys, no others are judged; NULL: all are,
 * and what is left out. Free it also on failure. Errors: MT_EDB. */
enum mt_status mt_site_moments_load(struct mt_allocations *blocks,
                                    const struct mt_run_device *device,
                                    const enum mt_group_key *keys, int key_n,
                                    const uint32_t *suppressed, const struct mt_live_groups *only,
                                    struct mt_site_moments *out, struct mt_err *err);
void mt_site_moments_free(struct mt_site_moments *m);

/* NULL: it holds nothing at any moment. */
const struct mt_site_trend *mt_site_moments_find(const struct mt_site_moments *m,
                                                 const char *const *key, bool explicit_row);

#endif
