#include "formats/sampled.h"

#include "lib/base/human.h"
#include <math.h>
#include <stdio.h>

double mt_sampled_scale(int64_t period, int64_t bytes, int64_t blocks)
{
    if (period <= 1 || bytes <= 0 || blocks <= 0)
        return 1;
    return -1 / expm1(-((double)bytes / (double)blocks) / (double)period);
}

/* "2 blocks"; `about` is no claim to be exact. */
static void put_count(char *out, size_t room, double n, bool about)
{
    char number[MT_HUMAN_MAX];
    int64_t whole = n < 1e15 ? (int64_t)llround(n) : INT64_C(1000000000000000);
    snprintf(out, room, "%s%s block%s", about ? "about " : "", mt_human_count(whole, number),
             whole == 1 ? "" : "s");
}

void mt_sampled_note(const struct mt_sampled *s, struct mt_recording *rec)
{
    char end[48], alloc[48], every[MT_HUMAN_MAX];
    if (s->period <= 1)
        return;
    put_count(end, sizeof end, s->end_n, s->about);
    put_count(alloc, sizeof alloc, s->alloc_n, s->about);
    mt_human_bytes(s->period, every);
    if (s->knows_end && s->knows_alloc)
        mt_rec_note_detail(rec, MT_NOTE_SAMPLED,
                           "one byte in every %s; alive at the end from %s, allocated from %s",
                           every, end, alloc);
    else
        mt_rec_note_detail(rec, MT_NOTE_SAMPLED, "one byte in every %s; %s from %s", every,
                           s->knows_end ? "alive at the end" : "allocated",
                           s->knows_end ? end : alloc);
    mt_rec_note(rec, MT_NOTE_SAMPLED, -1, s->period);
    if (!(s->knows_end && s->end_n) && !(s->knows_alloc && s->alloc_n))
        mt_rec_note(rec, MT_NOTE_NO_ALLOCATIONS, -1, 0); /* nor is it known that there were none */
}
