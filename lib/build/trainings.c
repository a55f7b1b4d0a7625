#include "lib/build/trainings.h"

#include "lib/base/search.h"
#include "lib/base/sort.h"
#include "lib/model/categories.h"

/* ---- the list ---- */

struct mt_training *mt_trainings_at(const struct mt_trainings *t, int64_t t_ns)
{
    struct mt_training *v = t->all.v;
    size_t n = mt_count_up_to(&v->start_ns, t->all.n, sizeof *v, t_ns);
    return &v[n ? n - 1 : 0];
}

static void add_training(struct mt_trainings *t, int64_t start_ns)
{
    if (t->all.n)
        t->all.v[t->all.n - 1].next_ns = start_ns;
    *mt_vec_push(&t->all) = (struct mt_training){.start_ns = start_ns,
                                                 .next_ns = INT64_MAX,
                                                 .built_ns = start_ns,
                                                 .backward_ns = INT64_MAX,
                                                 .first_step_ns = INT64_MAX,
                                                 .stepped_ns = INT64_MIN,
                                                 .computes_ns = INT64_MAX,
                                                 .computed_ns = INT64_MIN,
                                                 .graph_ns = INT64_MIN};
}

static void end_trainings(struct mt_trainings *t)
{
    for (size_t i = 0; i < t->all.n; i++)
        mt_vec_free(&t->all.v[i].sizes.all);
    t->all.n = 0;
}

void mt_trainings_free(struct mt_trainings *t)
{
    end_trainings(t);
    mt_vec_free(&t->all);
    mt_vec_free(&t->steps);
    mt_vec_free(&t->signs.all);
}

/* ---- ops ---- */

/* What a training computes. */
static bool read_computing(void *trainings, uint32_t thread, const struct mt_op *op)
{
    const struct mt_trainings *all = trainings;
    (void)thread;
    struct mt_training *t = mt_trainings_at(all, op->start_ns);
    if (op->fwd_thread == MT_MAKES_GRAPH &&
        (t->graph_ns == INT64_MIN || op->start_ns < t->graph_ns))
        t->graph_ns = op->start_ns;
    if (!all->places[op->node].computes)
        return true;
    t->computes_ns = op->start_ns < t->computes_ns ? op->start_ns : t->computes_ns;
    t->computed_ns = op->end_ns > t->computed_ns ? op->end_ns : t->computed_ns;
    return true;
}

static bool read_op(void *trainings, uint32_t thread, const struct mt_op *op)
{
    struct mt_trainings *t = trainings;
    if (t->places[op->node].step == MT_IS_IT)
        *mt_vec_push(&t->steps) = (struct mt_turn){
            op->start_ns, op->end_ns, op->label, thread, t->r->threads.v[thread].process, op->node};
    if (t->r->frames.v[t->r->nodes.v[op->node].frame].kind == MT_FRAME_OP)
        t->last_ns = op->end_ns > t->last_ns ? op->end_ns : t->last_ns;
    return read_computing(trainings, thread, op);
}

void mt_trainings_read(struct mt_trainings *t, const struct mt_processes *p, uint32_t process)
{
    t->steps.n = t->signs.all.n = 0;
    t->last_ns = INT64_MIN;
    end_trainings(t);
    add_training(t, INT64_MIN);
    mt_processes_each_op(t->r, p, process, read_op, t);
    mt_sort_by_time(t->steps.v, t->steps.n, sizeof *t->steps.v, NULL);
}

/* ---- signs ---- */

static size_t steps_before(const struct mt_trainings *t, int64_t t_ns)
{
    const struct mt_turn *v = t->steps.v;
    return t->steps.n ? mt_count_up_to(&v->start_ns, t->steps.n, sizeof *v, t_ns) : 0;
}

/* The first model needs no sign. */
static void add_sign(struct mt_trainings *t, const struct mt_record *alloc, int64_t t_ns,
                     size_t steps, enum mt_training_part part)
{
    if (steps && steps < t->steps.n)
        *mt_vec_push(&t->signs.all) = (struct mt_training_sign){t_ns, alloc->bytes, (uint32_t)steps,
                                                                alloc->device, (uint8_t)part};
}

/* Whether what a gradient belongs to is freed right behind it. */
static bool goes_with_owner(const struct mt_recording *r, const struct mt_record *alloc)
{
    const size_t freed = alloc->mate, next = freed + 1;
    if (alloc->mate == MT_NONE || next >= r->records.n)
        return false;
    const struct mt_record *owner = &r->records.v[next];
    return owner->bytes == -alloc->bytes && owner->device == alloc->device &&
           owner->mate != MT_NONE && r->records.v[owner->mate].t_ns < alloc->t_ns;
}

void mt_trainings_add_signs(struct mt_trainings *t, const struct mt_record *alloc,
                            const struct mt_place *place, const struct mt_place *freed,
                            int64_t died_ns)
{
    const size_t steps = steps_before(t, alloc->t_ns);
    const bool built = place && place->empty, copied = place && place->copies;
    if (alloc->rule == MT_CATEGORY_R5 || alloc->rule == MT_CATEGORY_R5B) {
        add_sign(t, alloc, alloc->t_ns, steps, MT_TRAINING_GRADIENT);
        if (freed && freed->zeroes)
            add_sign(t, alloc, died_ns, steps_before(t, died_ns), MT_TRAINING_ZEROED);
        else if (goes_with_owner(t->r, alloc))
            add_sign(t, alloc, died_ns, steps_before(t, died_ns), MT_TRAINING_GONE);
    } else if (alloc->rule == MT_CATEGORY_R2) {
        add_sign(t, alloc, alloc->t_ns, steps ? steps - 1 : 0, MT_TRAINING_STATE);
    } else if (alloc->rule == MT_CATEGORY_NO_RULE && (built || copied) && steps < t->steps.n &&
               died_ns > t->steps.v[steps].end_ns) {
        add_sign(t, alloc, alloc->t_ns, steps, built ? MT_TRAINING_BUILT : MT_TRAINING_COPIED);
    }
}

/* ---- where a model is built ---- */

/* The building of a model begins when what was computed before is over: layers that do not learn
 * may be made first. */
static void move_starts_back(struct mt_trainings *all)
{
    for (size_t i = 1; i < all->all.n; i++) {
        struct mt_training *t = &all->all.v[i], *before = t - 1;
        if (before->computed_ns < t->built_ns && before->computed_ns > before->start_ns)
            t->start_ns = before->next_ns = before->computed_ns;
    }
}

void mt_trainings_find(struct mt_trainings *all, const struct mt_processes *p, uint32_t process,
                       const struct mt_backwards *backwards)
{
    struct mt_training_starts starts = {0};
    mt_training_starts_find(&all->signs, &starts);
    if (starts.t_ns.n) {
        end_trainings(all);
        add_training(all, INT64_MIN);
        for (size_t i = 0; i < starts.t_ns.n; i++)
            add_training(all, starts.t_ns.v[i]);
        mt_processes_each_op(all->r, p, process, read_computing, all);
        move_starts_back(all);
    }
    mt_vec_free(&starts.t_ns);
    for (size_t i = backwards->n; i-- > 0;)
        mt_trainings_at(all, backwards->v[i].start_ns)->backward_ns = backwards->v[i].start_ns;
    for (size_t i = 0; i < all->steps.n; i++) {
        struct mt_training *t = mt_trainings_at(all, all->steps.v[i].start_ns);
        t->stepped_ns = all->steps.v[i].end_ns;
        if (t->first_step_ns == INT64_MAX)
            t->first_step_ns = all->steps.v[i].start_ns;
    }
}
