/* Nests the ops of each thread and merges their paths into the call tree. */
#include "lib/base/sort.h"
#include "lib/build/backward_sites.h"
#include "lib/build/build.h"
#include "lib/build/closures.h"
#include "lib/build/phases.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int op_cmp(const void *a, const void *b)
{
    const struct mt_op *x = a, *y = b;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1; /* the longer one is the parent */
    return x->order < y->order ? -1 : x->order > y->order;
}

struct open_op {
    uint32_t op; /* index in the thread */
    int64_t end_ns;
};

struct open_ops {
    MT_VEC(struct open_op) all; /* outermost first */
};

/* Derives what the frames of the path say of a new node. */
static void describe(const struct mt_recording *r, struct mt_node *n, enum mt_op_mark mark)
{
    const struct mt_node *parent = n->parent == MT_NONE ? NULL : &r->nodes.v[n->parent];
    const struct mt_frame *f = &r->frames.v[n->frame];
    n->top = n->frame;
    n->scope = parent ? parent->scope : MT_NONE;
    n->module = parent ? parent->module : MT_NONE;
    /* Autograd calls nodes of its graph and what a checkpoint runs again: tops of their own. */
    bool own_top = mark == MT_MARK_RECOMPUTED || mt_frame_is_engine(r, n->frame);
    if (parent && !own_top && mt_frame_is_code(r, n->frame) && mt_frame_is_code(r, parent->top))
        n->top = parent->top;
    if (f->kind == MT_FRAME_ANNOTATION &&
        strcmp(mt_strtab_get(&r->strings, f->name), "ProfilerStep*") != 0)
        n->scope = n->frame;
    if (f->kind == MT_FRAME_PYTHON && f->instance >= 0)
        n->module = n->frame;
    n->phase = (uint8_t)mt_phase_of(r, n, parent, mark);
}

/* nodes: those of each mark. */
static uint32_t node_of(struct mt_recording *r, struct mt_map nodes[MT_MARK_N], uint32_t parent,
                        uint32_t frame, enum mt_op_mark mark)
{
    uint32_t *node = mt_map_at(&nodes[mark], (uint64_t)(parent + 1u) << 32 | frame);
    if (*node == MT_NONE) {
        *node = (uint32_t)r->nodes.n;
        *mt_vec_push(&r->nodes) = (struct mt_node){.parent = parent, .frame = frame};
        describe(r, &r->nodes.v[*node], mark);
    }
    return *node;
}

static uint8_t kind_of(const struct mt_recording *r, const struct mt_op *op)
{
    return r->frames.v[r->labels.v[op->label].frame].kind;
}

/* Takes back from an open op and its path what lies behind its new, earlier end. */
static void end_early(struct mt_recording *r, const struct mt_thread *t, const struct open_op *o,
                      int64_t end_ns)
{
    const struct mt_op *op = &t->ops.v[o->op];
    int64_t rest = o->end_ns - end_ns;
    r->nodes.v[op->node].time_ns -= rest;
    r->nodes.v[op->node].self_time_ns -= rest;
    if (op->parent != MT_NONE)
        r->nodes.v[t->ops.v[op->parent - t->op_base].node].self_time_ns += rest;
}

/* What a scope may be entered and left in: calls in Python, of __enter__ and __exit__, and what a
 * mode of dispatch, such as FlopCounterMode, sees of them. */
static bool passes_scopes(const struct mt_recording *r, const struct mt_op *op)
{
    const struct mt_frame *f = &r->frames.v[r->labels.v[op->label].frame];
    return f->kind == MT_FRAME_PYTHON ||
           strcmp(mt_strtab_get(&r->strings, f->name), "PythonDispatchMode") == 0;
}

/* A scope is entered in a call of its own, and lasts longer than that: the calls that it outlives
 * are not around it, they end where it begins. */
static void leave_frames(struct mt_recording *r, const struct mt_thread *t, struct open_ops *stack,
                         const struct mt_op *op)
{
    if (kind_of(r, op) != MT_FRAME_ANNOTATION)
        return;
    for (; stack->all.n; stack->all.n--) {
        const struct open_op *top = &stack->all.v[stack->all.n - 1];
        if (top->end_ns >= op->end_ns || !passes_scopes(r, &t->ops.v[top->op]))
            return;
        end_early(r, t, top, op->start_ns);
    }
}

/* Whether an op that is cut is worth a note: not when it lies within what its parent was before
 * that was cut itself, nor the call in which a scope is left, which ends a little later than the
 * scope. */
