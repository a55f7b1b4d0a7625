/* Gradients, and what an optimizer's step needs for itself. */
#include "lib/advice/rules.h"

#include "lib/base/search.h"
#include "lib/base/wrap.h"
#include <stdlib.h>
#include <string.h>

enum { SCALAR_B = 8 };

/* The first optimizer step that begins at that time or later; MT_NONE: there is none. */
static uint32_t step_after(const struct mt_advice_facts *f, int64_t t_ns)
{
    size_t i = mt_advice_first_since(f, f->optimizers.v, f->optimizers.n, t_ns);
    return i < f->optimizers.n ? f->optimizers.v[i] : MT_NONE;
}

/* Whether ops outside backward and optimizer leave blocks then. */
static bool works_between(const struct mt_advice_facts *f, int64_t from_ns, int64_t to_ns)
{
    size_t i = mt_advice_first_since(f, f->work.v, f->work.n, from_ns);
    return i < f->work.n && f->ops.v[f->work.v[i]].start_ns < to_ns;
}

bool mt_advise_zero_grad_early(struct mt_advice_plan *p)
{
    const struct mt_advice_facts *f = p->f;
    bool any = false;
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        uint32_t step = b->category == MT_CATEGORY_GRADIENT ? step_after(f, b->alloc_ns) : MT_NONE;
        if (step != MT_NONE && works_between(f, f->ops.v[step].end_ns, b->freed_ns))
            any |= mt_advice_cut(p, i, mt_advice_record(f, f->ops.v[step].end_ns));
    }
    if (any)
        mt_buf_adds(&p->because, "gradients are alive while the next forward pass runs");
    return any;
}

/* Whether gradients are filled with zeros where they stand. */
static bool fills(const struct mt_advice_facts *f)
{
    for (uint32_t i = 0; i < f->ops.n; i++) {
        if (!(f->ops.v[i].inside & MT_IN_ZERO_GRAD))
            continue;
        const char *name = mt_advice_name(f, i);
        if (strcmp(name, "aten::zero_") == 0 || strcmp(name, "aten::_foreach_zero_") == 0)
            return true;
    }
    return false;
}

/* When the first zero_grad that begins at that time or later ends; INT64_MAX: there is none. */
static int64_t zeroed_after(const struct mt_advice_facts *f, int64_t t_ns)
{
    size_t i = mt_advice_first_since(f, f->zero_grads.v, f->zero_grads.n, t_ns);
    return i < f->zero_grads.n ? f->ops.v[f->zero_grads.v[i]].end_ns : INT64_MAX;
}

/* Whether the backward pass at that time is the first since gradients were given up: it makes them,
 * those after it only add to them. */
static bool is_first_since_zero(const struct mt_advice_facts *f, int64_t t_ns)
{
    size_t i = mt_advice_first_since(f, f->zero_grads.v, f->zero_grads.n, t_ns);
    int64_t zeroed_ns = i ? f->ops.v[f->zero_grads.v[i - 1]].start_ns : INT64_MIN;
    const struct mt_advice_backward *v = f->backwards.v;
    size_t n = f->backwards.n,
           first = n ? mt_count_below(&v->start_ns, n, sizeof *v, zeroed_ns) : 0;
    return first < n && t_ns <= v[first].end_ns;
}

bool mt_advise_set_to_none(struct mt_advice_plan *p)
{
    const struct mt_advice_facts *f = p->f;
    bool any = false;
    if (!fills(f))
        return false;
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        int64_t zeroed = zeroed_after(f, b->alloc_ns);
        if (zeroed == INT64_MAX)
            continue;
        int64_t record = mt_advice_record(f, zeroed);
        bool added = b->category == MT_CATEGORY_AUTOGRAD_DETAIL && b->freed_op != MT_NONE &&
                     f->ops.v[b->freed_op].inside & MT_IN_ACCUMULATE &&
                     is_first_since_zero(f, b->alloc_ns);
        if (b->category == MT_CATEGORY_GRADIENT)
            any |= mt_advice_cut(p, i, record);
        else if (added && p->lives.all.v[i].to < record) {
            p->lives.all.v[i].to = record; /* it becomes the gradient */
            p->touched[i] = true;
        }
    }
    if (any)
        mt_buf_adds(&p->because, "zero_grad fills gradients with zeros and keeps them");
    return any;
}

/* ---- tensor by tensor, or all in one kernel ---- */

/* What a class of torch.optim has, and what it needs for a tensor if it steps one by one: so many
 * blocks of its size, and one of the tensor before it, which a variable still names. */
struct optimizer_class {
    const char *name;
    uint8_t blocks, before;
    bool fused;
    enum mt_advice_bound bound; /* of tensor by tensor */
};
static const struct optimizer_class classes[] = {
    {"Adam", 2, 1, true, MT_BOUND_EXACT},
    {"AdamW", 2, 1, true, MT_BOUND_EXACT},
    {"NAdam", 2, 1, false, MT_BOUND_EXACT},
    {"RAdam", 5, 0, false, MT_BOUND_ABOUT},
    {"Adamax", 1, 0, false, MT_BOUND_EXACT},
    {"Adadelta", 2, 1, false, MT_BOUND_UP_TO}, /* weight decay is not seen, and needs one more */
    {"RMSprop", 1, 1, false, MT_BOUND_EXACT},
    {"Adagrad", 1, 1, true, MT_BOUND_EXACT},
    {"SGD", 1, 0, true, MT_BOUND_UP_TO}, /* nesterov is not seen, and needs one more */
    {"ASGD", 0, 0, false, MT_BOUND_ABOUT},
};

