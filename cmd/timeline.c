/* memtool timeline: how much of a device is allocated over time. */
#include "cmd/timeline.h"

#include "cmd/categories_file.h"
#include "cmd/common.h"
#include "cmd/glossary.h"
#include "lib/base/human.h"
#include "lib/model/kind_words.h"
#include "lib/render/term.h"
#include "lib/run/knows.h"
#include "lib/usage/oom.h"
#include "lib/usage/process.h"
#include <stdlib.h>
#include <string.h>

#define TOP_DEFAULT    8
#define SIZE_MAX_ASKED 100000
#define CHART_MAX      1000 /* columns and lines of text: no terminal has as many */

static const char *by, *categories, *category, *device_name, *group, *metric, *from, *to, *step;
static int64_t width = -1, height = -1, top = -1; /* -1: not given */
static bool exact, rss;
static struct mt_by keys; /* --by */

/* A picture has no more groups than there are colours to tell them apart. */
static size_t top_n(void)
{
    size_t n = top < 0 ? TOP_DEFAULT : (size_t)top;
    return mt_show_wants_svg() && n > MT_PALETTE_N ? MT_PALETTE_N : n;
}

/* What can be shown of a device beside what process logs count. */
static const char *const metrics[] = {"allocated", "reserved", "rss"};
enum { ALLOCATED, SECONDS, METRIC_N = MT_ARRAY_LEN(metrics) };

/* What the curve of the run is of. */
static const char *level_of(const struct mt_run *run)
{
    return mt_kind_words[run->kind].level;
}

/* Of all processes together there is no curve: what they have by shares stands for it. */
static void choose_metric(const struct mt_view *v)
{
    if (!metric && v->has_device && mt_device_is_processes(&v->device))
        metric = mt_metric_names[MT_METRIC_PSS];
}

/* The metric is one of samples: not what the device's curve is of. */
static bool shows_samples(const struct mt_view *v)
{
    return metric && (strcmp(metric, level_of(&v->run)) != 0 ||
                      (v->has_device && mt_device_is_processes(&v->device)));
}

/* One more curve beside, with nothing in it. */
static struct mt_timeline_curve *add_curve(struct mt_timeline *t, const char *what)
{
    struct mt_timeline_curve *c = &t->beside[t->beside_n++];
    *c = (struct mt_timeline_curve){.what = what, .known = {INT64_MIN, INT64_MAX}};
    return c;
}

/* What samples tell nobody knows before the first. */
static struct mt_window known_of(const struct mt_levels *samples)
{
    return (struct mt_window){samples->all.v[0].t_ns, INT64_MAX};
}

/* The samples of a metric beside the curve, if there are any. */
static enum mt_status add_samples(struct mt_timeline *t, const char *what, struct mt_err *err)
{
    const struct mt_view *v = t->view;
    struct mt_timeline_curve *c = add_curve(t, what);
    MT_TRY(mt_samples_load(v->db, &v->run, &v->device, what, &c->levels, err));
    if (!c->levels.all.n)
        t->beside_n--;
    else
        c->known = known_of(&c->levels);
    return MT_OK;
}

/* What PyTorch had of a process's memory, and what malloc held. */
static enum mt_status load_parts(struct mt_timeline *t, struct mt_err *err)
{
    const struct mt_view *v = t->view;
    MT_TRY(mt_traced_load(v->db, &v->run, &v->device, &t->traced, err));
    MT_TRY(mt_view_note_traces(v, t->report, err));
    if (t->traced.all.n) {
        struct mt_timeline_curve *c = add_curve(t, MT_COUNTED_PYTORCH);
        mt_traced_levels(&t->traced, &c->levels, &c->known);
    }
    return add_samples(t, mt_metric_names[MT_METRIC_MALLOC_HELD], err);
}

