#include "lib/analysis/diff_judge.h"

#include "lib/analysis/older_levels.h"
#include "lib/analysis/step_levels.h"
#include "lib/base/human.h"
#include "lib/base/strtab.h"
#include "lib/model/kind_words.h"
#include "lib/model/process.h"
#include "lib/model/recording.h"
#include "lib/usage/gaps.h"
#include "lib/usage/narrow.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool mt_diff_worse(double was, double is, const struct mt_diff_threshold *t)
{
    const double same = fabs(is) * 1e-12; /* sums of fractions in another order, percentages */
    double more = is - was;
    if (more <= same)
        return false;
    return more > same + (t->percent >= 0 ? was * t->percent / 100 : (double)t->bytes);
}

enum mt_status mt_diff_threshold(const char *text, struct mt_diff_threshold *out,
                                 struct mt_err *err)
{
    *out = (struct mt_diff_threshold){.percent = -1};
    if (!text || mt_parse_percent(text, &out->percent))
        return MT_OK;
    out->percent = -1;
    if (mt_parse_size(text, &out->bytes) && out->bytes >= 0)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "--threshold '%s' is neither a size nor a percentage", text);
    mt_err_hint(err, "Write --threshold 1MiB or --threshold 5%%.");
    return MT_EUSAGE;
}

enum mt_diff_answer mt_diff_worst(enum mt_diff_answer a, enum mt_diff_answer b)
{
    return a > b ? a : b;
}

/* ---- what the peaks leave out ---- */

int mt_diff_counting_side(const struct mt_diff *d)
{
    for (int s = 0; s < 2; s++)
        if (d->side[s].device.older_from[0] && d->side[!s].device.older_used)
            return s;
    return -1;
}

/* Whether the peak got worse with so much more on both sides, and so much less of what may have
 * been dead at that of NEW. */
static bool is_worse(const struct mt_diff *d, const struct mt_diff_threshold *t,
                     const double add[2], double doubt_b)
{
    return mt_diff_worse((double)d->side[0].whole.v[MT_FIG_AT_PEAK_B].i + add[0],
                         (double)d->side[1].whole.v[MT_FIG_AT_PEAK_B].i + add[1] - doubt_b, t);
}

/* Whether the peaks with so much more answer otherwise than `worse` does. What doubt alone turns is
 * open in any case. */
static bool turns(const struct mt_diff *d, const struct mt_diff_threshold *t, const double add[2],
                  bool worse)
{
    static const double none[2];
    double doubt_b = worse ? (double)d->side[1].device.doubt_at_peak_b : 0;
    bool sure = is_worse(d, t, none, doubt_b) == worse;
    return is_worse(d, t, add, sure ? doubt_b : 0) != worse;
}

bool mt_diff_has_older_apart(const struct mt_diff *d)
{
    const struct mt_run_device *a = &d->side[0].device, *b = &d->side[1].device;
    return a->only && (a->older_used || b->older_used);
}

/* With what is estimated to be older. */
static bool older_turns(const struct mt_diff *d, const struct mt_diff_threshold *t, bool worse)
{
    struct mt_older_part part[2];
    double add[2];
    if (mt_diff_has_older_apart(d))
        return true;
    for (int s = 0; s < 2; s++) {
        const struct mt_run_device *device = &d->side[s].device;
        part[s] = (struct mt_older_part){device->older_used != 0, device->older_least_b,
                                         device->older_most_b};
    }
    for (int most = 0; most < 2; most++) {
        mt_older_add(part, most, t->percent > 0, add);
        if (turns(d, t, add, worse))
            return true;
    }
    return false;
}

/* After as many steps. */
static enum mt_status steps_turn(const struct mt_diff *d, const struct mt_diff_threshold *t,
                                 bool worse, bool *out, struct mt_err *err)
{
    struct mt_step_levels levels[2] = {0};
    struct mt_step_part part[2];
    double add[2];
    enum mt_status st = MT_OK;
    *out = false;
    if (d->side[0].step_n == d->side[1].step_n || !d->side[0].step_n || !d->side[1].step_n)
        return MT_OK;
    for (int s = 0; s < 2 && st == MT_OK; s++) {
        const struct mt_diff_side *side = &d->side[s];
        st = mt_step_levels_load(side->db, &side->run, &side->device, &side->lives->steps,
                                 &levels[s], err);
        part[s] = (struct mt_step_part){.step_n = side->step_n,
                                        .levels = &levels[s],
                                        .leak_b = side->whole.v[MT_FIG_PER_STEP_B].r,
                                        .suspect_b = side->whole.v[MT_FIG_SUSPECT_PER_STEP_B].r};
    }
    for (int way = 0; way < MT_STEP_WAYS && st == MT_OK; way++) {
        mt_step_add(part, way, add);
        *out |= turns(d, t, add, worse);
    }
    for (int s = 0; s < 2; s++)
        mt_step_levels_free(&levels[s]);
    return st;
}

