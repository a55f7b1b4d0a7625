/* Gradients, and what an optimizer's step needs for itself. */
#include "lib/advice/kept.h"
#include "lib/advice/rules.h"

#include "lib/base/search.h"
#include "lib/base/wrap.h"
#include <stdlib.h>
#include <string.h>

enum { SCALAR_B = 8 };

/* The first optimizer step that begins at that time or later, or whose closure runs then; MT_NONE:
 * there is none. */
static uint32_t step_after(const struct mt_advice_facts *f, int64_t t_ns)
{
    size_t i = mt_advice_first_since(f, f->optimizers.v, f->optimizers.n, t_ns);
    i -= i && f->ops.v[f->optimizers.v[i - 1]].end_ns > t_ns;
    return i < f->optimizers.n ? f->optimizers.v[i] : MT_NONE;
}

/* Whether ops outside backward and optimizer leave blocks then. */
static bool works_between(const struct mt_advice_facts *f, int64_t from_ns, int64_t to_ns)
{
    size_t i = mt_advice_first_since(f, f->work.v, f->work.n, from_ns);
    return i < f->work.n && f->ops.v[f->work.v[i]].start_ns < to_ns;
}

/* Whether the backward pass at that time is the first to begin since another time: it makes
 * gradients, those after it only add to them. */
static bool is_first_since(const struct mt_advice_facts *f, int64_t since_ns, int64_t t_ns)
{
    const struct mt_advice_backward *v = f->backwards.v;
    size_t n = f->backwards.n, first = n ? mt_count_below(&v->start_ns, n, sizeof *v, since_ns) : 0;
    return first < n && t_ns <= v[first].end_ns;
}

/* Whether a backward pass makes that block to add it to a gradient. */
static bool is_added(const struct mt_advice_facts *f, const struct mt_advice_block *b)
{
    return b->category == MT_CATEGORY_AUTOGRAD_DETAIL && b->freed_op != MT_NONE &&
           f->ops.v[b->freed_op].inside & MT_IN_ACCUMULATE;
}

/* When the first zero_grad that begins at that time or later ends; INT64_MAX: there is none. */
static int64_t zeroed_after(const struct mt_advice_facts *f, int64_t t_ns)
{
    size_t i = mt_advice_first_since(f, f->zero_grads.v, f->zero_grads.n, t_ns);
    return i < f->zero_grads.n ? f->ops.v[f->zero_grads.v[i]].end_ns : INT64_MAX;
}

/* Who frees gradients: one that a hook, or a list, has taken is not freed with those of an
 * optimizer. */
struct freeing {
    bool *kept;      /* by block: something keeps it, more from step to step */
    bool zero_grads; /* zero_grad frees gradients */
};

static struct freeing find_freeing(const struct mt_advice_facts *f)
{
    struct freeing out = {.kept = mt_advice_find_kept(f)};
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        out.zero_grads |= b->category == MT_CATEGORY_GRADIENT && b->freed_op != MT_NONE &&
                          f->ops.v[b->freed_op].inside & MT_IN_ZERO_GRAD;
    }
    return out;
}

/* Whether something else holds a gradient: more from step to step, or until a later backward pass
 * puts another in its place. */
static bool is_taken(const struct mt_advice_facts *f, const struct freeing *of, size_t block)
{
    const struct mt_advice_block *b = &f->blocks.v[block];
    unsigned inside = b->freed_op == MT_NONE ? 0 : f->ops.v[b->freed_op].inside;
    return of->kept[block] ||
           (inside & MT_IN_ENGINE && !(inside & (MT_IN_ACCUMULATE | MT_IN_ZERO_GRAD)));
}

/* Whether a gradient outlives the zero_grad that follows a step, which frees others. */
static bool outlives_zero_grad(const struct mt_advice_facts *f, const struct freeing *of,
                               const struct mt_advice_block *b, uint32_t step)
{
    bool freed_there = b->freed_op != MT_NONE && f->ops.v[b->freed_op].inside & MT_IN_ZERO_GRAD;
    return of->zero_grads && b->freed_record != INT64_MAX && !freed_there &&
           zeroed_after(f, f->ops.v[step].end_ns) <= b->freed_ns;
}

/* Gradients of one size that end early. Where a backward pass adds to one that would be gone by
 * then - a generator's to those of its discriminator - it makes the gradient again. */
