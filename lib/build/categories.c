/*
 * What each block of a trace is for. The rules R1 to R12, their order and how often they are right
 * stand in docs/categories.md. Most need the life of the block alone and the ops around its ends;
 * R7 asks which sizes the gradients have, so it comes when all of these are known.
 */
#include "lib/model/categories.h"

#include "lib/base/search.h"
#include "lib/base/sort.h"
#include "lib/build/above.h"
#include "lib/build/build.h"
#include "lib/build/gradients.h"
#include "lib/build/left_sizes.h"
#include "lib/build/loaded_state.h"
#include "lib/build/places.h"
#include "lib/build/rounds.h"
#include "lib/build/trainings.h"
#include <stdlib.h>
#include <string.h>

enum { AFTER_US = 1000 }; /* in files of whole microseconds edges lie on each other */

/* What makes up an iteration of the loop: the steps of its optimizers. */
struct round {
    int64_t start_ns, end_ns;
};

/* A model that is trained, from when it is built until the next one is. */
struct training {
    int64_t start_ns, next_ns; /* when its building begins, and that of the next; INT64_MIN, MAX */
    int64_t built_ns;          /* the first block of it that learns */
    int64_t backward_ns, first_step_ns; /* when these begin; INT64_MAX: none */
    int64_t stepped_ns;                 /* when the last step ends; INT64_MIN: none */
    /* Top ops that compute: the start of the first, the end of the last; INT64_MAX, MIN: none. The
     * start of the first op that left a node for backward; INT64_MIN: none. */
    int64_t computes_ns, computed_ns, graph_ns;
    struct mt_left_sizes sizes;
};

/* Of one process. */
struct finder {
    struct mt_recording *r;
    const struct mt_backward *backwards;
    size_t backward_n;
    const uint32_t *records; /* its own, by device */
    size_t record_n;
    struct mt_place *places;
    MT_VEC(struct mt_turn) steps;
    MT_VEC(struct round) rounds;
    MT_VEC(struct training) trainings; /* in order of time */
    struct mt_training_signs signs;
    struct mt_training_starts starts;
    int64_t last_ns; /* the end of the last op there is */
    bool sharded;    /* gradients are not as large as what learns, and building leaves nodes, too */
    struct mt_above leaf, step, graph; /* ops around one: as in places.h; that left a node for
                                          backward */
};

/* A block: where and how long it lived. */
struct life {
    const struct mt_record *alloc;
    const struct mt_place *place, *freed; /* NULL: outside ops, or not freed */
    int64_t born_ns, died_ns;             /* INT64_MAX: never */
};

static const struct mt_place *place_of(const struct finder *f, const struct mt_record *rec)
{
    uint32_t node = rec->unseen ? MT_NONE : mt_rec_node(f->r, rec);
    return node == MT_NONE ? NULL : &f->places[node];
}

static struct life life_of(const struct finder *f, const struct mt_record *rec)
{
    const struct mt_record *mate = rec->mate == MT_NONE ? NULL : &f->r->records.v[rec->mate];
    return (struct life){.alloc = rec,
                         .place = place_of(f, rec),
                         .freed = mate ? place_of(f, mate) : NULL,
                         .born_ns = rec->t_ns,
                         .died_ns = mate ? mate->t_ns : INT64_MAX};
}

static bool is_known(const struct mt_recording *r, const struct mt_record *rec)
{
    return rec->bytes >= 0 && !r->devices.v[rec->device].no_addresses;
}

static bool is_leaf(const void *places, const struct mt_op *op)
{
    return ((const struct mt_place *)places)[op->node].leaf == MT_IS_IT;
}

static bool is_step(const void *places, const struct mt_op *op)
{
    return ((const struct mt_place *)places)[op->node].step == MT_IS_IT;
}

static bool makes_graph(const void *nothing, const struct mt_op *op)
{
    (void)nothing;
    return op->fwd_thread == MT_MAKES_GRAPH;
}

