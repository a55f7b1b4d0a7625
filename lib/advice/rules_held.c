/* What is held longer than the iteration that it is of. */
#include "lib/advice/rules.h"

#include "lib/base/human.h"
#include "lib/base/map.h"
#include "lib/base/wrap.h"
#include "lib/run/sites.h"
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 3, LATER = 2, SCALAR_B = 8, ROUNDED_B = 512 };

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
        uint64_t key = mt_advice_site_key(b);
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
            mt_advice_site_key(b) == loader && computes) {
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

/* How many iterations the blocks of a site outlive their own. */
struct kept_site {
    int64_t least, most;  /* of those freed; least INT64_MAX: none was */
    int64_t made_n, last; /* in how many iterations they are made, and in which last */
    bool late;            /* one outlives two further iterations */
    bool no_graph;        /* no graph holds them */
    bool given_up;        /* one is, before the last iteration */
    bool grows;           /* there are more of them from step to step */
};

struct kept {
    struct mt_map index; /* site -> sites */
    MT_VEC(struct kept_site) sites;
    bool graphs;      /* of those that a graph may hold, graphs do */
    bool graphs_grow; /* more from step to step */
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
        int64_t own = may_be_kept(f, b) ? iteration_at(it, b->alloc_ns) : -1;
        if (own < 0 || b->freed_ns < end_of(it, own))
            continue;
        struct kept_site *s = kept_at(out, mt_advice_site_key(b));
        int64_t later = iteration_at(it, b->freed_ns) - own;
        s->made_n += s->last != own;
        s->last = own;
        s->late |=
            own + LATER < (int64_t)it->start_ns.n - 1 && b->freed_ns >= end_of(it, own + LATER);
        s->given_up |= b->freed_ns < it->start_ns.v[it->start_ns.n - 1];
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
    return s && s->late && (s->grows || s->least == INT64_MAX || s->most - s->least >= LATER);
}

/* Marks sites that grow: those that leaks tells, and those of which nothing is given up before the
 * last iteration. */
static void find_growing(const struct mt_advice_facts *f, const struct iterations *it,
                         struct kept *k)
{
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        uint32_t at =
            b->node == MT_NONE ? MT_MAP_NONE : mt_map_get(&k->index, mt_advice_site_key(b));
        if (at == MT_MAP_NONE)
            continue;
        struct kept_site *s = &k->sites.v[at];
        s->grows = growth_of(f, b) || (!s->given_up && s->made_n >= ITERATIONS &&
                                       s->last + LATER >= (int64_t)it->start_ns.n);
    }
    for (size_t i = 0; i < k->sites.n; i++)
        k->graphs_grow |= k->sites.v[i].grows && !k->sites.v[i].no_graph;
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
 * keeps these alone.
 */
static bool keeps_graphs(const struct mt_advice_facts *f, const struct iterations *it,
                         const struct kept *k)
{
    size_t alive_n = 0, kept_n = 0, input_n = 0, iteration_n = 0;
    int64_t last = -1;
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        int64_t own = may_be_kept(f, b) ? iteration_at(it, b->alloc_ns) : -1;
        bool input = b->category == MT_CATEGORY_INPUT;
        if (own < 0 || b->bytes <= SCALAR_B || b->freed_ns < end_of(it, own))
            continue;
        uint32_t at = mt_map_get(&k->index, mt_advice_site_key(b));
        alive_n += !input;
        if (!is_kept(k, mt_advice_site_key(b)) || k->sites.v[at].no_graph)
            continue;
        kept_n += !input;
        input_n += input;
        iteration_n += own != last;
        last = own;
    }
    return kept_n + input_n >= 2 * iteration_n && kept_n > 1 && 2 * kept_n > alive_n;
}

static void find_all(const struct mt_advice_facts *f, struct iterations *it, struct kept *k)
{
    *k = (struct kept){0};
    find_iterations(f, it);
    if (it->start_ns.n < ITERATIONS)
        return;
    find_kept(f, it, k);
    find_without_graph(f, k);
    find_growing(f, it, k);
    k->graphs = keeps_graphs(f, it, k);
}

/* Who keeps a site's blocks, each by a rule of its own. */
enum keeper { BY_GRAPH, BY_GROWING, BY_PROGRAM };

