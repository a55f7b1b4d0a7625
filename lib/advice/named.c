#include "lib/advice/named.h"

int64_t mt_advice_returned(const struct mt_advice_facts *f, uint32_t maker, uint32_t user)
{
    const struct mt_advice_op *ops = f->ops.v;
    int64_t end_ns = ops[user].end_ns;
    if (user == maker)
        return end_ns;
    for (uint32_t up = ops[user].parent; up != MT_NONE && up > maker; up = ops[up].parent)
        if (f->tree->nodes.v[ops[up].node].is_python)
            end_ns = ops[up].end_ns;
    return end_ns;
}
