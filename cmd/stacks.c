#include "cmd/stacks.h"

#include "cmd/common.h"
#include "lib/base/human.h"
#include "lib/run/knows.h"
#include <stdio.h>
#include <string.h>

static const char *moment_of(const struct mt_run_device *d, const char *asked)
{
    if (asked)
        return asked;
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

static enum mt_status load_at(struct mt_view_stacks *s, const char *at, struct mt_err *err)
{
    struct mt_peak_found f[2];
    char when[MT_HUMAN_LONG];
    int n;
    const struct mt_view *v = s->peak.view;
    bool peak = strcmp(at, "@peak") == 0;
    bool end = strcmp(at, "@end") == 0 || v->device.one_moment;
    struct mt_strings times = {&at, 1, 1};
    const struct mt_peak_asked moment = {.at = peak ? &(struct mt_strings){0} : &times};
    MT_TRY(mt_knows(&v->run, &v->device, need_of(&v->device, at), err));
    MT_TRY(mt_peak_find(&s->peak, &moment, f, &n, err));
    MT_TRY(mt_peak_live(&s->peak, &f[0], &s->at.set, err));
    s->at.level_b = f[0].level_b;
    s->at.known = true;
    s->stacks.moment_ns = f[0].t_ns == MT_UNKNOWN ? MT_NO_MOMENT : f[0].t_ns;
    if (end)
        snprintf(s->moment, sizeof s->moment, "at the end");
    else
        snprintf(s->moment, sizeof s->moment, "%s%s", peak ? "at the peak, " : "at ",
                 f[0].t_ns == MT_UNKNOWN ? "of unknown time"
                                         : mt_human_time(v->run.time_unit, f[0].t_ns, when));
    return MT_OK;
}

static enum mt_status load_end(struct mt_view_stacks *s, struct mt_err *err)
{
    struct mt_view *v = s->peak.view;
    s->end.known = true;
    s->end.level_b = v->device.at_end_b;
    return mt_live_at(&v->blocks, &v->device, MT_AT_END, &s->end.set, err);
}

enum mt_status mt_view_stacks_open(struct mt_view *v, const struct mt_view_stacks_asked *asked,
                                   struct mt_report *r, struct mt_view_stacks *out,
                                   struct mt_err *err)
{
    char size[MT_HUMAN_MAX];
    int64_t less_b = 0;
    *out = (struct mt_view_stacks){.peak = {.view = v, .report = r}};
    mt_stacks_init(&out->stacks);
    mt_view_about(v, r, MT_ABOUT_SUMS | MT_ABOUT_LEVELS | MT_ABOUT_SITES | MT_ABOUT_TIMES);
    mt_report_older(r, &v->run, &v->device);
    mt_report_others(r, v->other_n);
    MT_TRY(mt_knows_sums(&v->run, &v->device, err));
    const char *at = moment_of(&v->device, asked->at);
    if (at)
        MT_TRY(load_at(out, at, err));
    if (asked->end)
        MT_TRY(load_end(out, err));
    out->stacks.moment = out->moment;
    MT_TRY(mt_stacks_load(&v->blocks, &v->device, &out->at, &out->end, asked->phases, asked->by,
                          &out->stacks, &less_b, err));
    if (less_b)
        mt_report_note(r,
                       "The level of %s is %s below what is known to be alive then, which call "
                       "paths cannot say.",
                       v->device.name, mt_human_bytes(less_b, size));
    return MT_OK;
}

void mt_view_stacks_close(struct mt_view_stacks *s)
{
    mt_stacks_free(&s->stacks);
    mt_live_set_free(&s->at.set);
    mt_live_set_free(&s->end.set);
    mt_levels_free(&s->peak.levels);
    mt_moments_free(&s->peak.moments);
}

void mt_note_folded(struct mt_report *r, size_t n, int64_t least_b)
{
    char paths[MT_HUMAN_LONG];
    if (n)
        mt_report_note(r, "%s of less than %s %s in [other]; --min 0 keeps them all.",
                       mt_human_plural((int64_t)n, "call path", paths),
                       least_b < 0 ? "0.01 %" : "--min", n == 1 ? "is" : "are");
}
