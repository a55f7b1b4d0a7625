/* Where the steps of a loop begin and end. */
#include "lib/build.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

static int step_cmp(const void *a, const void *b)
{
    const struct mt_step *x = a, *y = b;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Calls use() for each op whose label is chosen. */
static void for_chosen(struct mt_recording *r, const bool *chosen,
                       void (*use)(struct mt_recording *, const struct mt_op *))
{
    for (size_t t = 0; t < r->threads.n; t++)
        for (size_t i = 0; i < r->threads.v[t].ops.n; i++)
            if (chosen[r->threads.v[t].ops.v[i].label])
                use(r, &r->threads.v[t].ops.v[i]);
}

static const char *recorded_name(const struct mt_recording *r, uint32_t label)
{
    return mt_strtab_get(&r->strings, r->labels.v[label].recorded);
}

static bool choose_prefix(const struct mt_recording *r, const char *prefix, bool *chosen)
{
    bool any = false;
    for (uint32_t i = 0; i < r->labels.n; i++) {
        uint8_t kind = r->frames.v[r->labels.v[i].frame].kind;
        chosen[i] = kind == MT_FRAME_ANNOTATION &&
                    strncmp(recorded_name(r, i), prefix, strlen(prefix)) == 0;
        any |= chosen[i];
    }
    return any;
}

static void use_numbered(struct mt_recording *r, const struct mt_op *op)
{
    const char *number = strchr(recorded_name(r, op->label), '#') + 1;
    *mt_vec_push(&r->steps) = (struct mt_step){strtoll(number, NULL, 10), op->start_ns, op->end_ns};
}

static void use_interval(struct mt_recording *r, const struct mt_op *op)
{
    *mt_vec_push(&r->steps) = (struct mt_step){0, op->start_ns, op->end_ns};
}

static void sort_steps(struct mt_recording *r)
{
    if (r->steps.n)
        qsort(r->steps.v, r->steps.n, sizeof *r->steps.v, step_cmp);
}

static void number_steps(struct mt_recording *r)
{
    sort_steps(r);
    for (size_t i = 0; i < r->steps.n; i++)
        r->steps.v[i].number = (int64_t)i;
}

/* Of several optimizers the first to finish a step counts; the others step in the same iteration.
 */
static void steps_of_optimizer(struct mt_recording *r, bool *chosen)
{
    int64_t first = INT64_MAX;
    uint32_t label = MT_NONE;
    for (size_t t = 0; t < r->threads.n; t++)
        for (size_t i = 0; i < r->threads.v[t].ops.n; i++) {
            const struct mt_op *op = &r->threads.v[t].ops.v[i];
            if (chosen[op->label] && op->end_ns < first) {
                first = op->end_ns;
                label = op->label;
            }
        }
    memset(chosen, 0, r->labels.n * sizeof *chosen);
    if (label == MT_NONE)
        return;
    chosen[label] = true;
    for_chosen(r, chosen, use_interval);
    number_steps(r);
    for (size_t i = 0; i < r->steps.n; i++) {
        r->steps.v[i].start_ns = i ? r->steps.v[i - 1].end_ns : r->start_ns;
    }
}

static enum mt_status choose_regex(struct mt_recording *r, const char *marker, bool *chosen,
                                   struct mt_err *err)
{
    regex_t re;
    int rc = regcomp(&re, marker, REG_EXTENDED | REG_NOSUB);
    if (rc) {
        char text[200];
        regerror(rc, &re, text, sizeof text);
        return MT_FAIL(err, MT_EUSAGE, "--step-marker '%s' is no regular expression: %s", marker,
                       text);
    }
    for (uint32_t i = 0; i < r->labels.n; i++)
        chosen[i] = regexec(&re, recorded_name(r, i), 0, NULL, 0) == 0;
    regfree(&re);
    return MT_OK;
}

enum mt_status mt_build_steps(struct mt_recording *r, const char *step_marker, struct mt_err *err)
{
    bool *chosen = mt_alloc((r->labels.n + 1) * sizeof *chosen);
    enum mt_status st = MT_OK;
    if (step_marker) {
        MT_TRY_OUT(choose_regex(r, step_marker, chosen, err));
        for_chosen(r, chosen, use_interval);
        number_steps(r);
        r->step_marker = step_marker;
    } else if (choose_prefix(r, "ProfilerStep#", chosen)) {
        for_chosen(r, chosen, use_numbered);
        sort_steps(r);
        r->step_marker = "ProfilerStep#";
    } else if (choose_prefix(r, "Optimizer.step#", chosen)) {
        steps_of_optimizer(r, chosen);
        r->step_marker = "Optimizer.step#";
    }
out:
    free(chosen);
    return st;
}
