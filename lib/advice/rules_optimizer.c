/* Gradients, and what an optimizer's step needs for itself. */
#include "lib/advice/rules.h"

#include "lib/base/wrap.h"
#include <stdlib.h>
#include <string.h>

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
    size_t low = 0, high = f->backwards.n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (v[mid].start_ns < zeroed_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low < f->backwards.n && t_ns <= v[low].end_ns;
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

/* Makes the temporaries of foreach go; per_tensor: adds what takes their place. */
static bool without_foreach(struct mt_advice_plan *p, bool per_tensor)
{
    const struct mt_advice_facts *f = p->f;
    int64_t n = 0, *largest = mt_alloc((f->ops.n + 1) * sizeof *largest);
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        const struct mt_advice_op *op = b->alloc_op == MT_NONE ? NULL : &f->ops.v[b->alloc_op];
        if (b->category != MT_CATEGORY_TEMPORARY || !op || !(op->inside & MT_IN_FOREACH) ||
            op->optimizer == MT_NONE)
            continue;
        if (b->bytes > largest[op->optimizer])
            largest[op->optimizer] = b->bytes;
        mt_advice_resize(p, i, 0);
        n++;
    }
    for (size_t i = 0; per_tensor && i < f->optimizers.n; i++) {
        uint32_t own = f->optimizers.v[i];
        int64_t times = strstr(mt_advice_name(f, own), "Adam") ? 2 : 1;
        mt_advice_add(p, f->ops.v[own].start_ns, f->ops.v[own].end_ns,
                      mt_wrap_mul(times, largest[own]));
    }
    free(largest);
    if (n >= 2)
        mt_buf_addf(&p->because,
                    "the optimizer works on all tensors at once: %lld temporary blocks",
                    (long long)n);
    return n >= 2;
}

bool mt_advise_foreach_false(struct mt_advice_plan *p)
{
    return without_foreach(p, true);
}

bool mt_advise_fused(struct mt_advice_plan *p)
{
    return without_foreach(p, false);
}