/* ---- a device ---- */

/* A peak that is not known is that much at least, unless levels themselves are in doubt. */
static enum mt_status judge_peak(const struct mt_diff *d, const struct mt_diff_threshold *t,
                                 struct mt_diff_verdict *out, struct mt_err *err)
{
    const struct mt_diff_side *a = &d->side[0], *b = &d->side[1];
    double was = (double)a->whole.v[MT_FIG_AT_PEAK_B].i,
           is = (double)b->whole.v[MT_FIG_AT_PEAK_B].i;
    bool known[2] = {mt_peak_is_known(&a->device, a->gaps), mt_peak_is_known(&b->device, b->gaps)};
    bool worse = mt_diff_worse(was, is, t);
    out->peaks = (struct mt_diff_levels){was, is};
    MT_TRY(steps_turn(d, t, worse, &out->steps_turn, err));
    out->peak = MT_DIFF_OPEN;
    if ((a->gaps | b->gaps) & MT_GAPS_OF_LEVELS || mt_diff_counting_side(d) >= 0 ||
        mt_categories_are_open(&a->run, &a->device, a->gaps) ||
        mt_categories_are_open(&b->run, &b->device, b->gaps) || older_turns(d, t, worse) ||
        out->steps_turn)
        return MT_OK;
    if (!worse)
        out->peak = known[1] ? MT_DIFF_NOT_WORSE : MT_DIFF_OPEN;
    else if (known[0] && mt_diff_worse(was, is - (double)b->device.doubt_at_peak_b, t))
        out->peak = MT_DIFF_WORSE;
    return MT_OK;
}

/* Candidates may be leaks or not. */
static enum mt_diff_answer judge_growth(const struct mt_diff *d, const struct mt_figures whole[2],
                                        const struct mt_diff_threshold *t)
{
    const struct mt_figures *a = &whole[0], *b = &whole[1];
    bool known = mt_diff_growth_known(a);
    if (known != mt_diff_growth_known(b))
        return MT_DIFF_OPEN;
    if (known && mt_diff_worse(a->v[MT_FIG_SUSPECT_PER_STEP_B].r, b->v[MT_FIG_PER_STEP_B].r, t))
        return d->side[0].growth_known ? MT_DIFF_WORSE : MT_DIFF_OPEN;
    bool more =
        mt_diff_worse(a->v[MT_FIG_PER_STEP_B].r, b->v[MT_FIG_PER_STEP_B].r, t) ||
        mt_diff_worse(a->v[MT_FIG_SUSPECT_PER_STEP_B].r, b->v[MT_FIG_SUSPECT_PER_STEP_B].r, t);
    return more || (known && !d->side[1].growth_known) ? MT_DIFF_OPEN : MT_DIFF_NOT_WORSE;
}

static void add_rate(void *closure, const struct mt_leak *l)
{
    struct mt_figures *sum = closure;
    if (l->verdict <= MT_VERDICT_CANDIDATE)
        sum->v[MT_FIG_SUSPECT_PER_STEP_B].r += mt_leak_rate_b(l);
    if (l->verdict == MT_VERDICT_LEAK)
        sum->v[MT_FIG_PER_STEP_B].r += mt_leak_rate_b(l);
}

/* The growth of the first steps alone. */
static enum mt_status growth_of_first(const struct mt_diff *d, int side, int64_t step_n,
                                      int64_t warmup, struct mt_figures *whole, struct mt_err *err)
{
    const struct mt_diff_side *s = &d->side[side];
    struct mt_allocations lives = {0};
    struct mt_grouper grouper;
    whole->v[MT_FIG_SUSPECT_PER_STEP_B].r = whole->v[MT_FIG_PER_STEP_B].r = 0;
    enum mt_status st = mt_allocations_open(s->db, &s->run, &lives, err);
    if (st == MT_OK) {
        mt_grouper_init(&grouper, &lives.tree, d->keys, d->key_n);
        st = mt_leaks_each_of_first(&lives, &s->device, &grouper, warmup, step_n, add_rate, whole,
                                    err);
        mt_grouper_free(&grouper);
    }
    mt_allocations_close(&lives);
    return st;
}

