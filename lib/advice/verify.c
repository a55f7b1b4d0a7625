#include "lib/advice/verify.h"

#include "lib/advice/inputs.h"
#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include <stdlib.h>
#include <string.h>

enum {
    INPUTS_MORE_PERCENT = 125,
    INPUTS_LESS_PERCENT = 80,
    INPUTS_CHANGED_PERCENT = 40, /* where the change itself makes them smaller */
    ALIKE_PERCENT = 50,
    WEIGHTS_HALVED_PERCENT = 75 /* fewer bytes: their numbers are smaller */
};

/* ---- whether both are of one loop ---- */

static bool has_parameters(const struct mt_advice_facts *f)
{
    for (size_t i = 0; i < f->blocks.n; i++)
        if (f->blocks.v[i].category == MT_CATEGORY_PARAMETER)
            return true;
    return false;
}

/* A model that is there before one recording and built in the other. */
static char *differ_in_older(const struct mt_verify_run *before, const struct mt_verify_run *after)
{
    const struct mt_run_device *x = before->facts->device, *y = after->facts->device;
    bool used = (x->older_used != 0) != (y->older_used != 0) &&
                has_parameters(before->facts) != has_parameters(after->facts);
    if (!used && (x->older_from[0] != 0) == (y->older_from[0] != 0))
        return NULL;
    return mt_strdup("one of the runs leaves out what was allocated before its recording, and the "
                     "other does not: record both in the same way.");
}

/* Optimizers tell iterations better than steps: those may be marked otherwise. */
static char *differ_in_length(const struct mt_verify_run *before, const struct mt_verify_run *after)
{
    const struct mt_advice_facts *x = before->facts, *y = after->facts;
    bool optimizers = x->optimizers.n && y->optimizers.n;
    size_t n = optimizers ? x->optimizers.n : x->steps->all.n;
    size_t m = optimizers ? y->optimizers.n : y->steps->all.n;
    const char *what = optimizers ? "optimizer steps" : "steps";
    if (n == m || (!optimizers && (!n || !m)))
        return NULL;
    return mt_asprintf("run '%s' has %zu %s and '%s' %zu: record as many iterations of the changed "
                       "program.",
                       before->name, n, what, after->name, m);
}

/* Whether most of what learns in one is there in the other; perhaps of another type. */
static bool has_most(const struct mt_map *of, const struct mt_map *in)
{
    uint64_t n = 0, found = 0;
    for (uint64_t i = 0; i < of->slot_n; i++) {
        uint64_t bytes = of->slot[i].key;
        if (of->slot[i].value == MT_MAP_NONE)
            continue;
        n++;
        found += mt_map_get(in, bytes) != MT_MAP_NONE || mt_map_get(in, bytes / 2) != MT_MAP_NONE ||
                 mt_map_get(in, 2 * bytes) != MT_MAP_NONE;
    }
    return found * 100 >= n * ALIKE_PERCENT;
}

/* Whether an op makes a sparse gradient, which is as large as the words of a batch are many. */
static bool makes_sparse(const struct mt_advice_facts *f, uint32_t op)
{
    return strstr(mt_advice_name(f, op), "_sparse_backward") != NULL;
}

static bool has_sparse(const struct mt_advice_facts *f)
{
    for (uint32_t i = 0; i < f->ops.n; i++)
        if (f->ops.v[i].inside & MT_IN_ENGINE && makes_sparse(f, i))
            return true;
    return false;
}

/* Whether a gradient may be a sparse one, which leaves hold as copies. */
static bool may_be_sparse(const struct mt_advice_facts *f, const struct mt_advice_block *b)
{
    uint32_t op = b->category == MT_CATEGORY_GRADIENT ? b->alloc_op : MT_NONE;
    while (op != MT_NONE && !(f->ops.v[op].inside & MT_IN_ACCUMULATE) && !makes_sparse(f, op))
        op = f->ops.v[op].parent;
    return op != MT_NONE;
}

/* The sizes of what learns, but for sparse gradients; whether there are such. */
static bool find_weights(const struct mt_advice_facts *f, struct mt_map *sizes)
{
    const bool sparse = has_sparse(f);
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        const bool learns =
            b->category == MT_CATEGORY_PARAMETER || b->category == MT_CATEGORY_GRADIENT;
        if (learns && !(sparse && may_be_sparse(f, b)))
            *mt_map_at(sizes, (uint64_t)b->bytes) = 1;
    }
    return sparse;
}

