/*
 * Whether a trace uses blocks that are older than itself and in none of its records, and how much
 * they may be: a parameter leaves gradients as large as itself, and optimizers keep a known
 * multiple of it. docs/older.md states the rules and what they miss.
 */
#include "lib/base/human.h"
#include "lib/base/search.h"
#include "lib/base/sort.h"
#include "lib/build/build.h"
#include "lib/build/gradients.h"
#include "lib/build/optimizers.h"
#include <stdlib.h>
#include <string.h>

/* Parameters of one size, as their gradients tell. */
struct sized {
    int64_t bytes;
    int64_t n;       /* most gradients of one backward pass */
    size_t first;    /* of these gradients */
    int64_t built_n; /* blocks the recording makes before the first pass and keeps past the last */
    int64_t lent_n;  /* blocks it makes that are alive as each pass with that many begins */
};

/* From least to most; most MT_GONE: unknown. */
struct range {
    int64_t least, most;
};

struct estimate {
    struct mt_recording *r;
    const struct mt_gradients *g;
    const struct mt_optimizers *o;
    uint16_t device;
    const struct mt_gradient *v; /* those of the device */
    size_t n;
    int64_t first_ns, last_ns; /* from the first backward pass to the end of the last one */
    MT_VEC(struct sized) sizes;
    struct range trained; /* all parameters that learn, */
    struct range tensors; /* and how many they are */
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

/* The most that one backward pass tells of. */
static struct range largest_pass(const struct estimate *e)
{
    int64_t *bytes = mt_alloc((e->g->backwards.n + 1) * sizeof *bytes);
    int64_t *n = mt_alloc((e->g->backwards.n + 1) * sizeof *n);
    struct range most = {0, 0};
    for (size_t i = 0; i < e->n; i++) {
        uint32_t at = e->v[i].backward;
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
    const struct range pass = largest_pass(e);
    for (size_t i = 0; i < e->sizes.n; i++) {
        sum += e->sizes.v[i].bytes * e->sizes.v[i].n;
        n += e->sizes.v[i].n;
    }
    e->trained = (struct range){pass.least, alive > sum ? alive : sum};
    e->tensors = (struct range){pass.most, n};
}

/* ---- those that the recording itself makes ---- */

static struct sized *size_of(const struct estimate *e, int64_t bytes)
{
    const struct sized *v = e->sizes.v;
    size_t at = e->sizes.n ? mt_count_below(&v->bytes, e->sizes.n, sizeof *v, bytes) : 0;
    return at < e->sizes.n && v[at].bytes == bytes ? &e->sizes.v[at] : NULL;
}

/* Data, or the building of a model: nothing that is computed. */
static bool is_made(const struct mt_recording *r, const struct mt_record *rec)
{
    uint32_t node = rec->bytes > 0 ? mt_rec_node(r, rec) : 0;
    return rec->bytes > 0 && (node == MT_NONE || r->nodes.v[node].phase == MT_PHASE_OTHER);
}

static int64_t death_of(const struct mt_recording *r, const struct mt_record *rec)
{
    return rec->mate == MT_NONE ? INT64_MAX : r->records.v[rec->mate].t_ns;
}

/* Adds to what is lent while backward passes begin: +1 at the first of them, -1 behind the last. */
static void lend(const struct estimate *e, const struct mt_record *rec, int64_t died,
                 struct change *at, size_t *n)
{
    const struct mt_backward *v = e->g->backwards.v;
    size_t from = mt_count_below(&v->start_ns, e->g->backwards.n, sizeof *v, rec->t_ns);
    size_t to = mt_count_below(&v->start_ns, e->g->backwards.n, sizeof *v, died);
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
        for (; k < n && v[k].t_ns <= (int64_t)e->v[i].backward; k++)
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

/* By size; so many blocks are made of the sizes of gradients that all of them need not be held. */
static void find_made(struct estimate *e)
{
    MT_VEC(struct made) all = {0};
    const struct mt_recording *r = e->r;
    for (uint32_t i = 0; i < r->records.n; i++) {
        const struct mt_record *rec = &r->records.v[i];
        struct sized *size =
            rec->device == e->device && is_made(r, rec) ? size_of(e, rec->bytes) : NULL;
        if (!size)
            continue;
        size->built_n += rec->t_ns < e->first_ns && death_of(r, rec) > e->last_ns;
        *mt_vec_push(&all) = (struct made){rec->bytes, i};
    }
    mt_sort_by_time(all.v, all.n, sizeof *all.v, NULL);
    struct change *changes = mt_alloc((2 * all.n + 1) * sizeof *changes);
    for (size_t i = 0, n = 0; i < all.n; i++) {
        const struct mt_record *rec = &r->records.v[all.v[i].record];
        lend(e, rec, death_of(r, rec), changes, &n);
        if (i + 1 < all.n && all.v[i + 1].bytes == all.v[i].bytes)
            continue;
        struct sized *size = size_of(e, all.v[i].bytes);
        size->lent_n = least_lent(e, size, changes, n);
        n = 0;
    }
    free(changes);
    mt_vec_free(&all);
}

/* Parameters older than the recording; none where it builds one of each. Its data might be what a
 * gradient is of, too. */
static struct range older_parameters(const struct estimate *e)
{
    bool built = true;
    int64_t own_b = 0;
    for (size_t i = 0; i < e->sizes.n; i++) {
        const struct sized *s = &e->sizes.v[i];
        built &= s->built_n >= s->n;
        own_b += s->bytes * (s->lent_n < s->n ? s->lent_n : s->n);
    }
    if (built)
        return (struct range){0, 0};
    own_b = own_b < e->trained.least ? own_b : e->trained.least;
    return (struct range){e->trained.least - own_b, e->trained.most};
}

/* ---- what goes with them ---- */

/* Scalars lie on the CPU, whatever they belong to; counted where the parameters do, too. */
static struct range older_state(const struct estimate *e)
{
    const struct mt_optimizers *o = e->o;
    enum { SCALAR_B = 4 };
    bool cpu = e->r->devices.v[e->device].type == MT_DEVICE_CPU;
    int64_t once, made = mt_optimizers_made(e->r, o, e->device, &once);
    struct range state = {o->least * e->trained.least, MT_GONE};
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

/* Gradients that stay where they are and are added to, as with zero_grad(set_to_none=False). */
static struct range older_gradients(const struct estimate *e)
{
    const struct mt_backward *first = NULL, *last = NULL;
    int64_t added_b = 0, alive_b = 0;
    bool all_added = true;
    for (size_t i = 0; i < e->g->backwards.n; i++)
        if (mt_backward_is_sound(&e->g->backwards.v[i])) {
            last = &e->g->backwards.v[i];
            first = first ? first : last;
        }
    for (size_t i = 0; i < e->n && last; i++) {
        const struct mt_gradient *g = &e->v[i];
        bool in_last = &e->g->backwards.v[g->backward] == last;
        all_added &= g->added;
        added_b += g->added && in_last ? g->bytes : 0;
        alive_b += !g->added && !in_last && g->freed_ns > last->start_ns ? g->bytes : 0;
    }
    if (!last || added_b <= alive_b)
        return (struct range){0, 0};
    bool sure = all_added && last->step_n > first->step_n;
    return (struct range){sure ? e->trained.least : 0, added_b - alive_b};
}

static void add(struct range *to, struct range more)
{
    to->least += more.least;
    to->most = to->most == MT_GONE || more.most == MT_GONE ? MT_GONE : to->most + more.most;
}

static void estimate_device(struct estimate *e)
{
    struct mt_device *d = &e->r->devices.v[e->device];
    add_sizes(e);
    find_trained(e);
    find_made(e);
    struct range sum = older_parameters(e);
    d->uses_kept = sum.most > 0;
    if (d->uses_kept) {
        add(&sum, older_state(e));
        add(&sum, older_gradients(e));
        d->kept_least_b = sum.least;
        d->kept_most_b = sum.most;
    }
    mt_vec_free(&e->sizes);
}

/* ---- without gradients ---- */

/* Operators that compute with parameters, and such that fill them. */
static const char *const users[] = {"addmm",
                                    "batch_norm",
                                    "bilinear",
                                    "conv*",
                                    "embedding*",
                                    "group_norm",
                                    "gru*",
                                    "instance_norm",
                                    "layer_norm",
                                    "linear",
                                    "lstm*",
                                    "prelu",
                                    "rnn_*",
                                    "rms_norm",
                                    "_native_multi_head_attention",
                                    "_transformer_encoder*",
                                    NULL};
static const char *const fillers[] = {"copy_", "fill_",         "kaiming*", "normal_",
                                      "ones",  "trunc_normal_", "uniform_", NULL};

static bool listed(const char *const *names, const char *op)
{
    if (strncmp(op, "aten::", 6) != 0)
        return false;
    for (op += 6; *names; names++) {
        size_t n = strlen(*names);
        if ((*names)[n - 1] == '*' ? !strncmp(op, *names, n - 1) : !strcmp(op, *names))
            return true;
    }
    return false;
}

static const char *top_of(const struct mt_recording *r, const struct mt_node *n)
{
    return mt_strtab_get(&r->strings, r->frames.v[n->top].name);
}

/* Whether a record belongs to an op that uses parameters: of a model that learns, or is asked. */
static bool is_use(const struct mt_recording *r, const struct mt_record *rec)
{
    uint32_t node = mt_rec_node(r, rec);
    if (rec->unseen || node == MT_NONE)
        return false;
    const struct mt_node *n = &r->nodes.v[node];
    return n->phase == MT_PHASE_BACKWARD || n->phase == MT_PHASE_OPTIMIZER ||
           (n->phase == MT_PHASE_FORWARD && listed(users, top_of(r, n)));
}

static bool fills_parameters(const struct mt_recording *r)
{
    for (size_t i = 0; i < r->nodes.n; i++)
        if (r->nodes.v[i].phase == MT_PHASE_OTHER && r->nodes.v[i].top == r->nodes.v[i].frame &&
            listed(fillers, top_of(r, &r->nodes.v[i])))
            return true;
    return false;
}

/* Whether something computes with parameters, and the recording does not begin with the building of
 * a model: blocks that are filled before the first use and outlive the last. */
static bool uses_older(const struct mt_recording *r, uint16_t device)
{
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    bool fills = fills_parameters(r);
    for (size_t i = 0; i < r->records.n; i++) {
        const struct mt_record *rec = &r->records.v[i];
        if (rec->device != device || !is_use(r, rec))
            continue;
        first_ns = rec->t_ns < first_ns ? rec->t_ns : first_ns;
        last_ns = rec->t_ns > last_ns ? rec->t_ns : last_ns;
    }
    for (size_t i = 0; i < r->records.n && fills; i++) {
        const struct mt_record *rec = &r->records.v[i];
        if (rec->device == device && is_made(r, rec) && rec->t_ns < first_ns &&
            death_of(r, rec) > last_ns)
            return false;
    }
    return first_ns <= last_ns;
}

/* ---- what is said of it ---- */

static void add_words(const struct estimate *e, const struct mt_device *d, struct mt_buf *out)
{
    char name[32], a[MT_HUMAN_MAX], b[MT_HUMAN_MAX];
    mt_device_name(d->type, d->index, name);
    mt_buf_adds(out, out->n ? "; and " : "");
    if (d->kept_least_b == MT_GONE) {
        mt_buf_addf(out, "parameters and the like on %s, of unknown size", name);
        return;
    }
    mt_human_bytes(d->kept_least_b, a);
    mt_buf_addf(out, "parameters and optimizer state on %s, ", name);
    if (d->kept_most_b == MT_GONE)
        mt_buf_addf(out, "%s or more", a);
    else if (strcmp(a, mt_human_bytes(d->kept_most_b, b)) == 0)
        mt_buf_addf(out, "about %s", a);
    else if (!d->kept_least_b)
        mt_buf_addf(out, "up to %s", b);
    else
        mt_buf_addf(out, "%s to %s", a, b);
    mt_buf_adds(out, ", estimated from gradients");
    if (e->o->frames.n) {
        mt_buf_adds(out, " and ");
        mt_optimizers_names(e->r, e->o, out);
    }
}

/* How old blocks are that a snapshot knows, it says itself. */
void mt_build_older(struct mt_recording *r, const struct mt_gradients *g)
{
    struct mt_optimizers o;
    struct mt_buf words = {0};
    struct mt_note *note = &r->notes[MT_NOTE_OLDER];
    if (r->without_ops)
        return;
    mt_build_kept_gradients(r, g);
    mt_optimizers_find(r, &o);
    struct estimate e = {.r = r, .g = g, .o = &o};
    if (g->backwards.n) {
        e.first_ns = g->backwards.v[0].start_ns;
        e.last_ns = g->backwards.v[g->backwards.n - 1].end_ns;
    }
    for (size_t d = 0, next = 0; d < r->devices.n; d++) {
        struct mt_device *device = &r->devices.v[d];
        e.device = (uint16_t)d;
        e.v = next < g->all.n ? &g->all.v[next] : NULL;
        for (e.n = 0; next < g->all.n && g->all.v[next].device == d; next++)
            e.n++;
        if (device->kept_from != MT_KEPT_UNKNOWN)
            continue;
        if (e.n)
            estimate_device(&e);
        else
            device->uses_kept = !g->sound_n && uses_older(r, (uint16_t)d);
        if (!device->uses_kept)
            continue;
        add_words(&e, device, &words);
        note->count++;
    }
    if (note->count)
        mt_rec_note_detail(r, MT_NOTE_OLDER, "%s", words.s);
    mt_buf_free(&words);
    mt_optimizers_free(&o);
}