/* Where blocks had more than was reserved, not all of that is recorded. */
static void note_reserved(const struct mt_timeline *t, const char *what,
                          const struct mt_levels *reserved)
{
    const struct mt_view *v = t->view;
    const int64_t last = (int64_t)reserved->all.n - 1;
    if (last < 0 || strcmp(what, mt_metric_names[MT_METRIC_RESERVED]) != 0)
        return;
    const int64_t peak_b = mt_levels_value(reserved, mt_levels_peak(reserved, 0, last));
    if (mt_reserved_is_unseen(&v->run, &v->device, peak_b))
        mt_report_note(t->report, "%s: " MT_RESERVED_UNSEEN, v->device.name);
}

/* All but the run's own curve; what the recording has of reserved or rss is beside it unless a
 * metric is asked for. */
static enum mt_status load_samples(struct mt_timeline *t, struct mt_err *err)
{
    const struct mt_view *v = t->view;
    const char *level = level_of(&v->run);
    t->metric = metric ? metric : level;
    t->allocated = strcmp(t->metric, metrics[ALLOCATED]) == 0;
    MT_TRY(mt_samples_load(v->db, &v->run, &v->device, "oom", &t->ooms, err));
    MT_TRY(mt_recorder_total(v->db, &v->device, &t->total, err));
    if (shows_samples(v)) {
        MT_TRY(mt_samples_load(v->db, &v->run, &v->device, metric, &t->levels, err));
        if (t->levels.all.n && t->levels.all.v[0].t_ns > 0)
            t->levels.start_b = MT_UNKNOWN;
        note_reserved(t, metric, &t->levels);
        return t->levels.all.n && mt_metric_is_bytes(metric) ? MT_OK : mt_timeline_lacks(t, err);
    }
    if (metric || mt_device_is_process(&v->device))
        return metric ? MT_OK : load_parts(t, err);
    for (size_t i = SECONDS; i < METRIC_N && !t->beside_n; i++)
        if (strcmp(metrics[i], level) != 0)
            MT_TRY(add_samples(t, metrics[i], err));
    if (t->beside_n)
        note_reserved(t, t->beside[0].what, &t->beside[0].levels);
    return MT_OK;
}

/* As much of that curve as n buckets need. */
static enum mt_status load_levels(struct mt_timeline *t, size_t n, struct mt_err *err)
{
    size_t moment_n;
    if (shows_samples(t->view))
        return MT_OK;
    int64_t *moments = mt_buckets_moments(&t->asked, &t->shown, n, &moment_n);
    enum mt_status st = mt_levels_load_near(t->view->db, &t->view->run, &t->view->device, moments,
                                            moment_n, &t->levels, err);
    free(moments);
    return st;
}

static enum mt_status find_window(struct mt_timeline *t, struct mt_err *err)
{
    char dur[MT_HUMAN_LONG];
    MT_TRY(mt_window_parse(from, to, step, &t->view->run, &t->view->blocks.steps, &t->asked, err));
    t->shown = mt_window_within(&t->asked, t->view->run.dur_ns);
    if (step)
        t->window = mt_asprintf(" of step %s", step);
    else if (from || to)
        t->window = mt_asprintf(" between %s and %s", from ? from : "@start", to ? to : "@end");
    if (t->asked.from_ns <= t->view->run.dur_ns)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "the window begins after the end of run '%s'", t->view->run.name);
    mt_err_hint(err, "It lasts %s.",
                mt_human_span(t->view->run.time_unit, t->view->run.dur_ns, dur));
    return MT_EUSAGE;
}

/* Of a run without events, what sites held is known at moments: the levels and buckets are of
 * these. */