static bool is_odd(const struct mt_recording *r, const struct mt_op *op, const struct mt_op *around)
{
    return op->end_ns > around->end_ns &&
           !(passes_scopes(r, op) && kind_of(r, around) == MT_FRAME_ANNOTATION);
}

static void nest_thread(struct mt_recording *r, uint32_t thread, struct mt_backward_sites *backward,
                        const struct mt_closures *closures, struct mt_map nodes[MT_MARK_N])
{
    struct mt_thread *t = &r->threads.v[thread];
    struct open_ops stack = {0};
    struct mt_phase_walk phases = {0};
    struct mt_closure_walk steps = {0};
    for (uint32_t i = 0; i < t->ops.n; i++) {
        struct mt_op *op = &t->ops.v[i];
        while (stack.all.n && stack.all.v[stack.all.n - 1].end_ns <= op->start_ns)
            stack.all.n--;
        leave_frames(r, t, &stack, op);
        int64_t end = op->end_ns;
        uint32_t parent_node = MT_NONE;
        op->parent = MT_NONE;
        if (stack.all.n) {
            const struct open_op *top = &stack.all.v[stack.all.n - 1];
            if (end > top->end_ns) {
                if (is_odd(r, op, &t->ops.v[top->op]))
                    mt_rec_note(r, MT_NOTE_OVERLAP, -1, 0);
                end = top->end_ns;
            }
            op->parent = t->op_base + top->op;
            assert(top->op < i);
            parent_node = t->ops.v[top->op].node;
            r->nodes.v[parent_node].self_time_ns -= end - op->start_ns;
        }
        uint32_t frame = mt_backward_frame(backward, thread, r->labels.v[op->label].frame);
        const struct mt_node *around = parent_node == MT_NONE ? NULL : &r->nodes.v[parent_node];
        bool closure = mt_closure_has(closures, &steps, r, thread, op, around);
        enum mt_op_mark mark = mt_op_mark_of(r, &phases, op, frame, around, closure);
        op->node = node_of(r, nodes, parent_node, frame, mark);
        struct mt_node *node = &r->nodes.v[op->node];
        node->calls_n++;
        node->time_ns += end - op->start_ns;
        node->self_time_ns += end - op->start_ns;
        mt_backward_nested(backward, thread);
        *mt_vec_push(&stack.all) = (struct open_op){i, end};
        if (op->end_ns > r->end_ns)
            r->end_ns = op->end_ns;
    }
    if (t->ops.n && t->ops.v[0].start_ns < r->start_ns)
        r->start_ns = t->ops.v[0].start_ns;
    mt_vec_free(&stack.all);
}

/* Recordings that have their nodes: first and last moment of their ops. */
static void find_span(struct mt_recording *r)
{
    r->start_ns = INT64_MAX;
    r->end_ns = INT64_MIN;
    for (size_t t = 0; t < r->threads.n; t++)
        for (size_t i = 0; i < r->threads.v[t].ops.n; i++) {
            const struct mt_op *op = &r->threads.v[t].ops.v[i];
            r->start_ns = op->start_ns < r->start_ns ? op->start_ns : r->start_ns;
            r->end_ns = op->end_ns > r->end_ns ? op->end_ns : r->end_ns;
        }
}

void mt_build_calltree(struct mt_recording *r)
{
    if (r->without_ops) {
        find_span(r);
        return;
    }
    struct mt_map nodes[MT_MARK_N] = {0};
    struct mt_backward_sites backward;
    struct mt_closures closures;
    uint32_t base = 0;
    r->start_ns = INT64_MAX;
    r->end_ns = INT64_MIN;
    for (size_t i = 0; i < r->threads.n; i++) {
        struct mt_thread *t = &r->threads.v[i];
        t->op_base = base;
        base += (uint32_t)t->ops.n;
        mt_sort_by_time(t->ops.v, t->ops.n, sizeof *t->ops.v, op_cmp);
    }
    mt_backward_sites_init(&backward, r);
    mt_closures_find(r, &closures);
    uint32_t *order = mt_backward_order(&backward);
    for (size_t i = 0; i < r->threads.n; i++)
        nest_thread(r, order[i], &backward, &closures, nodes);
    free(order);
    mt_closures_free(&closures);
    mt_backward_sites_free(&backward);
    for (int i = 0; i < MT_MARK_N; i++)
        mt_map_free(&nodes[i]);
}