/* Whether the steps that both runs have answer otherwise. */
static enum mt_status growth_turns(const struct mt_diff *d, const struct mt_diff_threshold *t,
                                   int64_t warmup, enum mt_diff_answer answer, bool *out,
                                   struct mt_err *err)
{
    const struct mt_diff_side *a = &d->side[0], *b = &d->side[1];
    struct mt_figures whole[2] = {a->whole, b->whole};
    int longer = b->step_n > a->step_n;
    bool grows =
        a->whole.v[MT_FIG_SUSPECT_PER_STEP_B].r > 0 || b->whole.v[MT_FIG_SUSPECT_PER_STEP_B].r > 0;
    *out = false;
    if (answer == MT_DIFF_OPEN || a->step_n == b->step_n || !a->step_n || !b->step_n || !grows ||
        !mt_allocations_are_known(&d->side[longer].device))
        return MT_OK;
    MT_TRY(growth_of_first(d, longer, d->side[!longer].step_n, warmup, &whole[longer], err));
    *out = judge_growth(d, whole, t) != answer;
    return MT_OK;
}

enum mt_status mt_diff_judge(const struct mt_diff *d, const struct mt_diff_threshold *t,
                             int64_t warmup, struct mt_diff_verdict *out, struct mt_err *err)
{
    bool alike = mt_formats_alike(d->side[0].run.format, d->side[1].run.format);
    const struct mt_figures whole[2] = {d->side[0].whole, d->side[1].whole};
    *out = (struct mt_diff_verdict){.peak = MT_DIFF_OPEN,
                                    .growth = alike ? judge_growth(d, whole, t) : MT_DIFF_OPEN,
                                    .missing = -1,
                                    .rates = {d->side[0].whole.v[MT_FIG_SUSPECT_PER_STEP_B].r,
                                              d->side[1].whole.v[MT_FIG_PER_STEP_B].r}};
    snprintf(out->device, sizeof out->device, "%s", d->side[0].device.name);
    if (!alike) /* other recorders count differently */
        return MT_OK;
    MT_TRY(growth_turns(d, t, warmup, out->growth, &out->growth_turns, err));
    if (out->growth_turns)
        out->growth = MT_DIFF_OPEN;
    return judge_peak(d, t, out, err);
}

/* ---- devices that are not compared ---- */

/* A side of the device of that name; a run that has none such, or whose device of that name is
 * compared with another one, holds nothing there. */
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
    const struct mt_narrow narrow = mt_narrow_of(&from->device);
    enum mt_status st = mt_run_devices(s->db, &s->run, &all, &n, err);
    for (size_t i = 0; i < n && st == MT_OK; i++)
        if (strcmp(all[i].name, device) == 0 && strcmp(device, from->device.name) != 0) {
            s->device = all[i];
            st = mt_narrow_device(s->db, &s->run, &narrow, &s->device, err);
            if (st == MT_OK)
                st = mt_diff_load(d, side, MT_DIFF_LIVES, warmup, err);
        }
    free(all);
    return st;
}

static enum mt_status judge_other(const struct mt_diff *compared, const char *device,
                                  const struct mt_diff_threshold *t, int64_t warmup,
                                  struct mt_diff_verdicts *out, struct mt_err *err)
{
    struct mt_diff d = {.keys = {MT_BY_TOP, MT_BY_SCOPE}, .key_n = 2};
    enum mt_status st = MT_OK;
    for (int s = 0; s < 2 && st == MT_OK; s++)
        st = load_side(compared, s, device, warmup, &d, err);
    if (st == MT_OK) {
        struct mt_diff_verdict *v = mt_vec_push(&out->v);
        st = mt_diff_judge(&d, t, warmup, v, err);
        snprintf(v->device, sizeof v->device, "%s", device);
        for (int s = 0; s < 2; s++)
            if (!d.side[s].device.name[0])
                v->missing = s;
    }
    mt_diff_free(&d);
    return st;
}

enum mt_status mt_diff_judge_others(const struct mt_diff *compared,
                                    const struct mt_diff_threshold *t, const char *asked,
                                    int64_t warmup, struct mt_diff_verdicts *out,
                                    struct mt_err *err)
{
    struct mt_strtab names;
    enum mt_status st = MT_OK;
    mt_strtab_init(&names);
    for (int s = 0; s < 2 && st == MT_OK; s++) {
        struct mt_run_device *all = NULL;
        size_t n = 0;
        st = mt_run_devices(compared->side[s].db, &compared->side[s].run, &all, &n, err);
        for (size_t i = 0; i < n; i++)
            if (strcmp(all[i].name, MT_PROCESSES_NAME) != 0 &&
                strcmp(all[i].name, compared->side[s].device.name) != 0)
                mt_strtab_add(&names, all[i].name, strlen(all[i].name));
        free(all);
    }
    for (uint32_t i = 0; i < names.n && st == MT_OK; i++) {
        const char *name = mt_strtab_get(&names, i);
        if (mt_process_is_child(name))
            out->has_children |= !asked;
        else if (mt_device_is(name, asked, false))
            st = judge_other(compared, name, t, warmup, out, err);
    }
    mt_strtab_free(&names);
    return st;
}