static enum keeper keeper_of(const struct kept *k, const struct kept_site *s)
{
    if (k->graphs && !s->no_graph)
        return BY_GRAPH;
    return s->grows ? BY_GROWING : BY_PROGRAM;
}

/* What a rule ends with its iteration. */
struct ended {
    int64_t n;
    size_t largest;               /* block */
    int64_t earlier_b, earlier_n; /* of iterations before that of the peak, alive at it */
};

static void add_earlier(const struct mt_advice_facts *f, const struct iterations *it,
                        const struct mt_advice_block *b, struct ended *e)
{
    int64_t at = f->peak_record;
    if (at < 0 || b->alloc_record > at || b->freed_record <= at ||
        iteration_at(it, b->alloc_ns) >= iteration_at(it, f->record_ns[at]))
        return;
    e->earlier_n++;
    mt_wrap_inc(&e->earlier_b, b->bytes);
}

/* Ends the blocks of one keeper with their iterations. */
static struct ended end_kept(struct mt_advice_plan *p, const struct iterations *it,
                             const struct kept *k, enum keeper keeper)
{
    const struct mt_advice_facts *f = p->f;
    struct ended e = {0};
    int64_t most_b = -1;
    for (size_t i = 0; k->sites.n && i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        if (!may_be_kept(f, b) || !is_kept(k, mt_advice_site_key(b)))
            continue;
        uint32_t at = mt_map_get(&k->index, mt_advice_site_key(b));
        int64_t own = iteration_at(it, b->alloc_ns), end = own < 0 ? INT64_MAX : end_of(it, own);
        if (keeper_of(k, &k->sites.v[at]) != keeper || end == INT64_MAX ||
            !mt_advice_cut(p, i, mt_advice_record(f, end)))
            continue;
        e.n++;
        add_earlier(f, it, b, &e);
        e.largest = b->bytes > most_b ? i : e.largest;
        most_b = b->bytes > most_b ? b->bytes : most_b;
    }
    return e;
}

static void free_all(struct iterations *it, struct kept *k)
{
    mt_vec_free(&it->start_ns);
    mt_map_free(&k->index);
    mt_vec_free(&k->sites);
}

/* ---- what grows ---- */

/* Where leaks does not tell: by the iterations in which the blocks that would end are made. */
static void grow_by_iterations(struct mt_advice_plan *p, const struct iterations *it)
{
    const struct mt_advice_facts *f = p->f;
    int64_t first = -1, last = -1, bytes = 0, n = 0;
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        if (!p->touched[i])
            continue;
        last = iteration_at(it, b->alloc_ns);
        first = first < 0 ? last : first;
        if (last == first)
            continue;
        mt_wrap_inc(&bytes, b->bytes);
        n++;
    }
    if (last > first)
        p->growth = (struct mt_advice_growth){.per_step_b = (double)bytes / (double)(last - first),
                                              .per_step_n = (double)n / (double)(last - first)};
}

/* "1 new block a step (512 B) from aten::addmm in train is alive after its step; ..." */
static void describe_growth(struct mt_advice_plan *p, const struct iterations *it,
                            const struct ended *e)
{
    const struct mt_advice_facts *f = p->f;
    const char *step = f->steps->all.n ? "step" : "iteration";
    const char *a_step = f->steps->all.n ? "a step" : "an iteration";
    char number[MT_HUMAN_MAX], bytes[MT_HUMAN_MAX], n[MT_HUMAN_LONG];
    mt_advice_find_growth(p);
    if (p->growth.per_step_b <= 0)
        grow_by_iterations(p, it);
    const struct mt_advice_growth *g = &p->growth;
    if (g->per_step_n > 0)
        mt_buf_addf(&p->because, "%s new block%s %s (%s), most from ",
                    mt_human_number(g->per_step_n, number), g->per_step_n == 1 ? "" : "s", a_step,
                    mt_human_bytes((int64_t)(g->per_step_b + 0.5), bytes));
    else
        mt_buf_addf(&p->because, "%s more %s, most from ",
                    mt_human_bytes((int64_t)(g->per_step_b + 0.5), bytes), a_step);
    mt_tree_site_add(&p->because, f->tree, f->blocks.v[e->largest].node);
    if (e->earlier_n)
        mt_buf_addf(&p->because, "; of the peak, %s in %s %s of earlier %ss",
                    mt_human_bytes(e->earlier_b, bytes), mt_human_plural(e->earlier_n, "block", n),
                    e->earlier_n == 1 ? "is" : "are", step);
    if (!g->sure)
        mt_buf_adds(&p->because, "; whether it goes on growing, `memtool leaks` cannot tell");
}