static enum mt_status fill_moments(struct mt_timeline *t, size_t n, struct mt_err *err)
{
    char first[MT_HUMAN_LONG], moments[MT_HUMAN_LONG];
    MT_TRY(mt_moments_load(&t->view->blocks, &t->view->device, true, &t->moments, err));
    const struct mt_levels *known = &t->moments.levels;
    int64_t first_ns = known->all.n ? known->all.v[0].t_ns : 0;
    if (mt_levels_value(&t->levels,
                        mt_levels_peak(&t->levels, -1, mt_levels_before(&t->levels, first_ns))) > 0)
        t->unknown_until = first_ns;
    mt_vec_free(&t->levels.all);
    for (size_t i = 0; i < known->all.n; i++)
        *mt_vec_push(&t->levels.all) = known->all.v[i];
    mt_buckets_fill(&t->buckets, &t->levels, &t->asked, &t->shown, n);
    mt_report_note(t->report,
                   "What sites held is known at %s%s%s: each part of the picture shows the highest "
                   "of these in it, or the last one before.",
                   mt_human_plural((int64_t)known->all.n, "moment", moments),
                   t->unknown_until ? ", from " : "",
                   t->unknown_until ? mt_human_time(t->view->run.time_unit, first_ns, first) : "");
    return MT_OK;
}

static enum mt_status fill_buckets(struct mt_timeline *t, size_t n, struct mt_err *err)
{
    MT_TRY(load_levels(t, n, err));
    mt_buckets_fill(&t->buckets, &t->levels, &t->asked, &t->shown, n);
    for (size_t i = 0; i < t->beside_n; i++) {
        struct mt_timeline_curve *c = &t->beside[i];
        mt_buckets_fill(&c->buckets, &c->levels, &t->asked, &t->shown, n);
        mt_buckets_know(&c->buckets, &c->known);
    }
    MT_TRY(mt_timeline_work(t, err));
    const struct mt_bucket *peak = mt_buckets_peak(&t->buckets);
    if (mt_bucket_unknown(peak))
        return mt_timeline_unknown(t, err);
    t->peak_b = peak->max_b;
    t->peak_ns = mt_levels_time(&t->levels, peak->max_at, t->shown.from_ns);
    if (t->peak_ns < t->shown.from_ns)
        t->peak_ns = t->shown.from_ns; /* reached before, and held at the start of the window */
    const struct mt_run_device *d = &t->view->device;
    if (!mt_device_has_events(d) && t->peak_b == d->peak_b && d->peak_ns != MT_UNKNOWN &&
        !t->window)
        t->peak_ns = d->peak_ns; /* of equal moments the one whose call paths are known */
    t->report->title = mt_timeline_title(t);
    mt_report_total(t->report, "peak_b",
                    t->view->device.one_moment ? (struct mt_cell){0} : mt_cell_int(t->peak_b));
    mt_report_total(t->report, "peak_ns",
                    t->view->device.one_moment ? (struct mt_cell){0} : mt_cell_int(t->peak_ns));
    if (!by)
        return MT_OK;
    bool moments = !mt_device_has_events(&t->view->device);
    if (moments)
        MT_TRY(fill_moments(t, n, err));
    return mt_bands_load(&t->view->blocks, &t->view->device, &t->levels,
                         moments ? &t->moments : NULL, &t->buckets, t->by.v, t->by.n, top_n(),
                         &t->bands, err);
}

static enum mt_status show_svg(struct mt_timeline *t, struct mt_err *err)
{
    struct mt_buf text = {0};
    int wide = width > 0 ? (int)width : 960;
    MT_TRY(fill_buckets(t, mt_chart_svg_buckets(wide, by ? top_n() + 2 : 0), err));
    if (by && t->bands.other && top > MT_PALETTE_N)
        mt_report_footer(t->report,
                         "The picture has %d colours, as many as can be distinguished: [other] is "
                         "everything but the %d heaviest.",
                         MT_PALETTE_N, MT_PALETTE_N);
    mt_timeline_svg(t, wide, height > 0 ? (int)height : 420, &text);
    enum mt_status st = mt_show_text(text.s, err);
    mt_show_notes(t->report);
    mt_buf_free(&text);
    return st;
}

