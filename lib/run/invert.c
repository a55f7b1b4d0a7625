#include "lib/run/invert.h"

#include "lib/base/wrap.h"
#include <stdlib.h>

enum {
    MOST_ITEMS = 1 << 17,
    MOST_STEPS = 1 << 26, /* from an op to its caller */
};

/* An op on its way to the root. */
struct climb {
    uint32_t item; /* of the old tree: whose figures they are */
    uint32_t node; /* where it is now; MT_NONE: behind the root */
    uint32_t at;   /* item of the new tree that it has come through, MT_NONE = none yet */
};

struct inverter {
    const struct mt_tree *t;
    struct mt_map index; /* item of the new tree, frame -> item below it */
    MT_VEC(struct mt_item) out;
};

/* Adds the figures to the item of this node below that which the op has come through. */
static void climb(struct inverter *v, struct climb *c)
{
    const struct mt_item *from = &v->t->items.v[c->item];
    const struct mt_tree_node *node = &v->t->nodes.v[c->node];
    uint32_t *at = mt_map_at(&v->index, (uint64_t)(c->at + 1u) << 32 | node->frame);
    if (*at == MT_NONE) {
        *at = (uint32_t)v->out.n;
        struct mt_item *new = mt_vec_push(&v->out);
        *new = mt_item_of_node(c->node);
        new->parent = c->at;
    }
    struct mt_item *to = &v->out.v[*at];
    mt_sums_add(&to->self, &from->self);
    to->total = to->self;
    mt_wrap_inc(&to->calls_n, from->calls_n);
    mt_wrap_inc(&to->self_time_ns, from->self_time_ns);
    to->time_ns = to->self_time_ns;
    c->at = *at;
    c->node = node->parent;
}

/* Level by level, so that all ops have as many callers where there are too many. */
static uint32_t climb_all(struct inverter *v, struct climb *all, size_t n, uint32_t levels)
{
    uint64_t steps = 0;
    for (uint32_t level = 0; n && (!levels || level < levels); level++) {
        if (level && (v->out.n >= MOST_ITEMS || steps + n > MOST_STEPS))
            return level;
        size_t left = 0;
        steps += n;
        for (size_t i = 0; i < n; i++) {
            climb(v, &all[i]);
            if (all[i].node != MT_NONE)
                all[left++] = all[i];
        }
        n = left;
    }
    return 0;
}

/* What only others did below it, as of most functions of a snapshot, says nothing of its callers.
 */
static bool did_nothing(const struct mt_item *i)
{
    const struct mt_sums *s = &i->self;
    return !i->calls_n && !i->self_time_ns && !s->alloc_b && !s->freed_b && !s->alloc_n &&
           !s->at_peak_b && !s->at_end_b && !s->at_peak_n && !s->at_end_n;
}

uint32_t mt_tree_invert(struct mt_tree *t, uint32_t levels)
{
    struct inverter v = {.t = t};
    struct climb *all = mt_alloc((t->items.n + 1) * sizeof *all);
    size_t n = 0;
    for (uint32_t i = 0; i < t->items.n; i++)
        if (!did_nothing(&t->items.v[i]))
            all[n++] = (struct climb){i, t->items.v[i].node, MT_NONE};
    uint32_t cut = climb_all(&v, all, n, levels);
    free(all);
    mt_map_free(&v.index);
    free(t->items.v);
    t->items.v = v.out.v;
    t->items.n = v.out.n;
    t->items.cap = v.out.cap;
    return cut;
}
