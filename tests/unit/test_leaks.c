/* lib/analysis/leaks.h: what made-up programs leak whose sites grow, with answers known beforehand.
 * Of those whose blocks come and go, test_leaks_bounded.c. */
#include "tests/unit/known_leaks.h"
#include <string.h>

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

static void second_step_from_first(struct program *p, int step, int *kept)
{
    second_step(p, step + 1, kept);
}

static void one_in_ten(struct program *p, int step, int *kept)
{
    (void)kept;
    if (step % 10 == 9)
        program_alloc(p, "leak", 1000);
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

/* The results so far and those of the step, in one block that takes the place of the last. */
static void appended(struct program *p, int step, int *kept)
{
    int last = kept[0];
    kept[0] = program_alloc(p, "leak", 100 * (step + 1));
    if (step)
        program_free(p, last);
}

static void appended_every_third(struct program *p, int step, int *kept)
{
    if (step % 3 == 2)
        appended(p, step / 3, kept);
}

static void appended_but_in_one(struct program *p, int step, int *kept)
{
    if (step != 6)
        appended(p, step - (step > 6), kept);
}

static void appended_for_a_while(struct program *p, int step, int *kept)
{
    if (step < 8)
        appended(p, step, kept);
}

static void appended_late(struct program *p, int step, int *kept)
{
    if (step > 6)
        appended(p, step - 7, kept);
}

/* What the warm-up needs goes in the step after it. */
static void appended_beside_scratch(struct program *p, int step, int *kept)
{
    if (step == 0)
        kept[1] = program_alloc(p, "leak", 5000);
    appended(p, step, kept);
    if (step == 1)
        program_free(p, kept[1]);
}

/* The same, but all is handed in after every fourth step. */
static void handed_in(struct program *p, int step, int *kept)
{
    int last = kept[0];
    kept[0] = program_alloc(p, "leak", 100 * (step % 4 + 1));
    if (step)
        program_free(p, last);
}

/* Ever larger blocks, which a second site makes in every third step: each gives up all it has. */
static void moved(struct program *p, int step, int *kept)
{
    int last = kept[0];
    kept[0] = program_alloc(p, step % 3 == 2 ? "trim" : "append", 100 * (step + 1));
    if (step)
        program_free(p, last);
}

static void moved_but_in_one(struct program *p, int step, int *kept)
{
    if (step != 6)
        moved(p, step, kept);
}

/* So much goes of what is older as comes. */
static void moved_from_older(struct program *p, int step, int *kept)
{
    moved(p, step, kept);
    program_older(p, 100, true);
}

static void moved_beside_unseen(struct program *p, int step, int *kept)
{
    moved(p, step, kept);
    int block = program_alloc(p, "writer", 64);
    if (step == 3)
        program_lose(p, block);
    else
        program_free(p, block);
}

/* Every third step one more layer learns: its gradient stays, and its optimizer makes state. */
static void unfreezing(struct program *p, int step, int *kept)
{
    (void)kept;
    if (step % 3)
        return;
    program_alloc(p, "gradient", 1024);
    program_scope(p, "Optimizer.step#Adam.step", 10);
    program_alloc(p, "state", 1024);
}

/* The history of an optimizer that is not full; an output is kept beside it. */
static void history(struct program *p, int step, int *kept)
{
    (void)step, (void)kept;
    program_alloc(p, "leak", 512);
    program_scope(p, "Optimizer.step#LBFGS.step", 10);
    program_alloc(p, "state", 1024);
}

/* An optimizer's state, made once; an output of its size is kept in every step. */
static void of_one_size(struct program *p, int step, int *kept)
{
    (void)kept;
    program_alloc(p, "leak", 1024);
    program_scope(p, "Optimizer.step#SGD.step", 10);
    if (step == 0)
        program_alloc(p, "leak", 1024);
}

/* Steps of 1 to 5 batches; what each leaves is kept. */
static void uneven(struct program *p, int step, int *kept)
{
    static const int batches[] = {1, 5, 1, 2, 4};
    (void)kept;
    for (int i = 0; i < batches[step % 5]; i++)
        program_alloc(p, "leak", 64);
}

/* Gradients stay for four micro-steps; their sum is kept whenever the optimizer steps. */
static void micro_steps(struct program *p, int step, int *kept)
{
    if (step % 4 == 0)
        kept[0] = program_alloc(p, "gradient", 256);
    if (step % 4 != 3)
        return;
    program_free(p, kept[0]);
    program_alloc(p, "leak", 16);
}

static void gradient(struct program *p, int step, int *kept)
{
    if (step)
        program_free(p, kept[0]);
    kept[0] = program_alloc(p, "leak", 7000);
}

static const struct known_leak programs[] = {
    {"linear", 10, linear, "leak", MT_VERDICT_LEAK, 9 * 512, 9, 0},
    {"every second step", 20, second_step, "leak", MT_VERDICT_LEAK, 9 * 100, 18, 1},
    {"two of them after the warm-up, and one in it", 5, second_step_from_first, "leak",
     MT_VERDICT_LEAK, 2 * 100, 4, 0},
    {"one step in ten", 40, one_in_ten, "leak", MT_VERDICT_LEAK, 3 * 1000, 30, 9},
    {"masked by a larger release", 30, masked, "leak", MT_VERDICT_LEAK, 29 * 8, 29, 0},
    {"released buffer", 30, masked, "buffer", MT_VERDICT_N, 0, 0, 0},
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
    {"ever larger block", 12, appended, "leak", MT_VERDICT_CANDIDATE, 1100, 11, 11},
    {"ever larger, just enough steps", 5, appended, "leak", MT_VERDICT_CANDIDATE, 400, 4, 4},
    {"ever larger, too few steps", 4, appended, "leak", MT_VERDICT_N, 0, 0, 0},
    {"ever larger, in every third step", 15, appended_every_third, "leak", MT_VERDICT_CANDIDATE,
     400, 12, 14},
    {"the same, two steps later", 17, appended_every_third, "leak", MT_VERDICT_CANDIDATE, 400, 12,
     14},
    {"ever larger, but in one step", 12, appended_but_in_one, "leak", MT_VERDICT_CANDIDATE, 1000,
     11, 11},
    {"ever larger, for a while", 12, appended_for_a_while, "leak", MT_VERDICT_N, 0, 0, 0},
    {"ever larger, from the eighth step on", 12, appended_late, "leak", MT_VERDICT_CANDIDATE, 400,
     4, 11},
    {"ever larger, beside scratch of the warm-up", 12, appended_beside_scratch, "leak",
     MT_VERDICT_CANDIDATE, 900, 9, 11},
    {"larger for a while", 12, handed_in, "leak", MT_VERDICT_N, 0, 0, 0},
    {"ever larger, from site to site", 12, moved, "[all sites]", MT_VERDICT_CANDIDATE, 1100, 11, 0},
    {"the same, five steps", 5, moved, "[all sites]", MT_VERDICT_CANDIDATE, 400, 4, 0},
    {"four steps", 4, moved, "[all sites]", MT_VERDICT_N, 0, 0, 0},
    {"from site to site, but in one step", 12, moved_but_in_one, "[all sites]", MT_VERDICT_N, 0, 0,
     0},
    {"from site to site, in place of what is older", 12, moved_from_older, "[all sites]",
     MT_VERDICT_N, 0, 0, 0},
    {"from site to site, beside what is freed unseen", 12, moved_beside_unseen, "[all sites]",
     MT_VERDICT_N, 0, 0, 0},
    {"a site that explains it", 12, appended, "[all sites]", MT_VERDICT_N, 0, 0, 0},
    {"two steps after the warm-up", 3, growing_sizes, "leak", MT_VERDICT_CANDIDATE, 102, 1, 0},
    {"a leak in two steps after the warm-up", 3, linear, "leak", MT_VERDICT_CANDIDATE, 1024, 2, 0},
    {"a leak in three of them", 4, linear, "leak", MT_VERDICT_LEAK, 3 * 512, 3, 0},
    {"gradients", 6, gradient, "leak", MT_VERDICT_LAST_STEP, 0, 0, 5},
    {"state of layers that begin to learn", 11, unfreezing, "state in Optimizer.step#Adam.step",
     MT_VERDICT_CANDIDATE, 3 * 1024, 9, 0},
    {"their gradients", 11, unfreezing, "gradient", MT_VERDICT_CANDIDATE, 3 * 1024, 9, 0},
    {"a history that is not full", 8, history, "state in Optimizer.step#LBFGS.step",
     MT_VERDICT_CANDIDATE, 7 * 1024, 7, 0},
    {"a leak beside that", 8, history, "leak", MT_VERDICT_LEAK, 7 * 512, 7, 0},
    {"a leak of the size of state", 8, of_one_size, "leak", MT_VERDICT_LEAK, 7 * 1024, 7, 0},
    {"steps of very different length", 10, uneven, "leak", MT_VERDICT_LEAK, 25 * 64, 9, 0},
    {"micro-steps", 20, micro_steps, "leak", MT_VERDICT_LEAK, 4 * 16, 16, 3},
    {"too few of those", 12, micro_steps, "leak", MT_VERDICT_LEAK, 2 * 16, 8, 3},
    {"gradients that stay for micro-steps", 19, micro_steps, "gradient", MT_VERDICT_CACHE, 0, 0,
     16},
};

/* The same programs, and steps behind them in which nothing happens: those are none. */
static const struct idling {
    struct known_leak program;
    int idle;
} idling[] = {
    {{"ever larger block, and an idle step", 12, appended, "leak", MT_VERDICT_CANDIDATE, 1100, 11,
      11},
     1},
    {{"a leak in two steps after the warm-up, and an idle step", 3, linear, "leak",
      MT_VERDICT_CANDIDATE, 1024, 2, 0},
     1},
    {{"a leak, and three idle steps", 6, linear, "leak", MT_VERDICT_LEAK, 5 * 512, 5, 0}, 3},
    {{"gradients, and an idle step", 6, gradient, "leak", MT_VERDICT_LAST_STEP, 0, 0, 5}, 1},
};

static void with_idle_steps(void **state)
{
    const struct idling *i = *state;
    known_leak_run(&i->program, i->idle);
}

/* A block older than the recording is no part of what was allocated outside ops; nor is it a
 * candidate where too few steps tell nothing of the others. */
static void older_block(void **state)
{
    struct program p;
    struct mt_leaks found;
    struct mt_err err = MT_ERR_INIT;
    const enum mt_group_key key = MT_BY_SITE;
    int steps = *(const int *)*state;
    program_start(&p);
    program_older(&p, 4096, false);
    for (int step = 0; step < steps; step++) {
        program_step(&p);
        program_alloc(&p, "leak", 8);
    }
    program_finish(&p);
    assert_int_equal(mt_leaks_find(&p.lives, &p.device, &key, 1, 1, &found, &err), MT_OK);
    assert_int_equal(found.rows.n, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct mt_leak *l = &found.rows.v[i];
        bool older = strcmp(l->key[0], "[before trace]") == 0;
        assert_int_equal(l->explicit_row, older);
        assert_int_equal(l->at_end_b, older ? 4096 : 8 * steps);
        assert_int_equal(l->verdict, older       ? MT_VERDICT_STATE
                                     : steps > 1 ? MT_VERDICT_LEAK
                                                 : MT_VERDICT_LAST_STEP);
    }
    mt_leaks_free(&found);
    program_end(&p);
}

/* What a function keeps and gives up as it returns, behind the last step, rises until then: its
 * site is named, not the device. What it holds from its first step on does not rise. */
static void given_up(void **state)
{
    enum { STEPS = 6 };
    struct program p;
    struct mt_leaks found;
    struct mt_err err = MT_ERR_INIT;
    const enum mt_group_key key = MT_BY_SITE;
    int kept[STEPS], buffer = 0;
    (void)state;
    program_start(&p);
    for (int step = 0; step < STEPS; step++) {
        program_step(&p);
        if (step == 0)
            buffer = program_alloc(&p, "buffer", 4096);
        kept[step] = program_alloc(&p, "kept", 512);
        program_free(&p, program_alloc(&p, "scratch", 64));
    }
    p.t_ns *= 2;
    for (int step = 0; step < STEPS; step++)
        program_free(&p, kept[step]);
    program_free(&p, buffer);
    program_finish(&p);
    assert_int_equal(mt_leaks_find(&p.lives, &p.device, &key, 1, 1, &found, &err), MT_OK);
    assert_int_equal(found.rows.n, 1);
    const struct mt_leak *l = &found.rows.v[0];
    assert_string_equal(l->key[0], "kept");
    assert_int_equal(l->verdict, MT_VERDICT_CANDIDATE);
    assert_false(l->whole);
    assert_int_equal(l->at_end_n, 0);
    assert_int_equal(l->growth_b, 512 * l->growth_steps);
    assert_int_equal(l->growth_n, l->growth_steps);
    assert_int_equal(l->growth_steps, STEPS - 1);
    mt_leaks_free(&found);
    program_end(&p);
}

int main(void)
{
    static int few = 1, enough = 4;
    struct CMUnitTest tests[MT_ARRAY_LEN(programs) + MT_ARRAY_LEN(idling) + 3] = {
        {"given up as a function returns", given_up, NULL, NULL, NULL},
        {"older block", older_block, NULL, NULL, &enough},
        {"older block, one step", older_block, NULL, NULL, &few}};
    struct CMUnitTest *t = tests + 3;
    for (size_t i = 0; i < MT_ARRAY_LEN(programs); i++)
        *t++ = known_leak(&programs[i]);
    for (size_t i = 0; i < MT_ARRAY_LEN(idling); i++)
        *t++ = (struct CMUnitTest){idling[i].program.title, with_idle_steps, NULL, NULL,
                                   (void *)(uintptr_t)&idling[i]};
    return cmocka_run_group_tests_name("leaks", tests, NULL, NULL);
}
