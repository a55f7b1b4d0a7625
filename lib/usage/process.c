#include "lib/usage/process.h"

#include "lib/base/wrap.h"
#include "lib/run/knows.h"
#include "lib/usage/sample_series.h"

#include <stdio.h>
#include <string.h>

static void add(struct mt_process_counts *out, const char *metric)
{
    struct mt_counted *c = mt_vec_push(&out->all);
    *c = (struct mt_counted){.most_b = MT_UNKNOWN, .until_ns = INT64_MAX};
    snprintf(c->metric, sizeof c->metric, "%s", metric);
}

/* The curve has only changes; what is counted first is where it starts. */
static enum mt_status load_level(struct mt_db *db, const struct mt_run *run,
                                 const struct mt_run_device *device, struct mt_counted *c,
                                 struct mt_err *err)
{
    struct mt_levels rest;
    c->most_b = device->peak_b;
    if (!mt_device_knows(device, MT_KNOWS_LEVEL))
        return MT_OK;
    enum mt_status st = mt_levels_load(db, run, device, &rest, err);
    c->levels.start_b = rest.start_b;
    *mt_vec_push(&c->levels.all) = (struct mt_level){0, rest.start_b, 0};
    for (size_t i = 0; i < rest.all.n; i++)
        *mt_vec_push(&c->levels.all) = rest.all.v[i];
    mt_levels_free(&rest);
    return st;
}

static enum mt_status find_metrics(struct mt_db *db, const struct mt_run *run,
                                   const struct mt_run_device *device,
                                   struct mt_process_counts *out, struct mt_err *err)
{
    const struct mt_samples *all;
    MT_TRY(mt_sample_series_load(db, run->id, device->id, MT_SAMPLE_VALUES, &all, err));
    for (const struct mt_sample_series *s = mt_sample_first(all, device->id); s;
         s = mt_sample_next(all, s))
        if (strcmp(s->name, out->all.v[0].metric) != 0 && mt_metric_is_bytes(s->name))
            add(out, s->name);
    return MT_OK;
}

static int64_t highest(const struct mt_levels *l)
{
    return mt_levels_value(l, mt_levels_peak(l, 0, (int64_t)l->all.n - 1));
}

static void add_traced(struct mt_process_counts *out)
{
    struct mt_window known;
    add(out, MT_COUNTED_PYTORCH);
    struct mt_counted *c = &out->all.v[out->all.n - 1];
    mt_traced_levels(&out->traced, &c->levels, &known);
    c->until_ns = known.to_ns;
    c->most_b = highest(&c->levels);
    add(out, MT_COUNTED_REST);
    out->all.v[out->all.n - 1].rest = true;
}

enum mt_status mt_process_end(struct mt_db *db, const struct mt_run *run,
                              const struct mt_run_device *device, int64_t *out, struct mt_err *err)
{
    const struct mt_samples *all;
    MT_TRY(mt_sample_series_load(db, run->id, device->id, MT_SAMPLE_ENDS, &all, err));
    const struct mt_sample_series *s = mt_sample_find(all, device->id, "exit");
    *out = INT64_MAX;
    for (size_t i = 0; s && i < s->all.n; i++)
        if (s->all.v[i].t_ns < *out)
            *out = s->all.v[i].t_ns;
    return MT_OK;
}

enum mt_status mt_process_counts_load(struct mt_db *db, const struct mt_run *run,
                                      const struct mt_run_device *device,
                                      struct mt_process_counts *out, struct mt_err *err)
{
    *out = (struct mt_process_counts){0};
    bool together = mt_device_is_processes(device);
    add(out, mt_metric_names[together ? MT_METRIC_AT_MOST : MT_METRIC_RSS]);
    if (!together)
        MT_TRY(load_level(db, run, device, &out->all.v[0], err));
    MT_TRY(find_metrics(db, run, device, out, err));
    MT_TRY(mt_process_end(db, run, device, &out->end_ns, err));
    for (size_t i = !together; i < out->all.n; i++) {
        struct mt_counted *c = &out->all.v[i];
        MT_TRY(mt_samples_load(db, run, device, c->metric, &c->levels, err));
        c->most_b = highest(&c->levels);
    }
    MT_TRY(mt_traced_load(db, run, device, &out->traced, err));
    if (out->traced.all.n)
        add_traced(out);
    for (size_t i = 0; i < out->all.n && out->end_ns != INT64_MAX; i++)
        if (out->all.v[i].until_ns >= out->end_ns)
            out->all.v[i].until_ns = out->end_ns - 1;
    return MT_OK;
}

