/*
 * Forward passes that no backward pass follows: without a graph a result lives until the next op
 * has used it, and what was kept for backward does not live at all.
 */
#include "lib/advice/kept.h"
#include "lib/advice/layers.h"
#include "lib/advice/named.h"
#include "lib/advice/operands.h"
#include "lib/advice/passes.h"
#include "lib/advice/rules.h"

#include "lib/base/human.h"
#include "lib/base/map.h"
#include <stdlib.h>
#include <string.h>

/* How many blocks tell that ops made a graph, or made none. */
struct witnesses {
    struct mt_map graph, none;
};

struct pass {
    const struct mt_advice_facts *f;
    uint32_t *first, *of_op; /* mt_advice_blocks_of_ops */
    bool *consumed;          /* by op: of a pass that is run backward (passes.h) */
    uint32_t *maker;         /* by top op: the next one of its thread that leaves a block */
    uint32_t *result;        /* by top op: the block that it hands on */
    uint32_t *taker;         /* by top op: the last one that takes it, as far as is known */
    uint32_t *row;           /* by op: the first one since the last that was consumed */
    bool *graph_freed;       /* by record: it frees what a graph held, outside ops */
    struct witnesses sites, rows;
};

/* ---- what the trace says of graphs ---- */

static uint64_t site_of(const struct mt_advice_block *b)
{
    return (uint64_t)b->node << 40 ^ (uint64_t)b->bytes;
}

static void witness(struct witnesses *w, uint64_t key, bool graph)
{
    uint32_t *at = mt_map_at(graph ? &w->graph : &w->none, key);
    *at = *at == MT_MAP_NONE ? 1 : *at + 1;
}

/* Whether most say so: of the last op of a trace it never shows. *any: whether there are some. */
static bool most_say_graph(const struct witnesses *w, uint64_t key, bool *any)
{
    uint32_t graph = mt_map_get(&w->graph, key), none = mt_map_get(&w->none, key);
    *any = graph != MT_MAP_NONE || none != MT_MAP_NONE;
    return graph != MT_MAP_NONE && (none == MT_MAP_NONE || graph / 2 >= none);
}

/* Whether an allocator's record stands outside ops: in the program itself, or a function of it. */
static bool is_outside(const struct mt_advice_facts *f, uint32_t op)
{
    return op == MT_NONE || f->ops.v[op].top == MT_NONE;
}

/* Marks where a graph gives up a block: what its nodes saved goes then, record after record. */
static void mark_given_up(const struct pass *p, const struct mt_advice_block *b)
{
    if (is_outside(p->f, b->freed_op) && b->freed_record >= 0 && b->freed_record < p->f->record_n)
        p->graph_freed[b->freed_record] = true;
}

/* The same of graphs that no backward pass runs. */
static void find_given_up(const struct pass *p)
{
    const struct mt_advice_facts *f = p->f;
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        uint32_t top = mt_advice_top(f, b);
        if (b->rule == MT_CATEGORY_R10 && top != MT_NONE && !p->consumed[top])
            mark_given_up(p, b);
    }
}

/* Whether a graph that was given up was the last to hold a block that no op with a node made: it is
 * freed next to what that graph held. */
static bool is_freed_with_graph(const struct pass *p, const struct mt_advice_block *b)
{
    return is_outside(p->f, b->freed_op) && b->freed_record > 0 &&
           b->freed_record < p->f->record_n && p->graph_freed[b->freed_record - 1];
}

/* Whether an op that left no node made a block for one that did: what a layer saves of the data. */
static bool is_saved(const struct pass *p, const struct mt_advice_block *b)
{
    return b->rule == MT_CATEGORY_R10_NO_GRAPH && is_freed_with_graph(p, b);
}

/* Blocks that no backward pass finds alive tell whether their ops made a graph, so of others that
 * were made in the same place, or between them. */
