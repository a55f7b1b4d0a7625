#include "lib/advice/passes.h"

#include "lib/advice/operands.h"
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
