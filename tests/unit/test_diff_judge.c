/* What is worse by more than is tolerated. */
#include "rows.h"

#include "lib/analysis/diff_judge.h"

struct worse_row {
    const char *name, *threshold;
    double was, is;
    bool worse;
};

static const struct worse_row worse_rows[] = {
    {"a byte more", NULL, 100, 101, true},
    {"no more", NULL, 100, 100, false},
    {"less", NULL, 100, 99, false},
    {"just the percentage", "5%", 100, 105, false},
    {"a byte above it", "5%", 100, 106, true},
    {"just a percentage that doubles write as less", "4.6%", 1378332500, 1378332500 + 63403295.0,
     false},
    {"a byte above that", "4.6%", 1378332500, 1378332500 + 63403296.0, true},
    {"just the size", "1KiB", 100, 1124, false},
    {"a byte above the size", "1KiB", 100, 1125, true},
    {"just the size, of rates", "1", 0.3, 0.1 + 0.2 + 1, false},
    {"a percentage of nothing", "50%", 0, 1, true},
    {"a size of nothing", "0", 100, 101, true},
    {"less, of what is below nothing", "20%", -100, -110, false},
};

static void test_worse(void **state)
{
    const struct worse_row *row = *state;
    struct mt_diff_threshold t;
    struct mt_err err = {0};
    assert_int_equal(mt_diff_threshold(row->threshold, &t, &err), MT_OK);
    assert_int_equal(mt_diff_worse(row->was, row->is, &t), row->worse);
}

static const struct refused_row {
    const char *name, *threshold;
} refused_rows[] = {
    {"no size", "much"},
    {"a size below nothing", "-1"},
    {"a percentage below nothing", "-1%"},
};

static void test_refused(void **state)
{
    const struct refused_row *row = *state;
    struct mt_diff_threshold t;
    struct mt_err err = {0};
    assert_int_equal(mt_diff_threshold(row->threshold, &t, &err), MT_EUSAGE);
}

int main(void)
{
    static struct row_tests t;
    ROWS_ADD(&t, test_worse, worse_rows);
    ROWS_ADD(&t, test_refused, refused_rows);
    return ROWS_RUN(&t, "diff_judge");
}
