/*
 * loaded_state.h - an optimizer's state that no step makes, since it was loaded: as
 * optimizer.load_state_dict(torch.load(...)) has it. docs/categories.md, R2.
 */
#ifndef MT_LOADED_STATE_H
#define MT_LOADED_STATE_H

#include "lib/build/left_sizes.h"
#include "lib/build/optimizers.h"

/* What a block is that is there throughout a step of an optimizer. */
enum mt_loaded_kind {
    MT_LOADED_STATE, /* known as state: a step made it, or it was found */
    MT_LOADED_MAYBE, /* no operator made it, or one that only moved it */
    MT_LOADED_OTHER, /* of the building of a model: a parameter may be that */
};

struct mt_loaded {
    int64_t bytes;
    uint32_t record;
    uint16_t device;
    uint8_t kind;
};

/*
 * Finds what lacks of the state that these optimizers must have for each gradient of `sizes`, the
 * latest first, and gives it MT_CATEGORY_R2; and as many scalars as lack. The first record of
 * these; MT_NONE: none. Finds none where it is not known how much they must have, or where there is
 * too little of any size; nor, where some state is known, if no parameter would be left beside it,
 * or a checkpoint of the model that is kept would look the same. Sorts `loaded`.
 */
uint32_t mt_loaded_state_find(struct mt_recording *r, const struct mt_optimizers *o,
                              const struct mt_left_sizes *sizes, struct mt_loaded *loaded,
                              size_t n);

#endif
