/* Which of several figures lies outside. */
#include "rows.h"

#include "lib/analysis/spread.h"

struct spread_row {
    const char *name;
    int64_t figures[8];
    size_t n;
    int64_t median, deviation;
    size_t median_at;
    unsigned outside; /* bits by index */
};

static const struct spread_row spread_rows[] = {
    {"nothing", {0}, 0, 0, 0, 0, 0},
    {"one is its own median", {7}, 1, 7, 0, 0, 0},
    {"of an even number the lower middle", {40, 10, 30, 20}, 4, 20, 10, 3, 0},
    {"equal ones: none outside", {5, 5, 5, 5, 5}, 5, 5, 0, 2, 0},
    {"one above equals", {100, 100, 100, 120}, 4, 100, 0, 1, 1 << 3},
    {"one below equals", {100, 80, 100, 100}, 4, 100, 0, 0, 1 << 1},
    {"5 % of the median is not outside", {100, 100, 100, 105}, 4, 100, 0, 1, 0},
    {"just over 5 % is", {100, 100, 100, 106}, 4, 100, 0, 1, 1 << 3},
    {"of three nobody can tell", {100, 100, 200}, 3, 100, 0, 1, 0},
    {"ranks that swing hide more", {80, 90, 100, 110, 120, 150}, 6, 100, 10, 2, 0},
    {"but not everything", {80, 90, 100, 110, 120, 160}, 6, 100, 10, 2, 1 << 5},
    {"two outside", {10, 100, 101, 99, 100, 100, 102, 200}, 8, 100, 1, 4, 1 << 0 | 1 << 7},
    {"the largest figures", {INT64_MAX, INT64_MAX, INT64_MAX, 0}, 4, INT64_MAX, 0, 0, 1 << 3},
};

static void test_spread(void **state)
{
    const struct spread_row *row = *state;
    struct mt_spread s;
    mt_spread_of(row->figures, row->n, &s);
    assert_int_equal(s.n, row->n);
    assert_int_equal(s.median, row->median);
    assert_int_equal(s.deviation, row->deviation);
    assert_int_equal(s.median_at, row->median_at);
    for (size_t i = 0; i < row->n; i++)
        assert_int_equal(mt_spread_is_outside(&s, row->figures[i], 0), row->outside >> i & 1);
}

/* What may be less is outside only if the least that it can be is. */
static void test_doubt(void **state)
{
    static const int64_t figures[] = {100, 100, 100, 150};
    struct mt_spread s;
    (void)state;
    mt_spread_of(figures, 4, &s);
    assert_true(mt_spread_is_outside(&s, 150, 44));
    assert_false(mt_spread_is_outside(&s, 150, 45));
    assert_true(mt_spread_is_outside(&s, 50, 100)); /* less still */
}

/* Ranks that do the same: within 5 % of the median, its borders among them. */
static void test_near(void **state)
{
    static const struct {
        int64_t figure;
        bool near;
    } rows[] = {{94, false}, {95, true}, {100, true}, {105, true}, {106, false}, {0, false}};
    static const int64_t figures[] = {100, 100, 100};
    struct mt_spread s;
    (void)state;
    mt_spread_of(figures, 3, &s);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(mt_spread_is_near(&s, rows[i].figure), rows[i].near);
}

int main(void)
{
    static struct row_tests t;
    static const struct spread_row doubt[] = {{.name = "figures in doubt"}},
                                   near[] = {{.name = "near the median"}};
    ROWS_ADD(&t, test_spread, spread_rows);
    ROWS_ADD(&t, test_doubt, doubt);
    ROWS_ADD(&t, test_near, near);
    return ROWS_RUN(&t, "spread");
}
