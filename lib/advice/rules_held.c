/* What is held longer than the iteration that it is of. */
#include "lib/advice/rules.h"

#include "lib/base/human.h"
#include "lib/base/map.h"
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 3, LATER = 2, LOADED = 3, SCALAR_B = 8, ROUNDED_B = 512 };

/* When each iteration begins, in order. */
struct iterations {
    MT_VEC(int64_t) start_ns;
    int64_t end_ns; /* of the last */
};

/* The first call path that makes as much input several times: without steps, a loop begins there.
 */
static uint64_t find_loader(const struct mt_advice_facts *f)
{
    struct mt_map seen = {0};
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < f->blocks.n && first == UINT64_MAX; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        uint64_t key = (uint64_t)b->node << 40 ^ (uint64_t)b->bytes;
        if (b->category != MT_CATEGORY_INPUT || b->node == MT_NONE)
            continue;
        uint32_t *n = mt_map_at(&seen, key);
        *n = *n == MT_MAP_NONE ? 1 : *n + 1;
        if (*n == ITERATIONS)
            first = key;
    }
    mt_map_free(&seen);
    return first;
}

static void find_iterations(const struct mt_advice_facts *f, struct iterations *out)
{
    *out = (struct iterations){.end_ns = f->run->dur_ns};
    for (size_t i = 0; i < f->steps->all.n; i++)
        *mt_vec_push(&out->start_ns) = f->steps->all.v[i].start_ns;
    uint64_t loader = out->start_ns.n ? UINT64_MAX : find_loader(f);
    bool computes = true; /* since the last one: two inputs of a kind may belong to one iteration */
    for (size_t i = 0; loader != UINT64_MAX && i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        computes |= b->category == MT_CATEGORY_ACTIVATION;
        if (b->category == MT_CATEGORY_INPUT && b->node != MT_NONE &&
            ((uint64_t)b->node << 40 ^ (uint64_t)b->bytes) == loader && computes) {
            *mt_vec_push(&out->start_ns) = b->alloc_ns;
            computes = false;
        }
    }
}

/* Index of the iteration at that time, -1: before the first. */
static int64_t iteration_at(const struct iterations *it, int64_t t_ns)
{
    size_t low = 0, high = it->start_ns.n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (it->start_ns.v[mid] <= t_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return (int64_t)low - 1;
}

/* When an iteration ends. */
static int64_t end_of(const struct iterations *it, int64_t i)
{
    return (size_t)i + 1 < it->start_ns.n ? it->start_ns.v[i + 1] : INT64_MAX;
}

static uint64_t site_of(const struct mt_advice_block *b)
{
    return (uint64_t)b->node << 40 ^ (uint64_t)b->bytes;
}

static bool may_be_kept(const struct mt_advice_block *b)
{
    return b->node != MT_NONE &&
           (b->category == MT_CATEGORY_ACTIVATION || b->category == MT_CATEGORY_INPUT ||
            b->category == MT_CATEGORY_UNKNOWN);
}

/* How many iterations the blocks of a site outlive their own. */
struct kept_site {
    int64_t least, most;  /* of those freed; least INT64_MAX: none was */
    int64_t made_n, last; /* in how many iterations they are made, and in which last */
    bool late;            /* one outlives two further iterations */
    bool no_graph;        /* no graph holds them */
};

struct kept {
    struct mt_map index; /* site -> sites */
    MT_VEC(struct kept_site) sites;
    bool graphs; /* of those that a graph may hold, graphs do */
};

static struct kept_site *kept_at(struct kept *k, uint64_t site)
{
    uint32_t *at = mt_map_at(&k->index, site);
    if (*at == MT_MAP_NONE) {
        *at = (uint32_t)k->sites.n;
        *mt_vec_push(&k->sites) = (struct kept_site){.least = INT64_MAX, .last = -1};
    }
    return &k->sites.v[*at];
}

static void find_kept(const struct mt_advice_facts *f, const struct iterations *it,
                      struct kept *out)
{
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        int64_t own = may_be_kept(b) ? iteration_at(it, b->alloc_ns) : -1;
        if (own < 0 || b->freed_ns < end_of(it, own))
            continue;
        struct kept_site *s = kept_at(out, site_of(b));
        int64_t later = iteration_at(it, b->freed_ns) - own;
        s->made_n += s->last != own;
        s->last = own;
        s->late |=
            own + LATER < (int64_t)it->start_ns.n - 1 && b->freed_ns >= end_of(it, own + LATER);
        if (b->freed_ns == INT64_MAX)
            continue;
        s->least = later < s->least ? later : s->least;
        s->most = later > s->most ? later : s->most;
    }
}

