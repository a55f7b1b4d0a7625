/*
 * How much a process has that is older than the recording: a parameter leaves gradients as large as
 * itself, and optimizers keep a known multiple of it. docs/older.md states the rules and what they
 * miss.
 */
#include "lib/build/older_estimate.h"
#include "lib/base/search.h"
#include "lib/base/sort.h"
#include "lib/model/categories.h"
#include <stdlib.h>
#include <string.h>

/* Parameters of one size, as their gradients tell. */
struct sized {
    int64_t bytes;
    int64_t n;       /* most gradients of one backward pass */
    size_t first;    /* of these gradients */
    int64_t built_n; /* blocks the recording makes before the first pass that leaves any and keeps
                        past the last of all */
    int64_t moved_n; /* blocks it makes that go before that pass, after a flat buffer of all came */
    int64_t lent_n;  /* blocks it makes that are alive as each pass with that many begins, */
    int64_t known_n; /* and of these only such as are known as parameters */
    int64_t data_n; /* gradients that go with a block it makes, at the least, of the passes of which
                       any do: data that learns; */
    int64_t data_pass_n; /* and how many passes these are */
    size_t data_pass;    /* the last of them, and its own */
    int64_t data_of_pass;
    int64_t freed_n; /* older blocks that the recording frees after the last pass */
};

struct estimate {
    const struct mt_recording *r;
    const struct mt_older_share *of;
    const struct mt_gradient *v; /* theirs */
    size_t n;
    struct mt_backwards passes;
    int64_t last_ns; /* when the last backward pass ends */
    MT_VEC(struct sized) sizes;
    struct mt_range trained; /* all parameters that learn, */
    struct mt_range tensors; /* and how many they are */
};

/* ---- all parameters that learn ---- */

static void add_sizes(struct estimate *e)
{
    for (size_t i = 0, same = 0; i < e->n; i++) {
        const struct mt_gradient *g = &e->v[i], *before = i ? &e->v[i - 1] : NULL;
        if (!before || before->bytes != g->bytes)
            *mt_vec_push(&e->sizes) = (struct sized){.bytes = g->bytes, .first = i};
        bool go_on = before && before->bytes == g->bytes && before->backward == g->backward;
        same = go_on ? same + 1 : 1;
        struct sized *last = &e->sizes.v[e->sizes.n - 1];
        last->n = (int64_t)same > last->n ? (int64_t)same : last->n;
    }
}

/* The most that one backward pass tells of: of all, or of those whose gradients are all reduced. */
static struct mt_range largest_pass(const struct estimate *e, bool reduced)
{
    int64_t *bytes = mt_alloc((e->passes.n + 1) * sizeof *bytes);
    int64_t *n = mt_alloc((e->passes.n + 1) * sizeof *n);
    struct mt_range most = {0, 0};
    for (size_t i = 0; i < e->n; i++) {
        size_t at = e->v[i].backward - e->passes.first;
        if (reduced && e->passes.v[at].reduced_n < e->passes.v[at].due_n)
            continue;
        bytes[at] += e->v[i].bytes;
        n[at]++;
        most.least = bytes[at] > most.least ? bytes[at] : most.least;
        most.most = n[at] > most.most ? n[at] : most.most;
    }
    free(bytes);
    free(n);
    return most;
}

struct change {
    int64_t t_ns, bytes;
};