static void find_witnesses(struct pass *p)
{
    const struct mt_advice_facts *f = p->f;
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        uint32_t top = mt_advice_top(f, b);
        bool graph = b->rule == MT_CATEGORY_R10 || is_saved(p, b);
        if (top == MT_NONE || p->consumed[top] || (!graph && b->rule != MT_CATEGORY_R10_NO_GRAPH))
            continue;
        witness(&p->sites, site_of(b), graph);
        witness(&p->rows, p->row[top], graph);
    }
}

/* Whether a graph holds a block of an op that no backward pass runs. What is freed in one does not
 * wait for it; of what a variable names for longer others tell. */
static bool is_of_graph(const struct pass *p, const struct mt_advice_block *b, uint32_t top)
{
    bool any;
    if (b->rule != MT_CATEGORY_R10_PROGRAM && b->rule != MT_CATEGORY_R12 &&
        b->rule != MT_CATEGORY_R12B)
        return b->rule == MT_CATEGORY_R10 || is_saved(p, b);
    bool graph = most_say_graph(&p->sites, site_of(b), &any);
    if (any || b->rule == MT_CATEGORY_R12B) /* its op left a node */
        return graph || !any;
    if (b->rule == MT_CATEGORY_R12 && !p->f->kept.graphs)
        return false; /* its op left none, and no graph is kept that could hold it */
    return most_say_graph(&p->rows, p->row[top], &any);
}

static void free_witnesses(struct witnesses *w)
{
    mt_map_free(&w->graph);
    mt_map_free(&w->none);
}

/* ---- lives ---- */

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

static bool is_forward(const struct pass *p, uint32_t op)
{
    return !p->consumed[op] && !(p->f->ops.v[op].inside & MT_OTHER_WORK);
}

/* Which op takes whose result, of those that no backward pass runs. */
static void find_takers(struct pass *p)
{
    const struct mt_advice_facts *f = p->f;
    bool *skipped = mt_alloc(f->ops.n + 1);
    for (uint32_t i = 0; i < f->ops.n; i++) {
        const struct mt_advice_op *op = &f->ops.v[i];
        skipped[i] = !is_forward(p, i);
        p->result[i] = op->top == i && op->makes && !skipped[i]
                           ? mt_advice_result_of(p->f, p->first, p->of_op, i)
                           : MT_NONE;
    }
    p->taker = mt_advice_last_takers(f, p->result, skipped, false);
    free(skipped);
}

/* Whether the figure may promise too much: operands that are used later, and loops over time. */
static bool is_joined(const char *name)
{
    return mt_advice_is_recurrent(name) || strcmp(name, "aten::cat") == 0 ||
           strcmp(name, "aten::stack") == 0;
}

/* The op with whose end the result of another one is not needed any more: the next one that leaves
 * a block, or a later one that takes it. */
static uint32_t last_user(const struct pass *p, uint32_t top)
{
    uint32_t next = p->maker[top], taker = p->taker[top];
    return next == MT_NONE || taker == MT_NONE || taker < next ? next : taker;
}

/* Whether a list holds a result, as no graph is known to: without one it does so all the same. */
static bool is_listed(const struct mt_advice_facts *f, const struct mt_advice_block *b)
{
    const struct mt_advice_kept_site *s = mt_advice_kept_site_of(f, b);
    return s && s->grows && (s->no_graph || !f->kept.graphs);
}

static bool shorten(struct mt_advice_plan *plan, const struct pass *p, uint32_t top)
{
    const struct mt_advice_facts *f = p->f;
    const char *name = mt_advice_name(f, top);
    uint32_t result = p->result[top];
    bool any = false;
    for (uint32_t k = p->first[top]; k < p->first[top + 1]; k++) {
        uint32_t own = p->of_op[k];
        const struct mt_advice_block *b = &f->blocks.v[own];
        if (!is_of_graph(p, b, top) || b->freed_ns <= f->ops.v[top].end_ns ||
            (own == result && is_listed(f, b)))
            continue;
        if (b->rule == MT_CATEGORY_R12B)
            plan->bound = MT_BOUND_UP_TO; /* a list may hold it, too */
        uint32_t user = own == result ? last_user(p, top) : top;
        if (own == result && user != MT_NONE && p->consumed[user])
            continue; /* what the program goes on to use */
        if (own != result && mt_advice_is_recurrent(name))
            any |= mt_advice_cut(plan, own, b->alloc_record);
        else if (user != MT_NONE)
            any |= mt_advice_cut(plan, own, mt_advice_record(f, mt_advice_returned(f, top, user)));
    }
    return any;
}