/* Whether blocks of a site are kept: what is always freed after as many iterations is a cache. */
static bool is_kept(const struct kept *k, uint64_t site)
{
    uint32_t at = mt_map_get(&k->index, site);
    const struct kept_site *s = at == MT_MAP_NONE ? NULL : &k->sites.v[at];
    return s && s->late && (s->least == INT64_MAX || s->most - s->least >= LATER);
}

/* Marks sites of which no graph holds a block: a backward pass has run it, and given up what it
 * held, or there never was one (no_grad). */
static void find_without_graph(const struct mt_advice_facts *f, struct kept *k)
{
    bool *consumed = mt_alloc(f->ops.n + 1);
    for (size_t i = 0; i < f->links.n; i++)
        consumed[f->ops.v[f->ops.v[f->links.v[i]].forward].top] = true;
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        uint32_t at = b->node == MT_NONE ? MT_MAP_NONE : mt_map_get(&k->index, site_of(b));
        uint32_t top = mt_advice_top(f, b);
        if (at != MT_MAP_NONE &&
            (b->rule == MT_CATEGORY_R10_NO_GRAPH || (top != MT_NONE && consumed[top])))
            k->sites.v[at].no_graph = true;
    }
    free(consumed);
}

/*
 * Whether what is kept of iterations are graphs. A graph keeps what its nodes have saved, so most
 * of what is alive when an iteration ends; a list of results keeps these alone.
 */
static bool keeps_graphs(const struct mt_advice_facts *f, const struct iterations *it,
                         const struct kept *k)
{
    size_t alive_n = 0, kept_n = 0;
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        int64_t own = may_be_kept(b) ? iteration_at(it, b->alloc_ns) : -1;
        if (own < 0 || b->category == MT_CATEGORY_INPUT || b->bytes <= SCALAR_B ||
            b->freed_ns < end_of(it, own))
            continue;
        uint32_t at = mt_map_get(&k->index, site_of(b));
        alive_n++;
        kept_n += is_kept(k, site_of(b)) && !k->sites.v[at].no_graph;
    }
    return kept_n > 1 && 2 * kept_n > alive_n;
}

static void find_all(const struct mt_advice_facts *f, struct iterations *it, struct kept *k)
{
    *k = (struct kept){0};
    find_iterations(f, it);
    if (it->start_ns.n < ITERATIONS)
        return;
    find_kept(f, it, k);
    find_without_graph(f, k);
    k->graphs = keeps_graphs(f, it, k);
}

/* Ends the blocks that graphs keep, or that something else does, with their iterations; how many.
 * *largest: the largest of them. */
static int64_t end_kept(struct mt_advice_plan *p, const struct iterations *it, const struct kept *k,
                        bool of_graph, size_t *largest)
{
    const struct mt_advice_facts *f = p->f;
    int64_t n = 0, most_b = -1;
    for (size_t i = 0; k->sites.n && i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        if (!may_be_kept(b) || !is_kept(k, site_of(b)))
            continue;
        uint32_t at = mt_map_get(&k->index, site_of(b));
        int64_t own = iteration_at(it, b->alloc_ns), end = own < 0 ? INT64_MAX : end_of(it, own);
        if ((k->graphs && !k->sites.v[at].no_graph) != of_graph || end == INT64_MAX ||
            !mt_advice_cut(p, i, mt_advice_record(f, end)))
            continue;
        n++;
        *largest = b->bytes > most_b ? i : *largest;
        most_b = b->bytes > most_b ? b->bytes : most_b;
    }
    return n;
}