static int change_cmp(const void *a, const void *b)
{
    const struct change *x = a, *y = b; /* what goes makes room first */
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* Bytes of gradients alive at once: models that learn in turn have gradients at different times. */
static int64_t most_alive(const struct estimate *e)
{
    MT_VEC(struct change) all = {0};
    int64_t now = 0, most = 0;
    for (size_t i = 0; i < e->n; i++)
        if (!e->v[i].added) {
            *mt_vec_push(&all) = (struct change){e->v[i].alloc_ns, e->v[i].bytes};
            if (e->v[i].freed_ns != INT64_MAX)
                *mt_vec_push(&all) = (struct change){e->v[i].freed_ns, -e->v[i].bytes};
        }
    mt_sort_by_time(all.v, all.n, sizeof *all.v, change_cmp);
    for (size_t i = 0; i < all.n; i++) {
        now += all.v[i].bytes;
        most = now > most ? now : most;
    }
    mt_vec_free(&all);
    return most;
}

static void find_trained(struct estimate *e)
{
    int64_t alive = most_alive(e), sum = 0, n = 0;
    const struct mt_range pass = largest_pass(e, false);
    for (size_t i = 0; i < e->sizes.n; i++) {
        sum += e->sizes.v[i].bytes * e->sizes.v[i].n;
        n += e->sizes.v[i].n;
    }
    e->trained = (struct mt_range){pass.least, alive > sum ? alive : sum};
    e->tensors = (struct mt_range){pass.most, n};
}

/* ---- those that the recording itself makes ---- */

static struct sized *size_of(const struct estimate *e, int64_t bytes)
{
    const struct sized *v = e->sizes.v;
    size_t at = e->sizes.n ? mt_count_below(&v->bytes, e->sizes.n, sizeof *v, bytes) : 0;
    return at < e->sizes.n && v[at].bytes == bytes ? &e->sizes.v[at] : NULL;
}

/* zeros_like and the like, which fill a tensor of the shape of another. */
static bool only_fills(const struct mt_recording *r, uint32_t node)
{
    static const char end[] = "_like";
    const char *name = mt_rec_frame_name(r, r->nodes.v[node].top);
    const size_t n = strlen(name);
    return n >= sizeof end && strcmp(name + n - (sizeof end - 1), end) == 0;
}

bool mt_older_is_made(const struct mt_recording *r, const struct mt_older_share *of,
                      const struct mt_record *rec)
{
    uint32_t node = rec->bytes > 0 ? mt_rec_node(r, rec) : 0;
    if (rec->bytes <= 0 || rec->rule == MT_CATEGORY_R5C)
        return false;
    if (node == MT_NONE || r->nodes.v[node].phase == MT_PHASE_OTHER)
        return true;
    uint32_t to = mt_assigned_to(r, of->assigned, rec);
    bool before_use = rec->t_ns < of->used_ns;
    return to == MT_ASSIGNED_DATA ||
           (before_use && (to == MT_ASSIGNED_DETACHED || only_fills(r, node)));
}

/* Adds to what is lent while backward passes begin: +1 at the first of them, -1 behind the last. */
static void lend(const struct estimate *e, const struct mt_record *rec, int64_t died,
                 struct change *at, size_t *n)
{
    const struct mt_backward *v = e->passes.v;
    size_t from = mt_count_below(&v->start_ns, e->passes.n, sizeof *v, rec->t_ns);
    size_t to = mt_count_below(&v->start_ns, e->passes.n, sizeof *v, died);
    if (from >= to)
        return;
    at[(*n)++] = (struct change){(int64_t)from, 1};
    at[(*n)++] = (struct change){(int64_t)to, -1};
}

/* How many are lent at the least, of the passes that leave most gradients of that size: any of them
 * could be what these are of. */
static int64_t least_lent(const struct estimate *e, const struct sized *s, struct change *v,
                          size_t n)
{
    int64_t now = 0, least = INT64_MAX, same = 0;
    size_t k = 0;
    mt_sort_by_time(v, n, sizeof *v, change_cmp);
    for (size_t i = s->first; i < e->n && e->v[i].bytes == s->bytes; i++) {
        bool go_on = i > s->first && e->v[i].backward == e->v[i - 1].backward;
        same = go_on ? same + 1 : 1;
        for (; k < n && v[k].t_ns <= (int64_t)(e->v[i].backward - e->passes.first); k++)
            now += v[k].bytes;
        if (same == s->n && now < least)
            least = now;
    }
    return least;
}

struct made {
    int64_t bytes; /* first: they are sorted by it */
    uint32_t record;
};

/* When the first pass begins that leaves a gradient of a size. */
static int64_t first_of(const struct estimate *e, const struct sized *s)
{
    return e->passes.v[e->v[s->first].backward - e->passes.first].start_ns;
}

static bool is_parameter(const struct mt_record *rec)
{
    return mt_category_of_rule[rec->rule] == MT_CATEGORY_PARAMETER;
}

/* How many of n blocks of a size are lent at the least; `changes` has room for them. */
static int64_t lent_of(const struct estimate *e, const struct sized *size, const struct made *v,
                       size_t n, bool parameters, struct change *changes)
{
    size_t change_n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct mt_record *rec = &e->r->records.v[v[i].record];
        if (!parameters || is_parameter(rec))
            lend(e, rec, mt_older_death(e->r, rec), changes, &change_n);
    }
    return least_lent(e, size, changes, change_n);
}