static enum mt_status show_chart(struct mt_timeline *t, const struct mt_render *how,
                                 struct mt_err *err)
{
    struct mt_term term = mt_term_probe(MT_COLOR_NEVER);
    int own = how->width > CHART_MAX ? CHART_MAX : how->width;
    int wide = width > 0 ? (int)width : own ? own : 80;
    int high = wide / 6 < 16 ? 16 : wide / 6 > 28 ? 28 : wide / 6;
    if (term.height && high > term.height - 3)
        high = term.height - 3; /* title, prompt and a footer want room too */
    MT_TRY(fill_buckets(t, mt_chart_text_buckets(wide, how->ascii), err));
    mt_timeline_draw(t, wide, height > 0 ? (int)height : high, how->ascii, how->color);
    return mt_show(t->report, err);
}

static enum mt_status show_exact(struct mt_timeline *t, struct mt_err *err)
{
    struct mt_timeline_changes *changes = NULL;
    if (!shows_samples(t->view))
        MT_TRY(mt_levels_load(t->view->db, &t->view->run, &t->view->device, &t->levels, err));
    enum mt_status st = mt_timeline_exact(t, &changes, err);
    if (mt_people_read())
        mt_report_collect(t->report);
    if (st == MT_OK)
        st = mt_show(t->report, err);
    mt_timeline_changes_free(changes);
    return st;
}

static enum mt_status show(struct mt_timeline *t, struct mt_err *err)
{
    struct mt_render how = mt_show_how();
    if (mt_show_wants_svg())
        return show_svg(t, err);
    if (exact)
        return show_exact(t, err);
    if (how.format == MT_FORMAT_TABLE)
        return show_chart(t, &how, err);
    MT_TRY(fill_buckets(t, width > 0 ? (size_t)width : 200, err));
    t->report->keep_order = true;
    if (by)
        mt_timeline_band_rows(t);
    else
        mt_timeline_bucket_rows(t);
    return mt_show(t->report, err);
}

static bool draws_text(void)
{
    return !exact && !mt_show_wants_svg() && mt_show_how().format == MT_FORMAT_TABLE;
}

static enum mt_status check_options(struct mt_err *err)
{
    if (rss && metric && strcmp(metric, mt_metric_names[MT_METRIC_RSS]) != 0)
        return MT_FAIL(err, MT_EUSAGE, "--rss and --metric %s are two metrics", metric);
    metric = rss ? mt_metric_names[MT_METRIC_RSS] : metric;
    if (exact && (by || mt_show_wants_svg())) {
        MT_FAIL(err, MT_EUSAGE, "--exact gives rows of single changes, not %s",
                by ? "groups" : "a picture");
        mt_err_hint(err, by ? "Leave out --exact or --by." : "Leave out --exact or --format svg.");
        return MT_EUSAGE;
    }
    if (exact && (width >= 0 || height >= 0)) {
        const char *size = width >= 0 ? "width" : "height";
        MT_FAIL(err, MT_EUSAGE, "--%s is for charts, and --exact draws none", size);
        mt_err_hint(err, "Leave out --exact or --%s.", size);
        return MT_EUSAGE;
    }
    if (by && metric && strcmp(metric, metrics[ALLOCATED]) != 0) {
        MT_FAIL(err, MT_EUSAGE, "%s bytes have no allocation site: --by cannot group them", metric);
        mt_err_hint(err, "Leave out --by or --metric %s.", metric);
        return MT_EUSAGE;
    }
    if (top >= 0 && !by) {
        MT_FAIL(err, MT_EUSAGE, "--top says how many groups to show, and there are none");
        mt_err_hint(err, "Nothing was drawn. Add --by, e.g. --by top, or leave out --top.");
        return MT_EUSAGE;
    }
    if (!width || !height) {
        MT_FAIL(err, MT_EUSAGE, "a picture of no %s shows nothing", width ? "height" : "width");
        mt_err_hint(err, "Nothing was drawn. Without --%s it suits the terminal.",
                    width ? "height" : "width");
        return MT_EUSAGE;
    }
    if (width > SIZE_MAX_ASKED || height > SIZE_MAX_ASKED || top > SIZE_MAX_ASKED) {
        MT_FAIL(err, MT_EUSAGE, "--width, --height and --top go up to %d", SIZE_MAX_ASKED);
        return MT_EUSAGE;
    }
    if ((width > CHART_MAX || height > CHART_MAX) && draws_text()) {
        MT_FAIL(err, MT_EUSAGE, "as text --width and --height go up to %d", CHART_MAX);
        mt_err_hint(err, "Nothing was drawn. --format svg and --format csv go further.");
        return MT_EUSAGE;
    }
    return MT_OK;
}

