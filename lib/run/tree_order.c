#include "lib/run/tree_order.h"

#include "lib/base/wrap.h"
#include <stdlib.h>
#include <string.h>

static int64_t magnitude(int64_t v)
{
    return v < 0 ? mt_wrap_sub(0, v) : v;
}

int64_t mt_tree_weight(const struct mt_item *item, unsigned knows)
{
    if (!mt_knows_net(knows))
        return knows & MT_KNOWS_AT_PEAK  ? item->total.at_peak_b
               : knows & MT_KNOWS_AT_END ? item->total.at_end_b
                                         : item->total.alloc_b;
    int64_t net = magnitude(mt_sums_net(&item->total));
    return net > item->total.alloc_b ? net : item->total.alloc_b;
}

int64_t mt_tree_size(const struct mt_item *item, unsigned knows, enum mt_tree_size which)
{
    bool net = mt_knows_net(knows);
    const struct {
        bool shown;
        int64_t v;
    } sizes[] = {[MT_TREE_AT_PEAK] = {knows & MT_KNOWS_AT_PEAK, item->total.at_peak_b},
                 [MT_TREE_AT_END] = {!net && knows & MT_KNOWS_AT_END, item->total.at_end_b},
                 [MT_TREE_ALLOC] = {knows & MT_KNOWS_ALLOC, item->total.alloc_b},
                 [MT_TREE_NET] = {net, magnitude(mt_sums_net(&item->total))}};
    return sizes[which].shown ? sizes[which].v : INT64_MIN;
}

int64_t mt_tree_size_of_roots(const struct mt_tree *t, unsigned knows, enum mt_tree_size which)
{
    int64_t sum = 0;
    for (size_t i = 0; i < t->items.n; i++) {
        int64_t size = mt_tree_size(&t->items.v[i], knows, which);
        if (t->items.v[i].parent == MT_NONE && size > 0)
            mt_wrap_inc(&sum, size);
    }
    return sum;
}

/* What the items of node MT_NONE are, as their groups. */
enum { OUTSIDE, UNSEEN, BEFORE };

void mt_tree_add_outside(struct mt_tree *t)
{
    for (size_t i = 0; i < t->outside.n; i++) {
        struct mt_item item = mt_item_of_node(MT_NONE);
        item.self = item.total = t->outside.v[i].sums;
        item.group = t->outside.v[i].unseen ? UNSEEN : OUTSIDE;
        *mt_vec_push(&t->items) = item;
    }
    if (!t->before_at_peak_b && !t->before_at_end_b)
        return;
    struct mt_item before = mt_item_of_node(MT_NONE);
    before.self.at_peak_b = before.total.at_peak_b = t->before_at_peak_b;
    before.self.at_end_b = before.total.at_end_b = t->before_at_end_b;
    before.group = BEFORE;
    *mt_vec_push(&t->items) = before;
}

const char *mt_tree_name(const struct mt_tree *t, const struct mt_item *item)
{
    if (item->node == MT_NONE)
        return item->group == UNSEEN   ? "[freed unseen]"
               : item->group == BEFORE ? "[before trace]"
                                       : t->outside_name;
    return mt_strtab_get(&t->strings, t->nodes.v[item->node].frame);
}

struct weighed {
    int64_t weight, time_ns;
    uint32_t item;
};

static int heavier_first(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    if (x->time_ns != y->time_ns && x->weight == 0)
        return x->time_ns > y->time_ns ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

/* Heaviest last into lists that grow at their head. */
static void link_siblings(struct mt_tree_order *o)
{
    const struct mt_tree *t = o->tree;
    uint32_t n = (uint32_t)t->items.n;
    struct weighed *all = mt_alloc((n + 1) * sizeof *all);
    for (uint32_t i = 0; i < n; i++) {
        const struct mt_item *item = &t->items.v[i];
        all[i] = (struct weighed){mt_tree_weight(item, o->knows), item->time_ns, i};
    }
    qsort(all, n, sizeof *all, heavier_first);
    for (uint32_t k = n; k-- > 0;) {
        uint32_t i = all[k].item, parent = t->items.v[i].parent;
        parent = parent == MT_NONE ? n : parent;
        o->next[i] = o->first[parent];
        o->first[parent] = i;
    }
    free(all);
}

void mt_tree_order_init(struct mt_tree_order *o, const struct mt_tree *t, unsigned knows)
{
    size_t n = t->items.n + 1;
    *o = (struct mt_tree_order){.tree = t, .knows = knows};
    o->first = mt_alloc(n * sizeof *o->first);
    o->next = mt_alloc(n * sizeof *o->next);
    o->chosen = mt_alloc(n * sizeof *o->chosen);
    memset(o->first, 0xff, n * sizeof *o->first);
    link_siblings(o);
}

void mt_tree_order_free(struct mt_tree_order *o)
{
    free(o->first);
    free(o->next);
    free(o->chosen);
}

static bool is_large(const struct mt_item *item, unsigned knows, const int64_t *least_b)
{
    for (int s = 0; s < MT_TREE_SIZE_N; s++)
        if (mt_tree_size(item, knows, (enum mt_tree_size)s) >= least_b[s])
            return true;
    return false;
}

void mt_tree_choose(struct mt_tree_order *o, mt_tree_matches *matches, const void *closure,
                    const int64_t least_b[MT_TREE_SIZE_N])
{
    const struct mt_item *items = o->tree->items.v;
    size_t n = o->tree->items.n;
    for (size_t i = 0; i < n; i++)
        o->chosen[i] = (items[i].parent != MT_NONE && o->chosen[items[i].parent]) ||
                       matches(closure, mt_tree_name(o->tree, &items[i]));
    for (size_t i = 0; i < n; i++)
        o->chosen[i] = o->chosen[i] && is_large(&items[i], o->knows, least_b);
    for (size_t i = n; i-- > 0;)
        if (o->chosen[i] && items[i].parent != MT_NONE)
            o->chosen[items[i].parent] = true;
}

uint32_t mt_tree_chosen(const struct mt_tree_order *o, uint32_t i)
{
    while (i != MT_NONE && !o->chosen[i])
        i = o->next[i];
    return i;
}

static bool is_within(const struct mt_tree *t, size_t i, int64_t depth)
{
    int64_t level = 1;
    for (uint32_t up = t->items.v[i].parent; up != MT_NONE && depth; up = t->items.v[up].parent)
        if (++level > depth)
            return false;
    return true;
}

int64_t mt_tree_not_chosen(const struct mt_tree_order *o, int64_t depth)
{
    int64_t n = 0;
    for (size_t i = 0; i < o->tree->items.n; i++)
        n += !o->chosen[i] && is_within(o->tree, i, depth);
    return n;
}
