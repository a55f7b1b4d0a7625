/* Where the steps of a loop begin and end. */
#include "lib/base/pattern.h"
#include "lib/base/search.h"
#include "lib/build/build.h"
#include "lib/build/rounds.h"

#include <stdlib.h>
#include <string.h>

static const char numbered_name[] = "ProfilerStep#", optimizer_name[] = MT_STEPS_OF_OPTIMIZERS;

/* The intervals of chosen ops. */
struct markers {
    MT_VEC(struct mt_turn) all;
    bool *loops; /* of each process: it has some */
};

static const char *recorded_name(const struct mt_recording *r, uint32_t label)
{
    return mt_strtab_get(&r->strings, r->labels.v[label].recorded);
}

static bool is_annotation(const struct mt_recording *r, uint32_t label, const char *prefix)
{
    return r->frames.v[r->labels.v[label].frame].kind == MT_FRAME_ANNOTATION &&
           strncmp(recorded_name(r, label), prefix, strlen(prefix)) == 0;
}

static bool choose_prefix(const struct mt_recording *r, const char *prefix, bool *chosen)
{
    bool any = false;
    for (uint32_t i = 0; i < r->labels.n; i++) {
        chosen[i] = is_annotation(r, i, prefix);
        any |= chosen[i];
    }
    return any;
}

static enum mt_status choose_regex(const struct mt_recording *r, const char *marker, bool *chosen,
                                   struct mt_err *err)
{
    regex_t re;
    MT_TRY(mt_pattern(&re, "--step-marker", marker, err));
    for (uint32_t i = 0; i < r->labels.n; i++)
        chosen[i] = regexec(&re, recorded_name(r, i), 0, NULL, 0) == 0;
    regfree(&re);
    return MT_OK;
}

static bool only_optimizers(const struct mt_recording *r, const bool *chosen)
{
    for (uint32_t i = 0; i < r->labels.n; i++)
        if (chosen[i] && !is_annotation(r, i, optimizer_name))
            return false;
    return true;
}

/* ---- intervals that neither overlap nor lie in each other ---- */

/* Process by process; the outer one of two that begin together comes first. */
static int marker_cmp(const void *a, const void *b)
{
    const struct mt_turn *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void collect(const struct mt_recording *r, const bool *chosen, struct markers *out)
{
    for (uint32_t t = 0; t < r->threads.n; t++) {
        const struct mt_thread *thread = &r->threads.v[t];
        for (size_t i = 0; i < thread->ops.n; i++) {
            const struct mt_op *op = &thread->ops.v[i];
            if (!chosen[op->label])
                continue;
            *mt_vec_push(&out->all) =
                (struct mt_turn){op->start_ns, op->end_ns, op->label, t, thread->process, op->node};
            out->loops[thread->process] = true;
        }
    }
    if (out->all.n)
        qsort(out->all.v, out->all.n, sizeof *out->all.v, marker_cmp);
}

/* Puts markers of one process that begin in others, or with them, together with those; how many are
 * left. Of numbered steps the next one ends the one before, as prof.step() does. */
static size_t make_disjoint(bool numbered, struct mt_turn *v, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const struct mt_turn at = v[i];
        struct mt_turn *last = kept ? &v[kept - 1] : NULL;
        bool apart = !last || (at.start_ns >= last->end_ns && at.start_ns > last->start_ns);
        if (!apart && numbered && at.label != last->label) {
            last->end_ns = at.start_ns;
            apart = true;
        }
        if (apart)
            v[kept++] = at;
        else if (at.end_ns > last->end_ns)
            last->end_ns = at.end_ns;
    }
    return kept;
}

/* ---- those of several processes ---- */

/* An op, or a call that starts something on an accelerator: profilers wait for it when they stop.
 * No marker, scope or Python function, for a loop that ends leaves some of them. */
static bool is_work(const struct mt_recording *r, const struct mt_op *op, const bool *chosen)
{
    switch (r->frames.v[r->labels.v[op->label].frame].kind) {
    case MT_FRAME_OP:
    case MT_FRAME_OTHER:
        return !chosen[op->label];
    case MT_FRAME_RUNTIME:
        return !strstr(recorded_name(r, op->label), "Synchronize");
    default:
        return false;
    }
}

/* A border of a step: when the first of the processes gets there, and the last. */
struct border {
    int64_t first_ns, last_ns;
};

static void widen(struct border *b, int64_t t_ns)
{
    b->first_ns = t_ns < b->first_ns ? t_ns : b->first_ns;
    b->last_ns = t_ns > b->last_ns ? t_ns : b->last_ns;
}

/* Adds the markers of a process to the borders, two of each; false: they are others than `own`,
 * those of the first. only_ends: where they begin does not matter. */
