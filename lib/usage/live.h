/*
 * live.h - blocks of memory with where they were allocated: those live at one moment, or the lives
 * of all. The one engine behind peak, leaks and diff.
 */
#ifndef MT_LIVE_H
#define MT_LIVE_H

#include "lib/run/load.h"
#include "lib/usage/levels.h"

/* A block's life. Times relative to the run's start. */
struct mt_allocation {
    struct mt_origin origin;
    int64_t bytes;
    int64_t blocks_n; /* 1; of runs without blocks, of how many this is the sum; MT_UNKNOWN */
    int64_t alloc_ns, alloc_record; /* INT64_MIN: before the recording */
    int64_t freed_ns, freed_record; /* INT64_MAX: alive at the end, or unknown */
    bool unseen;                    /* nobody saw the free; only said by mt_allocations_each */
    bool alloc_unseen;              /* nor, of others, the allocation; the same */
};

/* What reading blocks needs: the run's call tree, threads and steps. */
struct mt_allocations {
    struct mt_db *db;
    const struct mt_run *run;
    struct mt_tree tree;
    struct mt_steps steps;
};
enum mt_status mt_allocations_open(struct mt_db *db, const struct mt_run *run,
                                   struct mt_allocations *out, struct mt_err *err);
/* The same for sites alone: threads are not read. *out is zeroed, or was opened so for another run
 * of the same database, whose texts stay; what groups borrowed is gone. */
enum mt_status mt_allocations_open_sites(struct mt_db *db, const struct mt_run *run,
                                         struct mt_allocations *out, struct mt_err *err);
/* The first, *before zeroed, of runs whose groups share their numbers, or one that takes the call
 * tree of the one before, which has none from then on: what groups borrowed stays. */
enum mt_status mt_allocations_open_after(struct mt_db *db, const struct mt_run *run,
                                         struct mt_allocations *before, struct mt_allocations *out,
                                         struct mt_err *err);
void mt_allocations_close(struct mt_allocations *l);

/* Whether it is known what is alive at the end: allocations and frees are paired. */
bool mt_allocations_are_known(const struct mt_run_device *device);

/* To which group the blocks of changes belong (mt_changes_each), for keys that need no ops. */
struct mt_origin_groups {
    struct mt_grouper *grouper;
    uint32_t *of;     /* by mt_change.origin; MT_NONE = not asked yet */
    size_t n, stride; /* origins: in all, and of one category; the same where none is asked for */
};
void mt_origin_groups_init(struct mt_origin_groups *b, struct mt_grouper *grouper);
void mt_origin_groups_free(struct mt_origin_groups *b);
/* MT_NONE: allocated before the recording. */
uint32_t mt_origin_group(struct mt_origin_groups *b, uint32_t origin);

/* Calls use() for every block of a device, in order of allocation. Its failure ends the walk. */
typedef enum mt_status mt_allocation_use(void *closure, const struct mt_allocation *life,
                                         struct mt_err *err);
enum mt_status mt_allocations_each(struct mt_allocations *l, const struct mt_run_device *device,
                                   mt_allocation_use *use, void *closure, struct mt_err *err);

/* Calls use() for each site (mt_tree_site) and size of blocks of which some were freed where nobody
 * saw it, once or more often. Errors: MT_EDB. */
typedef void mt_loss_use(void *closure, uint64_t site, int64_t bytes);
enum mt_status mt_losses_each(struct mt_allocations *l, const struct mt_run_device *device,
                              mt_loss_use *use, void *closure, struct mt_err *err);

/*
 * The blocks live after a record (its number; -1 = before the first, MT_AT_END): those allocated in
 * the recording in order of allocation, then those older than it. What they do not add up to is
 * level_b minus their sum: blocks older than the recording of which nothing is known, or all when
 * lives are unknown. Where there are no single blocks (lib/run/knows.h), one entry for each call
 * path at the end, or else at the peak. Errors: MT_EDB.
 */
struct mt_live_set {
    MT_VEC(struct mt_allocation) blocks;
    int64_t sum_b;
    const char *rest; /* static: the explicit row of what they do not add up to */
};
enum mt_status mt_live_at(struct mt_allocations *l, const struct mt_run_device *device,
                          int64_t record, struct mt_live_set *out, struct mt_err *err);
void mt_live_set_free(struct mt_live_set *v);

/* What lives at one moment, or at two, in groups. */
struct mt_live_group {
    const char *const *key; /* borrowed from the lives' tree */
    bool explicit_row;
    struct mt_live_total {
        int64_t bytes, blocks_n; /* blocks_n -1: unknown */
        int64_t
            oldest_ns; /* earliest allocation; INT64_MIN: before the recording; INT64_MAX none */
        int64_t largest_b;
    } at[2];
};
struct mt_live_groups {
    struct mt_grouper grouper;
    MT_VEC(struct mt_live_group) rows;
};
void mt_live_groups_init(struct mt_live_groups *g, struct mt_allocations *l,
                         const enum mt_group_key *keys, int key_n);
void mt_live_groups_free(struct mt_live_groups *g);
/* Older than the recording. */
static inline bool mt_allocation_is_older(const struct mt_allocation *life)
{
    return life->alloc_record == INT64_MIN;
}

/* Older than the recording, and nobody knows where it was allocated. */
static inline bool mt_allocation_is_unknown(const struct mt_allocation *life)
{
    return mt_allocation_is_older(life) && life->origin.node == MT_NONE;
}

/* The group of a block: where it was allocated, [before trace] if that is not known. */
uint32_t mt_allocation_group(struct mt_grouper *g, const struct mt_allocation *life);
/* Adds the live set as moment 0 or 1; the sums of a moment then equal level_b. */
void mt_live_groups_add(struct mt_live_groups *g, const struct mt_live_set *v, int64_t level_b,
                        int moment);

#endif
