/*
 * PyTorch 2 writes one thread behind another, of each its ops and then its memory records: where
 * the rest of such a file is lost, what is missing is all that some threads did, frees among it,
 * and not only what came last. Nor is it where a program has put the records in another order.
 */
#include "lib/build/build.h"

/* Whether the records of several threads stand in order of time, as those of one profiler of before
 * PyTorch 2 do. */
static bool are_by_time(const struct mt_recording *r)
{
    bool several = false;
    for (size_t i = 1; i < r->records.n; i++) {
        const struct mt_record *a = &r->records.v[i - 1], *b = &r->records.v[i];
        several |= a->thread != b->thread;
        if (b->t_ns < a->t_ns)
            return false;
    }
    return several;
}

/* Whether the records of a thread stand in another order than that of time. No profiler writes them
 * so. */
static bool are_mixed(const struct mt_recording *r)
{
    MT_VEC(int64_t) last = {0}; /* of each thread */
    bool mixed = false;
    for (size_t i = 0; i < r->threads.n; i++)
        *mt_vec_push(&last) = INT64_MIN;
    for (size_t i = 0; i < r->records.n && !mixed; i++) {
        const struct mt_record *rec = &r->records.v[i];
        mixed = rec->t_ns < last.v[rec->thread];
        last.v[rec->thread] = rec->t_ns;
    }
    mt_vec_free(&last);
    return mixed;
}

/* How many threads there were: of those that are lost wholly their names are left, which stand
 * first. What GPUs do has such names, too, but not of the process. */
static size_t threads_of_process(const struct mt_recording *r)
{
    const uint32_t process = r->threads.v[r->records.v[0].thread].process;
    size_t n = 0;
    for (size_t i = 0; i < r->threads.n; i++) {
        const struct mt_thread *t = &r->threads.v[i];
        n += t->ops.n > 0 || (t->name != MT_NONE && t->process == process);
    }
    return n;
}

void mt_build_cut_threads(struct mt_recording *r)
{
    if (!r->records.n || !r->notes[MT_NOTE_CUT].count)
        return;
    if (are_mixed(r))
        mt_rec_note(r, MT_NOTE_CUT_ORDER, -1, 0);
    else if (threads_of_process(r) > 1 && !are_by_time(r))
        mt_rec_note(r, MT_NOTE_CUT_THREADS, -1, 0);
}
