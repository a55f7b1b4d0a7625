/*
 * What each block of a trace is for. The rules R1 to R12, their order and how often they are right
 * stand in docs/categories.md. Most need the life of the block alone and the ops around its ends;
 * R7 asks which sizes the gradients have, so it comes when all of these are known.
 */
#include "lib/model/categories.h"

#include "lib/base/search.h"
#include "lib/build/build.h"
#include "lib/build/finder.h"
#include "lib/build/left_sizes.h"
#include <stdlib.h>
#include <string.h>

enum { AFTER_US = 1000 }; /* in files of whole microseconds edges lie on each other */

static const struct mt_place *place_of(const struct mt_finder *f, const struct mt_record *rec)
{
    uint32_t node = rec->unseen ? MT_NONE : mt_rec_node(f->r, rec);
    return node == MT_NONE ? NULL : &f->places[node];
}

struct mt_life mt_life_of(const struct mt_finder *f, const struct mt_record *rec)
{
    const struct mt_record *mate = rec->mate == MT_NONE ? NULL : &f->r->records.v[rec->mate];
    return (struct mt_life){.alloc = rec,
                            .place = place_of(f, rec),
                            .freed = mate ? place_of(f, mate) : NULL,
                            .born_ns = rec->t_ns,
                            .died_ns = mate ? mate->t_ns : INT64_MAX};
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
static int64_t end_above(const struct mt_finder *f, struct mt_above *which,
                         const struct mt_record *rec)
{
    const struct mt_thread *t = &f->r->threads.v[rec->thread];
    const uint32_t op = mt_above(which, t, rec->op);
    return t->ops.v[(op == MT_NONE ? rec->op : op) - t->op_base].end_ns;
}

/* ---- backward passes ---- */

static size_t backwards_up_to(const struct mt_finder *f, int64_t t_ns)
{
    if (!f->backwards.n)
        return 0;
    return mt_count_up_to(&f->backwards.v->start_ns, f->backwards.n, sizeof *f->backwards.v, t_ns);
}

/* The pass that a moment lies in; MT_NONE: none. */
static uint32_t backward_at(const struct mt_finder *f, int64_t t_ns)
{
    size_t n = backwards_up_to(f, t_ns);
    return n && t_ns <= f->backwards.v[n - 1].end_ns ? (uint32_t)n - 1 : MT_NONE;
}

/* ---- what comes next ---- */

/* The place of the op that begins next on the thread when that of a record has ended; NULL: none.
 */
static const struct mt_place *next_place(const struct mt_finder *f, const struct mt_record *rec)
{
    const struct mt_thread *t = &f->r->threads.v[rec->thread];
    size_t next = rec->op - t->op_base;
    const int64_t end_ns = t->ops.v[next].end_ns;
    do
        next++;
    while (next < t->ops.n && t->ops.v[next].end_ns < end_ns);
    return next < t->ops.n ? &f->places[t->ops.v[next].node] : NULL;
}

bool mt_is_of_numbers(const struct mt_finder *f, const struct mt_record *rec)
{
    const struct mt_place *next = next_place(f, rec);
    return next && next->converts;
}

/* Whether the reducer of DistributedDataParallel makes it: empty, and then views of its parts. */
static bool is_bucket(const struct mt_finder *f, const struct mt_life *l)
{
    if (!f->reduces || !l->place->top || !l->place->empty)
        return false;
    const struct mt_place *next = next_place(f, l->alloc);
    return next && next->strides;
}

/* ---- rules of one block alone ---- */

static bool is_temporary(struct mt_finder *f, const struct mt_life *l)
{
    if (!l->place || l->place->leaf == MT_OUTSIDE_OF || l->died_ns == INT64_MAX)
        return false;
    int64_t end_ns = end_above(f, &f->leaf, l->alloc);
    return f->r->whole_us ? l->died_ns < end_ns : l->died_ns <= end_ns;
}

static enum mt_category_rule rule_in_backward(const struct mt_finder *f, const struct mt_life *l)
{
    uint32_t at = backward_at(f, l->born_ns);
    int64_t end_ns = at == MT_NONE ? l->born_ns : f->backwards.v[at].end_ns;
    if (l->place->recomputed)
        return MT_CATEGORY_R4;
    if (l->died_ns > end_ns + (f->r->whole_us ? AFTER_US : 0))
        return MT_CATEGORY_R5;
    if (l->freed && l->freed->zeroes)
        return MT_CATEGORY_R5B;
    return MT_CATEGORY_R6;
}

/* R1 to R6, and R5c; MT_CATEGORY_NO_RULE: another. */
static enum mt_category_rule rule_alone(struct mt_finder *f, const struct mt_life *l)
{
    if (is_temporary(f, l))
        return MT_CATEGORY_R1;
    if (!l->place)
        return MT_CATEGORY_NO_RULE;
    if (l->place->backward)
        return rule_in_backward(f, l);
    if (l->place->step == MT_OUTSIDE_OF)
        return is_bucket(f, l) ? MT_CATEGORY_R5C : MT_CATEGORY_NO_RULE;
    return l->died_ns > end_above(f, &f->step, l->alloc) ? MT_CATEGORY_R2 : MT_CATEGORY_R3;
}

/* ---- the rest ---- */

static bool is_still_parameter(const struct mt_finder *f, const struct mt_life *l)
{
    const struct mt_training *t = mt_trainings_at(&f->trainings, l->born_ns);
    if (!mt_is_of_building(f, l))
        return false;
    if (f->trainings.steps.n)
        return l->born_ns < t->backward_ns && mt_spans_steps(t, l);
    return l->died_ns > t->computed_ns;
}

/* Where no step of an optimizer is marked: made without a graph, and kept to the end through two
 * backward passes. So is the state of an optimizer whose step is compiled. */
static bool outlives_passes(struct mt_finder *f, const struct mt_life *l)
{
    return l->died_ns > f->trainings.last_ns &&
           f->backwards.n >= backwards_up_to(f, l->born_ns) + 2 && !mt_is_of_graph(f, l->alloc);
}

/* Kept by the program across iterations. */
static bool is_kept(struct mt_finder *f, const struct mt_life *l)
{
    if (!f->rounds.all.n)
        return outlives_passes(f, l);
    const struct mt_round *v = f->rounds.all.v;
    size_t from = mt_count_up_to(&v->start_ns, f->rounds.all.n, sizeof *v, l->born_ns);
    size_t to = mt_count_below(&v->end_ns, f->rounds.all.n, sizeof *v, l->died_ns);
    size_t n = to > from ? to - from : 0;
    return n >= 4 || (n >= 2 && l->died_ns > f->trainings.last_ns);
}

/* Who holds an activation when the next backward pass begins. */
static enum mt_category_rule activation(struct mt_finder *f, const struct mt_life *l)
{
    size_t next = backwards_up_to(f, l->born_ns);
    if (next == f->backwards.n || l->died_ns <= f->backwards.v[next].start_ns)
        return mt_is_of_graph(f, l->alloc) ? MT_CATEGORY_R10 : MT_CATEGORY_R10_NO_GRAPH;
    return l->freed && l->freed->backward ? MT_CATEGORY_R10_GRAPH : MT_CATEGORY_R10_PROGRAM;
}

/* What the program keeps: a result of the forward pass, where its op left a node; averages of
 * weights, caches and copies are made without. */
static enum mt_category_rule kept_rule(struct mt_finder *f, const struct mt_record *rec)
{
    return mt_is_of_graph(f, rec) ? MT_CATEGORY_R12B : MT_CATEGORY_R12;
}

static enum mt_category_rule rule_of_rest(struct mt_finder *f, const struct mt_life *l)
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
static bool is_at_end(const struct mt_finder *f, const struct mt_record *rec, bool known)
{
    bool rest = rec->rule == MT_CATEGORY_R10 || rec->rule == MT_CATEGORY_R10_PROGRAM ||
                rec->rule == MT_CATEGORY_R10_NO_GRAPH;
    bool is = known ? rec->rule == MT_CATEGORY_R12 || rec->rule == MT_CATEGORY_R12B : rest;
    return mt_has_category(f->r, rec) && is && mt_life_of(f, rec).died_ns > f->trainings.last_ns;
}

static void join_kept(struct mt_finder *f)
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
static void apply_rules_alone(struct mt_finder *f, const struct mt_processes *p, uint32_t process)
{
    struct mt_recording *r = f->r;
    for (size_t i = 0; i < f->record_n; i++) {
        struct mt_record *rec = &r->records.v[f->records[i]];
        if (!mt_has_category(r, rec))
            continue;
        const struct mt_life l = mt_life_of(f, rec);
        enum mt_category_rule rule = rule_alone(f, &l);
        rec->rule = (uint8_t)rule;
        mt_trainings_add_signs(&f->trainings, rec, l.place, l.freed, l.died_ns);
    }
    mt_trainings_find(&f->trainings, p, process, &f->backwards);
    for (size_t i = 0; i < f->record_n; i++) {
        const struct mt_record *rec = &r->records.v[f->records[i]];
        if (mt_has_category(r, rec) &&
            (rec->rule == MT_CATEGORY_R5 || rec->rule == MT_CATEGORY_R5B))
            mt_left_sizes_add(&mt_trainings_at(&f->trainings, rec->t_ns)->sizes, rec,
                              backward_at(f, rec->t_ns));
    }
    for (size_t i = 0; i < f->trainings.all.n; i++)
        mt_left_sizes_count(&f->trainings.all.v[i].sizes);
}

static void apply_rules(struct mt_finder *f, const struct mt_processes *p, uint32_t process)
{
    struct mt_recording *r = f->r;
    apply_rules_alone(f, p, process);
    mt_find_model(f, p, process);
    for (size_t i = 0; i < f->record_n; i++) {
        struct mt_record *rec = &r->records.v[f->records[i]];
        if (!mt_has_category(r, rec) || rec->rule != MT_CATEGORY_NO_RULE)
            continue;
        const struct mt_life l = mt_life_of(f, rec);
        rec->rule = (uint8_t)rule_of_rest(f, &l);
    }
    join_kept(f);
}

/* What the rules ask of a process, but for its records. */
static void read_process(struct mt_finder *f, const struct mt_processes *p, uint32_t process,
                         const struct mt_gradients *g)
{
    const uint32_t first = p->thread_at[process], end = p->thread_at[process + 1];
    const struct mt_rounds_threads threads = {p->threads + first, end - first};
    f->backwards = mt_backwards_of(g, process);
    f->sharded = false;
    for (size_t i = 0; i < f->backwards.n; i++)
        f->sharded |= f->backwards.v[i].partial;
    mt_trainings_read(&f->trainings, p, process);
    mt_rounds_list(f->r, &threads, f->trainings.steps.v, f->trainings.steps.n, &f->rounds);
}

/* Whether the name of an annotation begins so. */
static bool is_annotated(const struct mt_recording *r, const char *start)
{
    bool is = false;
    for (uint32_t i = 0; i < r->frames.n && !is; i++)
        is = r->frames.v[i].kind == MT_FRAME_ANNOTATION &&
             strncmp(mt_rec_frame_name(r, i), start, strlen(start)) == 0;
    return is;
}

/* An optimizer is at work, or something as large as a gradient is kept, and nothing marks steps. */
static bool lacks_steps(const struct mt_finder *f)
{
    if (f->trainings.steps.n || !f->backwards.n)
        return false;
    bool keeps = is_annotated(f->r, "Optimizer.zero_grad#");
    for (size_t i = 0; i < f->record_n && !keeps; i++) {
        const struct mt_record *rec = &f->r->records.v[f->records[i]];
        keeps = rec->rule == MT_CATEGORY_R12 &&
                mt_left_sizes_has(&mt_trainings_at(&f->trainings, rec->t_ns)->sizes, rec);
    }
    return keeps;
}

void mt_build_categories(struct mt_recording *r, const struct mt_processes *p,
                         const struct mt_gradients *g, const struct mt_map *assigned)
{
    struct mt_finder f = {.r = r,
                          .assigned = assigned,
                          .trainings.r = r,
                          .reduces = is_annotated(r, "DistributedDataParallel.forward"),
                          .leaf.fits = is_leaf,
                          .step.fits = is_step,
                          .graph.fits = makes_graph};
    if (r->kind != MT_RUN_TRACE)
        return;
    f.leaf.of = f.step.of = f.trainings.places = f.places = mt_places_find(r);
    for (size_t i = 0, end; i < p->shares.n; i = end) {
        uint32_t process = p->shares.v[i].process;
        f.records = &p->records[p->shares.v[i].first];
        f.record_n = 0;
        for (end = i; end < p->shares.n && p->shares.v[end].process == process; end++)
            f.record_n += p->shares.v[end].n;
        read_process(&f, p, process, g);
        apply_rules(&f, p, process);
        if (lacks_steps(&f))
            mt_rec_note(r, MT_NOTE_STEPS_UNMARKED, -1, 0);
    }
    r->categorized = true;
    mt_above_free(&f.leaf);
    mt_above_free(&f.step);
    mt_above_free(&f.graph);
    free(f.places);
    mt_vec_free(&f.rounds.all);
    mt_trainings_free(&f.trainings);
}