/* Of a run with sparse gradients fewer sizes are known than of one without. */
char *mt_verify_differ_in_model(const struct mt_verify_run *before,
                                const struct mt_verify_run *after)
{
    struct mt_map x = {0}, y = {0};
    const bool x_sparse = find_weights(before->facts, &x),
               y_sparse = find_weights(after->facts, &y);
    bool alike = !x.n || !y.n ||
                 (((y_sparse && !x_sparse) || has_most(&x, &y)) &&
                  ((x_sparse && !y_sparse) || has_most(&y, &x)));
    mt_map_free(&x);
    mt_map_free(&y);
    if (alike)
        return NULL;
    return mt_asprintf("runs '%s' and '%s' are of different models: the sizes of their parameters "
                       "and gradients are others.",
                       before->name, after->name);
}

/* The most that they keep at once: some make it anew in each step. */
static int64_t optimizer_state(const struct mt_advice_facts *f)
{
    struct mt_lives state = {0};
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        if (b->category == MT_CATEGORY_OPTIMIZER_STATE)
            *mt_vec_push(&state.all) = mt_advice_life(b);
    }
    int64_t most_b = mt_lives_peak(&state, 0, f->record_n, NULL);
    mt_vec_free(&state.all);
    return most_b;
}

char *mt_verify_differ_in_optimizer(const struct mt_verify_run *before,
                                    const struct mt_verify_run *after)
{
    const struct mt_advice_facts *x = before->facts, *y = after->facts;
    int64_t state[2] = {optimizer_state(x), optimizer_state(y)};
    int64_t most = state[0] > state[1] ? state[0] : state[1];
    int64_t least = state[0] > state[1] ? state[1] : state[0];
    char bytes[2][MT_HUMAN_MAX];
    if (!x->optimizers.n || !y->optimizers.n || least > most / 2 || most <= y->peak_b / 100)
        return NULL;
    return mt_asprintf("optimizers do not make as much state in runs '%s' and '%s': %s and %s.",
                       before->name, after->name, mt_human_bytes(state[0], bytes[0]),
                       mt_human_bytes(state[1], bytes[1]));
}

/* ---- what was changed ---- */

static const struct mt_advice *find(const struct mt_advices *all, const char *id)
{
    for (size_t i = 0; i < all->all.n; i++)
        if (strcmp(all->all.v[i].rule->id, id) == 0)
            return &all->all.v[i];
    return NULL;
}

/* Accumulating takes more backward passes for each step of an optimizer. */
static bool accumulates_more(const struct mt_advice_facts *x, const struct mt_advice_facts *y)
{
    return x->backwards.n && x->optimizers.n && y->optimizers.n &&
           y->backwards.n * x->optimizers.n * 2 >= x->backwards.n * y->optimizers.n * 3;
}

static bool is_fused(const struct mt_advice_facts *f)
{
    for (uint32_t i = 0; i < f->ops.n; i++)
        if (f->ops.v[i].inside & MT_IN_OPTIMIZER &&
            strncmp(mt_advice_name(f, i), "aten::_fused_", strlen("aten::_fused_")) == 0)
            return true;
    return false;
}

static bool recomputes(const struct mt_advice_facts *f)
{
    for (size_t i = 0; i < f->blocks.n; i++)
        if (f->blocks.v[i].category == MT_CATEGORY_RECOMPUTED)
            return true;
    return false;
}

/* Whether blocks of the loss are half as large or less. */
static bool has_smaller_loss(const struct mt_advice_facts *x, const struct mt_advice_facts *y)
{
    return mt_advice_largest_of_loss(y) <= mt_advice_largest_of_loss(x) / 2;
}

/* Whether the advice is about half as much or less now as it was. */
static bool is_halved(const struct mt_advice *a, const struct mt_advice *now)
{
    if (!now || !now->applies)
        return true;
    if (a->growth.per_step_b > 0)
        return now->growth.per_step_b <= a->growth.per_step_b / 2;
    return now->less_b <= a->less_b / 2;
}

/* Whether the second program shows the change: what it does instead, or that it does no longer what
 * the advice is against. */
static bool shows(const struct mt_advice *a, const struct mt_verify_run *before,
                  const struct mt_verify_run *after)
{
    mt_advice_apply *const rule = a->rule->apply;
    if (rule == mt_advise_accumulate)
        return accumulates_more(before->facts, after->facts);
    if (rule == mt_advise_checkpoint)
        return recomputes(after->facts);
    if (rule == mt_advise_chunked_loss) /* which no longer applies to a higher peak */
        return has_smaller_loss(before->facts, after->facts);
    if (rule == mt_advise_fused)
        return is_fused(after->facts);
    if (rule == mt_advise_foreach_false && is_fused(after->facts))
        return false;
    return is_halved(a, find(after->advices, a->rule->id));
}

