#include "lib/run/merge.h"

#include "lib/base/wrap.h"
#include <stdlib.h>

static void add_item(struct mt_item *to, const struct mt_item *from)
{
    mt_wrap_inc(&to->calls_n, from->calls_n);
    mt_wrap_inc(&to->time_ns, from->time_ns);
    mt_wrap_inc(&to->self_time_ns, from->self_time_ns);
    mt_sums_add(&to->self, &from->self);
    mt_sums_add(&to->total, &from->total);
}

void mt_tree_merge(struct mt_tree *t)
{
    struct mt_map of[MT_PHASE_N] = {0}; /* parent and name -> item */
    uint32_t *became = mt_alloc((t->items.n + 1) * sizeof *became), n = 0;
    for (uint32_t i = 0; i < t->items.n; i++) {
        struct mt_item item = t->items.v[i];
        const struct mt_tree_node *node = &t->nodes.v[item.node];
        item.parent = item.parent == MT_NONE ? MT_NONE : became[item.parent];
        uint32_t *at =
            mt_map_at(&of[node->phase], (uint64_t)(item.parent + 1u) << 32 | node->frame);
        if (*at == MT_MAP_NONE) {
            *at = n;
            t->items.v[n++] = item;
        } else {
            add_item(&t->items.v[*at], &item);
        }
        became[i] = *at;
    }
    bool merged = n < t->items.n;
    t->items.n = n;
    free(became);
    for (int p = 0; p < MT_PHASE_N; p++)
        mt_map_free(&of[p]);
    if (merged)
        mt_tree_preorder(t);
}
