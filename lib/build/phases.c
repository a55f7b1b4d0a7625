/* Tells the phase of a node from names, sequence numbers and what ran before. */
#include "lib/build/phases.h"

#include <string.h>

/* Operators that make a tensor of nothing: data, masks, weights. A star stands for any ending. */
static const char *const makers[] = {
    "arange",   "empty", "empty_strided", "eye",           "from_file", "full",       "lift_fresh",
    "linspace", "new_*", "normal",        "ones",          "ones_like", "pin_memory", "rand",
    "randint",  "randn", "randperm",      "scalar_tensor", "tensor",    "zeros",      NULL};

/* Operators that fill, copy or look at a tensor, as the building of a model does before anything is
 * computed with it. */
static const char *const preparers[] = {
    "_has_compatible*", "_to_copy",     "add_",       "clamp_",  "clone",      "copy_", "detach",
    "detach_",          "empty_like",   "erfinv_",    "fill_",   "full_like",  "mul_",  "normal_",
    "rand_like",        "randint_like", "randn_like", "random_", "set_",       "t",     "to",
    "trunc_normal_",    "uniform_",     "view",       "zero_",   "zeros_like", NULL};

static bool starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool listed(const char *const *names, const char *op)
{
    if (!starts(op, "aten::"))
        return false;
    op += strlen("aten::");
    for (; *names; names++) {
        size_t n = strlen(*names);
        if ((*names)[n - 1] == '*' ? !strncmp(op, *names, n - 1) : !strcmp(op, *names))
            return true;
    }
    return false;
}

bool mt_frame_is_code(const struct mt_recording *r, uint32_t frame)
{
    uint8_t kind = r->frames.v[frame].kind;
    return kind == MT_FRAME_OP || kind == MT_FRAME_RUNTIME || kind == MT_FRAME_OTHER;
}

bool mt_frame_is_engine(const struct mt_recording *r, uint32_t frame)
{
    return r->frames.v[frame].kind == MT_FRAME_OP &&
           starts(mt_rec_frame_name(r, frame), "autograd::engine::evaluate_function: ");
}

enum mt_op_mark mt_op_mark_of(const struct mt_recording *r, struct mt_phase_walk *w,
                              const struct mt_op *op, uint32_t frame, const struct mt_node *parent,
                              bool closure)
{
    if (r->frames.v[frame].kind != MT_FRAME_OP)
        return MT_MARK_NONE;
    if (parent && parent->phase == MT_PHASE_BACKWARD && op->seq >= 0 && !op->fwd_thread &&
        !mt_frame_is_engine(r, frame))
        return MT_MARK_RECOMPUTED;
    w->computes |= closure;
    if (closure)
        return MT_MARK_CLOSURE;
    if (w->computes || (parent && mt_frame_is_code(r, parent->frame)))
        return MT_MARK_NONE;
    bool early = listed(preparers, mt_rec_frame_name(r, frame));
    w->computes = !early && !listed(makers, mt_rec_frame_name(r, frame));
    return early ? MT_MARK_EARLY : MT_MARK_NONE;
}

bool mt_frame_is_optimizer(const struct mt_recording *r, uint32_t frame)
{
    return r->frames.v[frame].kind == MT_FRAME_ANNOTATION &&
           starts(mt_rec_frame_name(r, frame), MT_STEPS_OF_OPTIMIZERS);
}

enum mt_phase mt_phase_of(const struct mt_recording *r, const struct mt_node *n,
                          const struct mt_node *parent, enum mt_op_mark mark)
{
    uint8_t kind = r->frames.v[n->frame].kind;
    enum mt_phase around = parent ? parent->phase : MT_PHASE_OTHER;
    if (mt_frame_is_engine(r, n->frame))
        return MT_PHASE_BACKWARD;
    if (kind == MT_FRAME_ANNOTATION && starts(mt_rec_frame_name(r, n->frame), "Optimizer."))
        return MT_PHASE_OPTIMIZER;
    if (kind == MT_FRAME_ANNOTATION &&
        starts(mt_rec_frame_name(r, n->frame), "enumerate(DataLoader)#"))
        return MT_PHASE_DATA;
    if (mark == MT_MARK_RECOMPUTED)
        return MT_PHASE_RECOMPUTED;
    if (mark == MT_MARK_CLOSURE)
        around = MT_PHASE_OTHER;
    if (kind != MT_FRAME_OP || around != MT_PHASE_OTHER ||
        (parent && mt_frame_is_code(r, parent->frame)))
        return around;
    bool aside = mark == MT_MARK_EARLY || listed(makers, mt_rec_frame_name(r, n->frame));
    return aside && n->module == MT_NONE ? MT_PHASE_OTHER : MT_PHASE_FORWARD;
}
