/*
 * left_sizes.h - how many gradients of each size one backward pass leaves: there are as many
 * parameters of it. For the rules of categories.c and by_frames.c.
 */
#ifndef MT_LEFT_SIZES_H
#define MT_LEFT_SIZES_H

#include "lib/model/recording.h"

/* Of several passes that one counts which leaves most. */
struct mt_left_size {
    int64_t bytes;
    uint32_t n, backward; /* the pass, by number */
    uint16_t device;
    uint32_t state_n; /* of them, such whose state has not been found */
    uint32_t leaf_n;  /* blocks of that size that may be leaves which a program computed */
};

struct mt_left_sizes {
    MT_VEC(struct mt_left_size) all; /* one of each gradient, then of each size */
};

static inline void mt_left_sizes_add(struct mt_left_sizes *s, const struct mt_record *alloc,
                                     uint32_t backward)
{
    *mt_vec_push(&s->all) = (struct mt_left_size){
        .bytes = alloc->bytes, .n = 1, .backward = backward, .device = alloc->device};
}

/* When all gradients are added. */
void mt_left_sizes_count(struct mt_left_sizes *s);

/* Whether there are gradients of that size, taken or not. */
bool mt_left_sizes_has(const struct mt_left_sizes *s, const struct mt_record *alloc);

/* The number of the first backward pass that leaves one of that size; MT_NONE: none does. */
uint32_t mt_left_sizes_first(const struct mt_left_sizes *s, const struct mt_record *alloc);

/* Counts such a block; and takes one of the gradients for it, if they are as many as these. */
void mt_left_sizes_add_leaf(struct mt_left_sizes *s, const struct mt_record *alloc);
bool mt_left_sizes_take_leaf(struct mt_left_sizes *s, const struct mt_record *alloc);

/* Takes one of the gradients of that size, if there is one left: its parameter, or its state. */
bool mt_left_sizes_take(struct mt_left_sizes *s, const struct mt_record *alloc, bool state);

#endif
