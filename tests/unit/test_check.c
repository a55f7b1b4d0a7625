/* lib/analysis/check.h, rules.h: medians and spreads, limits, verdicts. */
#include "lib/analysis/check.h"
#include "tests/unit/program.h"
#include "tests/unit/rows.h"
#include <stdio.h>
#include <string.h>

enum { MOST = 9, U = -1 }; /* U: unknown, in the rows below */

/* ---- median and spread ---- */

struct median_row {
    const char *name;
    int64_t values[MOST];
    size_t n;
    int64_t median, spread;
};

static const struct median_row median_rows[] = {
    {"median: one value", {7}, 1, 7, 0},
    {"median: of two the upper", {10, 4}, 2, 10, 6},
    {"median: three, the range is the spread", {9, 1, 5}, 3, 5, 8},
    {"median: four, one left out at each end", {1, 100, 5, 4}, 4, 5, 1},
    {"median: five with an outlier", {10, 11, 12, 13, 999}, 5, 12, 2},
    {"median: eight, two left out at each end", {1, 2, 3, 4, 5, 6, 7, 800}, 8, 5, 3},
    {"median: negative values", {-5, -1, -3}, 3, -3, 4},
    {"median: equal values", {6, 6, 6, 6, 6}, 5, 6, 0},
};

static void median_test(void **state)
{
    const struct median_row *row = *state;
    int64_t spread;
    size_t which = MOST;
    assert_int_equal(mt_median(row->values, row->n, &spread, &which), row->median);
    assert_int_equal(spread, row->spread);
    assert_int_equal(row->values[which], row->median);
}

static void median_unknown_test(void **state)
{
    (void)state;
    const int64_t values[] = {1, MT_BASELINE_UNKNOWN, 3};
    int64_t spread;
    assert_true(mt_median(values, 3, &spread, NULL) == MT_BASELINE_UNKNOWN);
    assert_int_equal(spread, 0);
}

/* ---- limits ---- */

struct limit_row {
    const char *name;
    enum mt_rule_id kind;
    const char *limit;
    const char *wrong; /* part of the message; NULL: right */
    double percent;
    int64_t amount;
};

static const struct limit_row limit_rows[] = {
    {"limit: a size", MT_RULE_PEAK, "2GiB", NULL, -1, INT64_C(2) << 30},
    {"limit: zero", MT_RULE_PER_STEP, "0", NULL, -1, 0},
    {"limit: a percentage", MT_RULE_PEAK_GROWTH, "5%", NULL, 5, 0},
    {"limit: a fraction of a percent", MT_RULE_PEAK_GROWTH, "0.5 %", NULL, 0.5, 0},
    {"limit: growth by a size", MT_RULE_PEAK_GROWTH, "64KiB", NULL, -1, 64 << 10},
    {"limit: a count", MT_RULE_ALLOC_COUNT_GROWTH, "100", NULL, -1, 100},
    {"limit: a percentage of nothing", MT_RULE_PEAK, "5%", "percentage of what", 0, 0},
    {"limit: negative", MT_RULE_PEAK, "-1", "not a size", 0, 0},
    {"limit: a count in bytes", MT_RULE_ALLOC_COUNT_GROWTH, "1KiB", "nor a number", 0, 0},
    {"limit: no number", MT_RULE_PEAK_GROWTH, "much", "nor a size", 0, 0},
    {"limit: not finite", MT_RULE_PEAK_GROWTH, "inf%", "nor a size", 0, 0},
    {"limit: negative percentage", MT_RULE_PEAK_GROWTH, "-5%", "nor a size", 0, 0},
    {"limit: empty", MT_RULE_PEAK, "", "not a size", 0, 0},
};

static void limit_test(void **state)
{
    const struct limit_row *row = *state;
    const struct mt_rule_about about = {0};
    struct mt_rules rules = {0};
    struct mt_err err = MT_ERR_INIT;
    enum mt_status st = mt_rules_add(&rules, row->kind, row->limit, &about, &err);
    if (row->wrong) {
        assert_int_equal(st, MT_EUSAGE);
        assert_non_null(strstr(err.what, row->wrong));
        assert_true(err.hint[0]);
    } else {
        assert_int_equal(st, MT_OK);
        assert_true(rules.v.v[0].percent == row->percent);
        assert_int_equal(rules.v.v[0].amount, row->amount);
    }
    mt_rules_free(&rules);
}

