/* memtool export --format: call paths with what they allocated and hold, for other programs. */
#include "cmd/export.h"

#include "cmd/common.h"
#include "cmd/output.h"
#include "cmd/peak.h"
#include "lib/base/human.h"
#include "lib/export/load.h"
#include "lib/run/knows.h"
#include <string.h>
#include <unistd.h>

const char mt_export_measures[] = "alive allocated alive-blocks allocated-blocks";

static const struct {
    const char *name;
    enum mt_measure measure;
} measures[] = {{"alive", MT_MEASURE_ALIVE_B},
                {"allocated", MT_MEASURE_ALLOC_B},
                {"alive-blocks", MT_MEASURE_ALIVE_N},
                {"allocated-blocks", MT_MEASURE_ALLOC_N}};

static struct mt_export_asked asked;
static enum mt_measure measure;

struct export
{
    struct mt_view *view;
    struct mt_report *report; /* for its notes */
    struct mt_peak peak;
    struct mt_stacks_alive at, end;
    struct mt_stacks stacks;
    char moment[64];
};

static enum mt_status refuse_measure(struct mt_err *err)
{
    struct mt_buf names = {0};
    for (size_t i = 0; i < MT_ARRAY_LEN(measures); i++)
        mt_buf_addf(&names, "%s%s", i ? ", " : "", measures[i].name);
    mt_err_hint(err, "Nothing was written. --measure is one of %s.", names.s);
    mt_buf_free(&names);
    return MT_EUSAGE;
}

static enum mt_status parse_measure(struct mt_err *err)
{
    measure = MT_MEASURE_ALIVE_B;
    if (!asked.measure)
        return MT_OK;
    if (!asked.format->one_measure) {
        MT_FAIL(err, MT_EUSAGE, "%s holds all measures at once", asked.format->name);
        mt_err_hint(err, "Nothing was written. Leave out --measure.");
        return MT_EUSAGE;
    }
    for (size_t i = 0; i < MT_ARRAY_LEN(measures); i++)
        if (strcmp(asked.measure, measures[i].name) == 0) {
            measure = measures[i].measure;
            return MT_OK;
        }
    MT_FAIL(err, MT_EUSAGE, "unknown --measure '%s'", asked.measure);
    return refuse_measure(err);
}

/* The moment at which what is alive is written: the peak, where that is known, or the end; NULL:
 * neither is. */
static const char *moment_of(const struct mt_run_device *d)
{
    if (asked.at)
        return asked.at;
    if (mt_device_knows(d, MT_KNOWS_PEAK) &&
        (mt_device_has_events(d) || mt_device_knows(d, MT_KNOWS_AT_PEAK)))
        return "@peak";
    return mt_device_knows(d, MT_KNOWS_AT_END) ? "@end" : NULL;
}

static unsigned need_of(const struct mt_run_device *d, const char *at)
{
    if (strcmp(at, "@peak") == 0)
        return MT_KNOWS_PEAK | (mt_device_has_events(d) ? 0 : MT_KNOWS_AT_PEAK);
    return strcmp(at, "@end") == 0 ? MT_KNOWS_AT_END : MT_KNOWS_MOMENTS;
}

static enum mt_status load_at(struct export *e, const char *at, struct mt_err *err)
{
    struct mt_peak_found f[2];
    char when[MT_HUMAN_LONG];
    int n;
    bool peak = strcmp(at, "@peak") == 0, end = strcmp(at, "@end") == 0;
    struct mt_strings times = {&at, 1, 1};
    const struct mt_peak_asked moment = {.at = peak ? &(struct mt_strings){0} : &times};
    MT_TRY(mt_knows(&e->view->run, &e->view->device, need_of(&e->view->device, at), err));
    MT_TRY(mt_peak_find(&e->peak, &moment, f, &n, err));
    MT_TRY(mt_peak_live(&e->peak, &f[0], &e->at.set, err));
    e->at.level_b = f[0].level_b;
    e->at.known = true;
    e->stacks.moment_ns = f[0].t_ns == MT_UNKNOWN ? MT_NO_MOMENT : f[0].t_ns;
    bool time = !end && f[0].t_ns != MT_UNKNOWN && !e->view->device.one_moment;
    snprintf(e->moment, sizeof e->moment, "%s%s%s",
             end || e->view->device.one_moment ? "at the end"
             : peak                            ? "at the peak, "
                                               : "at ",
             time ? mt_human_time(e->view->run.time_unit, f[0].t_ns, when) : "", "");
    return MT_OK;
}

