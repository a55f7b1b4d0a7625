/* lib/analysis/leaks.h: what is found from the stored holdings and max_lifetime of nodes, against
 * what is found by reading every block. With one thread, adding it to the keys changes nothing but
 * the way. */
#include "lib/analysis/leaks.h"
#include "tests/unit/program.h"
#include "tests/unit/rows.h"
#include <string.h>

#define OK(call) assert_int_equal((call), MT_OK)

enum { STEP_NS = 20000, FIRST_NS = 5000, PER_STEP = 60, SITES = 5, WARMUPS = 5, SEEDS = 4 };

/* Where step i of n lies. */
struct pattern {
    const char *name;
    int steps;
    void (*place)(int i, int n, int64_t *start_ns, int64_t *end_ns);
    int older; /* blocks older than the recording, half of them freed in it */
    int lost;  /* one free in so many is seen by nobody; 0 = none */
};

static void touching(int i, int n, int64_t *start_ns, int64_t *end_ns)
{
    (void)n;
    *start_ns = FIRST_NS + (int64_t)i * STEP_NS;
    *end_ns = *start_ns + STEP_NS - 1;
}

static void meeting(int i, int n, int64_t *start_ns, int64_t *end_ns)
{
    touching(i, n, start_ns, end_ns);
    ++*end_ns;
}

static void with_gaps(int i, int n, int64_t *start_ns, int64_t *end_ns)
{
    touching(i, n, start_ns, end_ns);
    *end_ns -= i % 3 ? STEP_NS / 2 : STEP_NS - 1;
}

static void overlapping(int i, int n, int64_t *start_ns, int64_t *end_ns)
{
    touching(i, n, start_ns, end_ns);
    *end_ns += i % 2 ? STEP_NS / 2 : 3 * STEP_NS;
}

static void in_pairs(int i, int n, int64_t *start_ns, int64_t *end_ns)
{
    touching(i / 2 * 2, n, start_ns, end_ns);
    *end_ns += i % 2 ? STEP_NS : 0;
}

static void ending_early(int i, int n, int64_t *start_ns, int64_t *end_ns)
{
    touching(i, n, start_ns, end_ns);
    if (i == n - 1)
        *end_ns = *start_ns + STEP_NS / 4;
}

static void one_around_all(int i, int n, int64_t *start_ns, int64_t *end_ns)
{
    touching(i, n, start_ns, end_ns);
    if (i == 0)
        *end_ns = FIRST_NS + (int64_t)n * STEP_NS;
}

static void half_of_the_time(int i, int n, int64_t *start_ns, int64_t *end_ns)
{
    touching(i + n, n, start_ns, end_ns);
}

static const struct pattern patterns[] = {
    {"steps that touch", 12, touching, 0, 0},
    {"steps that share a moment", 12, meeting, 0, 0},
    {"steps with gaps", 12, with_gaps, 0, 0},
    {"steps that overlap", 12, overlapping, 0, 0},
    {"two steps that begin at once", 12, in_pairs, 0, 0},
    {"records after the last step", 12, ending_early, 0, 0},
    {"a step around all others", 12, one_around_all, 0, 0},
    {"records before the first step", 10, half_of_the_time, 0, 0},
    {"older blocks", 12, touching, 80, 0},
    {"older blocks and gaps", 12, with_gaps, 80, 0},
    {"older blocks before the first step", 10, half_of_the_time, 80, 0},
    {"frees that nobody saw", 12, touching, 0, 2},
    {"few of those, and gaps", 30, with_gaps, 20, 40},
    {"many steps", 60, touching, 0, 0},
    {"three steps", 3, touching, 20, 0},
    {"one step", 1, touching, 20, 0},
    {"no step", 0, touching, 20, 0},
};

struct maker {
    struct program p;
    uint64_t random;
    MT_VEC(struct to_free {
        int block;
        int64_t step;
    })
    to_free;
    MT_VEC(int) lost; /* whose memory may come back */
    int lose_in;
};

static int64_t below(struct maker *m, int64_t n)
{
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((m->random >> 33) % (uint64_t)n);
}

/* Each site has a habit: temporary blocks, blocks that live long, more and more of them, caches. */
static void allocate(struct maker *m, int64_t step)
{
    static const char *const sites[SITES] = {"leaking", "working", "caching", "growing", NULL};
    int64_t site = below(m, SITES);
    program_thread(&m->p, 1 + below(m, 2));
    if (m->lost.n && below(m, 2))
        program_lose(&m->p, m->lost.v[--m->lost.n]);
    int64_t life = site == 2 ? 2 + below(m, 3) : site == 3 ? 1 : below(m, 8) ? 0 : below(m, 6);
    int block = program_alloc(&m->p, sites[site], 64 * (1 + below(m, 3)) + (site == 3 ? step : 0));
    if (site == 0 && below(m, 4) == 0)
        return;
    *mt_vec_push(&m->to_free) = (struct to_free){block, step + life};
}

