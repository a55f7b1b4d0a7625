/*
 * PyTorch 2 writes the memory records of a thread behind those of another: where the rest of such a
 * file is lost, what is missing is all that some threads did, frees among it, and not only what
 * came last.
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

void mt_build_cut_threads(struct mt_recording *r)
{
    size_t thread_n = 0; /* with ops, which stand before all records */
    if (!r->records.n || (!r->notes[MT_NOTE_CUT].count && !r->notes[MT_NOTE_TRAILING].count))
        return;
    for (size_t i = 0; i < r->threads.n; i++)
        thread_n += r->threads.v[i].ops.n > 0;
    if (thread_n > 1 && !are_by_time(r))
        mt_rec_note(r, MT_NOTE_CUT_THREADS, -1, 0);
}
