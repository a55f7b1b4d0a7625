#include "lib/build/rounds.h"

#include "lib/base/hash.h"
#include "lib/base/period.h"
#include <stdlib.h>
#include <string.h>

/* What ran between a turn and the one before it. */
struct gap {
    bool worked;  /* something that an optimizer waits for */
    bool loaded;  /* data came from a DataLoader */
    uint64_t did; /* a hash of the names of that work */
};

/* What counts as work, the first of these that the recording has. */
enum work { WORK_BACKWARD, WORK_OPS, WORK_RECORDS };

struct rounds {
    const struct mt_recording *r;
    const struct mt_turn *turns;
    size_t n;
    uint32_t process; /* theirs */
    struct mt_rounds_threads threads;
    enum work work;
    struct gap *gaps;   /* before each turn */
    struct mt_map seen; /* gap and name */
    size_t *first;      /* of each group, its first turn; then n */
    size_t group_n;
};

static uint64_t hash_of(uint64_t seed, uint32_t id)
{
    return mt_hash_short(seed, &id, sizeof id);
}

/* ---- what ran between the turns ---- */

static bool is_backward(const struct mt_recording *r, const struct mt_op *op)
{
    static const char engine[] = "autograd::engine::evaluate_function: ";
    const struct mt_frame *f = &r->frames.v[r->labels.v[op->label].frame];
    return f->kind == MT_FRAME_OP &&
           (mt_op_is_backward(op) ||
            strncmp(mt_strtab_get(&r->strings, f->name), engine, sizeof engine - 1) == 0);
}

/* The i-th thread that is looked at. */
static const struct mt_thread *thread_at(const struct rounds *s, size_t i)
{
    return &s->r->threads.v[s->threads.v ? s->threads.v[i] : i];
}

static bool has_backward(const struct rounds *s)
{
    for (size_t t = 0; t < s->threads.n; t++) {
        const struct mt_thread *thread = thread_at(s, t);
        for (size_t i = 0; i < thread->ops.n && thread->process == s->process; i++)
            if (is_backward(s->r, &thread->ops.v[i]))
                return true;
    }
    return false;
}

/* The gap that a moment lies in, NULL = none. *at: turns begun by then; moments come in order. */
static struct gap *gap_at(struct rounds *s, int64_t t_ns, size_t *at)
{
    while (*at < s->n && s->turns[*at].start_ns <= t_ns)
        ++*at;
    bool inside = *at && t_ns < s->turns[*at - 1].end_ns;
    return *at == s->n || inside ? NULL : &s->gaps[*at];
}

static void add_name(struct rounds *s, struct gap *g, uint32_t name)
{
    uint32_t *seen = mt_map_at(&s->seen, (uint64_t)(g - s->gaps) << 32 | name);
    if (*seen == MT_MAP_NONE)
        g->did += hash_of(1, name);
    *seen = 1;
}

static void add_op(struct rounds *s, struct gap *g, const struct mt_op *op)
{
    const struct mt_node *node = &s->r->nodes.v[op->node];
    bool annotation = s->r->frames.v[node->frame].kind == MT_FRAME_ANNOTATION;
    bool is_op = s->r->frames.v[node->frame].kind == MT_FRAME_OP;
    bool work = s->work == WORK_BACKWARD ? is_backward(s->r, op)
                                         : is_op && node->phase != MT_PHASE_OPTIMIZER;
    g->worked |= work;
    g->loaded |= annotation && node->phase == MT_PHASE_DATA;
    /* compiled graphs have names of their own, as annotations below backward ops of one name */
    if (work || (annotation && node->phase == MT_PHASE_BACKWARD))
        add_name(s, g, s->r->frames.v[node->frame].name);
}

static void look_at_ops(struct rounds *s)
{
    for (size_t t = 0; t < s->threads.n; t++) {
        const struct mt_thread *thread = thread_at(s, t);
        size_t at = thread->process == s->process ? 0 : s->n;
        for (size_t i = 0; i < thread->ops.n && at < s->n; i++) {
            struct gap *g = gap_at(s, thread->ops.v[i].start_ns, &at);
            if (g)
                add_op(s, g, &thread->ops.v[i]);
        }
    }
}

/* Recordings of call paths: what was allocated. */
static void look_at_records(struct rounds *s)
{
    size_t at = 0;
    for (size_t i = 0; i < s->r->records.n && at < s->n; i++) {
        const struct mt_record *rec = &s->r->records.v[i];
        const struct mt_node *node = rec->op == MT_NONE ? NULL : &s->r->nodes.v[rec->op];
        struct gap *g = gap_at(s, rec->t_ns, &at);
        if (!g || rec->bytes < 0 || (node && node->phase == MT_PHASE_OPTIMIZER))
            continue;
        g->worked = true;
        if (node)
            add_name(s, g, s->r->frames.v[node->top].name);
    }
}

/* ---- groups: turns with nothing to wait for between them ---- */

