/*
 * Tells which frees without an allocation are of blocks allocated in the recording: their memory
 * was handed out in it before, or taken back. Something allocated them where the profiler did not
 * look, at the earliest when their memory was free; each gets an allocation of its own, just then.
 */
#include "lib/build/build.h"
#include "lib/build/spans.h"

#include <stdlib.h>

static bool frees_alone(const struct mt_record *rec)
{
    return rec->bytes < 0 && rec->mate == MT_NONE;
}

static int inserted_cmp(const void *a, const void *b)
{
    const struct mt_inserted *x = a, *y = b;
    if (x->before != y->before)
        return x->before < y->before ? -1 : 1;
    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    return x->mate < y->mate ? -1 : x->mate > y->mate;
}

/*
 * Going back in time, the first record of the memory of a block that is freed says when it was not
 * there yet. Where that allocates another block, and nothing frees this one, it may have lived on:
 * the later one is then allocated just before its free.
 */
static struct mt_inserted alloc_of(const struct mt_recording *r, uint32_t free, uint32_t i)
{
    bool freed = r->records.v[i].bytes < 0;
    return (struct mt_inserted){
        .mate = free, .before = freed ? i + 1 : free, .t_ns = r->records.v[freed ? i : free].t_ns};
}

static void note_unseen_allocs(struct mt_recording *r)
{
    for (size_t i = 0; i < r->records.n; i++) {
        const struct mt_record *rec = &r->records.v[i];
        if (!rec->unseen)
            continue;
        r->devices.v[rec->device].alloc_unseen_b += rec->bytes;
        r->devices.v[rec->device].alloc_unseen_n++;
        mt_rec_note(r, MT_NOTE_ALLOC_UNSEEN, -1, rec->bytes);
    }
}

void mt_build_unseen_allocs(struct mt_recording *r)
{
    struct mt_spans spans;
    MT_VEC(struct mt_inserted) allocs = {0};
    mt_spans_collect(&spans, r, frees_alone);
    for (uint32_t i = (uint32_t)r->records.n; i-- > 0 && spans.spaces.n;) {
        const struct mt_record *rec = &r->records.v[i];
        if (!mt_span_known(r, rec))
            continue;
        for (uint32_t free; (free = mt_spans_take(&spans, r, i)) != MT_NONE;)
            if (r->records.n + allocs.n < UINT32_MAX - 1)
                *mt_vec_push(&allocs) = alloc_of(r, free, i);
        if (frees_alone(rec))
            mt_spans_open(&spans, r, i);
    }
    if (allocs.n) {
        qsort(allocs.v, allocs.n, sizeof *allocs.v, inserted_cmp);
        mt_rec_insert(r, allocs.v, allocs.n);
        note_unseen_allocs(r);
    }
    mt_vec_free(&allocs);
    mt_spans_free(&spans);
}
