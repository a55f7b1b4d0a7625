/* lib/build/above.h: what is around an op, in a few steps from wherever it is asked. */
#include "lib/build/above.h"
#include "tests/unit/rows.h"

static uint64_t asked_n;

/* Ops that fit are marked by their node. */
static bool is_marked(const void *of, const struct mt_op *op)
{
    (void)of;
    asked_n++;
    return op->node != 0;
}

static struct mt_thread make_thread(uint32_t n)
{
    struct mt_thread t = {.op_base = 7};
    for (uint32_t i = 0; i < n; i++)
        *mt_vec_push(&t.ops) = (struct mt_op){.parent = MT_NONE};
    return t;
}

/* Against a walk from each op: a random tree, every thirtieth op marked. */
static void nearest_test(void **state)
{
    enum { N = 20000 };
    (void)state;
    struct mt_thread t = make_thread(N);
    struct mt_above a = {.fits = is_marked};
    unsigned random = 1;
    for (uint32_t i = 1; i < N; i++) {
        random = random * 1103515245u + 12345u;
        uint32_t up = 1 + (random >> 8) % 3;
        t.ops.v[i].parent = (random >> 12) % 500 == 0 ? MT_NONE : t.op_base + (up > i ? 0 : i - up);
        t.ops.v[i].node = (random >> 16) % 300 == 0;
    }
    for (uint32_t i = 0; i < N; i++) {
        uint32_t at = t.op_base + i;
        while (at != MT_NONE && !t.ops.v[at - t.op_base].node)
            at = t.ops.v[at - t.op_base].parent;
        assert_int_equal(mt_above(&a, &t, t.op_base + i), at);
    }
    assert_int_equal(mt_above(&a, &t, MT_NONE), MT_NONE);
    assert_true(a.found.n > 0); /* ways were long enough */
    mt_above_free(&a);
    mt_vec_free(&t.ops);
}

/* A hundred thousand ops in each other: no op is asked much more often than once. */
static void deep_test(void **state)
{
    enum { N = 100000 };
    (void)state;
    for (uint32_t marked = 0; marked < 2; marked++) {
        struct mt_thread t = make_thread(N);
        struct mt_above a = {.fits = is_marked};
        for (uint32_t i = 1; i < N; i++)
            t.ops.v[i].parent = t.op_base + i - 1;
        t.ops.v[0].node = marked;
        asked_n = 0;
        for (uint32_t i = 0; i < N; i++)
            assert_int_equal(mt_above(&a, &t, t.op_base + i), marked ? t.op_base : MT_NONE);
        assert_in_range(asked_n, N, 200 * N);
        mt_above_free(&a);
        mt_vec_free(&t.ops);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_test),
        cmocka_unit_test(deep_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