/* When an op around that of a record ends. */
static int64_t end_above(const struct finder *f, struct mt_above *which,
                         const struct mt_record *rec)
{
    const struct mt_thread *t = &f->r->threads.v[rec->thread];
    const uint32_t op = mt_above(which, t, rec->op);
    return t->ops.v[(op == MT_NONE ? rec->op : op) - t->op_base].end_ns;
}

/* ---- backward passes and steps ---- */

static size_t backwards_up_to(const struct finder *f, int64_t t_ns)
{
    if (!f->backward_n)
        return 0;
    return mt_count_up_to(&f->backwards->start_ns, f->backward_n, sizeof *f->backwards, t_ns);
}

/* The pass that a moment lies in; MT_NONE: none. */
static uint32_t backward_at(const struct finder *f, int64_t t_ns)
{
    size_t n = backwards_up_to(f, t_ns);
    return n && t_ns <= f->backwards[n - 1].end_ns ? (uint32_t)n - 1 : MT_NONE;
}

/* ---- trainings ---- */

static struct training *training_at(const struct finder *f, int64_t t_ns)
{
    struct training *v = f->trainings.v;
    size_t n = mt_count_up_to(&v->start_ns, f->trainings.n, sizeof *v, t_ns);
    return &v[n ? n - 1 : 0];
}

static void add_training(struct finder *f, int64_t start_ns)
{
    if (f->trainings.n)
        f->trainings.v[f->trainings.n - 1].next_ns = start_ns;
    *mt_vec_push(&f->trainings) = (struct training){.start_ns = start_ns,
                                                    .next_ns = INT64_MAX,
                                                    .built_ns = start_ns,
                                                    .backward_ns = INT64_MAX,
                                                    .first_step_ns = INT64_MAX,
                                                    .stepped_ns = INT64_MIN,
                                                    .computes_ns = INT64_MAX,
                                                    .computed_ns = INT64_MIN,
                                                    .graph_ns = INT64_MIN};
}

static void end_trainings(struct finder *f)
{
    for (size_t i = 0; i < f->trainings.n; i++)
        mt_vec_free(&f->trainings.v[i].sizes.all);
    f->trainings.n = 0;
}

/* What a training computes. */
static bool read_computing(void *finder, uint32_t thread, const struct mt_op *op)
{
    struct finder *f = finder;
    (void)thread;
    struct training *t = training_at(f, op->start_ns);
    if (makes_graph(NULL, op) && (t->graph_ns == INT64_MIN || op->start_ns < t->graph_ns))
        t->graph_ns = op->start_ns;
    if (!f->places[op->node].computes)
        return true;
    t->computes_ns = op->start_ns < t->computes_ns ? op->start_ns : t->computes_ns;
    t->computed_ns = op->end_ns > t->computed_ns ? op->end_ns : t->computed_ns;
    return true;
}

static bool read_op(void *finder, uint32_t thread, const struct mt_op *op)
{
    struct finder *f = finder;
    const struct mt_place *p = &f->places[op->node];
    if (p->step == MT_IS_IT)
        *mt_vec_push(&f->steps) = (struct mt_turn){
            op->start_ns, op->end_ns, op->label, thread, f->r->threads.v[thread].process, op->node};
    if (f->r->frames.v[f->r->nodes.v[op->node].frame].kind == MT_FRAME_OP)
        f->last_ns = op->end_ns > f->last_ns ? op->end_ns : f->last_ns;
    return read_computing(finder, thread, op);
}

/* Ops that other rules need, and steps; all of one training. */
static void read_ops(struct finder *f, const struct mt_processes *p, uint32_t process)
{
    f->steps.n = 0;
    f->last_ns = INT64_MIN;
    end_trainings(f);
    add_training(f, INT64_MIN);
    mt_processes_each_op(f->r, p, process, read_op, f);
    mt_sort_by_time(f->steps.v, f->steps.n, sizeof *f->steps.v, NULL);
}

