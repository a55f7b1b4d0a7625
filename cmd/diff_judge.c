/* memtool diff --exit-code: whether NEW got worse. */
#include "cmd/common.h"
#include "cmd/diff.h"
#include "lib/base/human.h"
#include "lib/usage/gaps.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool mt_diff_worse(double was, double is, const struct mt_diff_threshold *t)
{
    const double same = 1e-12; /* sums of fractions in another order */
    double more = is - was;
    if (more <= fabs(is) * same)
        return false;
    return t->percent >= 0 ? more > was * t->percent / 100 : more > (double)t->bytes;
}

enum mt_status mt_diff_threshold(const char *text, struct mt_diff_threshold *out,
                                 struct mt_err *err)
{
    char *end;
    *out = (struct mt_diff_threshold){.percent = -1};
    if (!text)
        return MT_OK;
    out->percent = strtod(text, &end);
    if (end != text && strcmp(end, "%") == 0 && out->percent >= 0)
        return MT_OK;
    out->percent = -1;
    if (mt_parse_size(text, &out->bytes) && out->bytes >= 0)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "--threshold '%s' is neither a size nor a percentage", text);
    mt_err_hint(err, "Write --threshold 1MiB or --threshold 5%%.");
    return MT_EUSAGE;
}

/* Whether the peak, had BASE as many steps as NEW, answers otherwise than `worse` does, by what
 * either run grows by in a step: by leaks alone, or with candidates, or with these twice: a block
 * and the larger one that takes its place are both alive for a while. */
static bool steps_turn(const struct mt_diff *d, const struct mt_diff_threshold *t, bool worse)
{
    const struct mt_diff_side *a = &d->side[0], *b = &d->side[1];
    double more_steps = (double)(b->step_n - a->step_n);
    if (!a->step_n || !b->step_n)
        return false;
    for (int s = 0; s < 2; s++) {
        const struct mt_figures *f = &d->side[s].whole;
        const double rates[] = {f->per_step_b, f->suspect_per_step_b,
                                2 * f->suspect_per_step_b - f->per_step_b};
        for (size_t i = 0; i < MT_ARRAY_LEN(rates); i++)
            if (mt_diff_worse((double)a->whole.at_peak_b + rates[i] * more_steps,
                              (double)b->whole.at_peak_b, t) != worse)
                return true;
    }
    return false;
}

/* A peak that is not known is that much at least, unless levels themselves are in doubt. */
static enum mt_diff_answer judge_peak(const struct mt_diff *d, const struct mt_diff_threshold *t)
{
    const struct mt_diff_side *a = &d->side[0], *b = &d->side[1];
    double was = (double)a->whole.at_peak_b, is = (double)b->whole.at_peak_b;
    bool known[2] = {mt_peak_is_known(&a->device, a->gaps), mt_peak_is_known(&b->device, b->gaps)};
    if ((a->gaps | b->gaps) & MT_GAPS_OF_LEVELS || mt_diff_counts_differ(d))
        return MT_DIFF_OPEN;
    bool worse = mt_diff_worse(was, is, t);
    if (mt_diff_older_turns(d, t, worse) || steps_turn(d, t, worse))
        return MT_DIFF_OPEN;
    if (!worse)
        return known[1] ? MT_DIFF_NOT_WORSE : MT_DIFF_OPEN;
    bool sure = known[0] && mt_diff_worse(was, is - (double)b->device.doubt_at_peak_b, t);
    return sure ? MT_DIFF_WORSE : MT_DIFF_OPEN;
}

/* Candidates may be leaks or not. */
static enum mt_diff_answer judge_growth(const struct mt_diff *d, const struct mt_diff_threshold *t)
{
    const struct mt_figures *a = &d->side[0].whole, *b = &d->side[1].whole;
    bool known = mt_diff_growth_known(a);
    if (known != mt_diff_growth_known(b))
        return MT_DIFF_OPEN;
    if (known && mt_diff_worse(a->suspect_per_step_b, b->per_step_b, t))
        return d->side[0].growth_known ? MT_DIFF_WORSE : MT_DIFF_OPEN;
    bool more = mt_diff_worse(a->per_step_b, b->per_step_b, t) ||
                mt_diff_worse(a->suspect_per_step_b, b->suspect_per_step_b, t);
    return more || (known && !d->side[1].growth_known) ? MT_DIFF_OPEN : MT_DIFF_NOT_WORSE;
}

