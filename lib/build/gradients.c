#include "lib/build/gradients.h"
#include "lib/base/sort.h"

#include "lib/base/search.h"
#include "lib/build/above.h"
#include "lib/build/build.h"
#include "lib/build/phases.h"
#include <stdlib.h>
#include <string.h>

static const char accumulate[] =
    "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad";

enum mark {
    MARK_ENGINE,
    MARK_ACCUMULATE,
    MARK_CHECKPOINT,
    MARK_PARTIAL,
    MARK_STEPPED, /* in the pass itself */
    MARK_REDUCED, /* these end it: */
    MARK_OPTIMIZER,
    MARK_WORK
};

/* What tells where backward passes begin and end. */
struct sign {
    int64_t t_ns, end_ns;
    enum mark mark;
};

struct finder {
    const struct mt_recording *r;
    const struct mt_processes *p;
    struct mt_gradients *out;
    bool *leads;               /* of each thread: its work ends a backward pass */
    MT_VEC(struct sign) signs; /* of one process */
    struct mt_above call;      /* of AccumulateGrad */
    struct mt_map stepping;    /* such calls, whose hooks step an optimizer: its first step */
};

static const char *name_of(const struct mt_recording *r, const struct mt_node *n)
{
    return mt_rec_frame_name(r, n->frame);
}

static bool is_accumulate(const struct mt_recording *r, const struct mt_node *n)
{
    return mt_frame_is_engine(r, n->frame) && strcmp(name_of(r, n), accumulate) == 0;
}

/* As backward of nn.Embedding(sparse=True) does, for the rows that a batch used. */
static bool makes_sparse(const struct mt_recording *r, const struct mt_node *n)
{
    static const char sparse[] = "aten::_sparse_coo_tensor";
    return n->phase == MT_PHASE_BACKWARD && strncmp(name_of(r, n), sparse, sizeof sparse - 1) == 0;
}

/* Whether what learns is put together of all ranks' shards, and gone when its gradient is in shards
 * again: as FSDP does it. */
static bool shards(const struct mt_recording *r, const struct mt_node *n)
{
    static const char *const names[] = {"FSDP::post_backward",
                                        "FullyShardedDataParallel._post_backward_hook"};
    bool found = false;
    for (size_t i = 0; i < MT_ARRAY_LEN(names) && !found; i++)
        found = r->frames.v[n->frame].kind == MT_FRAME_ANNOTATION &&
                strncmp(name_of(r, n), names[i], strlen(names[i])) == 0;
    return found;
}

/* Whether a checkpoint (use_reentrant=True) runs backward in itself: it has that accumulate the
 * gradient of what it is given, which goes on from there. */
static bool runs_again(const struct mt_recording *r, const struct mt_node *n)
{
    return n->phase == MT_PHASE_BACKWARD &&
           strcmp(name_of(r, n), "CheckpointFunctionBackward") == 0;
}

/* Whether a gradient is copied out of a bucket, when all ranks have reduced it: it is no view. */
static bool reduces(const struct mt_recording *r, const struct mt_node *n)
{
    return r->frames.v[n->frame].kind == MT_FRAME_OP &&
           strcmp(name_of(r, n), "torch.distributed.ddp.reducer::copy_bucket_to_grad") == 0;
}

/* Whether a hook of a gradient has an optimizer do it, while the pass goes on. */
static bool is_within(const struct mt_recording *r, const struct mt_node *n)
{
    while (n->phase == MT_PHASE_OPTIMIZER && n->parent != MT_NONE)
        n = &r->nodes.v[n->parent];
    return n->phase == MT_PHASE_BACKWARD;
}

static bool accumulates(const void *recording, const struct mt_op *op)
{
    const struct mt_recording *r = recording;
    return is_accumulate(r, &r->nodes.v[op->node]);
}

/* ---- backward passes ---- */

static struct mt_thread *thread_of_op(const struct mt_recording *r, uint32_t op)
{
    for (size_t t = 0; t < r->threads.n; t++) {
        struct mt_thread *thread = &r->threads.v[t];
        if (op >= thread->op_base && op - thread->op_base < thread->ops.n)
            return thread;
    }
    return NULL;
}

/* Threads that run backward, a forward pass that is gone back through, or an optimizer. What a
 * writer or a loader of data does beside has nothing to do with it. */
static void find_leaders(struct finder *f)
{
    const struct mt_recording *r = f->r;
    const struct mt_thread *last = NULL;
    for (size_t t = 0; t < r->threads.n; t++) {
        const struct mt_thread *thread = &r->threads.v[t];
        for (size_t i = 0; i < thread->ops.n; i++) {
            const struct mt_op *op = &thread->ops.v[i];
            const struct mt_node *n = &r->nodes.v[op->node];
            f->leads[t] |= n->phase == MT_PHASE_BACKWARD || mt_frame_is_optimizer(r, n->frame);
            if (!mt_op_is_backward(op) || op->fwd == MT_NONE)
                continue;
            if (!last || op->fwd < last->op_base || op->fwd - last->op_base >= last->ops.n)
                last = thread_of_op(r, op->fwd);
            if (last)
                f->leads[last - r->threads.v] = true;
        }
    }
}