static size_t steps_before(const struct finder *f, int64_t t_ns)
{
    const struct mt_turn *v = f->steps.v;
    return f->steps.n ? mt_count_up_to(&v->start_ns, f->steps.n, sizeof *v, t_ns) : 0;
}

/* The first model needs no sign. */
static void add_sign(struct finder *f, const struct mt_record *rec, size_t steps,
                     enum mt_training_part part)
{
    if (steps && steps < f->steps.n)
        *mt_vec_push(&f->signs.all) = (struct mt_training_sign){
            rec->t_ns, rec->bytes, (uint32_t)steps, rec->device, (uint8_t)part};
}

/* Whether what a gradient belongs to is freed right behind it. */
static bool goes_with_owner(const struct finder *f, const struct life *l)
{
    const struct mt_recording *r = f->r;
    const size_t freed = l->alloc->mate, next = freed + 1;
    if (l->died_ns == INT64_MAX || next >= r->records.n)
        return false;
    const struct mt_record *owner = &r->records.v[next];
    return owner->bytes == -l->alloc->bytes && owner->device == l->alloc->device &&
           owner->mate != MT_NONE && r->records.v[owner->mate].t_ns < l->born_ns;
}

/* What a block says of new models. */
static void add_signs(struct finder *f, const struct life *l, enum mt_category_rule rule)
{
    const size_t steps = steps_before(f, l->born_ns);
    const bool built = l->place && l->place->empty, copied = l->place && l->place->copies;
    if (rule == MT_CATEGORY_R5 || rule == MT_CATEGORY_R5B) {
        add_sign(f, l->alloc, steps, MT_TRAINING_GRADIENT);
        if (goes_with_owner(f, l))
            add_sign(f, l->alloc, steps_before(f, l->died_ns), MT_TRAINING_GONE);
    } else if (rule == MT_CATEGORY_R2) {
        add_sign(f, l->alloc, steps ? steps - 1 : 0, MT_TRAINING_STATE);
    } else if (rule == MT_CATEGORY_NO_RULE && (built || copied) && steps < f->steps.n &&
               l->died_ns > f->steps.v[steps].end_ns) {
        add_sign(f, l->alloc, steps, built ? MT_TRAINING_BUILT : MT_TRAINING_COPIED);
    }
}

/* The building of a model begins when what was computed before is over: layers that do not learn
 * may be made first. */
static void move_starts_back(struct finder *f)
{
    for (size_t i = 1; i < f->trainings.n; i++) {
        struct training *t = &f->trainings.v[i], *before = t - 1;
        if (before->computed_ns < t->built_ns && before->computed_ns > before->start_ns)
            t->start_ns = before->next_ns = before->computed_ns;
    }
}

static void find_trainings(struct finder *f, const struct mt_processes *p, uint32_t process)
{
    mt_trainings_find(&f->signs, &f->starts);
    if (f->starts.t_ns.n) {
        end_trainings(f);
        add_training(f, INT64_MIN);
        for (size_t i = 0; i < f->starts.t_ns.n; i++)
            add_training(f, f->starts.t_ns.v[i]);
        mt_processes_each_op(f->r, p, process, read_computing, f);
        move_starts_back(f);
    }
    for (size_t i = f->backward_n; i-- > 0;)
        training_at(f, f->backwards[i].start_ns)->backward_ns = f->backwards[i].start_ns;
    for (size_t i = 0; i < f->steps.n; i++) {
        struct training *t = training_at(f, f->steps.v[i].start_ns);
        t->stepped_ns = f->steps.v[i].end_ns;
        if (t->first_step_ns == INT64_MAX)
            t->first_step_ns = f->steps.v[i].start_ns;
    }
}

/* A GAN steps two optimizers in each iteration, and a step may call another one. Where it cannot be
 * told which belong together, each is one. */
