/* Which blocks are a model's parameters, and state of an optimizer that was there before it. */
#include "lib/base/search.h"
#include "lib/build/finder.h"
#include "lib/build/left_sizes.h"
#include "lib/build/loaded_state.h"
#include "lib/model/categories.h"
#include <string.h>

bool mt_spans_steps(const struct mt_training *t, const struct mt_life *l)
{
    return t->first_step_ns != INT64_MAX && l->died_ns > t->first_step_ns &&
           l->died_ns > t->stepped_ns;
}

/* Whether it is made before the first backward pass of its training, and no rule has taken it. */
static bool may_be_of_model(const struct mt_finder *f, const struct mt_record *rec)
{
    return mt_has_category(f->r, rec) && rec->rule == MT_CATEGORY_NO_RULE &&
           rec->t_ns < mt_trainings_at(&f->trainings, rec->t_ns)->backward_ns;
}

bool mt_is_of_graph(struct mt_finder *f, const struct mt_record *rec)
{
    return mt_above(&f->graph, &f->r->threads.v[rec->thread], rec->op) != MT_NONE;
}

bool mt_is_of_building(const struct mt_finder *f, const struct mt_life *l)
{
    const struct mt_training *t = mt_trainings_at(&f->trainings, l->born_ns);
    if (l->place && (l->place->never_parameter || l->place->gathers))
        return false;
    if (l->born_ns < t->computes_ns)
        return true;
    return f->trainings.steps.n && l->place && l->place->empty && !mt_is_of_numbers(f, l->alloc) &&
           l->born_ns < (f->sharded ? t->backward_ns : t->graph_ns);
}

/* Which blocks may be a parameter, those first that nothing else could be. */
enum candidate {
    CANDIDATE_LEAF,  /* computed, and detached right behind, as nn.Parameter does: of layers that
                        are built R8 takes what does not learn */
    CANDIDATE_BUILT, /* as the building of a model does it */
    CANDIDATE_OTHER, /* random or computed: it may be data that is kept, and takes what is left */
    CANDIDATES
};

/* CANDIDATES: none. Results that backward goes through are none. */
static enum candidate candidate_of(struct mt_finder *f, const struct mt_life *l)
{
    if (!mt_spans_steps(mt_trainings_at(&f->trainings, l->born_ns), l) ||
        (l->place && l->place->gathers))
        return CANDIDATES;
    if (mt_is_of_building(f, l))
        return CANDIDATE_BUILT;
    bool detached = mt_assigned_to(f->r, f->assigned, l->alloc) == MT_ASSIGNED_DETACHED;
    if (l->alloc->unseen || !mt_is_of_graph(f, l->alloc))
        return detached ? CANDIDATE_LEAF : CANDIDATE_OTHER;
    return detached ? CANDIDATE_OTHER : CANDIDATES; /* as torch.func.stack_module_state does */
}

/* Leaves that are more than gradients of their size may be data. */
static void count_leaves(struct mt_finder *f)
{
    for (size_t i = 0; i < f->record_n; i++) {
        const struct mt_record *rec = &f->r->records.v[f->records[i]];
        if (!may_be_of_model(f, rec))
            continue;
        const struct mt_life l = mt_life_of(f, rec);
        if (candidate_of(f, &l) == CANDIDATE_LEAF)
            mt_left_sizes_add_leaf(&mt_trainings_at(&f->trainings, rec->t_ns)->sizes, rec);
    }
}

static bool take(struct mt_finder *f, const struct mt_record *rec, enum candidate which)
{
    struct mt_left_sizes *sizes = &mt_trainings_at(&f->trainings, rec->t_ns)->sizes;
    const struct mt_life l = mt_life_of(f, rec);
    const enum candidate is = candidate_of(f, &l);
    if (is == CANDIDATES || (is != which && !(is == CANDIDATE_LEAF && which == CANDIDATE_OTHER)))
        return false;
    return which == CANDIDATE_LEAF ? mt_left_sizes_take_leaf(sizes, rec)
                                   : mt_left_sizes_take(sizes, rec, false);
}

/* R7, of blocks that no rule before has taken: the latest first, for a layer that a model copies is
 * older than the copies, as large, and never learns. */
static void find_parameters(struct mt_finder *f)
{
    count_leaves(f);
    for (int which = 0; which < CANDIDATES; which++)
        for (size_t i = f->record_n; i-- > 0;) {
            struct mt_record *rec = &f->r->records.v[f->records[i]];
            if (may_be_of_model(f, rec) && take(f, rec, (enum candidate)which))
                rec->rule = MT_CATEGORY_R7;
        }
}

/* R7, of layers that are added to a model which goes on: made empty, as the building of one does
 * it, behind its first backward pass, but before the first that leaves a gradient of that size. */
