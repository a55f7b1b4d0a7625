/*
 * closures.h - ops of a closure that is handed to an optimizer's step: it computes the loss and
 * goes backward within the step, but is no part of the optimizer (LBFGS; PyTorch Lightning hands
 * one to every optimizer). docs/attribution.md, rule 7, states the rule.
 */
#ifndef MT_CLOSURES_H
#define MT_CLOSURES_H

#include "lib/model/recording.h"

/* When backward ops start, of each process; in order. */
struct mt_closures {
    struct mt_backward_starts {
        MT_VEC(int64_t) all;
    } * of;
    size_t n;
};

/* Of the ops of one thread, asked in order of start; zero-initialise. */
struct mt_closure_walk {
    int64_t start_ns, end_ns; /* the last step of an optimizer that began on the thread */
    int64_t own_ns;           /* until then zero_grad is at work */
    int64_t graph_ns;         /* when the last op that may make a graph began in it */
    size_t backward_n;        /* backward ops by the end of the step before it and those around */
    bool graph;               /* there was one */
};

/* Ops must be sorted by start. */
void mt_closures_find(const struct mt_recording *r, struct mt_closures *c);
void mt_closures_free(struct mt_closures *c);

/* Whether an op of a closure is this, outermost of those under the step. parent: the node around
 * it, NULL: none. Before forward ops are linked, for op->seq must still be there. */
bool mt_closure_has(const struct mt_closures *c, struct mt_closure_walk *w,
                    const struct mt_recording *r, uint32_t thread, const struct mt_op *op,
                    const struct mt_node *parent);

#endif
