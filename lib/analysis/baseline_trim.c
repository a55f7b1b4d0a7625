/* What the file of a baseline leaves out: sites that have next to nothing become one. */
#include "lib/analysis/baseline_parts.h"

#include <stdlib.h>

/* Marks the heaviest sites by one figure that make up 99 % of its sum in a repeat; all that grow.
 */
static void mark_heavy(const struct mt_baseline_device *d, enum mt_figure figure, size_t repeat,
                       bool *heavy)
{
    MT_VEC(struct mt_ranked) v = {0};
    int64_t sum = 0, reached = 0;
    for (size_t i = 0; i < d->sites.n; i++) {
        int64_t value = mt_baseline_figure_in(&d->sites.v[i], figure, repeat);
        if (value) /* of many repeats most have but a few of all sites */
            *mt_vec_push(&v) = (struct mt_ranked){-value, i};
        sum = mt_baseline_add(sum, value);
    }
    if (v.n)
        qsort(v.v, v.n, sizeof *v.v, mt_ranked_cmp);
    int64_t enough = mt_figure_defs[figure].adds == MT_ADDS_RATE ? sum : sum - sum / 100;
    for (size_t i = 0; i < v.n && reached < enough; i++) {
        heavy[v.v[i].index] = true;
        reached = mt_baseline_add(reached, -v.v[i].value);
    }
    mt_vec_free(&v);
}

static void lump(struct mt_baseline_site *other, struct mt_baseline_site *site, size_t repeat_n)
{
    for (int f = 0; f < MT_FIG_BASELINE_N; f++)
        other->v[f] = mt_baseline_add(other->v[f], site->v[f]);
    for (size_t i = 0; i < (site->differs ? site->each.n : repeat_n); i++) {
        const int64_t *from = site->differs ? site->each.v[i].v : site->v;
        int64_t *to =
            mt_baseline_each_at(other, site->differs ? (size_t)site->each.v[i].repeat : i);
        for (int f = 0; f < MT_FIG_BASELINE_N; f++)
            to[f] = mt_baseline_add(to[f], from[f]);
    }
    mt_vec_free(&site->each);
}

static void trim_device(struct mt_baseline *b, struct mt_baseline_device *d)
{
    const struct mt_figure_set needed = mt_figures_kept(MT_KEPT_HEAVY);
    size_t kept = 0, all = d->sites.n, repeat_n = b->repeats.n ? b->repeats.n : 1;
    bool *heavy = mt_alloc((all + 1) * sizeof *heavy);
    struct mt_baseline_site other = {.op = mt_baseline_text(b, "[other]"), .explicit_row = true};
    for (size_t i = 0; i < needed.n * repeat_n; i++)
        mark_heavy(d, needed.v[i / repeat_n], i % repeat_n, heavy);
    for (size_t i = 0; i < all; i++)
        if (heavy[i] || d->sites.v[i].explicit_row)
            d->sites.v[kept++] = d->sites.v[i];
        else
            lump(&other, &d->sites.v[i], repeat_n);
    d->sites.n = kept;
    mt_baseline_each_settle(&other, repeat_n);
    if (kept < all)
        *mt_vec_push(&d->sites) = other;
    free(heavy);
}

void mt_baseline_trim(struct mt_baseline *b)
{
    for (size_t i = 0; i < b->devices.n; i++)
        trim_device(b, &b->devices.v[i]);
}
