/*
 * Links backward ops to the forward op they belong to. A backward op carries the sequence number of
 * its forward op and PyTorch's number of the forward thread, which is no tid: with several forward
 * threads that used one sequence number the link is ambiguous and left out. Of the forward ops of
 * one number the last to start is meant: the ones before it are wrappers that recorded nothing.
 */
#include "lib/build.h"

#include <stdlib.h>
#include <string.h>

enum { AMBIGUOUS = MT_NONE - 1 }; /* used on several threads */

/* The last forward op of each sequence number. Numbers count up, so they index an array, unless a
 * file has strange ones. */
struct last_ops {
    uint32_t *dense;
    int64_t dense_n;
    struct mt_map sparse;
};

static uint32_t *slot_of(struct last_ops *l, int32_t seq)
{
    return seq < l->dense_n ? &l->dense[seq] : mt_map_at(&l->sparse, (uint64_t)seq);
}

static void init(struct last_ops *l, const struct mt_recording *r)
{
    int32_t largest = -1;
    for (uint32_t t = 0; t < r->threads.n; t++)
        for (uint32_t i = 0; i < r->threads.v[t].ops.n; i++)
            if (r->threads.v[t].ops.v[i].seq > largest)
                largest = r->threads.v[t].ops.v[i].seq;
    *l = (struct last_ops){.dense_n = (int64_t)largest + 1};
    if ((uint64_t)l->dense_n > r->op_n)
        l->dense_n = (int64_t)r->op_n;
    l->dense = mt_alloc(((size_t)l->dense_n + 1) * sizeof *l->dense);
    memset(l->dense, 0xff, ((size_t)l->dense_n + 1) * sizeof *l->dense);
}

static void collect(struct mt_recording *r, struct last_ops *last)
{
    for (uint32_t t = 0; t < r->threads.n; t++) {
        struct mt_thread *thread = &r->threads.v[t];
        for (uint32_t i = 0; i < thread->ops.n; i++) {
            struct mt_op *op = &thread->ops.v[i];
            int32_t seq = op->seq;
            if (op->fwd_thread)
                continue;
            op->fwd = MT_NONE;
            if (seq < 0)
                continue;
            uint32_t *slot = slot_of(last, seq);
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
    struct last_ops last;
    init(&last, r);
    collect(r, &last);
    for (uint32_t t = 0; t < r->threads.n; t++)
        for (uint32_t i = 0; i < r->threads.v[t].ops.n; i++) {
            struct mt_op *op = &r->threads.v[t].ops.v[i];
            if (op->fwd_thread)
                op->fwd = forward_op(r, &last, op->seq);
        }
    mt_map_free(&last.sparse);
    free(last.dense);
}
