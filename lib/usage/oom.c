#include "lib/usage/oom.h"

#include "gen/queries.h"
#include "lib/base/wrap.h"
#include "lib/model/recording.h"
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

/* When an allocation failed last on a device; INT64_MIN: never. */
static enum mt_status last_failure(struct mt_db *db, const struct mt_run *run,
                                   const struct mt_run_device *device, int64_t *at_ns,
                                   struct mt_err *err)
{
    struct mt_ooms ooms = {0};
    enum mt_status st = mt_ooms_load(db, run, device, &ooms, err);
    *at_ns = ooms.all.n ? ooms.all.v[ooms.all.n - 1].t_ns : INT64_MIN;
    mt_ooms_free(&ooms);
    return st;
}

enum mt_status mt_oom_device(struct mt_db *db, const struct mt_run *run, const char *asked,
                             struct mt_run_device *out, bool *found, struct mt_err *err)
{
    struct mt_run_device *all = NULL;
    size_t n = 0;
    int64_t last_ns = INT64_MIN, at_ns;
    enum mt_status st = mt_run_devices(db, run, &all, &n, err);
    *found = false;
    for (size_t i = 0; i < n && st == MT_OK; i++) {
        if (!mt_device_is(all[i].name, asked, true) && !mt_device_is(all[i].name, asked, false))
            continue;
        st = last_failure(db, run, &all[i], &at_ns, err);
        if (st != MT_OK || at_ns <= last_ns)
            continue;
        last_ns = at_ns;
        *out = all[i];
        *found = true;
    }
    free(all);
    return st;
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
    const bool unseen = mt_reserved_is_unseen(run, device, mt_stmt_int(s, 0));
    *at = moment_of(s, 2);
    bool row = true;
    while (row)
        MT_TRY(mt_stmt_step(s, &row, err));
    *known = !unseen;
    return MT_OK;
}