static enum mt_status load_end(struct export *e, struct mt_err *err)
{
    const struct mt_run_device *d = &e->view->device;
    if (!asked.format->end)
        return MT_OK;
    if (!mt_device_knows(d, MT_KNOWS_ALLOC | MT_KNOWS_AT_END | MT_KNOWS_BLOCKS)) {
        MT_FAIL(err, MT_EUSAGE, "%s needs how long each block lived, which run '%s' does not know",
                asked.format->name, e->view->run.name);
        mt_err_hint(err, "Nothing was written. pprof, collapsed and speedscope do without.");
        return MT_EUSAGE;
    }
    e->end.known = true;
    e->end.level_b = d->at_end_b;
    return mt_live_at(&e->view->blocks, d, MT_AT_END, &e->end.set, err);
}

static enum mt_status load(struct export *e, struct mt_err *err)
{
    char size[MT_HUMAN_MAX];
    int64_t less_b = 0;
    const char *at = moment_of(&e->view->device);
    if (at)
        MT_TRY(load_at(e, at, err));
    MT_TRY(load_end(e, err));
    e->stacks.moment = e->moment;
    MT_TRY(mt_stacks_load(&e->view->blocks, &e->view->device, &e->at, &e->end, asked.format->phases,
                          &e->stacks, &less_b, err));
    if (less_b)
        mt_report_note(e->report,
                       "The level of %s is %s below what is known to be alive then, which no "
                       "format of call paths can say.",
                       e->view->device.name, mt_human_bytes(less_b, size));
    if (asked.format->one_measure && !e->stacks.knows[measure]) {
        bool blocks = measure == MT_MEASURE_ALIVE_N || measure == MT_MEASURE_ALLOC_N;
        MT_FAIL(err, MT_EUSAGE, "run '%s' does not say %s%s", e->view->run.name,
                blocks ? "how many blocks were " : "what was ",
                measure == MT_MEASURE_ALIVE_B || measure == MT_MEASURE_ALIVE_N ? "alive then"
                                                                               : "allocated");
        return refuse_measure(err);
    }
    return MT_OK;
}

static enum mt_status write_file(struct export *e, struct mt_err *err)
{
    char n[MT_HUMAN_LONG];
    FILE *out;
    size_t folded = mt_stacks_finish(&e->stacks, asked.min_b);
    if (folded)
        mt_report_note(e->report, "%s of less than %s %s in [other]; --min 0 writes them all.",
                       mt_human_plural((int64_t)folded, "call path", n),
                       asked.min_b < 0 ? "0.01 %" : "--min", folded == 1 ? "is" : "are");
    MT_TRY(mt_output_open(&out, err));
    asked.format->write(&e->stacks, measure, out);
    return mt_output_close(out, true, err);
}

static enum mt_status export_view(struct mt_view *v, struct mt_report *r, struct mt_err *err)
{
    struct export e = {.view = v, .report = r, .peak = {.view = v, .report = r}};
    enum mt_status st = MT_OK;
    if (!v->has_device)
        return mt_fail_no_memory(&v->run, ": nothing to export", err);
    MT_TRY(mt_knows_sums(&v->run, &v->device, err));
    mt_view_about(v, r, MT_ABOUT_SUMS | MT_ABOUT_LEVELS | MT_ABOUT_SITES | MT_ABOUT_TIMES);
    mt_report_older(r, &v->run, &v->device);
    mt_report_others(r, v->other_n);
    mt_stacks_init(&e.stacks);
    MT_TRY_OUT(load(&e, err));
    MT_TRY_OUT(write_file(&e, err));
    mt_show_notes(r);
out:
    mt_stacks_free(&e.stacks);
    mt_live_set_free(&e.at.set);
    mt_live_set_free(&e.end.set);
    mt_levels_free(&e.peak.levels);
    mt_moments_free(&e.peak.moments);
    return st;
}

enum mt_status mt_export_stacks(const struct mt_args *args, const struct mt_export_asked *what,
                                struct mt_err *err)
{
    const struct mt_view_wanted wanted = {MT_VIEW_DEVICE | MT_VIEW_BLOCKS, what->device, 0, NULL};
    asked = *what;
    MT_TRY(parse_measure(err));
    if (asked.format->write == mt_export_pprof && mt_output_is_stdout() && isatty(STDOUT_FILENO)) {
        MT_FAIL(err, MT_EUSAGE, "%s is no text to show on a terminal", asked.format->name);
        mt_err_hint(err, "Nothing was written. Name a file: -o run.pb.gz.");
        return MT_EUSAGE;
    }
    return mt_report_on_view(args, &wanted, "memtool.export", export_view, err);
}
