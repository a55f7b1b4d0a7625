/*
 * A tree by begin whose every node has the greatest rank, a random one, of those below it (a
 * treap), and knows the largest end among them.
 */
#include "lib/base/ranges.h"

#include "lib/base/hash.h"

void mt_ranges_free(struct mt_ranges *r)
{
    mt_vec_free(&r->nodes);
    mt_vec_free(&r->unused);
    r->root = 0;
}

size_t mt_ranges_bytes(const struct mt_ranges *r)
{
    return mt_vec_bytes(&r->nodes) + mt_vec_bytes(&r->unused);
}

static uint64_t last_of(const struct mt_ranges *r, uint32_t node)
{
    return node ? r->nodes.v[node].last : 0;
}

/* After what is below it has changed. */
static void update(struct mt_ranges *r, uint32_t node)
{
    struct mt_range_node *n = &r->nodes.v[node];
    n->last = n->range.end;
    for (int side = 0; side < 2; side++)
        if (last_of(r, n->below[side]) > n->last)
            n->last = last_of(r, n->below[side]);
}

/* Parts those below and at `node` into what begins before `begin`, and the others. */
static void split(struct mt_ranges *r, uint32_t node, uint64_t begin, uint32_t *before,
                  uint32_t *after)
{
    if (!node) {
        *before = *after = 0;
        return;
    }
    struct mt_range_node *n = &r->nodes.v[node];
    if (n->range.begin < begin) {
        split(r, n->below[1], begin, &n->below[1], after);
        *before = node;
    } else {
        split(r, n->below[0], begin, before, &n->below[0]);
        *after = node;
    }
    update(r, node);
}

/* All of `before` begin before those of `after`. */
static uint32_t join(struct mt_ranges *r, uint32_t before, uint32_t after)
{
    if (!before || !after)
        return before ? before : after;
    struct mt_range_node *b = &r->nodes.v[before], *a = &r->nodes.v[after];
    bool first = b->rank > a->rank;
    if (first)
        b->below[1] = join(r, b->below[1], after);
    else
        a->below[0] = join(r, before, a->below[0]);
    update(r, first ? before : after);
    return first ? before : after;
}

void mt_ranges_add(struct mt_ranges *r, struct mt_range range)
{
    uint32_t node, before, after;
    if (!r->nodes.n)
        r->seed = mt_hash_seed(), *mt_vec_push(&r->nodes) = (struct mt_range_node){0};
    if (r->unused.n) {
        node = r->unused.v[--r->unused.n];
    } else {
        node = (uint32_t)r->nodes.n;
        (void)mt_vec_push(&r->nodes);
    }
    r->nodes.v[node] =
        (struct mt_range_node){.range = range,
                               .last = range.end,
                               .rank = (uint32_t)mt_hash_short(r->seed, &node, sizeof node)};
    split(r, r->root, range.begin, &before, &after);
    r->root = join(r, join(r, before, node), after);
}

/* Takes the first one below `*link` that overlaps out of the tree. */
static uint32_t take(struct mt_ranges *r, uint32_t *link, uint64_t begin, uint64_t end)
{
    uint32_t node = *link, found;
    struct mt_range_node *n = &r->nodes.v[node];
    if (!node || n->last <= begin)
        return 0;
    if ((found = take(r, &n->below[0], begin, end)) == 0) {
        if (n->range.begin >= end)
            return 0;
        if (n->range.end > begin) {
            *link = join(r, n->below[0], n->below[1]);
            return node;
        }
        found = take(r, &n->below[1], begin, end);
    }
    if (found)
        update(r, node);
    return found;
}

bool mt_ranges_take(struct mt_ranges *r, uint64_t begin, uint64_t end, struct mt_range *out)
{
    uint32_t node = r->nodes.n ? take(r, &r->root, begin, end) : 0;
    if (!node)
        return false;
    *out = r->nodes.v[node].range;
    *mt_vec_push(&r->unused) = node;
    return true;
}
