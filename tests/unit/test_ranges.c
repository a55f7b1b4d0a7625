/* lib/base/ranges.h: ranges come and go, and are found, as in a plain list of them. */
#include "lib/base/ranges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROUNDS = 20000, SPACE = 1000, MOST = 500 };

struct list {
    struct mt_range v[MOST];
    size_t n;
};

static bool overlaps(const struct mt_range *r, uint64_t begin, uint64_t end)
{
    return r->begin < end && begin < r->end;
}

/* What was taken is in the list, and overlaps. */
static void remove_it(struct list *l, const struct mt_range *taken, uint64_t begin, uint64_t end)
{
    assert_true(overlaps(taken, begin, end));
    for (size_t i = 0; i < l->n; i++)
        if (l->v[i].value == taken->value) {
            assert_int_equal(l->v[i].begin, taken->begin);
            assert_int_equal(l->v[i].end, taken->end);
            l->v[i] = l->v[--l->n];
            return;
        }
    fail_msg("a range that was never added");
}

static void test_as_a_list(void **state)
{
    struct mt_ranges ranges = {0};
    struct list list = {.n = 0};
    struct mt_range taken;
    (void)state;
    srand(1);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint64_t begin = (uint64_t)rand() % SPACE, end = begin + 1 + (uint64_t)rand() % 30;
        if (list.n < MOST && rand() % 2) {
            list.v[list.n++] = (struct mt_range){begin, end, i};
            mt_ranges_add(&ranges, list.v[list.n - 1]);
            continue;
        }
        while (mt_ranges_take(&ranges, begin, end, &taken))
            remove_it(&list, &taken, begin, end);
        for (size_t k = 0; k < list.n; k++)
            assert_false(overlaps(&list.v[k], begin, end));
    }
    assert_true(mt_ranges_bytes(&ranges) > 0);
    mt_ranges_free(&ranges);
}

static void test_ends(void **state)
{
    struct mt_ranges ranges = {0};
    struct mt_range taken;
    (void)state;
    assert_false(mt_ranges_take(&ranges, 0, UINT64_MAX, &taken));
    mt_ranges_add(&ranges, (struct mt_range){10, 20, 1});
    assert_false(mt_ranges_take(&ranges, 0, 10, &taken));
    assert_false(mt_ranges_take(&ranges, 20, 30, &taken));
    assert_true(mt_ranges_take(&ranges, 19, 20, &taken));
    mt_ranges_add(&ranges, (struct mt_range){10, UINT64_MAX, 2});
    assert_true(mt_ranges_take(&ranges, UINT64_MAX - 1, UINT64_MAX, &taken));
    assert_int_equal(taken.value, 2);
    mt_ranges_free(&ranges);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_a_list),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
