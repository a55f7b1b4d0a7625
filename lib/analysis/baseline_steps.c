/* How a device went step by step, in the file of a baseline. */
#include "lib/analysis/baseline_parts.h"

const char *const mt_baseline_step_keys[] = {"peak_by_step", "last_step_peak_b",
                                             "after_steps_peak_b", "end_by_step"};

#define STEPS (mt_figure_defs[MT_FIG_STEP_N].in_device)

/* ---- writing ---- */

static void add_step_levels(struct mt_json_out *j, const struct mt_step_levels *l)
{
    if (!l->rises.n)
        return;
    mt_json_put_key(j, mt_baseline_step_keys[0]);
    mt_json_put_begin(j, "[]", false);
    for (size_t i = 0; i < l->rises.n; i++)
        mt_baseline_write_pair(j, l->rises.v[i].step_n, l->rises.v[i].level_b);
    mt_json_put_end(j);
    mt_baseline_write_int(j, mt_baseline_step_keys[1], l->last_b);
    mt_baseline_write_int(j, mt_baseline_step_keys[2], l->after_b);
    if (!l->ends.n)
        return;
    mt_json_put_key(j, mt_baseline_step_keys[3]);
    mt_json_put_begin(j, "[]", false);
    for (size_t i = 0; i < l->ends.n; i++)
        mt_baseline_write_pair(j, l->ends.v[i].step_n, l->ends.v[i].level_b);
    mt_json_put_end(j);
}

void mt_baseline_write_steps(struct mt_json_out *j, const struct mt_baseline_device *d)
{
    add_step_levels(j, &d->levels);
    if (!d->steps.n)
        return;
    mt_json_put_key(j, MT_BASELINE_STEPS_KEY);
    mt_json_put_begin(j, "[]", true);
    for (size_t i = 0; i < d->steps.n; i++) {
        mt_json_put_begin(j, "{}", false);
        mt_baseline_write_int(j, STEPS, d->steps.v[i].step_n);
        add_step_levels(j, &d->steps.v[i].levels);
        mt_json_put_end(j);
    }
    mt_json_put_end(j);
}

/* ---- reading ---- */

/* Each larger than the one before. */
static enum mt_status read_rise(const struct mt_json_doc *d, const struct mt_json_doc_value *pair,
                                struct mt_step_levels *to, struct mt_err *err)
{
    int64_t figures[2] = {0};
    size_t n;
    MT_TRY(mt_baseline_read_pair(d, pair, 0, figures, &n, err));
    const struct mt_step_rise *last = to->rises.n ? &to->rises.v[to->rises.n - 1] : NULL;
    bool rises = last ? figures[0] > last->step_n && figures[1] > last->level_b : figures[0] == 0;
    if (n != 2 || !rises) {
        MT_FAIL(err, MT_EINPUT,
                "\"%s\" must list pairs, a number of steps and a level, that rise from 0 steps on",
                mt_baseline_step_keys[0]);
        return mt_json_doc_at(d, pair, err);
    }
    *mt_vec_push(&to->rises) = (struct mt_step_rise){figures[0], figures[1]};
    return MT_OK;
}

static enum mt_status read_end(const struct mt_json_doc *d, const struct mt_json_doc_value *pair,
                               struct mt_step_levels *to, struct mt_err *err)
{
    int64_t figures[2] = {0};
    size_t n;
    MT_TRY(mt_baseline_read_pair(d, pair, MT_BASELINE_MAY_FALL, figures, &n, err));
    bool later = to->ends.n ? figures[0] > to->ends.v[to->ends.n - 1].step_n : figures[0] == 0;
    if (n != 2 || !later) {
        MT_FAIL(
            err, MT_EINPUT,
            "\"%s\" must list pairs, a number of steps and a level, of ever more steps from 0 on",
            mt_baseline_step_keys[3]);
        return mt_json_doc_at(d, pair, err);
    }
    *mt_vec_push(&to->ends) = (struct mt_step_end){figures[0], figures[1]};
    return MT_OK;
}

