/* lib/analysis/baseline.h: a run measured, written to a file and read again. */
#include "lib/analysis/baseline_parts.h"
#include "lib/analysis/check.h"
#include "tests/unit/program.h"
#include <stdio.h>
#include <string.h>

static enum mt_status measured(const struct program *p, struct mt_baseline *out, struct mt_err *err)
{
    struct mt_allocations lives = {0};
    enum mt_status st = mt_allocations_open_sites(p->db, &p->run, &lives, err);
    if (st == MT_OK)
        st = mt_baseline_measure(&lives, 1, NULL, out, err);
    mt_allocations_close(&lives);
    return st;
}

/* ---- to a file and back ---- */

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
    assert_int_equal(measured(&p, out, &err), MT_OK);
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

/* Of 2,000 repeats a site takes room for those that have it. */
static void sparse_test(void **state)
{
    (void)state;
    struct mt_baseline_site s = {0};
    *mt_baseline_each_at(&s, 1500) = 7;
    *mt_baseline_each_at(&s, 3) = 0;
    mt_baseline_each_settle(&s, 2000);
    assert_true(s.differs);
    assert_int_equal(s.each.n, 1);
    assert_int_equal(s.each.cap, 1);
    for (size_t i = 0; i < 2000; i++)
        assert_int_equal(mt_baseline_figure_in(&s, MT_FIG_AT_PEAK_B, i), i == 1500 ? 7 : 0);
    s.v[MT_FIG_AT_PEAK_B] = 7;
    mt_baseline_each_settle(&s, 1); /* the same in all there are */
    assert_false(s.differs);
    assert_int_equal(s.each.n, 0);
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

/* Of many repeats a file lists those that have some of a site; where most do, all. */
static void each_test(void **state)
{
    (void)state;
    enum { REPEATS = 12 };
    struct mt_baseline b = {.run = "r", .format = "test", .run_n = REPEATS}, again;
    struct mt_baseline_device *d = mt_vec_push(&b.devices);
    struct mt_buf text = {0};
    struct mt_err err = MT_ERR_INIT;
    *d = (struct mt_baseline_device){.name = "cpu"};
    for (int i = 0; i < REPEATS; i++)
        *mt_vec_push(&b.repeats) = "r";
    for (int most = 0; most < 2; most++) {
        struct mt_baseline_site s = {.op = most ? "b" : "a", .v = {[MT_FIG_CALLS_N] = 9}};
        for (size_t i = 0; i < REPEATS; i++) {
            mt_baseline_each_at(&s, i)[MT_FIG_CALLS_N] = 9; /* the same in all */
            mt_baseline_each_at(&s, i)[MT_FIG_AT_PEAK_B] = most || i % 9 == 2 ? 1 + (int)i : 0;
        }
        s.differs = true;
        *mt_vec_push(&d->sites) = s;
    }
    mt_baseline_write(&b, &text);
    assert_non_null(strstr(text.s, "\"at_peak_b_each\": [[2, 3], [11, 12]],"));
    assert_non_null(strstr(text.s, "\"at_peak_b_each\": [1, 2, 3, 4, 5, 6,"));
    assert_int_equal(mt_baseline_parse("again", text.s, text.n, &again, &err), MT_OK);
    for (int most = 0; most < 2; most++) {
        const struct mt_baseline_site *s = &again.devices.v[0].sites.v[most];
        assert_true(s->differs);
        for (size_t i = 0; i < REPEATS; i++) {
            assert_int_equal(mt_baseline_figure_in(s, MT_FIG_CALLS_N, i), 9);
            assert_int_equal(mt_baseline_figure_in(s, MT_FIG_AT_PEAK_B, i),
                             most || i % 9 == 2 ? 1 + i : 0);
        }
    }
    mt_baseline_free(&again);
    mt_baseline_free(&b);
    mt_buf_free(&text);
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

/* ---- blocks that may be dead ---- */

/* What is freed twice was allocated in between, outside of every op. */
static void unseen_alloc_test(void **state)
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
    assert_int_equal(measured(&p, &b, &err), MT_OK);
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
    assert_int_equal(measured(&p, &b, &err), MT_OK);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        {.name = "written and read again", .test_func = round_trip_test},
        {.name = "what is left out stays in the sums", .test_func = trim_test},
        {.name = "of three repeats", .test_func = fold_test},
        {.name = "of many repeats", .test_func = sparse_test},
        {.name = "of many repeats, in a file", .test_func = each_test},
        {.name = "ops called like rows that are none", .test_func = bracket_test},
        {.name = "what it lumps together is doubt", .test_func = other_test},
        {.name = "frees that nobody saw", .test_func = measured_doubt_test},
        {.name = "an allocation that nobody saw", .test_func = unseen_alloc_test},
    };
    return cmocka_run_group_tests_name("baseline", tests, NULL, NULL);
}
