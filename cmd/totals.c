#include "cmd/totals.h"

#include "lib/base/human.h"
#include "lib/run/knows.h"

static const struct mt_run_device *with_largest_peak(const struct mt_totals *t)
{
    const struct mt_run_device *most = &t->v[0];
    for (size_t i = 1; i < t->n; i++)
        if (t->v[i].peak_b > most->peak_b)
            most = &t->v[i];
    return most;
}

static bool is_part(const struct mt_totals *t)
{
    return t->of[0] || t->of[1];
}

static void add_peak(struct mt_buf *title, const struct mt_totals *t)
{
    char peak[MT_HUMAN_LONG], at[MT_HUMAN_LONG];
    const struct mt_run_device *most = with_largest_peak(t);
    mt_buf_addf(title, " · %s %s%s", t->n == 1 ? "peak" : "largest peak",
                is_part(t) ? "of the run " : "", mt_peak_words(most, peak));
    if (t->n > 1)
        mt_buf_addf(title, " on %s", most->name);
    if (most->peak_ns != INT64_MIN && !most->one_moment)
        mt_buf_addf(title, " at %s", mt_human_time(t->run->time_unit, most->peak_ns, at));
}

static char *title_of(const struct mt_totals *t)
{
    char text[MT_HUMAN_MAX], n[MT_HUMAN_LONG];
    const struct mt_run_device *most = with_largest_peak(t);
    struct mt_buf title = {0};
    mt_buf_addf(&title, "%s · %s", t->run->name,
                t->n == 1 ? most->shown : mt_human_plural((int64_t)t->n, "device", n));
    for (size_t i = 0; i < MT_ARRAY_LEN(t->of); i++)
        if (t->of[i])
            mt_buf_addf(&title, " · %s", t->of[i]);
    if (mt_knows_net(most->knows))
        mt_buf_addf(&title, " · net %s", mt_human_bytes(t->net_b, text));
    else if (most->alloc_b != MT_UNKNOWN)
        mt_buf_addf(&title, " · allocated %s", mt_human_bytes(most->alloc_b, text));
    if (!mt_knows_net(most->knows) && most->at_end_b != MT_UNKNOWN)
        mt_buf_addf(&title, " · at the end %s", mt_human_bytes(most->at_end_b, text));
    add_peak(&title, t);
    return title.s;
}

static void add_total(struct mt_report *r, const char *name, bool known, int64_t v)
{
    mt_report_total(r, name, known ? mt_cell_int(v) : (struct mt_cell){0});
}

void mt_totals_describe(const struct mt_totals *t, struct mt_report *r)
{
    const struct mt_run_device *d = &t->v[0];
    bool one = t->n == 1, peak = one && mt_device_knows(d, MT_KNOWS_PEAK);
    r->title = title_of(t);
    add_total(r, "net_b", d->net_b != MT_UNKNOWN, t->net_b);
    add_total(r, "peak_b", peak, d->peak_b);
    add_total(r, "peak_ns", peak && d->peak_ns != INT64_MIN && !d->one_moment, d->peak_ns);
    if (one && !mt_knows_net(d->knows)) {
        add_total(r, "alloc_b", d->alloc_b != MT_UNKNOWN, d->alloc_b);
        add_total(r, "at_end_b", d->at_end_b != MT_UNKNOWN, d->at_end_b);
    }
}
