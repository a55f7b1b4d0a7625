/*
 * sample_series.h - all that was sampled of a run, read once. Who asks for one device after the
 * other would else walk through the samples of all devices each time.
 */
#ifndef MT_SAMPLE_SERIES_H
#define MT_SAMPLE_SERIES_H

#include "lib/base/map.h"
#include "lib/base/strtab.h"
#include "lib/run/runs.h"

/* What of samples and events is kept. */
enum mt_sample_kind { MT_SAMPLE_VALUES, MT_SAMPLE_ENDS, MT_SAMPLE_KINDS };

/* The values of one metric of a device, or the times of one action, in order of the recording. */
struct mt_sample_series {
    const char *name;
    uint32_t next; /* of the device, the one that appears next; MT_MAP_NONE */
    MT_VEC(struct mt_sample_value { int64_t t_ns, value_b; }) all;
};

/* What there is of one kind. */
struct mt_samples {
    bool read;
    int64_t device; /* MT_UNKNOWN: all of the run */
    struct mt_strtab names;
    MT_VEC(struct mt_sample_series) series;
    MT_VEC(struct mt_sample_device { uint32_t first, last; }) devices;
    struct mt_map device_at; /* by id */
    struct mt_map series_at; /* by device and name */
};

/*
 * What was sampled of a device. Of the first that is asked for, only that is read; of a second one,
 * all of the run. Owned by the connection, until the next call of that kind. Errors: MT_EDB.
 */
enum mt_status mt_sample_series_load(struct mt_db *db, int64_t run, int64_t device,
                                     enum mt_sample_kind kind, const struct mt_samples **out,
                                     struct mt_err *err);

/* The first series of a device, the one behind it, and the one of that name; NULL: it has none. */
const struct mt_sample_series *mt_sample_first(const struct mt_samples *s, int64_t device);
const struct mt_sample_series *mt_sample_next(const struct mt_samples *s,
                                              const struct mt_sample_series *series);
const struct mt_sample_series *mt_sample_find(const struct mt_samples *s, int64_t device,
                                              const char *name);

#endif
