/* Times that are most likely damaged: a moment lies so far from all others that what is between
 * them is nearly all of the recording. What the file says stays; a note says so. */
#include "lib/build/build.h"

#include "lib/base/human.h"
#include <string.h>

/* At least so long, and so many times as long as all else: nobody waits like that for a time. */
static const int64_t least_ns = INT64_C(60000000000), times = 100;

/* The moments next to the middle, before it and behind. */
struct around {
    int64_t middle, before, behind;
};

static void include(struct around *a, int64_t start, int64_t end)
{
    if (start > a->middle)
        a->behind = start < a->behind ? start : a->behind;
    else
        a->before = end > a->before ? end : a->before;
}

/* A time that is nearly all contains the middle. */
static struct mt_lull find(const struct mt_recording *r)
{
    struct around a = {r->start_ns + (r->end_ns - r->start_ns) / 2, r->start_ns, r->end_ns};
    for (size_t t = 0; t < r->threads.n; t++)
        for (size_t i = 0; i < r->threads.v[t].ops.n; i++)
            include(&a, r->threads.v[t].ops.v[i].start_ns, r->threads.v[t].ops.v[i].end_ns);
    for (size_t i = 0; i < r->records.n; i++)
        include(&a, r->records.v[i].t_ns, r->records.v[i].t_ns);
    for (size_t i = 0; i < r->samples.n; i++)
        include(&a, r->samples.v[i].t_ns, r->samples.v[i].t_ns);
    for (size_t i = 0; i < r->other_events.n; i++)
        include(&a, r->other_events.v[i].t_ns, r->other_events.v[i].t_ns);
    return (struct mt_lull){.first = r->start_ns,
                            .last = r->end_ns,
                            .from = a.before,
                            .longest = a.behind > a.before ? a.behind - a.before : 0};
}

void mt_build_lull(struct mt_recording *r)
{
    char length[MT_HUMAN_MAX], from[MT_HUMAN_MAX];
    if (!r->time_unit || strcmp(r->time_unit, "ns") != 0 || r->notes[MT_NOTE_NO_TIMES].count)
        return;
    if (!r->summed && r->end_ns - r->start_ns < least_ns)
        return;
    const struct mt_lull l = r->summed ? r->lull : find(r);
    const int64_t rest = l.last - l.first - l.longest;
    if (l.longest < least_ns || !rest || rest > l.longest / times)
        return;
    mt_rec_note(r, MT_NOTE_LULL, -1, 0);
    mt_rec_note_detail(r, MT_NOTE_LULL, "one gap of %s from %s on", mt_human_ns(l.longest, length),
                       mt_human_ns(l.from - l.first, from));
}
