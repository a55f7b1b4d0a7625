/*
 * snapshot_regions.h - annotations (record_function regions) of a snapshot: which are open at a
 * moment, per device, and as timed ops of the recording, from which steps are found.
 *
 * A snapshot does not say which thread a region is of. Regions that lie in each other nest; one
 * that begins in another and outlives it is of another thread: it goes to a lane of its own, which
 * is a thread of the recording, and is not below the other.
 */
#ifndef MT_SNAPSHOT_REGIONS_H
#define MT_SNAPSHOT_REGIONS_H

#include "formats/snapshot_objects.h"

/* A region begins or ends. */
struct mt_snap_mark {
    int64_t t_ns;
    int64_t due_ns;  /* events of this time and later come behind it */
    uint32_t name;   /* string of the pickle */
    uint32_t mate;   /* its other half, MT_NONE = none */
    uint32_t number; /* of beginnings, how many came before; while they are paired, the one open
                        below it + 1 */
    bool start;
};
struct mt_snap_marks {
    MT_VEC(struct mt_snap_mark) all; /* in order of time */
    size_t at;                       /* the next one */
};

/* Finds the mates: an end is that of the region of its name that began last and is still open. And
 * when marks are due: regions begin before the events of their microsecond and end behind them,
 * unless another region begins behind that end in the same one, which has them then. */
void mt_snap_marks_pair(struct mt_snap_marks *m);

struct mt_snap_regions {
    MT_VEC(struct mt_snap_lane {
        uint32_t thread; /* of the recording */
        MT_VEC(struct mt_snap_region {
            uint32_t number;
            uint32_t op; /* of the thread */
            uint32_t node;
            int64_t end_ns; /* INT64_MAX: it never ends */
        })
        open; /* outermost first */
    })
    lanes;
    uint32_t begun_n;
    uint32_t node; /* of the region that began last and is open; MT_NONE = none */
};

/* Does the next mark; its time may differ from that of the moment (a clock that steps back). An end
 * without a beginning is counted in MT_NOTE_UNMATCHED_BE. */
void mt_snap_region_mark(struct mt_snap_regions *g, struct mt_snap_marks *marks,
                         struct mt_snap_paths *paths, struct mt_recording *rec,
                         const struct mt_strtab *strings);

/* Ends what is still open. */
void mt_snap_regions_end(struct mt_snap_regions *g, struct mt_recording *rec, int64_t t_ns);

#endif
