/* Where figures of runs went to another level. */
#include "rows.h"

#include "lib/analysis/change_point.h"

struct point_row {
    const char *name;
    int64_t figures[10];
    size_t n;
    bool found;
    size_t at;
    int64_t before, after;
};

static const struct point_row point_rows[] = {
    {"of two nobody can tell", {100, 200}, 2, false, 0, 0, 0},
    {"of three neither", {100, 100, 200}, 3, false, 0, 0, 0},
    {"of five 25 times the noise is one", {100, 100, 102, 152, 150}, 5, true, 3, 100, 150},
    {"of ten 6 times", {100, 102, 98, 100, 102, 112, 114, 110, 112, 114}, 10, true, 5, 100, 112},
    {"the same throughout", {100, 100, 100, 100}, 4, false, 1, 100, 100},
    {"the last is higher", {100, 100, 100, 200}, 4, true, 3, 100, 200},
    {"higher since the second", {100, 200, 200, 200}, 4, true, 1, 100, 200},
    {"lower in the middle", {200, 200, 200, 100, 100, 100}, 6, true, 3, 200, 100},
    {"1 % is no change", {1000, 1000, 1000, 1010}, 4, false, 3, 1000, 1010},
    {"just over 1 % is", {1000, 1000, 1000, 1011}, 4, true, 3, 1000, 1011},
    {"noise is no change", {100, 104, 98, 102, 97, 103, 99, 101}, 8, false, 0, 0, 0},
    {"a change above noise", {100, 104, 98, 102, 147, 153, 149, 151}, 8, true, 4, 100, 149},
    {"of two changes the larger", {100, 100, 120, 120, 300, 300, 300}, 7, true, 4, 100, 300},
    {"one odd run is not a level", {100, 100, 100, 400, 100, 100, 100, 100}, 8, false, 0, 0, 0},
    {"equal runs beside some that swing", {100, 102, 100, 106, 102, 100}, 6, false, 0, 0, 0},
    {"an odd run before a change",
     {100, 100, 100, 400, 100, 100, 100, 120, 120, 120},
     10,
     true,
     7,
     100,
     120},
    {"from nothing", {0, 0, 0, 5}, 4, true, 3, 0, 5},
    {"the largest figures", {0, 0, INT64_MAX, INT64_MAX}, 4, true, 2, 0, INT64_MAX},
};

static void test_point(void **state)
{
    const struct point_row *row = *state;
    struct mt_change_point c;
    mt_change_point_of(row->figures, row->n, &c);
    assert_int_equal(c.found, row->found);
    assert_false(c.unsure);
    if (!row->found)
        return;
    assert_int_equal(c.at, row->at);
    assert_int_equal(c.before, row->before);
    assert_int_equal(c.after, row->after);
}

/* What would be a change of more runs. */
static const struct unsure_row {
    const char *name;
    int64_t figures[8];
    size_t n, at;
} unsure_rows[] = {
    {"of four 16 times the noise", {1000, 1001, 1018, 1017}, 4, 2},
    {"of five 19 times", {100, 100, 101, 121, 120}, 5, 3},
    {"of seven 6 times", {100, 102, 98, 112, 114, 110, 112}, 7, 3},
};

static void test_unsure(void **state)
{
    const struct unsure_row *row = *state;
    struct mt_change_point c;
    mt_change_point_of(row->figures, row->n, &c);
    assert_true(c.unsure);
    assert_false(c.found);
    assert_int_equal(c.at, row->at);
}

/* Of very many only the last are looked at, and places are those of all. */
static void test_many(void **state)
{
    enum { N = 1500, AT = 1200 };
    static int64_t figures[N];
    struct mt_change_point c;
    (void)state;
    for (size_t i = 0; i < N; i++)
        figures[i] = i < 300 ? 5000 : i < AT ? 100 : 200;
    mt_change_point_of(figures, N, &c);
    assert_true(c.found);
    assert_int_equal(c.at, AT);
    assert_int_equal(c.before, 100);
}

int main(void)
{
    static struct row_tests t;
    static const struct point_row many[] = {{.name = "very many"}};
    ROWS_ADD(&t, test_point, point_rows);
    ROWS_ADD(&t, test_unsure, unsure_rows);
    ROWS_ADD(&t, test_many, many);
    return ROWS_RUN(&t, "change_point");
}