static void find_groups(struct rounds *s)
{
    bool any = false; /* else the recording does not know of work */
    for (size_t i = 1; i < s->n; i++)
        any |= s->gaps[i].worked;
    for (size_t i = 0; i < s->n; i++)
        if (!i || !any || s->gaps[i].worked)
            s->first[s->group_n++] = i;
    s->first[s->group_n] = s->n;
}

/* Which optimizers take part in each group; 0 everywhere if one of them takes part in all. */
static void add_names(const struct rounds *s, uint64_t *keys)
{
    struct mt_map last = {0}; /* optimizer -> the last group it was in, */
    struct mt_map in_n = {0}; /* and in how many */
    bool constant = false;
    for (size_t g = 0; g < s->group_n; g++)
        for (size_t i = s->first[g]; i < s->first[g + 1]; i++) {
            uint64_t who = (uint64_t)s->turns[i].thread << 32 | s->turns[i].label;
            uint32_t *in = mt_map_at(&last, who);
            if (*in == (uint32_t)g)
                continue;
            *in = (uint32_t)g;
            keys[g] += mt_hash_short(2, &who, sizeof who);
            uint32_t *n = mt_map_at(&in_n, who);
            *n = *n == MT_MAP_NONE ? 1 : *n + 1;
            constant |= *n == s->group_n;
        }
    if (constant)
        memset(keys, 0, s->group_n * sizeof *keys);
    mt_map_free(&last);
    mt_map_free(&in_n);
}

/* ---- rounds: groups that repeat ---- */

/* A period that is seen twice is one; else 0. */
static size_t proved(const struct rounds *s, size_t period)
{
    return period == 1 || 2 * period <= s->group_n ? period : 0;
}

/* The same of what ran before each group as well. Before the first there may be less of it, where
 * the recording begins in the middle. */
static size_t period_with(const struct rounds *s, const uint64_t *keys, bool paths, bool loads)
{
    uint64_t *all = mt_alloc(s->group_n * sizeof *all);
    for (size_t g = 1; g < s->group_n; g++) {
        const struct gap *gap = &s->gaps[s->first[g]];
        all[g - 1] = keys[g] + gap->did;
        all[g - 1] += paths ? hash_of(3, s->turns[s->first[g]].node) : 0;
        all[g - 1] += loads ? gap->loaded : 0;
    }
    size_t period = mt_period_of(all, s->group_n - 1);
    free(all);
    return proved(s, period);
}

/* Groups in a round; 0 = unknown. Work that differs makes optimizers of one name differ. What they
 * are called from, and when data is loaded, tells more where it is regular, and else nothing. */
static size_t groups_in_round(const struct rounds *s)
{
    uint64_t *keys = mt_alloc(s->group_n * sizeof *keys);
    add_names(s, keys);
    size_t named = proved(s, mt_period_of(keys, s->group_n)), period = 0;
    if (named) {
        period = period_with(s, keys, false, false);
        period = period ? period : named > 1 ? named : 0;
        for (int more = 0; more < 2 && period; more++) {
            size_t told = period_with(s, keys, more == 0, more == 1);
            period = told > period ? told : period;
        }
    }
    free(keys);
    return period;
}

size_t mt_rounds_find(const struct mt_recording *r, const struct mt_rounds_threads *threads,
                      const struct mt_turn *turns, size_t n, size_t *ends)
{
    struct rounds s = {.r = r, .turns = turns, .n = n};
    s.threads = threads ? *threads : (struct mt_rounds_threads){NULL, r->threads.n};
    size_t found = 0;
    if (!n)
        return 0;
    s.process = turns->process;
    s.work = r->without_ops ? WORK_RECORDS : has_backward(&s) ? WORK_BACKWARD : WORK_OPS;
    s.gaps = mt_alloc((n + 1) * sizeof *s.gaps);
    s.first = mt_alloc((n + 1) * sizeof *s.first);
    look_at_ops(&s);
    if (r->without_ops)
        look_at_records(&s);
    find_groups(&s);
    size_t round = groups_in_round(&s);
    for (size_t g = round; round && g <= s.group_n; g += round)
        ends[found++] = s.first[g] - 1;
    free(s.gaps);
    free(s.first);
    mt_map_free(&s.seen);
    return found;
}

void mt_rounds_list(const struct mt_recording *r, const struct mt_rounds_threads *threads,
                    const struct mt_turn *steps, size_t n, struct mt_round_list *out)
{
    MT_VEC(struct mt_turn) apart = {0};
    for (size_t i = 0; i < n; i++)
        if (!apart.n || steps[i].start_ns >= apart.v[apart.n - 1].end_ns)
            *mt_vec_push(&apart) = steps[i];
    size_t *ends = mt_alloc((apart.n + 1) * sizeof *ends);
    size_t told = mt_rounds_find(r, threads, apart.v, apart.n, ends);
    out->all.n = 0;
    for (size_t i = 0, first = 0; i < (told ? told : apart.n); i++) {
        size_t last = told ? ends[i] : i;
        *mt_vec_push(&out->all) = (struct mt_round){apart.v[first].start_ns, apart.v[last].end_ns};
        first = last + 1;
    }
    free(ends);
    mt_vec_free(&apart);
}