static void find_added(struct mt_finder *f)
{
    struct mt_recording *r = f->r;
    for (size_t i = f->record_n; i-- > 0;) {
        struct mt_record *rec = &r->records.v[f->records[i]];
        if (!mt_has_category(r, rec) || rec->rule != MT_CATEGORY_NO_RULE)
            continue;
        struct mt_training *t = mt_trainings_at(&f->trainings, rec->t_ns);
        const struct mt_life l = mt_life_of(f, rec);
        const uint32_t first = mt_left_sizes_first(&t->sizes, rec);
        if (first == MT_NONE || rec->t_ns < t->backward_ns ||
            rec->t_ns >= f->backwards.v[first].start_ns || !l.place || !l.place->empty ||
            mt_is_of_numbers(f, rec))
            continue;
        if (mt_spans_steps(t, &l) && mt_left_sizes_take(&t->sizes, rec, false))
            rec->rule = MT_CATEGORY_R7;
    }
}

/* Adagrad is the one optimizer that makes its state before its first step: full_like of each
 * parameter. Else these would be taken for parameters, being the latest of that size. */
static void find_early_state(struct mt_finder *f)
{
    static const char adagrad[] = "Optimizer.step#Adagrad.";
    struct mt_recording *r = f->r;
    bool any = false;
    for (size_t i = 0; i < f->trainings.steps.n && !any; i++)
        any = strncmp(mt_rec_frame_name(r, r->nodes.v[f->trainings.steps.v[i].node].frame), adagrad,
                      sizeof adagrad - 1) == 0;
    for (size_t i = f->record_n; any && i-- > 0;) {
        struct mt_record *rec = &r->records.v[f->records[i]];
        if (!may_be_of_model(f, rec))
            continue;
        struct mt_training *t = mt_trainings_at(&f->trainings, rec->t_ns);
        const struct mt_life l = mt_life_of(f, rec);
        if (l.place && l.place->op != MT_NONE && mt_spans_steps(t, &l) &&
            strcmp(mt_rec_frame_name(r, l.place->op), "aten::full_like") == 0 &&
            mt_left_sizes_take(&t->sizes, rec, true))
            rec->rule = MT_CATEGORY_R2;
    }
}

/* What a block is that is there throughout a step, or made in it and kept; false: none that counts.
 * What is there before the first step is data, unless it is made as the building of a model is. */
static bool is_at_step(const struct mt_finder *f, const struct mt_turn *step,
                       const struct mt_record *rec, struct mt_loaded *out)
{
    const struct mt_training *t = &f->trainings.all.v[0];
    const struct mt_life l = mt_life_of(f, rec);
    const bool state = rec->rule == MT_CATEGORY_R2;
    if (!mt_has_category(f->r, rec) || l.died_ns <= step->end_ns ||
        l.born_ns >= (state ? step->end_ns : step->start_ns) ||
        (!state && rec->rule != MT_CATEGORY_NO_RULE))
        return false;
    const bool early = l.born_ns < t->first_step_ns;
    const bool made = l.place && ((l.place->op != MT_NONE && !l.place->moves) || l.place->data);
    const bool built = l.born_ns < t->backward_ns && mt_is_of_building(f, &l);
    *out = (struct mt_loaded){rec->bytes, (uint32_t)(rec - f->r->records.v), rec->device,
                              MT_LOADED_STATE};
    if (!state)
        out->kind = made ? MT_LOADED_OTHER : MT_LOADED_MAYBE;
    return state || built || (!early && !made);
}

/* State that comes with a checkpoint, of what a step has: no operator makes what torch.load()
 * reads. The first record of it; MT_NONE: none lacks, or is found. */
static uint32_t find_loaded_at(struct mt_finder *f, const struct mt_optimizers *o,
                               const struct mt_turn *step)
{
    MT_VEC(struct mt_loaded) loaded = {0};
    struct mt_loaded one;
    for (size_t i = 0; i < f->record_n; i++)
        if (is_at_step(f, step, &f->r->records.v[f->records[i]], &one))
            *mt_vec_push(&loaded) = one;
    const uint32_t first =
        mt_loaded_state_find(f->r, o, &f->trainings.all.v[0].sizes, loaded.v, loaded.n);
    mt_vec_free(&loaded);
    return first;
}

/* That of the last step of the first model, and of the last step before each that is found; who
 * trains several models begins these anew. */
static void find_loaded_state(struct mt_finder *f, const struct mt_processes *p, uint32_t process)
{
    enum { LOADS = 32 };
    const struct mt_turn *v = f->trainings.steps.v;
    int64_t before_ns = f->trainings.all.v[0].next_ns;
    struct mt_optimizers o;
    mt_optimizers_find(f->r, p, process, &o);
    for (int i = 0; i < LOADS; i++) {
        const size_t n =
            v ? mt_count_below(&v->start_ns, f->trainings.steps.n, sizeof *v, before_ns) : 0;
        const uint32_t first = n ? find_loaded_at(f, &o, &v[n - 1]) : MT_NONE;
        if (first == MT_NONE)
            break;
        before_ns = f->r->records.v[first].t_ns;
    }
    mt_optimizers_free(&o);
}

void mt_find_model(struct mt_finder *f, const struct mt_processes *p, uint32_t process)
{
    find_early_state(f);
    find_loaded_state(f, p, process);
    find_parameters(f);
    find_added(f);
}
