/* lib/analysis/check.h, rules.h, baseline.h: medians and spreads, limits, verdicts, baselines. */
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

/* What is freed twice was allocated in between, outside of every op. */
static void measured_birth_test(void **state)
{
    (void)state;
    struct program p;
    struct mt_baseline b;
    struct mt_err err = MT_ERR_INIT;
    program_start(&p);
    int block = program_alloc(&p, "other", 40);
    program_free(&p, block);
    program_free(&p, block);
    program_finish(&p);
    assert_int_equal(p.device.alloc_unseen_n, 1);
    assert_int_equal(mt_baseline_measure(p.db, &p.run, 1, &b, &err), MT_OK);
    const struct mt_baseline_device *d = &b.devices.v[0];
    for (size_t i = 0; i < d->sites.n; i++)
        assert_int_equal(d->sites.v[i].unseen, strcmp(d->sites.v[i].op, "[outside ops]") == 0);
    mt_baseline_free(&b);
    program_end(&p);
}

/* What a run says of it: a thread drops what `losing` makes, some of which comes back. */
static void measured_doubt_test(void **state)
{
    (void)state;
    struct program p;
    struct mt_baseline b;
    struct mt_err err = MT_ERR_INIT;
    program_start(&p);
    int lost = program_alloc(&p, "losing", 10);
    program_alloc(&p, "losing", 20);
    program_alloc(&p, "other", 40);
    program_lose(&p, lost);
    program_alloc(&p, "other", 10);
    program_lose(&p, program_alloc(&p, NULL, 5));
    program_alloc(&p, "last", 5);
    program_finish(&p);
    assert_int_equal(mt_baseline_measure(p.db, &p.run, 1, &b, &err), MT_OK);
    const struct mt_baseline_device *d = &b.devices.v[0];
    assert_true(d->unseen);
    assert_int_equal(d->doubt[MT_FIG_AT_PEAK_B], p.device.doubt_at_peak_b);
    assert_int_equal(d->doubt[MT_FIG_AT_END_B], 20);
    for (size_t i = 0; i < d->sites.n; i++) {
        const char *op = d->sites.v[i].op;
        assert_int_equal(d->sites.v[i].unseen,
                         strcmp(op, "losing") == 0 || strcmp(op, "[outside ops]") == 0);
    }
    mt_baseline_free(&b);
    program_end(&p);
}

/* ---- from a run to a file and back ---- */

/* 200 light sites and two heavy ones; one leaks. */
static void measure(int extra, struct mt_baseline *out)
{
    struct program p;
    struct mt_err err = MT_ERR_INIT;
    char name[32];
    program_start(&p);
    for (int step = 0; step < 6; step++) {
        program_step(&p);
        program_alloc(&p, "leak", 1000);
        int heavy = program_alloc(&p, "heavy", 1000000 + extra);
        for (int i = 0; i < 200; i++) {
            snprintf(name, sizeof name, "light %d", i);
            program_free(&p, program_alloc(&p, name, 1));
        }
        program_free(&p, heavy);
    }
    program_finish(&p);
    assert_int_equal(mt_baseline_measure(p.db, &p.run, 1, out, &err), MT_OK);
    program_end(&p);
}

static void check_sums(const struct mt_baseline_device *d)
{
    static const enum mt_figure summed[] = {MT_FIG_AT_PEAK_B,    MT_FIG_AT_END_B,
                                            MT_FIG_SELF_ALLOC_B, MT_FIG_SELF_ALLOC_N,
                                            MT_FIG_CALLS_N,      MT_FIG_PER_STEP_B};
    for (size_t f = 0; f < MT_ARRAY_LEN(summed); f++) {
        int64_t sum = 0;
        for (size_t i = 0; i < d->sites.n; i++)
            sum += d->sites.v[i].v[summed[f]];
        assert_int_equal(sum, d->v[summed[f]]);
    }
}

static void round_trip_test(void **state)
{
    (void)state;
    struct mt_baseline b, again;
    struct mt_buf text = {0}, second = {0};
    struct mt_err err = MT_ERR_INIT;
    measure(0, &b);
    const struct mt_baseline_device *d = &b.devices.v[0];
    assert_int_equal(d->v[MT_FIG_AT_PEAK_B], 1006001); /* the last step's, with one light block */
    assert_int_equal(d->v[MT_FIG_PER_STEP_B], 1000);
    assert_int_equal(d->sites.n, 203); /* and ProfilerStep# itself */
    check_sums(d);
    mt_baseline_write(&b, &text);
    assert_int_equal(mt_baseline_parse("again", text.s, text.n, &again, &err), MT_OK);
    mt_baseline_write(&again, &second);
    assert_string_equal(text.s, second.s);
    mt_baseline_free(&again);
    mt_baseline_free(&b);
    mt_buf_free(&text);
    mt_buf_free(&second);
}

static void trim_test(void **state)
{
    (void)state;
    struct mt_baseline b;
    measure(0, &b);
    struct mt_baseline_device *d = &b.devices.v[0];
    for (size_t i = 0; i < d->sites.n; i++) /* so that no figure needs them */
        if (strncmp(d->sites.v[i].op, "light", 5) == 0)
            d->sites.v[i].v[MT_FIG_SELF_ALLOC_N] = 0;
    d->v[MT_FIG_SELF_ALLOC_N] = 12;
    mt_baseline_trim(&b);
    check_sums(d);
    assert_true(d->sites.n <= 4); /* leak, heavy, the light one at the peak, [other] */
    assert_string_equal(d->sites.v[d->sites.n - 1].op, "[other]");
    mt_baseline_free(&b);
}

