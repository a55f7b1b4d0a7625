/* memtool timeline: the pictures. */
#include "cmd/timeline.h"

#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/render/columns.h"
#include "lib/usage/process.h"
#include <string.h>

#define SPARK_CELLS 24

char *mt_timeline_title(const struct mt_timeline *t)
{
    char bytes[MT_HUMAN_LONG], when[MT_HUMAN_LONG];
    struct mt_buf out = {0};
    int64_t step = mt_steps_number_at(&t->view->blocks.steps, t->peak_ns);
    mt_buf_addf(&out, "%s · %s · ", t->view->run.name, t->view->device.shown);
    if (!t->allocated)
        mt_buf_addf(&out, "%s, ", t->metric);
    if (t->view->device.one_moment) {
        mt_buf_addf(
            &out, "%s%s; no history, so the peak is unknown", t->allocated ? "live " : "",
            mt_human_with_exact(t->allocated ? t->view->device.at_end_b : t->peak_b, bytes));
        return out.s;
    }
    mt_buf_addf(&out, "peak%s%s %s%s at %s", t->window ? t->window : "", t->window ? ":" : "",
                t->allocated ? mt_at_most(&t->view->device, t->peak_b) : "",
                mt_human_with_exact(t->peak_b, bytes),
                mt_human_time(t->view->run.time_unit, t->peak_ns, when));
    if (!t->window && step != INT64_MIN)
        mt_buf_addf(&out, ", step %lld", (long long)step);
    return out.s;
}

/* What a curve was when the first was highest; MT_UNKNOWN. */
static int64_t at_peak(const struct mt_timeline *t, const struct mt_timeline_curve *c)
{
    bool known = t->peak_ns >= c->known.from_ns && t->peak_ns <= c->known.to_ns;
    return known ? mt_levels_value(&c->levels, mt_levels_at(&c->levels, t->peak_ns)) : MT_UNKNOWN;
}

/* Of which runs the area of PyTorch is, and when it is known. */
static void say_traced(struct mt_timeline *t, const struct mt_timeline_curve *c)
{
    char from[MT_HUMAN_MAX], to[MT_HUMAN_MAX], then[MT_HUMAN_MAX];
    for (size_t i = 0; i < t->traced.all.n; i++) {
        const struct mt_traced *one = &t->traced.all.v[i];
        bool end = one->known.to_ns >= t->view->run.dur_ns;
        mt_report_footer(
            t->report, "The area is what PyTorch has allocated (run '%s'), recorded from %s to %s.",
            one->run.name, mt_human_ns(one->known.from_ns, from),
            end ? "the end" : mt_human_ns(one->known.to_ns, to));
    }
    int64_t now = at_peak(t, c);
    if (now != MT_UNKNOWN)
        mt_report_footer(t->report, "At the peak it is %s.", mt_human_bytes(now, then));
}

static void say_held(struct mt_timeline *t, const struct mt_timeline_curve *c)
{
    char then[MT_HUMAN_MAX], most[MT_HUMAN_MAX];
    const struct mt_bucket *best = mt_buckets_peak(&c->buckets);
    int64_t now = at_peak(t, c);
    if (mt_bucket_unknown(best))
        return;
    mt_report_footer(
        t->report, "The %s is what malloc holds though it is free (malloc_held): %s%s%s at most.",
        c == t->beside ? "area" : "lower line", now != MT_UNKNOWN ? mt_human_bytes(now, then) : "",
        now != MT_UNKNOWN ? " at the peak, " : "", mt_human_bytes(best->max_b, most));
}

static void say_rss(struct mt_timeline *t, const struct mt_timeline_curve *c)
{
    char a[MT_HUMAN_MAX], b[MT_HUMAN_MAX];
    const struct mt_bucket *best = mt_buckets_peak(&c->buckets);
    int64_t now = at_peak(t, c);
    if (mt_bucket_unknown(best))
        return;
    mt_report_footer(t->report,
                     "The line shows what the process had in memory (rss): %s%s%s at most.",
                     now != MT_UNKNOWN ? mt_human_bytes(now, a) : "",
                     now != MT_UNKNOWN ? " at the peak, " : "", mt_human_bytes(best->max_b, b));
}

