/* lib/leaks.h: what made-up programs leak, with answers known beforehand. */
#include "lib/leaks.h"
#include "tests/unit/program.h"
#include <stdio.h>
#include <string.h>

enum { KEEP_MAX = 4096 };

/* One program: what it does in a step, and what must be said of the site `site`. */
struct known {
    const char *title;
    int steps;
    void (*step)(struct program *p, int step, int *kept);
    const char *site;
    enum mt_verdict verdict; /* MT_VERDICT_N: no row of a leak or candidate */
    int64_t growth_b, growth_steps, since;
};

static void linear(struct program *p, int step, int *kept)
{
    (void)step, (void)kept;
    program_alloc(p, "leak", 512);
}

static void second_step(struct program *p, int step, int *kept)
{
    (void)kept;
    if (step % 2)
        program_alloc(p, "leak", 100);
}

static void one_in_ten(struct program *p, int step, int *kept)
{
    (void)kept;
    if (step % 10 == 9)
        program_alloc(p, "leak", 1000);
}

/* Fills for five steps, then all is released. */
static void sawtooth(struct program *p, int step, int *kept)
{
    int n = step % 5;
    kept[n] = program_alloc(p, "leak", 64);
    for (int i = 0; n == 4 && i < 5; i++)
        program_free(p, kept[i]);
}

static void plateau(struct program *p, int step, int *kept)
{
    (void)kept;
    if (step < 5)
        program_alloc(p, "leak", 4096);
}

/* A large buffer goes away while small blocks stay. */
static void masked(struct program *p, int step, int *kept)
{
    if (step == 0)
        for (int i = 0; i < 20; i++)
            kept[i] = program_alloc(p, "buffer", 1 << 20);
    else if (step <= 20)
        program_free(p, kept[step - 1]);
    program_alloc(p, "leak", 8);
}

/* The last three results are kept. */
static void cache(struct program *p, int step, int *kept)
{
    if (step >= 3)
        program_free(p, kept[step % 3]);
    kept[step % 3] = program_alloc(p, "leak", 256);
}

/* At one site: a gradient that the next step replaces, and a block that stays. */
static void mixed(struct program *p, int step, int *kept)
{
    if (step)
        program_free(p, kept[0]);
    kept[0] = program_alloc(p, "leak", 7000);
    program_alloc(p, "leak", 16);
}

static void starts_late(struct program *p, int step, int *kept)
{
    (void)kept;
    int b = program_alloc(p, "leak", 32);
    if (step < 6)
        program_free(p, b);
}

static void growing_sizes(struct program *p, int step, int *kept)
{
    (void)kept;
    program_alloc(p, "leak", 100 + step);
}

static void other_thread(struct program *p, int step, int *kept)
{
    (void)step, (void)kept;
    program_alloc(p, "work", 8);
    program_thread(p, 2);
    program_alloc(p, "leak", 48);
    program_thread(p, 1);
}

static void state_and_leak(struct program *p, int step, int *kept)
{
    (void)kept;
    if (step == 0)
        program_alloc(p, "leak", 100000);
    program_alloc(p, "leak", 12);
}

static void state_only(struct program *p, int step, int *kept)
{
    (void)kept;
    if (step == 0)
        program_alloc(p, "leak", 100000);
}

static void lazily_built(struct program *p, int step, int *kept)
{
    (void)kept;
    if (step == 3 || step == 5)
        program_alloc(p, "leak", 12);
}

/* Three places; two are taken for good, late ones among them, and one goes from hand to hand. */
static void exchanged(struct program *p, int step, int *kept)
{
    if (step == 1 || step == 4 || step == 8) {
        program_alloc(p, "leak", 640);
        if (step == 8)
            program_free(p, kept[1]);
    } else if (step == 2)
        kept[1] = program_alloc(p, "leak", 640);
}

/* The results so far and those of the step, in one block that takes the place of the last. */
static void appended(struct program *p, int step, int *kept)
{
    int last = kept[0];
    kept[0] = program_alloc(p, "leak", 100 * (step + 1));
    if (step)
        program_free(p, last);
}

/* The same, but all is handed in after every fourth step. */
static void handed_in(struct program *p, int step, int *kept)
{
    int last = kept[0];
    kept[0] = program_alloc(p, "leak", 100 * (step % 4 + 1));
    if (step)
        program_free(p, last);
}

/* At one site: places that fill and are given up in turn, and a block that stays. */
static void beside_a_store(struct program *p, int step, int *kept)
{
    if (step >= 4)
        program_free(p, kept[step % 4]);
    kept[step % 4] = program_alloc(p, "leak", 16);
    program_alloc(p, "leak", 16);
}

