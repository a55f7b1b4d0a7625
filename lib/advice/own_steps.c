#include "lib/advice/own_steps.h"

#include "lib/base/hash.h"
#include "lib/base/map.h"
#include "lib/base/period.h"
#include <stdlib.h>
#include <string.h>

static void add_step(struct mt_steps *out, int64_t start_ns, int64_t end_ns)
{
    const int64_t number = (int64_t)out->all.n;
    *mt_vec_push(&out->all) = (struct mt_step){number, start_ns, end_ns};
}

/* ---- ProfilerStep#N ---- */

/* The last moment at which an op of the process runs. */
static int64_t last_work(const struct mt_advice_facts *f)
{
    int64_t last = INT64_MIN;
    for (uint32_t i = 0; i < f->ops.n; i++)
        if (f->ops.v[i].top == i && f->ops.v[i].end_ns > last)
            last = f->ops.v[i].end_ns;
    return last;
}

/* A step lasts until the next one; prof.step() after the last batch begins one that is none. */
static void add_numbered(const struct mt_advice_facts *f, struct mt_steps *out)
{
    MT_VEC(uint32_t) marks = {0};
    int64_t last = last_work(f);
    for (uint32_t i = 0; i < f->ops.n; i++)
        if (strcmp(mt_advice_name(f, i), "ProfilerStep*") == 0)
            *mt_vec_push(&marks) = i;
    mt_advice_sort(f, marks.v, marks.n);
    for (size_t i = 0; i < marks.n && f->ops.v[marks.v[i]].start_ns < last; i++) {
        const struct mt_advice_op *op = &f->ops.v[marks.v[i]];
        int64_t next = i + 1 < marks.n ? f->ops.v[marks.v[i + 1]].start_ns : op->end_ns;
        add_step(out, op->start_ns, op->end_ns < next ? op->end_ns : next);
    }
    mt_vec_free(&marks);
}

/* ---- optimizers ---- */

/* Optimizers' steps without a backward pass between them; `did` is a hash of what was run backward
 * before them, and of their names. */
struct group {
    int64_t end_ns;
    uint64_t did;
};

/* What ran backward in a time, each name once. */
static uint64_t did_between(const struct mt_advice_facts *f, int64_t from_ns, int64_t to_ns)
{
    struct mt_map seen = {0};
    uint64_t did = 0;
    for (size_t i = mt_advice_first_since(f, f->links.v, f->links.n, from_ns);
         i < f->links.n && f->ops.v[f->links.v[i]].start_ns < to_ns; i++) {
        uint32_t frame = f->tree->nodes.v[f->ops.v[f->links.v[i]].node].frame;
        uint32_t *at = mt_map_at(&seen, frame);
        did += *at == MT_MAP_NONE ? mt_hash_short(1, &frame, sizeof frame) : 0;
        *at = 1;
    }
    mt_map_free(&seen);
    return did;
}

/* Whether a backward pass begins in a time. */
static bool runs_backward(const struct mt_advice_facts *f, int64_t from_ns, int64_t to_ns)
{
    for (size_t i = 0; i < f->backwards.n; i++)
        if (f->backwards.v[i].start_ns >= from_ns && f->backwards.v[i].start_ns < to_ns)
            return true;
    return false;
}

/* Groups, n of them; allocated. */
static struct group *find_groups(const struct mt_advice_facts *f, size_t *n)
{
    struct group *v = mt_alloc((f->optimizers.n + 1) * sizeof *v);
    int64_t before = INT64_MIN;
    *n = 0;
    for (size_t i = 0; i < f->optimizers.n; i++) {
        const struct mt_advice_op *op = &f->ops.v[f->optimizers.v[i]];
        uint32_t frame = f->tree->nodes.v[op->node].frame;
        if (f->optimizers.v[i] != op->optimizer)
            continue;
        if (!*n || runs_backward(f, before, op->end_ns)) /* a closure does so in the step */
            v[(*n)++].did = did_between(f, before, op->end_ns);
        v[*n - 1].did += mt_hash_short(2, &frame, sizeof frame);
        v[*n - 1].end_ns = op->end_ns > v[*n - 1].end_ns ? op->end_ns : v[*n - 1].end_ns;
        before = op->end_ns;
    }
    return v;
}

/* Groups in a round; 0: they never repeat. Before the first, a recording that begins in the middle
 * has less. */
static size_t groups_in_round(const struct group *v, size_t n)
{
    uint64_t *keys = mt_alloc((n + 1) * sizeof *keys);
    for (size_t i = 1; i < n; i++)
        keys[i - 1] = v[i].did;
    size_t period = mt_period_of(keys, n ? n - 1 : 0);
    free(keys);
    return period == 1 || 2 * period <= n ? period : 0;
}

static void add_rounds(const struct mt_advice_facts *f, struct mt_steps *out)
{
    size_t n;
    struct group *v = find_groups(f, &n);
    size_t round = groups_in_round(v, n);
    int64_t start = 0;
    for (size_t end = round; round && end <= n; end += round) {
        add_step(out, start, v[end - 1].end_ns);
        start = v[end - 1].end_ns;
    }
    free(v);
}

void mt_advice_find_steps(const struct mt_advice_facts *part, struct mt_steps *out)
{
    *out = (struct mt_steps){.dur_ns = part->run->dur_ns};
    add_numbered(part, out);
    if (!out->all.n)
        add_rounds(part, out);
}
