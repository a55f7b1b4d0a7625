/*
 * above.h - the nearest op of some kind around another one, in trees of any depth.
 */
#ifndef MT_ABOVE_H
#define MT_ABOVE_H

#include "lib/base/map.h"
#include "lib/model/recording.h"

/* Set fits and of, all else zeroed; free with mt_above_free. What fits must not change. */
struct mt_above {
    bool (*fits)(const void *of, const struct mt_op *op);
    const void *of;
    struct mt_map found; /* of some ops that long ways led past */
};

/* The number of the op itself if it fits, else of the nearest that does; MT_NONE: none, or op is.
 */
uint32_t mt_above(struct mt_above *a, const struct mt_thread *t, uint32_t op);
void mt_above_free(struct mt_above *a);

#endif
