#include "lib/usage/samples.h"

#include "gen/queries.h"
#include "lib/model/recording.h"
#include "lib/usage/sample_series.h"

#include <string.h>

static bool is_malloc(const char *metric)
{
    for (int i = MT_METRIC_MALLOC_IN_USE; i <= MT_METRIC_OTHER_ANON; i++)
        if (strcmp(metric, mt_metric_names[i]) == 0)
            return true;
    return false;
}

/* A level that says that nobody knows, behind what was known; levels are in order of time. */
static void add_end(struct mt_levels *l, int64_t t_ns)
{
    int64_t at = mt_levels_at(l, t_ns) + 1;
    if (!at)
        return;
    mt_vec_push(&l->all);
    memmove(&l->all.v[at + 1], &l->all.v[at], (l->all.n - (size_t)at - 1) * sizeof *l->all.v);
    l->all.v[at] = (struct mt_level){t_ns, MT_UNKNOWN, 0};
    for (size_t i = (size_t)at; i < l->all.n; i++)
        l->all.v[i].record = (int64_t)i;
}

enum mt_status mt_samples_load(struct mt_db *db, const struct mt_run *run,
                               const struct mt_run_device *device, const char *metric,
                               struct mt_levels *out, struct mt_err *err)
{
    const struct mt_samples *all;
    *out = (struct mt_levels){0};
    MT_TRY(mt_sample_series_load(db, run->id, device->id, MT_SAMPLE_VALUES, &all, err));
    const struct mt_sample_series *s = mt_sample_find(all, device->id, metric);
    for (size_t i = 0; s && i < s->all.n; i++)
        *mt_vec_push(&out->all) =
            (struct mt_level){s->all.v[i].t_ns, s->all.v[i].value_b, (int64_t)i};
    out->start_b = out->all.n ? out->all.v[0].level_b : 0;
    if (!is_malloc(metric))
        return MT_OK;
    MT_TRY(mt_sample_series_load(db, run->id, device->id, MT_SAMPLE_ENDS, &all, err));
    s = mt_sample_find(all, device->id, "malloc_end");
    for (size_t i = 0; s && i < s->all.n; i++)
        add_end(out, s->all.v[i].t_ns);
    return MT_OK;
}

enum mt_status mt_recorder_total(struct mt_db *db, const struct mt_run_device *device,
                                 struct mt_recorder_total *out, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    *out = (struct mt_recorder_total){INT64_MIN, INT64_MIN};
    MT_TRY(mt_db_query(db, MT_Q_RECORDER_TOTAL, &s, err));
    mt_stmt_bind(s, "i", device->id);
    MT_TRY(mt_stmt_step(s, &row, err));
    if (!row)
        return MT_OK;
    *out = (struct mt_recorder_total){mt_stmt_int_or(s, 0, INT64_MIN),
                                      mt_stmt_int_or(s, 1, INT64_MIN)};
    return mt_stmt_step(s, &row, err);
}

int64_t mt_recorder_before(const struct mt_recorder_total *total,
                           const struct mt_run_device *device)
{
    return total->base_b == INT64_MIN || device->type == MT_DEVICE_CPU ? 0 : total->base_b;
}