static void free_some(struct maker *m, int64_t step)
{
    size_t n = 0;
    for (size_t i = 0; i < m->to_free.n; i++)
        if (m->to_free.v[i].step <= step && below(m, 3)) {
            if (m->lose_in && below(m, m->lose_in) == 0)
                *mt_vec_push(&m->lost) = m->to_free.v[i].block;
            else
                program_free(&m->p, m->to_free.v[i].block);
        } else
            m->to_free.v[n++] = m->to_free.v[i];
    m->to_free.n = n;
}

/* Blocks that are allocated and freed just when a step begins or ends, or one nanosecond beside. */
static void at_borders(struct maker *m, int64_t start_ns, int64_t end_ns)
{
    for (int64_t by = -1; by <= 1; by++) {
        m->p.t_ns = start_ns + by - 2;
        int block = program_alloc(&m->p, "at a border", 64);
        m->p.t_ns = end_ns + by - 1;
        program_free(&m->p, block);
        m->p.t_ns = end_ns + by - 2;
        program_alloc(&m->p, "behind a border", 64);
    }
}

static void make(struct maker *m, const struct pattern *pattern, uint64_t seed)
{
    int64_t start_ns, end_ns, last = pattern->steps ? 2 * pattern->steps : 4;
    *m = (struct maker){.random = seed, .lose_in = pattern->lost};
    program_start(&m->p);
    for (int i = 0; i < pattern->steps; i++) {
        pattern->place(i, pattern->steps, &start_ns, &end_ns);
        program_step_at(&m->p, start_ns, end_ns);
        at_borders(m, start_ns, end_ns);
    }
    for (int i = 0; i < pattern->older / 2; i++)
        program_older(&m->p, 64 * (1 + below(m, 3)), false);
    for (int64_t step = -1; step <= last; step++) {
        m->p.t_ns = FIRST_NS + step * STEP_NS;
        for (int i = 0; i < PER_STEP; i++) {
            allocate(m, step);
            m->p.t_ns += below(m, STEP_NS / PER_STEP / 4);
            if (below(m, 4) == 0)
                free_some(m, step);
            if (pattern->older && below(m, last * PER_STEP) < pattern->older / 2)
                program_older(&m->p, 64 * (1 + below(m, 3)), true);
        }
    }
    program_finish(&m->p);
}

static void same_row(const struct mt_leak *a, const struct mt_leak *b)
{
    assert_int_equal(a->verdict, b->verdict);
    assert_string_equal(a->key[0], b->key[0]);
    assert_int_equal(a->explicit_row, b->explicit_row);
    assert_int_equal(a->at_end_b, b->at_end_b);
    assert_int_equal(a->at_end_n, b->at_end_n);
    assert_int_equal(a->doubt_b, b->doubt_b);
    assert_int_equal(a->first_step, b->first_step);
    assert_int_equal(a->last_step, b->last_step);
    assert_int_equal(a->growth_b, b->growth_b);
    assert_int_equal(a->growth_n, b->growth_n);
    assert_int_equal(a->growth_steps, b->growth_steps);
}

/* Returns which verdicts were given, a bit each. */
static unsigned compare(struct program *p, enum mt_group_key key, int64_t warmup)
{
    const enum mt_group_key keys[] = {key, MT_BY_SHAPE};
    struct mt_err err = MT_ERR_INIT;
    struct mt_leaks stored, read;
    int64_t at_end_b = 0;
    unsigned verdicts = 0;
    OK(mt_leaks_find(&p->lives, &p->device, keys, 1, warmup, &stored, &err));
    OK(mt_leaks_find(&p->lives, &p->device, keys, 2, warmup, &read, &err));
    assert_int_equal(stored.rows.n, read.rows.n);
    for (size_t i = 0; i < stored.rows.n; i++) {
        same_row(&stored.rows.v[i], &read.rows.v[i]);
        at_end_b += stored.rows.v[i].at_end_b;
        verdicts |= 1u << stored.rows.v[i].verdict;
    }
    assert_int_equal(at_end_b, p->device.at_end_b);
    mt_leaks_free(&stored);
    mt_leaks_free(&read);
    return verdicts;
}