static enum mt_status check_known(const struct mt_timeline *t, struct mt_err *err)
{
    unsigned need = MT_KNOWS_LEVEL;
    if (mt_device_has_events(&t->view->device))
        return mt_by_known(&t->by, t->view->db, &t->view->run, &t->view->device, err);
    bool process = mt_device_is_process(&t->view->device);
    if (mt_device_is_processes(&t->view->device))
        need = 0; /* of all together there are samples */
    need |= exact && !process ? MT_KNOWS_BLOCKS : by ? MT_KNOWS_MOMENTS : 0;
    need |= step ? MT_KNOWS_STEPS : 0;
    if (by && !process)
        MT_TRY(mt_by_known(&t->by, t->view->db, &t->view->run, &t->view->device, err));
    return mt_knows(&t->view->run, &t->view->device, need, err);
}

static void free_all(struct mt_timeline *t)
{
    mt_bands_free(&t->bands);
    mt_buckets_free(&t->buckets);
    mt_timeline_work_free(t);
    mt_levels_free(&t->levels);
    for (size_t i = 0; i < MT_CHART_BESIDE; i++) {
        mt_levels_free(&t->beside[i].levels);
        mt_buckets_free(&t->beside[i].buckets);
    }
    mt_traced_free(&t->traced);
    mt_moments_free(&t->moments);
    mt_levels_free(&t->ooms);
    free(t->window);
}

/* Of a file that ends early, levels stay as they were when the last record was read. */
static enum mt_status tell_unread(const struct mt_timeline *t, struct mt_err *err)
{
    const struct mt_run *run = &t->view->run;
    char when[MT_HUMAN_LONG];
    int64_t until_ns;
    MT_TRY(mt_view_known_until(t->view, &until_ns, err));
    if (t->shown.from_ns <= until_ns) {
        if (t->shown.to_ns > until_ns)
            mt_report_unread(t->report, run, until_ns);
        return MT_OK;
    }
    mt_human_time(run->time_unit, until_ns, when);
    MT_FAIL(err, MT_EUSAGE, "run '%s' was read from a file that ends early: %s bytes%s are unknown",
            run->name, t->metric, t->window);
    mt_err_hint(err, "What was read of memory ends at %s.", when);
    mt_err_cannot_tell(err);
    return MT_EUSAGE;
}

static enum mt_status look(struct mt_timeline *t, struct mt_err *err)
{
    const struct mt_view *v = t->view;
    MT_TRY(check_known(t, err));
    MT_TRY(find_window(t, err));
    MT_TRY(load_samples(t, err));
    MT_TRY(tell_unread(t, err));
    mt_report_param(t->report, "metric", mt_cell_text(t->metric));
    mt_report_param(t->report, "from_ns", mt_cell_int(t->shown.from_ns));
    mt_report_param(t->report, "to_ns", mt_cell_int(t->shown.to_ns));
    if (by) {
        mt_report_param(t->report, "by", mt_cell_text(by));
        mt_by_note_frames(&t->by, &v->run, t->report);
    }
    if (t->allocated)
        mt_report_older(t->report, &v->run, &v->device);
    mt_report_others(t->report, v->other_n);
    return show(t, err);
}