static void free_all(struct iterations *it, struct kept *k)
{
    mt_vec_free(&it->start_ns);
    mt_map_free(&k->index);
    mt_vec_free(&k->sites);
}

bool mt_advise_detach(struct mt_advice_plan *p)
{
    struct iterations it;
    struct kept kept;
    size_t largest = 0;
    find_all(p->f, &it, &kept);
    int64_t n = end_kept(p, &it, &kept, true, &largest);
    p->bound = MT_BOUND_UP_TO; /* what variables still name when the next iteration begins */
    if (n)
        mt_buf_addf(&p->because,
                    "what one iteration makes for backward is alive two iterations later, of %lld",
                    (long long)it.start_ns.n);
    free_all(&it, &kept);
    return n > 0;
}

/* ---- results that are kept ---- */

static bool is_cpu(const struct mt_advice_facts *f)
{
    return strcmp(f->device->name, "cpu") == 0;
}

/* Whether a block may be the tensor of so many numbers; devices but the CPU round sizes up. */
static bool may_be_tensor(const struct mt_advice_facts *f, const struct mt_advice_block *b,
                          int64_t numbers_n)
{
    int64_t more_b = is_cpu(f) ? 0 : ROUNDED_B - 1;
    for (int64_t size = 1; size <= 8; size *= 2) {
        int64_t bytes;
        if (b->float_b > 0 && size != b->float_b)
            continue;
        if (numbers_n > 0 && !__builtin_mul_overflow(numbers_n, size, &bytes) &&
            b->bytes >= bytes && b->bytes - bytes <= more_b)
            return true;
    }
    return false;
}

/* The top op that makes a view of a part of a block after it is made, before that time; MT_NONE:
 * there is none, as far as shapes tell. */
static uint32_t find_view(const struct mt_advice_facts *f, size_t block, int64_t until_ns)
{
    const struct mt_advice_block *b = &f->blocks.v[block];
    uint32_t top = mt_advice_top(f, b);
    for (size_t i = 0; top != MT_NONE && i < f->views.n; i++) {
        const struct mt_advice_op *op = &f->ops.v[f->views.v[i].op];
        if (f->views.v[i].op >= top && op->thread == f->ops.v[top].thread &&
            op->start_ns < until_ns && may_be_tensor(f, b, f->views.v[i].numbers_n))
            return f->views.v[i].op;
    }
    return MT_NONE;
}

/* view: the op that makes one of what is kept; MT_NONE: none is known. */
static void describe_results(struct mt_advice_plan *p, uint32_t view, long long iterations)
{
    if (view != MT_NONE)
        mt_buf_addf(&p->because,
                    "results are alive two iterations later, of %lld, though no graph holds them; "
                    "%s makes a view, and a view, even a detached one, holds its whole tensor",
                    iterations, mt_advice_name(p->f, view));
    else
        mt_buf_addf(&p->because,
                    "results are still alive two iterations after they were made, of %lld, "
                    "although backward no longer needs them: stop keeping them, or keep only what "
                    "you need",
                    iterations);
    mt_buf_adds(&p->how, "kept.append(logits[:1].detach().clone())   (of a number: x.item()");
    mt_buf_adds(&p->how, is_cpu(p->f) ? ")" : "; all of a result: logits.detach().cpu())");
}

bool mt_advise_clone(struct mt_advice_plan *p)
{
    const struct mt_advice_facts *f = p->f;
    struct iterations it;
    struct kept kept;
    size_t largest = 0;
    find_all(f, &it, &kept);
    int64_t n = end_kept(p, &it, &kept, false, &largest);
    p->bound = MT_BOUND_UP_TO; /* what the copies take is not seen */
    if (n) {
        int64_t own = iteration_at(&it, f->blocks.v[largest].alloc_ns);
        describe_results(p, find_view(f, largest, end_of(&it, own + 1)), (long long)it.start_ns.n);
    }
    free_all(&it, &kept);
    return n > 0;
}

/* ---- for other rules ---- */