/* When the iteration ends that a block is of; INT64_MAX: never, or it is of none. */
static int64_t own_end(const struct mt_advice_facts *f, const struct mt_advice_block *b)
{
    int64_t own = mt_advice_iteration_at(&f->kept, b->alloc_ns);
    int64_t end_ns = own < 0 ? INT64_MAX : mt_advice_iteration_end(&f->kept, own);
    size_t n = f->steps->all.n;
    int64_t last_ns = n ? f->steps->all.v[n - 1].end_ns : INT64_MAX;
    return end_ns == INT64_MAX && own >= 0 && b->alloc_ns < last_ns ? last_ns : end_ns;
}

/* Data that graphs of earlier iterations hold, too, or are the last to hold: without these they end
 * with their own iteration, when variables are bound again. */
static void end_data(struct mt_advice_plan *plan, const struct pass *p)
{
    const struct mt_advice_facts *f = plan->f;
    const struct mt_advice_kept *k = &f->kept;
    int64_t most = mt_advice_peak(f, &plan->lives);
    for (size_t i = 0; i < f->blocks.n; i++)
        if (plan->touched[i])
            mark_given_up(p, &f->blocks.v[i]);
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        if (b->category != MT_CATEGORY_INPUT)
            continue;
        const struct mt_advice_kept_site *s = k->graphs ? mt_advice_kept_site_of(f, b) : NULL;
        if ((s && !s->no_graph) || is_freed_with_graph(p, b))
            mt_advice_cut(plan, i, mt_advice_record(f, own_end(f, b)));
    }
    mt_advice_doubt(plan, mt_advice_peak(f, &plan->lives), most, "the program keeps the data, too",
                    "is at least");
}

/* Lets the results that the plan shortens live until their functions return, or their user's next
 * op has run: a recording does not show for how long variables name them. */
static int64_t named_peak(const struct mt_advice_plan *plan, const struct pass *p)
{
    const struct mt_advice_facts *f = p->f;
    struct mt_lives longer = mt_lives_copy(&plan->lives);
    uint32_t *last = mt_advice_layer_ends(f, p->result);
    for (uint32_t i = 0; i < f->ops.n; i++) {
        uint32_t result = p->result[i], user = last_user(p, i);
        uint32_t next = user == MT_NONE ? MT_NONE : p->maker[user];
        if (result == MT_NONE || !plan->touched[result] || next == MT_NONE || p->consumed[next])
            continue;
        struct mt_life *life = &longer.all.v[result];
        int64_t recorded = f->blocks.v[result].freed_record, end_ns = f->ops.v[next].end_ns;
        if (last[i] != MT_NONE && f->ops.v[last[i]].end_ns > end_ns)
            end_ns = f->ops.v[last[i]].end_ns;
        int64_t until = mt_advice_record(f, end_ns);
        until = until < recorded ? until : recorded;
        life->to = until > life->to ? until : life->to;
    }
    int64_t most = mt_advice_peak(f, &longer);
    mt_vec_free(&longer.all);
    free(last);
    return most;
}

/* Where nn.MultiheadAttention returns its weights, its fast path makes them in the place of the
 * scores: in eval mode, which a recording does not show. */
static void reuse_scores(struct mt_advice_plan *plan, const struct pass *p)
{
    const struct mt_advice_facts *f = p->f;
    bool any = false;
    for (size_t i = 0; i < f->attention.n; i++) {
        const struct mt_advice_attention *a = &f->attention.v[i];
        uint32_t scores = a->scores == MT_NONE ? MT_NONE : p->result[a->scores];
        if (scores != MT_NONE && is_forward(p, a->op) &&
            mt_advice_cut(plan, scores, mt_advice_record(f, f->ops.v[a->op].start_ns))) {
            p->result[a->scores] = MT_NONE; /* no variable names it */
            any = true;
        }
    }
    if (!any)
        return;
    plan->bound = MT_BOUND_UP_TO;
    mt_buf_adds(&plan->because, "; in eval mode nn.MultiheadAttention then takes its fast path, "
                                "which makes weights in the place of the scores");
}

