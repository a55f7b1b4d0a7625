/*
 * Whether a trace uses blocks that are older than itself and in none of its records, and how much
 * they may be: process by process, and summed up by device. docs/older.md states the rules.
 */
#include "lib/base/human.h"
#include "lib/build/build.h"
#include "lib/build/older_estimate.h"
#include <stdlib.h>
#include <string.h>

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
/* Of these, what hardly anything but the building of a model does: also behind what computes, as a
 * mesh of devices does. */
static const char *const initializers[] = {"kaiming*", "normal_", "trunc_normal_", "uniform_",
                                           NULL};

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
    return mt_rec_frame_name(r, n->top);
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

enum fills { FILLS_NOTHING, FILLS, FILLS_BEFORE_USE };

/* What nodes do to parameters, enum fills; allocated. */
static uint8_t *find_fillers(const struct mt_recording *r)
{
    uint8_t *fills = mt_alloc(r->nodes.n + 1);
    for (size_t i = 0; i < r->nodes.n; i++) {
        const struct mt_node *n = &r->nodes.v[i];
        if (n->top != n->frame)
            continue;
        if (n->phase == MT_PHASE_OTHER && listed(fillers, top_of(r, n)))
            fills[i] = FILLS;
        else if (n->phase == MT_PHASE_FORWARD && listed(initializers, top_of(r, n)))
            fills[i] = FILLS_BEFORE_USE;
    }
    return fills;
}

struct filling {
    const uint8_t *fills;
    int64_t used_ns; /* when parameters are used first */
};

static bool fills_nothing(void *closure, uint32_t thread, const struct mt_op *op)
{
    (void)thread;
    const struct filling *f = closure;
    const uint8_t fills = f->fills[op->node];
    return fills == FILLS_NOTHING || (fills == FILLS_BEFORE_USE && op->start_ns >= f->used_ns);
}

struct use {
    const struct mt_recording *r;
    const struct mt_map *assigned;
    int64_t first_ns;
};

/* Whether an op leaves a node for backward, of a result that keeps it. */
static bool makes_graph(const struct use *u, uint32_t thread, const struct mt_op *op)
{
    const struct mt_thread *t = &u->r->threads.v[thread];
    const uint32_t number = t->op_base + (uint32_t)(op - t->ops.v);
    return op->fwd_thread == MT_MAKES_GRAPH &&
           mt_assigned_by(t, u->assigned, number) != MT_ASSIGNED_DETACHED;
}

/* Ops that make a graph for backward, or whose name says that they use parameters. */
static bool find_use(void *closure, uint32_t thread, const struct mt_op *op)
{
    struct use *u = closure;
    const struct mt_node *n = &u->r->nodes.v[op->node];
    bool uses = makes_graph(u, thread, op) ||
                (n->phase == MT_PHASE_FORWARD && listed(users, top_of(u->r, n)));
    if (uses && op->start_ns < u->first_ns)
        u->first_ns = op->start_ns;
    return true;
}

/* Whether something computes with parameters, and the recording does not begin with the building of
 * a model: blocks that are filled before the first use and outlive the last. */
static bool uses_older(const struct mt_recording *r, const struct mt_older_share *of, bool fills)
{
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (size_t i = 0; i < of->record_n; i++) {
        const struct mt_record *rec = &r->records.v[of->records[i]];
        if (!is_use(r, rec))
            continue;
        first_ns = rec->t_ns < first_ns ? rec->t_ns : first_ns;
        last_ns = rec->t_ns > last_ns ? rec->t_ns : last_ns;
    }
    for (size_t i = 0; i < of->record_n && fills; i++) {
        const struct mt_record *rec = &r->records.v[of->records[i]];
        if (mt_older_is_made(r, of, rec) && rec->t_ns < first_ns &&
            mt_older_death(r, rec) > last_ns)
            return false;
    }
    return first_ns <= last_ns;
}

/* ---- what is said of it ---- */

struct finder {
    struct mt_recording *r;
    const struct mt_gradients *g;
    const struct mt_processes *p;
    uint8_t *fillers;              /* nodes: enum fills */
    const struct mt_map *assigned; /* ops */
    MT_VEC(uint32_t) named;        /* optimizers that estimates are from: frames */
    size_t gradient_n;             /* of the processes and devices so far */
};

static void add_words(const struct finder *f, const struct mt_device *d, struct mt_buf *out)
{
    char name[32], a[MT_HUMAN_MAX], b[MT_HUMAN_MAX];
    mt_device_name(d->type, d->index, name);
    mt_buf_adds(out, out->n ? "; and " : "");
    if (d->kept_least_b == MT_GONE) {
        mt_buf_addf(out, "parameters or data that ops use on %s, of unknown size", name);
        return;
    }
    mt_human_bytes(d->kept_least_b, a);
    mt_buf_addf(out, "parameters%s on %s, ",
                d->kept_state && d->kept_gradients ? ", their gradients and optimizer state"
                : d->kept_state                    ? " and optimizer state"
                : d->kept_gradients                ? " and their gradients"
                                                   : "",
                name);
    if (d->kept_most_b == MT_GONE)
        mt_buf_addf(out, "%s or more", a);
    else if (strcmp(a, mt_human_bytes(d->kept_most_b, b)) == 0)
        mt_buf_addf(out, "about %s", a);
    else if (!d->kept_least_b)
        mt_buf_addf(out, "up to %s", b);
    else
        mt_buf_addf(out, "%s to %s", a, b);
    mt_buf_adds(out, ", estimated from gradients");
    if (f->named.n) {
        mt_buf_adds(out, " and ");
        mt_optimizers_names(f->r, f->named.v, f->named.n, out);
    }
}