bool *mt_advice_find_kept(const struct mt_advice_facts *f)
{
    bool *out = mt_alloc(f->blocks.n + 1);
    struct iterations it;
    struct kept kept;
    find_all(f, &it, &kept);
    for (size_t i = 0; kept.sites.n && i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        int64_t own = may_be_kept(b) ? iteration_at(&it, b->alloc_ns) : -1;
        out[i] = own >= 0 && b->bytes > SCALAR_B && b->freed_ns >= end_of(&it, own) &&
                 is_kept(&kept, site_of(b)) &&
                 kept.sites.v[mt_map_get(&kept.index, site_of(b))].made_n >= ITERATIONS;
    }
    free_all(&it, &kept);
    return out;
}

/* ---- batches that are there before they are needed ---- */

/* Whether a block is data that is there before the first backward pass, and after the second step.
 */
static bool is_loaded_early(const struct mt_advice_facts *f, const struct mt_advice_block *b)
{
    return b->category == MT_CATEGORY_INPUT && b->node != MT_NONE &&
           b->alloc_ns < f->backwards.v[0].start_ns && b->freed_ns >= mt_steps_until(f->steps, 1);
}

/* How many of them each place makes of a size, and how many the rarest: of several kinds, as
 * images and labels, that many batches are made. *kinds: those of which there are some. */
static uint32_t count_loaded(const struct mt_advice_facts *f, struct mt_map *made, uint32_t *kinds)
{
    uint32_t least = UINT32_MAX;
    *kinds = 0;
    for (size_t i = 0; i < f->blocks.n; i++) {
        if (!is_loaded_early(f, &f->blocks.v[i]))
            continue;
        uint32_t *k = mt_map_at(made, site_of(&f->blocks.v[i]));
        *k = *k == MT_MAP_NONE ? 1 : *k + 1;
        *kinds += *k == LOADED;
    }
    for (size_t i = 0; *kinds && i < f->blocks.n; i++) {
        uint32_t n = is_loaded_early(f, &f->blocks.v[i])
                         ? mt_map_get(made, site_of(&f->blocks.v[i]))
                         : UINT32_MAX;
        least = n >= LOADED && n < least ? n : least;
    }
    return least;
}

/* How many of all of a kind a batch has: those for which there is one of the rarest kind; of one
 * kind alone as many as steps have on average. */
static size_t of_batch(size_t all, uint32_t least, uint32_t kinds, size_t step_n)
{
    size_t batch_n = kinds > 1 ? least : step_n;
    return (all + batch_n - 1) / batch_n;
}

bool mt_advise_load_on_demand(struct mt_advice_plan *p)
{
    const struct mt_advice_facts *f = p->f;
    struct mt_map made = {0}, number = {0}; /* by site: of all, and so far */
    bool any = false;
    char n[MT_HUMAN_LONG];
    uint32_t kinds;
    int64_t batch_n = 0;
    if (!f->backwards.n || f->steps->all.n < LATER)
        return false;
    uint32_t least = count_loaded(f, &made, &kinds);
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        uint32_t all = is_loaded_early(f, b) ? mt_map_get(&made, site_of(b)) : 0;
        if (all < LOADED)
            continue;
        size_t step_n = f->steps->all.n;
        uint32_t *k = mt_map_at(&number, site_of(b));
        *k = *k == MT_MAP_NONE ? 0 : *k + 1;
        struct mt_life *life = &p->lives.all.v[i];
        size_t step = *k / of_batch(all, least, kinds, step_n);
        bool needed = step < step_n;
        life->from = needed ? mt_advice_record(f, f->steps->all.v[step].start_ns) : 0;
        life->to = needed ? mt_advice_record(f, f->steps->all.v[step].end_ns) : 0;
        p->touched[i] = any = true;
        batch_n++;
    }
    mt_map_free(&number);
    mt_map_free(&made);
    p->bound = kinds > 1 ? MT_BOUND_EXACT : MT_BOUND_ABOUT;
    if (any)
        mt_buf_addf(&p->because, "%s are made before the first step and kept",
                    mt_human_plural(batch_n, "block", n));
    return any;
}
