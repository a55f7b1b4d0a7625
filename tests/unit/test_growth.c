/* lib/analysis/growth.h and jumps.h: curves whose growth is known, many times with noise. */
#include "lib/analysis/growth.h"
#include "lib/analysis/jumps.h"
#include "tests/unit/rows.h"
#include <math.h>
#include <string.h>

#define MIB  (INT64_C(1) << 20)
#define KIB  INT64_C(1024)
#define BASE (50 * MIB)
static const int64_t ms = 1000 * 1000;
enum { TIMES = 300 };

static uint64_t state = 1;
static double random_01(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 33) / (double)(UINT64_C(1) << 31);
}

/* What a program has at a part 0..1 of its time. */
typedef int64_t level_of(double part);

static int64_t leak(double p)
{
    return BASE + (int64_t)(p * 10 * (double)MIB);
}
static int64_t constant(double p)
{
    return (void)p, BASE;
}
static int64_t warm_then_flat(double p)
{
    return BASE + (int64_t)(fmin(p, 0.4) * 100 * (double)MIB);
}
static int64_t warm_long(double p)
{
    return BASE + (int64_t)(fmin(p, 0.7) * 100 * (double)MIB);
}
static int64_t one_step(double p)
{
    return BASE + (p < 0.5 ? 0 : 20 * MIB);
}
static int64_t one_late_step(double p)
{
    return BASE + (p < 0.8 ? 0 : 20 * MIB);
}
static int64_t one_last_step(double p)
{
    return BASE + (p < 0.88 ? 0 : 20 * MIB);
}
static int64_t warm_then_leak(double p)
{
    return warm_then_flat(p) + (int64_t)(fmax(p - 0.4, 0) * 20 * (double)MIB);
}
static int64_t peak_then_leak(double p)
{
    return warm_then_leak(p) + (p < 0.2 ? 100 * MIB : 0);
}
static int64_t staircase(double p)
{
    return BASE + (int64_t)(p * 12) * 4 * MIB;
}
static int64_t sawtooth(double p)
{
    return BASE + (int64_t)(fmod(p * 40, 1) * 30 * (double)MIB);
}
static int64_t slow_sawtooth(double p)
{
    return BASE + (int64_t)(fmod(p * 11, 1) * 30 * (double)MIB);
}
/* High in the third and fourth of the eight parts, and in the seventh. */
static int64_t comes_and_goes(double p)
{
    return BASE + ((p > 0.415 && p < 0.61) || (p > 0.765 && p < 0.8725) ? 40 * MIB : 0);
}
static int64_t two_teeth(double p)
{
    return 2 * BASE + (int64_t)(fmod(p * 2, 1) * 20 * (double)MIB);
}
static int64_t rising_sawtooth(double p)
{
    return sawtooth(p) + leak(p) - BASE;
}
static int64_t levelling(double p)
{
    return BASE + (int64_t)((1 - exp(-3 * p)) * 60 * (double)MIB);
}
static int64_t late(double p)
{
    return BASE + (int64_t)(fmax(p - 0.55, 0) * 100 * (double)MIB);
}
static int64_t exits(double p)
{
    return p < 0.97 ? leak(p) : 5 * MIB;
}
static int64_t tidies(double p)
{
    return p < 0.92 ? leak(p) : 5 * MIB;
}
static int64_t falls(double p)
{
    return BASE - (int64_t)(p * 20 * (double)MIB);
}
static int64_t spikes(double p)
{
    return BASE + (fmod(p * 10, 1) < 0.05 ? 40 * MIB : 0);
}

