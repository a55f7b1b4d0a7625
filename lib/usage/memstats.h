/*
 * memstats.h - the figures of torch.cuda.memory_stats() as far as a recording holds them, over the
 * whole of it or a window: as if the statistics had been reset when the window begins.
 */
#ifndef MT_MEMSTATS_H
#define MT_MEMSTATS_H

#include "lib/usage/levels.h"

enum mt_memstat {
    MT_STAT_ALLOCATED,      /* rounded sizes, until the program frees (traces: as recorded) */
    MT_STAT_ACTIVE,         /* the same, until no stream uses the block any more */
    MT_STAT_RESERVED,       /* held from the driver */
    MT_STAT_REQUESTED,      /* sizes as asked for */
    MT_STAT_INACTIVE_SPLIT, /* free stretches of segments that are partly in use */
    MT_STAT_RSS,            /* of heap logs: what the process has in memory */
    MT_STAT_N
};
extern const char *const mt_memstat_names[MT_STAT_N];

#define MT_STAT_UNKNOWN INT64_MIN

/* Of one metric: bytes and counts (blocks, segments, stretches). MT_STAT_UNKNOWN where the
 * recording cannot tell. */
struct mt_memstat_row {
    bool known;  /* the recording tells anything of it */
    bool cut;    /* and that it changes after the window */
    bool unseen; /* of reserved: blocks had more at some time, so that changes of it are missing */
    int64_t current_b, peak_b, total_alloc_b, total_freed_b;
    int64_t current_n, peak_n, total_alloc_n, total_freed_n;
};

/*
 * The figures at the end of the window; peaks and totals are of the window, peaks include the level
 * it begins with. What only the end of the recording tells is known where nothing comes after the
 * window. Errors: MT_EDB.
 */
enum mt_status mt_memstats(struct mt_db *db, const struct mt_run *run,
                           const struct mt_run_device *device, const struct mt_window *window,
                           struct mt_memstat_row out[MT_STAT_N], struct mt_err *err);

#endif
