#include "lib/build/by_frames.h"

#include "lib/build/left_sizes.h"
#include "lib/build/places.h"
#include "lib/model/categories.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_MAX_B = 64,     /* of an operator */
    INSIDE_MAX = 64,     /* records that an operator makes while a temporary block is alive */
    KEPT_FROM = 4,       /* iterations that an activation does not outlive, */
    KEPT_TO_THE_END = 2, /* nor these, if it is never freed */
};

/* What the outermost operator on a path does. */
enum op { OP_NONE, OP_COMPUTES, OP_MAKES, OP_COPIES, OP_LIKE };

/* What runs when a block is allocated. */
enum work { WORK_OTHER, WORK_BACKWARD, WORK_OPTIMIZER, WORK_BUILDING, WORK_N };

struct spot {
    uint8_t op; /* below the innermost Python function, or engine */
    uint8_t work;
    bool recomputes, accumulates, workspace;
    uint32_t depth;
};

struct finder {
    struct mt_recording *r;
    struct spot *spots; /* of nodes */
    uint32_t *turn;     /* of records: iterations that have begun before; and of the end */
    bool failed;        /* it ends where an allocation failed */
    struct mt_left_sizes left;
    /* Records: of the first backward pass, SIZE_MAX: none; the last that begins an iteration. */
    size_t first_backward, last_turn;
};

static bool starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* ---- what paths tell ---- */

/* Overloads have the operator's name in front: arange_start_step. */
static bool makes(const char *op)
{
    char name[NAME_MAX_B];
    snprintf(name, sizeof name, "%s", op);
    while (!mt_op_makes_data(name)) {
        char *end = strrchr(name, '_');
        if (!end)
            return false;
        *end = '\0';
    }
    return true;
}

/* Of "at::_ops::NAME::call". */
static enum op op_of(const char *frame)
{
    static const char ops[] = "at::_ops::";
    char name[NAME_MAX_B];
    if (!starts(frame, ops))
        return OP_COMPUTES;
    const char *op = frame + sizeof ops - 1;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(op, ":"), op);
    if (strstr(name, "_like"))
        return OP_LIKE;
    if (starts(name, "to_") || starts(name, "_to_copy"))
        return OP_COPIES;
    return makes(name) ? OP_MAKES : OP_COMPUTES;
}

static bool is_engine(const char *name)
{
    return starts(name, "torch::autograd::Engine::") ||
           starts(name, "torch::autograd::python::PythonEngine::") ||
           starts(name, "torch::autograd::Node::operator()");
}

static bool is_in_op(const char *name)
{
    return starts(name, "at::") || starts(name, "torch::autograd::generated::") ||
           starts(name, "torch::autograd::AccumulateGrad");
}

static struct spot spot_of(const struct finder *f, const struct mt_node *n)
{
    const struct mt_recording *r = f->r;
    const struct mt_frame *frame = &r->frames.v[n->frame];
    const char *name = mt_strtab_get(&r->strings, frame->name);
    struct spot s = n->parent == MT_NONE ? (struct spot){0} : f->spots[n->parent];
    bool outer_backward = s.work == WORK_BACKWARD;
    s.depth++;
    s.work = n->phase == MT_PHASE_BACKWARD    ? WORK_BACKWARD
             : n->phase == MT_PHASE_OPTIMIZER ? WORK_OPTIMIZER
             : n->tells & MT_TELLS_BUILDS     ? WORK_BUILDING
                                              : WORK_OTHER;
    if (frame->kind != MT_FRAME_NATIVE) {
        s.op = OP_NONE;
        s.recomputes |= outer_backward && n->tells & MT_TELLS_CHECKPOINTS;
    } else if (is_engine(name)) {
        s.op = OP_NONE;
        s.recomputes = false;
    } else if (is_in_op(name)) {
        s.op = s.op == OP_NONE ? (uint8_t)op_of(name) : s.op;
        s.accumulates |= starts(name, "torch::autograd::AccumulateGrad");
        s.workspace |= strstr(name, "CUDABlas") || strstr(name, "Workspace");
    }
    return s;
}

static const struct spot *spot_at(const struct finder *f, const struct mt_record *rec)
{
    return rec->op == MT_NONE ? NULL : &f->spots[rec->op];
}

static enum work work_of(const struct finder *f, const struct mt_record *rec)
{
    const struct spot *s = spot_at(f, rec);
    return s ? (enum work)s->work : WORK_OTHER;
}