static void find_rounds(struct finder *f, const struct mt_processes *p, uint32_t process)
{
    MT_VEC(struct mt_turn) apart = {0};
    const struct mt_rounds_threads threads = {p->threads + p->thread_at[process],
                                              p->thread_at[process + 1] - p->thread_at[process]};
    for (size_t i = 0; i < f->steps.n; i++)
        if (!apart.n || f->steps.v[i].start_ns >= apart.v[apart.n - 1].end_ns)
            *mt_vec_push(&apart) = f->steps.v[i];
    size_t *ends = mt_alloc((apart.n + 1) * sizeof *ends);
    size_t n = mt_rounds_find(f->r, &threads, apart.v, apart.n, ends);
    f->rounds.n = 0;
    for (size_t i = 0, first = 0; i < (n ? n : apart.n); i++) {
        size_t last = n ? ends[i] : i;
        *mt_vec_push(&f->rounds) = (struct round){apart.v[first].start_ns, apart.v[last].end_ns};
        first = last + 1;
    }
    free(ends);
    mt_vec_free(&apart);
}

/* ---- rules of one block alone ---- */

static bool is_temporary(struct finder *f, const struct life *l)
{
    if (!l->place || l->place->leaf == MT_OUTSIDE_OF || l->died_ns == INT64_MAX)
        return false;
    int64_t end_ns = end_above(f, &f->leaf, l->alloc);
    return f->r->whole_us ? l->died_ns < end_ns : l->died_ns <= end_ns;
}

static enum mt_category_rule rule_in_backward(const struct finder *f, const struct life *l)
{
    uint32_t at = backward_at(f, l->born_ns);
    int64_t end_ns = at == MT_NONE ? l->born_ns : f->backwards[at].end_ns;
    if (l->place->recomputed)
        return MT_CATEGORY_R4;
    if (l->died_ns > end_ns + (f->r->whole_us ? AFTER_US : 0))
        return MT_CATEGORY_R5;
    if (l->place->accumulates && l->freed && l->freed->zeroes)
        return MT_CATEGORY_R5B;
    return MT_CATEGORY_R6;
}

/* R1 to R6; MT_CATEGORY_NO_RULE: another. */
static enum mt_category_rule rule_alone(struct finder *f, const struct life *l)
{
    if (is_temporary(f, l))
        return MT_CATEGORY_R1;
    if (!l->place)
        return MT_CATEGORY_NO_RULE;
    if (l->place->backward)
        return rule_in_backward(f, l);
    if (l->place->step == MT_OUTSIDE_OF)
        return MT_CATEGORY_NO_RULE;
    return l->died_ns > end_above(f, &f->step, l->alloc) ? MT_CATEGORY_R2 : MT_CATEGORY_R3;
}

/* ---- parameters ---- */

/* Whether a block is there before the first step of an optimizer and after the last one of its
 * training. */
static bool spans_steps(const struct training *t, const struct life *l)
{
    return t->first_step_ns != INT64_MAX && l->died_ns > t->first_step_ns &&
           l->died_ns > t->stepped_ns;
}

/* Whether it is made before the first backward pass of its training, and no rule has taken it. */
static bool may_be_of_model(const struct finder *f, const struct mt_record *rec)
{
    return is_known(f->r, rec) && rec->rule == MT_CATEGORY_NO_RULE &&
           rec->t_ns < training_at(f, rec->t_ns)->backward_ns;
}

/* Whether an op around it, or the one itself, left a node for backward. */
static bool is_of_graph(struct finder *f, const struct mt_record *rec)
{
    return mt_above(&f->graph, &f->r->threads.v[rec->thread], rec->op) != MT_NONE;
}

/* Whether the op of a record is followed by aten::to: torch.tensor makes a list of numbers so. */
static bool is_of_numbers(const struct finder *f, const struct mt_record *rec)
{
    const struct mt_thread *t = &f->r->threads.v[rec->thread];
    const size_t next = rec->op - t->op_base + 1;
    return next < t->ops.n && f->places[t->ops.v[next].node].converts;
}

/* Made as the building of a model does it. That may compute, too - scales, tables of positions -
 * but no graph: until one begins, what was made empty for nn.init to fill is a layer's. */