void mt_process_counts_free(struct mt_process_counts *c)
{
    for (size_t i = 0; i < c->all.n; i++)
        mt_levels_free(&c->all.v[i].levels);
    mt_vec_free(&c->all);
    mt_traced_free(&c->traced);
}

int64_t mt_counted_at(const struct mt_counted *c, int64_t t_ns)
{
    int64_t at = mt_levels_at(&c->levels, t_ns);
    return at < 0 || t_ns > c->until_ns ? MT_UNKNOWN : mt_levels_value(&c->levels, at);
}

/* What of the rss is in no other part. Where tensors were never touched, they are more than what
 * is in memory of them, and nobody knows. */
static int64_t rest_at(const struct mt_process_counts *all, int64_t t_ns)
{
    static const char *const parts[] = {"file", "shmem", MT_COUNTED_PYTORCH};
    int64_t rest = mt_counted_at(&all->all.v[0], t_ns);
    for (size_t i = 0; i < MT_ARRAY_LEN(parts) && rest != MT_UNKNOWN; i++) {
        int64_t part = MT_UNKNOWN;
        for (size_t k = 1; k < all->all.n; k++)
            if (strcmp(all->all.v[k].metric, parts[i]) == 0)
                part = mt_counted_at(&all->all.v[k], t_ns);
        rest = part == MT_UNKNOWN ? MT_UNKNOWN : mt_wrap_sub(rest, part);
    }
    return rest < 0 ? MT_UNKNOWN : rest;
}

/* Of it parts are counted less often: one that is above what there is now is of another time. */
static int64_t below_rss(const struct mt_process_counts *all, const struct mt_counted *c,
                         int64_t t_ns)
{
    int64_t part = mt_counted_at(c, t_ns), rss = mt_counted_at(&all->all.v[0], t_ns);
    bool of_rss = false;
    static const int parts[] = {MT_METRIC_ANON, MT_METRIC_FILE, MT_METRIC_SHMEM};
    for (size_t i = 0; i < MT_ARRAY_LEN(parts); i++)
        of_rss |= strcmp(c->metric, mt_metric_names[parts[i]]) == 0;
    return of_rss && rss != MT_UNKNOWN && part > rss ? MT_UNKNOWN : part;
}

int64_t mt_process_counted_at(const struct mt_process_counts *all, const struct mt_counted *c,
                              int64_t t_ns)
{
    static const int seldom[] = {MT_METRIC_PSS, MT_METRIC_PRIVATE};
    int64_t at = mt_levels_at(&c->levels, t_ns);
    bool is_seldom = false;
    if (c->rest)
        return rest_at(all, t_ns);
    for (size_t i = 0; i < MT_ARRAY_LEN(seldom); i++)
        is_seldom |= strcmp(c->metric, mt_metric_names[seldom[i]]) == 0;
    if (at < 0 || !is_seldom)
        return below_rss(all, c, t_ns);
    int64_t then = mt_counted_at(&all->all.v[0], c->levels.all.v[at].t_ns);
    int64_t now = mt_counted_at(&all->all.v[0], t_ns), off = mt_wrap_sub(now, then);
    return off <= now / 100 && off >= -(now / 100) ? mt_counted_at(c, t_ns) : MT_UNKNOWN;
}

void mt_process_counted_within(const struct mt_process_counts *all, const struct mt_counted *c,
                               const struct mt_window *w, int64_t *most_b, int64_t *last_b)
{
    const struct mt_levels *rss = &all->all.v[0].levels;
    int64_t first = mt_levels_before(&c->levels, w->from_ns);
    int64_t last = mt_levels_before(&c->levels, w->to_ns);
    bool whole = w->from_ns <= 0 && last == (int64_t)c->levels.all.n - 1;
    *most_b = *last_b = MT_UNKNOWN;
    if (w->from_ns >= all->end_ns)
        return;
    if (last >= 0 || c->rest) {
        int64_t end = mt_levels_time(rss, mt_levels_before(rss, w->to_ns), 0);
        int64_t own = last >= 0 ? c->levels.all.v[last].t_ns : end;
        *last_b = mt_process_counted_at(all, c, end > own ? end : own);
    }
    if (whole)
        *most_b = c->most_b;
    else if (last >= 0 && w->from_ns <= c->until_ns)
        *most_b =
            mt_levels_value(&c->levels, mt_levels_peak(&c->levels, first < 0 ? 0 : first, last));
}
