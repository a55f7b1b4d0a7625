/* The loss, and what it is computed of. */
#include "lib/advice/rules.h"

#include "lib/base/human.h"
#include "lib/base/map.h"
#include "lib/base/search.h"
#include <stdlib.h>
#include <string.h>

enum { SCALAR_B = 8, NEAR_B = 64, LEAST_PERCENT = 5 };

/* By node, whether a loss is around it, or it is one. Allocated. */
static bool *find_losses(const struct mt_tree *t)
{
    static const char *const names[] = {"aten::cross_entropy_loss", "aten::nll_loss",
                                        "aten::log_softmax", "aten::_log_softmax"};
    bool *loss = mt_alloc(t->nodes.n + 1);
    for (size_t i = 0; i < t->nodes.n; i++) {
        const struct mt_tree_node *node = &t->nodes.v[i];
        loss[i] = node->parent < i && loss[node->parent];
        for (size_t k = 0; k < MT_ARRAY_LEN(names) && !loss[i]; k++)
            loss[i] =
                strncmp(mt_strtab_get(&t->strings, node->frame), names[k], strlen(names[k])) == 0;
    }
    return loss;
}

/* The largest block that a loss makes. */
static int64_t largest_of_loss(const struct mt_advice_facts *f, const bool *loss)
{
    int64_t largest = 0;
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        if (b->bytes > largest && b->node != MT_NONE && loss[b->node])
            largest = b->bytes;
    }
    return largest;
}

/* The top op whose backward an op runs; MT_NONE: none, or unknown. */
static uint32_t top_of_forward(const struct mt_advice_facts *f, uint32_t op)
{
    while (op != MT_NONE && f->ops.v[op].forward == MT_NONE)
        op = f->ops.v[op].parent;
    return op == MT_NONE ? MT_NONE : f->ops.v[f->ops.v[op].forward].top;
}

/* By size: gradients of what makes[] says of the op that they are of. To be freed. */
static struct mt_map gradients_of(const struct mt_advice_facts *f, const bool *makes)
{
    struct mt_map sizes = {0};
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        uint32_t top =
            b->category == MT_CATEGORY_GRADIENT ? top_of_forward(f, b->alloc_op) : MT_NONE;
        if (top != MT_NONE && makes[top])
            *mt_map_at(&sizes, (uint64_t)b->bytes) = 1;
    }
    return sizes;
}

/* Each part leaves a gradient of the output layer, which is added to that of the parts before: it
 * is there beside the one that was recorded, from the beginning of the pass on. Where gradients are
 * accumulated, the later ones of a step are added to the first, and go. makes: by op, it makes what
 * is cut into parts. */
static void add_partial_gradients(struct mt_advice_plan *p, const bool *makes)
{
    const struct mt_advice_facts *f = p->f;
    const struct mt_advice_backward *v = f->backwards.v;
    struct mt_map sizes = gradients_of(f, makes);
    for (size_t i = 0; i < f->blocks.n && f->backwards.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        if ((b->category != MT_CATEGORY_GRADIENT && b->category != MT_CATEGORY_AUTOGRAD_DETAIL) ||
            mt_map_get(&sizes, (uint64_t)b->bytes) == MT_MAP_NONE)
            continue;
        uint32_t top = top_of_forward(f, b->alloc_op);
        size_t pass = mt_count_up_to(&v->start_ns, f->backwards.n, sizeof *v, b->alloc_ns);
        if (top != MT_NONE && makes[top] && pass)
            mt_advice_add(p, v[pass - 1].start_ns, f->ops.v[b->alloc_op].end_ns,
                          p->lives.all.v[i].bytes);
    }
    mt_map_free(&sizes);
}

/* Cuts into parts what is as large as that. Returns whether there is any. */
static bool cut_into_parts(struct mt_advice_plan *p, const bool *loss, int64_t largest)
{
    const struct mt_advice_facts *f = p->f;
    bool any = false, *makes = mt_alloc(f->ops.n + 1);
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        if (b->bytes < largest - NEAR_B || b->bytes > largest + NEAR_B ||
            (b->category != MT_CATEGORY_ACTIVATION && b->category != MT_CATEGORY_AUTOGRAD_DETAIL &&
             b->category != MT_CATEGORY_TEMPORARY))
            continue;
        mt_advice_resize(p, i, b->bytes / p->choice->chunks);
        uint32_t top = mt_advice_top(f, b);
        if (b->category == MT_CATEGORY_ACTIVATION && top != MT_NONE && !loss[b->node])
            makes[top] = true;
        any = true;
    }
    add_partial_gradients(p, makes);
    free(makes);
    return any;
}

int64_t mt_advice_largest_of_loss(const struct mt_advice_facts *f)
{
    bool *loss = find_losses(f->tree);
    int64_t largest = largest_of_loss(f, loss);
    free(loss);
    return largest;
}

