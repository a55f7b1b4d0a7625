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
    bool higher; /* of site 5, as is the next */
    struct mt_retained_trend
        want; /* falls, n, first, last, pause, bytes, blocks, alike, even, fell */
};

static const struct holds rows[] = {
    {"nothing", {{0}}, 1, 6, false, {false, 0, -1, -1, 0, 0, 0, true, true, -1}},
    {"a block from the first step on",
     {{5, 10, 1, 9}},
     1,
     6,
     false,
     {false, 0, 1, 1, 0, 0, 0, true, true, -1}},
    {"a block before the first step",
     {{5, 10, 0, 9}},
     1,
     6,
     false,
     {false, 0, -1, -1, 0, 0, 0, true, true, -1}},
    {"one in the first half",
     {{5, 10, 3, 9}},
     1,
     6,
     false,
     {false, 1, 3, 3, 0, 0, 0, true, true, -1}},
    {"one in the later half",
     {{5, 10, 4, 9}},
     1,
     6,
     true,
     {false, 1, 4, 4, 0, 0, 0, true, true, -1}},
    {"one in the last step",
     {{5, 10, 6, 9}},
     1,
     6,
     true,
     {false, 1, 6, 6, 0, 0, 0, true, true, -1}},
    {"the middle of an odd number",
     {{5, 10, 3, 9}},
     1,
     5,
     true,
     {false, 1, 3, 3, 0, 0, 0, true, true, -1}},
    {"gone before the end of its step",
     {{5, 10, 4, 4}},
     1,
     6,
     false,
     {false, 0, -1, -1, 0, 0, 0, true, true, -1}},
    {"of another site",
     {{4, 10, 4, 9}, {6, 10, 4, 9}},
     1,
     6,
     false,
     {false, 0, -1, -1, 0, 0, 0, true, true, -1}},
    {"one for another",
     {{5, 10, 1, 4}, {5, 30, 4, 9}},
     1,
     6,
     false,
     {false, 1, 1, 4, 3, 20, 0, true, true, -1}},
    {"higher for a while",
     {{5, 10, 0, 9}, {5, 10, 4, 5}, {5, 10, 5, 6}},
     1,
     6,
     true,
     {true, 1, 4, 4, 0, 0, 0, true, true, 6}},
    {"more at every step",
     {{5, 1, 0, 1}, {5, 2, 1, 2}, {5, 3, 2, 3}, {5, 4, 3, 9}},
     0,
     3,
     false,
     {false, 3, 0, 3, 1, 3, 0, true, true, -1}},
    {"as much at one step",
     {{5, 1, 0, 1}, {5, 2, 1, 3}, {5, 4, 3, 9}},
     0,
     3,
     false,
     {false, 2, 0, 3, 2, 3, 0, false, false, -1}},
    {"the longest of several pauses",
     {{5, 1, 0, 9}, {5, 1, 1, 9}, {5, 1, 4, 9}, {5, 1, 5, 9}},
     0,
     8,
     true,
     {false, 3, 0, 5, 3, 3, 3, true, false, -1}},
    {"less after the first step, and more again",
     {{5, 9, 0, 1}, {5, 1, 0, 9}, {5, 2, 2, 9}},
     1,
     3,
     true,
     {false, 1, 2, 2, 0, 0, 0, true, true, 1}},
    {"less after a later one",
     {{5, 9, 0, 2}, {5, 2, 3, 9}},
     1,
     4,
     false,
     {true, 1, 3, 3, 0, 0, 0, true, true, 2}},
    {"a single step", {{5, 1, 2, 9}}, 2, 2, true, {false, 0, 2, 2, 0, 0, 0, true, true, -1}},
    {"no step", {{5, 1, 0, 9}}, 3, 2, false, {false, 0, -1, -1, 0, 0, 0, true, true, -1}},
};

