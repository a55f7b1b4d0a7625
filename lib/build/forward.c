/*
 * Links backward ops to the forward op they belong to. A backward op carries the sequence number of
 * its forward op and PyTorch's number of the forward thread, which is no tid: with several forward
 * threads that used one sequence number the link is ambiguous and left out. Of the forward ops of
 * one number the last to start is meant: the ones before it are wrappers that recorded nothing.
 */
#include "lib/build/build.h"

#include <stdlib.h>
#include <string.h>

enum { AMBIGUOUS = MT_NONE - 1 }; /* used on several threads */

/* The last forward op of each sequence number of a process. Numbers count up, so they index an
 * array, unless a file has strange ones. */
struct last_ops {
    uint32_t *dense;
    int64_t dense_n;
    struct mt_map sparse;
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

static void dispose(struct last_ops *all, uint32_t n)
{
    for (uint32_t p = 0; p < n; p++) {
        mt_map_free(&all[p].sparse);
        free(all[p].dense);
    }
    free(all);
}

static void collect(struct mt_recording *r, struct last_ops *last)
{
    for (uint32_t t = 0; t < r->threads.n; t++) {
        struct mt_thread *thread = &r->threads.v[t];
        struct mt_op *before = NULL; /* the last forward op with a number */
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
            uint32_t *slot = slot_of(&last[thread->process], seq);
            bool other = *slot != MT_NONE && *slot != AMBIGUOUS && *slot < thread->op_base;
            *slot = other || *slot == AMBIGUOUS ? AMBIGUOUS : thread->op_base + i;
        }
    }
}

static uint32_t forward_op(struct mt_recording *r, struct last_ops *last, int32_t seq)
{
    uint32_t fwd = seq < 0               ? MT_NONE
                   : seq < last->dense_n ? last->dense[seq]
                                         : mt_map_get(&last->sparse, (uint64_t)seq);
    if (fwd != AMBIGUOUS)
        return fwd;
    mt_rec_note(r, MT_NOTE_FORWARD, -1, 0);
    return MT_NONE;
}

void mt_build_forward(struct mt_recording *r)
{
    struct last_ops *last = make(r);
    collect(r, last);
    for (uint32_t t = 0; t < r->threads.n; t++) {
        struct mt_thread *thread = &r->threads.v[t];
        for (uint32_t i = 0; i < thread->ops.n; i++)
            if (mt_op_is_backward(&thread->ops.v[i]))
                thread->ops.v[i].fwd = forward_op(r, &last[thread->process], thread->ops.v[i].seq);
    }
    dispose(last, r->process_keys.n);
}