static bool add_borders(struct border *b, const struct mt_turn *own, const struct mt_turn *v,
                        size_t n, bool only_ends)
{
    for (size_t i = 0; i < n; i++) {
        int64_t start_ns = only_ends ? v[i].end_ns : v[i].start_ns;
        if (v[i].label != own[i].label)
            return false;
        if (v == own) {
            b[2 * i] = (struct border){start_ns, start_ns};
            b[2 * i + 1] = (struct border){v[i].end_ns, v[i].end_ns};
        }
        widen(&b[2 * i], start_ns);
        widen(&b[2 * i + 1], v[i].end_ns);
    }
    return true;
}

/* Whether it matters to that moment whose borders count. They are in order of both their times. */
static bool is_between(const struct border *b, size_t n, int64_t t_ns)
{
    size_t begun = n ? mt_count_up_to(&b->first_ns, n, sizeof *b, t_ns) : 0;
    return begun && t_ns < b[begun - 1].last_ns;
}

static bool any_between(const struct mt_recording *r, const bool *chosen, const struct border *b,
                        size_t n)
{
    for (size_t i = 0; i < r->records.n; i++)
        if (is_between(b, n, r->records.v[i].t_ns))
            return true;
    for (size_t t = 0; t < r->threads.n; t++)
        for (size_t i = 0; i < r->threads.v[t].ops.n; i++) {
            const struct mt_op *op = &r->threads.v[t].ops.v[i];
            if (is_work(r, op, chosen) && is_between(b, n, op->start_ns))
                return true;
        }
    return false;
}

/* Processes without numbered steps in which optimizers step, which nobody asked for. */
static size_t other_loops(const struct mt_recording *r, const struct markers *m)
{
    bool *steps = mt_alloc((r->labels.n + 1) * sizeof *steps);
    bool *counted = mt_alloc((r->process_keys.n + 1) * sizeof *counted);
    bool any = choose_prefix(r, optimizer_name, steps);
    size_t n = 0;
    for (size_t t = 0; any && t < r->threads.n; t++) {
        const struct mt_thread *thread = &r->threads.v[t];
        bool asked = m->loops[thread->process];
        for (size_t i = 0; i < thread->ops.n && !asked && !counted[thread->process]; i++)
            if (steps[thread->ops.v[i].label]) {
                counted[thread->process] = true;
                n++;
            }
    }
    free(steps);
    free(counted);
    return n;
}

/* Leaves the markers of one process, if those of all others mean the same; else none: the steps of
 * one loop say nothing of another. */
static void make_one_sequence(struct mt_recording *r, const bool *chosen, const char *from,
                              struct markers *m)
{
    bool numbered = from == numbered_name, same = true, only_ends = only_optimizers(r, chosen);
    size_t n = 0, merged_n = 0, loop_n = 0;
    struct border *borders = mt_alloc((2 * m->all.n + 1) * sizeof *borders);
    for (size_t first = 0, end; first < m->all.n; first = end) {
        struct mt_turn *v = m->all.v;
        for (end = first; end < m->all.n && v[end].process == v[first].process;)
            end++;
        size_t kept = make_disjoint(numbered, &v[first], end - first);
        if (!loop_n++) {
            n = kept;
            merged_n = end - first - kept;
        }
        same = same && kept == n && add_borders(borders, v, &v[first], n, only_ends);
    }
    size_t other_n = numbered ? other_loops(r, m) : 0;
    m->all.n = n;
    same = same && !other_n && (loop_n < 2 || !any_between(r, chosen, borders, 2 * n));
    if (!same) {
        mt_rec_note_n(r, MT_NOTE_STEPS_APART, loop_n + other_n, -1);
        m->all.n = 0;
    } else if (merged_n)
        mt_rec_note_n(r, MT_NOTE_STEPS_MERGED, merged_n, -1);
    free(borders);
}

/* ---- steps of them ---- */

static void add_step(struct mt_recording *r, int64_t number, int64_t start_ns, int64_t end_ns)
{
    *mt_vec_push(&r->steps) = (struct mt_step){number, start_ns, end_ns};
}

/* N of ProfilerStep#N; -1: it is no number, or none that steps reach. */
static int64_t number_of(const struct mt_recording *r, const struct mt_turn *t)
{
    const int64_t most = INT64_MAX / 2;
    const char *digits = recorded_name(r, t->label) + sizeof numbered_name - 1;
    char *end;
    int64_t n = strtoll(digits, &end, 10); /* INT64_MAX where it is too large */
    return *digits >= '0' && *digits <= '9' && !*end && n < most ? n : -1;
}

/* Numbers rise, so that each means one step: one that does not, as where two recordings were put
 * together, becomes the next one. */
static void add_numbered(struct mt_recording *r, const struct markers *m)
{
    int64_t least = 0;
    for (size_t i = 0; i < m->all.n; i++) {
        const struct mt_turn *t = &m->all.v[i];
        int64_t number = number_of(r, t);
        if (number < least) {
            number = least;
            mt_rec_note(r, MT_NOTE_STEPS_NUMBER, -1, 0);
        }
        add_step(r, number, t->start_ns, t->end_ns);
        least = number + 1;
    }
}

