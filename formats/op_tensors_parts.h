/*
 * op_tensors_parts.h - what op_tensors.c (which ops) and op_made*.c (what each makes) share.
 */
#ifndef MT_OP_TENSORS_PARTS_H
#define MT_OP_TENSORS_PARTS_H

#include "formats/op_inputs.h"

/* What an op may make of its inputs, once. */
enum { MADE_MAX = 8 };
struct mt_making {
    const struct mt_op_inputs *in;
    int64_t extra; /* of the rule: mostly the number of an input */
    int n;
    struct mt_made_tensor {
        struct mt_dims dims;
        enum mt_dtype type;
        int64_t bytes;
    } v[MADE_MAX];
};

/* The input of that number; one of kind MT_INPUT_NONE: there is none. NULL: it is no tensor. */
const struct mt_op_input *mt_making_input(const struct mt_making *m, int64_t i);
const struct mt_op_input *mt_making_tensor(const struct mt_making *m, int64_t i);
/* A list of sizes, none of them negative; false: it is none. */
bool mt_making_sizes(const struct mt_making *m, int64_t i, struct mt_dims *out);
/* The type that stands as a number in an input; `otherwise` where it is not given. */
enum mt_dtype mt_making_type(const struct mt_making *m, int64_t i, enum mt_dtype otherwise);
/* Elements; -1: more than can be counted. */
int64_t mt_dims_count(const struct mt_dims *d);
/* Adds a tensor; none, where the type is unknown or it has no elements. */
void mt_making_add(struct mt_making *m, const struct mt_dims *dims, enum mt_dtype type);

/* ---- op_made.c: memory that is asked for, and element by element ---- */
void mt_make_empty(struct mt_making *m);
void mt_make_strided(struct mt_making *m);
void mt_make_like(struct mt_making *m);
void mt_make_empty_like(struct mt_making *m);
void mt_make_resized(struct mt_making *m);
void mt_make_pointwise(struct mt_making *m);
void mt_make_floating(struct mt_making *m);
void mt_make_compared(struct mt_making *m);
void mt_make_loss(struct mt_making *m);

/* ---- op_made_fewer.c: reductions and choices ---- */
void mt_make_summed(struct mt_making *m);
void mt_make_extreme(struct mt_making *m);
void mt_make_places(struct mt_making *m);
void mt_make_extreme_and_place(struct mt_making *m);
void mt_make_any(struct mt_making *m);
void mt_make_cumulated(struct mt_making *m);
void mt_make_selected(struct mt_making *m);
void mt_make_gathered(struct mt_making *m);
void mt_make_sorted(struct mt_making *m);
void mt_make_top(struct mt_making *m);

/* ---- op_made_layers.c: products, losses, convolutions, recurrent layers ---- */
void mt_make_product(struct mt_making *m);
void mt_make_nll(struct mt_making *m);
void mt_make_convolved(struct mt_making *m);
void mt_make_pooled(struct mt_making *m);
void mt_make_recurrent(struct mt_making *m);
void mt_make_recurrent_back(struct mt_making *m);
void mt_make_convolved_back(struct mt_making *m);

#endif