struct curve {
    const char *name;
    level_of *level;
    enum mt_growth_verdict want;
    int64_t grew_b; /* in the window of the verdict, if it grows: within a tenth */
};
/* In a window of 0.25 to 0.95, or its later half. */
static const struct curve curves[] = {
    {"leak", leak, MT_GROWTH_GROWS, 7 * MIB},
    {"constant", constant, MT_GROWTH_FLAT, 0},
    {"warm-up, then flat", warm_then_flat, MT_GROWTH_FLAT, 0},
    {"a long warm-up, then flat", warm_long, MT_GROWTH_UNKNOWN, 0},
    {"one step", one_step, MT_GROWTH_FLAT, 0},
    {"one step, late", one_late_step, MT_GROWTH_UNKNOWN, 0},
    {"one step, the last part", one_last_step, MT_GROWTH_UNKNOWN, 0},
    {"warm-up, then a leak", warm_then_leak, MT_GROWTH_GROWS, 14 * MIB},
    {"staircase", staircase, MT_GROWTH_GROWS, 336 * MIB / 10},
    {"sawtooth", sawtooth, MT_GROWTH_FLAT, 0},
    {"slow sawtooth", slow_sawtooth, MT_GROWTH_FLAT, 0},
    {"sawtooth that rises", rising_sawtooth, MT_GROWTH_GROWS, 7 * MIB},
    {"levelling out", levelling, MT_GROWTH_UNKNOWN, 0},
    {"begins late", late, MT_GROWTH_GROWS, 35 * MIB},
    {"gives all back at the end", exits, MT_GROWTH_GROWS, 7 * MIB},
    {"falls", falls, MT_GROWTH_FALLS, 0},
    {"spikes", spikes, MT_GROWTH_FLAT, 0},
    {"two teeth", two_teeth, MT_GROWTH_UNKNOWN, 0},
    {"comes and goes", comes_and_goes, MT_GROWTH_UNKNOWN, 0},
    {"a peak, warm-up, then a leak", peak_then_leak, MT_GROWTH_GROWS, 14 * MIB},
};

/* Looks as a busy machine lets one look: now and then one is late. Changes alone are levels. */
static void make(level_of *level, int64_t dur_ns, int64_t interval_ns, int64_t noise_b,
                 struct mt_levels *out, struct mt_growth_wanted *wanted)
{
    int64_t looks = 0, last = 0;
    *out = (struct mt_levels){0};
    for (int64_t t = 0; t <= dur_ns; looks++) {
        int64_t noise = (int64_t)(random_01() * (double)noise_b) / 4096 * 4096;
        int64_t b = level((double)t / (double)dur_ns) + noise;
        if (!looks)
            out->start_b = b;
        else if (b != last)
            *mt_vec_push(&out->all) = (struct mt_level){t, b, looks};
        last = b;
        t += interval_ns + (random_01() < 0.02 ? (int64_t)(random_01() * 10) * interval_ns : 0);
    }
    wanted->last_ns = dur_ns;
    wanted->look_ns = (double)dur_ns / (double)looks;
}

static void verdicts_by_time(void **unused)
{
    static const struct mt_steps none;
    struct mt_growth_wanted wanted = {.steps = &none, .timed = true};
    (void)unused;
    for (size_t i = 0; i < MT_ARRAY_LEN(curves); i++)
        for (int k = 0; k < TIMES; k++) {
            const struct curve *c = &curves[i];
            struct mt_levels l;
            struct mt_growth g;
            make(c->level, (10 + k % 60) * 1000 * ms, (k % 3 ? 10 : 3) * ms, (k % 50) * 4 * KIB, &l,
                 &wanted);
            mt_growth_find(&l, &wanted, &g);
            if (g.verdict != c->want)
                fail_msg("%s: %s (%d: %.0f, %.0f..%.0f)", c->name, mt_growth_names[g.verdict], k,
                         g.rate, g.least, g.most);
            if (c->level == one_last_step && !g.rose)
                fail_msg("%s: nothing rises, and %.0f is the most", c->name, g.most);
            if (c->want == MT_GROWTH_GROWS) {
                double want = (double)c->grew_b * (g.late ? 0.5 : 1);
                if (fabs(g.grew_b - want) > want / 8)
                    fail_msg("%s: %.0f, not %.0f", c->name, g.grew_b, want);
                assert_true(g.least * g.units <= g.grew_b && g.most * g.units >= g.grew_b);
            }
            mt_levels_free(&l);
        }
}

/* Steps, each as long as the others. */
static void each_takes(int64_t dur_ns, struct mt_step *rows, int n)
{
    for (int i = 0; i < n; i++)
        rows[i] = (struct mt_step){.number = i, .start_ns = i * dur_ns, .end_ns = (i + 1) * dur_ns};
}

