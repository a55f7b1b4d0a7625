/*
 * knows.h - asks whether a run can answer, and words the refusal where it cannot: what is missing,
 * and what to ask instead. No report asks for the format or the kind of a run.
 */
#ifndef MT_RUN_KNOWS_H
#define MT_RUN_KNOWS_H

#include "lib/run/runs.h"

/* Whether the device knows all these (enum mt_knows). */
static inline bool mt_device_knows(const struct mt_run_device *device, unsigned need)
{
    return (device->knows & need) == need;
}

/* Whether anything is known of single events: records that ops made, or blocks. Else there are sums
 * and moments of call paths. */
static inline bool mt_device_has_events(const struct mt_run_device *device)
{
    return mt_knows_events(device->knows);
}

/* MT_OK if the device of the run knows all these; device NULL: if some device of such a run may.
 * Errors: MT_EUSAGE, what is missing first of them, and what to ask instead. */
enum mt_status mt_knows(const struct mt_run *run, const struct mt_run_device *device, unsigned need,
                        struct mt_err *err);

/* The same as words behind the name of a run: "has no addresses in its records: which ..."; "" if
 * all is known. Static. */
const char *mt_knows_lack(const struct mt_run *run, const struct mt_run_device *device,
                          unsigned need);

#endif