/* " on cuda:1"; of a device that is shown "". */
static const char *on(struct mt_report *r, const char *device)
{
    return device ? mt_report_textf(r, " on %s", device) : "";
}

static void note(const char *what, enum mt_diff_answer answer, const char *device,
                 struct mt_report *r)
{
    if (answer == MT_DIFF_OPEN)
        mt_report_note(r, "Cannot tell whether the %s%s got worse.", what, on(r, device));
    else if (answer == MT_DIFF_WORSE && device)
        mt_report_note(r, "The %s%s got worse; --device %s shows it.", what, on(r, device), device);
}

static enum mt_diff_answer worst(enum mt_diff_answer a, enum mt_diff_answer b)
{
    return a > b ? a : b;
}

enum mt_diff_answer mt_diff_judge(const struct mt_diff *d, const struct mt_diff_threshold *t,
                                  const char *device, struct mt_report *r)
{
    enum mt_diff_answer peak = judge_peak(d, t), growth = judge_growth(d, t);
    bool worse =
        mt_diff_worse((double)d->side[0].whole.at_peak_b, (double)d->side[1].whole.at_peak_b, t);
    note("peak", peak, device, r);
    if (peak == MT_DIFF_OPEN && steps_turn(d, t, worse))
        mt_report_note(r,
                       "The runs%s differ in steps, and by what grows in each their peaks would "
                       "compare otherwise after as many.",
                       on(r, device));
    note("growth per step", growth, device, r);
    if (device && peak == MT_DIFF_NOT_WORSE && growth == MT_DIFF_NOT_WORSE)
        mt_report_note(r, "Nothing got worse on %s; --device %s shows it.", device, device);
    return worst(peak, growth);
}

/* ---- devices that are not compared ---- */

/* A side of the device of that name; a run that has none such holds nothing there. */
static enum mt_status load_side(const struct mt_diff *compared, int side, const char *device,
                                int64_t warmup, struct mt_diff *d, struct mt_err *err)
{
    const struct mt_diff_side *from = &compared->side[side];
    struct mt_diff_side *s = &d->side[side];
    struct mt_run_device *all = NULL;
    size_t n = 0;
    s->db = from->db;
    s->run = from->run;
    s->device.knows = from->device.knows;
    s->gaps = from->gaps;
    s->growth_known = from->growth_known;
    s->whole.unknown = from->growth_known ? 0 : MT_UNKNOWN_GROWTH;
    enum mt_status st = mt_run_devices(s->db, &s->run, &all, &n, err);
    for (size_t i = 0; i < n && st == MT_OK; i++)
        if (strcmp(all[i].name, device) == 0) {
            s->device = all[i];
            st = mt_diff_load(d, side, MT_DIFF_LIVES, warmup, err);
        }
    free(all);
    return st;
}

static enum mt_status judge_other(const struct mt_diff *compared, const char *device,
                                  const struct mt_diff_threshold *t, int64_t warmup,
                                  struct mt_report *r, enum mt_diff_answer *answer,
                                  struct mt_err *err)
{
    struct mt_diff d = {.keys = {MT_BY_TOP, MT_BY_SCOPE}, .key_n = 2};
    enum mt_status st = MT_OK;
    for (int s = 0; s < 2 && st == MT_OK; s++)
        st = load_side(compared, s, device, warmup, &d, err);
    if (st == MT_OK)
        *answer = worst(*answer, mt_diff_judge(&d, t, device, r));
    mt_diff_free(&d);
    return st;
}

enum mt_status mt_diff_judge_others(const struct mt_diff *compared,
                                    const struct mt_diff_threshold *t, int64_t warmup,
                                    struct mt_report *r, enum mt_diff_answer *answer,
                                    struct mt_err *err)
{
    struct mt_strtab names;
    enum mt_status st = MT_OK;
    mt_strtab_init(&names);
    mt_strtab_add(&names, compared->side[0].device.name, strlen(compared->side[0].device.name));
    for (int s = 0; s < 2 && st == MT_OK; s++) {
        struct mt_run_device *all = NULL;
        size_t n = 0;
        st = mt_run_devices(compared->side[s].db, &compared->side[s].run, &all, &n, err);
        for (size_t i = 0; i < n; i++)
            mt_strtab_add(&names, all[i].name, strlen(all[i].name));
        free(all);
    }
    for (uint32_t i = 1; i < names.n && st == MT_OK; i++)
        st = judge_other(compared, mt_strtab_get(&names, i), t, warmup, r, answer, err);
    mt_strtab_free(&names);
    return st;
}