static void add_intervals(struct mt_recording *r, const struct markers *m)
{
    for (size_t i = 0; i < m->all.n; i++)
        add_step(r, (int64_t)i, m->all.v[i].start_ns, m->all.v[i].end_ns);
}

/* Steps from the end of one to the end of the next. */
static void add_ends(struct mt_recording *r, const struct markers *m, const size_t *ends, size_t n)
{
    int64_t start = r->start_ns;
    for (size_t i = 0; i < n; i++) {
        int64_t end = m->all.v[ends ? ends[i] : i].end_ns;
        add_step(r, (int64_t)i, start, end);
        start = end;
    }
}

static void add_rounds(struct mt_recording *r, const struct markers *m)
{
    size_t *ends = mt_alloc((m->all.n + 1) * sizeof *ends);
    size_t n = mt_rounds_find(r, NULL, m->all.v, m->all.n, ends);
    add_ends(r, m, ends, n);
    free(ends);
    if (n == m->all.n)
        return;
    enum mt_note_kind kind = n ? MT_NOTE_STEPS_ROUNDS : MT_NOTE_STEPS_UNKNOWN;
    mt_rec_note_n(r, kind, m->all.n, -1);
    mt_rec_note_detail(r, kind, "%zu", n);
}

/* ---- steps at the end in which nothing happened ---- */

/* *busy: the last step known to have any; that which lies in start..end may make it a later one. */
static void add_work(const struct mt_recording *r, int64_t start_ns, int64_t end_ns, int64_t *busy)
{
    const struct mt_step *v = r->steps.v;
    int64_t n = (int64_t)r->steps.n;
    if (*busy + 1 >= n || end_ns < v[*busy + 1].start_ns)
        return;
    int64_t at = mt_step_begun(v, (size_t)n, end_ns);
    if (start_ns < v[at].end_ns || v[at].end_ns >= r->end_ns)
        *busy = at;
}

/* The last step that an op of its process ran in, or a block was allocated; -1 = none. */
static int64_t last_busy(const struct mt_recording *r, const bool *chosen, const bool *loops)
{
    int64_t busy = -1;
    for (uint32_t t = 0; t < r->threads.n; t++)
        for (size_t i = r->threads.v[t].ops.n; i-- > 0 && loops[r->threads.v[t].process];) {
            const struct mt_op *op = &r->threads.v[t].ops.v[i];
            int64_t last_ns = op->end_ns > op->start_ns ? op->end_ns - 1 : op->start_ns;
            if (is_work(r, op, chosen))
                add_work(r, op->start_ns, last_ns, &busy);
        }
    for (size_t i = r->records.n; i-- > 0;) {
        const struct mt_record *rec = &r->records.v[i];
        if (rec->bytes >= 0 && loops[r->threads.v[rec->thread].process])
            add_work(r, rec->t_ns, rec->t_ns, &busy);
    }
    return busy;
}

/* prof.step() after the last batch begins a step that nothing happens in, as does the marker of a
 * loop that finds no more batches: what is freed there is freed behind the last step. Where no step
 * has any work, the recording does not know of work. */
static void drop_idle_end(struct mt_recording *r, const bool *chosen, const bool *loops)
{
    size_t n = (size_t)(last_busy(r, chosen, loops) + 1);
    if (!n || n == r->steps.n)
        return;
    mt_rec_note_n(r, MT_NOTE_STEPS_IDLE, r->steps.n - n, -1);
    r->steps.n = n;
}

enum mt_status mt_build_steps(struct mt_recording *r, const char *step_marker, struct mt_err *err)
{
    bool *chosen = mt_alloc((r->labels.n + 1) * sizeof *chosen);
    struct markers m = {.loops = mt_alloc((r->process_keys.n + 1) * sizeof *m.loops)};
    const char *from = step_marker;
    enum mt_status st = MT_OK;
    if (step_marker)
        MT_TRY_OUT(choose_regex(r, step_marker, chosen, err));
    else if (choose_prefix(r, numbered_name, chosen))
        from = numbered_name;
    else if (choose_prefix(r, optimizer_name, chosen))
        from = optimizer_name;
    collect(r, chosen, &m);
    make_one_sequence(r, chosen, from, &m);
    if (from == optimizer_name)
        add_rounds(r, &m);
    else if (only_optimizers(r, chosen))
        add_ends(r, &m, NULL, m.all.n);
    else {
        if (from == numbered_name)
            add_numbered(r, &m);
        else
            add_intervals(r, &m);
        drop_idle_end(r, chosen, m.loops);
    }
    r->step_marker = r->steps.n || step_marker ? from : NULL;
out:
    mt_vec_free(&m.all);
    free(m.loops);
    free(chosen);
    return st;
}
