/* Why a baseline does not know a figure: measured, of several repeats, in the file. */
#include "lib/analysis/baseline_parts.h"

#include "lib/run/knows.h"
#include "lib/usage/gaps.h"
#include <stdlib.h>
#include <string.h>

/* ---- of a run ---- */

/* Of a figure that the run could know; `growth`: it is a rate that is not known at all. */
static const char *why_unknown(const struct mt_baseline_device *d,
                               const struct mt_run_device *device, unsigned gaps, bool growth)
{
    if (growth ? gaps & ~(unsigned)MT_GAP_BEGIN : gaps)
        return mt_gaps_text(gaps);
    if (!mt_device_has_events(device) && d->unknown[MT_FIG_AT_END_B].why &&
        *d->unknown[MT_FIG_AT_END_B].why)
        return d->unknown[MT_FIG_AT_END_B].why;
    if (mt_device_has_events(device) && !mt_allocations_are_known(device))
        return "has no addresses in its records, so block lifetimes are unknown";
    if (!growth || d->v[MT_FIG_STEP_N] == MT_BASELINE_UNKNOWN)
        return NULL;
    return d->v[MT_FIG_STEP_N]
               ? "has too few steps to measure growth; 3 after the warm-up are needed"
               : "has no steps; mark them when recording, or import it with --step-marker REGEX";
}

void mt_baseline_explain_unknown(const struct mt_run_device *device, unsigned gaps,
                                 struct mt_baseline_device *to)
{
    bool events = mt_device_has_events(device);
    for (int f = 0; f < MT_FIG_BASELINE_N; f++) {
        bool unknown = to->v[f] == MT_BASELINE_UNKNOWN;
        bool growth = unknown && mt_figure_defs[f].unknown == MT_UNKNOWN_GROWTH;
        if ((unknown || to->least[f]) && !(to->unknown[f].why && *to->unknown[f].why))
            to->unknown[f].why = why_unknown(to, device, gaps, growth);
    }
    if (events && to->v[MT_FIG_AT_END_B] == MT_BASELINE_UNKNOWN)
        to->unknown[MT_BASELINE_SITES].why = to->unknown[MT_FIG_AT_END_B].why;
    else if (!events && !mt_device_knows(device, MT_KNOWS_AT_PEAK))
        to->unknown[MT_BASELINE_SITES].why = "does not say what call paths held at its peak";
}

/* ---- of several repeats ---- */

/* What the first repeat that does not know a figure, or what sites hold, says of it. */
static void fold_unknown(const struct mt_baseline *repeats, size_t n, int f,
                         struct mt_baseline *out, struct mt_baseline_device *to)
{
    struct mt_baseline_unknown *u = &to->unknown[f];
    for (size_t i = 0; i < n && !u->run; i++) {
        const struct mt_baseline_device *d = mt_baseline_same_device(&repeats[i], to->name);
        bool known = d && (f == MT_BASELINE_SITES ? !d->unknown[f].why
                                                  : d->v[f] != MT_BASELINE_UNKNOWN && !d->least[f]);
        if (known)
            continue;
        const char *run = d && d->unknown[f].run ? d->unknown[f].run : repeats[i].run;
        char *none = mt_asprintf("has no device '%s'", to->name);
        const char *why = d ? d->unknown[f].why : none;
        u->run = mt_baseline_text(out, run);
        u->why = why ? mt_baseline_text(out, why) : NULL;
        free(none);
    }
}

void mt_baseline_fold_unknown(const struct mt_baseline *repeats, size_t n, struct mt_baseline *out,
                              struct mt_baseline_device *to)
{
    for (int f = 0; f < MT_BASELINE_UNKNOWN_N; f++)
        fold_unknown(repeats, n, f, out, to);
}

/* ---- in the file ---- */

static const char *key_of(int f)
{
    return f == MT_BASELINE_SITES ? mt_figure_defs[MT_FIG_AT_PEAK_B].in_site
                                  : mt_figure_defs[f].in_device;
}

static bool same_reason(const struct mt_baseline_unknown *a, const struct mt_baseline_unknown *b)
{
    return a->why && b->why && strcmp(a->why, b->why) == 0 &&
           (a->run == b->run || (a->run && b->run && strcmp(a->run, b->run) == 0));
}