struct ended_early {
    int64_t until;         /* the record at which the last of them was freed */
    int64_t next_ns, next; /* those that end at next_ns, and what is `until` from then on */
};

static void end_next(struct ended_early *e, int64_t t_ns)
{
    if (t_ns >= e->next_ns && e->next > e->until)
        e->until = e->next;
}

static void add_ended(struct ended_early *e, int64_t end_ns, int64_t until)
{
    end_next(e, end_ns - 1);
    e->next = end_ns == e->next_ns && e->next > until ? e->next : until;
    e->next_ns = end_ns;
}

/* What is added to gradients that would be gone becomes the gradient: until the next step, or until
 * they were freed. */
static bool make_again(struct mt_advice_plan *p, struct ended_early *e, size_t block)
{
    const struct mt_advice_facts *f = p->f;
    const struct mt_advice_block *b = &f->blocks.v[block];
    size_t stepped = mt_advice_first_since(f, f->optimizers.v, f->optimizers.n, b->alloc_ns);
    uint32_t next = stepped < f->optimizers.n ? f->optimizers.v[stepped] : MT_NONE;
    end_next(e, b->alloc_ns);
    if (!stepped || b->alloc_record >= e->until ||
        !is_first_since(f, f->ops.v[f->optimizers.v[stepped - 1]].start_ns, b->alloc_ns))
        return false;
    int64_t to = next == MT_NONE ? e->until : mt_advice_record(f, f->ops.v[next].end_ns);
    to = to < e->until ? to : e->until;
    if (p->lives.all.v[block].to >= to)
        return false;
    p->lives.all.v[block].to = to;
    p->touched[block] = true;
    return true;
}

bool mt_advise_zero_grad_early(struct mt_advice_plan *p)
{
    const struct mt_advice_facts *f = p->f;
    bool any = false;
    struct freeing of = find_freeing(f);
    struct mt_map by_size = {0};
    MT_VEC(struct ended_early) ended = {0};
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        uint32_t step = b->category == MT_CATEGORY_GRADIENT ? step_after(f, b->alloc_ns) : MT_NONE;
        uint32_t same = mt_map_get(&by_size, (uint64_t)b->bytes);
        if (same != MT_MAP_NONE && is_added(f, b) && make_again(p, &ended.v[same], i))
            p->bound = MT_BOUND_ABOUT;
        if (step == MT_NONE || is_taken(f, &of, i) || outlives_zero_grad(f, &of, b, step) ||
            !works_between(f, f->ops.v[step].end_ns, b->freed_ns) ||
            !mt_advice_cut(p, i, mt_advice_record(f, f->ops.v[step].end_ns)))
            continue;
        any = true;
        if (same == MT_MAP_NONE) {
            same = *mt_map_at(&by_size, (uint64_t)b->bytes) = (uint32_t)ended.n;
            *mt_vec_push(&ended) = (struct ended_early){0};
        }
        add_ended(&ended.v[same], f->ops.v[step].end_ns, b->freed_record);
    }
    free(of.kept);
    mt_map_free(&by_size);
    mt_vec_free(&ended);
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

/* When gradients were given up last before that time; INT64_MIN: never. */
static int64_t zeroed_before(const struct mt_advice_facts *f, int64_t t_ns)
{
    size_t i = mt_advice_first_since(f, f->zero_grads.v, f->zero_grads.n, t_ns);
    return i ? f->ops.v[f->zero_grads.v[i - 1]].start_ns : INT64_MIN;
}

/* Whether optimizers take turns, as those of a GAN: a zero_grad may then be of another one, and
 * what it seems to free stays until that of its own. */
static bool take_turns(const struct mt_advice_facts *f)
{
    return f->optimizers.n > f->steps->all.n + 1;
}