/* free_b: what is reserved, and neither allocated nor from before the recording. */
static void say_reserved_then(struct mt_timeline *t, int64_t reserved, int64_t free_b)
{
    char a[MT_HUMAN_MAX], b[MT_HUMAN_MAX];
    if (reserved == MT_UNKNOWN)
        mt_report_footer(t->report, "The line shows reserved bytes; at the peak they are unknown.");
    else if (t->view->device.only) /* most of them may be allocated, for something else */
        mt_report_footer(t->report,
                         "The line shows reserved bytes, whatever they are for: %s at the peak.",
                         mt_human_bytes(reserved, a));
    else if (free_b < 0)
        mt_report_footer(t->report,
                         "The line shows reserved bytes: %s at the peak, less than was allocated.",
                         mt_human_bytes(reserved, a));
    else
        mt_report_footer(t->report,
                         "The line shows reserved bytes: %s at the peak, %s of them not allocated.",
                         mt_human_bytes(reserved, a), mt_human_bytes(free_b, b));
}

static void say_reserved(struct mt_timeline *t, const struct mt_timeline_curve *c)
{
    int64_t reserved = at_peak(t, c);
    int64_t before_b = mt_recorder_before(&t->total, &t->view->device);
    if (!t->view->device.one_moment)
        say_reserved_then(t, reserved, mt_wrap_sub(mt_wrap_sub(reserved, t->peak_b), before_b));
}

static void say_beside(struct mt_timeline *t)
{
    for (size_t i = 0; i < t->beside_n; i++) {
        const struct mt_timeline_curve *c = &t->beside[i];
        if (strcmp(c->what, MT_COUNTED_PYTORCH) == 0)
            say_traced(t, c);
        else if (strcmp(c->what, mt_metric_names[MT_METRIC_MALLOC_HELD]) == 0)
            say_held(t, c);
        else if (strcmp(c->what, mt_metric_names[MT_METRIC_RSS]) == 0)
            say_rss(t, c);
        else
            say_reserved(t, c);
    }
}

/* What a reader of the picture must know beside it. */
static void add_footers(struct mt_timeline *t)
{
    char a[MT_HUMAN_MAX], b[MT_HUMAN_MAX];
    bool allocated = t->allocated;
    int64_t before_b = mt_recorder_before(&t->total, &t->view->device);
    say_beside(t);
    mt_timeline_work_footer(t);
    if (allocated && before_b)
        mt_report_footer(t->report, "By the recorder's total, %s more were allocated throughout.",
                         mt_human_bytes(before_b, a));
    int64_t residual = t->total.residual_b == INT64_MIN ? 0 : t->total.residual_b;
    if (allocated && residual)
        mt_report_footer(t->report,
                         "By the recorder's total, usage%s ends %s %s: records are missing.",
                         t->view->device.only ? ", whatever it is for," : "",
                         mt_human_bytes(residual < 0 ? mt_wrap_sub(0, residual) : residual, a),
                         residual < 0 ? "lower" : "higher");
    for (size_t i = 0; i < t->ooms.all.n && i < 3; i++)
        mt_report_footer(t->report, "Out of memory at %s: %s could not be allocated.",
                         mt_human_ns(t->ooms.all.v[i].t_ns, b),
                         mt_human_bytes(t->ooms.all.v[i].level_b, a));
    if (t->ooms.all.n > 3)
        mt_report_footer(t->report, "Out of memory %zu times more.", t->ooms.all.n - 3);
}

