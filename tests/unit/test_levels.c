/* lib/usage/levels.h and lib/usage/op_peak.h: how much is allocated after each record, and how far
 * it rises while an op runs. */
#include "lib/usage/op_peak.h"
#include "tests/unit/program.h"
#include <string.h>

#define OK(call) assert_int_equal((call), MT_OK)

/* Levels 100, 150, 50, 150; the largest is reached twice. */
static void make_levels(struct program *p, struct mt_levels *levels)
{
    struct mt_err err = MT_ERR_INIT;
    program_start(p);
    int first = program_alloc(p, "a", 100);
    program_alloc(p, "b", 50);
    program_free(p, first);
    program_alloc(p, "a", 100);
    program_finish(p);
    OK(mt_levels_load(p->db, &p->run, &p->device, levels, &err));
}

static void levels_of_records(void **state)
{
    static const int64_t want[] = {100, 150, 50, 150};
    struct program p;
    struct mt_levels l;
    (void)state;
    make_levels(&p, &l);
    assert_int_equal(l.start_b, 0);
    assert_int_equal(l.all.n, MT_ARRAY_LEN(want));
    for (size_t i = 0; i < MT_ARRAY_LEN(want); i++) {
        assert_int_equal(l.all.v[i].level_b, want[i]);
        assert_int_equal(l.all.v[i].record, i);
        assert_true(i == 0 || l.all.v[i].t_ns > l.all.v[i - 1].t_ns);
    }
    mt_levels_free(&l);
    program_end(&p);
}

static void levels_at_times(void **state)
{
    struct program p;
    struct mt_levels l;
    (void)state;
    make_levels(&p, &l);
    assert_int_equal(mt_levels_at(&l, INT64_MIN), -1);
    assert_int_equal(mt_levels_at(&l, INT64_MAX), 3);
    assert_int_equal(mt_levels_before(&l, INT64_MIN), -1);
    assert_int_equal(mt_levels_before(&l, INT64_MAX), 3);
    for (int64_t i = 0; i < 4; i++) {
        assert_int_equal(mt_levels_at(&l, l.all.v[i].t_ns), i);
        assert_int_equal(mt_levels_at(&l, l.all.v[i].t_ns - 1), i - 1);
        assert_int_equal(mt_levels_before(&l, l.all.v[i].t_ns), i - 1);
        assert_int_equal(mt_levels_before(&l, l.all.v[i].t_ns + 1), i);
        assert_int_equal(mt_levels_time(&l, i, -7), l.all.v[i].t_ns);
    }
    assert_int_equal(mt_levels_time(&l, -1, -7), -7);
    assert_int_equal(mt_levels_value(&l, -1), 0);
    assert_int_equal(mt_levels_value(&l, 2), 50);
    mt_levels_free(&l);
    program_end(&p);
}

static void peaks(void **state)
{
    struct program p;
    struct mt_levels l;
    (void)state;
    make_levels(&p, &l);
    assert_int_equal(mt_levels_peak(&l, -1, 3), 1); /* the first of two */
    assert_int_equal(mt_levels_peak(&l, 2, 3), 3);
    assert_int_equal(mt_levels_peak(&l, -1, -1), -1);
    assert_int_equal(mt_levels_peak(&l, 1, 2), 1); /* the level the window begins with counts */
    const int64_t third = l.all.v[2].t_ns;
    const struct mt_time_arg peak = {MT_AT_PEAK, INT64_MAX, INT64_MIN, false},
                             held = {MT_AT_PEAK, INT64_MAX, third, false},
                             late = {MT_AT_PEAK, INT64_MAX, third + 1, false},
                             then = {MT_AT_TIME, third, 0, false},
                             before = {MT_AT_TIME, third, 0, true};
    assert_int_equal(mt_levels_of_moment(&l, &peak), 1);
    assert_int_equal(mt_levels_of_moment(&l, &held), 1); /* until the third record */
    assert_int_equal(mt_levels_of_moment(&l, &late), 3);
    assert_int_equal(mt_levels_of_moment(&l, &then), 2);
    assert_int_equal(mt_levels_of_moment(&l, &before), 1);
    assert_int_equal(p.device.peak_b, 150);
    assert_int_equal(p.device.peak_record, 1);
    mt_levels_free(&l);
    program_end(&p);
}

/* ---- rises ---- */

/* The one node of that name. */
static struct mt_op_peak rise_of(const struct program *p, const struct mt_op_peak *rises,
                                 const char *name)
{
    const struct mt_tree *t = &p->lives.tree;
    struct mt_op_peak found = {-1, -1, -1};
    for (size_t i = 0; i < t->nodes.n; i++)
        if (strcmp(mt_strtab_get(&t->strings, t->nodes.v[i].frame), name) == 0) {
            assert_int_equal(found.rise_b, -1);
            found = rises[i];
        }
    return found;
}

static void check_rise(const struct program *p, const struct mt_op_peak *rises, const char *name,
                       int64_t rise_b, int64_t kept_b)
{
    struct mt_op_peak r = rise_of(p, rises, name);
    assert_int_equal(r.rise_b, rise_b);
    assert_int_equal(r.kept_b, kept_b);
}

