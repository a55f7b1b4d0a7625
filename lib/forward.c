/*
 * Links backward ops to the forward op they belong to. A backward op carries the sequence number of
 * its forward op and PyTorch's number of the forward thread, which is no tid: with several forward
 * threads that used one sequence number the link is ambiguous and left out. Of the forward ops of
 * one number the last to start is meant: the ones before it are wrappers that recorded nothing.
 */
#include "lib/build.h"

static void collect(struct mt_recording *r, struct mt_map *last)
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
            uint32_t *slot = mt_map_at(last, (uint64_t)seq);
            bool other = *slot != MT_NONE && *slot != MT_NONE - 1 && *slot < thread->op_base;
            if (other || *slot == MT_NONE - 1)
                *slot = MT_NONE - 1; /* seen on two threads */
            else
                *slot = thread->op_base + i;
        }
    }
}

void mt_build_forward(struct mt_recording *r)
{
    struct mt_map last = {0};
    collect(r, &last);
    for (uint32_t t = 0; t < r->threads.n; t++)
        for (uint32_t i = 0; i < r->threads.v[t].ops.n; i++) {
            struct mt_op *op = &r->threads.v[t].ops.v[i];
            if (!op->fwd_thread)
                continue;
            uint32_t fwd = op->seq < 0 ? MT_NONE : mt_map_get(&last, (uint64_t)op->seq);
            if (fwd == MT_NONE - 1) {
                mt_rec_note(r, MT_NOTE_FORWARD, -1, 0);
                fwd = MT_NONE;
            }
            op->fwd = fwd;
        }
    mt_map_free(&last);
}