bool mt_verify_is_made(const struct mt_advice *a, const struct mt_verify_run *before,
                       const struct mt_verify_run *after)
{
    const struct mt_advice *now = find(after->advices, a->rule->id);
    if (!a->applies || !shows(a, before, after))
        return false;
    if (a->growth.per_step_b > 0 || a->rule->apply == mt_advise_accumulate)
        return true;
    return !now || !now->applies || now->saving_b < after->facts->peak_b / 100;
}

/* ---- whether it is the same work ---- */

static bool is_retyped(const struct mt_verify_run *before, const struct mt_verify_run *after)
{
    bool found = false;
    for (size_t i = 0; i < before->advices->all.n && !found; i++) {
        const struct mt_advice *a = &before->advices->all.v[i];
        found = a->rule->retypes && mt_verify_is_made(a, before, after);
    }
    return found;
}

/* Whether one input is of the size of another, in percent from..INPUTS_MORE_PERCENT. */
static bool is_as_large(double x, double y, int least)
{
    return y * 100 <= x * INPUTS_MORE_PERCENT && y * 100 >= x * least;
}

/* Whether the largest data of two runs, x and y bytes, are of batches of one size. made: of the
 * second. */
static bool are_as_large(const struct mt_verify_run *before, const struct mt_verify_run *after,
                         const struct mt_inputs *made, double x, double y)
{
    int64_t parts = mt_verify_parts(before, after);
    /* Numbers of 2 bytes in place of 4 take half as much, and parts of a batch less than it. */
    bool retyped = is_retyped(before, after);
    int least = retyped || accumulates_more(before->facts, after->facts) ? INPUTS_CHANGED_PERCENT
                                                                         : INPUTS_LESS_PERCENT;
    if (x <= 0 || y <= 0 || is_as_large(x, y, least))
        return true;
    if (y < x && retyped && mt_inputs_has_cast(made, (int64_t)x / 2))
        return true;
    return parts != MT_UNKNOWN &&
           is_as_large(x, y * (double)parts, least); /* each made by itself */
}

/* Whether data of so many bytes may be those of an evaluation, which a graph held in the run that
 * has them: the other makes as many, but has them in no backward pass. */
static bool may_be_evaluated(const struct mt_inputs *has, const struct mt_inputs *other,
                             int64_t bytes)
{
    return mt_inputs_count(other, bytes) >= mt_inputs_count(has, bytes);
}

/* Leaves out what may be data of evaluations, the largest first, until the largest that are left
 * are as large: true. *all: nothing was left out. x, y: what differs else. */
static bool have_same_batches(const struct mt_verify_run *before, const struct mt_verify_run *after,
                              bool *all, int64_t *x, int64_t *y)
{
    struct mt_inputs f, g;
    bool goes_on = true;
    mt_inputs_find(before->facts, &f);
    mt_inputs_find(after->facts, &g);
    *x = mt_inputs_largest(&f, INT64_MAX);
    *y = mt_inputs_largest(&g, INT64_MAX);
    *all = true;
    while (goes_on && !are_as_large(before, after, &g, (double)*x, (double)*y)) {
        const int64_t below = *x > *y ? *x : *y;
        const int64_t next[] = {mt_inputs_largest(&f, below), mt_inputs_largest(&g, below)};
        goes_on = next[0] > 0 && next[1] > 0 &&
                  may_be_evaluated(*x > *y ? &f : &g, *x > *y ? &g : &f, below);
        if (goes_on) {
            *x = next[0];
            *y = next[1];
            *all = false;
        }
    }
    mt_inputs_free(&f);
    mt_inputs_free(&g);
    return goes_on;
}

static char *differ_in_data(const struct mt_verify_run *before, const struct mt_verify_run *after)
{
    bool all;
    int64_t x, y;
    if (have_same_batches(before, after, &all, &x, &y))
        return NULL;
    if (all)
        return mt_asprintf("batches of run '%s' are %.2g times as large as those of '%s': record "
                           "the changed program with the same ones.",
                           after->name, (double)y / (double)x, before->name);
    /* What was left out may have been the batches, and these are their labels. */
    return mt_asprintf("batches of run '%s' are of another size than those of '%s': record the "
                       "changed program with the same ones.",
                       after->name, before->name);
}

