/* lib/input/cursor.h: numbers in groups of 7 bits, wherever they stand and the bytes end. */
#include "lib/input/cursor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 10, BEHIND = 12 };

static size_t write_varint(char *p, uint64_t v)
{
    size_t n = 0;
    for (; v > 127; v >>= 7)
        p[n++] = (char)((v & 127) | 128);
    p[n++] = (char)v;
    return n;
}

/* With so many bytes behind it, of which it must take none. */
static void check(uint64_t v, size_t behind)
{
    char *bytes = malloc(MOST + BEHIND);
    const size_t n = write_varint(bytes, v);
    memset(bytes + n, 0xff, behind);
    char *all = realloc(bytes, n + behind); /* what is read behind them is found out */
    struct mt_cursor c = {all, all + n + behind, false};
    assert_true(mt_cursor_varint(&c) == v);
    assert_int_equal(c.p - all, n);
    assert_false(c.more);
    if (behind == 0) {
        c = (struct mt_cursor){all, all + n - 1, false};
        mt_cursor_varint(&c);
        assert_true(c.more);
    }
    free(all);
}

static void test_of_every_length(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++)
        for (size_t behind = 0; behind <= BEHIND; behind++) {
            check((uint64_t)1 << bit, behind);
            check(((uint64_t)1 << bit) - 1, behind);
            check((UINT64_MAX >> (63 - bit)) & 0xa5a5a5a5a5a5a5a5u, behind);
        }
    check(UINT64_MAX, 0);
    check(UINT64_MAX, BEHIND);
}

/* Zeros may stand in front: 0 in ten bytes; an eleventh is the next value's. */
static void test_longer_than_need_be(void **state)
{
    (void)state;
    const char zeros[] = "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01";
    struct mt_cursor c = {zeros, zeros + sizeof zeros - 1, false};
    assert_int_equal(mt_cursor_varint(&c), 0);
    assert_int_equal(c.p - zeros, 10);
    assert_int_equal(mt_cursor_varint(&c), 1);
    assert_false(c.more);
}

static void test_signed(void **state)
{
    (void)state;
    const char bytes[] = {0, 1, 2, 3, (char)0xff, 1};
    const int64_t values[] = {0, -1, 1, -2, -128};
    struct mt_cursor c = {bytes, bytes + sizeof bytes, false};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_int_equal(mt_cursor_signed(&c), values[i]);
    assert_ptr_equal(c.p, c.end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_every_length),
        cmocka_unit_test(test_longer_than_need_be),
        cmocka_unit_test(test_signed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
