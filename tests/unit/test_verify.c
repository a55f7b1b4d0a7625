/* advise --verify: whether two runs have the same batches, of however many sizes. */
#include "lib/advice/verify.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BACKWARD = 50, SEEN = 100, UNSEEN = 40 }; /* when it begins, blocks end after and before */

/* One of the two runs: data alone. */
struct side {
    struct mt_run_device device;
    struct mt_steps steps;
    struct mt_advice_facts facts;
    struct mt_advices advices;
};

static void add(struct side *s, int64_t bytes, int64_t freed_ns)
{
    *mt_vec_push(&s->facts.blocks) = (struct mt_advice_block){.bytes = bytes,
                                                              .freed_ns = freed_ns,
                                                              .alloc_op = MT_NONE,
                                                              .freed_op = MT_NONE,
                                                              .category = MT_CATEGORY_INPUT};
}

static void begin(struct side *s)
{
    *s = (struct side){.facts = {.device = &s->device, .steps = &s->steps}};
    *mt_vec_push(&s->facts.backwards) = (struct mt_advice_backward){.start_ns = BACKWARD};
}

/* What is said of the two; frees them. */
static char *differ(struct side *x, struct side *y)
{
    const struct mt_verify_run before = {"x", &x->facts, &x->advices},
                               after = {"y", &y->facts, &y->advices};
    char *why = mt_verify_differ(&before, &after);
    for (int i = 0; i < 2; i++) {
        mt_vec_free(&(i ? y : x)->facts.blocks);
        mt_vec_free(&(i ? y : x)->facts.backwards);
    }
    return why;
}

static void test_batches(void **state)
{
    (void)state;
    static const struct {
        int64_t x, y, y_unseen;
        const char *why; /* NULL: none */
    } rows[] = {
        {1000, 1100, 0, NULL},
        {1000, 2000, 0, "2 times as large"},
        {1000, 100, 1000, "another size"}, /* 1000 may be an evaluation's; then 50 and 100 */
        {1000, 100, 999, "0.1 times"}};
    for (size_t i = 0; i < MT_ARRAY_LEN(rows); i++) {
        struct side x, y;
        begin(&x);
        begin(&y);
        add(&x, rows[i].x, SEEN);
        add(&x, 50, SEEN);
        add(&y, rows[i].y, SEEN);
        add(&y, rows[i].y_unseen, UNSEEN);
        char *why = differ(&x, &y);
        assert_true(rows[i].why ? why && strstr(why, rows[i].why) : !why);
        free(why);
    }
}

/* Of 100 bytes 40 are saved, it is predicted. What may be dead counts on either side. */
static void test_doubt(void **state)
{
    (void)state;
    static const struct {
        int64_t recorded_b, doubt_b[2];
        bool turns;
    } rows[] = {
        {60, {0, 0}, false},  /* holds */
        {60, {0, 30}, false}, /* or saves more */
        {60, {20, 0}, true},  /* of 80 bytes it saved 20 only */
        {60, {20, 20}, true}, /* unless there were 40 */
        {80, {0, 0}, false},  /* off */
        {80, {0, 15}, false}, /* still */
        {80, {0, 20}, true},  {80, {30, 0}, false},
    };
    const struct mt_advice a = {.new_peak_b = 60, .saving_b = 40};
    for (size_t i = 0; i < MT_ARRAY_LEN(rows); i++)
        assert_int_equal(mt_verify_turns(&a, 100, rows[i].recorded_b, rows[i].doubt_b, 10),
                         rows[i].turns);
}

/* Sizes that all differ take no longer each, the more there are. */
static void test_sizes(void **state)
{
    (void)state;
    enum { SIZES = 60000, LARGE = 1000000, SECONDS = 5 };
    struct side x, y;
    begin(&x);
    begin(&y);
    for (int i = 0; i < SIZES; i++) {
        add(&x, LARGE + i, SEEN);
        add(&y, LARGE + i, UNSEEN);
    }
    add(&x, 100, SEEN);
    add(&y, 100, SEEN);
    clock_t begun = clock();
    assert_null(differ(&x, &y));
    assert_true((clock() - begun) / CLOCKS_PER_SEC < SECONDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_batches), cmocka_unit_test(test_doubt),
                                       cmocka_unit_test(test_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
