/* lib/base/numbers.h: numbers are what was put, however wide they are and whatever order they come
 * in. */
#include "lib/base/mem.h"
#include "lib/base/numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 500, ROUNDS = 4000 };

/* 0 mostly, else of any width, of either sign. */
static int64_t any_number(void)
{
    static const int64_t most[] = {0, 0, INT8_MAX, INT16_MAX, INT32_MAX, INT64_MAX};
    const int64_t up_to = most[(size_t)rand() % MT_ARRAY_LEN(most)];
    const int64_t x = up_to ? up_to - rand() % 100 : 0;
    return rand() % 2 ? x : -x - (x > 0 && rand() % 2);
}

static void test_as_an_array(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 40; round++) {
        struct mt_numbers a = {0};
        int64_t plain[MOST] = {0};
        bool marked[MOST];
        size_t kept = 0;
        for (int i = 0; i < ROUNDS; i++) {
            size_t at = (size_t)rand() % (size_t)(1 + i % MOST);
            plain[at] = i < round * 100 ? plain[at] : any_number();
            mt_numbers_put(&a, at, plain[at]);
        }
        for (size_t i = 0; i < MOST; i++) {
            assert_int_equal(mt_numbers_get(&a, i), plain[i]);
            marked[i] = rand() % 2;
            if (marked[i])
                plain[kept++] = plain[i];
        }
        mt_numbers_keep(&a, marked, MOST);
        for (size_t i = 0; i < MOST; i++)
            assert_int_equal(mt_numbers_get(&a, i), i < kept ? plain[i] : 0);
        mt_numbers_put(&a, kept, -1);
        assert_int_equal(mt_numbers_get(&a, kept), -1);
        mt_numbers_free(&a);
    }
}

static void test_widths(void **state)
{
    static const struct {
        int64_t x;
        int width;
    } rows[] = {{0, 0},         {-1, 1},        {127, 1},          {-128, 1},      {128, 2},
                {-129, 2},      {32767, 2},     {32768, 4},        {-32769, 4},    {INT32_MAX, 4},
                {INT32_MIN, 4}, {1LL << 31, 8}, {-(3LL << 31), 8}, {INT64_MAX, 8}, {INT64_MIN, 8}};
    (void)state;
    for (size_t i = 0; i < MT_ARRAY_LEN(rows); i++) {
        struct mt_numbers a = {0};
        mt_numbers_put(&a, 3, rows[i].x);
        assert_int_equal(a.width, rows[i].width);
        assert_int_equal(mt_numbers_get(&a, 3), rows[i].x);
        assert_int_equal(mt_numbers_get(&a, 2), 0);
        assert_int_equal(mt_numbers_get(&a, 1000), 0);
        mt_numbers_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_an_array),
                                       cmocka_unit_test(test_widths)};
    return cmocka_run_group_tests_name("numbers", tests, NULL, NULL);
}
