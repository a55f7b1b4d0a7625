/* What is held longer than the iteration that it is of. */
#include "lib/advice/kept.h"
#include "lib/advice/rules.h"

#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/run/sites.h"
#include <stdlib.h>
#include <string.h>

enum { ROUNDED_B = 512 };

/* Who keeps a site's blocks, each by a rule of its own. */
enum keeper { BY_GRAPH, BY_GROWING, BY_PROGRAM };

static enum keeper keeper_of(const struct mt_advice_kept *k, const struct mt_advice_kept_site *s)
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

static void add_earlier(const struct mt_advice_facts *f, const struct mt_advice_block *b,
                        struct ended *e)
{
    int64_t at = f->peak_record;
    if (at < 0 || b->alloc_record > at || b->freed_record <= at ||
        mt_advice_iteration_at(&f->kept, b->alloc_ns) >=
            mt_advice_iteration_at(&f->kept, f->record_ns[at]))
        return;
    e->earlier_n++;
    mt_wrap_inc(&e->earlier_b, b->bytes);
}

/* Ends the blocks of one keeper with their iterations. */
static struct ended end_kept(struct mt_advice_plan *p, enum keeper keeper)
{
    const struct mt_advice_facts *f = p->f;
    const struct mt_advice_kept *k = &f->kept;
    struct ended e = {0};
    int64_t most_b = -1;
    for (size_t i = 0; k->sites.n && i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        const struct mt_advice_kept_site *s = mt_advice_kept_site_of(f, b);
        int64_t own = s ? mt_advice_iteration_at(k, b->alloc_ns) : -1;
        int64_t end = own < 0 ? INT64_MAX : mt_advice_iteration_end(k, own);
        if (end == INT64_MAX || keeper_of(k, s) != keeper ||
            !mt_advice_cut(p, i, mt_advice_record(f, end)))
            continue;
        e.n++;
        add_earlier(f, b, &e);
        e.largest = b->bytes > most_b ? i : e.largest;
        most_b = b->bytes > most_b ? b->bytes : most_b;
    }
    return e;
}

/* The peak if variables name what an iteration makes until the next one has made its own. */
static int64_t peak_if_named(const struct mt_advice_plan *p, enum keeper keeper)
{
    const struct mt_advice_facts *f = p->f;
    const struct mt_advice_kept *k = &f->kept;
    struct mt_lives named = mt_lives_copy(&p->lives);
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_kept_site *s = mt_advice_kept_site_of(f, &f->blocks.v[i]);
        int64_t own = s ? mt_advice_iteration_at(k, f->blocks.v[i].alloc_ns) : -1;
        int64_t end = own < 0 ? INT64_MAX : mt_advice_iteration_end(k, own + 1);
        struct mt_life *life = &named.all.v[i];
        if (end != INT64_MAX && keeper_of(k, s) == keeper && mt_advice_record(f, end) < life->to)
            life->to = mt_advice_record(f, end);
    }
    int64_t peak_b = mt_advice_peak(f, &named);
    mt_vec_free(&named.all);
    return peak_b;
}

/* ---- what grows ---- */

