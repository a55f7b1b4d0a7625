/* What a recording made of records knows of its devices. */
#include "lib/build/build.h"

static unsigned knows(const struct mt_recording *r, const struct mt_device *d)
{
    bool one_moment = r->notes[MT_NOTE_STATE_ONLY].count != 0;
    unsigned all = MT_KNOWS_LEVEL | MT_KNOWS_COUNTS;
    if (!one_moment)
        all |= MT_KNOWS_ALLOC | MT_KNOWS_FREED_IN | MT_KNOWS_PEAK;
    if (!d->no_addresses)
        all |= MT_KNOWS_BLOCKS | MT_KNOWS_AT_END | MT_KNOWS_MOMENTS;
    if (!one_moment && !d->no_addresses)
        all |= MT_KNOWS_AT_PEAK;
    if (!r->without_ops)
        all |= MT_KNOWS_OPS | MT_KNOWS_THREADS;
    if (r->kind == MT_RUN_SNAPSHOT)
        all |= MT_KNOWS_SEGMENTS;
    if (r->steps.n)
        all |= MT_KNOWS_STEPS;
    if (r->categorized && !d->no_addresses)
        all |= MT_KNOWS_CATEGORIES;
    return all;
}

void mt_build_knows(struct mt_recording *r)
{
    for (size_t i = 0; i < r->devices.n; i++)
        r->devices.v[i].knows = knows(r, &r->devices.v[i]);
}
