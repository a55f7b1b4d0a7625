/* lib/analysis/leaks.h: sites whose blocks come and go, and lists beside them: caches, stores,
 * queues, what is freed unseen. */
#include "tests/unit/known_leaks.h"

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

/* The last three results are kept. */
static void cache(struct program *p, int step, int *kept)
{
    if (step >= 3)
        program_free(p, kept[step % 3]);
    kept[step % 3] = program_alloc(p, "leak", 256);
}

/* The last 17 of what comes, four in a step. */
static void buffer(struct program *p, int step, int *kept)
{
    for (int n = 4 * step; n < 4 * step + 4; n++) {
        if (n >= 17)
            program_free(p, kept[n - 17]);
        kept[n] = program_alloc(p, "leak", 32);
    }
}

/* A block of each step stays; n of the first step go in the eighth, the last. */
static void beside_the_first(struct program *p, int step, int *kept, int n, int64_t bytes)
{
    for (int i = 0; i < n && step == 0; i++)
        kept[i] = program_alloc(p, "leak", bytes);
    program_alloc(p, "leak", 64);
    for (int i = 0; i < n && step == 7; i++)
        program_free(p, kept[i]);
}

static void beside_a_large_one(struct program *p, int step, int *kept)
{
    beside_the_first(p, step, kept, 1, 5000);
}

static void beside_one_alike(struct program *p, int step, int *kept)
{
    beside_the_first(p, step, kept, 1, 64);
}

