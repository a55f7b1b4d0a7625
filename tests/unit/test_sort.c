/* mt_sort_by_time (lib/build/build.h): in order already, a few stretches to merge, no order at all.
 */
#include "lib/base/sort.h"
#include "lib/build/build.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

struct item {
    int64_t time;
    uint32_t rank, place;
};

enum { ITEMS = 5000 };

static int by_rank(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Items in `runs` stretches, each in order of time; `times` different times. */
static void fill(struct item v[ITEMS], size_t runs, int64_t times)
{
    int64_t length = ITEMS / (int64_t)runs, apart = times / length;
    for (int64_t i = 0; i < ITEMS; i++) {
        int64_t at = i % length;
        v[i] = (struct item){(apart ? at * apart : at * times / length) - times / 2,
                             (uint32_t)rand() % 3, (uint32_t)i};
    }
}

static bool in_order(const struct item *a, const struct item *b, bool ranked)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (ranked && a->rank != b->rank)
        return a->rank < b->rank;
    return a->place < b->place;
}

static void check(size_t runs, int64_t times, bool ranked)
{
    static struct item v[ITEMS];
    static bool seen[ITEMS];
    fill(v, runs, times);
    mt_sort_by_time(v, ITEMS, sizeof *v, ranked ? by_rank : NULL);
    for (size_t i = 0; i < ITEMS; i++)
        seen[i] = false;
    for (size_t i = 0; i < ITEMS; i++) {
        assert_false(seen[v[i].place]); /* none twice, so none is lost */
        seen[v[i].place] = true;
        if (i && !in_order(&v[i - 1], &v[i], ranked))
            fail_msg("%zu runs, %lld times: item %zu is out of place", runs, (long long)times, i);
    }
}

static void sorts_stably(void **state)
{
    static const size_t runs[] = {1, 2, 3, 7, 32, 33, 100, ITEMS / 2};
    static const int64_t times[] = {1, 4, 1000, INT64_C(1) << 40, INT64_MAX};
    (void)state;
    for (size_t r = 0; r < MT_ARRAY_LEN(runs); r++)
        for (size_t t = 0; t < MT_ARRAY_LEN(times); t++) {
            check(runs[r], times[t], false);
            check(runs[r], times[t], true);
        }
}

static void sorts_little(void **state)
{
    struct item v[2] = {{2, 0, 0}, {1, 0, 1}};
    (void)state;
    mt_sort_by_time(NULL, 0, sizeof *v, by_rank);
    mt_sort_by_time(v, 1, sizeof *v, by_rank);
    assert_int_equal(v[0].time, 2);
    mt_sort_by_time(v, 2, sizeof *v, NULL);
    assert_int_equal(v[0].time, 1);
    assert_int_equal(v[1].time, 2);
}

static void sorts_by_number(void **state)
{
    enum { N = 1000, NUMBERS = 7 };
    struct {
        uint32_t number;
        int place;
    } v[N];
    (void)state;
    mt_sort_by_number(NULL, 0, sizeof *v, 0);
    for (int i = 0; i < N; i++) {
        v[i].number = (uint32_t)(i * i) % NUMBERS;
        v[i].place = i;
    }
    mt_sort_by_number(v, N, sizeof *v, NUMBERS);
    for (int i = 0; i < N; i++) {
        assert_int_equal(v[i].number, (uint32_t)(v[i].place * v[i].place) % NUMBERS);
        assert_true(!i || v[i - 1].number < v[i].number ||
                    (v[i - 1].number == v[i].number && v[i - 1].place < v[i].place));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_stably),
        cmocka_unit_test(sorts_little),
        cmocka_unit_test(sorts_by_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
