#include "lib/build/above.h"

enum { LONG = 64 }; /* ops: where one in so many on the way knows the answer, no way is longer */
static const uint32_t nothing = MT_NONE - 1;

static uint32_t parent_of(const struct mt_thread *t, uint32_t op)
{
    return t->ops.v[op - t->op_base].parent;
}

static void remember(struct mt_above *a, const struct mt_thread *t, uint32_t op, uint32_t n,
                     uint32_t found)
{
    for (uint32_t i = 1; i < n; i++) {
        op = parent_of(t, op);
        if (i % LONG == 0)
            *mt_map_at(&a->found, op) = found == MT_NONE ? nothing : found;
    }
}

uint32_t mt_above(struct mt_above *a, const struct mt_thread *t, uint32_t op)
{
    uint32_t n = 0, at = op, known = MT_MAP_NONE;
    for (; at != MT_NONE && !a->fits(a->of, &t->ops.v[at - t->op_base]); at = parent_of(t, at), n++)
        if (a->found.n && (known = mt_map_get(&a->found, at)) != MT_MAP_NONE)
            break;
    if (known != MT_MAP_NONE)
        at = known == nothing ? MT_NONE : known;
    if (n > LONG)
        remember(a, t, op, n, at);
    return at;
}

void mt_above_free(struct mt_above *a)
{
    mt_map_free(&a->found);
}
