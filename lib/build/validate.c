/*
 * Refuses recordings whose figures cannot be true. What passes can be added up, op by op and record
 * by record, without leaving 64 bits: no sum after this needs a check of its own.
 */
#include "lib/build/build.h"

enum {
    MOMENT_BITS = 62, /* moments are within 2^62 ns of 1970: until the year 2116 */
    SUM_BITS = 60,    /* all durations together, and all sizes: 36 years, 1 EiB */
};

static bool is_moment(int64_t t)
{
    return t > -((int64_t)1 << MOMENT_BITS) && t < (int64_t)1 << MOMENT_BITS;
}

/* Adds the magnitude of v; false when that is too much. */
static bool add(uint64_t *sum, int64_t v)
{
    const uint64_t most = (uint64_t)1 << SUM_BITS;
    uint64_t magnitude = v < 0 ? -(uint64_t)v : (uint64_t)v;
    if (magnitude > most || *sum > most - magnitude)
        return false;
    *sum += magnitude;
    return true;
}

static bool times_fit(const struct mt_recording *r)
{
    uint64_t sum = 0;
    for (size_t t = 0; t < r->threads.n; t++)
        for (size_t i = 0; i < r->threads.v[t].ops.n; i++) {
            const struct mt_op *op = &r->threads.v[t].ops.v[i];
            if (!is_moment(op->start_ns) || !is_moment(op->end_ns) ||
                !add(&sum, op->end_ns - op->start_ns))
                return false;
        }
    for (size_t i = 0; i < r->samples.n; i++)
        if (!is_moment(r->samples.v[i].t_ns))
            return false;
    for (size_t i = 0; i < r->other_events.n; i++)
        if (!is_moment(r->other_events.v[i].t_ns))
            return false;
    return is_moment(r->base_ns) && (r->trace_start_ns == MT_GONE || is_moment(r->trace_start_ns));
}

static bool records_fit(const struct mt_recording *r)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < r->records.n; i++)
        if (!is_moment(r->records.v[i].t_ns) || !add(&sum, r->records.v[i].bytes))
            return false;
    return true;
}

static bool is_total(int64_t v)
{
    uint64_t sum = 0;
    return add(&sum, v);
}

enum mt_status mt_build_bounds(struct mt_recording *r, struct mt_err *err)
{
    for (size_t i = 0; i < r->devices.n; i++) {
        struct mt_device *d = &r->devices.v[i];
        d->has_total &= is_total(d->first_total_b) && is_total(d->last_total_b);
    }
    bool times = times_fit(r);
    if (times && records_fit(r))
        return MT_OK;
    MT_FAIL(err, MT_EINPUT,
            times ? "the memory records exceed 1 EiB, or have impossible times"
                  : "the times of the events span an impossible range");
    mt_err_hint(err,
                "Nothing was imported. The file is damaged, or was not written by a profiler.");
    return MT_EINPUT;
}
