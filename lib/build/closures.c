#include "lib/build/closures.h"

#include "lib/base/search.h"
#include "lib/build/phases.h"
#include <stdlib.h>
#include <string.h>

/* ---- when backward ops start ---- */

static int time_cmp(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

void mt_closures_find(const struct mt_recording *r, struct mt_closures *c)
{
    bool *engine = mt_alloc(r->frames.n + 1), any = false;
    *c = (struct mt_closures){.n = r->process_keys.n};
    c->of = mt_alloc((c->n + 1) * sizeof *c->of);
    for (uint32_t i = 0; i < r->frames.n; i++) {
        engine[i] = mt_frame_is_engine(r, i);
        any |= mt_frame_is_optimizer(r, i);
    }
    for (size_t t = 0; t < r->threads.n && any; t++) {
        const struct mt_thread *thread = &r->threads.v[t];
        for (size_t i = 0; i < thread->ops.n; i++)
            if (engine[r->labels.v[thread->ops.v[i].label].frame])
                *mt_vec_push(&c->of[thread->process].all) = thread->ops.v[i].start_ns;
    }
    for (size_t p = 0; p < c->n; p++)
        if (c->of[p].all.n)
            qsort(c->of[p].all.v, c->of[p].all.n, sizeof *c->of[p].all.v, time_cmp);
    free(engine);
}

void mt_closures_free(struct mt_closures *c)
{
    for (size_t p = 0; p < c->n; p++)
        mt_vec_free(&c->of[p].all);
    free(c->of);
    *c = (struct mt_closures){0};
}

/* How many backward ops have started by then. */
static size_t started(const struct mt_backward_starts *b, int64_t t_ns)
{
    return b->all.n ? mt_count_up_to(b->all.v, b->all.n, sizeof *b->all.v, t_ns) : 0;
}

/* ---- ops in order ---- */

/* An optimizer of its own may call another one, and hand it the closure: the innermost step counts,
 * but behind the step before the outermost one. */
static void enter(struct mt_closure_walk *w, const struct mt_recording *r,
                  const struct mt_backward_starts *b, const struct mt_op *op, uint32_t frame)
{
    const char *name = mt_rec_frame_name(r, frame);
    size_t n = w->backward_n;
    if (op->start_ns >= w->end_ns)
        n = w->end_ns ? started(b, w->end_ns) : 0;
    if (mt_frame_is_optimizer(r, frame))
        *w = (struct mt_closure_walk){.start_ns = op->start_ns,
                                      .end_ns = op->end_ns,
                                      .own_ns = op->start_ns,
                                      .backward_n = n};
    else if (strncmp(name, "Optimizer.zero_grad#", strlen("Optimizer.zero_grad#")) == 0)
        w->own_ns = op->end_ns;
}

/* The closure goes backward at its end. Ops that may make a graph are its own, for optimizers work
 * without; and so is what it does without one after the first of these, or where the optimizer has
 * no gradients yet to work with. */
bool mt_closure_has(const struct mt_closures *c, struct mt_closure_walk *w,
                    const struct mt_recording *r, uint32_t thread, const struct mt_op *op,
                    const struct mt_node *parent)
{
    const struct mt_backward_starts *b = &c->of[r->threads.v[thread].process];
    uint32_t frame = r->labels.v[op->label].frame;
    if (!b->all.n)
        return false;
    if (r->frames.v[frame].kind == MT_FRAME_ANNOTATION)
        enter(w, r, b, op, frame);
    if (!parent || parent->phase != MT_PHASE_OPTIMIZER || mt_frame_is_code(r, parent->frame) ||
        r->frames.v[frame].kind != MT_FRAME_OP || op->start_ns >= w->end_ns ||
        op->start_ns < w->own_ns || mt_frame_is_engine(r, frame))
        return false;
    const size_t before = started(b, op->start_ns);
    if (started(b, w->end_ns - 1) == before)
        return false;
    if (op->seq >= 0) {
        w->graph = true;
        w->graph_ns = op->start_ns;
        return true;
    }
    return before == (w->graph ? started(b, w->graph_ns) : w->backward_n);
}