static enum mt_status look_at(struct mt_view *v, struct mt_report *r, struct mt_err *err)
{
    struct mt_timeline t = {.view = v, .report = r, .by = keys};
    struct mt_run_device about = v->device;
    choose_metric(v);
    if (shows_samples(v))
        about.unseen_n = 0; /* samples are known */
    mt_report_about(r, &v->run, v->has_device ? &about : NULL,
                    MT_ABOUT_LEVELS | MT_ABOUT_TIMES |
                        (by ? MT_ABOUT_SITES | mt_by_about(&keys) : 0) |
                        (step ? MT_ABOUT_STEPS : 0));
    if (!v->has_device)
        return mt_show_no_memory(r, &v->run, err);
    enum mt_status st = mt_view_note_steps(v, step, r, err);
    if (st == MT_OK)
        st = look(&t, err);
    free_all(&t);
    return st;
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    const struct mt_view_wanted wanted = {MT_VIEW_DEVICE | MT_VIEW_BLOCKS, device_name, 0,
                                          category};
    MT_TRY(mt_categories_file(categories, &by, err));
    MT_TRY(mt_by_parse(&mt_cmd_timeline, by, "site", &keys, err));
    MT_TRY(check_options(err));
    return mt_report_on_group(args, group, &wanted, "memtool.timeline", look_at, err);
}

static const struct mt_opt opts[] = {
    {"by", 0, MT_OPT_STRING, &by, "KEYS",
     "what it consists of, by allocation site: one or more of the keys below"},
    {"top", 0, MT_OPT_INT, &top, "N", "with --by: the N heaviest at the peak (default: 8)"},
    {"metric", 0, MT_OPT_STRING, &metric, "M",
     "allocated, reserved, rss, or what else a process log counts (default: allocated, and what is "
     "recorded of these beside it; of process logs rss, with what of it PyTorch and malloc have)"},
    {"rss", 0, MT_OPT_FLAG, &rss, NULL, "the same as --metric rss"},
    {"from", 0, MT_OPT_STRING, &from, "TIME", "begin here: 12ms, '@step 3'"},
    {"to", 0, MT_OPT_STRING, &to, "TIME", "end before this time"},
    {"step", 0, MT_OPT_STRING, &step, "A..B", "only these steps"},
    {"exact", 0, MT_OPT_FLAG, &exact, NULL, "every change instead of a summary"},
    {"width", 0, MT_OPT_INT, &width, "N",
     "columns of the chart, pixels of svg, rows of csv and its like (default: 200)"},
    {"height", 0, MT_OPT_INT, &height, "N", "lines of the chart, pixels of svg"},
    MT_CATEGORIES_OPT(categories),
    MT_CATEGORY_OPT(category),
    MT_GROUP_OPT(group),
    MT_DEVICE_OPT(device_name),
    {0},
};

static const struct mt_glossary words[] = {
    MT_WORDS_OF_BY(mt_by_of_blocks), MT_WORDS_OF_MOMENTS, {0}};

static const struct mt_values values[] = {
    {"metric", "allocated reserved rss", NULL}, {"category", mt_category_words, NULL}, {0}};

const struct mt_cmd mt_cmd_timeline = {
    .name = "timeline",
    .summary = "memory over time, as a chart, as rows or as an svg picture",
    .usage = "[options] [RUN]",
    .examples = "  memtool timeline base\n"
                "  memtool timeline --group job42\n"
                "  memtool timeline base --by site --step 2..3\n"
                "  memtool timeline base --by phase --format svg -o base.svg\n"
                "  memtool timeline base --exact --format csv\n",
    .opts = opts,
    .values = values,
    .words = words,
    .more_formats = "svg",
    .args_max = 1,
    .run = run,
};
