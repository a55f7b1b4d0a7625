/* Temporary allocations of a device: a figure that only some formats have. */
#include "lib/analysis/baseline_parts.h"

#include "gen/queries.h"
#include "lib/run/knows.h"
#include "lib/usage/gaps.h"

/* The sum over all call paths; MT_UNKNOWN where one leaves 64 bits. */
static enum mt_status sum_of(struct mt_db *db, const struct mt_run *run,
                             const struct mt_run_device *device, enum mt_extra extra, int64_t *sum,
                             struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    enum mt_status st;
    *sum = 0;
    MT_TRY(mt_db_query(db, MT_Q_LOAD_EXTRA, &s, err));
    mt_stmt_bind(s, "iiis", run->node_first, run->node_first + run->node_n, device->id,
                 mt_extra_names[extra]);
    while ((st = mt_stmt_step(s, &row, err)) == MT_OK && row)
        mt_extra_add(sum, mt_stmt_kind(s, 1) == MT_VALUE_NULL ? MT_UNKNOWN : mt_stmt_int(s, 1));
    return st;
}

enum mt_status mt_baseline_measure_temporary(struct mt_db *db, const struct mt_run *run,
                                             const struct mt_run_device *device, unsigned gaps,
                                             struct mt_baseline_other *to, struct mt_err *err)
{
    const unsigned exact = MT_KNOWS_EXTRA(MT_EXTRA_TEMPORARY_N);
    bool most = !mt_device_knows(device, exact) &&
                mt_device_knows(device, MT_KNOWS_EXTRA(MT_EXTRA_TEMPORARY_MOST_N));
    *to = (struct mt_baseline_other){0};
    if (!most && !mt_device_knows(device, exact)) {
        to->why = mt_knows_lack(run, device, exact);
        return MT_OK;
    }
    MT_TRY(sum_of(db, run, device, most ? MT_EXTRA_TEMPORARY_MOST_N : MT_EXTRA_TEMPORARY_N, &to->v,
                  err));
    to->known = to->v != MT_UNKNOWN && to->v >= 0;
    to->v = to->v > MT_BASELINE_MOST ? MT_BASELINE_MOST : to->v;
    to->less = most ? to->v : 0;
    to->least = gaps & MT_GAPS_INSIDE;
    to->why = to->least ? mt_gaps_text(gaps & MT_GAPS_INSIDE) : NULL;
    return MT_OK;
}
