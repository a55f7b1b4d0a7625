/*
 * Forward passes that no backward pass follows: without a graph a result lives until the next op
 * has used it, and what was kept for backward does not live at all.
 */
#include "lib/advice/rules.h"

#include "lib/base/human.h"
#include <stdlib.h>
#include <string.h>

enum { IN_A_ROW = 5 };

struct pass {
    const struct mt_advice_facts *f;
    uint32_t *first, *of_op; /* mt_advice_blocks_of_ops */
    bool *consumed;          /* by op: a backward pass has run what it made a graph of */
    uint32_t *maker;         /* by top op: the next one of its thread that leaves a block */
};

/* Marks the top ops that a backward pass has run backward, and those between them: a few in a row
 * without a node of the graph are no forward pass. */
static void find_consumed(struct pass *p)
{
    const struct mt_advice_facts *f = p->f;
    const struct mt_advice_op *ops = f->ops.v;
    for (size_t i = 0; i < f->links.n; i++)
        p->consumed[ops[ops[f->links.v[i]].forward].top] = true;
    for (uint32_t i = 0, from = 0, n = 0; i <= f->ops.n; i++) {
        bool ends = i == f->ops.n || p->consumed[i] || (i && ops[i].thread != ops[i - 1].thread);
        if (ends && n < IN_A_ROW)
            memset(p->consumed + from, true, i - from);
        if (ends) {
            from = i + (i < f->ops.n && p->consumed[i]);
            n = 0;
        }
        if (i < f->ops.n && ops[i].top == i && ops[i].makes && !p->consumed[i])
            n++;
    }
}

static void find_makers(struct pass *p)
{
    const struct mt_advice_facts *f = p->f;
    uint32_t next = MT_NONE;
    for (uint32_t i = (uint32_t)f->ops.n; i-- > 0;) {
        if (next != MT_NONE && f->ops.v[next].thread != f->ops.v[i].thread)
            next = MT_NONE;
        p->maker[i] = next;
        if (f->ops.v[i].top == i && f->ops.v[i].makes)
            next = i;
    }
}

static bool is_recurrent(const char *name)
{
    return strstr(name, "rnn") || strstr(name, "lstm") || strstr(name, "gru");
}

/* The block that an op hands on: the largest that it leaves, of recurrent ops the first. */
static uint32_t result_of(const struct pass *p, uint32_t top)
{
    const struct mt_advice_facts *f = p->f;
    bool first = is_recurrent(mt_advice_name(f, top));
    uint32_t result = MT_NONE;
    for (uint32_t k = p->first[top]; k < p->first[top + 1]; k++) {
        const struct mt_advice_block *b = &f->blocks.v[p->of_op[k]];
        if (b->freed_ns > f->ops.v[top].end_ns &&
            (result == MT_NONE || (!first && b->bytes > f->blocks.v[result].bytes)))
            result = p->of_op[k];
    }
    return result;
}

/* Whether the figure may promise too much: operands that are used later, and loops over time. */
static bool is_joined(const char *name)
{
    return is_recurrent(name) || strcmp(name, "aten::cat") == 0 || strcmp(name, "aten::stack") == 0;
}

static bool shorten(struct mt_advice_plan *plan, const struct pass *p, uint32_t top)
{
    const struct mt_advice_facts *f = p->f;
    const char *name = mt_advice_name(f, top);
    uint32_t result = result_of(p, top);
    bool any = false;
    for (uint32_t k = p->first[top]; k < p->first[top + 1]; k++) {
        uint32_t own = p->of_op[k];
        const struct mt_advice_block *b = &f->blocks.v[own];
        if (b->category != MT_CATEGORY_ACTIVATION || b->rule == MT_CATEGORY_R10_NO_GRAPH ||
            b->freed_ns <= f->ops.v[top].end_ns)
            continue;
        uint32_t user = own == result ? p->maker[top] : top;
        if (own == result && user != MT_NONE && p->consumed[user])
            continue; /* what the program goes on to use */
        if (own != result && is_recurrent(name))
            any |= mt_advice_cut(plan, own, b->alloc_record);
        else if (user != MT_NONE)
            any |= mt_advice_cut(plan, own, mt_advice_record(f, f->ops.v[user].end_ns));
    }
    return any;
}

bool mt_advise_no_grad(struct mt_advice_plan *plan)
{
    const unsigned other = MT_IN_ENGINE | MT_IN_OPTIMIZER | MT_IN_ZERO_GRAD | MT_IN_LOADER;
    const struct mt_advice_facts *f = plan->f;
    struct pass p = {.f = f};
    char n[MT_HUMAN_LONG];
    int64_t op_n = 0;
    mt_advice_blocks_of_ops(f, &p.first, &p.of_op);
    p.consumed = mt_alloc(f->ops.n + 1);
    p.maker = mt_alloc((f->ops.n + 1) * sizeof *p.maker);
    find_consumed(&p);
    find_makers(&p);
    plan->bound = MT_BOUND_ABOUT;
    for (uint32_t i = 0; i < f->ops.n; i++) {
        const struct mt_advice_op *op = &f->ops.v[i];
        if (op->top != i || p.consumed[i] || op->inside & other || !shorten(plan, &p, i))
            continue;
        op_n++;
        if (is_joined(mt_advice_name(f, i)))
            plan->bound = MT_BOUND_UP_TO;
    }
    if (op_n)
        mt_buf_addf(&plan->because, "results of %s are kept for a backward pass that never comes",
                    mt_human_plural(op_n, "op", n));
    free(p.first);
    free(p.of_op);
    free(p.consumed);
    free(p.maker);
    return op_n > 0;
}