static enum mt_status read_ends(const struct mt_json_doc *d, const struct mt_json_doc_value *from,
                                struct mt_step_levels *to, struct mt_err *err)
{
    const struct mt_json_doc_value *v, *ends = mt_json_doc_get(d, from, mt_baseline_step_keys[3]);
    if (!ends)
        return MT_OK;
    MT_TRY(mt_json_doc_want(d, ends, MT_JSON_DOC_ARRAY, err));
    for (v = mt_json_doc_first(d, ends); v; v = mt_json_doc_next(d, v))
        MT_TRY(read_end(d, v, to, err));
    return MT_OK;
}

static enum mt_status read_step_levels(const struct mt_json_doc *d,
                                       const struct mt_json_doc_value *from,
                                       struct mt_step_levels *to, struct mt_err *err)
{
    int64_t *const figures[] = {&to->last_b, &to->after_b};
    const struct mt_json_doc_value *v, *rises = mt_json_doc_get(d, from, mt_baseline_step_keys[0]);
    for (size_t i = 0; i < MT_ARRAY_LEN(figures) && rises; i++) {
        v = mt_json_doc_get(d, from, mt_baseline_step_keys[i + 1]);
        if (v) {
            MT_TRY(mt_baseline_read_figure(d, v, MT_BASELINE_MAY_FALL, figures[i], err));
            continue;
        }
        MT_FAIL(err, MT_EINPUT, "\"%s\" without \"%s\"", mt_baseline_step_keys[0],
                mt_baseline_step_keys[i + 1]);
        return mt_json_doc_at(d, rises, err);
    }
    if (!rises)
        return MT_OK;
    MT_TRY(mt_json_doc_want(d, rises, MT_JSON_DOC_ARRAY, err));
    for (v = mt_json_doc_first(d, rises); v; v = mt_json_doc_next(d, v))
        MT_TRY(read_rise(d, v, to, err));
    return MT_OK;
}

static enum mt_status read_levels(const struct mt_json_doc *d, const struct mt_json_doc_value *from,
                                  struct mt_step_levels *to, struct mt_err *err)
{
    MT_TRY(read_step_levels(d, from, to, err));
    return read_ends(d, from, to, err);
}

/* Of one repeat. */
static enum mt_status read_own(const struct mt_json_doc *d, const struct mt_json_doc_value *from,
                               struct mt_baseline_device *to, struct mt_err *err)
{
    const char *keys[1 + MT_BASELINE_STEP_KEYS_N] = {STEPS};
    for (int i = 0; i < MT_BASELINE_STEP_KEYS_N; i++)
        keys[1 + i] = mt_baseline_step_keys[i];
    MT_TRY(mt_json_doc_keys(d, from, keys, MT_ARRAY_LEN(keys), err));
    const struct mt_json_doc_value *step_n = mt_json_doc_get(d, from, STEPS);
    struct mt_baseline_steps *own = mt_vec_push(&to->steps);
    *own = (struct mt_baseline_steps){.step_n = MT_BASELINE_UNKNOWN};
    if (step_n)
        MT_TRY(mt_baseline_read_figure(d, step_n, MT_BASELINE_MAY_BE_NULL, &own->step_n, err));
    return read_levels(d, from, &own->levels, err);
}

enum mt_status mt_baseline_read_steps(const struct mt_json_doc *d,
                                      const struct mt_json_doc_value *from, size_t repeat_n,
                                      struct mt_baseline_device *to, struct mt_err *err)
{
    const struct mt_json_doc_value *list = mt_json_doc_get(d, from, MT_BASELINE_STEPS_KEY);
    MT_TRY(read_levels(d, from, &to->levels, err));
    if (!list)
        return MT_OK;
    MT_TRY(mt_json_doc_want(d, list, MT_JSON_DOC_ARRAY, err));
    for (const struct mt_json_doc_value *v = mt_json_doc_first(d, list); v;
         v = mt_json_doc_next(d, v))
        MT_TRY(read_own(d, v, to, err));
    if (to->steps.n == repeat_n)
        return MT_OK;
    MT_FAIL(err, MT_EINPUT, "\"%s\" has steps of %zu of %zu repeats", list->key, to->steps.n,
            repeat_n);
    return mt_json_doc_at(d, list, err);
}