static void add_stepping(struct finder *f, const struct mt_thread *t, uint32_t step)
{
    const uint32_t call = mt_above(&f->call, t, step);
    uint32_t *first = call == MT_NONE ? NULL : mt_map_at(&f->stepping, call);
    if (first && *first == MT_MAP_NONE)
        *first = step;
}

static void add_sign(struct finder *f, const struct mt_thread *t, const struct mt_op *op)
{
    const struct mt_node *n = &f->r->nodes.v[op->node];
    bool top = n->top == n->frame && f->r->frames.v[n->frame].kind == MT_FRAME_OP;
    enum mark mark;
    if (mt_frame_is_engine(f->r, n->frame))
        mark = is_accumulate(f->r, n) ? MARK_ACCUMULATE : MARK_ENGINE;
    else if (runs_again(f->r, n))
        mark = MARK_CHECKPOINT;
    else if (mt_frame_is_optimizer(f->r, n->frame))
        mark = is_within(f->r, n) ? MARK_STEPPED : MARK_OPTIMIZER;
    else if (makes_sparse(f->r, n) || shards(f->r, n))
        mark = MARK_PARTIAL;
    else if (reduces(f->r, n))
        mark = MARK_REDUCED;
    else if (top && n->phase != MT_PHASE_RECOMPUTED && !is_within(f->r, n))
        mark = MARK_WORK;
    else
        return;
    if (mark == MARK_STEPPED)
        add_stepping(f, t, t->op_base + (uint32_t)(op - t->ops.v));
    *mt_vec_push(&f->signs) = (struct sign){op->start_ns, op->end_ns, mark};
}

static void collect_signs(struct finder *f, uint32_t process)
{
    f->signs.n = 0;
    for (uint32_t t = f->p->thread_at[process]; t < f->p->thread_at[process + 1]; t++) {
        const struct mt_thread *thread = &f->r->threads.v[f->p->threads[t]];
        for (size_t i = 0; i < thread->ops.n && f->leads[f->p->threads[t]]; i++)
            add_sign(f, thread, &thread->ops.v[i]);
    }
}

/* Of the process whose signs were collected. */
static void find_backwards(struct finder *f)
{
    struct mt_backward *open = NULL;
    const size_t first = f->out->backwards.n;
    uint32_t step_n = 0;
    mt_sort_by_time(f->signs.v, f->signs.n, sizeof *f->signs.v, NULL);
    for (size_t i = 0; i < f->signs.n; i++) {
        const struct sign *s = &f->signs.v[i];
        step_n += s->mark == MARK_OPTIMIZER || s->mark == MARK_STEPPED;
        if (s->mark == MARK_REDUCED && f->out->backwards.n > first) /* behind all others of it */
            f->out->backwards.v[f->out->backwards.n - 1].reduced_n++;
        if (s->mark >= MARK_REDUCED) {
            open = NULL;
            continue;
        }
        if (s->mark >= MARK_CHECKPOINT) {
            if (open) { /* in a backward op, which began the pass, or right behind */
                open->partial |= s->mark == MARK_PARTIAL;
                open->due_n -= s->mark == MARK_CHECKPOINT; /* one that is still to come */
            }
            continue;
        }
        if (!open) {
            open = mt_vec_push(&f->out->backwards);
            *open =
                (struct mt_backward){.start_ns = s->t_ns, .end_ns = s->end_ns, .step_n = step_n};
        }
        open->end_ns = s->end_ns > open->end_ns ? s->end_ns : open->end_ns;
        open->due_n += s->mark == MARK_ACCUMULATE;
    }
}

/* ---- gradients ---- */

/* The call of AccumulateGrad that a record happened in; MT_NONE = none. */
static uint32_t call_of(struct finder *f, const struct mt_record *rec)
{
    return rec->unseen ? MT_NONE : mt_above(&f->call, &f->r->threads.v[rec->thread], rec->op);
}

/* Whether a block could be a gradient, as far as its allocation goes; *at: its backward pass. */
static bool is_of_backward(const struct finder *f, const struct mt_record *rec, size_t *at)
{
    uint32_t node = mt_rec_node(f->r, rec);
    if (rec->bytes <= 0 || node == MT_NONE || f->r->devices.v[rec->device].no_addresses)
        return false;
    uint8_t phase = f->r->nodes.v[node].phase;
    if (phase != MT_PHASE_BACKWARD && phase != MT_PHASE_RECOMPUTED)
        return false;
    const struct mt_backwards b = mt_backwards_of(f->out, f->r->threads.v[rec->thread].process);
    size_t n = b.n ? mt_count_up_to(&b.v->start_ns, b.n, sizeof *b.v, rec->t_ns) : 0;
    *at = b.first + n - 1;
    return n && rec->t_ns <= b.v[n - 1].end_ns;
}

