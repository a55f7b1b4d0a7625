/*
 * places.h - what the call path of an op says of the blocks allocated and freed in it, for the
 * rules of categories.c: computed once per node. docs/categories.md has the terms.
 */
#ifndef MT_PLACES_H
#define MT_PLACES_H

#include "lib/model/recording.h"

/* Where a node is by something of which it may be a part. */
enum mt_where { MT_OUTSIDE_OF, MT_IS_IT, MT_INSIDE_OF };

struct mt_place {
    enum mt_where leaf;     /* by the leaf op, in which blocks count as temporary */
    enum mt_where step;     /* by the optimizer's step, nearest of what tells phases apart */
    bool backward;          /* in an engine op */
    bool recomputed;        /* there, of a forward op that runs again */
    bool zeroes;            /* in an optimizer's zero_grad */
    uint64_t ops;           /* which operators are around it, by number; 0: none */
    uint32_t op;            /* frame of the outermost operator around it; MT_NONE: none */
    bool top;               /* it is that operator; */
    bool computes;          /* and does more than make, copy or fill tensors */
    bool data, maker;       /* data loading; that operator makes a tensor of nothing */
    bool empty;             /* it leaves what it makes to others to fill */
    bool converts, strides; /* it is that operator, aten::to; aten::as_strided */
    bool copies, moves;     /* that operator copies a tensor; to another device or type */
    bool never_parameter;   /* it makes data rather than weights */
    bool gathers;           /* in FSDP's work, which puts parameters together and apart */
};

/* Whether an operator, named without "aten::", makes a tensor of nothing. */
bool mt_op_makes_data(const char *op);

/* One of each node; allocated. */
struct mt_place *mt_places_find(const struct mt_recording *r);

#endif