static bool is_of_building(const struct finder *f, const struct life *l)
{
    const struct training *t = training_at(f, l->born_ns);
    if (l->place && (l->place->never_parameter || l->place->gathers))
        return false;
    if (l->born_ns < t->computes_ns)
        return true;
    return f->steps.n && l->place && l->place->empty && !is_of_numbers(f, l->alloc) &&
           l->born_ns < (f->sharded ? t->backward_ns : t->graph_ns);
}

/* R7, of blocks that no rule before has taken: the latest first, for a layer that a model copies is
 * older than the copies, as large, and never learns. What is random or computed may be data that is
 * kept, and takes what is left; results that backward goes through are none. */
static void find_parameters(struct finder *f, bool built)
{
    struct mt_recording *r = f->r;
    for (size_t i = f->record_n; i-- > 0;) {
        struct mt_record *rec = &r->records.v[f->records[i]];
        if (!may_be_of_model(f, rec))
            continue;
        struct training *t = training_at(f, rec->t_ns);
        const struct life l = life_of(f, rec);
        if (is_of_building(f, &l) != built || (l.place && l.place->gathers) ||
            (!rec->unseen && is_of_graph(f, rec)))
            continue;
        if (spans_steps(t, &l) && mt_left_sizes_take(&t->sizes, rec, false))
            rec->rule = MT_CATEGORY_R7;
    }
}

static const char *frame_name(const struct mt_recording *r, uint32_t frame)
{
    return mt_strtab_get(&r->strings, r->frames.v[frame].name);
}

/* Adagrad is the one optimizer that makes its state before its first step: full_like of each
 * parameter. Else these would be taken for parameters, being the latest of that size. */
static void find_early_state(struct finder *f)
{
    static const char adagrad[] = "Optimizer.step#Adagrad.";
    struct mt_recording *r = f->r;
    bool any = false;
    for (size_t i = 0; i < f->steps.n && !any; i++)
        any = strncmp(frame_name(r, r->nodes.v[f->steps.v[i].node].frame), adagrad,
                      sizeof adagrad - 1) == 0;
    for (size_t i = f->record_n; any && i-- > 0;) {
        struct mt_record *rec = &r->records.v[f->records[i]];
        if (!may_be_of_model(f, rec))
            continue;
        struct training *t = training_at(f, rec->t_ns);
        const struct life l = life_of(f, rec);
        if (l.place && l.place->op != MT_NONE && spans_steps(t, &l) &&
            strcmp(frame_name(r, l.place->op), "aten::full_like") == 0 &&
            mt_left_sizes_take(&t->sizes, rec, true))
            rec->rule = MT_CATEGORY_R2;
    }
}

/* Whether a step makes state as large as a gradient: then none was loaded. */
static bool makes_state(const struct finder *f, const struct training *t)
{
    bool makes = false;
    for (size_t i = 0; i < f->record_n && !makes; i++) {
        const struct mt_record *rec = &f->r->records.v[f->records[i]];
        makes = is_known(f->r, rec) && rec->rule == MT_CATEGORY_R2 && rec->t_ns < t->next_ns &&
                mt_left_sizes_has(&t->sizes, rec);
    }
    return makes;
}

/* State that comes with a checkpoint: no operator makes what torch.load() reads. That of the first
 * model; who trains several begins these anew. */
static void find_loaded_state(struct finder *f, const struct mt_processes *p, uint32_t process)
{
    const struct training *t = &f->trainings.v[0];
    struct mt_optimizers o;
    MT_VEC(struct mt_loaded) loaded = {0};
    if (!f->steps.n || makes_state(f, t))
        return;
    for (size_t i = 0; i < f->record_n; i++) {
        const uint32_t number = f->records[i];
        const struct mt_record *rec = &f->r->records.v[number];
        if (!may_be_of_model(f, rec) || rec->t_ns >= t->next_ns)
            continue;
        const struct life l = life_of(f, rec);
        bool made = l.place && ((l.place->op != MT_NONE && !l.place->moves) || l.place->data);
        if (!made && is_of_building(f, &l) && spans_steps(t, &l))
            *mt_vec_push(&loaded) = (struct mt_loaded){rec->bytes, number, rec->device};
    }
    mt_optimizers_find(f->r, p, process, &o);
    mt_loaded_state_find(f->r, &o, &t->sizes, loaded.v, loaded.n);
    mt_optimizers_free(&o);
    mt_vec_free(&loaded);
}

