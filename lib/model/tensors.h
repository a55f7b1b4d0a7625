/*
 * tensors.h - what ops of a trace were called with, and the tensors that blocks were allocated for:
 * docs/tensors.md.
 */
#ifndef MT_TENSORS_H
#define MT_TENSORS_H

#include <stdbool.h>
#include <stdint.h>

struct mt_recording;
struct mt_record;

/* What an op was called with, and makes of it; ops called alike have one. */
struct mt_op_args {
    uint32_t shape;           /* string id: shapes of its inputs as recorded; where none of them is
                                 a tensor, the sizes it is asked for in parentheses instead */
    uint32_t made_at, made_n; /* in made: the tensors whose memory it may allocate itself */
};

struct mt_made {
    int64_t bytes;
    uint32_t tensor; /* string id: "[8, 64] float32" */
    bool stays;      /* the op has buffers of its own too, which it frees before it ends */
};

/* The tensor that an allocation of a built recording is for (string id): that which its op makes of
 * so many bytes, as the allocator of the device rounds them. MT_NONE: unknown. */
uint32_t mt_rec_tensor(const struct mt_recording *r, const struct mt_record *rec);

#endif