/* A level at the begin of each of 20 steps, as programs print it; or looks within. */
static void verdicts_by_step(void **unused)
{
    struct mt_step rows[20];
    const struct mt_steps steps = {.all = {rows, MT_ARRAY_LEN(rows), 0}, .dur_ns = 2000 * ms};
    struct mt_growth_wanted wanted = {.steps = &steps, .timed = true, .warmup = 1};
    struct mt_levels l;
    struct mt_growth g;
    (void)unused;
    each_takes(100 * ms, rows, MT_ARRAY_LEN(rows));
    for (int dense = 0; dense < 2; dense++) {
        make(leak, 2000 * ms - 1, (dense ? 3 : 100) * ms, 0, &l, &wanted);
        wanted.timed = dense;
        mt_growth_find(&l, &wanted, &g);
        assert_int_equal(g.verdict, MT_GROWTH_GROWS);
        assert_int_equal(g.unit, MT_PER_STEP);
        assert_true(fabs(g.rate - (double)(10 * MIB) / 20) < 20e3);
        assert_true(g.units == 19 - dense);
        mt_levels_free(&l);
        make(constant, 2000 * ms - 1, (dense ? 3 : 100) * ms, 0, &l, &wanted);
        mt_growth_find(&l, &wanted, &g);
        assert_int_equal(g.verdict, MT_GROWTH_FLAT);
        wanted.warmup = 15;
        mt_growth_find(&l, &wanted, &g);
        assert_int_equal(g.verdict, MT_GROWTH_SHORT);
        wanted.warmup = 1;
        mt_levels_free(&l);
    }
}

/* What a program gives back after its last step is in that step, if nothing ends it. */
static void tidies_in_the_last_step(void **unused)
{
    struct mt_step rows[20];
    const struct mt_steps steps = {.all = {rows, MT_ARRAY_LEN(rows), 0}, .dur_ns = 2000 * ms};
    struct mt_growth_wanted wanted = {.steps = &steps, .timed = true, .warmup = 1};
    static const struct {
        int64_t last_end_ms, warmup;
        double units;
    } cases[] = {{2000, 1, 18}, {2000, 13, 6}, {1830, 1, 19}};
    struct mt_levels l;
    struct mt_growth g;
    (void)unused;
    each_takes(90 * ms, rows, MT_ARRAY_LEN(rows));
    make(tidies, 2000 * ms, 3 * ms, 0, &l, &wanted);
    for (size_t i = 0; i < MT_ARRAY_LEN(cases); i++) {
        rows[19].end_ns = cases[i].last_end_ms * ms;
        wanted.warmup = cases[i].warmup;
        mt_growth_find(&l, &wanted, &g);
        assert_int_equal(g.verdict, MT_GROWTH_GROWS);
        assert_true(g.units == cases[i].units);
    }
    mt_levels_free(&l);
}

/* The last step, which nothing ends, is judged where it is the sixth. */
static void six_steps_are_left(void **unused)
{
    struct mt_step rows[20];
    const struct mt_steps steps = {.all = {rows, MT_ARRAY_LEN(rows), 0}, .dur_ns = 2000 * ms};
    struct mt_growth_wanted wanted = {.steps = &steps, .timed = true};
    struct mt_levels l;
    struct mt_growth g;
    (void)unused;
    each_takes(90 * ms, rows, MT_ARRAY_LEN(rows));
    rows[19].end_ns = 2000 * ms;
    make(leak, 2000 * ms, 3 * ms, 0, &l, &wanted);
    for (wanted.warmup = 12; wanted.warmup < 17; wanted.warmup++) {
        double left = 20 - (double)wanted.warmup;
        mt_growth_find(&l, &wanted, &g);
        assert_int_equal(g.verdict, left < 6 ? MT_GROWTH_SHORT : MT_GROWTH_GROWS);
        assert_true(g.units == (left > 6 ? left - 1 : left));
    }
    mt_levels_free(&l);
}

