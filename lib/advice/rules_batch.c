/* What changes with the size of a batch, and of an element. */
#include "lib/advice/batch.h"
#include "lib/advice/rules.h"
#include "lib/base/wrap.h"
#include <string.h>

enum { FLOAT32_B = 4 };

/* From when on a gradient is there if those before it were kept: the end of the optimizer's step
 * before it, or the first activation. */
static int64_t kept_from(const struct mt_advice_facts *f, int64_t t_ns, int64_t first_record)
{
    size_t i = mt_advice_first_since(f, f->optimizers.v, f->optimizers.n, t_ns);
    int64_t record =
        i ? mt_advice_record(f, f->ops.v[f->optimizers.v[i - 1]].end_ns) : first_record;
    return record;
}

/* When what a block has been added to takes it over: the end of the node of the graph around it. */
static int64_t added_at(const struct mt_advice_facts *f, size_t block)
{
    uint32_t op = f->blocks.v[block].alloc_op;
    uint32_t top = op == MT_NONE ? MT_NONE : f->ops.v[op].top;
    for (uint32_t i = top; i != MT_NONE && i < f->ops.n; i++) {
        if (f->ops.v[i].thread != f->ops.v[top].thread || !(f->ops.v[i].inside & MT_IN_ENGINE))
            break;
        if (f->ops.v[i].inside & MT_IN_ACCUMULATE)
            return mt_advice_record(f, f->ops.v[i].end_ns);
    }
    return mt_wrap_add(f->blocks.v[block].alloc_record, 1);
}

bool mt_advise_accumulate(struct mt_advice_plan *p)
{
    const struct mt_advice_facts *f = p->f;
    struct mt_map sizes = {0};
    int64_t first = INT64_MAX;
    if (!f->backwards.n || !f->optimizers.n)
        return false;
    mt_batch_sizes(f, &sizes);
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        if (b->category == MT_CATEGORY_ACTIVATION && b->alloc_record < first)
            first = b->alloc_record;
        if (b->category != MT_CATEGORY_INPUT && mt_batch_scales(f, b, &sizes))
            mt_advice_resize(p, i, b->bytes / p->choice->accumulate);
    }
    for (size_t i = 0; i < f->blocks.n; i++) {
        struct mt_life *life = &p->lives.all.v[i];
        if (f->blocks.v[i].category != MT_CATEGORY_GRADIENT)
            continue;
        int64_t from = kept_from(f, f->blocks.v[i].alloc_ns, first);
        if (from >= life->from)
            continue;
        /* the last batch's own, until it is added */
        const struct mt_life last = {life->from, added_at(f, i), life->bytes};
        life->from = from;
        *mt_vec_push(&p->lives.all) = last;
    }
    mt_map_free(&sizes);
    p->bound = MT_BOUND_ABOUT;
    mt_buf_addf(&p->because, "%lld batches in place of one, gradients kept between them",
                (long long)p->choice->accumulate);
    return true;
}

/* Whether a top op makes integers. */
static bool makes_integers(const char *name)
{
    return strncmp(name, "aten::randint", 13) == 0 || strncmp(name, "aten::arange", 12) == 0 ||
           strncmp(name, "aten::randperm", 14) == 0;
}

/* Indices of a pooling op are twice as large as what it computes. */
static bool is_index(const struct mt_advice_facts *f, size_t block, uint32_t top)
{
    for (size_t i = block; i-- > 0;) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        if (b->alloc_op == MT_NONE || f->ops.v[b->alloc_op].top != top)
            break;
        if (b->bytes > 0 && b->bytes == f->blocks.v[block].bytes / 2)
            return true;
    }
    return false;
}

static bool is_integer(const struct mt_advice_facts *f, size_t block)
{
    const struct mt_advice_block *b = &f->blocks.v[block];
    uint32_t top = b->alloc_op == MT_NONE ? MT_NONE : f->ops.v[b->alloc_op].top;
    if (top == MT_NONE)
        return false;
    const char *name = mt_advice_name(f, top);
    return makes_integers(name) || (strstr(name, "max_pool") && is_index(f, block, top));
}

bool mt_advise_bfloat16(struct mt_advice_plan *p)
{
    const struct mt_advice_facts *f = p->f;
    if (f->element_b != FLOAT32_B)
        return false; /* it is so already, or nobody knows */
    for (size_t i = 0; i < f->blocks.n; i++)
        if (!is_integer(f, i))
            mt_advice_resize(p, i, f->blocks.v[i].bytes / 2);
    p->bound = MT_BOUND_ABOUT;
    mt_buf_adds(&p->because,
                f->element_b ? "matrix products are float32 now" : "if all of it is float32 now");
    return f->blocks.n > 0;
}
