/*
 * counters.h - curves over time, with what happened beside them: what all formats of counters are
 * written from.
 */
#ifndef MT_EXPORT_COUNTERS_H
#define MT_EXPORT_COUNTERS_H

#include "lib/usage/levels.h"

/* Names are valid UTF-8 without control characters. */
struct mt_counter_process {
    int64_t pid;
    char *name;
};

/* By the numbers that Perfetto has for them. */
enum mt_counter_unit { MT_COUNTER_NONE, MT_COUNTER_NS, MT_COUNTER_COUNT, MT_COUNTER_BYTES };

/* One curve. Values of MT_UNKNOWN are none: the recorder did not look. */
struct mt_counter {
    uint32_t process; /* index */
    char *device, *metric;
    enum mt_counter_unit unit;
    bool begins; /* levels.start_b is what there was when the run began, not the first value */
    struct mt_levels levels;
};

struct mt_counter_slice {
    char *name;
    uint32_t lane; /* slices of a lane do not overlap */
    int64_t from_ns, to_ns;
};

struct mt_counter_instant {
    char *name;
    int64_t t_ns, bytes; /* MT_UNKNOWN: of none */
};

/* Times are relative to the run's start. */
struct mt_counters {
    MT_VEC(struct mt_counter_process) processes; /* the first is that of slices and instants */
    MT_VEC(struct mt_counter) all;               /* of a process one after the other */
    MT_VEC(struct mt_counter_slice) slices;      /* steps; by lane, then by time */
    MT_VEC(struct mt_counter_instant) instants;  /* what the program said, out of memory; by time */
    int64_t epoch_ns;                            /* to be added for ns since the Unix epoch, or 0 */
    int64_t source_ns; /* to be added for the clock of the recording's own file */
    uint64_t id;       /* differs from run to run */
    bool named;        /* processes have no names but these: the file stands alone */
};

/*
 * Those of a device of the run, NULL: of all its devices that have any. None: all.n is 0. Free them
 * also on failure. Errors: MT_EDB.
 */
enum mt_status mt_counters_load(struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *device, const struct mt_steps *steps,
                                struct mt_counters *out, struct mt_err *err);
void mt_counters_free(struct mt_counters *c);

#endif