bool mt_advise_set_to_none(struct mt_advice_plan *p)
{
    const struct mt_advice_facts *f = p->f;
    bool any = false;
    if (!fills(f))
        return false;
    struct freeing of = find_freeing(f);
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        int64_t zeroed = zeroed_after(f, b->alloc_ns), before = zeroed_before(f, b->alloc_ns);
        if (zeroed == INT64_MAX && before == INT64_MIN)
            continue;
        int64_t record = zeroed == INT64_MAX ? INT64_MAX : mt_advice_record(f, zeroed);
        bool added = is_added(f, b) && is_first_since(f, before, b->alloc_ns);
        if (b->category == MT_CATEGORY_GRADIENT)
            any |= !is_taken(f, &of, i) && mt_advice_cut(p, i, record);
        else if (added && p->lives.all.v[i].to < record) {
            p->lives.all.v[i].to = record; /* it becomes the gradient */
            p->touched[i] = true;
        }
    }
    free(of.kept);
    if (take_turns(f))
        p->bound = MT_BOUND_UP_TO;
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
    uint8_t young_n, young;     /* the first steps, so many, need so many blocks */
};
static const struct optimizer_class classes[] = {
    {"Adam", 2, 1, true, MT_BOUND_EXACT, 0, 0},
    {"AdamW", 2, 1, true, MT_BOUND_EXACT, 0, 0},
    {"NAdam", 2, 1, false, MT_BOUND_EXACT, 0, 0},
    {"RAdam", 5, 0, false, MT_BOUND_ABOUT, 5, 2}, /* rectifies from the sixth on; by beta2 later */
    {"Adamax", 1, 0, false, MT_BOUND_EXACT, 0, 0},
    {"Adadelta", 2, 1, false, MT_BOUND_UP_TO, 0, 0}, /* a decay is not seen, and needs one more */
    {"RMSprop", 1, 1, false, MT_BOUND_EXACT, 0, 0},
    {"Adagrad", 1, 1, true, MT_BOUND_EXACT, 0, 0},
    {"SGD", 1, 0, true, MT_BOUND_UP_TO, 0, 0}, /* nesterov is not seen, and needs one more */
    {"ASGD", 0, 0, false, MT_BOUND_ABOUT, 0, 0},
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
    uint8_t blocks;
    bool decays; /* a sum of gradients and weights is one more */
    bool begins; /* it makes state */
};

/* A step's class, and how many blocks it needs. How old an optimizer is, is known where the first
 * step of its class makes the state. */
static void classify(const struct mt_advice_facts *f, struct step_temps *steps)
{
    int64_t age[MT_ARRAY_LEN(classes)] = {0};
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        uint32_t step = b->alloc_op == MT_NONE ? MT_NONE : f->ops.v[b->alloc_op].optimizer;
        if (step != MT_NONE && b->category == MT_CATEGORY_OPTIMIZER_STATE)
            steps[step].begins = true;
    }
    for (size_t i = 0; i < f->optimizers.n; i++) {
        struct step_temps *s = &steps[f->optimizers.v[i]];
        s->op = MT_NONE;
        s->class = class_of(f, f->optimizers.v[i]);
        if (!s->class)
            continue;
        int64_t *n = &age[s->class - classes];
        if (!*n && !s->begins)
            *n = s->class->young_n;
        s->blocks = *n < s->class->young_n ? s->class->young : s->class->blocks;
        ++*n;
    }
}

static void add_temp(const struct mt_advice_facts *f, struct step_temps *s, uint32_t alloc_op,
                     int64_t bytes)
{
    uint32_t op = f->ops.v[alloc_op].top;
    const char *name = mt_advice_name(f, op);
    int64_t before = s->class->before && s->op == op ? s->before_b : 0;
    int64_t needs = mt_wrap_add(mt_wrap_mul(s->blocks, bytes), before);
    bool decays = strcmp(name, "aten::_foreach_add") == 0 && s->class->blocks &&
                  s->class->bound != MT_BOUND_UP_TO;
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

/* When a step begins to work with gradients: behind the backward pass of its closure. */
static int64_t steps_from(const struct mt_advice_facts *f, const struct mt_advice_op *step)
{
    const struct mt_advice_backward *v = f->backwards.v;
    size_t n = f->backwards.n;
    n = n ? mt_count_below(&v->start_ns, n, sizeof *v, step->end_ns) : 0;
    return n && v[n - 1].start_ns > step->start_ns ? v[n - 1].end_ns : step->start_ns;
}

/* Makes the temporaries of foreach go; fused: what takes their place needs none. */
static bool without_foreach(struct mt_advice_plan *p, bool fused)
{
    const struct mt_advice_facts *f = p->f;
    struct step_temps *steps = mt_alloc((f->ops.n + 1) * sizeof *steps);
    int64_t n = 0;
    classify(f, steps);
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
        mt_advice_add(p, steps_from(f, &f->ops.v[own]), f->ops.v[own].end_ns, steps[own].most_b);
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
