/* Several repeats as one baseline, whose figures are their medians. */
#include "lib/analysis/baseline_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int mt_ranked_cmp(const void *a, const void *b)
{
    const struct mt_ranked *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

int64_t mt_median(const int64_t *values, size_t n, int64_t *spread, size_t *which)
{
    struct mt_ranked *v = mt_alloc(n * sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = (struct mt_ranked){values[i], i};
    qsort(v, n, sizeof *v, mt_ranked_cmp);
    bool known = v[0].value != MT_BASELINE_UNKNOWN; /* the least of all integers comes first */
    int64_t median = known ? v[n / 2].value : MT_BASELINE_UNKNOWN;
    *spread = known ? v[n - 1 - n / 4].value - v[n / 4].value : 0;
    if (which)
        *which = v[n / 2].index;
    free(v);
    return median;
}

void mt_baseline_fold_older(const struct mt_baseline *repeats, size_t n,
                            struct mt_baseline_device *to)
{
    to->older_b = MT_BASELINE_UNKNOWN;
    to->older_least_b = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        const struct mt_baseline_device *d = mt_baseline_same_device(&repeats[i], to->name);
        if (!d)
            continue;
        to->older_b = d->older_b > to->older_b ? d->older_b : to->older_b;
        int64_t least_b = d->older_left_out ? d->older_least_b : 0;
        int64_t most_b = d->older_left_out ? d->older_most_b : 0;
        bool open = most_b < 0 || to->older_most_b < 0;
        to->older_left_out |= d->older_left_out;
        to->older_unsaid |= d->older_unsaid;
        to->older_least_b = least_b < to->older_least_b ? least_b : to->older_least_b;
        to->older_most_b = open                        ? MT_BASELINE_UNKNOWN
                           : most_b > to->older_most_b ? most_b
                                                       : to->older_most_b;
    }
    if (!to->older_left_out)
        to->older_least_b = to->older_most_b = MT_BASELINE_UNKNOWN;
}

/* From the least to the most: of steps none is an outlier, for each repeat has its own. */
static int64_t range_of(const int64_t *values, size_t n)
{
    int64_t least = values[0], most = values[0];
    for (size_t i = 1; i < n; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    return least == MT_BASELINE_UNKNOWN ? 0 : most - least;
}

/* Steps and levels of each repeat, unless all are those of the device. */
static void fold_steps(const struct mt_baseline *repeats, size_t n, struct mt_baseline_device *to)
{
    bool differ = false;
    for (size_t i = 0; i < n; i++) {
        const struct mt_baseline_device *d = mt_baseline_same_device(&repeats[i], to->name);
        struct mt_baseline_steps *own = mt_vec_push(&to->steps);
        *own = (struct mt_baseline_steps){.step_n = d ? d->v[MT_FIG_STEP_N] : MT_BASELINE_UNKNOWN};
        if (d)
            mt_step_levels_copy(&own->levels, &d->levels);
        differ |=
            own->step_n != to->v[MT_FIG_STEP_N] || !mt_step_levels_same(&own->levels, &to->levels);
    }
    for (size_t i = 0; i < n && !differ; i++)
        mt_step_levels_free(&to->steps.v[i].levels);
    if (!differ)
        mt_vec_free(&to->steps);
}

static void fold_device(const struct mt_baseline *repeats, size_t n, struct mt_baseline *out,
                        const char *name)
{
    int64_t *values = mt_alloc(n * sizeof *values);
    size_t which = 0;
    struct mt_baseline_device *to = mt_vec_push(&out->devices);
    *to = (struct mt_baseline_device){0};
    snprintf(to->name, sizeof to->name, "%s", name);
    mt_baseline_fold_older(repeats, n, to);
    for (int f = MT_FIG_BASELINE_N;
         f-- > 0;) { /* the peak last: its median repeat gives the sites */
        for (size_t i = 0; i < n; i++) {
            const struct mt_baseline_device *d = mt_baseline_same_device(&repeats[i], name);
            values[i] = d && !d->least[f] ? d->v[f] : MT_BASELINE_UNKNOWN;
        }
        to->v[f] = mt_median(values, n, &to->spread[f], &which);
        if (f == MT_FIG_STEP_N)
            to->spread[f] = range_of(values, n);
    }
    free(values);
    mt_baseline_fold_unknown(repeats, n, out, to);
    mt_baseline_fold_sites(repeats, n, which, name, out, to);
    const struct mt_baseline_device *median = mt_baseline_same_device(&repeats[which], name);
    if (median)
        mt_step_levels_copy(&to->levels, &median->levels);
    if (n > 1)
        fold_steps(repeats, n, to);
    snprintf(to->sites_of, sizeof to->sites_of, "%s", repeats[which].run);
}

void mt_baseline_fold(const struct mt_baseline *repeats, size_t n, struct mt_baseline *out)
{
    *out = (struct mt_baseline){.warmup = repeats[0].warmup, .run_n = (int64_t)n};
    mt_strtab_init(&out->texts);
    memcpy(out->run, repeats[0].run, sizeof out->run);
    memcpy(out->source, repeats[0].source, sizeof out->source);
    memcpy(out->format, repeats[0].format, sizeof out->format);
    memcpy(out->torch, repeats[0].torch, sizeof out->torch);
    for (size_t i = 0; i < n; i++) {
        if (n > 1)
            *mt_vec_push(&out->repeats) = mt_baseline_text(out, repeats[i].run);
        for (size_t k = 0; k < repeats[i].contents.n; k++)
            *mt_vec_push(&out->contents) = mt_baseline_text(out, repeats[i].contents.v[k]);
        for (size_t k = 0; k < repeats[i].devices.n; k++)
            if (!mt_baseline_same_device(out, repeats[i].devices.v[k].name))
                fold_device(repeats, n, out, repeats[i].devices.v[k].name);
    }
}
