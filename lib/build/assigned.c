#include "lib/build/assigned.h"

#include <string.h>

static bool is_op(const struct mt_recording *r, const struct mt_op *op)
{
    return r->frames.v[r->nodes.v[op->node].frame].kind == MT_FRAME_OP;
}

static const char *name_of(const struct mt_recording *r, const struct mt_op *op)
{
    return mt_rec_frame_name(r, r->nodes.v[op->node].frame);
}

/* enum mt_assigned of the op before one of that name; MT_MAP_NONE: none. */
static uint32_t told_by(const struct mt_recording *r, uint32_t frame)
{
    const char *name = mt_rec_frame_name(r, frame);
    if (r->frames.v[frame].kind != MT_FRAME_OP)
        return MT_MAP_NONE;
    return strcmp(name, "aten::_has_compatible_shallow_copy_type") == 0 ? MT_ASSIGNED_DATA
           : strcmp(name, "aten::detach") == 0                          ? MT_ASSIGNED_DETACHED
                                                                        : MT_MAP_NONE;
}

/* Whether an op hands on what it is given, as another shape or as it is: `.to(device)` and
 * `.contiguous()` copy only where they must. Of ops before `at`, all that lie in it. */
static bool hands_on(const struct mt_recording *r, const struct mt_thread *t, size_t op, size_t at)
{
    static const char *const names[] = {"aten::to",      "aten::contiguous", "aten::view",
                                        "aten::reshape", "aten::t",          "aten::transpose",
                                        "aten::permute", "aten::squeeze",    "aten::unsqueeze"};
    bool found = false;
    for (size_t i = 0; i < MT_ARRAY_LEN(names); i++)
        found |= strcmp(name_of(r, &t->ops.v[op]), names[i]) == 0;
    for (size_t i = op + 1; found && i < at; i++) {
        const char *name = name_of(r, &t->ops.v[i]);
        found = strcmp(name, "aten::_to_copy") != 0 && strcmp(name, "aten::clone") != 0;
    }
    return found;
}

/* The outermost op before `at`, whatever frames there are; MT_NONE: there is none. */
static uint32_t outermost_before(const struct mt_recording *r, const struct mt_thread *t, size_t at)
{
    while (at > 0 && !is_op(r, &t->ops.v[at - 1]))
        at--;
    uint32_t found = at > 0 ? t->op_base + (uint32_t)at - 1 : MT_NONE;
    for (uint32_t up = found; up != MT_NONE; up = t->ops.v[up - t->op_base].parent)
        if (is_op(r, &t->ops.v[up - t->op_base]))
            found = up;
    return found;
}

/* The outermost op that ends before one begins on its thread; of what is detached, that does more
 * than hand on what it is given. MT_NONE: that one lies in an op, or is the first. */
static uint32_t op_before(const struct mt_recording *r, const struct mt_thread *t, size_t at,
                          uint32_t told)
{
    uint32_t found = outermost_before(r, t, at);
    while (found != MT_NONE && t->ops.v[found - t->op_base].end_ns <= t->ops.v[at].start_ns) {
        size_t op = found - t->op_base;
        if (told != MT_ASSIGNED_DETACHED || !hands_on(r, t, op, at))
            return found;
        at = op;
        found = outermost_before(r, t, at);
    }
    return MT_NONE;
}

void mt_assigned_find(const struct mt_recording *r, struct mt_map *ops)
{
    for (size_t k = 0; k < r->threads.n; k++) {
        const struct mt_thread *t = &r->threads.v[k];
        for (size_t i = 0; i < t->ops.n; i++) {
            uint32_t told = told_by(r, r->nodes.v[t->ops.v[i].node].frame);
            uint32_t before = told == MT_MAP_NONE ? MT_NONE : op_before(r, t, i, told);
            if (before != MT_NONE)
                *mt_map_at(ops, before) = told;
        }
    }
}

uint32_t mt_assigned_by(const struct mt_thread *t, const struct mt_map *ops, uint32_t op)
{
    uint32_t found = MT_MAP_NONE;
    for (; ops->n && op != MT_NONE && found == MT_MAP_NONE; op = t->ops.v[op - t->op_base].parent)
        found = mt_map_get(ops, op);
    return found;
}

uint32_t mt_assigned_to(const struct mt_recording *r, const struct mt_map *ops,
                        const struct mt_record *rec)
{
    return rec->unseen ? MT_MAP_NONE : mt_assigned_by(&r->threads.v[rec->thread], ops, rec->op);
}