/* ---- the rest ---- */

static bool is_still_parameter(const struct finder *f, const struct life *l)
{
    const struct training *t = training_at(f, l->born_ns);
    if (!is_of_building(f, l))
        return false;
    if (f->steps.n)
        return l->born_ns < t->backward_ns && spans_steps(t, l);
    return l->died_ns > t->computed_ns;
}

/* Kept by the program across iterations. */
static bool is_kept(const struct finder *f, const struct life *l)
{
    if (!f->rounds.n)
        return false;
    const struct round *v = f->rounds.v;
    size_t from = mt_count_up_to(&v->start_ns, f->rounds.n, sizeof *v, l->born_ns);
    size_t to = mt_count_below(&v->end_ns, f->rounds.n, sizeof *v, l->died_ns);
    size_t n = to > from ? to - from : 0;
    return n >= 4 || (n >= 2 && l->died_ns > f->last_ns);
}

/* Who holds an activation when the next backward pass begins. */
static enum mt_category_rule activation(struct finder *f, const struct life *l)
{
    size_t next = backwards_up_to(f, l->born_ns);
    if (next == f->backward_n || l->died_ns <= f->backwards[next].start_ns)
        return is_of_graph(f, l->alloc) ? MT_CATEGORY_R10 : MT_CATEGORY_R10_NO_GRAPH;
    return l->freed && l->freed->backward ? MT_CATEGORY_R10_GRAPH : MT_CATEGORY_R10_PROGRAM;
}

/* What the program keeps: a result of the forward pass, where its op left a node; averages of
 * weights, caches and copies are made without. */
static enum mt_category_rule kept_rule(struct finder *f, const struct mt_record *rec)
{
    return is_of_graph(f, rec) ? MT_CATEGORY_R12B : MT_CATEGORY_R12;
}

static enum mt_category_rule rule_of_rest(struct finder *f, const struct life *l)
{
    if (is_still_parameter(f, l))
        return MT_CATEGORY_R8;
    if (l->place && l->place->gathers)
        return MT_CATEGORY_R11;
    if (l->place && (l->place->maker || l->place->data))
        return MT_CATEGORY_R9;
    if (!l->place || l->place->op == MT_NONE)
        return MT_CATEGORY_R11;
    return is_kept(f, l) ? kept_rule(f, l->alloc) : activation(f, l);
}

/* A block that is kept to the end: `leaks` counts all of them by category, the newest too. */
struct kept {
    int64_t bytes;
    uint64_t ops;
};

static int kept_cmp(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return x->ops < y->ops ? -1 : x->ops > y->ops;
}

/* Of blocks that outlive every op: R12 is about one, or that one is as large and made in the same
 * place as such, only too late for the rule. */
static bool is_at_end(const struct finder *f, const struct mt_record *rec, bool known)
{
    bool rest = rec->rule == MT_CATEGORY_R10 || rec->rule == MT_CATEGORY_R10_PROGRAM ||
                rec->rule == MT_CATEGORY_R10_NO_GRAPH;
    bool is = known ? rec->rule == MT_CATEGORY_R12 || rec->rule == MT_CATEGORY_R12B : rest;
    return is_known(f->r, rec) && is && life_of(f, rec).died_ns > f->last_ns;
}

