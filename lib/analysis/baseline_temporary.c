/* Temporary allocations of a device: a figure that only some formats have. */
#include "lib/analysis/baseline_parts.h"

#include "lib/run/knows.h"
#include "lib/usage/gaps.h"

static void add_to_sum(void *sum, const int64_t *cells)
{
    mt_extra_add(sum, cells[1]);
}

/* The sum over all call paths; MT_UNKNOWN where one leaves 64 bits. */
static enum mt_status sum_of(struct mt_db *db, const struct mt_run_device *device,
                             enum mt_extra extra, int64_t *sum, struct mt_err *err)
{
    *sum = 0;
    return mt_load_extra_each(db, device->id, extra, add_to_sum, sum, err);
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
    MT_TRY(
        sum_of(db, device, most ? MT_EXTRA_TEMPORARY_MOST_N : MT_EXTRA_TEMPORARY_N, &to->v, err));
    to->known = to->v != MT_UNKNOWN && to->v >= 0;
    to->v = to->v > MT_BASELINE_MOST ? MT_BASELINE_MOST : to->v;
    to->less = most ? to->v : 0;
    to->least = gaps & MT_GAPS_INSIDE;
    to->why = to->least ? mt_gaps_text(gaps & MT_GAPS_INSIDE) : NULL;
    return MT_OK;
}
