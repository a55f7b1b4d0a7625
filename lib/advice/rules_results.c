/* Programs without layers, whose functions name what they compute for longer than they need it. */
#include "lib/advice/kept.h"
#include "lib/advice/named.h"
#include "lib/advice/operands.h"
#include "lib/advice/rules.h"

#include "lib/base/human.h"
#include "lib/run/sites.h"
#include <stdlib.h>

/* Whether it is plain enough: where layers are, functions of PyTorch name results, too, and another
 * thread may take them. */
static bool is_plain(const struct mt_advice_facts *f)
{
    for (uint32_t i = 0; i < f->ops.n; i++)
        if (f->ops.v[i].thread != f->ops.v[0].thread ||
            (f->ops.v[i].top == i && mt_advice_is_weighted(mt_advice_name(f, i))))
            return false;
    return !f->backwards.n && !f->optimizers.n;
}

/* Whether only a variable can hold a block: no graph does, nor a list or a cache, of which some
 * outlive the iteration after their own. */
static bool is_named(const struct mt_advice_facts *f, const struct mt_advice_block *b)
{
    const struct mt_advice_kept *k = &f->kept;
    int64_t own = mt_advice_iteration_at(k, b->alloc_ns);
    uint32_t site = mt_map_get(&k->index, mt_advice_site_key(b));
    if ((b->rule != MT_CATEGORY_R10_NO_GRAPH && b->rule != MT_CATEGORY_R9) || b->doubtful ||
        (site != MT_MAP_NONE && k->sites.v[site].late))
        return false;
    return own < 0 ||
           (b->freed_ns != INT64_MAX && b->freed_ns <= mt_advice_iteration_end(k, own + 1));
}

/* What ops hand on, and who takes it. */
struct results {
    const struct mt_advice_facts *f;
    uint32_t *first, *of_op; /* mt_advice_blocks_of_ops */
    uint32_t *result;        /* by top op: the block that it hands on */
    uint32_t *taker;         /* by top op: the last one that takes it, as far as is known */
    uint32_t *end;           /* by top op: the one with which the expression ends that it is in */
    struct mt_lives likely;  /* what is held if expressions stay whole */
};

static void find_results(struct results *r)
{
    const struct mt_advice_facts *f = r->f;
    bool *skipped = mt_alloc(f->ops.n + 1);
    r->result = mt_alloc((f->ops.n + 1) * sizeof *r->result);
    mt_advice_blocks_of_ops(f, &r->first, &r->of_op);
    for (uint32_t i = 0; i < f->ops.n; i++) {
        skipped[i] = f->ops.v[i].inside & MT_IN_LOADER;
        r->result[i] = f->ops.v[i].top == i && f->ops.v[i].makes && !skipped[i]
                           ? mt_advice_result_of(f, r->first, r->of_op, i)
                           : MT_NONE;
    }
    r->taker = mt_advice_last_takers(f, r->result, skipped, true);
    free(skipped);
}

/* `softmax(s / 8)` names no quotient, which is freed as soon as it is taken, and s cannot be
 * deleted before all of it is computed. So it looks where a name is bound again, `x = s / 8; x =
 * softmax(x)`, between which it can. */
static void find_expressions(struct results *r)
{
    const struct mt_advice_facts *f = r->f;
    int64_t *next_ns = mt_alloc((f->ops.n + 1) * sizeof *next_ns), start_ns = INT64_MAX;
    r->end = mt_alloc((f->ops.n + 1) * sizeof *r->end);
    for (uint32_t i = f->ops.n; i-- > 0;) { /* next_ns: when the top op behind begins */
        uint32_t taker = r->result[i] == MT_NONE ? MT_NONE : r->taker[i];
        uint32_t by = taker != MT_NONE && taker > i ? taker : i;
        bool goes_on = by != i && f->blocks.v[r->result[i]].freed_ns < next_ns[by];
        r->end[i] = goes_on ? r->end[by] : i;
        next_ns[i] = start_ns;
        start_ns = f->ops.v[i].top == i ? f->ops.v[i].start_ns : start_ns;
    }
    free(next_ns);
}

