/*
 * doubt.h - which of the blocks that no record frees may be dead all the same: those of sites (top
 * op in its scope) that lose frees, for a thread that drops one block where the profiler does not
 * look may drop others whose memory was not handed out again.
 *
 * Sizes tell more: threads drop what they are given, and a size of which no block came back may be
 * kept by someone else at the same site. It is in no doubt where so many blocks of it are alive
 * that caches of the C library cannot explain it: more than MT_CACHED, and more than
 * MT_CACHED_TIMES as many as of any size of the site that does come back.
 */
#ifndef MT_DOUBT_H
#define MT_DOUBT_H

#include "lib/usage/live.h"

enum {
    MT_CACHED = 16, /* blocks of a size: glibc keeps seven for each thread that frees them */
    MT_CACHED_TIMES = 2
};

/* Zero-initialised: nothing is in doubt. */
struct mt_doubt {
    const struct mt_tree *tree;
    struct mt_map sites; /* top and scope -> index, of those that lose */
    MT_VEC(struct mt_doubt_site { int64_t most_n; }) /* alive, of a size that comes back */
    by_site;
    struct mt_strtab known; /* site and size -> index */
    MT_VEC(struct mt_doubt_size {
        uint32_t site;
        bool lost;       /* of this size frees were lost */
        int64_t alive_n; /* at the end */
    })
    sizes;
};

/* Of a device; the lives stay open as long. Free *out also on failure. Errors: MT_EDB. */
enum mt_status mt_doubt_load(struct mt_allocations *l, const struct mt_run_device *device,
                             struct mt_doubt *out, struct mt_err *err);
void mt_doubt_free(struct mt_doubt *d);

/* Whether the site of a node (MT_NONE: outside ops) loses frees. */
bool mt_doubt_loses(const struct mt_doubt *d, uint32_t node);

/* Whether blocks of that size, allocated in the recording in that node, may be dead where no record
 * frees them. */
bool mt_doubt_is_on(struct mt_doubt *d, uint32_t node, int64_t bytes);

/* Whether this block may be dead if no record frees it. */
bool mt_doubt_life(struct mt_doubt *d, const struct mt_allocation *life);

#endif