/* When the recording makes one block for all that learn, which stays, before the first pass: with
 * padding it may be a bit larger. INT64_MAX: it does not. */
static int64_t flat_buffer_ns(const struct estimate *e)
{
    const int64_t least = e->trained.most, most = least + 64 * e->tensors.most;
    for (size_t i = 0; i < e->of->record_n; i++) {
        const struct mt_record *rec = &e->r->records.v[e->of->records[i]];
        if (rec->bytes >= least && rec->bytes <= most && rec->t_ns < e->passes.v[0].start_ns &&
            mt_older_death(e->r, rec) > e->last_ns)
            return rec->t_ns;
    }
    return INT64_MAX;
}

/* By size; so many blocks are made of the sizes of gradients that all of them need not be held. */
static void find_made(struct estimate *e)
{
    MT_VEC(struct made) all = {0};
    const struct mt_recording *r = e->r;
    const int64_t flat_ns = flat_buffer_ns(e);
    for (size_t i = 0; i < e->of->record_n; i++) {
        const struct mt_record *rec = &r->records.v[e->of->records[i]];
        struct sized *size = mt_older_is_made(r, e->of, rec) ? size_of(e, rec->bytes) : NULL;
        if (!size)
            continue;
        const int64_t died = mt_older_death(r, rec);
        size->built_n += rec->t_ns < first_of(e, size) && died > e->last_ns;
        size->moved_n += rec->t_ns < flat_ns && died > flat_ns && died < first_of(e, size);
        *mt_vec_push(&all) = (struct made){rec->bytes, e->of->records[i]};
    }
    mt_sort_by_time(all.v, all.n, sizeof *all.v, NULL);
    struct change *changes = mt_alloc((2 * all.n + 1) * sizeof *changes);
    for (size_t i = 0, end; i < all.n; i = end) {
        for (end = i; end < all.n && all.v[end].bytes == all.v[i].bytes;)
            end++;
        struct sized *size = size_of(e, all.v[i].bytes);
        size->lent_n = lent_of(e, size, &all.v[i], end - i, false, changes);
        size->known_n = lent_of(e, size, &all.v[i], end - i, true, changes);
    }
    free(changes);
    mt_vec_free(&all);
}

/* Whether a free is that of a gradient which the program does not drop by an optimizer; *pass. */
static bool frees_gradient(const struct estimate *e, const struct mt_record *alloc,
                           const struct mt_record *freed, size_t *pass)
{
    const struct mt_recording *r = e->r;
    const struct mt_backward *v = e->passes.v;
    uint32_t node = mt_rec_node(r, alloc), in = mt_rec_node(r, freed);
    *pass = mt_count_up_to(&v->start_ns, e->passes.n, sizeof *v, alloc->t_ns);
    return (*pass)-- && node != MT_NONE && r->nodes.v[node].phase == MT_PHASE_BACKWARD &&
           freed->t_ns > v[*pass].end_ns &&
           (in == MT_NONE || r->nodes.v[in].phase != MT_PHASE_OPTIMIZER);
}

/* Ends what is counted of a pass. */
static void end_data_pass(struct sized *s)
{
    if (!s->data_of_pass)
        return;
    if (!s->data_pass_n++ || s->data_of_pass < s->data_n)
        s->data_n = s->data_of_pass;
    s->data_of_pass = 0;
}

/* Passes that leave most gradients of that size, and of which all are freed. */
static int64_t freed_passes(const struct estimate *e, const struct sized *s)
{
    int64_t passes = 0, same = 0;
    for (size_t i = s->first; i < e->n && e->v[i].bytes == s->bytes; i++) {
        bool go_on = i > s->first && e->v[i].backward == e->v[i - 1].backward;
        same = e->v[i].freed_ns == INT64_MAX ? INT64_MIN / 2 : go_on ? same + 1 : 1;
        passes += same == s->n;
    }
    return passes;
}

/* A tensor frees its gradient right before itself: such a gradient is none of an older parameter.
 * Where another pass leaves as many gradients without such a tensor, they are. */