/* Whether some path tells anything. */
static bool find_spots(struct finder *f)
{
    const struct mt_recording *r = f->r;
    bool any = false;
    f->spots = mt_alloc((r->nodes.n + 1) * sizeof *f->spots);
    for (size_t i = 0; i < r->nodes.n; i++)
        f->spots[i] = spot_of(f, &r->nodes.v[i]);
    for (size_t i = 0; i < r->records.n && !any; i++) {
        const struct mt_record *rec = &r->records.v[i];
        any = rec->bytes > 0 && rec->op != MT_NONE &&
              (f->spots[rec->op].op || f->spots[rec->op].work ||
               r->nodes.v[rec->op].phase != MT_PHASE_OTHER);
    }
    return any;
}

/* Iterations begin with the steps of optimizers, or where there are none with backward passes. */
static void count_turns(struct finder *f)
{
    const struct mt_recording *r = f->r;
    enum work mark = WORK_BACKWARD;
    bool in = false;
    uint32_t n = 0;
    for (size_t i = 0; i < r->records.n && mark == WORK_BACKWARD; i++)
        if (r->records.v[i].bytes > 0 && work_of(f, &r->records.v[i]) == WORK_OPTIMIZER)
            mark = WORK_OPTIMIZER;
    f->turn = mt_alloc((r->records.n + 1) * sizeof *f->turn);
    f->first_backward = SIZE_MAX;
    for (size_t i = 0; i < r->records.n; i++) {
        enum work work = work_of(f, &r->records.v[i]);
        f->turn[i] = n;
        if (r->records.v[i].bytes <= 0)
            continue;
        n += work == mark && !in;
        in = work == mark;
        f->last_turn = in ? i : f->last_turn;
        if (work == WORK_BACKWARD && f->first_backward == SIZE_MAX)
            f->first_backward = i;
    }
    f->turn[r->records.n] = n;
}

/* ---- rules of one block and what follows it ---- */

static bool is_below(const struct finder *f, uint32_t node, uint32_t above)
{
    while (node != MT_NONE && node != above && f->spots[node].depth > f->spots[above].depth)
        node = f->r->nodes.v[node].parent;
    return node == above;
}

/* The innermost path that both are on; MT_NONE: there is none. */
static uint32_t common(const struct finder *f, uint32_t a, uint32_t b)
{
    while (a != b && a != MT_NONE && b != MT_NONE) {
        bool deeper = f->spots[a].depth >= f->spots[b].depth;
        uint32_t *up = deeper ? &a : &b;
        *up = f->r->nodes.v[*up].parent;
    }
    return a == b ? a : MT_NONE;
}

/* F1: one operator allocates and frees it, and does nothing else in between. */
static bool is_inside_op(const struct finder *f, size_t i)
{
    const struct mt_record *v = f->r->records.v;
    uint32_t mate = v[i].mate;
    if (mate == MT_NONE || mate - i > INSIDE_MAX || v[i].op == MT_NONE || v[mate].op == MT_NONE)
        return false;
    uint32_t op = common(f, v[i].op, v[mate].op);
    bool inside = op != MT_NONE && f->spots[op].op != OP_NONE;
    for (size_t k = i + 1; inside && k < mate; k++)
        inside = v[k].op != MT_NONE && is_below(f, v[k].op, op);
    return inside;
}

/* Whether a block is there when other work begins, which is what allocates at `next` (MT_NONE:
 * nothing more is). Where the recording ends before, it is if the work was over by then: it was not
 * where an allocation failed. */
static bool outlives(const struct finder *f, const struct mt_record *rec, uint32_t next)
{
    return next != MT_NONE ? rec->mate > next : rec->mate == MT_NONE && !f->failed;
}

/* Whether nobody can tell, for the recording ends in the midst of that work. */
static bool is_cut_off(const struct finder *f, const struct mt_record *rec, uint32_t next)
{
    return f->failed && next == MT_NONE && rec->mate == MT_NONE;
}

static enum mt_category_rule rule_in_step(const struct finder *f, const struct mt_record *rec,
                                          uint32_t next)
{
    bool makes_state =
        f->r->nodes.v[rec->op].tells & MT_TELLS_STATE || spot_at(f, rec)->op == OP_LIKE;
    if (is_cut_off(f, rec, next))
        return makes_state ? MT_CATEGORY_F2 : MT_CATEGORY_F11;
    return outlives(f, rec, next) ? MT_CATEGORY_F2 : MT_CATEGORY_F3;
}

static enum mt_category_rule rule_in_backward(const struct finder *f, const struct mt_record *rec,
                                              uint32_t next)
{
    const struct spot *s = spot_at(f, rec);
    if (s->recomputes)
        return MT_CATEGORY_F4;
    if (s->workspace)
        return MT_CATEGORY_F11;
    if (is_cut_off(f, rec, next))
        return s->accumulates ? MT_CATEGORY_F5 : MT_CATEGORY_F11;
    return outlives(f, rec, next) ? MT_CATEGORY_F5 : MT_CATEGORY_F6;
}