static void make_chart(struct mt_timeline *t, struct mt_chart *c)
{
    *c = (struct mt_chart){.title = t->report->title,
                           .what = t->metric,
                           .time_unit = t->view->run.time_unit,
                           .shown = t->shown,
                           .level = &t->buckets,
                           .beside_n = t->beside_n,
                           .within = t->beside_n && mt_device_is_process(&t->view->device),
                           .peak_ns = t->view->device.one_moment ? INT64_MIN : t->peak_ns,
                           .peak_b = t->peak_b,
                           .bands = t->bands.key_n ? &t->bands : NULL};
    mt_timeline_work_lanes(t, c);
    for (size_t i = 0; i < t->beside_n; i++)
        c->beside[i] = (struct mt_chart_curve){&t->beside[i].buckets, t->beside[i].what};
    for (size_t i = 0; i < t->view->blocks.steps.all.n; i++) {
        const struct mt_step *s = &t->view->blocks.steps.all.v[i];
        if (mt_window_has(&t->asked, s->start_ns) && (s->start_ns < t->shown.to_ns || !i))
            *mt_vec_push(&c->steps) = (struct mt_chart_mark){s->start_ns, s->number};
    }
    for (size_t i = 0; i < t->ooms.all.n; i++) {
        const struct mt_level *o = &t->ooms.all.v[i];
        if (mt_window_has(&t->asked, o->t_ns))
            *mt_vec_push(&c->ooms) = (struct mt_chart_mark){o->t_ns, o->level_b};
    }
}

/* A row per band, with what it was over time. */
static void add_legend(struct mt_timeline *t, bool ascii)
{
    struct mt_report *r = t->report;
    struct mt_buf spark = {0};
    mt_report_columns(r, t->view->device.one_moment ? "at_peak_b=LIVE most_b over_time"
                                                    : "at_peak_b most_b over_time");
    for (int k = 0; k < t->bands.key_n; k++)
        mt_report_column(r, mt_group_key_name(t->by.v[k]),
                         t->by.v[k] == MT_BY_SITE ? "ALLOCATED IN" : NULL, MT_UNIT_NONE);
    r->keep_order = true;
    for (size_t i = 0; i < t->bands.all.n; i++) {
        const struct mt_band *b = &t->bands.all.v[i];
        struct mt_row *row = mt_report_row(r);
        int64_t most = b->bytes[0];
        for (size_t k = 0; k < t->bands.bucket_n; k++)
            most = b->bytes[k] > most ? b->bytes[k] : most;
        mt_buf_clear(&spark);
        mt_sparkline(&spark, b->bytes, t->bands.bucket_n, SPARK_CELLS, ascii);
        row->explicit_row = b->explicit_row;
        row->cells[0] = mt_cell_int(b->at_peak_b);
        row->cells[1] = mt_cell_int(most);
        row->cells[2] = mt_cell_text(mt_report_text(r, spark.s));
        for (int k = 0; k < t->bands.key_n; k++)
            row->cells[3 + k] = mt_cell_text(b->key[k]);
    }
    mt_buf_free(&spark);
}

void mt_timeline_draw(struct mt_timeline *t, int width, int height, bool ascii, bool color)
{
    struct mt_chart c;
    struct mt_buf figure = {0};
    make_chart(t, &c);
    c.width = width;
    c.height = height - 1; /* the title */
    c.ascii = ascii;
    c.color = color;
    mt_chart_text(&figure, &c);
    t->report->figure = figure.s;
    if (t->bands.key_n)
        add_legend(t, ascii);
    add_footers(t);
    mt_chart_free(&c);
}

void mt_timeline_svg(struct mt_timeline *t, int width, int height, struct mt_buf *out)
{
    struct mt_chart c;
    add_footers(t);
    make_chart(t, &c);
    c.width = width;
    c.height = height;
    for (size_t i = 0; i < t->report->footer.n; i++)
        *mt_vec_push(&c.footer) = t->report->footer.v[i];
    mt_chart_svg(out, &c);
    mt_chart_free(&c);
}
