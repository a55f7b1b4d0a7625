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

/* By top op the block that it hands on, and in *taker the last op that takes it; both allocated. */
static uint32_t *find_results(const struct mt_advice_facts *f, uint32_t **taker)
{
    uint32_t *first, *of_op, *result = mt_alloc((f->ops.n + 1) * sizeof *result);
    bool *skipped = mt_alloc(f->ops.n + 1);
    mt_advice_blocks_of_ops(f, &first, &of_op);
    for (uint32_t i = 0; i < f->ops.n; i++) {
        skipped[i] = f->ops.v[i].inside & MT_IN_LOADER;
        result[i] = f->ops.v[i].top == i && f->ops.v[i].makes && !skipped[i]
                        ? mt_advice_result_of(f, first, of_op, i)
                        : MT_NONE;
    }
    *taker = mt_advice_last_takers(f, result, skipped, true);
    free(first);
    free(of_op);
    free(skipped);
    return result;
}

/* By top op the one with which the expression ends that takes something there: `softmax(s / 8)`
 * names no quotient, which is freed as soon as it is taken, and s cannot be deleted before all of
 * it is computed. Allocated. */
static uint32_t *expression_ends(const struct mt_advice_facts *f, const uint32_t *result,
                                 const uint32_t *taker)
{
    uint32_t *end = mt_alloc((f->ops.n + 1) * sizeof *end);
    int64_t *next_ns = mt_alloc((f->ops.n + 1) * sizeof *next_ns), start_ns = INT64_MAX;
    for (uint32_t i = f->ops.n; i-- > 0;) { /* next_ns: when the top op behind begins */
        uint32_t by = result[i] != MT_NONE && taker[i] != MT_NONE && taker[i] > i ? taker[i] : i;
        bool goes_on = by != i && f->blocks.v[result[i]].freed_ns < next_ns[by];
        end[i] = goes_on ? end[by] : i;
        next_ns[i] = start_ns;
        start_ns = f->ops.v[i].top == i ? f->ops.v[i].start_ns : start_ns;
    }
    free(next_ns);
    return end;
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

bool mt_advise_del_results(struct mt_advice_plan *p)
{
    const struct mt_advice_facts *f = p->f;
    uint32_t *taker, *result, *end, largest = MT_NONE;
    int64_t n = 0;
    if (!is_plain(f))
        return false;
    result = find_results(f, &taker);
    end = expression_ends(f, result, taker);
    p->bound = MT_BOUND_UP_TO; /* what else needs it is not seen */
    for (uint32_t i = 0; i < f->ops.n; i++) {
        uint32_t own = result[i];
        if (own == MT_NONE || taker[i] == MT_NONE || !is_named(f, &f->blocks.v[own]))
            continue;
        int64_t end_ns = mt_advice_returned(f, i, end[taker[i]]);
        if (f->blocks.v[own].freed_ns <= end_ns ||
            !mt_advice_cut(p, own, mt_advice_record(f, end_ns)))
            continue;
        largest = !n || f->blocks.v[own].bytes > f->blocks.v[largest].bytes ? own : largest;
        n++;
    }
    if (n)
        describe(p, n, largest, taker);
    free(taker);
    free(result);
    free(end);
    return n > 0;
}
