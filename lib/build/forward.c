/*
 * Links backward ops to the forward op they belong to. A backward op carries the sequence number of
 * its forward op and PyTorch's number of the forward thread, which is no tid: with several forward
 * threads that used one sequence number the link is ambiguous and left out. Of the forward ops of
 * one number the last to start is meant: the ones before it are wrappers that recorded nothing.
 */
#include "lib/build/forward.h"

#include "lib/build/build.h"

#include <stdlib.h>
#include <string.h>

/* The last forward op of each sequence number of a process. Numbers count up, so they index an
 * array, unless a file has strange ones. */
struct last_ops {
    uint32_t *dense;
    int64_t dense_n;
    struct mt_map sparse;
};

struct mt_forward_ops {
    struct last_ops *of; /* by process */
    uint32_t process_n;
};

static uint32_t *slot_of(struct last_ops *l, int32_t seq)
{
    return seq < l->dense_n ? &l->dense[seq] : mt_map_at(&l->sparse, (uint64_t)seq);
}

/* One of each process; allocated. */
static struct last_ops *make(const struct mt_recording *r)
{
    struct last_ops *all = mt_alloc((r->process_keys.n + 1u) * sizeof *all);
    int64_t *op_n = mt_alloc((r->process_keys.n + 1u) * sizeof *op_n);
    for (uint32_t t = 0; t < r->threads.n; t++) {
        const struct mt_thread *thread = &r->threads.v[t];
        struct last_ops *l = &all[thread->process];
        op_n[thread->process] += (int64_t)thread->ops.n;
        for (uint32_t i = 0; i < thread->ops.n; i++)
            if (thread->ops.v[i].seq >= l->dense_n)
                l->dense_n = (int64_t)thread->ops.v[i].seq + 1;
    }
    for (uint32_t p = 0; p < r->process_keys.n; p++) {
        if (all[p].dense_n > op_n[p])
            all[p].dense_n = op_n[p];
        all[p].dense = mt_alloc(((size_t)all[p].dense_n + 1) * sizeof *all->dense);
        memset(all[p].dense, 0xff, ((size_t)all[p].dense_n + 1) * sizeof *all->dense);
    }
    free(op_n);
    return all;
}

void mt_forward_ops_free(struct mt_forward_ops *f)
{
    if (!f)
        return;
    for (uint32_t p = 0; p < f->process_n; p++) {
        mt_map_free(&f->of[p].sparse);
        free(f->of[p].dense);
    }
    free(f->of);
    free(f);
}

static void collect(const struct mt_thread *thread, struct last_ops *last)
{
    for (uint32_t i = 0; i < thread->ops.n; i++) {
        const struct mt_op *op = &thread->ops.v[i];
        if (op->fwd_thread || op->seq < 0)
            continue;
        uint32_t *slot = slot_of(last, op->seq);
        bool other = *slot != MT_NONE && *slot != MT_FORWARD_AMBIGUOUS && *slot < thread->op_base;
        *slot = other || *slot == MT_FORWARD_AMBIGUOUS ? MT_FORWARD_AMBIGUOUS : thread->op_base + i;
    }
}

struct mt_forward_ops *mt_forward_ops_find(const struct mt_recording *r)
{
    struct mt_forward_ops *f = mt_alloc(sizeof *f);
    *f = (struct mt_forward_ops){make(r), r->process_keys.n};
    for (uint32_t t = 0; t < r->threads.n; t++)
        collect(&r->threads.v[t], &f->of[r->threads.v[t].process]);
    return f;
}

uint32_t mt_forward_op(const struct mt_forward_ops *f, uint32_t process, int32_t seq)
{
    struct last_ops *last = &f->of[process];
    return seq < 0               ? MT_NONE
           : seq < last->dense_n ? last->dense[seq]
                                 : mt_map_get(&last->sparse, (uint64_t)seq);
}

/* Ops of the forward pass: which of them left a node for backward. Their numbers are used up. */
static void mark_forward(struct mt_thread *thread)
{
    struct mt_op *before = NULL; /* the last one with a number */
    int32_t before_seq = 0;
    for (uint32_t i = 0; i < thread->ops.n; i++) {
        struct mt_op *op = &thread->ops.v[i];
        int32_t seq = op->seq;
        if (op->fwd_thread)
            continue;
        op->fwd = MT_NONE;
        if (seq < 0)
            continue;
        if (before && seq > before_seq)
            before->fwd_thread = MT_MAKES_GRAPH;
        before = op;
        before_seq = seq;
    }
}

static void link_backward(struct mt_recording *r, struct mt_thread *thread,
                          const struct mt_forward_ops *forward)
{
    for (uint32_t i = 0; i < thread->ops.n; i++) {
        struct mt_op *op = &thread->ops.v[i];
        if (!mt_op_is_backward(op))
            continue;
        op->fwd = mt_forward_op(forward, thread->process, op->seq);
        if (op->fwd != MT_FORWARD_AMBIGUOUS)
            continue;
        op->fwd = MT_NONE;
        mt_rec_note(r, MT_NOTE_FORWARD, -1, 0);
    }
}

void mt_build_forward(struct mt_recording *r)
{
    struct mt_forward_ops *forward = mt_forward_ops_find(r);
    for (uint32_t t = 0; t < r->threads.n; t++)
        mark_forward(&r->threads.v[t]);
    for (uint32_t t = 0; t < r->threads.n; t++)
        link_backward(r, &r->threads.v[t], forward);
    mt_forward_ops_free(forward);
}