/* The class of an Optimizer.step#CLASS.step; NULL: nobody knows what options it has. */
static const struct optimizer_class *class_of(const struct mt_advice_facts *f, uint32_t step)
{
    const char *name = mt_advice_name(f, step);
    name += strcspn(name, "#");
    name += *name == '#';
    size_t n = strcspn(name, ".");
    for (size_t i = 0; i < MT_ARRAY_LEN(classes); i++)
        if (strlen(classes[i].name) == n && strncmp(classes[i].name, name, n) == 0)
            return &classes[i];
    return NULL;
}

/* A step of an optimizer, and what takes the place of its temporary blocks. */
struct step_temps {
    const struct optimizer_class *class;
    int64_t n;
    int64_t most_b;   /* for the tensor that needs most */
    int64_t before_b; /* of the last block, if the op is the same: a list of tensors in order */
    uint32_t op;
    bool decays; /* a sum of gradients and weights is one more */
};

static void add_temp(const struct mt_advice_facts *f, struct step_temps *s, uint32_t alloc_op,
                     int64_t bytes)
{
    uint32_t op = f->ops.v[alloc_op].top;
    const char *name = mt_advice_name(f, op);
    int64_t before = s->class->before && s->op == op ? s->before_b : 0;
    int64_t needs = mt_wrap_add(mt_wrap_mul(s->class->blocks, bytes), before);
    bool decays = strcmp(name, "aten::_foreach_add") == 0 && s->class->bound == MT_BOUND_EXACT;
    s->decays |= decays;
    if (s->decays)
        needs = mt_wrap_add(needs, bytes);
    s->most_b = needs > s->most_b ? needs : s->most_b;
    s->before_b = bytes;
    s->op = op;
    s->n++;
}

/* "torch.optim.Adam(..., fused=True)" of each class once. */
static void write_how(struct mt_advice_plan *p, const struct step_temps *steps, const char *option)
{
    const struct mt_advice_facts *f = p->f;
    for (size_t i = 0; i < f->optimizers.n; i++) {
        const struct step_temps *s = &steps[f->optimizers.v[i]];
        if (!s->n)
            continue;
        struct mt_buf one = {0};
        mt_buf_addf(&one, "torch.optim.%s(..., %s)", s->class->name, option);
        if (!p->how.s || !strstr(p->how.s, one.s))
            mt_buf_addf(&p->how, "%s%s", p->how.n ? "; " : "", one.s);
        mt_buf_free(&one);
    }
}

/* Makes the temporaries of foreach go; fused: what takes their place needs none. */
static bool without_foreach(struct mt_advice_plan *p, bool fused)
{
    const struct mt_advice_facts *f = p->f;
    struct step_temps *steps = mt_alloc((f->ops.n + 1) * sizeof *steps);
    int64_t n = 0;
    for (size_t i = 0; i < f->optimizers.n; i++)
        steps[f->optimizers.v[i]] =
            (struct step_temps){.class = class_of(f, f->optimizers.v[i]), .op = MT_NONE};
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        const struct mt_advice_op *op = b->alloc_op == MT_NONE ? NULL : &f->ops.v[b->alloc_op];
        if (b->category != MT_CATEGORY_TEMPORARY || b->bytes <= SCALAR_B || !op ||
            !(op->inside & MT_IN_FOREACH) || op->optimizer == MT_NONE || op->top == MT_NONE)
            continue;
        struct step_temps *s = &steps[op->optimizer];
        if (!s->class || (fused && !s->class->fused))
            continue;
        add_temp(f, s, b->alloc_op, p->lives.all.v[i].bytes);
        mt_advice_resize(p, i, 0);
        n++;
    }
    for (size_t i = 0; !fused && i < f->optimizers.n; i++) {
        uint32_t own = f->optimizers.v[i];
        if (!steps[own].n)
            continue;
        mt_advice_add(p, f->ops.v[own].start_ns, f->ops.v[own].end_ns, steps[own].most_b);
        p->bound = p->bound > steps[own].class->bound ? p->bound : steps[own].class->bound;
    }
    write_how(p, steps, fused ? "fused=True" : "foreach=False");
    free(steps);
    if (n >= 2)
        mt_buf_addf(&p->because,
                    "its foreach step works on all tensors at once, in %lld temporary blocks",
                    (long long)n);
    return n >= 2;
}

bool mt_advise_foreach_false(struct mt_advice_plan *p)
{
    return without_foreach(p, false);
}

bool mt_advise_fused(struct mt_advice_plan *p)
{
    return without_foreach(p, true);
}