/* What wanders at random has no drift: hardly ever does it seem to grow. */
static void random_walks(void **unused)
{
    static const struct mt_steps none;
    struct mt_growth_wanted wanted = {.steps = &none, .timed = true};
    int grows = 0, flat = 0;
    (void)unused;
    for (int k = 0; k < 2000; k++) {
        struct mt_levels l = {0};
        struct mt_growth g;
        int64_t level = BASE;
        for (int i = 0; i < 1000; i++) {
            level += (int64_t)((random_01() - 0.5) * (double)MIB);
            *mt_vec_push(&l.all) = (struct mt_level){i * 10 * ms, level, i};
        }
        wanted.last_ns = 10000 * ms;
        wanted.look_ns = (double)(10 * ms);
        mt_growth_find(&l, &wanted, &g);
        grows += g.verdict == MT_GROWTH_GROWS;
        flat += g.verdict == MT_GROWTH_FLAT;
        mt_levels_free(&l);
    }
    if (grows > 200) /* a tenth */
        fail_msg("%d of 2000 random walks grow, %d are flat", grows, flat);
}

static void too_short(void **unused)
{
    static const struct mt_steps none;
    struct mt_growth_wanted wanted = {.steps = &none, .timed = true};
    static const int64_t looks[][2] = {{3000, 10}, {20000, 5000}, {0, 10}, {1, 1}};
    struct mt_levels l = {0};
    struct mt_growth g;
    (void)unused;
    mt_growth_find(&l, &wanted, &g);
    assert_int_equal(g.verdict, MT_GROWTH_SHORT);
    for (size_t i = 0; i < MT_ARRAY_LEN(looks); i++) {
        make(leak, looks[i][0] * ms, looks[i][1] * ms, 0, &l, &wanted);
        mt_growth_find(&l, &wanted, &g);
        assert_int_equal(g.verdict, MT_GROWTH_SHORT);
        assert_false(g.known);
        mt_levels_free(&l);
    }
}

static void what_stands_out(void **unused)
{
    static const struct {
        const char *name;
        level_of *level;
        int jumps, spikes;
        double at; /* the first, as a part of the time */
        int64_t bytes;
    } cases[] = {
        {"leak", leak, 0, 0, 0, 0},
        {"constant", constant, 0, 0, 0, 0},
        {"warm-up", warm_then_flat, 0, 0, 0, 0},
        {"one step", one_step, 1, 0, 0.5, 20 * MIB},
        {"staircase", staircase, 11, 0, 1.0 / 12, 4 * MIB},
        {"levelling out", levelling, 0, 0, 0, 0},
        {"spikes", spikes, 0, 9, 0.1, 40 * MIB},
    };
    const struct mt_window whole = {10000 * ms / 50, 10000 * ms * 99 / 100};
    (void)unused;
    for (int noise = 0; noise < 2; noise++)
        for (size_t i = 0; i < MT_ARRAY_LEN(cases); i++) {
            struct mt_growth_wanted wanted = {0};
            struct mt_levels l;
            struct mt_jumps j;
            int n[2] = {0, 0};
            make(cases[i].level, 10000 * ms, 10 * ms, noise * 200 * KIB, &l, &wanted);
            mt_jumps_find(&l, &whole, wanted.look_ns, &j);
            for (size_t k = 0; k < j.all.n; k++)
                n[j.all.v[k].kind]++;
            if (n[MT_JUMP] != cases[i].jumps || n[MT_SPIKE] != cases[i].spikes)
                fail_msg("%s: %d jumps, %d spikes", cases[i].name, n[MT_JUMP], n[MT_SPIKE]);
            if (j.all.n) {
                assert_true(fabs((double)j.all.v[0].t_ns / 1e10 - cases[i].at) < 0.015);
                assert_true(llabs(j.all.v[0].bytes - cases[i].bytes) <= noise * 210 * KIB);
            }
            mt_jumps_free(&j);
            mt_levels_free(&l);
        }
}

/* 512 KiB, or 1 % of the level where that is more. */
static void flat_border(void **unused)
{
    (void)unused;
    assert_true(mt_growth_is_flat(512 * KIB, MIB));
    assert_false(mt_growth_is_flat(512 * KIB + 1, MIB));
    assert_true(mt_growth_is_flat(MIB, 100 * MIB));
    assert_false(mt_growth_is_flat(MIB + 1, 100 * MIB));
}

