/* How what a site holds goes: of runs one after the other, and through the later half of one. */
#include "rows.h"

#include "lib/analysis/trend.h"
#include "lib/model/knows.h"

static const struct runs_row {
    const char *name;
    int64_t held[6];
    size_t n;
    enum mt_trend want;
} runs_rows[] = {
    {"no run", {0}, 0, MT_TREND_UNKNOWN},
    {"one run", {7}, 1, MT_TREND_UNKNOWN},
    {"from one to the next", {1, 2}, 2, MT_TREND_RISES},
    {"from nothing, of two", {0, 5}, 2, MT_TREND_RISES},
    {"the same", {3, 3, 3}, 3, MT_TREND_CONSTANT},
    {"it rises each time", {0, 1, 2, 9}, 4, MT_TREND_RISES},
    {"not each time", {1, 2, 2, 9}, 4, MT_TREND_ROSE},
    {"it came and stayed", {0, 0, 5, 5}, 4, MT_TREND_CAME},
    {"it came last: nobody knows that it stays", {0, 0, 0, 5}, 4, MT_TREND_ROSE},
    {"it was there before it rose", {1, 5, 5, 5}, 4, MT_TREND_ROSE},
    {"it came and rose again", {0, 5, 5, 6}, 4, MT_TREND_ROSE},
    {"it rose and fell", {0, 5, 4, 4}, 4, MT_TREND_SWINGS},
    {"it fell once", {5, 5, 4, 4}, 4, MT_TREND_FELL},
};

static void test_runs(void **state)
{
    const struct runs_row *row = *state;
    assert_int_equal(mt_trend_of(row->held, row->n), row->want);
}

enum { UNKNOWN }; /* of no moment */

static const struct moments_row {
    const char *name;
    int64_t bytes[10]; /* at 0, 10, 20, ... */
    size_t n;
    int64_t end_t;
    enum mt_trend want;
    int64_t grew, passed;
} moments_rows[] = {
    {"three moments in the later half", {1, 2, 3, 4, 5, 6}, 6, 60, MT_TREND_UNKNOWN, UNKNOWN, 0},
    {"four", {9, 9, 9, 1, 2, 3, 4}, 7, 60, MT_TREND_RISES, 3, 30},
    {"what was before does not count", {9, 1, 8, 5, 5, 5, 5, 5}, 8, 60, MT_TREND_CONSTANT, 0, 40},
    {"a level that stays for one part", {1, 2, 2, 3}, 4, 0, MT_TREND_ROSE, 2, 30},
    {"parts of two, of which each has more", {1, 4, 2, 5, 3, 6, 4, 7}, 8, 0, MT_TREND_RISES, 6, 70},
    {"the least stays", {1, 4, 1, 5, 1, 6, 1, 7}, 8, 0, MT_TREND_SWINGS, 6, 70},
    {"the most stays", {1, 9, 2, 9, 3, 9, 4, 9}, 8, 0, MT_TREND_SWINGS, 8, 70},
    {"the most falls", {1, 9, 2, 8, 3, 7, 4, 6}, 8, 0, MT_TREND_SWINGS, 5, 70},
    {"it fell", {5, 5, 4, 3}, 4, 0, MT_TREND_FELL, -2, 30},
};

static void test_moments(void **state)
{
    const struct moments_row *row = *state;
    struct mt_trend_level v[10];
    int64_t grew, passed;
    for (size_t i = 0; i < row->n; i++)
        v[i] = (struct mt_trend_level){(int64_t)i * 10, row->bytes[i]};
    bool known = row->want != MT_TREND_UNKNOWN;
    assert_int_equal(mt_trend_can_tell(v, row->n, row->end_t), known);
    assert_int_equal(mt_trend_of_moments(v, row->n, row->end_t, &grew, &passed), row->want);
    assert_int_equal(grew, known ? row->grew : MT_UNKNOWN);
    assert_int_equal(passed, known ? row->passed : MT_UNKNOWN);
}

static const struct goes_on_row {
    const char *name;
    int64_t bytes[10];
    size_t n;
    bool want;
} goes_on_rows[] = {
    {"it rises to the end", {1, 2, 3}, 3, true},
    {"it paused once, and as long again", {1, 2, 2, 3, 3}, 5, true},
    {"it paused for longer", {1, 2, 2, 3, 3, 3, 3}, 7, false},
    {"once", {1, 2, 2}, 3, false},
    {"once, at the end", {1, 1, 2}, 3, true},
    {"never", {2, 2, 1}, 3, false},
    {"nothing", {0}, 0, false},
};

static void test_goes_on(void **state)
{
    const struct goes_on_row *row = *state;
    struct mt_trend_level v[10];
    for (size_t i = 0; i < row->n; i++)
        v[i] = (struct mt_trend_level){(int64_t)i * 10, row->bytes[i]};
    assert_int_equal(mt_trend_goes_on(v, row->n), row->want);
}

static const struct goes_on_row dips_rows[] = {
    {"it falls at times", {1, 3, 2, 4, 5, 4, 6, 7, 6, 8}, 10, true},
    {"it falls at the end", {1, 2, 3, 4, 5, 6, 8, 7}, 8, true},
    {"too few", {1, 2, 3, 5, 4}, 5, false},
    {"it falls by too much for what it rises", {10, 30, 20, 40, 25, 45, 35, 50}, 8, false},
    {"it rose in the first half", {1, 2, 9, 8, 9, 8, 9, 8}, 8, false},
    {"it falls by too much", {1, 3, 2, 4, 1, 6, 7, 8}, 8, false},
    {"four levels tell no dip", {1, 2, 3, 4}, 4, false},
};

static void test_dips(void **state)
{
    const struct goes_on_row *row = *state;
    struct mt_trend_level v[10];
    for (size_t i = 0; i < row->n; i++)
        v[i] = (struct mt_trend_level){(int64_t)i * 10, row->bytes[i]};
    assert_int_equal(mt_trend_has_dips(v, row->n), row->want);
}

#define SECOND INT64_C(1000000000)

static const struct rate_row {
    const char *name;
    int64_t grew, ns, want;
} rate_rows[] = {
    {"an hour", 7, 3600 * SECOND, 7},
    {"a minute is enough", 2, 60 * SECOND, 120},
    {"less is not", 2, 60 * SECOND - 1, INT64_MIN},
    {"what is not known", INT64_MIN, 3600 * SECOND, INT64_MIN},
    {"it is rounded", 1, 2 * 3600 * SECOND, 1},
    {"what it gave back", -3, 1800 * SECOND, -6},
    {"as much as there can be", INT64_MAX, 60 * SECOND, INT64_C(9000000000000000000)},
};

static void test_rate(void **state)
{
    const struct rate_row *row = *state;
    assert_int_equal(mt_trend_per_hour(row->grew, row->ns), row->want);
}

int main(void)
{
    static struct row_tests tests;
    ROWS_ADD(&tests, test_runs, runs_rows);
    ROWS_ADD(&tests, test_moments, moments_rows);
    ROWS_ADD(&tests, test_goes_on, goes_on_rows);
    ROWS_ADD(&tests, test_dips, dips_rows);
    ROWS_ADD(&tests, test_rate, rate_rows);
    return ROWS_RUN(&tests, "trend");
}
