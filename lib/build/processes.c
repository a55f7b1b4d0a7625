#include "lib/build/processes.h"

#include <stdlib.h>

/* The process of a record: one that nobody saw is of that of the other end of its block. */
static uint32_t process_of(const struct mt_recording *r, const struct mt_record *rec)
{
    if (rec->thread == MT_NONE)
        rec = &r->records.v[rec->mate];
    return r->threads.v[rec->thread].process;
}

static int share_cmp(const void *a, const void *b)
{
    const struct mt_share *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->device < y->device ? -1 : x->device > y->device;
}

/* Counts the records of each share, as they are met; `first` is its number until they are sorted.
 * Returns the numbers of the shares by record, allocated. */
static uint32_t *count_shares(const struct mt_recording *r, struct mt_processes *out)
{
    struct mt_map index = {0};
    uint32_t *share_of = mt_alloc((r->records.n + 1) * sizeof *share_of);
    for (size_t i = 0, last = 0; i < r->records.n; i++) {
        const struct mt_record *rec = &r->records.v[i];
        uint32_t process = process_of(r, rec);
        struct mt_share *s = i ? &out->shares.v[last] : NULL;
        if (!s || s->process != process || s->device != rec->device) {
            uint32_t *at = mt_map_at(&index, (uint64_t)process << 16 | rec->device);
            if (*at == MT_MAP_NONE) {
                *at = (uint32_t)out->shares.n;
                *mt_vec_push(&out->shares) =
                    (struct mt_share){.process = process, .device = rec->device, .first = *at};
            }
            last = *at;
        }
        share_of[i] = (uint32_t)last;
        out->shares.v[last].n++;
    }
    mt_map_free(&index);
    return share_of;
}

static void sort_records(const struct mt_recording *r, struct mt_processes *out)
{
    uint32_t *share_of = count_shares(r, out);
    size_t *next = mt_alloc((out->shares.n + 1) * sizeof *next), sum = 0;
    if (out->shares.n)
        qsort(out->shares.v, out->shares.n, sizeof *out->shares.v, share_cmp);
    for (size_t i = 0; i < out->shares.n; i++) {
        struct mt_share *s = &out->shares.v[i];
        next[s->first] = sum;
        s->first = sum;
        sum += s->n;
    }
    out->records = mt_alloc((r->records.n + 1) * sizeof *out->records);
    for (size_t i = 0; i < r->records.n; i++)
        out->records[next[share_of[i]]++] = (uint32_t)i;
    free(next);
    free(share_of);
}

static void sort_threads(const struct mt_recording *r, struct mt_processes *out)
{
    out->threads = mt_alloc((r->threads.n + 1) * sizeof *out->threads);
    out->thread_at = mt_alloc(((size_t)out->n + 2) * sizeof *out->thread_at);
    uint32_t *at = out->thread_at + 1; /* moves on to where the next one begins */
    for (size_t t = 0; t < r->threads.n; t++)
        if (r->threads.v[t].process + 1 < out->n)
            at[r->threads.v[t].process + 1]++;
    for (uint32_t p = 1; p < out->n; p++)
        at[p] += at[p - 1];
    for (uint32_t t = 0; t < r->threads.n; t++)
        out->threads[at[r->threads.v[t].process]++] = t;
}

void mt_processes_find(const struct mt_recording *r, struct mt_processes *out)
{
    *out = (struct mt_processes){.n = r->process_keys.n};
    sort_records(r, out);
    sort_threads(r, out);
}

void mt_processes_free(struct mt_processes *p)
{
    mt_vec_free(&p->shares);
    free(p->records);
    free(p->threads);
    free(p->thread_at);
}

bool mt_processes_each_op(const struct mt_recording *r, const struct mt_processes *p,
                          uint32_t process,
                          bool (*take)(void *closure, uint32_t thread, const struct mt_op *op),
                          void *closure)
{
    for (uint32_t t = p->thread_at[process]; t < p->thread_at[process + 1]; t++) {
        const struct mt_thread *thread = &r->threads.v[p->threads[t]];
        for (size_t i = 0; i < thread->ops.n; i++)
            if (!take(closure, p->threads[t], &thread->ops.v[i]))
                return false;
    }
    return true;
}