/* Whether an optimizer frees it within its pass, or a hook that has stepped one: it was left. What
 * is added up is gone before the hook runs. */
static bool goes_by_hook(struct finder *f, const struct mt_record *alloc,
                         const struct mt_record *freed)
{
    const uint32_t node = mt_rec_node(f->r, freed);
    if (node != MT_NONE && f->r->nodes.v[node].phase == MT_PHASE_OPTIMIZER)
        return true;
    const uint32_t call = f->stepping.n ? call_of(f, freed) : MT_NONE;
    if (call == MT_NONE || call == call_of(f, alloc))
        return false;
    const struct mt_thread *t = &f->r->threads.v[freed->thread];
    const uint32_t step = mt_map_get(&f->stepping, call);
    return step != MT_MAP_NONE && freed->t_ns >= t->ops.v[step - t->op_base].start_ns;
}

/* What is alive when its backward pass ends, and what AccumulateGrad frees after adding it up. */
static void find_gradients(struct finder *f)
{
    for (size_t i = 0; i < f->r->records.n; i++) {
        const struct mt_record *rec = &f->r->records.v[i], *mate;
        size_t at;
        if (!is_of_backward(f, rec, &at))
            continue;
        mate = rec->mate == MT_NONE ? NULL : &f->r->records.v[rec->mate];
        struct mt_gradient g = {.process = f->r->threads.v[rec->thread].process,
                                .bytes = rec->bytes,
                                .alloc_ns = rec->t_ns,
                                .freed_ns = mate ? mate->t_ns : INT64_MAX,
                                .backward = (uint32_t)at,
                                .node = mt_rec_node(f->r, rec),
                                .device = rec->device};
        g.added = g.freed_ns <= f->out->backwards.v[at].end_ns && !goes_by_hook(f, rec, mate);
        g.call = call_of(f, g.added ? mate : rec);
        if (!g.added || (g.call != MT_NONE && g.call != call_of(f, rec)))
            *mt_vec_push(&f->out->all) = g;
    }
}

/* Drops what did not become a gradient: a call that keeps a copy frees what it was made of. */
static void drop_copied(struct mt_gradients *g)
{
    struct mt_map copies = {0};
    size_t kept = 0;
    for (size_t i = 0; i < g->all.n; i++)
        if (!g->all.v[i].added && g->all.v[i].call != MT_NONE)
            *mt_map_at(&copies, g->all.v[i].call) = 1;
    for (size_t i = 0; i < g->all.n; i++) {
        const struct mt_gradient *one = &g->all.v[i];
        if (!one->added || mt_map_get(&copies, one->call) == MT_MAP_NONE)
            g->all.v[kept++] = *one;
    }
    g->all.n = kept;
    mt_map_free(&copies);
}

static int gradient_cmp(const void *a, const void *b)
{
    const struct mt_gradient *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return x->backward < y->backward ? -1 : x->backward > y->backward;
}

static void keep_sound(struct mt_gradients *g)
{
    size_t kept = 0;
    for (size_t i = 0; i < g->all.n; i++)
        g->backwards.v[g->all.v[i].backward].got_n++;
    for (size_t i = 0; i < g->all.n; i++)
        if (mt_backward_is_sound(&g->backwards.v[g->all.v[i].backward]))
            g->all.v[kept++] = g->all.v[i];
    g->all.n = kept;
    if (kept)
        qsort(g->all.v, kept, sizeof *g->all.v, gradient_cmp);
}

void mt_gradients_find(const struct mt_recording *r, const struct mt_processes *p,
                       struct mt_gradients *out)
{
    struct finder f = {.r = r, .p = p, .out = out, .call = {.fits = accumulates, .of = r}};
    *out = (struct mt_gradients){0};
    f.leads = mt_alloc(r->threads.n + 1);
    find_leaders(&f);
    for (uint32_t i = 0; i < p->n; i++) {
        *mt_vec_push(&out->first_of) = (uint32_t)out->backwards.n;
        collect_signs(&f, i);
        find_backwards(&f);
    }
    *mt_vec_push(&out->first_of) = (uint32_t)out->backwards.n;
    mt_vec_free(&f.signs);
    free(f.leads);
    find_gradients(&f);
    mt_above_free(&f.call);
    mt_map_free(&f.stepping);
    drop_copied(out);
    keep_sound(out);
}

void mt_gradients_free(struct mt_gradients *g)
{
    mt_vec_free(&g->backwards);
    mt_vec_free(&g->first_of);
    mt_vec_free(&g->all);
}