static void find_data(struct estimate *e)
{
    const struct mt_recording *r = e->r;
    const struct mt_record *before = NULL;
    for (size_t i = 0; i < e->of->record_n; i++) {
        const struct mt_record *rec = &r->records.v[e->of->records[i]], *first = before;
        size_t pass;
        before = rec;
        if (!first || rec->bytes != first->bytes || rec->bytes >= 0 || rec->mate == MT_NONE ||
            first->mate == MT_NONE)
            continue;
        struct sized *size = size_of(e, -rec->bytes);
        const struct mt_record *gradient = &r->records.v[first->mate];
        const struct mt_record *data = &r->records.v[rec->mate];
        if (!size || !frees_gradient(e, gradient, first, &pass) ||
            data->t_ns >= e->passes.v[pass].start_ns)
            continue;
        if (size->data_pass != pass)
            end_data_pass(size);
        size->data_pass = pass;
        size->data_of_pass++;
    }
    for (size_t i = 0; i < e->sizes.n; i++) {
        struct sized *s = &e->sizes.v[i];
        end_data_pass(s);
        if (s->data_pass_n < freed_passes(e, s))
            s->data_n = 0;
    }
}

/* Parameters older than the recording; none where it builds one of each. Its data might be what a
 * gradient is of, too. */
static struct mt_range older_parameters(struct estimate *e)
{
    bool built = true;
    int64_t own_b = 0, data_b = 0, data_n = 0, built_n = 0;
    for (size_t i = 0; i < e->sizes.n; i++) {
        const struct sized *s = &e->sizes.v[i];
        built &= s->built_n + s->data_n >= s->n || s->known_n >= s->n || s->moved_n >= s->n;
        built_n += s->built_n + s->known_n + s->moved_n;
        own_b += s->bytes * (s->lent_n < s->n ? s->lent_n : s->n);
        data_b += s->bytes * s->data_n;
        data_n += s->data_n;
    }
    if (built && built_n)
        return (struct mt_range){0, 0};
    e->trained.least -= data_b < e->trained.least ? data_b : e->trained.least;
    e->tensors.least -= data_n < e->tensors.least ? data_n : e->tensors.least;
    own_b -= data_b < own_b ? data_b : own_b;
    own_b = own_b < e->trained.least ? own_b : e->trained.least;
    return (struct mt_range){e->trained.least - own_b, e->trained.most};
}

/* ---- what goes with them ---- */

enum { SCALAR_B = 4 };

/* Scalars lie on the CPU, whatever they belong to; counted where the parameters do, too. */
static struct mt_range older_state(const struct estimate *e)
{
    const struct mt_optimizers *o = e->of->optimizers;
    bool cpu = e->r->devices.v[e->of->device].type == MT_DEVICE_CPU;
    int64_t once, made = mt_optimizers_made(e->r, o, e->of->records, e->of->record_n, &once);
    struct mt_range state = {o->least * e->trained.least, MT_GONE};
    if (cpu)
        state.least += SCALAR_B * o->least_scalars * e->tensors.least;
    state.least = state.least > made ? state.least - made : 0;
    if (o->most < 0)
        return state;
    state.most = o->most * e->trained.most;
    if (cpu)
        state.most += SCALAR_B * o->most_scalars * e->tensors.most;
    state.most = state.most > once ? state.most - once : 0;
    return state;
}

/* Of the buckets of DistributedDataParallel that the recording makes: bytes that are there at a
 * time. */
static int64_t buckets_at(const struct estimate *e, int64_t t_ns)
{
    int64_t sum = 0;
    for (size_t i = 0; i < e->of->record_n; i++) {
        const struct mt_record *rec = &e->r->records.v[e->of->records[i]];
        bool there = rec->t_ns < t_ns && mt_older_death(e->r, rec) > t_ns;
        sum += rec->bytes > 0 && rec->rule == MT_CATEGORY_R5C && there ? rec->bytes : 0;
    }
    return sum;
}

/* Whether gradients are reduced in buckets that are there beside them. */
static bool is_reduced(const struct estimate *e)
{
    bool is = false;
    for (size_t i = 0; i < e->passes.n; i++)
        is |= e->passes.v[i].reduced_n > 0;
    return is;
}

/* Such buckets, as large as all that they reduce, which stay; less those that the recording makes.
 */
static struct mt_range older_buckets(const struct estimate *e)
{
    if (!is_reduced(e))
        return (struct mt_range){0, 0};
    const int64_t least = largest_pass(e, true).least, most = e->trained.most;
    const int64_t made_b = buckets_at(e, e->passes.v[e->passes.n - 1].start_ns);
    return (struct mt_range){least > made_b ? least - made_b : 0,
                             most > made_b ? most - made_b : 0};
}