/* Of 10 MiB it rises by so much, at half of the time, for so long; 0: it stays. */
static void what_just_stands_out(void **unused)
{
    static const struct {
        int64_t by, dur_ns;
        int jumps, spikes;
    } cases[] = {
        {MIB, 0, 1, 0},  {MIB - 1, 0, 0, 0},  {MIB, 50, 0, 1},
        {MIB, 51, 0, 0}, {MIB - 1, 50, 0, 0}, {2 * MIB, 1, 0, 1},
    };
    const struct mt_window whole = {0, 1000};
    (void)unused;
    for (size_t i = 0; i < MT_ARRAY_LEN(cases); i++) {
        struct mt_levels l = {.start_b = 10 * MIB};
        struct mt_jumps j;
        int n[2] = {0, 0};
        *mt_vec_push(&l.all) = (struct mt_level){500, 10 * MIB + cases[i].by, 0};
        if (cases[i].dur_ns)
            *mt_vec_push(&l.all) = (struct mt_level){500 + cases[i].dur_ns, 10 * MIB, 1};
        mt_jumps_find(&l, &whole, 10, &j);
        for (size_t k = 0; k < j.all.n; k++) {
            n[j.all.v[k].kind]++;
            assert_int_equal(j.all.v[k].t_ns, 500);
            assert_int_equal(j.all.v[k].bytes, cases[i].by);
        }
        if (n[MT_JUMP] != cases[i].jumps || n[MT_SPIKE] != cases[i].spikes)
            fail_msg("case %zu: %d jumps, %d spikes", i, n[MT_JUMP], n[MT_SPIKE]);
        mt_jumps_free(&j);
        mt_jumps_find(&l, &whole, 501, &j); /* one look is none */
        assert_int_equal(j.all.n, 0);
        mt_jumps_find(&l, &(struct mt_window){400, 400}, 10, &j);
        assert_int_equal(j.all.n, 0);
        mt_levels_free(&l);
    }
}

/* Of several rises at once the steepest is when it happened; a window may begin late. */
static void when_it_jumps(void **unused)
{
    static const int64_t rises_mib[] = {1, 4, 1};
    const struct mt_window late = {2000, 3000};
    struct mt_levels l = {.start_b = 10 * MIB};
    struct mt_jumps j;
    int64_t level_b = 10 * MIB;
    (void)unused;
    for (size_t i = 0; i < MT_ARRAY_LEN(rises_mib); i++) {
        level_b += rises_mib[i] * MIB;
        *mt_vec_push(&l.all) = (struct mt_level){2501 + 3 * (int64_t)i, level_b, (int64_t)i};
    }
    mt_jumps_find(&l, &late, 10, &j);
    assert_int_equal(j.all.n, 1);
    assert_int_equal(j.all.v[0].t_ns, 2504);
    assert_int_equal(j.all.v[0].bytes, 6 * MIB);
    mt_jumps_free(&j);
    mt_jumps_find(&l, &late, 501, &j); /* one look */
    assert_int_equal(j.all.n, 0);
    mt_levels_free(&l);
}

/* Steps are turned into minutes by the window, which has three times as many; minutes stay. */
static void by_the_minute(void **unused)
{
    const struct mt_growth none = {.unit = MT_PER_STEP, .to_ns = 120000 * ms, .units = 6};
    struct mt_growth got, again, steps = none;
    (void)unused;
    steps.known = true;
    steps.rate = steps.least = steps.most = 100;
    assert_true(mt_growth_per_minute(&steps, true, &got) && got.unit == MT_PER_MINUTE);
    assert_true(got.units == 2 && got.rate == 300 && got.least == 300 && got.most == 300);
    assert_true(mt_growth_per_minute(&got, true, &again) && again.rate == 300);
    assert_false(mt_growth_per_minute(&steps, false, &got));
    assert_false(mt_growth_per_minute(&none, true, &got));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_by_time),
        cmocka_unit_test(verdicts_by_step),
        cmocka_unit_test(tidies_in_the_last_step),
        cmocka_unit_test(six_steps_are_left),
        cmocka_unit_test(random_walks),
        cmocka_unit_test(too_short),
        cmocka_unit_test(what_stands_out),
        cmocka_unit_test(flat_border),
        cmocka_unit_test(what_just_stands_out),
        cmocka_unit_test(when_it_jumps),
        cmocka_unit_test(by_the_minute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
