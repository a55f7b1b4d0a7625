/*
 * load.h - the stacks of a run out of the database.
 */
#ifndef MT_EXPORT_LOAD_H
#define MT_EXPORT_LOAD_H

#include "lib/export/stacks.h"
#include "lib/usage/live.h"

/* What is alive at a moment, and the level of the device then. */
struct mt_stacks_alive {
    struct mt_live_set set;
    int64_t level_b;
    bool known;
};

/* Which functions call paths are of; what the others have belongs to the nearest of these around
 * them, or to a root of its own. */
enum mt_stacks_by {
    MT_STACKS_BY_ALL,
    MT_STACKS_BY_OPS, /* and scopes */
    MT_STACKS_BY_MODULES,
    MT_STACKS_BY_LINES, /* functions of Python */
    MT_STACKS_BY_N
};
extern const char *const mt_stacks_by_names[MT_STACKS_BY_N]; /* "all", "ops", "modules", "lines" */

/*
 * Fills empty stacks with what the call paths of a device allocated, and hold at two moments: that
 * asked for, and the end; with what no call path is known of as roots: [outside ops], [before
 * trace]. phases: paths of different phases are kept apart. *less_b: by so much the level is below
 * what is known to be alive, which no stack can say; 0 mostly. Errors: MT_EUSAGE: no call path has
 * such functions; MT_EDB.
 */
enum mt_status mt_stacks_load(struct mt_allocations *blocks, const struct mt_run_device *device,
                              const struct mt_stacks_alive *at, const struct mt_stacks_alive *end,
                              bool phases, enum mt_stacks_by by, struct mt_stacks *out,
                              int64_t *less_b, struct mt_err *err);

#endif