static void trend(void **state)
{
    const struct holds *r = *state;
    struct mt_retained h = {0};
    for (int i = 0; i < LIVES_MAX; i++)
        mt_retained_add(&h, r->lives[i].site, r->lives[i].bytes, r->lives[i].from, r->lives[i].to);
    mt_retained_sort(&h);
    assert_int_equal(mt_retained_higher(&h, 5, r->first, r->last), r->higher);
    struct mt_retained_trend got = mt_retained_rises(&h, 5, r->first, r->last);
    assert_int_equal(got.falls, r->want.falls);
    assert_int_equal(got.n, r->want.n);
    assert_int_equal(got.first, r->want.first);
    assert_int_equal(got.last, r->want.last);
    assert_int_equal(got.pause, r->want.pause);
    assert_int_equal(got.bytes, r->want.bytes);
    assert_int_equal(got.blocks_n, r->want.blocks_n);
    assert_int_equal(got.alike, r->want.alike);
    assert_int_equal(got.even, r->want.even);
    assert_int_equal(got.fell, r->want.fell);
    mt_retained_free(&h);
}

/* Steps 1..8: parts of two. */
static const struct in_parts {
    const char *name;
    struct {
        int64_t bytes, from, to;
    } lives[LIVES_MAX];
    struct mt_retained_part want[MT_RETAINED_PARTS];
    bool alike, even; /* the rises of these steps */
} of_parts[] = {
    {"nothing",
     {{0}},
     {{.most_at = {1, 0}}, {.most_at = {3, 0}}, {.most_at = {5, 0}}, {.most_at = {7, 0}}},
     true,
     true},
    {"held from before on, and for a step",
     {{10, 0, 9}, {20, 4, 5}},
     {{1, 1, 10, 10, {1, 1}},
      {1, 2, 10, 30, {4, 2}},
      {1, 1, 10, 10, {5, 1}},
      {1, 1, 10, 10, {7, 1}}},
     true,
     true},
    {"more in every second step",
     {{10, 1, 9}, {10, 3, 9}, {10, 5, 9}, {10, 7, 9}},
     {{1, 1, 10, 10, {1, 1}},
      {2, 2, 20, 20, {3, 2}},
      {3, 3, 30, 30, {5, 3}},
      {4, 4, 40, 40, {7, 4}}},
     true,
     true},
    {"more after other times",
     {{10, 1, 9}, {10, 3, 9}, {10, 6, 9}, {10, 8, 9}},
     {{1, 1, 10, 10, {1, 1}},
      {2, 2, 20, 20, {3, 2}},
      {2, 3, 20, 30, {6, 3}},
      {3, 4, 30, 40, {8, 4}}},
     true,
     false},
    {"not as much more",
     {{10, 1, 9}, {10, 3, 9}, {20, 5, 9}, {10, 7, 9}},
     {{1, 1, 10, 10, {1, 1}},
      {2, 2, 20, 20, {3, 2}},
      {3, 3, 40, 40, {5, 3}},
      {4, 4, 50, 50, {7, 4}}},
     false,
     false},
};

static void parts(void **state)
{
    const struct in_parts *r = *state;
    struct mt_retained h = {0};
    struct mt_retained_part got[MT_RETAINED_PARTS];
    for (int i = 0; i < LIVES_MAX; i++)
        mt_retained_add(&h, 5, r->lives[i].bytes, r->lives[i].from, r->lives[i].to);
    mt_retained_add(&h, 4, 1000, 2, 9);
    mt_retained_sort(&h);
    mt_retained_in_parts(&h, 5, 1, 8, got);
    for (int i = 0; i < MT_RETAINED_PARTS; i++) {
        const struct mt_retained_part *want = &r->want[i];
        assert_int_equal(got[i].least_n, want->least_n);
        assert_int_equal(got[i].most_n, want->most_n);
        assert_int_equal(got[i].least_b, want->least_b);
        assert_int_equal(got[i].most_b, want->most_b);
        assert_int_equal(got[i].most_at.step, want->most_at.step);
        assert_int_equal(got[i].most_at.blocks_n, want->most_at.blocks_n);
    }
    struct mt_retained_trend trend = mt_retained_rises(&h, 5, 1, 8);
    assert_int_equal(trend.alike, r->alike);
    assert_int_equal(trend.even, r->even);
    mt_retained_free(&h);
}

int main(void)
{
    static struct row_tests tests;
    ROWS_ADD(&tests, trend, rows);
    ROWS_ADD(&tests, parts, of_parts);
    return ROWS_RUN(&tests, "holdings");
}