bool mt_advise_chunked_loss(struct mt_advice_plan *p)
{
    bool *loss = find_losses(p->f->tree);
    int64_t largest = largest_of_loss(p->f, loss);
    bool any = largest > NEAR_B && largest >= p->f->peak_b / 100 * LEAST_PERCENT &&
               cut_into_parts(p, loss, largest);
    free(loss);
    if (!any)
        return false;
    char size[MT_HUMAN_MAX];
    long long n = (long long)p->choice->chunks;
    p->bound = MT_BOUND_ABOUT;
    mt_buf_addf(&p->because, "the loss makes blocks of %s; %lld parts instead",
                mt_human_bytes(largest, size), n);
    mt_buf_addf(&p->how,
                "loss = sum(checkpoint(head_and_sum_loss, h, t, use_reentrant=False) for h, t in "
                "zip(hidden.chunk(%lld), targets.chunk(%lld))) / targets.numel()",
                n, n);
    return true;
}

/* Ops that need their own result in backward, and not what it was made of. */
static bool keeps_result_only(const char *name)
{
    static const char *const names[] = {"aten::cross_entropy_loss",
                                        "aten::log_softmax",
                                        "aten::softmax",
                                        "aten::sigmoid",
                                        "aten::tanh",
                                        "aten::relu",
                                        "aten::sum",
                                        "aten::mean",
                                        "aten::add"};
    for (size_t i = 0; i < MT_ARRAY_LEN(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* The next top op of the thread that leaves a block; MT_NONE: there is none. */
static uint32_t next_maker(const struct mt_advice_facts *f, uint32_t top)
{
    for (uint32_t i = top + 1; i < f->ops.n && f->ops.v[i].thread == f->ops.v[top].thread; i++)
        if (f->ops.v[i].top == i && f->ops.v[i].makes)
            return i;
    return MT_NONE;
}

/* Whether an op may keep what it computes with for backward: not what makes numbers, or makes one
 * of others that are no larger. */
static bool may_keep(const struct mt_advice_facts *f, uint32_t top, int64_t largest)
{
    static const char *const reductions[] = {"norm", "var", "std", "logsumexp", "max", "min",
                                             "prod", "dot", "mv",  "mm",        "loss"};
    const char *name = mt_advice_name(f, top);
    if (keeps_result_only(name) || strncmp(name, "aten::nll_loss", 14) == 0)
        return false;
    bool reduces = false;
    for (size_t i = 0; i < MT_ARRAY_LEN(reductions); i++)
        reduces |= strstr(name, reductions[i]) != NULL;
    return reduces || largest > SCALAR_B;
}

/* Whether an op between that one and the next backward pass may keep what a variable names: then
 * the variable is not what holds it. */
static bool may_be_kept_later(const struct mt_advice_facts *f, const int64_t *largest,
                              uint32_t next)
{
    int64_t until = INT64_MAX;
    for (size_t i = 0; i < f->backwards.n && until == INT64_MAX; i++)
        if (f->backwards.v[i].start_ns >= f->ops.v[next].end_ns)
            until = f->backwards.v[i].start_ns;
    for (uint32_t i = next_maker(f, next); i != MT_NONE && f->ops.v[i].start_ns < until;
         i = next_maker(f, i))
        if (!(f->ops.v[i].inside & (MT_IN_ENGINE | MT_IN_LOADER)) && largest[i] > 0 &&
            may_keep(f, i, largest[i]))
            return true;
    return false;
}

/* Of each top op the largest result that it leaves, but for data; allocated. */
static int64_t *largest_results(const struct mt_advice_facts *f)
{
    int64_t *largest = mt_alloc((f->ops.n + 1) * sizeof *largest);
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        uint32_t top = b->alloc_op == MT_NONE ? MT_NONE : f->ops.v[b->alloc_op].top;
        if (top != MT_NONE && b->category != MT_CATEGORY_INPUT && b->bytes > largest[top] &&
            b->freed_ns > f->ops.v[top].end_ns)
            largest[top] = b->bytes;
    }
    return largest;
}

bool mt_advise_del_before_backward(struct mt_advice_plan *p)
{
    const struct mt_advice_facts *f = p->f;
    int64_t *largest = largest_results(f);
    bool any = false;
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        uint32_t top = b->alloc_op == MT_NONE ? MT_NONE : f->ops.v[b->alloc_op].top;
        uint32_t next =
            top == MT_NONE || b->rule != MT_CATEGORY_R10_PROGRAM ? MT_NONE : next_maker(f, top);
        if (next == MT_NONE || !keeps_result_only(mt_advice_name(f, next)) ||
            !mt_advice_cut(p, i, mt_advice_record(f, f->ops.v[next].end_ns)))
            continue;
        any = true;
        if (p->bound != MT_BOUND_UP_TO && may_be_kept_later(f, largest, next))
            p->bound = MT_BOUND_UP_TO;
    }
    free(largest);
    if (any)
        mt_buf_adds(&p->because, "a variable holds them until backward is over");
    return any;
}