static const struct known programs[] = {
    {"linear", 10, linear, "leak", MT_VERDICT_LEAK, 9 * 512, 9, 0},
    {"every second step", 20, second_step, "leak", MT_VERDICT_LEAK, 9 * 100, 18, 1},
    {"one step in ten", 40, one_in_ten, "leak", MT_VERDICT_LEAK, 3 * 1000, 30, 9},
    {"sawtooth, at its end", 20, sawtooth, "leak", MT_VERDICT_N, 0, 0, 0},
    {"sawtooth, in the rise", 24, sawtooth, "leak", MT_VERDICT_N, 0, 0, 0},
    {"plateau after warm-up", 20, plateau, "leak", MT_VERDICT_N, 0, 0, 0},
    {"masked by a larger release", 30, masked, "leak", MT_VERDICT_LEAK, 29 * 8, 29, 0},
    {"released buffer", 30, masked, "buffer", MT_VERDICT_N, 0, 0, 0},
    {"bounded cache", 12, cache, "leak", MT_VERDICT_N, 0, 0, 0},
    {"mixed with gradients", 10, mixed, "leak", MT_VERDICT_LEAK, 7 * 16, 7, 0},
    {"starts late", 12, starts_late, "leak", MT_VERDICT_LEAK, 4 * 32, 4, 6},
    {"growing sizes", 8, growing_sizes, "leak", MT_VERDICT_LEAK, 102 + 103 + 104 + 105 + 106 + 107,
     6, 1},
    {"another thread", 6, other_thread, "leak", MT_VERDICT_LEAK, 5 * 48, 5, 0},
    {"state at the same site", 6, state_and_leak, "leak", MT_VERDICT_LEAK, 5 * 12, 5, 0},
    {"state built in two steps", 30, lazily_built, "leak", MT_VERDICT_N, 0, 0, 0},
    {"too few steps", 3, second_step, "leak", MT_VERDICT_CANDIDATE, 0, 0, 1},
    {"too few steps, of the warm-up", 3, state_only, "leak", MT_VERDICT_CANDIDATE, 0, 0, 0},
    {"just enough steps, of the warm-up", 4, state_only, "leak", MT_VERDICT_N, 0, 0, 0},
    {"too few steps, of the last", 1, linear, "leak", MT_VERDICT_N, 0, 0, 0},
    {"full store", 12, exchanged, "leak", MT_VERDICT_N, 0, 0, 0},
    {"store not yet full", 6, exchanged, "leak", MT_VERDICT_LEAK, 1280, 3, 1},
    {"ever larger block", 12, appended, "leak", MT_VERDICT_CANDIDATE, 1000, 10, 11},
    {"ever larger, too few steps", 5, appended, "leak", MT_VERDICT_N, 0, 0, 0},
    {"larger for a while", 12, handed_in, "leak", MT_VERDICT_N, 0, 0, 0},
    {"beside a store", 20, beside_a_store, "leak", MT_VERDICT_LEAK, 14 * 16, 14, 0},
    {"two steps after the warm-up", 3, growing_sizes, "leak", MT_VERDICT_CANDIDATE, 102, 1, 0},
};

static void check(struct program *p, const struct known *k)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_leaks found;
    const enum mt_group_key key = MT_BY_SITE;
    int64_t at_end = 0;
    bool seen = false;
    assert_int_equal(mt_leaks_find(&p->lives, &p->device, &key, 1, 1, &found, &err), MT_OK);
    for (size_t i = 0; i < found.rows.n; i++) {
        const struct mt_leak *l = &found.rows.v[i];
        at_end += l->at_end_b;
        if (strcmp(l->key[0], k->site) != 0 || l->verdict > MT_VERDICT_CANDIDATE)
            continue;
        seen = true;
        assert_int_equal(l->verdict, k->verdict);
        assert_int_equal(l->growth_b, k->growth_b);
        assert_int_equal(l->growth_steps, k->growth_steps);
        assert_int_equal(l->first_step, k->since);
    }
    assert_int_equal(seen, k->verdict != MT_VERDICT_N);
    assert_int_equal(at_end, p->device.at_end_b);
    mt_leaks_free(&found);
}

static void known_answer(void **state)
{
    const struct known *k = *state;
    struct program p;
    int kept[KEEP_MAX] = {0};
    program_start(&p);
    for (int step = 0; step < k->steps; step++) {
        program_step(&p);
        k->step(&p, step, kept);
    }
    program_finish(&p);
    check(&p, k);
    program_end(&p);
}

/* A block older than the recording is no part of what was born outside ops. */
static void older_block(void **state)
{
    (void)state;
    struct program p;
    struct mt_leaks found;
    struct mt_err err = MT_ERR_INIT;
    const enum mt_group_key key = MT_BY_SITE;
    program_start(&p);
    program_older(&p, 4096, false);
    for (int step = 0; step < 4; step++) {
        program_step(&p);
        program_alloc(&p, "leak", 8);
    }
    program_finish(&p);
    assert_int_equal(mt_leaks_find(&p.lives, &p.device, &key, 1, 1, &found, &err), MT_OK);
    assert_int_equal(found.rows.n, 2);
    assert_string_equal(found.rows.v[1].key[0], "[before trace]");
    assert_true(found.rows.v[1].explicit_row);
    assert_int_equal(found.rows.v[1].at_end_b, 4096);
    assert_int_equal(found.rows.v[1].verdict, MT_VERDICT_STATE);
    mt_leaks_free(&found);
    program_end(&p);
}

int main(void)
{
    struct CMUnitTest tests[MT_ARRAY_LEN(programs) + 1] = {cmocka_unit_test(older_block)};
    for (size_t i = 0; i < MT_ARRAY_LEN(programs); i++)
        tests[i + 1] = (struct CMUnitTest){programs[i].title, known_answer, NULL, NULL,
                                           (void *)(uintptr_t)&programs[i]};
    return cmocka_run_group_tests_name("leaks", tests, NULL, NULL);
}