/* next: of each kind of work, the record at which another allocates. */
static enum mt_category_rule rule_alone(const struct finder *f, size_t i, const uint32_t *next)
{
    const struct mt_record *rec = &f->r->records.v[i];
    enum work work = work_of(f, rec);
    if (is_inside_op(f, i))
        return MT_CATEGORY_F1;
    if (work == WORK_OPTIMIZER)
        return rule_in_step(f, rec, next[work]);
    if (work == WORK_BACKWARD)
        return rule_in_backward(f, rec, next[work]);
    if (work == WORK_BUILDING)
        return outlives(f, rec, next[work]) || is_cut_off(f, rec, next[work]) ? MT_CATEGORY_F7
                                                                              : MT_CATEGORY_F3;
    return MT_CATEGORY_NO_RULE;
}

static void find_alone(struct finder *f)
{
    struct mt_recording *r = f->r;
    uint32_t next[WORK_N] = {MT_NONE, MT_NONE, MT_NONE, MT_NONE};
    for (size_t i = r->records.n; i-- > 0;) {
        struct mt_record *rec = &r->records.v[i];
        if (rec->bytes < 0)
            continue;
        enum work work = work_of(f, rec);
        for (int w = 0; w < WORK_N; w++)
            next[w] = w == (int)work ? next[w] : (uint32_t)i;
        rec->rule = (uint8_t)rule_alone(f, i, next);
        if (rec->rule == MT_CATEGORY_F5)
            mt_left_sizes_add(&f->left, rec, next[WORK_BACKWARD]);
    }
}

/* ---- the rest ---- */

/* F8, when F7 has taken its own: the first of a size are the model's, data come later. */
static void find_parameters(struct finder *f)
{
    struct mt_recording *r = f->r;
    mt_left_sizes_count(&f->left);
    for (size_t i = 0; i < r->records.n; i++)
        if (r->records.v[i].rule == MT_CATEGORY_F7)
            mt_left_sizes_take(&f->left, &r->records.v[i], false);
    for (size_t i = 0; i < r->records.n && i < f->first_backward; i++) {
        struct mt_record *rec = &r->records.v[i];
        if (rec->bytes > 0 && rec->rule == MT_CATEGORY_NO_RULE && rec->mate > f->last_turn &&
            rec->op != MT_NONE && r->nodes.v[rec->op].phase == MT_PHASE_OTHER &&
            mt_left_sizes_take(&f->left, rec, false))
            rec->rule = MT_CATEGORY_F8;
    }
}

static bool is_kept(const struct finder *f, size_t i)
{
    uint32_t mate = f->r->records.v[i].mate;
    uint32_t n = f->turn[mate == MT_NONE ? f->r->records.n : mate] - f->turn[i];
    return n >= KEPT_FROM || (n >= KEPT_TO_THE_END && mate == MT_NONE);
}

static enum mt_category_rule rule_of_rest(const struct finder *f, size_t i)
{
    const struct mt_record *rec = &f->r->records.v[i];
    const struct spot *s = spot_at(f, rec);
    uint8_t phase = s ? f->r->nodes.v[rec->op].phase : MT_PHASE_OTHER;
    if (phase == MT_PHASE_DATA || (s && s->op == OP_MAKES) ||
        (s && s->op == OP_COPIES && phase == MT_PHASE_OTHER))
        return MT_CATEGORY_F9;
    if (!s || s->workspace || is_kept(f, i))
        return MT_CATEGORY_F11;
    if (rec->mate != MT_NONE && work_of(f, &f->r->records.v[rec->mate]) == WORK_BACKWARD)
        return MT_CATEGORY_F10_GRAPH;
    return phase == MT_PHASE_FORWARD ? MT_CATEGORY_F10 : MT_CATEGORY_F11;
}

/* Whether the last thing that the recording has is an allocation that failed. */
static bool ends_in_failure(const struct mt_recording *r)
{
    for (size_t i = 0; i < r->samples.n; i++)
        if (r->samples.v[i].metric == MT_METRIC_OOM && r->samples.v[i].record_n == r->records.n)
            return true;
    return false;
}

void mt_build_by_frames(struct mt_recording *r)
{
    struct finder f = {.r = r, .failed = ends_in_failure(r)};
    if (find_spots(&f)) {
        count_turns(&f);
        find_alone(&f);
        find_parameters(&f);
        for (size_t i = 0; i < r->records.n; i++)
            if (r->records.v[i].bytes >= 0 && r->records.v[i].rule == MT_CATEGORY_NO_RULE)
                r->records.v[i].rule = (uint8_t)rule_of_rest(&f, i);
        r->categorized = true;
    }
    free(f.spots);
    free(f.turn);
    mt_vec_free(&f.left.all);
}
