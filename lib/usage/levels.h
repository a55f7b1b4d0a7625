/*
 * levels.h - how much of a device was allocated after each of its records: the curve behind peaks,
 * windows and timelines.
 */
#ifndef MT_LEVELS_H
#define MT_LEVELS_H

#include "lib/model/curve.h"
#include "lib/run/time_arg.h"

struct mt_levels {
    int64_t start_b; /* before the first */
    MT_VEC(struct mt_level) all;
};

/* The levels of one device, 24 bytes for each of its records that change it. Errors: MT_EDB. */
enum mt_status mt_levels_load(struct mt_db *db, const struct mt_run *run,
                              const struct mt_run_device *device, struct mt_levels *out,
                              struct mt_err *err);
/* The same with the first and the last look at a process, which may change nothing. */
enum mt_status mt_levels_load_looks(struct mt_db *db, const struct mt_run *run,
                                    const struct mt_run_device *device, struct mt_levels *out,
                                    struct mt_err *err);

/*
 * The same with fewer levels, for those who look at some moments only: between two neighbours of
 * these moments (in any order, more than once if need be) the first lowest, the first highest and
 * the last level are always among them, and at each of them the level is exact. So is everything
 * below that is asked for these moments.
 */
enum mt_status mt_levels_load_near(struct mt_db *db, const struct mt_run *run,
                                   const struct mt_run_device *device, const int64_t *moments,
                                   size_t n, struct mt_levels *out, struct mt_err *err);
/* Calls use() for each change of a device's level. Errors: MT_EDB. */
enum mt_status mt_changes_each(struct mt_db *db, const struct mt_run *run,
                               const struct mt_run_device *device, mt_change_use *use,
                               void *closure, struct mt_err *err);

void mt_levels_free(struct mt_levels *l);

/* Index of the last level by t_ns, after all records at that time; -1 = before all. */
int64_t mt_levels_at(const struct mt_levels *l, int64_t t_ns);
/* The same before all records at that time: what a window or a step that begins then starts with,
 * and with what one that ends then ends. */
int64_t mt_levels_before(const struct mt_levels *l, int64_t t_ns);
/* Level after that index, -1 = start_b. */
int64_t mt_levels_value(const struct mt_levels *l, int64_t index);
/* The first index from..to, both included, whose level is largest. */
int64_t mt_levels_peak(const struct mt_levels *l, int64_t from, int64_t to);
/* The index a moment means. */
int64_t mt_levels_of_moment(const struct mt_levels *l, const struct mt_time_arg *m);
/* Time of that index, `otherwise` for -1. */
int64_t mt_levels_time(const struct mt_levels *l, int64_t index, int64_t otherwise);

/* Which node of the call tree (mt_load_nodes' own order) made each record of the run that changes
 * the device; MT_NONE: outside ops, another device's; MT_NODE_UNSEEN: a free that nobody saw.
 * Allocated; 4 bytes per record. */
#define MT_NODE_UNSEEN (UINT32_MAX - 1)
enum mt_status mt_levels_nodes(struct mt_db *db, const struct mt_run *run,
                               const struct mt_run_device *device, uint32_t **out,
                               struct mt_err *err);

#endif
