#include "lib/advice/layers.h"

#include "lib/advice/repeats.h"
#include <stdlib.h>
#include <string.h>

enum { STRETCHES = 4 };

struct sequence {
    MT_VEC(uint32_t) ops, keys; /* of one name and shape */
    uint32_t *last;             /* by op */
};

static void mark_layer(struct sequence *s, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        s->last[s->ops.v[i]] = s->ops.v[to - 1];
}

/* The iterations of a loop are alike, too: what repeats itself in most of one are its layers. */
static void mark(struct sequence *s, size_t from, size_t to, int depth)
{
    if (!depth)
        return;
    const struct mt_repeat r = mt_find_repeat(s->keys.v, from, to);
    if (!r.period)
        return;
    const struct mt_repeat inner = mt_find_repeat(s->keys.v, r.from, r.from + r.period);
    const bool loop = inner.period && (inner.to - inner.from) * 2 >= r.period;
    for (size_t at = r.from; at < r.to; at += r.period) {
        const size_t end = at + r.period < r.to ? at + r.period : r.to;
        if (loop)
            mark(s, at, end, depth - 1);
        else if (end - at == r.period)
            mark_layer(s, at, end);
    }
    mark(s, from, r.from, depth - 1);
    mark(s, r.to, to, depth - 1);
}

uint32_t *mt_advice_layer_ends(const struct mt_advice_facts *f, const uint32_t *result)
{
    struct sequence s = {.last = mt_alloc((f->ops.n + 1) * sizeof *s.last)};
    struct mt_map key_of = {0};
    memset(s.last, 0xff, (f->ops.n + 1) * sizeof *s.last);
    for (uint32_t i = 0; i < f->ops.n; i++) {
        const struct mt_advice_op *op = &f->ops.v[i];
        if (result[i] == MT_NONE)
            continue;
        uint32_t *key =
            mt_map_at(&key_of, (uint64_t)op->shape_id << 32 | f->tree->nodes.v[op->node].frame);
        if (*key == MT_MAP_NONE)
            *key = (uint32_t)key_of.n;
        *mt_vec_push(&s.ops) = i;
        *mt_vec_push(&s.keys) = *key;
    }
    mark(&s, 0, s.ops.n, STRETCHES);
    mt_map_free(&key_of);
    mt_vec_free(&s.ops);
    mt_vec_free(&s.keys);
    return s.last;
}