/* ---- verdicts ---- */

struct verdict_row {
    const char *name;
    enum mt_rule_id kind;
    const char *limit;
    int64_t new[MOST], base[MOST]; /* ended by 0 */
    enum mt_check_verdict verdict;
    int64_t measured, spread;
};

static const struct verdict_row verdict_rows[] = {
    {"verdict: at the limit", MT_RULE_PEAK, "100", {100}, {0}, MT_CHECK_PASS, 100, 0},
    {"verdict: one byte over", MT_RULE_PEAK, "100", {101}, {0}, MT_CHECK_FAIL, 101, 0},
    {"verdict: 5 % is not exceeded",
     MT_RULE_PEAK_GROWTH,
     "5%",
     {105},
     {100},
     MT_CHECK_PASS,
     105,
     0},
    {"verdict: 5 % is exceeded", MT_RULE_PEAK_GROWTH, "5%", {106}, {100}, MT_CHECK_FAIL, 106, 0},
    {"verdict: shrinking passes", MT_RULE_PEAK_GROWTH, "0", {50}, {100}, MT_CHECK_PASS, 50, 0},
    {"verdict: growth by a size", MT_RULE_PEAK_GROWTH, "10", {111}, {100}, MT_CHECK_FAIL, 111, 0},
    {"verdict: 0 grows by more than any percentage",
     MT_RULE_AT_END_GROWTH,
     "900%",
     {1},
     {U},
     MT_CHECK_INCONCLUSIVE,
     1,
     0},
    {"verdict: growth without a baseline",
     MT_RULE_PEAK_GROWTH,
     "5%",
     {100},
     {0},
     MT_CHECK_INCONCLUSIVE,
     100,
     0},
    {"verdict: of growth the median counts, not an outlier",
     MT_RULE_PEAK_GROWTH,
     "0",
     {90, 91, 92, 93, 500},
     {100},
     MT_CHECK_PASS,
     92,
     2},
    {"verdict: a limit is meant for every run",
     MT_RULE_PEAK,
     "100",
     {90, 91, 92, 93, 101},
     {0},
     MT_CHECK_INCONCLUSIVE,
     92,
     2},
    {"verdict: every run at the limit",
     MT_RULE_PEAK,
     "100",
     {90, 100, 100, 91},
     {0},
     MT_CHECK_PASS,
     100,
     9},
    {"verdict: more spread than excess",
     MT_RULE_PEAK,
     "100",
     {95, 104, 108},
     {0},
     MT_CHECK_INCONCLUSIVE,
     104,
     13},
    {"verdict: as much spread as excess",
     MT_RULE_PEAK,
     "100",
     {100, 110},
     {0},
     MT_CHECK_INCONCLUSIVE,
     110,
     10},
    {"verdict: less spread than excess",
     MT_RULE_PEAK,
     "100",
     {110, 112, 114},
     {0},
     MT_CHECK_FAIL,
     112,
     4},
    {"verdict: the spread of the baseline counts",
     MT_RULE_PEAK_GROWTH,
     "0",
     {108, 109, 110},
     {95, 100, 105},
     MT_CHECK_INCONCLUSIVE,
     109,
     2},
    {"verdict: beyond both spreads",
     MT_RULE_PEAK_GROWTH,
     "0",
     {118, 119, 120},
     {95, 100, 105},
     MT_CHECK_FAIL,
     119,
     2},
    {"verdict: the spread of the baseline scales with the limit",
     MT_RULE_PEAK_GROWTH,
     "100%",
     {221},
     {95, 100, 105},
     MT_CHECK_FAIL,
     221,
     0},
    {"verdict: unknown in the run", MT_RULE_PER_STEP, "0", {U}, {0}, MT_CHECK_INCONCLUSIVE, U, U},
    {"verdict: unknown in one repeat",
     MT_RULE_PEAK,
     "10",
     {5, U},
     {0},
     MT_CHECK_INCONCLUSIVE,
     U,
     U},
};

