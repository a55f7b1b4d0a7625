/*
 * phases.h - in which phase of a training loop an op runs: forward, backward, recomputed,
 * optimizer, data loading or other. docs/attribution.md, rule 7, states the rules for users.
 */
#ifndef MT_PHASES_H
#define MT_PHASES_H

#include "lib/model/recording.h"

/* What tells ops of one path and parent apart beside their names: they are nodes of their own. */
enum mt_op_mark {
    MT_MARK_NONE,
    MT_MARK_RECOMPUTED, /* a forward op that runs in a backward op: a checkpoint runs it again */
    MT_MARK_EARLY,      /* copies or fills a tensor before the thread computes: builds a model */
    MT_MARK_CLOSURE,    /* runs in an optimizer's step, in a closure that this was given */
    MT_MARK_N
};

/* Of the ops of one thread, asked in order of start; zero-initialise. */
struct mt_phase_walk {
    bool computes; /* an op that computes has started */
};

/* parent: the node around the op, NULL: none. frame: that of the op. closure: it is of one
 * (closures.h). Before forward ops are linked, for op->seq must still be there. */
enum mt_op_mark mt_op_mark_of(const struct mt_recording *r, struct mt_phase_walk *w,
                              const struct mt_op *op, uint32_t frame, const struct mt_node *parent,
                              bool closure);

/* The phase of a new node, whose frame and module are known. */
enum mt_phase mt_phase_of(const struct mt_recording *r, const struct mt_node *n,
                          const struct mt_node *parent, enum mt_op_mark mark);

/* Whether a frame is a step of an optimizer, as torch.optim names it ("Optimizer.step#Adam.step").
 */
bool mt_frame_is_optimizer(const struct mt_recording *r, uint32_t frame);

/* Whether a frame is autograd's engine running one node of the graph. */
bool mt_frame_is_engine(const struct mt_recording *r, uint32_t frame);

/* Whether a frame is code that runs inside an op, not a scope or a Python function around ops. */
bool mt_frame_is_code(const struct mt_recording *r, uint32_t frame);

#endif