static void beside_some(struct program *p, int step, int *kept)
{
    beside_the_first(p, step, kept, 3, 64);
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

/* At one site: places that fill and are given up in turn, and a block that stays. */
static void beside_a_store(struct program *p, int step, int *kept)
{
    if (step >= 4)
        program_free(p, kept[step % 4]);
    kept[step % 4] = program_alloc(p, "leak", 16);
    program_alloc(p, "leak", 16);
}

/* A thread drops what a step gives it; its memory comes back after some steps. */
static void handed_over(struct program *p, int step, int *kept, int back)
{
    if (step >= back)
        program_lose(p, kept[step - back]);
    kept[step] = program_alloc(p, "leak", 512);
}

static void writer(struct program *p, int step, int *kept)
{
    handed_over(p, step, kept, 8);
}

static void fast_writer(struct program *p, int step, int *kept)
{
    handed_over(p, step, kept, 2);
}

/* The same and a list that grows, of blocks of another size from another site, or from that one. */
static void writer_and_list(struct program *p, int step, int *kept)
{
    writer(p, step, kept);
    program_alloc(p, "list", 64);
}

static void writer_and_list_of_its_site(struct program *p, int step, int *kept)
{
    fast_writer(p, step, kept);
    program_alloc(p, "leak", 64);
}

/* As many blocks of the list as of the writer's do not explain themselves by caches. */
static void slow_writer_and_list(struct program *p, int step, int *kept)
{
    handed_over(p, step, kept, 12);
    program_alloc(p, "leak", 64);
}

/* The list, as ever larger blocks: what the writer has is bounded. */
static void writer_and_larger(struct program *p, int step, int *kept)
{
    fast_writer(p, step, kept);
    program_alloc(p, "leak", 1000 + step);
}

/* Twenty blocks of the first steps go in the fourth; one block of each step stays. */
static void after_a_check(struct program *p, int step, int *kept)
{
    for (int i = 0; i < 20 && step == 1; i++)
        kept[i] = program_alloc(p, "leak", 64);
    for (int i = 0; i < 20 && step == 3; i++)
        program_free(p, kept[i]);
    program_alloc(p, "leak", 64);
}

/* One block of each step stays; ten more of one step go two steps later. */
static void held_for_a_while(struct program *p, int step, int *kept)
{
    for (int i = 0; i < 10 && step == 2; i++)
        kept[i] = program_alloc(p, "leak", 64);
    for (int i = 0; i < 10 && step == 4; i++)
        program_free(p, kept[i]);
    program_alloc(p, "leak", 64);
}

static void of_the_warmup(struct program *p, int step, int *kept)
{
    for (int i = 0; i < 10 && step < 1; i++)
        kept[i] = program_alloc(p, "leak", 64);
    for (int i = 0; i < 10 && step == 2; i++)
        program_free(p, kept[i]);
    program_alloc(p, "leak", 64);
}

/* One block of each step stays, one goes in step 6 with those before it. */
static void beside_an_epoch(struct program *p, int step, int *kept)
{
    kept[step] = program_alloc(p, "leak", 64);
    program_alloc(p, "leak", 64);
    for (int i = 0; i <= step && step == 6; i++)
        program_free(p, kept[i]);
}

static void epoch(struct program *p, int step, int *kept)
{
    kept[step] = program_alloc(p, "leak", 64);
    for (int i = 0; i <= step && step == 6; i++)
        program_free(p, kept[i]);
}

/* `come` requests in a step; after every `every` steps the `go` oldest of all go. */
static void serve(struct program *p, int step, int *kept, int come, int every, int go)
{
    for (int i = 0; i < come; i++)
        kept[step * come + i] = program_alloc(p, "leak", 100);
    int served = step / every * go;
    for (int i = 0; i < go && step % every == every - 1; i++)
        program_free(p, kept[served + i]);
}

static void backlog(struct program *p, int step, int *kept)
{
    serve(p, step, kept, 4, 3, 9);
}

static void no_backlog(struct program *p, int step, int *kept)
{
    serve(p, step, kept, 4, 3, 12);
}

/* Two come and one goes, of any age: kept[] is what is there, in no order. */
static void any_goes(struct program *p, int step, int *kept)
{
    int n = step;
    kept[n++] = program_alloc(p, "leak", 100);
    kept[n++] = program_alloc(p, "leak", 100);
    int gone = step * 7 % 5 * n / 5;
    program_free(p, kept[gone]);
    kept[gone] = kept[n - 1];
}

/* A list; beside it one large block that is replaced now and then. */
static void beside_a_change(struct program *p, int step, int *kept)
{
    program_alloc(p, "leak", 10);
    if (step % 9 != 2)
        return;
    if (step > 2)
        program_free(p, kept[0]);
    kept[0] = program_alloc(p, "leak", 5000);
}

static const struct known_leak programs[] = {
    {"sawtooth, at its end", 20, sawtooth, "leak", MT_VERDICT_N, 0, 0, 0},
    {"sawtooth, in the rise", 24, sawtooth, "leak", MT_VERDICT_N, 0, 0, 0},
    {"plateau after warm-up", 20, plateau, "leak", MT_VERDICT_N, 0, 0, 0},
    {"bounded cache", 12, cache, "leak", MT_VERDICT_N, 0, 0, 0},
    {"bounded cache, full in the last step", 4, cache, "leak", MT_VERDICT_CANDIDATE, 512, 2, 1},
    {"bounded cache, full in the step before", 5, cache, "leak", MT_VERDICT_N, 0, 0, 0},
    {"buffer, full in the last step", 5, buffer, "leak", MT_VERDICT_CANDIDATE, 4 * 4 * 32, 4, 0},
    {"buffer, not yet full", 4, buffer, "leak", MT_VERDICT_LEAK, 3 * 4 * 32, 3, 0},
    {"beside a large block of the first step", 8, beside_a_large_one, "leak", MT_VERDICT_LEAK,
     7 * 64, 7, 0},
    {"beside three of the first step", 8, beside_some, "leak", MT_VERDICT_LEAK, 7 * 64, 7, 0},
    {"beside one that is as large", 8, beside_one_alike, "leak", MT_VERDICT_CANDIDATE, 7 * 64, 7,
     0},
    {"full store", 12, exchanged, "leak", MT_VERDICT_N, 0, 0, 0},
    {"store not yet full", 6, exchanged, "leak", MT_VERDICT_LEAK, 1280, 3, 1},
    {"beside a store", 20, beside_a_store, "leak", MT_VERDICT_LEAK, 14 * 16, 14, 0},
    {"after many blocks of the first steps", 10, after_a_check, "leak", MT_VERDICT_LEAK, 6 * 64, 6,
     0},
    {"the same, longer", 40, after_a_check, "leak", MT_VERDICT_LEAK, 36 * 64, 36, 0},
    {"beside many that go in the middle", 8, held_for_a_while, "leak", MT_VERDICT_CANDIDATE, 4 * 64,
     4, 0},
    {"beside many of the first of five steps", 5, of_the_warmup, "leak", MT_VERDICT_CANDIDATE,
     4 * 64, 4, 0},
    {"beside a list dropped near the end", 8, beside_an_epoch, "leak", MT_VERDICT_CANDIDATE, 5 * 64,
     5, 1},
    {"a list dropped near the end", 8, epoch, "leak", MT_VERDICT_N, 0, 0, 0},
    {"the same, and the next begins", 10, epoch, "leak", MT_VERDICT_N, 0, 0, 0},
    {"backlog", 16, backlog, "leak", MT_VERDICT_CANDIDATE, 12 * 100, 12, 11},
    {"served in time", 16, no_backlog, "leak", MT_VERDICT_N, 0, 0, 0},
    {"any goes", 16, any_goes, "leak", MT_VERDICT_LEAK, 700, 7, 3},
    {"beside a change of a step", 12, beside_a_change, "leak", MT_VERDICT_CANDIDATE, 50, 5, 1},
    {"freed unseen, nothing back", 8, writer, "leak", MT_VERDICT_LEAK, 7 * 512, 7, 0},
    {"freed unseen, two back", 10, writer, "leak", MT_VERDICT_CANDIDATE, 7 * 512, 7, 2},
    {"freed unseen, most back", 30, writer, "leak", MT_VERDICT_N, 0, 0, 0},
    {"a leak beside what is freed unseen", 10, writer_and_list, "list", MT_VERDICT_LEAK, 9 * 64, 9,
     0},
    {"a leak of its site, too few blocks", 12, writer_and_list_of_its_site, "leak",
     MT_VERDICT_CANDIDATE, 11 * 64 + 2 * 512, 11, 0},
    {"a leak of its site, blocks enough", 17, writer_and_list_of_its_site, "leak", MT_VERDICT_LEAK,
     16 * 64, 16, 0},
    {"a leak of its site, not twice as many", 24, slow_writer_and_list, "leak",
     MT_VERDICT_CANDIDATE, 23 * 64 + 12 * 512, 23, 0},
    {"a leak of its site, twice as many", 25, slow_writer_and_list, "leak", MT_VERDICT_LEAK,
     24 * 64, 24, 0},
    {"sizes of one block each", 24, writer_and_larger, "leak", MT_VERDICT_CANDIDATE,
     22 * 1000 + 23 * 24 / 2 - 1 + 2 * 512, 22, 1},
};

int main(void)
{
    struct CMUnitTest tests[MT_ARRAY_LEN(programs)];
    for (size_t i = 0; i < MT_ARRAY_LEN(programs); i++)
        tests[i] = known_leak(&programs[i]);
    return cmocka_run_group_tests_name("leaks of what comes and goes", tests, NULL, NULL);
}
