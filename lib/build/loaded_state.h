/*
 * loaded_state.h - an optimizer's state that no step makes, since it was loaded: as
 * optimizer.load_state_dict(torch.load(...)) has it. docs/categories.md, R2.
 */
#ifndef MT_LOADED_STATE_H
#define MT_LOADED_STATE_H

#include "lib/build/left_sizes.h"
#include "lib/build/optimizers.h"

/* A block of the building of a model that no operator made, or one that only moved it. */
struct mt_loaded {
    int64_t bytes;
    uint32_t record;
    uint16_t device;
};

/*
 * Finds as many as these optimizers must have for each gradient of `sizes`, the latest first, and
 * gives them MT_CATEGORY_R2; and as many scalars as there are of these. Does nothing where it is
 * not known how many they must have, or where there are fewer of any size. Sorts `loaded`.
 */
void mt_loaded_state_find(struct mt_recording *r, const struct mt_optimizers *o,
                          const struct mt_left_sizes *sizes, struct mt_loaded *loaded, size_t n);

#endif