static void add_repeats(struct mt_repeats *r, const int64_t *values, enum mt_figure f)
{
    for (; *values; values++) {
        struct mt_baseline *b = mt_vec_push(&r->v);
        *b = (struct mt_baseline){.run = "r", .format = "test", .run_n = 1};
        mt_strtab_init(&b->texts);
        struct mt_baseline_device *d = mt_vec_push(&b->devices);
        *d = (struct mt_baseline_device){.name = "cpu"};
        d->v[f] = *values == U ? MT_BASELINE_UNKNOWN : *values;
    }
}

static int64_t shown(int64_t v)
{
    return v == MT_BASELINE_UNKNOWN ? U : v;
}

static void verdict_test(void **state)
{
    const struct verdict_row *row = *state;
    const struct mt_rule_about about = {0};
    struct mt_rules rules = {0};
    struct mt_repeats new = {0}, base = {0};
    struct mt_checked c;
    struct mt_err err = MT_ERR_INIT;
    assert_int_equal(mt_rules_add(&rules, row->kind, row->limit, &about, &err), MT_OK);
    add_repeats(&new, row->new, mt_rule_kinds[row->kind].figure);
    add_repeats(&base, row->base, mt_rule_kinds[row->kind].figure);
    mt_check_rule(&rules.v.v[0], &new, base.v.n ? &base : NULL, false, &c);
    assert_string_equal(mt_check_names[c.verdict], mt_check_names[row->verdict]);
    assert_int_equal(shown(c.measured), row->measured);
    assert_int_equal(shown(c.spread), row->spread);
    assert_int_equal(c.why[0] != '\0', c.verdict == MT_CHECK_INCONCLUSIVE);
    mt_repeats_free(&new);
    mt_repeats_free(&base);
    mt_rules_free(&rules);
}

/* ---- blocks that may be dead ---- */

/* The peak of 104 bytes, of which 4 are in doubt; so is what `losing` holds of it, or may be. */
static const struct doubt_row {
    const char *name, *limit, *op;
    enum mt_check_verdict verdict;
    int64_t doubt;
} doubt_rows[] = {
    {"doubt: at the limit", "104", NULL, MT_CHECK_PASS, 4},
    {"doubt: all that is beyond the limit", "100", NULL, MT_CHECK_INCONCLUSIVE, 4},
    {"doubt: less than what is beyond", "99", NULL, MT_CHECK_FAIL, 4},
    {"doubt: of a site that loses frees", "39", "los", MT_CHECK_INCONCLUSIVE, 4},
    {"doubt: less than what is beyond of that site", "35", "losing", MT_CHECK_FAIL, 4},
    {"doubt: none of a site that loses none", "63", "other", MT_CHECK_FAIL, 0},
    {"doubt: no more than a site holds", "1", "small", MT_CHECK_INCONCLUSIVE, 2},
};

static void doubt_test(void **state)
{
    const struct doubt_row *row = *state;
    const struct mt_rule_about about = {.op = row->op};
    const int64_t peak[] = {104, 0};
    struct mt_rules rules = {0};
    struct mt_repeats new = {0};
    struct mt_checked c;
    struct mt_err err = MT_ERR_INIT;
    assert_int_equal(mt_rules_add(&rules, MT_RULE_PEAK, row->limit, &about, &err), MT_OK);
    add_repeats(&new, peak, MT_FIG_AT_PEAK_B);
    struct mt_baseline_device *d = &new.v.v[0].devices.v[0];
    d->unseen = true;
    d->doubt[MT_FIG_AT_PEAK_B] = 4;
    *mt_vec_push(&d->sites) =
        (struct mt_baseline_site){.op = "losing", .unseen = true, .v = {[MT_FIG_AT_PEAK_B] = 40}};
    *mt_vec_push(&d->sites) =
        (struct mt_baseline_site){.op = "other", .v = {[MT_FIG_AT_PEAK_B] = 64}};
    *mt_vec_push(&d->sites) =
        (struct mt_baseline_site){.op = "small", .unseen = true, .v = {[MT_FIG_AT_PEAK_B] = 2}};
    mt_check_rule(&rules.v.v[0], &new, NULL, false, &c);
    assert_string_equal(mt_check_names[c.verdict], mt_check_names[row->verdict]);
    assert_int_equal(c.doubt, row->doubt);
    assert_int_equal(strstr(c.why, "did not see") != NULL, c.verdict == MT_CHECK_INCONCLUSIVE);
    mt_repeats_free(&new);
    mt_rules_free(&rules);
}

