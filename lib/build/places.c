#include "lib/build/places.h"

#include "lib/base/hash.h"
#include "lib/build/phases.h"
#include <string.h>

/* Operators that make a tensor of nothing. A star stands for any ending. */
static const char *const makers[] = {
    "rand",          "randn",         "randint", "randperm",   "zeros",      "ones",   "empty",
    "full",          "empty_strided", "arange",  "linspace",   "eye",        "tensor", "normal",
    "scalar_tensor", "from_file",     "new_*",   "lift_fresh", "pin_memory", NULL};
/* What the building of a model does beside. */
static const char *const preparers[] = {"_has_compatible*",
                                        "clone",
                                        "*_like",
                                        "uniform_",
                                        "normal_",
                                        "fill_",
                                        "zero_",
                                        "trunc_normal_",
                                        "mul_",
                                        "erfinv_",
                                        "random_",
                                        "clamp_",
                                        "add_",
                                        "detach",
                                        "detach_",
                                        "to",
                                        "_to_copy",
                                        "copy_",
                                        "view",
                                        "t",
                                        "set_",
                                        NULL};
/* FSDP makes new_zeros for its shards. */
static const char *const unfilled[] = {"empty", "new_zeros", NULL};
static const char *const converters[] = {"to", NULL};
static const char *const striders[] = {"as_strided", NULL};
static const char *const copiers[] = {"clone", NULL};
static const char *const movers[] = {"to", "_to_copy", NULL};
static const char *const of_data[] = {"rand*", "cat", "stack", "arange", "from_file", NULL};

static bool starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool matches(const char *pattern, const char *name)
{
    size_t n = strlen(pattern), m = strlen(name);
    if (*pattern == '*')
        return m >= n - 1 && strcmp(name + m - (n - 1), pattern + 1) == 0;
    return pattern[n - 1] == '*' ? strncmp(pattern, name, n - 1) == 0 : strcmp(pattern, name) == 0;
}

static bool has(const char *const *names, const char *op)
{
    while (*names && !matches(*names, op))
        names++;
    return *names != NULL;
}

bool mt_op_makes_data(const char *op)
{
    return has(makers, op);
}

static bool listed(const char *const *names, const struct mt_recording *r, uint32_t frame)
{
    if (frame == MT_NONE || r->frames.v[frame].kind != MT_FRAME_OP)
        return false;
    const char *op = mt_rec_frame_name(r, frame);
    return starts(op, "aten::") && has(names, op + strlen("aten::"));
}

static enum mt_where below(enum mt_where parent)
{
    return parent == MT_OUTSIDE_OF ? MT_OUTSIDE_OF : MT_INSIDE_OF;
}

/* What the nearest mark on the path says. */
static void enter(const struct mt_recording *r, const struct mt_node *n, struct mt_place *p)
{
    bool annotation = r->frames.v[n->frame].kind == MT_FRAME_ANNOTATION;
    if (mt_frame_is_engine(r, n->frame)) {
        p->backward = true;
        p->recomputed = p->zeroes = false;
        p->leaf = p->step = MT_OUTSIDE_OF;
    } else if (annotation && starts(mt_rec_frame_name(r, n->frame), "FSDP::")) {
        p->gathers = true; /* the last of these runs when the pass is over: */
        p->backward |= starts(mt_rec_frame_name(r, n->frame), "FSDP::post_backward");
    } else if (annotation && starts(mt_rec_frame_name(r, n->frame), "Optimizer.")) {
        p->zeroes = starts(mt_rec_frame_name(r, n->frame), "Optimizer.zero_grad#");
        p->step = mt_frame_is_optimizer(r, n->frame) ? MT_IS_IT : MT_OUTSIDE_OF;
        p->backward = p->recomputed = false;
    } else if (n->phase == MT_PHASE_RECOMPUTED && !p->recomputed) {
        p->recomputed = true;
        p->leaf = MT_IS_IT;
    } else if (p->step == MT_INSIDE_OF && n->phase != MT_PHASE_OPTIMIZER) { /* of a closure */
        p->step = MT_OUTSIDE_OF;
        p->leaf = MT_IS_IT;
    } else if (p->leaf == MT_OUTSIDE_OF && r->frames.v[n->frame].kind == MT_FRAME_OP) {
        p->leaf = MT_IS_IT;
    }
}

/* The outermost operator of what runs there: unlike the top of a node, it is the same whether
 * Python frames and annotations are recorded or not. */
static void enter_op(const struct mt_recording *r, const struct mt_node *n, struct mt_place *p)
{
    bool again = n->phase == MT_PHASE_RECOMPUTED && p->leaf == MT_IS_IT;
    p->top = r->frames.v[n->frame].kind == MT_FRAME_OP &&
             (p->op == MT_NONE || again || mt_frame_is_engine(r, n->frame));
    if (p->top)
        p->op = n->frame;
    else if (p->step == MT_IS_IT)
        p->op = MT_NONE;
    if (r->frames.v[n->frame].kind == MT_FRAME_OP)
        p->ops = mt_hash_short(p->ops, &r->frames.v[n->frame].name, sizeof r->frames.v->name);
}

static void describe_top(const struct mt_recording *r, const struct mt_node *n, struct mt_place *p)
{
    p->data = n->phase == MT_PHASE_DATA;
    p->maker = listed(makers, r, p->op);
    p->empty = listed(unfilled, r, p->op);
    p->converts = p->top && listed(converters, r, p->op);
    p->strides = p->top && listed(striders, r, p->op);
    p->copies = listed(copiers, r, p->op);
    p->moves = listed(movers, r, p->op);
    p->never_parameter = listed(of_data, r, p->op);
    p->computes = p->top && !p->maker && !listed(preparers, r, n->frame);
}

struct mt_place *mt_places_find(const struct mt_recording *r)
{
    struct mt_place *all = mt_alloc((r->nodes.n + 1) * sizeof *all);
    for (size_t i = 0; i < r->nodes.n; i++) {
        const struct mt_node *n = &r->nodes.v[i];
        struct mt_place p = {.op = MT_NONE};
        if (n->parent != MT_NONE) {
            p = all[n->parent];
            p.leaf = below(p.leaf);
            p.step = below(p.step);
        }
        enter(r, n, &p);
        enter_op(r, n, &p);
        describe_top(r, n, &p);
        all[i] = p;
    }
    return all;
}
