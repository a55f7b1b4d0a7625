/* Blocks apart by size: each path is there once for each power of two, below a root that says it.
 */
#include "lib/model/heap_parts.h"

#include "lib/model/sizes.h"
#include <stdlib.h>
#include <string.h>

static uint32_t new_root(struct mt_recording *r, unsigned class)
{
    char name[MT_SIZE_NAME];
    mt_size_name(class, name);
    uint32_t frame = (uint32_t)r->frames.n, node = (uint32_t)r->nodes.n;
    *mt_vec_push(&r->frames) =
        (struct mt_frame){.name = mt_strtab_add(&r->strings, name, strlen(name)),
                          .object = MT_NONE,
                          .file = MT_NONE,
                          .instance = -1,
                          .kind = MT_FRAME_SIZE};
    *mt_vec_push(&r->nodes) = (struct mt_node){
        .parent = MT_NONE, .frame = frame, .top = frame, .scope = MT_NONE, .module = MT_NONE};
    return node;
}

static uint32_t *known_at(struct mt_heap *h, uint32_t node, unsigned class)
{
    return mt_map_at(&h->sized, (uint64_t)(node + 1u) << 7 | class);
}

static void add(struct mt_heap *h, uint32_t node, uint32_t of, unsigned class)
{
    while (h->sized_of.n <= node)
        *mt_vec_push(&h->sized_of) = MT_NONE;
    h->sized_of.v[node] = of + 1u; /* 0: the root */
    *known_at(h, of, class) = node;
}

uint32_t mt_heap_sized(struct mt_heap *h, uint32_t node, int64_t bytes)
{
    struct mt_recording *r = h->rec;
    const unsigned class = mt_size_class(bytes);
    if (!r->split_sizes || (node < h->sized_of.n && h->sized_of.v[node] != MT_NONE))
        return node;
    h->chain.n = 0;
    uint32_t at = node, own;
    for (; (own = *known_at(h, at, class)) == MT_MAP_NONE && at != MT_NONE;
         at = r->nodes.v[at].parent)
        *mt_vec_push(&h->chain) = at;
    if (own == MT_MAP_NONE) {
        own = new_root(r, class);
        add(h, own, MT_NONE, class);
    }
    while (h->chain.n) {
        struct mt_node copy = r->nodes.v[h->chain.v[--h->chain.n]];
        copy.parent = own;
        own = (uint32_t)r->nodes.n;
        *mt_vec_push(&r->nodes) = copy;
        add(h, own, h->chain.v[h->chain.n], class);
    }
    return own;
}

void mt_heap_settle_sizes(struct mt_heap *h)
{
    struct mt_node *v = h->rec->nodes.v;
    for (uint32_t i = 0; i < h->sized_of.n; i++)
        if (h->sized_of.v[i] != MT_NONE && h->sized_of.v[i])
            v[i].line = v[h->sized_of.v[i] - 1].line; /* it may come from several lines since */
}

/* ---- paths that are left without figures ---- */

/* The new number of each node, MT_NONE: it goes. */
static uint32_t *numbers_of(const struct mt_recording *r, size_t *kept)
{
    uint32_t *to = mt_alloc((r->nodes.n + 1) * sizeof *to);
    memset(to, 0, (r->nodes.n + 1) * sizeof *to);
    for (size_t i = 0; i < r->stats.n; i++)
        to[r->stats.v[i].node] = 1;
    for (size_t i = 0; i < r->extras.n; i++)
        if (r->extras.v[i].node != MT_NONE)
            to[r->extras.v[i].node] = 1;
    for (size_t i = 0; i < r->history.sites.n; i++)
        if (r->history.sites.v[i].node != MT_NONE)
            to[r->history.sites.v[i].node] = 1;
    for (size_t i = r->nodes.n; i-- > 0;)
        if (to[i] && r->nodes.v[i].parent != MT_NONE)
            to[r->nodes.v[i].parent] = 1;
    *kept = 0;
    for (size_t i = 0; i < r->nodes.n; i++)
        to[i] = to[i] ? (uint32_t)(*kept)++ : MT_NONE;
    return to;
}

void mt_heap_drop_bare_paths(struct mt_recording *r)
{
    size_t kept;
    uint32_t *to = numbers_of(r, &kept);
    for (size_t i = 0; i < r->nodes.n; i++) {
        struct mt_node n = r->nodes.v[i];
        n.parent = n.parent == MT_NONE ? MT_NONE : to[n.parent];
        if (to[i] != MT_NONE)
            r->nodes.v[to[i]] = n;
    }
    r->nodes.n = kept;
    for (size_t i = 0; i < r->stats.n; i++)
        r->stats.v[i].node = to[r->stats.v[i].node];
    for (size_t i = 0; i < r->extras.n; i++)
        if (r->extras.v[i].node != MT_NONE)
            r->extras.v[i].node = to[r->extras.v[i].node];
    for (size_t i = 0; i < r->history.sites.n; i++)
        if (r->history.sites.v[i].node != MT_NONE)
            r->history.sites.v[i].node = to[r->history.sites.v[i].node];
    free(to);
}
