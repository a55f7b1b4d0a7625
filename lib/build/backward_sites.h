/*
 * backward_sites.h - the user's line of backward ops, which autograd runs on a thread of its own:
 * that of their forward op. Call paths of one name and of several lines become several: the frame
 * of an engine op has its forward's line as file and its forward's nn.Modules as object.
 */
#ifndef MT_BACKWARD_SITES_H
#define MT_BACKWARD_SITES_H

#include "lib/build/forward.h"

struct mt_backward_sites {
    struct mt_recording *r;
    struct mt_forward_ops *forward; /* NULL: no call path has lines */
    uint32_t *nested;               /* by threads: ops that have their node */
    uint8_t *kinds;                 /* of frames of the recording, as far as looked at */
    size_t kind_n;
    struct mt_map places; /* line and layer -> number */
    struct mt_map frames; /* frame, place -> frame */
    struct mt_map known;  /* frame, node of a forward op -> frame */
};

/* The ops of threads are in order of start, op_base is set. */
void mt_backward_sites_init(struct mt_backward_sites *s, struct mt_recording *r);
void mt_backward_sites_free(struct mt_backward_sites *s);

/* The frame of the next op of a thread, which is `frame` unless it is an engine op whose forward op
 * has its node already. */
uint32_t mt_backward_frame(struct mt_backward_sites *s, uint32_t thread, uint32_t frame);

/* The op asked for last has its node. */
static inline void mt_backward_nested(struct mt_backward_sites *s, uint32_t thread)
{
    if (s->forward)
        s->nested[thread]++;
}

/* Threads in the order in which to nest them: of recordings with lines, those with Python first.
 * Allocated. */
uint32_t *mt_backward_order(const struct mt_backward_sites *s);

#endif