/* ---- process by process ---- */

/* A process uses older blocks of a device; least MT_GONE: of unknown size. */
static void add_use(struct mt_device *d, struct mt_range more)
{
    struct mt_range sum = {d->kept_least_b, d->kept_most_b};
    if (!d->uses_kept)
        sum = more;
    else if (sum.least == MT_GONE || more.least == MT_GONE)
        sum = (struct mt_range){sum.least == MT_GONE ? more.least : sum.least, MT_GONE};
    else
        mt_range_add(&sum, more);
    d->uses_kept = true;
    d->kept_least_b = sum.least;
    d->kept_most_b = sum.most;
}

/* More than three are not named. */
static void name_optimizers(struct finder *f, const struct mt_optimizers *o)
{
    for (size_t i = 0, k; i < o->frames.n && f->named.n < 3; i++) {
        for (k = 0; k < f->named.n && f->named.v[k] != o->frames.v[i];)
            k++;
        if (k == f->named.n)
            *mt_vec_push(&f->named) = o->frames.v[i];
    }
}

/* Finds what a process uses of a device; whether optimizers had a say in it. */
static bool judge_share(struct finder *f, const struct mt_share *s, struct mt_older_share *of)
{
    struct mt_device *d = &f->r->devices.v[s->device];
    const struct mt_gradient *v = f->g->all.v;
    size_t first = f->gradient_n, end = first, sound_n = 0;
    while (end < f->g->all.n && v[end].process == s->process && v[end].device == s->device)
        end++;
    f->gradient_n = end;
    if (d->kept_from != MT_KEPT_UNKNOWN)
        return false;
    of->device = s->device;
    of->records = &f->p->records[s->first];
    of->record_n = s->n;
    of->gradients = end > first ? &v[first] : NULL;
    of->gradient_n = end - first;
    if (of->gradient_n) {
        struct mt_older_kinds older;
        bool uses = mt_older_estimate(f->r, of, &older);
        if (uses) {
            add_use(d, older.sum);
            d->kept_state |= older.state;
            d->kept_gradients |= older.gradients;
        }
        return uses;
    }
    for (size_t i = 0; i < of->passes.n; i++)
        sound_n += mt_backward_is_sound(&of->passes.v[i]);
    if (sound_n)
        return false;
    struct filling filling = {f->fillers, of->used_ns};
    bool fills = !mt_processes_each_op(f->r, f->p, s->process, fills_nothing, &filling);
    if (uses_older(f->r, of, fills))
        add_use(d, (struct mt_range){MT_GONE, MT_GONE});
    return false;
}

/* The shares [first, end) are those of one process. */
static void judge_process(struct finder *f, size_t first, size_t end)
{
    struct mt_optimizers o;
    uint32_t process = f->p->shares.v[first].process;
    struct mt_older_share of = {
        .optimizers = &o, .passes = mt_backwards_of(f->g, process), .assigned = f->assigned};
    struct use use = {f->r, f->assigned, INT64_MAX};
    bool estimated = false;
    mt_processes_each_op(f->r, f->p, process, find_use, &use);
    of.used_ns = use.first_ns;
    mt_optimizers_find(f->r, f->p, process, &o);
    for (size_t i = first; i < end; i++)
        estimated |= judge_share(f, &f->p->shares.v[i], &of);
    if (estimated)
        name_optimizers(f, &o);
    mt_optimizers_free(&o);
}

static void judge_processes(struct finder *f)
{
    const struct mt_share *v = f->p->shares.v;
    for (size_t i = 0, end; i < f->p->shares.n; i = end) {
        for (end = i; end < f->p->shares.n && v[end].process == v[i].process;)
            end++;
        judge_process(f, i, end);
    }
}

/* How old blocks are that a snapshot knows, it says itself. */
void mt_build_older(struct mt_recording *r, const struct mt_processes *p,
                    const struct mt_gradients *g, const struct mt_map *assigned)
{
    struct finder f = {.r = r, .g = g, .p = p, .assigned = assigned};
    struct mt_buf words = {0};
    struct mt_note *note = &r->notes[MT_NOTE_OLDER];
    mt_build_kept_gradients(r, g);
    f.fillers = find_fillers(r);
    judge_processes(&f);
    for (size_t d = 0; d < r->devices.n; d++)
        if (r->devices.v[d].uses_kept) {
            add_words(&f, &r->devices.v[d], &words);
            note->count++;
        }
    if (note->count)
        mt_rec_note_detail(r, MT_NOTE_OLDER, "%s", words.s);
    mt_buf_free(&words);
    mt_vec_free(&f.named);
    free(f.fillers);
}