bool mt_advise_detach(struct mt_advice_plan *p)
{
    struct iterations it;
    struct kept kept;
    struct ended e = {0};
    find_all(p->f, &it, &kept);
    if (kept.graphs_grow)
        e = end_kept(p, &it, &kept, BY_GRAPH);
    p->bound = MT_BOUND_UP_TO; /* what variables still name when the next iteration begins */
    if (e.n) {
        mt_buf_addf(&p->because,
                    "what an iteration saves for backward is still alive two iterations later (of "
                    "%lld): ",
                    (long long)it.start_ns.n);
        describe_growth(p, &it, &e);
    }
    free_all(&it, &kept);
    return e.n > 0;
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
        mt_buf_addf(
            &p->because,
            "results are alive two iterations later (%lld in all), though no graph holds them; "
            "%s makes a view, and a view, even a detached one, holds its whole tensor",
            iterations, mt_advice_name(p->f, view));
    else
        mt_buf_addf(&p->because,
                    "results are still alive two iterations after they were made (%lld in all), "
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
    find_all(f, &it, &kept);
    struct ended e = end_kept(p, &it, &kept, BY_PROGRAM);
    p->bound = MT_BOUND_UP_TO; /* what the copies take is not seen */
    if (e.n) {
        int64_t own = iteration_at(&it, f->blocks.v[e.largest].alloc_ns);
        describe_results(p, find_view(f, e.largest, end_of(&it, own + 1)),
                         (long long)it.start_ns.n);
    }
    free_all(&it, &kept);
    return e.n > 0;
}

/* The line of code, by what is known of what is kept. */
static const char *code_for(const struct mt_advice_facts *f, const struct mt_advice_block *b,
                            bool view)
{
    if (view)
        return "kept.append(logits[:1].detach().clone())   (of a number: x.item())";
    if (b->bytes <= SCALAR_B)
        return "total += loss.item()";
    if (b->category == MT_CATEGORY_INPUT)
        return "kept = collections.deque(maxlen=N)   (or make it again when it is needed)";
    if (b->category == MT_CATEGORY_GRADIENT)
        return "kept.append(p.grad.norm().item())   (or del x; the last N: "
               "collections.deque(maxlen=N))";
    return is_cpu(f) ? "kept.append(x.mean().item())   (or del x; the last N: "
                       "collections.deque(maxlen=N); in a hook: handle.remove())"
                     : "kept.append(x.detach().cpu())   (or del x; the last N: "
                       "collections.deque(maxlen=N); in a hook: handle.remove())";
}

bool mt_advise_stop_keeping(struct mt_advice_plan *p)
{
    const struct mt_advice_facts *f = p->f;
    struct iterations it;
    struct kept kept;
    find_all(f, &it, &kept);
    struct ended e = end_kept(p, &it, &kept, BY_GROWING);
    p->bound = MT_BOUND_UP_TO; /* what is kept instead is not seen, nor what names it longer */
    if (e.n) {
        const struct mt_advice_block *b = &f->blocks.v[e.largest];
        int64_t own = iteration_at(&it, b->alloc_ns);
        uint32_t view = find_view(f, e.largest, end_of(&it, own + 1));
        describe_growth(p, &it, &e);
        if (view != MT_NONE)
            mt_buf_addf(&p->because,
                        "; no graph holds them, but %s makes a view, and a view, even a detached "
                        "one, holds its whole tensor",
                        mt_advice_name(f, view));
        mt_buf_adds(&p->because, "; what you keep instead is not in the figure");
        mt_buf_adds(&p->how, code_for(f, b, view != MT_NONE));
    }
    free_all(&it, &kept);
    return e.n > 0;
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
        int64_t own = may_be_kept(f, b) ? iteration_at(&it, b->alloc_ns) : -1;
        out[i] = own >= 0 && b->bytes > SCALAR_B && b->freed_ns >= end_of(&it, own) &&
                 is_kept(&kept, mt_advice_site_key(b)) &&
                 kept.sites.v[mt_map_get(&kept.index, mt_advice_site_key(b))].made_n >= ITERATIONS;
    }
    free_all(&it, &kept);
    return out;
}