static void join_kept(struct finder *f)
{
    struct mt_recording *r = f->r;
    MT_VEC(struct kept) all = {0};
    for (size_t i = 0; i < f->record_n; i++) {
        const struct mt_record *rec = &r->records.v[f->records[i]];
        if (is_at_end(f, rec, true))
            *mt_vec_push(&all) = (struct kept){rec->bytes, place_of(f, rec)->ops};
    }
    if (all.n)
        qsort(all.v, all.n, sizeof *all.v, kept_cmp);
    for (size_t i = 0; i < f->record_n && all.n; i++) {
        struct mt_record *rec = &r->records.v[f->records[i]];
        if (!is_at_end(f, rec, false))
            continue;
        const struct kept key = {rec->bytes, place_of(f, rec)->ops};
        if (bsearch(&key, all.v, all.n, sizeof *all.v, kept_cmp))
            rec->rule = (uint8_t)kept_rule(f, rec);
    }
    mt_vec_free(&all);
}

/* Whose figures need the life of a block alone, and what these tell of the others. */
static void apply_rules_alone(struct finder *f, const struct mt_processes *p, uint32_t process)
{
    struct mt_recording *r = f->r;
    f->signs.all.n = 0;
    for (size_t i = 0; i < f->record_n; i++) {
        struct mt_record *rec = &r->records.v[f->records[i]];
        if (!is_known(r, rec))
            continue;
        const struct life l = life_of(f, rec);
        enum mt_category_rule rule = rule_alone(f, &l);
        rec->rule = (uint8_t)rule;
        add_signs(f, &l, rule);
    }
    find_trainings(f, p, process);
    for (size_t i = 0; i < f->record_n; i++) {
        const struct mt_record *rec = &r->records.v[f->records[i]];
        if (is_known(r, rec) && (rec->rule == MT_CATEGORY_R5 || rec->rule == MT_CATEGORY_R5B))
            mt_left_sizes_add(&training_at(f, rec->t_ns)->sizes, rec, backward_at(f, rec->t_ns));
    }
    for (size_t i = 0; i < f->trainings.n; i++)
        mt_left_sizes_count(&f->trainings.v[i].sizes);
}

static void apply_rules(struct finder *f, const struct mt_processes *p, uint32_t process)
{
    struct mt_recording *r = f->r;
    apply_rules_alone(f, p, process);
    find_early_state(f);
    find_loaded_state(f, p, process);
    find_parameters(f, true);
    find_parameters(f, false);
    for (size_t i = 0; i < f->record_n; i++) {
        struct mt_record *rec = &r->records.v[f->records[i]];
        if (!is_known(r, rec) || rec->rule != MT_CATEGORY_NO_RULE)
            continue;
        const struct life l = life_of(f, rec);
        rec->rule = (uint8_t)rule_of_rest(f, &l);
    }
    join_kept(f);
}

void mt_build_categories(struct mt_recording *r, const struct mt_processes *p,
                         const struct mt_gradients *g)
{
    struct finder f = {
        .r = r, .leaf.fits = is_leaf, .step.fits = is_step, .graph.fits = makes_graph};
    if (r->kind != MT_RUN_TRACE)
        return;
    f.leaf.of = f.step.of = f.places = mt_places_find(r);
    for (size_t i = 0, end; i < p->shares.n; i = end) {
        uint32_t process = p->shares.v[i].process;
        struct mt_backwards b = mt_backwards_of(g, process);
        f.backwards = b.v;
        f.backward_n = b.n;
        f.sharded = false;
        for (size_t k = 0; k < b.n; k++)
            f.sharded |= b.v[k].partial;
        f.records = &p->records[p->shares.v[i].first];
        f.record_n = 0;
        for (end = i; end < p->shares.n && p->shares.v[end].process == process; end++)
            f.record_n += p->shares.v[end].n;
        read_ops(&f, p, process);
        find_rounds(&f, p, process);
        apply_rules(&f, p, process);
    }
    r->categorized = true;
    mt_above_free(&f.leaf);
    mt_above_free(&f.step);
    mt_above_free(&f.graph);
    free(f.places);
    mt_vec_free(&f.steps);
    mt_vec_free(&f.rounds);
    end_trainings(&f);
    mt_vec_free(&f.trainings);
    mt_vec_free(&f.signs.all);
    mt_vec_free(&f.starts.t_ns);
}
