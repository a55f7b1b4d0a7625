#include "lib/advice/passes.h"

#include "lib/advice/kept.h"
#include "lib/advice/operands.h"
#include <stdlib.h>
#include <string.h>

enum { IN_A_ROW = 5 };

/* Whether a top op computes something that it leaves behind; what makes data does not. */
static bool computes(const struct mt_advice_facts *f, const uint32_t *first, const uint32_t *of_op,
                     uint32_t i)
{
    const struct mt_advice_op *op = &f->ops.v[i];
    if (op->top != i || !op->makes || op->inside & MT_OTHER_WORK)
        return false;
    uint32_t result = mt_advice_result_of(f, first, of_op, i);
    return result != MT_NONE && f->blocks.v[result].category != MT_CATEGORY_INPUT;
}

bool *mt_advice_find_consumed(const struct mt_advice_facts *f, const uint32_t *first,
                              const uint32_t *of_op, uint32_t *row)
{
    const struct mt_advice_op *ops = f->ops.v;
    bool *consumed = mt_alloc(f->ops.n + 1);
    for (size_t i = 0; i < f->links.n; i++)
        consumed[ops[ops[f->links.v[i]].forward].top] = true;
    for (uint32_t i = 0, from = 0, n = 0; i <= f->ops.n; i++) {
        bool ends = i == f->ops.n || consumed[i] || (i && ops[i].thread != ops[i - 1].thread);
        if (ends && n < IN_A_ROW)
            memset(consumed + from, true, i - from);
        if (ends) {
            from = i + (i < f->ops.n && consumed[i]);
            n = 0;
        }
        if (i < f->ops.n)
            row[i] = from;
        if (i < f->ops.n && !consumed[i] && computes(f, first, of_op, i))
            n++;
    }
    return consumed;
}

/* By op that a row begins with, allocated: a pass that is run backward takes what the
 * row computed: it is of the batch, as a teacher is. */
static bool *find_given(const struct mt_advice_facts *f, const uint32_t *first,
                        const uint32_t *of_op, const bool *consumed, const uint32_t *row)
{
    bool *given = mt_alloc(f->ops.n + 1), *skipped = mt_alloc(f->ops.n + 1);
    uint32_t *result = mt_alloc((f->ops.n + 1) * sizeof *result);
    for (uint32_t i = 0; i < f->ops.n; i++) {
        const struct mt_advice_op *op = &f->ops.v[i];
        skipped[i] = op->inside & MT_OTHER_WORK;
        result[i] = op->top == i && op->makes && !skipped[i]
                        ? mt_advice_result_of(f, first, of_op, i)
                        : MT_NONE;
    }
    uint32_t *taker = mt_advice_last_takers(f, result, skipped, true);
    for (uint32_t i = 0; i < f->ops.n; i++)
        if (result[i] != MT_NONE && !consumed[i] && taker[i] != MT_NONE && consumed[taker[i]] &&
            f->blocks.v[result[i]].category != MT_CATEGORY_INPUT &&
            f->blocks.v[result[i]].bytes > MT_ADVICE_SCALAR_B)
            given[row[i]] = true;
    free(taker);
    free(result);
    free(skipped);
    return given;
}

bool *mt_advice_find_evaluated(const struct mt_advice_facts *f)
{
    bool *out = mt_alloc(f->blocks.n + 1);
    uint32_t *first, *of_op, *row = mt_alloc((f->ops.n + 1) * sizeof *row);
    mt_advice_blocks_of_ops(f, &first, &of_op);
    bool *consumed = mt_advice_find_consumed(f, first, of_op, row);
    bool *given = find_given(f, first, of_op, consumed, row);
    for (size_t i = 0; i < f->blocks.n; i++) {
        uint32_t top = mt_advice_top(f, &f->blocks.v[i]);
        out[i] = top != MT_NONE && !consumed[top] && !given[row[top]] &&
                 !(f->ops.v[top].inside & MT_OTHER_WORK);
    }
    free(first);
    free(of_op);
    free(row);
    free(consumed);
    free(given);
    return out;
}
