#include "lib/usage/oom.h"

#include "gen/queries.h"
#include "lib/base/wrap.h"
#include <stdlib.h>

/* Of samples: the last record before and the event, none before the first. */
static struct mt_seg_moment moment_of(const struct mt_stmt *s, int record)
{
    return (struct mt_seg_moment){mt_stmt_int_or(s, record, -1), mt_stmt_int_or(s, record + 1, -1)};
}

static int64_t node_of(const struct mt_run *run, int64_t id)
{
    int64_t node = mt_wrap_sub(id, run->node_first);
    return id != INT64_MIN && node >= 0 && node < run->node_n ? node : INT64_MIN;
}

enum mt_status mt_ooms_load(struct mt_db *db, const struct mt_run *run,
                            const struct mt_run_device *device, struct mt_ooms *out,
                            struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_OOMS, &s, err));
    mt_stmt_bind(s, "ii", run->id, device->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        const char *pool = mt_stmt_text(s, 6);
        *mt_vec_push(&out->all) =
            (struct mt_oom){.t_ns = mt_stmt_int(s, 0),
                            .asked_b = mt_stmt_int(s, 1),
                            .device_free_b = mt_stmt_int_or(s, 2, INT64_MIN),
                            .stream = mt_stmt_int_or(s, 5, INT64_MIN),
                            .pool = pool ? mt_strdup(pool) : NULL,
                            .node = node_of(run, mt_stmt_int_or(s, 7, INT64_MIN)),
                            .at = moment_of(s, 3)};
    }
}

void mt_ooms_free(struct mt_ooms *v)
{
    for (size_t i = 0; i < v->all.n; i++)
        free(v->all.v[i].pool);
    mt_vec_free(&v->all);
}

enum mt_status mt_reserved_peak(struct mt_db *db, const struct mt_run *run,
                                const struct mt_run_device *device, struct mt_seg_moment *at,
                                bool *known, struct mt_err *err)
{
    struct mt_stmt *s;
    *known = false;
    if (device->one_moment)
        return MT_OK;
    MT_TRY(mt_db_query(db, MT_Q_RESERVED_PEAK, &s, err));
    mt_stmt_bind(s, "ii", run->id, device->id);
    MT_TRY(mt_stmt_step(s, known, err));
    if (!*known)
        return MT_OK;
    *at = moment_of(s, 2);
    bool row = true;
    while (row)
        MT_TRY(mt_stmt_step(s, &row, err));
    return MT_OK;
}