void mt_baseline_write_unknown(struct mt_json_out *j, const struct mt_baseline *b,
                               const struct mt_baseline_device *d)
{
    const struct mt_baseline_unknown *u = d->unknown;
    mt_json_put_key(j, MT_BASELINE_UNKNOWN_KEY);
    mt_json_put_begin(j, "[]", false);
    for (int f = 0; f < MT_BASELINE_UNKNOWN_N; f++) {
        int first = 0;
        while (first < f && !same_reason(&u[first], &u[f]))
            first++;
        if (!u[f].why || first < f)
            continue;
        mt_json_put_begin(j, "{}", false);
        mt_json_put_key(j, "run");
        mt_json_put_text(j, u[f].run ? u[f].run : b->run);
        mt_json_put_key(j, "why");
        mt_json_put_text(j, u[f].why);
        mt_json_put_key(j, "figures");
        mt_json_put_begin(j, "[]", false);
        for (int k = f; k < MT_BASELINE_UNKNOWN_N; k++)
            if (same_reason(&u[f], &u[k]))
                mt_json_put_text(j, key_of(k));
        mt_json_put_end(j);
        mt_json_put_end(j);
    }
    mt_json_put_end(j);
}

static enum mt_status read_figure_name(const struct mt_json_doc *d,
                                       const struct mt_json_doc_value *v,
                                       const struct mt_baseline_unknown *u,
                                       struct mt_baseline_device *to, struct mt_err *err)
{
    MT_TRY(mt_json_doc_want(d, v, MT_JSON_DOC_TEXT, err));
    for (int f = 0; f < MT_BASELINE_UNKNOWN_N; f++)
        if (strcmp(v->text, key_of(f)) == 0) {
            to->unknown[f] = *u;
            return MT_OK;
        }
    MT_FAIL(err, MT_EINPUT, "no figure is called \"%s\"", v->text);
    return mt_json_doc_at(d, v, err);
}

static enum mt_status read_reason(const struct mt_json_doc *d, const struct mt_json_doc_value *from,
                                  struct mt_baseline *b, struct mt_baseline_device *to,
                                  struct mt_err *err)
{
    static const char *const keys[] = {"run", "why", "figures"};
    const struct mt_json_doc_value *v[MT_ARRAY_LEN(keys)];
    MT_TRY(mt_json_doc_keys(d, from, keys, MT_ARRAY_LEN(keys), err));
    for (size_t i = 0; i < MT_ARRAY_LEN(keys); i++) {
        v[i] = mt_json_doc_get(d, from, keys[i]);
        if (v[i]) {
            MT_TRY(mt_json_doc_want(d, v[i], i < 2 ? MT_JSON_DOC_TEXT : MT_JSON_DOC_ARRAY, err));
            continue;
        }
        MT_FAIL(err, MT_EINPUT, "\"%s\" without \"%s\"", MT_BASELINE_UNKNOWN_KEY, keys[i]);
        return mt_json_doc_at(d, from, err);
    }
    const struct mt_baseline_unknown u = {mt_baseline_text(b, v[0]->text),
                                          mt_baseline_text(b, v[1]->text)};
    for (const struct mt_json_doc_value *name = mt_json_doc_first(d, v[2]); name;
         name = mt_json_doc_next(d, name))
        MT_TRY(read_figure_name(d, name, &u, to, err));
    return MT_OK;
}

enum mt_status mt_baseline_read_unknown(const struct mt_json_doc *d,
                                        const struct mt_json_doc_value *from, struct mt_baseline *b,
                                        struct mt_baseline_device *to, struct mt_err *err)
{
    const struct mt_json_doc_value *list = mt_json_doc_get(d, from, MT_BASELINE_UNKNOWN_KEY);
    if (!list) {
        if (to->v[MT_FIG_AT_END_B] == MT_BASELINE_UNKNOWN)
            to->unknown[MT_BASELINE_SITES].why = "lacks this figure";
        return MT_OK;
    }
    MT_TRY(mt_json_doc_want(d, list, MT_JSON_DOC_ARRAY, err));
    for (const struct mt_json_doc_value *v = mt_json_doc_first(d, list); v;
         v = mt_json_doc_next(d, v))
        MT_TRY(read_reason(d, v, b, to, err));
    return MT_OK;
}
