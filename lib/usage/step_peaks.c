#include "lib/usage/step_peaks.h"

#include "lib/usage/gaps.h"
#include "lib/usage/levels.h"
#include <stdlib.h>

/* Levels exact at the ends of the steps, with what is highest in between. */
static enum mt_status load_levels(struct mt_db *db, const struct mt_run *run,
                                  const struct mt_run_device *device, const struct mt_steps *steps,
                                  struct mt_levels *out, struct mt_err *err)
{
    const size_t n = steps->all.n;
    int64_t *moments = mt_alloc((2 * n + 1) * sizeof *moments);
    for (size_t i = 0; i < n; i++) {
        moments[2 * i] = steps->all.v[i].start_ns;
        moments[2 * i + 1] = steps->all.v[i].end_ns;
    }
    enum mt_status st = mt_levels_load_near(db, run, device, moments, 2 * n, out, err);
    free(moments);
    return st;
}

static struct mt_step_peak peak_of(const struct mt_steps *steps, size_t i,
                                   const struct mt_levels *levels, int64_t known_until_ns)
{
    const struct mt_step *step = &steps->all.v[i];
    struct mt_step_peak peak = {step->number, MT_UNKNOWN, MT_UNKNOWN, MT_UNKNOWN};
    if (step->start_ns > known_until_ns)
        return peak;
    int64_t first = mt_levels_before(levels, step->start_ns);
    int64_t last = mt_levels_before(levels, mt_steps_until(steps, i));
    peak.start_b = mt_levels_value(levels, first);
    peak.peak_b = mt_levels_value(levels, mt_levels_peak(levels, first, last));
    if (step->end_ns <= known_until_ns)
        peak.end_b = mt_levels_value(levels, last);
    return peak;
}

enum mt_status mt_step_peaks_load(struct mt_db *db, const struct mt_run *run,
                                  const struct mt_run_device *device, struct mt_step_peaks *out,
                                  struct mt_err *err)
{
    struct mt_steps steps = {0};
    struct mt_levels levels = {0};
    unsigned gaps;
    int64_t known_until_ns;
    enum mt_status st = MT_OK;
    MT_TRY_OUT(mt_steps_load(db, run, &steps, err));
    if (!steps.all.n)
        goto out;
    MT_TRY_OUT(mt_run_gaps(db, run, device, &gaps, err));
    MT_TRY_OUT(mt_run_known_until(db, run, gaps, &known_until_ns, err));
    MT_TRY_OUT(load_levels(db, run, device, &steps, &levels, err));
    for (size_t i = 0; i < steps.all.n; i++)
        *mt_vec_push(&out->all) = peak_of(&steps, i, &levels, known_until_ns);
out:
    mt_levels_free(&levels);
    mt_steps_free(&steps);
    return st;
}

void mt_step_peaks_free(struct mt_step_peaks *p)
{
    mt_vec_free(&p->all);
}