char *mt_verify_differ(const struct mt_verify_run *before, const struct mt_verify_run *after)
{
    char *why = differ_in_older(before, after);
    why = why ? why : differ_in_length(before, after);
    why = why ? why : mt_verify_differ_in_model(before, after);
    return why ? why : differ_in_data(before, after);
}

/* Bytes of weights, or of their gradients, that were made. */
static double weights_of(const struct mt_advice_facts *f)
{
    double sum = 0;
    for (size_t i = 0; i < f->blocks.n; i++)
        if (f->blocks.v[i].category == MT_CATEGORY_PARAMETER ||
            f->blocks.v[i].category == MT_CATEGORY_GRADIENT)
            sum += (double)f->blocks.v[i].bytes;
    return sum;
}

/* torch.autocast computes in another type, and leaves weights as they are. */
static char *keeps_weights(const struct mt_verify_run *before, const struct mt_verify_run *after)
{
    double x = weights_of(before->facts), y = weights_of(after->facts);
    if (x <= 0 || y * 100 < x * WEIGHTS_HALVED_PERCENT)
        return NULL;
    return mt_asprintf("run '%s' keeps its weights in float32, as torch.autocast does: what that "
                       "saves, no recording of float32 tells.",
                       after->name);
}

char *mt_verify_unseen(const char *id, const struct mt_verify_run *before,
                       const struct mt_verify_run *after)
{
    const struct mt_advice *a = find(before->advices, id);
    if (!a || !a->applies)
        return NULL;
    if (shows(a, before, after))
        return a->rule->retypes ? keeps_weights(before, after) : NULL;
    return mt_asprintf("run '%s' does not show %s: it %s.", after->name, id, a->rule->still);
}

/* ---- what it came to ---- */

bool mt_verify_error(const struct mt_advice *a, int64_t recorded_b, double *percent)
{
    int64_t peak_b = mt_wrap_add(a->new_peak_b, a->saving_b);
    int64_t saved_b = mt_wrap_sub(peak_b, recorded_b);
    if (saved_b <= 0)
        return false;
    *percent = 100.0 * (double)mt_wrap_sub(a->saving_b, saved_b) / (double)saved_b;
    return true;
}

const char *const mt_verify_names[MT_VERIFY_N] = {"holds", "saved more", "off"};

enum mt_verdict_of_advice mt_verify_judge(const struct mt_advice *a, int64_t peak_b,
                                          int64_t recorded_b, double tolerance)
{
    double above = (double)mt_wrap_sub(a->new_peak_b, recorded_b); /* above 0: it saved more */
    double percent, small = (double)peak_b / 100;
    if (above <= small && above >= -small)
        return MT_VERIFY_HOLDS;
    if (!mt_verify_error(a, recorded_b, &percent))
        return MT_VERIFY_OFF;
    if (percent < -tolerance)
        return MT_VERIFY_MORE;
    return percent <= tolerance || a->bound == MT_BOUND_UP_TO ? MT_VERIFY_HOLDS : MT_VERIFY_OFF;
}

bool mt_verify_turns(const struct mt_advice *a, int64_t peak_b, int64_t recorded_b,
                     const int64_t doubt_b[2], double tolerance)
{
    const bool off = mt_verify_judge(a, peak_b, recorded_b, tolerance) == MT_VERIFY_OFF;
    bool turns = false;
    for (int less = 1; less < 4; less++) {
        const int64_t before_b = less & 1 ? doubt_b[0] : 0, after_b = less & 2 ? doubt_b[1] : 0;
        struct mt_advice least = *a;
        least.new_peak_b = mt_wrap_sub(a->new_peak_b, before_b);
        turns |=
            off != (mt_verify_judge(&least, mt_wrap_sub(peak_b, before_b),
                                    mt_wrap_sub(recorded_b, after_b), tolerance) == MT_VERIFY_OFF);
    }
    return turns;
}

int64_t mt_verify_parts(const struct mt_verify_run *before, const struct mt_verify_run *after)
{
    const struct mt_advice_facts *x = before->facts, *y = after->facts;
    uint64_t once = (uint64_t)x->backwards.n * y->optimizers.n;
    uint64_t parts = (uint64_t)y->backwards.n * x->optimizers.n;
    return once && parts % once == 0 && parts / once > 1 ? (int64_t)(parts / once) : MT_UNKNOWN;
}
