/* memtool peak: which moments are asked for, and what the level of the device is then. */
#include "cmd/peak.h"

#include "lib/base/human.h"
#include "lib/run/knows.h"
#include "lib/usage/process.h"

/* Looks up a moment in the levels, or in those of the moments of which call paths are known. */
static struct mt_peak_found found_in(const struct mt_levels *levels, const struct mt_time_arg *m,
                                     const char *text, int64_t dur_ns)
{
    bool exact = m->kind == MT_AT_TIME && m->t_ns != INT64_MIN && m->t_ns != INT64_MAX;
    int64_t index = mt_levels_of_moment(levels, m);
    struct mt_peak_found f = {.text = text,
                              .index = index,
                              .record = index < 0 ? -1 : levels->all.v[index].record,
                              .t_ns = exact ? m->t_ns : mt_levels_time(levels, index, 0),
                              .level_b = mt_levels_value(levels, index)};
    if (m->kind == MT_AT_PEAK && f.t_ns < m->from_ns && m->from_ns <= dur_ns)
        f.t_ns = m->from_ns; /* reached before, and held when the window begins */
    f.counted_ns = m->kind == MT_AT_TIME && m->t_ns == INT64_MAX ? INT64_MAX : f.t_ns;
    f.held_ns = mt_levels_time(levels, index, f.t_ns);
    f.whole_b = f.level_b;
    f.whole_ns = f.t_ns;
    return f;
}

/* What call paths held is known at moments: at the last one up to the time. */
static enum mt_status find_held(struct mt_peak *p, const struct mt_time_arg *m,
                                struct mt_peak_found *f, struct mt_err *err)
{
    const struct mt_levels *known = &p->moments.levels;
    const struct mt_run *run = &p->view->run;
    char first[MT_HUMAN_LONG], at_first[MT_HUMAN_LONG];
    const struct mt_peak_found in_all = found_in(&p->levels, m, f->text, run->dur_ns);
    *f = found_in(known, m, f->text, run->dur_ns);
    if (p->levels.all.n) {
        f->whole_b = in_all.level_b;
        f->whole_ns = in_all.t_ns;
    }
    if (f->index >= 0 || !f->whole_b)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "run '%s' does not say what call paths held before %s", run->name,
            known->all.n ? mt_human_time(run->time_unit, known->all.v[0].t_ns, first) : "its end");
    mt_err_cannot_tell(err);
    if (known->all.n)
        mt_err_hint(err, "Ask for that moment or a later one: --at %s.",
                    mt_human_time(run->time_unit, known->all.v[0].t_ns, at_first));
    return MT_EUSAGE;
}

/* Whether a file that ends early says nothing of the moment: all of it is behind its last record.
 */
static bool is_unread(const struct mt_peak *p, const struct mt_time_arg *m)
{
    int64_t begins_ns = m->kind == MT_AT_PEAK ? m->from_ns : m->t_ns;
    return begins_ns > p->known_until_ns && begins_ns != INT64_MAX;
}

/* Looks up n moments. */
static enum mt_status find_in_levels(struct mt_peak *p, const struct mt_time_arg *m,
                                     struct mt_peak_found *f, int n, struct mt_err *err)
{
    int64_t looked_at[4];
    const struct mt_view *v = p->view;
    bool levels = mt_device_has_events(&v->device) || mt_device_is_process(&v->device);
    for (int i = 0; i < n; i++) {
        looked_at[2 * i] = m[i].t_ns;
        looked_at[2 * i + 1] = m[i].kind == MT_AT_PEAK ? m[i].from_ns : m[i].t_ns;
    }
    MT_TRY(
        mt_levels_load_near(v->db, &v->run, &v->device, looked_at, 2 * (size_t)n, &p->levels, err));
    if (!levels)
        MT_TRY(mt_moments_load(&p->view->blocks, &v->device, true, &p->moments, err));
    for (int i = 0; i < n; i++) {
        if (levels)
            f[i] = found_in(&p->levels, &m[i], f[i].text, v->run.dur_ns);
        else
            MT_TRY(find_held(p, &m[i], &f[i], err));
        f[i].unread = is_unread(p, &m[i]);
        p->asks_unread |= m[i].t_ns > p->known_until_ns;
    }
    return MT_OK;
}

enum mt_status mt_peak_find(struct mt_peak *p, const struct mt_peak_asked *asked,
                            struct mt_peak_found f[2], int *n, struct mt_err *err)
{
    const struct mt_strings *at = asked->at;
    struct mt_window w;
    MT_TRY(mt_window_parse(asked->from, asked->to, asked->step, &p->view->run,
                           &p->view->blocks.steps, &w, err));
    bool window = asked->from || asked->to || asked->step;
    if (at->n > 2 || (at->n && window)) {
        MT_FAIL(err, MT_EUSAGE, at->n > 2 ? "more than two times" : "--at beside a window");
        mt_err_hint(err,
                    "Give --at once or twice, or --from, --to, --step for the peak of a window.");
        return MT_EUSAGE;
    }
    *n = at->n == 2 ? 2 : 1;
    if (!at->n && !window && !p->view->device.one_moment) { /* the peak of the whole run is known */
        const struct mt_run_device *d = &p->view->device;
        bool none = d->peak_record == INT64_MIN;
        f[0] = (struct mt_peak_found){.index = -1,
                                      .record = none ? -1 : d->peak_record,
                                      .t_ns = none ? 0 : d->peak_ns,
                                      .counted_ns = none ? 0 : d->peak_ns,
                                      .level_b = d->peak_b};
        if (none && !mt_device_has_events(d))
            f[0].t_ns = MT_UNKNOWN;
        return MT_OK;
    }
    struct mt_time_arg m[2] = {{MT_AT_PEAK, w.to_ns, w.from_ns, false}};
    for (int i = 0; i < *n; i++) {
        const char *text = at->n ? at->v[i] : p->view->device.one_moment ? "@end" : NULL;
        f[i] = (struct mt_peak_found){.text = text};
        if (text)
            MT_TRY(mt_time_arg_parse(text, &p->view->run, &p->view->blocks.steps, &m[i], err));
    }
    return find_in_levels(p, m, f, *n, err);
}

enum mt_status mt_peak_live(struct mt_peak *p, const struct mt_peak_found *f,
                            struct mt_live_set *live, struct mt_err *err)
{
    const struct mt_run_device *d = &p->view->device;
    if (!p->moments.levels.all.n)
        return mt_live_at(&p->view->blocks, d, f->record, live, err);
    mt_moments_live(&p->moments, d, f->index, live);
    return MT_OK;
}