/* What is known of a part only is that much at least: enough to fail, never to pass. */
static void part_test(void **state)
{
    (void)state;
    static const struct {
        enum mt_rule_id kind;
        const char *limit;
        int64_t new, base;
        bool new_part, base_part;
        enum mt_check_verdict verdict;
    } rows[] = {{MT_RULE_PEAK, "100", 90, 0, true, false, MT_CHECK_INCONCLUSIVE},
                {MT_RULE_PEAK, "100", 101, 0, true, false, MT_CHECK_FAIL},
                {MT_RULE_PEAK, "100", 100, 0, false, false, MT_CHECK_PASS},
                {MT_RULE_PEAK_GROWTH, "5%", 100, 100, true, false, MT_CHECK_INCONCLUSIVE},
                {MT_RULE_PEAK_GROWTH, "5%", 106, 100, true, false, MT_CHECK_FAIL},
                {MT_RULE_PEAK_GROWTH, "5%", 106, 100, false, true, MT_CHECK_INCONCLUSIVE},
                {MT_RULE_PEAK_GROWTH, "5%", 90, 100, false, true, MT_CHECK_INCONCLUSIVE},
                {MT_RULE_ALLOC_GROWTH, "5", 90, 100, true, false, MT_CHECK_INCONCLUSIVE},
                {MT_RULE_ALLOC_COUNT_GROWTH, "5", 90, 100, true, false, MT_CHECK_INCONCLUSIVE}};
    for (size_t i = 0; i < MT_ARRAY_LEN(rows); i++) {
        const struct mt_rule_about about = {0};
        const enum mt_figure f = mt_rule_kinds[rows[i].kind].figure;
        const int64_t new_values[] = {rows[i].new, 0}, base_values[] = {rows[i].base, 0};
        struct mt_rules rules = {0};
        struct mt_repeats new = {0}, base = {0};
        struct mt_err err = MT_ERR_INIT;
        struct mt_checked c;
        add_repeats(&new, new_values, f);
        add_repeats(&base, base_values, f);
        new.v.v[0].devices.v[0].least[f] = rows[i].new_part;
        if (base.v.n)
            base.v.v[0].devices.v[0].least[f] = rows[i].base_part;
        assert_int_equal(mt_rules_add(&rules, rows[i].kind, rows[i].limit, &about, &err), MT_OK);
        mt_check_rule(&rules.v.v[0], &new, base.v.n ? &base : NULL, false, &c);
        assert_string_equal(mt_check_names[c.verdict], mt_check_names[rows[i].verdict]);
        assert_int_equal(c.why[0] != '\0', c.verdict == MT_CHECK_INCONCLUSIVE);
        mt_repeats_free(&new);
        mt_repeats_free(&base);
        mt_rules_free(&rules);
    }
}

int main(void)
{
    struct row_tests t = {0};
    static const struct {
        const char *name;
        CMUnitTestFunction run;
    } others[] = {{"median: unknown if one value is", median_unknown_test},
                  {"verdict: figures of a part are no pass", part_test}};
    ROWS_ADD(&t, median_test, median_rows);
    ROWS_ADD(&t, limit_test, limit_rows);
    ROWS_ADD(&t, verdict_test, verdict_rows);
    ROWS_ADD(&t, doubt_test, doubt_rows);
    for (size_t i = 0; i < MT_ARRAY_LEN(others); i++)
        t.v[t.n++] = (struct CMUnitTest){.name = others[i].name, .test_func = others[i].run};
    return ROWS_RUN(&t, "check");
}
