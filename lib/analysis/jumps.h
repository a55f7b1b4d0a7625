/*
 * jumps.h - what stands out in the curve of a process: jumps, after which it never comes back, and
 * spikes, which go as they came.
 */
#ifndef MT_JUMPS_H
#define MT_JUMPS_H

#include "lib/usage/levels.h"

enum mt_jump_kind { MT_JUMP, MT_SPIKE };
struct mt_jump {
    enum mt_jump_kind kind;
    int64_t t_ns;  /* when it rises most; the top of a spike */
    int64_t bytes; /* by how much the least of what follows rises; how far it is above that */
};

struct mt_jumps {
    MT_VEC(struct mt_jump) all; /* in order of time */
};

/*
 * Those of a window of the levels, which are changes, as looks showed them every look_ns. A jump is
 * a rise within a fiftieth of the window, of 1 MiB at least, a twentieth of what is kept in all,
 * and four times what a steady rise would come to; a spike is a tenth of the level at least, 1 MiB,
 * and lasts a twentieth of the window at most.
 */
void mt_jumps_find(const struct mt_levels *l, const struct mt_window *w, double look_ns,
                   struct mt_jumps *out);
void mt_jumps_free(struct mt_jumps *j);

#endif
