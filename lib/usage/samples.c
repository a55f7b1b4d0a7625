#include "lib/usage/samples.h"

#include "gen/queries.h"

enum mt_status mt_samples_load(struct mt_db *db, const struct mt_run *run,
                               const struct mt_run_device *device, const char *metric,
                               struct mt_levels *out, struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    *out = (struct mt_levels){0};
    MT_TRY(mt_db_query(db, MT_Q_SAMPLES, &s, err));
    mt_stmt_bind(s, "iis", run->id, device->id, metric);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        int64_t value = mt_stmt_int(s, 1);
        if (!out->all.n)
            out->start_b = value;
        *mt_vec_push(&out->all) = (struct mt_level){mt_stmt_int(s, 0), value, (int64_t)out->all.n};
    }
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
