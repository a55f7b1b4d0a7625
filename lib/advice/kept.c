#include "lib/advice/kept.h"

#include "lib/advice/operands.h"

#include <stdlib.h>

enum { ITERATIONS = 3, LATER = 2 };

/* A call path that makes input of one size. */
struct loader {
    uint64_t key;
    size_t n, computed; /* how often, something being computed in between; how much was before */
    int64_t last_ns;
};

/* The call path that makes as much input several times, of these the first: without steps, a loop
 * begins there. Layers that make some come later, if more often; those
 * that are built, make parts of the model. */
static uint64_t find_loader(const struct mt_advice_facts *f)
{
    MT_VEC(struct loader) all = {0};
    struct mt_map index = {0};
    uint64_t first = UINT64_MAX;
    int64_t built_ns = mt_advice_first_layer(f);
    size_t computed = 1;
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        computed += b->category == MT_CATEGORY_ACTIVATION;
        if (b->category != MT_CATEGORY_INPUT || b->node == MT_NONE)
            continue;
        uint32_t *at = mt_map_at(&index, mt_advice_site_key(b));
        if (*at == MT_MAP_NONE) {
            *at = (uint32_t)all.n;
            *mt_vec_push(&all) = (struct loader){.key = mt_advice_site_key(b)};
        }
        all.v[*at].n += all.v[*at].computed != computed;
        all.v[*at].computed = computed;
        all.v[*at].last_ns = b->alloc_ns;
    }
    for (size_t i = all.n; i-- > 0;)
        first = all.v[i].n >= ITERATIONS && (all.v[i].last_ns >= built_ns || built_ns == INT64_MAX)
                    ? all.v[i].key
                    : first;
    mt_map_free(&index);
    mt_vec_free(&all);
    return first;
}

static void find_iterations(const struct mt_advice_facts *f, struct mt_advice_kept *k)
{
    for (size_t i = 0; i < f->steps->all.n; i++)
        *mt_vec_push(&k->start_ns) = f->steps->all.v[i].start_ns;
    uint64_t loader = k->start_ns.n ? UINT64_MAX : find_loader(f);
    bool computes = true; /* since the last one: two inputs of a kind may belong to one iteration */
    for (size_t i = 0; loader != UINT64_MAX && i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        computes |= b->category == MT_CATEGORY_ACTIVATION;
        if (b->category == MT_CATEGORY_INPUT && b->node != MT_NONE &&
            mt_advice_site_key(b) == loader && computes) {
            *mt_vec_push(&k->start_ns) = b->alloc_ns;
            computes = false;
        }
    }
}

int64_t mt_advice_iteration_at(const struct mt_advice_kept *k, int64_t t_ns)
{
    size_t low = 0, high = k->start_ns.n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (k->start_ns.v[mid] <= t_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return (int64_t)low - 1;
}

int64_t mt_advice_iteration_end(const struct mt_advice_kept *k, int64_t i)
{
    return (size_t)i + 1 < k->start_ns.n ? k->start_ns.v[i + 1] : INT64_MAX;
}

/* What the site of a block grows by from step to step; NULL: it does not, as far as is known. */
static const struct mt_advice_growth *growth_of(const struct mt_advice_facts *f,
                                                const struct mt_advice_block *b)
{
    uint32_t at = f->growing_of && b->node != MT_NONE ? f->growing_of[b->node] : MT_NONE;
    return at == MT_NONE ? NULL : &f->growing.v[at];
}

/* Whatever else a site that surely grows makes; what optimizers do has its reasons. */
static bool may_be_kept(const struct mt_advice_facts *f, const struct mt_advice_block *b)
{
    const struct mt_advice_growth *g = growth_of(f, b);
    return b->node != MT_NONE && !b->doubtful &&
           (b->category == MT_CATEGORY_ACTIVATION || b->category == MT_CATEGORY_INPUT ||
            b->category == MT_CATEGORY_UNKNOWN || b->category == MT_CATEGORY_KEPT ||
            (g && g->sure && b->category != MT_CATEGORY_OPTIMIZER_STATE));
}

static struct mt_advice_kept_site *kept_at(struct mt_advice_kept *k, uint64_t site)
{
    uint32_t *at = mt_map_at(&k->index, site);
    if (*at == MT_MAP_NONE) {
        *at = (uint32_t)k->sites.n;
        *mt_vec_push(&k->sites) = (struct mt_advice_kept_site){.least = INT64_MAX, .last = -1};
    }
    return &k->sites.v[*at];
}

static void find_kept(const struct mt_advice_facts *f, struct mt_advice_kept *k)
{
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        int64_t own = may_be_kept(f, b) ? mt_advice_iteration_at(k, b->alloc_ns) : -1;
        if (own < 0 || b->freed_ns < mt_advice_iteration_end(k, own))
            continue;
        struct mt_advice_kept_site *s = kept_at(k, mt_advice_site_key(b));
        int64_t later = mt_advice_iteration_at(k, b->freed_ns) - own;
        s->made_n += s->last != own;
        s->last = own;
        s->late |= own + LATER < (int64_t)k->start_ns.n - 1 &&
                   b->freed_ns >= mt_advice_iteration_end(k, own + LATER);
        s->given_up |= b->freed_ns < k->start_ns.v[k->start_ns.n - 1];
        if (b->freed_ns == INT64_MAX)
            continue;
        s->least = later < s->least ? later : s->least;
        s->most = later > s->most ? later : s->most;
    }
}

