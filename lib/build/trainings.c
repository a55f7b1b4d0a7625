#include "lib/build/trainings.h"

#include "lib/base/search.h"
#include "lib/base/sort.h"
#include "lib/model/categories.h"
#include <stdlib.h>

/* What a block may be of a new model, by how it was made. */
enum mt_training_part {
    MT_TRAINING_GRADIENT, /* left by a backward pass */
    MT_TRAINING_BUILT,    /* made empty, to be filled; */
    MT_TRAINING_COPIED,   /* or copied: and there when the next optimizer's step has ended */
    MT_TRAINING_STATE,    /* made by that step, and kept */
    MT_TRAINING_GONE,     /* of an older model: it went right behind its gradient */
    MT_TRAINING_PARTS
};

struct mt_training_sign {
    int64_t t_ns, bytes;
    uint32_t steps; /* how many steps of optimizers began before it, without the one that made it */
    uint16_t device;
    uint8_t part;
};

struct mt_training_starts {
    MT_VEC(int64_t) t_ns; /* in order of time */
};

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
    mt_vec_free(&t->signs);
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
    t->steps.n = t->signs.n = 0;
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
static void add_sign(struct mt_trainings *t, const struct mt_record *alloc, size_t steps,
                     enum mt_training_part part)
{
    if (steps && steps < t->steps.n)
        *mt_vec_push(&t->signs) = (struct mt_training_sign){
            alloc->t_ns, alloc->bytes, (uint32_t)steps, alloc->device, (uint8_t)part};
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
                            const struct mt_place *place, int64_t died_ns)
{
    const size_t steps = steps_before(t, alloc->t_ns);
    const bool built = place && place->empty, copied = place && place->copies;
    if (alloc->rule == MT_CATEGORY_R5 || alloc->rule == MT_CATEGORY_R5B) {
        add_sign(t, alloc, steps, MT_TRAINING_GRADIENT);
        if (goes_with_owner(t->r, alloc))
            add_sign(t, alloc, steps_before(t, died_ns), MT_TRAINING_GONE);
    } else if (alloc->rule == MT_CATEGORY_R2) {
        add_sign(t, alloc, steps ? steps - 1 : 0, MT_TRAINING_STATE);
    } else if (alloc->rule == MT_CATEGORY_NO_RULE && (built || copied) && steps < t->steps.n &&
               died_ns > t->steps.v[steps].end_ns) {
        add_sign(t, alloc, steps, built ? MT_TRAINING_BUILT : MT_TRAINING_COPIED);
    }
}

/* ---- where a model is built ---- */

/* Of signs of one size between two steps. */
struct counts {
    size_t of[MT_TRAINING_PARTS];
    int64_t first_ns; /* the first that was built or copied; INT64_MAX: none */
};

static int sign_cmp(const void *a, const void *b)
{
    const struct mt_training_sign *x = a, *y = b;
    if (x->steps != y->steps)
        return x->steps < y->steps ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* Counts those of the first one's size; where they end. */
static size_t count(const struct mt_training_sign *v, size_t from, size_t n, struct counts *out)
{
    *out = (struct counts){.first_ns = INT64_MAX};
    size_t end = from;
    for (; end < n && sign_cmp(&v[end], &v[from]) == 0; end++) {
        bool made = v[end].part == MT_TRAINING_BUILT || v[end].part == MT_TRAINING_COPIED;
        out->of[v[end].part]++;
        if (made && v[end].t_ns < out->first_ns)
            out->first_ns = v[end].t_ns;
    }
    return end;
}

static bool is_new(const struct counts *c)
{
    const size_t needed = c->of[MT_TRAINING_GRADIENT];
    const size_t built = c->of[MT_TRAINING_BUILT], copied = c->of[MT_TRAINING_COPIED];
    bool trained = c->of[MT_TRAINING_STATE] >= needed || c->of[MT_TRAINING_GONE] >= needed;
    return built >= needed || (built + copied >= needed && trained);
}

/* Since when the blocks between two steps are a new model; INT64_MAX: they are none. One block may
 * be anything. */
static int64_t new_since(const struct mt_training_sign *v, size_t from, size_t end)
{
    int64_t since = INT64_MAX;
    size_t gradients = 0;
    for (size_t i = from; i < end;) {
        struct counts c;
        i = count(v, i, end, &c);
        if (!c.of[MT_TRAINING_GRADIENT])
            continue;
        if (!is_new(&c))
            return INT64_MAX;
        gradients += c.of[MT_TRAINING_GRADIENT];
        since = c.first_ns < since ? c.first_ns : since;
    }
    return gradients > 1 ? since : INT64_MAX;
}

/* When the building of each model but the first begins. */
static void find_starts(struct mt_trainings *t, struct mt_training_starts *out)
{
    const struct mt_training_sign *v = t->signs.v;
    const size_t n = t->signs.n;
    if (n)
        qsort(t->signs.v, n, sizeof *v, sign_cmp);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && v[end].steps == v[i].steps;)
            end++;
        int64_t since = new_since(v, i, end);
        if (since != INT64_MAX)
            *mt_vec_push(&out->t_ns) = since;
    }
}

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
    find_starts(all, &starts);
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
