/* lib/model/retained.h: what sites hold at the ends of steps. */
#include "lib/model/retained.h"
#include "tests/unit/rows.h"

enum { LIVES_MAX = 8 };

struct holds {
    const char *name;
    struct {
        uint32_t site;
        int64_t bytes, from, to;
    } lives[LIVES_MAX];
    int64_t first, last;
    bool higher;             /* of site 5, as is the next */
    struct mt_op_peaks want; /* falls, n, first, last, pause, bytes, blocks */
};

static const struct holds rows[] = {
    {"nothing", {{0}}, 1, 6, false, {false, 0, -1, -1, 0, 0, 0}},
    {"a block from the first step on", {{5, 10, 1, 9}}, 1, 6, false, {false, 0, 1, 1, 0, 0, 0}},
    {"a block before the first step", {{5, 10, 0, 9}}, 1, 6, false, {false, 0, -1, -1, 0, 0, 0}},
    {"one in the first half", {{5, 10, 3, 9}}, 1, 6, false, {false, 1, 3, 3, 0, 0, 0}},
    {"one in the later half", {{5, 10, 4, 9}}, 1, 6, true, {false, 1, 4, 4, 0, 0, 0}},
    {"one in the last step", {{5, 10, 6, 9}}, 1, 6, true, {false, 1, 6, 6, 0, 0, 0}},
    {"the middle of an odd number", {{5, 10, 3, 9}}, 1, 5, true, {false, 1, 3, 3, 0, 0, 0}},
    {"gone before the end of its step", {{5, 10, 4, 4}}, 1, 6, false, {false, 0, -1, -1, 0, 0, 0}},
    {"of another site", {{4, 10, 4, 9}, {6, 10, 4, 9}}, 1, 6, false, {false, 0, -1, -1, 0, 0, 0}},
    {"one for another", {{5, 10, 1, 4}, {5, 30, 4, 9}}, 1, 6, false, {false, 1, 1, 4, 3, 20, 0}},
    {"higher for a while",
     {{5, 10, 0, 9}, {5, 10, 4, 5}, {5, 10, 5, 6}},
     1,
     6,
     true,
     {true, 1, 4, 4, 0, 0, 0}},
    {"more at every step",
     {{5, 1, 0, 1}, {5, 2, 1, 2}, {5, 3, 2, 3}, {5, 4, 3, 9}},
     0,
     3,
     false,
     {false, 3, 0, 3, 1, 3, 0}},
    {"as much at one step",
     {{5, 1, 0, 1}, {5, 2, 1, 3}, {5, 4, 3, 9}},
     0,
     3,
     false,
     {false, 2, 0, 3, 2, 3, 0}},
    {"the longest of several pauses",
     {{5, 1, 0, 9}, {5, 1, 1, 9}, {5, 1, 4, 9}, {5, 1, 5, 9}},
     0,
     8,
     true,
     {false, 3, 0, 5, 3, 3, 3}},
    {"less after the first step, and more again",
     {{5, 9, 0, 1}, {5, 1, 0, 9}, {5, 2, 2, 9}},
     1,
     3,
     true,
     {false, 1, 2, 2, 0, 0, 0}},
    {"less after a later one", {{5, 9, 0, 2}, {5, 2, 3, 9}}, 1, 4, false, {true, 1, 3, 3, 0, 0, 0}},
    {"a single step", {{5, 1, 2, 9}}, 2, 2, true, {false, 0, 2, 2, 0, 0, 0}},
    {"no step", {{5, 1, 0, 9}}, 3, 2, false, {false, 0, -1, -1, 0, 0, 0}},
};

static void trend(void **state)
{
    const struct holds *r = *state;
    struct mt_retained h = {0};
    for (int i = 0; i < LIVES_MAX; i++)
        mt_retained_add(&h, r->lives[i].site, r->lives[i].bytes, r->lives[i].from, r->lives[i].to);
    mt_retained_sort(&h);
    assert_int_equal(mt_retained_higher(&h, 5, r->first, r->last), r->higher);
    struct mt_op_peaks got = mt_retained_rises(&h, 5, r->first, r->last);
    assert_int_equal(got.falls, r->want.falls);
    assert_int_equal(got.n, r->want.n);
    assert_int_equal(got.first, r->want.first);
    assert_int_equal(got.last, r->want.last);
    assert_int_equal(got.pause, r->want.pause);
    assert_int_equal(got.bytes, r->want.bytes);
    assert_int_equal(got.blocks_n, r->want.blocks_n);
    mt_retained_free(&h);
}

int main(void)
{
    static struct row_tests tests;
    ROWS_ADD(&tests, trend, rows);
    return ROWS_RUN(&tests, "holdings");
}