/* What each node holds at the end of each step: node * steps + step; the last node is outside ops.
 */
struct held {
    struct program *p;
    int64_t *bytes, *blocks_n;
    size_t cell_n;
};

/* The step under way, or last begun; the number of steps after the end of the last. */
static int64_t step_of(const struct mt_steps *steps, int64_t t_ns)
{
    int64_t n = (int64_t)steps->all.n, step = -1;
    for (int64_t i = 0; i < n; i++)
        if (steps->all.v[i].start_ns <= t_ns)
            step = i;
    return step >= 0 && step == n - 1 && t_ns >= mt_steps_until(steps, (size_t)step) ? n : step;
}

static enum mt_status hold(void *closure, const struct mt_allocation *life, struct mt_err *err)
{
    struct held *h = closure;
    const struct mt_allocations *l = &h->p->lives;
    bool alive = life->freed_record == INT64_MAX;
    size_t step_n = l->steps.all.n;
    size_t node = life->origin.node == MT_NONE ? l->tree.nodes.n : life->origin.node;
    int64_t freed = alive ? (int64_t)step_n : step_of(&l->steps, life->freed_ns);
    (void)err;
    if (life->alloc_record == INT64_MIN) /* no site of the recording holds it */
        return MT_OK;
    int64_t origin = step_of(&l->steps, life->alloc_ns);
    for (int64_t step = origin < 0 ? 0 : origin; step < freed; step++) {
        h->bytes[node * step_n + (size_t)step] += life->bytes;
        h->blocks_n[node * step_n + (size_t)step]++;
    }
    return MT_OK;
}

/* Takes off what is stored, which changes from step to step: nothing may be left. */
static void check_holdings(struct program *p)
{
    struct mt_err err = MT_ERR_INIT;
    const struct mt_history *stored = &p->rec.history;
    size_t step_n = p->lives.steps.all.n;
    struct held h = {.p = p, .cell_n = (p->lives.tree.nodes.n + 1) * step_n};
    h.bytes = mt_alloc((h.cell_n + 1) * sizeof *h.bytes);
    h.blocks_n = mt_alloc((h.cell_n + 1) * sizeof *h.blocks_n);
    OK(mt_allocations_each(&p->lives, &p->device, hold, &h, &err));
    for (size_t i = 0; i < stored->holdings.all.n; i++) {
        const struct mt_retained_change *change = &stored->holdings.all.v[i];
        uint32_t site = stored->sites.v[change->site].node;
        size_t node = site == MT_NONE ? p->lives.tree.nodes.n : site;
        for (size_t step = (size_t)change->step; step < step_n; step++) {
            h.bytes[node * step_n + step] -= change->bytes;
            h.blocks_n[node * step_n + step] -= change->blocks_n;
        }
    }
    for (size_t i = 0; i < h.cell_n; i++)
        assert_true(h.bytes[i] == 0 && h.blocks_n[i] == 0);
    free(h.bytes);
    free(h.blocks_n);
}

static unsigned seen; /* verdicts of all programs */

static void stored_and_read(void **state)
{
    static const enum mt_group_key keys[] = {MT_BY_SITE, MT_BY_NAME, MT_BY_PATH, MT_BY_SCOPE};
    const struct pattern *pattern = *state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct maker m;
        make(&m, pattern, seed);
        assert_int_equal(m.p.lives.steps.all.n, pattern->steps);
        for (int64_t warmup = 0; warmup < WARMUPS; warmup++)
            for (size_t k = 0; k < MT_ARRAY_LEN(keys); k++)
                seen |= compare(&m.p, keys[k], warmup);
        check_holdings(&m.p);
        const struct mt_history *h = &m.p.rec.history;
        size_t steps = (size_t)pattern->steps;
        assert_true(h->holdings.all.n <= h->sites.n * (steps + 1));
        assert_true(h->max_lifetime.n <= h->sites.n * steps &&
                    (h->max_lifetime.n > 0 || steps < 2));
        program_end(&m.p);
        mt_vec_free(&m.to_free);
        mt_vec_free(&m.lost);
    }
}

/* The programs above are such that every verdict is given: none of them is compared in vain. */
static void all_verdicts(void **state)
{
    (void)state;
    assert_int_equal(seen, (1u << MT_VERDICT_N) - 1);
}

int main(void)
{
    static struct row_tests tests;
    static const char *const last = "every verdict was given";
    ROWS_ADD(&tests, stored_and_read, patterns);
    rows_add(&tests, all_verdicts, &last, 1, sizeof last);
    return ROWS_RUN(&tests, "leaks from what is stored");
}