/* Gradients that stay where they are and are added to, as with zero_grad(set_to_none=False). */
static struct mt_range older_gradients(const struct estimate *e)
{
    const struct mt_backward *first = NULL, *last = NULL;
    int64_t added_b = 0, alive_b = 0;
    bool all_added = true;
    for (size_t i = 0; i < e->passes.n; i++)
        if (mt_backward_is_sound(&e->passes.v[i])) {
            last = &e->passes.v[i];
            first = first ? first : last;
        }
    for (size_t i = 0; i < e->n && last; i++) {
        const struct mt_gradient *g = &e->v[i];
        bool in_last = &e->passes.v[g->backward - e->passes.first] == last;
        all_added &= g->added;
        added_b += g->added && in_last ? g->bytes : 0;
        alive_b += !g->added && !in_last && g->freed_ns > last->start_ns ? g->bytes : 0;
    }
    if (last && !is_reduced(e)) /* they may be views of buckets */
        alive_b += buckets_at(e, last->start_ns);
    if (added_b <= alive_b)
        return (struct mt_range){0, 0};
    bool sure = all_added && last->step_n > first->step_n;
    return (struct mt_range){sure ? e->trained.least : 0, added_b - alive_b};
}

/* ---- what is counted already ---- */

/* Older blocks that the recording frees once all passes are over, as a program does that gives up
 * its model: usage includes them from the start. Bytes of those that may be of the estimate. */
static int64_t find_freed(struct estimate *e)
{
    const struct mt_recording *r = e->r;
    int64_t sum = 0;
    for (size_t i = 0; i < e->of->record_n; i++) {
        const struct mt_record *rec = &r->records.v[e->of->records[i]];
        uint32_t in = rec->bytes < 0 ? mt_rec_node(r, rec) : MT_NONE;
        if (rec->bytes >= 0 || rec->mate != MT_NONE || rec->unseen || rec->t_ns < e->last_ns ||
            (in != MT_NONE && r->nodes.v[in].phase == MT_PHASE_OPTIMIZER)) /* a gradient */
            continue;
        struct sized *size = size_of(e, -rec->bytes);
        if (size)
            size->freed_n++;
        sum += size || -rec->bytes == SCALAR_B ? -rec->bytes : 0;
    }
    return sum;
}

/* Averages of the weights may go as well. But where as many blocks of each size go as parameters
 * and their state are, none of these is left to be told of. */
static void leave_out_freed(struct estimate *e, struct mt_range *sum)
{
    const int64_t freed_b = find_freed(e), each = 1 + e->of->optimizers->most;
    bool all = e->of->optimizers->most > 0;
    for (size_t i = 0; i < e->sizes.n; i++)
        all &= e->sizes.v[i].freed_n >= each * e->sizes.v[i].n;
    if (all)
        *sum = (struct mt_range){0, 0};
    else
        sum->least -= freed_b < sum->least ? freed_b : sum->least;
}

void mt_range_add(struct mt_range *to, struct mt_range more)
{
    to->least += more.least;
    to->most = to->most == MT_GONE || more.most == MT_GONE ? MT_GONE : to->most + more.most;
}

bool mt_older_estimate(const struct mt_recording *r, const struct mt_older_share *of,
                       struct mt_older_kinds *out)
{
    struct estimate e = {.r = r, .of = of, .v = of->gradients, .n = of->gradient_n};
    e.passes = of->passes;
    e.last_ns = e.passes.v[e.passes.n - 1].end_ns;
    add_sizes(&e);
    find_trained(&e);
    find_made(&e);
    find_data(&e);
    *out = (struct mt_older_kinds){.sum = older_parameters(&e)};
    bool uses = out->sum.most > 0;
    if (uses) {
        const struct mt_range state = older_state(&e), buckets = older_buckets(&e);
        struct mt_range gradients = older_gradients(&e);
        mt_range_add(&gradients, buckets);
        out->state = state.most != 0;
        out->gradients = gradients.most != 0;
        mt_range_add(&out->sum, state);
        mt_range_add(&out->sum, gradients);
        leave_out_freed(&e, &out->sum);
        uses = out->sum.most != 0;
    }
    mt_vec_free(&e.sizes);
    return uses;
}
