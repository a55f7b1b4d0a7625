/*
 * training_signs.h - where a model is built again, by what was made and freed between two steps of
 * optimizers.
 */
#ifndef MT_TRAINING_SIGNS_H
#define MT_TRAINING_SIGNS_H

#include "lib/base/mem.h"
#include <stdint.h>

/* What a block may be of a new model, by how it was made or freed. */
enum mt_training_part {
    MT_TRAINING_GRADIENT, /* left by a backward pass */
    MT_TRAINING_BUILT,    /* made empty, to be filled; */
    MT_TRAINING_COPIED,   /* or copied: and there when the next optimizer's step has ended */
    MT_TRAINING_STATE,    /* made by that step, and kept */
    MT_TRAINING_GONE,     /* of an older model: it went right behind its gradient; then */
    MT_TRAINING_ZEROED,   /* a gradient that an optimizer's zero_grad frees; then */
    MT_TRAINING_PARTS
};

struct mt_training_sign {
    int64_t t_ns, bytes;
    uint32_t steps; /* of optimizers that began before, without the one that made it */
    uint16_t device;
    uint8_t part;
};

struct mt_training_signs {
    MT_VEC(struct mt_training_sign) all;
};

struct mt_training_starts {
    MT_VEC(int64_t) t_ns; /* in order of time */
};

/* Finds when the building of each model but the first begins: when of each size of the gradients
 * that come before the next step, as many blocks were made since the step before: empty; or copied,
 * if that step makes state for each as well, or as many of the model before are gone. None where
 * zero_grad frees such gradients behind these: the model goes on, with copies beside it. Sorts the
 * signs. */
void mt_training_starts_find(struct mt_training_signs *signs, struct mt_training_starts *out);

#endif