static void describe(struct mt_advice_plan *p, int64_t n, uint32_t largest, const uint32_t *taker)
{
    const struct mt_advice_facts *f = p->f;
    char results[MT_HUMAN_LONG];
    uint32_t top = mt_advice_top(f, &f->blocks.v[largest]);
    mt_buf_addf(
        &p->because, "%s %s alive after the last op that takes %s, by shapes: the largest that ",
        mt_human_plural(n, "result", results), n == 1 ? "is" : "are", n == 1 ? "it" : "them");
    mt_tree_site_add(&p->because, f->tree, f->blocks.v[largest].node);
    mt_buf_addf(&p->because, " makes, after %s has taken it", mt_advice_name(f, taker[top]));
}

/* Ends results with the op that takes them last. Returns how many. */
static int64_t end_taken(struct mt_advice_plan *p, struct results *r)
{
    const struct mt_advice_facts *f = p->f;
    uint32_t largest = MT_NONE;
    int64_t n = 0;
    for (uint32_t i = 0; i < f->ops.n; i++) {
        uint32_t own = r->result[i];
        if (own == MT_NONE || r->taker[i] == MT_NONE || !is_named(f, &f->blocks.v[own]))
            continue;
        int64_t end_ns = mt_advice_returned(f, i, r->taker[i]);
        if (f->blocks.v[own].freed_ns <= end_ns ||
            !mt_advice_cut(p, own, mt_advice_record(f, end_ns)))
            continue;
        struct mt_life *life = &r->likely.all.v[own];
        int64_t whole = mt_advice_record(f, mt_advice_returned(f, i, r->end[r->taker[i]]));
        life->to = whole < life->to ? whole : life->to;
        largest = !n || f->blocks.v[own].bytes > f->blocks.v[largest].bytes ? own : largest;
        n++;
    }
    if (n)
        describe(p, n, largest, r->taker);
    return n;
}

/* Ends what nothing is seen to take - second results, numbers of an unknown type - with the op that
 * makes it. */
static void end_others(struct mt_advice_plan *p, const struct results *r)
{
    const struct mt_advice_facts *f = p->f;
    for (uint32_t i = 0; i < f->ops.n; i++)
        for (uint32_t k = r->first[i]; f->ops.v[i].makes && k < r->first[i + 1]; k++) {
            const struct mt_advice_block *b = &f->blocks.v[r->of_op[k]];
            bool is_taken = r->of_op[k] == r->result[i] && r->taker[i] != MT_NONE;
            if (!is_taken && b->freed_ns > f->ops.v[i].end_ns && is_named(f, b))
                mt_advice_cut(p, r->of_op[k], mt_advice_record(f, f->ops.v[i].end_ns));
        }
}

bool mt_advise_del_results(struct mt_advice_plan *p)
{
    const struct mt_advice_facts *f = p->f;
    struct results r = {.f = f};
    if (!is_plain(f))
        return false;
    find_results(&r);
    find_expressions(&r);
    r.likely = mt_lives_copy(&p->lives);
    int64_t recorded_b = mt_advice_peak(f, &p->lives);
    p->bound = MT_BOUND_UP_TO; /* what else needs it is not seen */
    int64_t n = end_taken(p, &r);
    if (n && mt_advice_peak(f, &p->lives) < recorded_b)
        end_others(p, &r);
    if (n)
        mt_advice_doubt(
            p, mt_advice_peak(f, &p->lives), mt_advice_peak(f, &r.likely),
            "expressions such as f(g(x)) stay whole and what no op is seen to take stays",
            "is at least");
    free(r.first);
    free(r.of_op);
    free(r.result);
    free(r.taker);
    free(r.end);
    mt_vec_free(&r.likely.all);
    return n > 0;
}