/* Adds what the fast path of nn.MultiheadAttention holds, which it takes without a graph on CPUs;
 * says what the peak is without it, where that is lower. */
static void add_attention(struct mt_advice_plan *plan, const struct pass *p)
{
    const struct mt_advice_facts *f = p->f;
    int64_t least = mt_advice_peak(f, &plan->lives);
    char bytes[MT_HUMAN_MAX];
    reuse_scores(plan, p);
    for (size_t i = 0; i < f->attention.n; i++) {
        const struct mt_advice_attention *a = &f->attention.v[i];
        const struct mt_advice_op *op = &f->ops.v[a->op];
        int64_t element_b = f->element_b > 0 ? f->element_b : (int64_t)sizeof(float);
        if (is_forward(p, a->op) && a->weights_n > a->result_n)
            mt_advice_add(plan, op->start_ns, op->end_ns, (a->weights_n - a->result_n) * element_b);
    }
    if (mt_advice_peak(f, &plan->lives) <= least)
        return;
    mt_buf_adds(&plan->because, "; in eval mode nn.MultiheadAttention then takes its fast path, "
                                "which on a CPU computes all weights at once: with "
                                "torch.backends.mha.set_fastpath_enabled(False) the peak is ");
    if (f->is_part)
        mt_buf_adds(&plan->because, "lower");
    else
        mt_buf_addf(&plan->because, "%s %s", plan->bound == MT_BOUND_UP_TO ? "at least" : "about",
                    mt_human_bytes(least, bytes));
}

/* What else changes, and how sure that is. */
static void finish(struct mt_advice_plan *plan, const struct pass *p, int64_t op_n)
{
    char n[MT_HUMAN_LONG];
    mt_buf_addf(&plan->because,
                "autograd keeps the results of %s for a backward pass that never runs",
                mt_human_plural(op_n, "op", n));
    end_data(plan, p);
    if (strcmp(p->f->device->name, "cpu") == 0)
        add_attention(plan, p);
    mt_advice_doubt(plan, mt_advice_peak(p->f, &plan->lives), named_peak(plan, p),
                    "variables name results until their functions return", "is");
}

bool mt_advise_no_grad(struct mt_advice_plan *plan)
{
    const struct mt_advice_facts *f = plan->f;
    struct pass p = {.f = f};
    int64_t op_n = 0;
    mt_advice_blocks_of_ops(f, &p.first, &p.of_op);
    p.maker = mt_alloc((f->ops.n + 1) * sizeof *p.maker);
    p.result = mt_alloc((f->ops.n + 1) * sizeof *p.result);
    p.row = mt_alloc((f->ops.n + 1) * sizeof *p.row);
    p.consumed = mt_advice_find_consumed(f, p.first, p.of_op, p.row);
    p.graph_freed = mt_alloc((size_t)f->record_n + 1);
    find_makers(&p);
    find_takers(&p);
    find_given_up(&p);
    find_witnesses(&p);
    plan->bound = MT_BOUND_ABOUT;
    for (uint32_t i = 0; i < f->ops.n; i++) {
        if (f->ops.v[i].top != i || !is_forward(&p, i) || !shorten(plan, &p, i))
            continue;
        op_n++;
        if (is_joined(mt_advice_name(f, i)))
            plan->bound = MT_BOUND_UP_TO;
    }
    if (op_n)
        finish(plan, &p, op_n);
    free(p.first);
    free(p.of_op);
    free(p.consumed);
    free(p.maker);
    free(p.row);
    free(p.graph_freed);
    free(p.result);
    free(p.taker);
    free_witnesses(&p.sites);
    free_witnesses(&p.rows);
    return op_n > 0;
}