/* Where leaks does not tell: by the iterations in which the blocks that would end are made. */
static void grow_by_iterations(struct mt_advice_plan *p)
{
    const struct mt_advice_facts *f = p->f;
    int64_t first = -1, last = -1, bytes = 0, n = 0;
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        if (!p->touched[i])
            continue;
        last = mt_advice_iteration_at(&f->kept, b->alloc_ns);
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
static void describe_growth(struct mt_advice_plan *p, const struct ended *e)
{
    const struct mt_advice_facts *f = p->f;
    const char *step = f->steps->all.n ? "step" : "iteration";
    const char *a_step = f->steps->all.n ? "a step" : "an iteration";
    char number[MT_HUMAN_MAX], bytes[MT_HUMAN_MAX], n[MT_HUMAN_LONG];
    mt_advice_find_growth(p);
    if (p->growth.per_step_b <= 0)
        grow_by_iterations(p);
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
    struct ended e = {0};
    char bytes[MT_HUMAN_MAX];
    int64_t named_b = 0;
    if (p->f->kept.graphs_grow) {
        named_b = peak_if_named(p, BY_GRAPH);
        e = end_kept(p, BY_GRAPH);
    }
    p->bound = MT_BOUND_UP_TO; /* what variables still name when the next iteration begins */
    if (e.n) {
        mt_buf_addf(&p->because,
                    "what an iteration saves for backward is still alive two iterations later (of "
                    "%lld): ",
                    (long long)p->f->kept.start_ns.n);
        describe_growth(p, &e);
    }
    if (e.n && !p->f->is_part)
        mt_buf_addf(&p->because,
                    "; if variables name the last ones until they are bound again, the peak is %s",
                    mt_human_bytes(named_b, bytes));
    return e.n > 0;
}

/* ---- results that are kept ---- */

static bool is_cpu(const struct mt_advice_facts *f)
{
    return strcmp(f->device->name, "cpu") == 0;
}

/* Whether a block may be the tensor of so many numbers; devices but the CPU round sizes up. One of
 * an unknown type is of that of the program. */
static bool may_be_tensor(const struct mt_advice_facts *f, const struct mt_advice_block *b,
                          int64_t numbers_n)
{
    int64_t more_b = is_cpu(f) ? 0 : ROUNDED_B - 1;
    int64_t own = b->number_b ? b->number_b : f->element_b;
    for (int64_t size = 1; size <= 8; size *= 2) {
        int64_t bytes;
        if (own && size != own)
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
            "results are still alive two iterations later (of %lld), though no graph holds them; "
            "%s makes a view, and a view, even a detached one, holds its whole tensor",
            iterations, mt_advice_name(p->f, view));
    else
        mt_buf_addf(&p->because,
                    "results are still alive two iterations later (of %lld), "
                    "although backward no longer needs them: stop keeping them, or keep only what "
                    "you need",
                    iterations);
    mt_buf_adds(&p->how, "kept.append(logits[:1].detach().clone())   (of a number: x.item()");
    mt_buf_adds(&p->how, is_cpu(p->f) ? ")" : "; all of a result: logits.detach().cpu())");
}

bool mt_advise_clone(struct mt_advice_plan *p)
{
    const struct mt_advice_facts *f = p->f;
    struct ended e = end_kept(p, BY_PROGRAM);
    p->bound = MT_BOUND_UP_TO; /* what the copies take is not seen */
    if (e.n) {
        int64_t own = mt_advice_iteration_at(&f->kept, f->blocks.v[e.largest].alloc_ns);
        describe_results(p, find_view(f, e.largest, mt_advice_iteration_end(&f->kept, own + 1)),
                         (long long)f->kept.start_ns.n);
    }
    return e.n > 0;
}

/* The line of code, by what is known of what is kept. */
static const char *code_for(const struct mt_advice_facts *f, const struct mt_advice_block *b,
                            bool view)
{
    if (view)
        return "kept.append(logits[:1].detach().clone())   (of a number: x.item())";
    if (b->bytes <= MT_ADVICE_SCALAR_B)
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
    struct ended e = end_kept(p, BY_GROWING);
    p->bound = MT_BOUND_UP_TO; /* what is kept instead is not seen, nor what names it longer */
    if (e.n) {
        const struct mt_advice_block *b = &f->blocks.v[e.largest];
        int64_t own = mt_advice_iteration_at(&f->kept, b->alloc_ns);
        uint32_t view = find_view(f, e.largest, mt_advice_iteration_end(&f->kept, own + 1));
        describe_growth(p, &e);
        if (view != MT_NONE)
            mt_buf_addf(&p->because,
                        "; no graph holds them, but %s makes a view, and a view, even a detached "
                        "one, holds its whole tensor",
                        mt_advice_name(f, view));
        mt_buf_adds(&p->because, "; what you keep instead is not in the figure");
        mt_buf_adds(&p->how, code_for(f, b, view != MT_NONE));
    }
    return e.n > 0;
}