static struct mt_op_peak *load_rises(struct program *p)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_op_peak *rises;
    program_finish(p);
    OK(mt_op_peaks_load(p->db, &p->run, &p->device, &p->lives.tree, &rises, &err));
    return rises;
}

static void nested(void **state)
{
    struct program p;
    (void)state;
    program_start(&p);
    program_alloc(&p, "before", 1000);
    program_op(&p, "outer", 100);
    program_op(&p, "middle", 50);
    int first = program_alloc(&p, "inner", 300);
    int second = program_alloc(&p, "inner", 200);
    program_free(&p, first); /* the level is 500 above the start, then 200 */
    p.t_ns += 60;
    program_free(&p, second); /* in outer, not in middle */
    p.t_ns += 60;
    program_alloc(&p, "after", 5);
    struct mt_op_peak *rises = load_rises(&p);
    check_rise(&p, rises, "before", 1000, 1000);
    check_rise(&p, rises, "outer", 500, 0);
    check_rise(&p, rises, "middle", 500, 200);
    check_rise(&p, rises, "inner", 300, 300);
    check_rise(&p, rises, "after", 5, 5);
    assert_int_equal(rise_of(&p, rises, "outer").t_ns, rise_of(&p, rises, "middle").t_ns);
    free(rises);
    program_end(&p);
}

/* What an op allocates below the level at its start is no rise of it. */
static void below_start(void **state)
{
    struct program p;
    (void)state;
    program_start(&p);
    int before = program_alloc(&p, "before", 1000);
    program_op(&p, "outer", 100);
    program_free(&p, before);
    program_alloc(&p, "inner", 300);
    struct mt_op_peak *rises = load_rises(&p);
    check_rise(&p, rises, "outer", 0, 0);
    check_rise(&p, rises, "inner", 300, 300);
    free(rises);
    program_end(&p);
}

static void other_threads(void **state)
{
    struct program p;
    (void)state;
    program_start(&p);
    program_op(&p, "outer", 100);
    int first = program_alloc(&p, "inner", 300);
    program_thread(&p, 2);
    program_alloc(&p, "elsewhere", 10000);
    program_thread(&p, 1);
    program_free(&p, first);
    program_alloc(&p, "inner", 400);
    struct mt_op_peak *rises = load_rises(&p);
    check_rise(&p, rises, "outer", 400, 400);
    check_rise(&p, rises, "inner", 400, 400);
    check_rise(&p, rises, "elsewhere", 10000, 10000);
    free(rises);
    program_end(&p);
}

static void largest_execution(void **state)
{
    static const int64_t bytes[] = {10, 30, 20, 30};
    struct program p;
    int64_t second = 0;
    (void)state;
    program_start(&p);
    for (size_t i = 0; i < MT_ARRAY_LEN(bytes); i++) {
        program_op(&p, "outer", 10);
        second = i == 1 ? p.t_ns + 2 : second;
        int block = program_alloc(&p, "inner", bytes[i]);
        program_free(&p, block);
        p.t_ns += 20;
    }
    struct mt_op_peak *rises = load_rises(&p);
    check_rise(&p, rises, "outer", 30, 0);
    assert_int_equal(rise_of(&p, rises, "outer").t_ns, second - p.rec.start_ns);
    free(rises);
    program_end(&p);
}

/* Whole microseconds: the free at the end of inner is of outer, what is allocated then is of inner,
 * which is one execution all the same. */
static void free_of_the_op_around(void **state)
{
    struct program p;
    (void)state;
    program_start(&p);
    p.rec.whole_us = true;
    program_op(&p, "outer", 20000);
    program_op(&p, "inner", 2000);
    const int64_t end_ns = p.t_ns + 2000;
    program_alloc(&p, NULL, 1000);
    p.t_ns = end_ns - 2;
    int block = program_alloc(&p, NULL, 100);
    p.t_ns = end_ns - 1;
    program_free(&p, block);
    p.t_ns = end_ns - 2;
    block = program_alloc(&p, NULL, 500);
    p.t_ns = end_ns - 1;
    program_free(&p, block); /* after inner */
    struct mt_op_peak *rises = load_rises(&p);
    check_rise(&p, rises, "inner", 1500, 1500);
    check_rise(&p, rises, "outer", 1500, 1000);
    free(rises);
    program_end(&p);
}

static void only_frees(void **state)
{
    struct program p;
    (void)state;
    program_start(&p);
    int block = program_alloc(&p, "first", 64);
    program_op(&p, "free", 10);
    p.t_ns++;
    program_free(&p, block);
    p.t_ns += 20;
    struct mt_op_peak *rises = load_rises(&p);
    check_rise(&p, rises, "free", 0, 0); /* nothing rose */
    free(rises);
    program_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_of_records),
        cmocka_unit_test(levels_at_times),
        cmocka_unit_test(peaks),
        cmocka_unit_test(nested),
        cmocka_unit_test(below_start),
        cmocka_unit_test(other_threads),
        cmocka_unit_test(largest_execution),
        cmocka_unit_test(free_of_the_op_around),
        cmocka_unit_test(only_frees),
    };
    return cmocka_run_group_tests_name("levels and rises", tests, NULL, NULL);
}
