/*
 * oom.h - at which times what an allocator holds is worth a look: when it ran out of memory, and
 * when it held the most.
 */
#ifndef MT_OOM_H
#define MT_OOM_H

#include "lib/base/wrap.h"
#include "lib/usage/segments.h"

/* An allocation that failed. INT64_MIN: unknown. */
struct mt_oom {
    int64_t t_ns, asked_b;
    int64_t device_free_b; /* what the driver had left */
    int64_t stream;
    int64_t node; /* the call path that asked: its number in mt_load_nodes' order */
    char *pool;   /* NULL: unknown; owned */
    struct mt_seg_moment at;
};
struct mt_ooms {
    MT_VEC(struct mt_oom) all; /* in order of time */
};

/* Those of a device. Zeroed *out is fine to free, which is due on failure too. Errors: MT_EDB. */
enum mt_status mt_ooms_load(struct mt_db *db, const struct mt_run *run,
                            const struct mt_run_device *device, struct mt_ooms *out,
                            struct mt_err *err);
void mt_ooms_free(struct mt_ooms *v);

/* Of the devices of a run that are asked for (mt_device_is) the one where an allocation failed
 * last; *found false, *out untouched: on none. Errors: MT_EDB. */
enum mt_status mt_oom_device(struct mt_db *db, const struct mt_run *run, const char *asked,
                             struct mt_run_device *out, bool *found, struct mt_err *err);

/* When the allocator held the most from the driver for the first time; *known false: nothing says,
 * as where there is no history, or blocks had more than what is recorded. Errors: MT_EDB. */
enum mt_status mt_reserved_peak(struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *device, struct mt_seg_moment *at,
                                bool *known, struct mt_err *err);

/* Whether what was held before the end is not known: of a snapshot whose blocks had more at some
 * time than peak_b, the most that is recorded as held; and why, in words. Where frees are missing,
 * which the recorder's total shows, blocks count on and may have had less. */
static inline bool mt_reserved_is_unseen(const struct mt_run *run,
                                         const struct mt_run_device *device, int64_t peak_b)
{
    return mt_run_is_snapshot(run) && peak_b < mt_wrap_sub(device->peak_b, device->below_b);
}
#define MT_RESERVED_UNSEEN                                                                         \
    "more was in use at some time than its segments held, so that events of these are missing "    \
    "(skip_actions): what was reserved before the end is not known."

#endif
