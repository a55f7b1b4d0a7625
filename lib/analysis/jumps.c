#include "lib/analysis/jumps.h"

#include <stdlib.h>

enum { BUCKETS = 200, WIDE = 4, LEAST = 1 << 20, KEPT_SHARE = 20, STEADY = 4, SPIKE_SHARE = 10 };

struct part {
    const struct mt_level *v;
    size_t n;
    int64_t *floor; /* the least from each on */
    int64_t from_ns, to_ns;
    size_t bucket_n;
    struct mt_jumps *out;
};

static void add(struct mt_jumps *out, enum mt_jump_kind kind, int64_t t, int64_t bytes)
{
    *mt_vec_push(&out->all) = (struct mt_jump){kind, t, bytes};
}

/* ---- jumps ---- */

/* What is kept at the end of a bucket of the time; *at: the first level behind it. */
static int64_t kept_after(const struct part *p, size_t bucket, size_t *at)
{
    double share = (double)(bucket + 1) / (double)p->bucket_n;
    int64_t until = p->from_ns + (int64_t)((double)(p->to_ns - p->from_ns) * share);
    while (*at < p->n && (p->v[*at].t_ns <= until || bucket + 1 == p->bucket_n))
        ++*at;
    return p->floor[*at ? *at - 1 : 0];
}

/* The time of the largest rise among the levels from..to. */
static int64_t steepest(const struct part *p, size_t from, size_t to)
{
    size_t best = from;
    for (size_t i = from; i < to; i++)
        if (i && (!best || p->floor[i] - p->floor[i - 1] > p->floor[best] - p->floor[best - 1]))
            best = i;
    return p->v[best].t_ns;
}

static void find_jumps(const struct part *p)
{
    const size_t n = p->bucket_n;
    int64_t kept = p->floor[p->n - 1] - p->floor[0], least = LEAST;
    least = kept / KEPT_SHARE > least ? kept / KEPT_SHARE : least;
    least = kept * STEADY / (int64_t)n > least ? kept * STEADY / (int64_t)n : least;
    int64_t before = p->floor[0], rise = 0;
    size_t at = 0, begun = 0, wide = 0;
    for (size_t b = 0; b <= n; b++) {
        size_t was = at;
        int64_t now = b < n ? kept_after(p, b, &at) : before;
        bool rises = now - before >= least / 2;
        if (rises && !wide++)
            begun = was;
        rise += rises ? now - before : 0;
        if (!rises) {
            if (wide && wide <= WIDE && rise >= least)
                add(p->out, MT_JUMP, steepest(p, begun, was), rise);
            rise = 0;
            wide = 0;
        }
        before = now;
    }
}

/* ---- spikes ---- */

static bool is_above(const struct part *p, size_t i, int share)
{
    int64_t least = p->floor[i] / (SPIKE_SHARE * share);
    return p->v[i].level_b - p->floor[i] >= (least > LEAST / share ? least : LEAST / share);
}

/* From a level that stands out as long as it is half as far above what follows. */
static void find_spikes(const struct part *p)
{
    for (size_t i = 0; i < p->n; i++) {
        if (!is_above(p, i, 1))
            continue;
        size_t first = i, top = i;
        while (first && is_above(p, first - 1, 2))
            first--;
        for (; i < p->n && is_above(p, i, 2); i++)
            if (p->v[i].level_b - p->floor[i] > p->v[top].level_b - p->floor[top])
                top = i;
        int64_t end = i < p->n ? p->v[i].t_ns : p->to_ns;
        if ((end - p->v[first].t_ns) * KEPT_SHARE <= p->to_ns - p->from_ns)
            add(p->out, MT_SPIKE, p->v[top].t_ns, p->v[top].level_b - p->floor[top]);
    }
}

static int jump_cmp(const void *a, const void *b)
{
    const struct mt_jump *x = a, *y = b;
    return x->t_ns != y->t_ns ? (x->t_ns < y->t_ns ? -1 : 1) : (int)x->kind - (int)y->kind;
}

/* What the window begins with, and its changes. A peak that the system told stands behind the level
 * that was seen with it: it was before that. */
static struct mt_level *levels_of(const struct mt_levels *l, const struct mt_window *w, size_t *n)
{
    int64_t first = mt_levels_at(l, w->from_ns), last = mt_levels_before(l, w->to_ns);
    struct mt_level *v = mt_alloc((last > first ? (size_t)(last - first) + 1 : 1) * sizeof *v);
    v[0] = (struct mt_level){w->from_ns, mt_levels_value(l, first), 0};
    *n = 1;
    for (int64_t i = first + 1; i <= last; i++) {
        const struct mt_level *next = &l->all.v[i];
        bool peak = next->t_ns == v[*n - 1].t_ns && next->level_b > v[*n - 1].level_b;
        *n -= peak && *n > 1;
        v[(*n)++] = *next;
    }
    return v;
}

void mt_jumps_find(const struct mt_levels *l, const struct mt_window *w, double look_ns,
                   struct mt_jumps *out)
{
    struct part p = {.from_ns = w->from_ns, .to_ns = w->to_ns, .out = out};
    double looks =
        w->to_ns > w->from_ns && look_ns > 0 ? (double)(w->to_ns - w->from_ns) / look_ns : 0;
    *out = (struct mt_jumps){0};
    if (looks < 2)
        return;
    p.bucket_n = looks < BUCKETS ? (size_t)looks : BUCKETS;
    struct mt_level *v = levels_of(l, w, &p.n);
    p.v = v;
    p.floor = mt_alloc(p.n * sizeof *p.floor);
    p.floor[p.n - 1] = p.v[p.n - 1].level_b;
    for (size_t i = p.n - 1; i-- > 0;)
        p.floor[i] = p.v[i].level_b < p.floor[i + 1] ? p.v[i].level_b : p.floor[i + 1];
    find_jumps(&p);
    find_spikes(&p);
    free(p.floor);
    free(v);
    if (out->all.n)
        qsort(out->all.v, out->all.n, sizeof *out->all.v, jump_cmp);
}

void mt_jumps_free(struct mt_jumps *j)
{
    mt_vec_free(&j->all);
}