static void fold_test(void **state)
{
    (void)state;
    struct mt_baseline r[3], whole;
    measure(0, &r[0]);
    measure(500, &r[1]);
    measure(90, &r[2]);
    snprintf(r[2].devices.v[0].sites_of, 256, "middle");
    snprintf(r[2].run, sizeof r[2].run, "middle");
    mt_baseline_fold(r, 3, &whole);
    const struct mt_baseline_device *d = &whole.devices.v[0];
    assert_int_equal(d->v[MT_FIG_AT_PEAK_B], 1006001 + 90);
    assert_int_equal(d->spread[MT_FIG_AT_PEAK_B], 500);
    assert_int_equal(d->spread[MT_FIG_SELF_ALLOC_N], 0);
    assert_string_equal(d->sites_of, "middle");
    check_sums(d);
    for (int i = 0; i < 3; i++)
        mt_baseline_free(&r[i]);
    mt_baseline_free(&whole);
}

/* An op may be called as a row that is none; whatever it is called, it is one in the file too. */
static void bracket_test(void **state)
{
    (void)state;
    static const struct mt_baseline_site sites[] = {{.op = "[memo] op"},
                                                    {.op = "[other]"},
                                                    {.op = "[outside ops]"},
                                                    {.op = "[before trace]", .explicit_row = true},
                                                    {.op = "[no addresses]", .explicit_row = true},
                                                    {.op = "[other]", .explicit_row = true},
                                                    {.op = "[outside ops]", .explicit_row = true}};
    struct mt_baseline b = {.run = "r", .format = "test", .run_n = 1}, again;
    struct mt_baseline_device *d = mt_vec_push(&b.devices);
    struct mt_buf text = {0};
    struct mt_err err = MT_ERR_INIT;
    *d = (struct mt_baseline_device){.name = "cpu"};
    for (size_t i = 0; i < MT_ARRAY_LEN(sites); i++)
        *mt_vec_push(&d->sites) = sites[i];
    mt_baseline_write(&b, &text);
    assert_int_equal(mt_baseline_parse("again", text.s, text.n, &again, &err), MT_OK);
    d = &again.devices.v[0];
    assert_int_equal(d->sites.n, MT_ARRAY_LEN(sites));
    for (size_t i = 0; i < d->sites.n; i++) { /* written in this order */
        assert_string_equal(d->sites.v[i].op, sites[i].op);
        assert_int_equal(d->sites.v[i].explicit_row, sites[i].explicit_row);
    }
    mt_baseline_free(&again);
    mt_baseline_free(&b);
    mt_buf_free(&text);
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

/* What a file lumps together may belong to the sites of a rule: it counts as spread. */
static void other_test(void **state)
{
    (void)state;
    const struct mt_rule_about about = {.op = "heavy"};
    struct mt_rules rules = {0};
    struct mt_repeats new = {0}, base = {0};
    struct mt_err err = MT_ERR_INIT;
    struct mt_checked c;
    measure(500, mt_vec_push(&new.v));
    measure(0, mt_vec_push(&base.v));
    assert_int_equal(mt_rules_add(&rules, MT_RULE_PEAK_GROWTH, "0", &about, &err), MT_OK);
    mt_check_rule(&rules.v.v[0], &new, &base, false, &c);
    assert_string_equal(mt_check_names[c.verdict], "fail");
    assert_int_equal(c.measured - c.base, 500);
    assert_int_equal(c.explain_n, 1);
    assert_string_equal(c.explain[0].op, "heavy");
    assert_int_equal(c.explain[0].amount, 500);
    *mt_vec_push(&base.v.v[0].devices.v[0].sites) = (struct mt_baseline_site){
        .op = "[other]", .explicit_row = true, .v = {[MT_FIG_AT_PEAK_B] = 501}};
    mt_check_rule(&rules.v.v[0], &new, &base, false, &c);
    assert_string_equal(mt_check_names[c.verdict], "inconclusive");
    mt_check_rule(&rules.v.v[0], &new, &base, true, &c);
    assert_string_equal(c.why, "the baseline is the run itself");
    base.v.v[0].run_n = 3; /* and has the sites of one of them */
    mt_check_rule(&rules.v.v[0], &new, &base, false, &c);
    assert_string_equal(mt_check_names[c.verdict], "inconclusive");
    assert_non_null(strstr(c.why, "sites of one of its repeats only"));
    mt_rules_free(&rules);
    mt_repeats_free(&new);
    mt_repeats_free(&base);
}

int main(void)
{
    struct row_tests t = {0};
    static const struct {
        const char *name;
        CMUnitTestFunction run;
    } others[] = {{"median: unknown if one value is", median_unknown_test},
                  {"baseline: written and read again", round_trip_test},
                  {"baseline: what is left out stays in the sums", trim_test},
                  {"baseline: of three repeats", fold_test},
                  {"baseline: ops called like rows that are none", bracket_test},
                  {"verdict: figures of a part are no pass", part_test},
                  {"doubt: of a run", measured_doubt_test},
                  {"doubt: of a birth that nobody saw", measured_birth_test},
                  {"verdict: what a baseline lumps together is doubt", other_test}};
    ROWS_ADD(&t, median_test, median_rows);
    ROWS_ADD(&t, limit_test, limit_rows);
    ROWS_ADD(&t, verdict_test, verdict_rows);
    ROWS_ADD(&t, doubt_test, doubt_rows);
    for (size_t i = 0; i < MT_ARRAY_LEN(others); i++)
        t.v[t.n++] = (struct CMUnitTest){.name = others[i].name, .test_func = others[i].run};
    return ROWS_RUN(&t, "check");
}