static const struct mt_advice_kept_site *site_of(const struct mt_advice_kept *k,
                                                 const struct mt_advice_block *b)
{
    uint32_t at = mt_map_get(&k->index, mt_advice_site_key(b));
    return at == MT_MAP_NONE ? NULL : &k->sites.v[at];
}

/* Marks sites that grow: those that leaks tells, and those of which nothing is given up before the
 * last iteration. */
static void find_growing(const struct mt_advice_facts *f, struct mt_advice_kept *k)
{
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        uint32_t at =
            b->node == MT_NONE ? MT_MAP_NONE : mt_map_get(&k->index, mt_advice_site_key(b));
        if (at != MT_MAP_NONE)
            k->sites.v[at].grows = growth_of(f, b);
    }
    for (size_t i = 0; i < k->sites.n; i++) {
        struct mt_advice_kept_site *s = &k->sites.v[i];
        s->grows |=
            !s->given_up && s->made_n >= ITERATIONS && s->last + LATER >= (int64_t)k->start_ns.n;
        s->kept = s->late && (s->grows || s->least == INT64_MAX || s->most - s->least >= LATER);
        k->graphs_grow |= s->grows && !s->no_graph;
    }
}

/* Marks sites of which no graph holds a block: a backward pass has run it, and given up what it
 * held, or there never was one (no_grad). */
static void find_without_graph(const struct mt_advice_facts *f, struct mt_advice_kept *k)
{
    bool *consumed = mt_alloc(f->ops.n + 1);
    for (size_t i = 0; i < f->links.n; i++)
        consumed[f->ops.v[f->ops.v[f->links.v[i]].forward].top] = true;
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        uint32_t at =
            b->node == MT_NONE ? MT_MAP_NONE : mt_map_get(&k->index, mt_advice_site_key(b));
        uint32_t top = mt_advice_top(f, b);
        if (at != MT_MAP_NONE &&
            (b->rule == MT_CATEGORY_R10_NO_GRAPH || b->category == MT_CATEGORY_GRADIENT ||
             (top != MT_NONE && consumed[top])))
            k->sites.v[at].no_graph = true;
    }
    free(consumed);
}

/*
 * Whether what is kept of iterations are graphs. A graph keeps what its nodes have saved, so most
 * of what is alive when an iteration ends, and of each one more than one block; a list of results
 * keeps these alone. Where no op left a node - copies of weights - there is no graph.
 */
static bool keeps_graphs(const struct mt_advice_facts *f, const struct mt_advice_kept *k)
{
    size_t alive_n = 0, kept_n = 0, input_n = 0, iteration_n = 0;
    int64_t last = -1;
    bool node = false;
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        int64_t own = may_be_kept(f, b) ? mt_advice_iteration_at(k, b->alloc_ns) : -1;
        bool input = b->category == MT_CATEGORY_INPUT;
        if (own < 0 || b->bytes <= MT_ADVICE_SCALAR_B ||
            b->freed_ns < mt_advice_iteration_end(k, own))
            continue;
        const struct mt_advice_kept_site *s = site_of(k, b);
        alive_n += !input;
        if (!s || !s->kept || s->no_graph)
            continue;
        kept_n += !input;
        input_n += input;
        node |= b->category == MT_CATEGORY_ACTIVATION || b->category == MT_CATEGORY_KEPT;
        iteration_n += own != last;
        last = own;
    }
    return node && kept_n + input_n >= 2 * iteration_n && kept_n > 1 && 2 * kept_n > alive_n;
}

void mt_advice_kept_find(struct mt_advice_facts *f)
{
    struct mt_advice_kept *k = &f->kept;
    find_iterations(f, k);
    if (k->start_ns.n < ITERATIONS)
        return;
    find_kept(f, k);
    find_without_graph(f, k);
    find_growing(f, k);
    k->graphs = keeps_graphs(f, k);
}

void mt_advice_kept_free(struct mt_advice_facts *f)
{
    mt_vec_free(&f->kept.start_ns);
    mt_map_free(&f->kept.index);
    mt_vec_free(&f->kept.sites);
}

/* What is made in the first iteration alone is what all others use, whatever else its site makes
 * and keeps: a model, its copy. So are data of any one; data of a DataLoader wait for theirs. */
static bool is_to_be_used(const struct mt_advice_facts *f, const struct mt_advice_block *b,
                          const struct mt_advice_kept_site *s)
{
    bool data = b->category == MT_CATEGORY_INPUT, first = s->made_n == 1 && s->last == 0;
    if (first || s->grows)
        return first;
    if (s->made_n == 1)
        return data;
    return data && b->alloc_op != MT_NONE && f->ops.v[b->alloc_op].inside & MT_IN_LOADER;
}

const struct mt_advice_kept_site *mt_advice_kept_site_of(const struct mt_advice_facts *f,
                                                         const struct mt_advice_block *b)
{
    const struct mt_advice_kept_site *s = may_be_kept(f, b) ? site_of(&f->kept, b) : NULL;
    return s && s->kept && !is_to_be_used(f, b, s) ? s : NULL;
}

bool *mt_advice_find_kept(const struct mt_advice_facts *f)
{
    const struct mt_advice_kept *k = &f->kept;
    bool *out = mt_alloc(f->blocks.n + 1);
    for (size_t i = 0; k->sites.n && i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        const struct mt_advice_kept_site *s = mt_advice_kept_site_of(f, b);
        int64_t own = s ? mt_advice_iteration_at(k, b->alloc_ns) : -1;
        out[i] = own >= 0 && b->bytes > MT_ADVICE_SCALAR_B &&
                 b->freed_ns >= mt_advice_iteration_end(k, own) && s->made_n >= ITERATIONS;
    }
    return out;
}
