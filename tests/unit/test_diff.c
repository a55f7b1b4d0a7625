/* lib/analysis/diff.h: what changed from one made-up program to another. */
#include "lib/analysis/diff.h"
#include "tests/unit/program.h"
#include <string.h>

#define OK(call) assert_int_equal((call), MT_OK)

enum { STEPS = 8 };

/* Keeps a block in each step, and needs `work` bytes while one runs. */
static void make(struct program *p, int64_t kept, int64_t work, const char *also)
{
    program_start(p);
    for (int step = 0; step < STEPS; step++) {
        program_step(p);
        if (step == 0)
            program_alloc(p, "state", 1000);
        program_alloc(p, "keep", kept);
        int block = program_alloc(p, "work", work);
        int other = program_alloc(p, also, 77);
        program_free(p, block);
        program_free(p, other);
    }
    program_finish(p);
}

static void compare(struct mt_diff *d, struct program *base, struct program *new, int parts,
                    enum mt_group_key key)
{
    struct mt_err err = MT_ERR_INIT;
    struct program *const programs[2] = {base, new};
    *d = (struct mt_diff){.keys = {key}, .key_n = 1};
    for (int s = 0; s < 2; s++) {
        d->side[s].db = programs[s]->db;
        d->side[s].run = programs[s]->run;
        d->side[s].device = programs[s]->device;
        OK(mt_diff_load(d, s, parts, 1, &err));
    }
    mt_diff_compare(d);
}

static struct mt_diff_row row_of(const struct mt_diff *d, const char *key)
{
    struct mt_diff_row found = {0};
    for (size_t i = 0; i < d->rows.n; i++)
        if (strcmp(d->rows.v[i].key[0], key) == 0) {
            assert_null(found.key);
            found = mt_diff_row(d, i);
        }
    assert_non_null(found.key);
    return found;
}

static void same_figures(const struct mt_figures *a, const struct mt_figures *b)
{
    assert_int_equal(a->unknown, b->unknown);
    for (int f = 0; f < MT_FIG_N; f++)
        assert_true(mt_figure_defs[f].adds == MT_ADDS_RATE ? a->v[f].r == b->v[f].r
                                                           : a->v[f].i == b->v[f].i);
}

/* The rows of each side add up to the device's own figures. */
static void adds_up(const struct mt_diff *d)
{
    static const enum mt_figure summed[] = {
        MT_FIG_AT_PEAK_B, MT_FIG_SELF_NET_B,    MT_FIG_SELF_ALLOC_B, MT_FIG_SELF_ALLOC_N,
        MT_FIG_AT_END_B,  MT_FIG_LEAK_AT_END_B, MT_FIG_PER_STEP_B};
    for (size_t i = 0; i < 2 * MT_ARRAY_LEN(summed); i++) {
        enum mt_figure figure = summed[i / 2];
        struct mt_figures sum = {0};
        for (size_t row = 0; row < d->rows.n; row++) {
            const struct mt_figures f = mt_diff_row(d, row).at[i % 2];
            mt_figure_add(figure, &sum.v[figure], &f.v[figure]);
        }
        assert_memory_equal(&sum.v[figure], &d->side[i % 2].whole.v[figure], sizeof sum.v[figure]);
    }
}

static void rows_add_up(void **state)
{
    struct program base, new;
    (void)state;
    make(&base, 100, 5000, "old");
    make(&new, 60, 9000, "fresh");
    for (int key = 0; key < MT_BY_N; key++) {
        struct mt_diff d;
        compare(&d, &base, &new, MT_DIFF_OPS | MT_DIFF_LIVES, (enum mt_group_key)key);
        adds_up(&d);
        mt_diff_free(&d);
    }
    program_end(&base);
    program_end(&new);
}

static void known_figures(void **state)
{
    struct program base, new;
    struct mt_diff d;
    (void)state;
    make(&base, 100, 5000, "old");
    make(&new, 60, 9000, "fresh");
    compare(&d, &base, &new, MT_DIFF_OPS | MT_DIFF_LIVES, MT_BY_SITE);
    assert_int_equal(d.side[0].whole.v[MT_FIG_AT_PEAK_B].i, 1000 + STEPS * 100 + 5000 + 77);
    assert_int_equal(d.side[1].whole.v[MT_FIG_AT_PEAK_B].i, 1000 + STEPS * 60 + 9000 + 77);
    const struct mt_diff_row work = row_of(&d, "work"), keep = row_of(&d, "keep");
    assert_int_equal(work.at[0].v[MT_FIG_AT_PEAK_B].i, 5000);
    assert_int_equal(work.at[1].v[MT_FIG_AT_PEAK_B].i, 9000);
    assert_int_equal(work.at[1].v[MT_FIG_SELF_ALLOC_B].i, STEPS * 9000);
    assert_int_equal(work.at[1].v[MT_FIG_SELF_ALLOC_N].i, STEPS);
    assert_int_equal(work.match, MT_MATCH_SAME);
    assert_int_equal(keep.at[0].v[MT_FIG_AT_PEAK_N].i, STEPS);
    assert_true(keep.at[0].v[MT_FIG_PER_STEP_B].r == 100 &&
                keep.at[1].v[MT_FIG_PER_STEP_B].r == 60);
    assert_true(d.side[1].whole.v[MT_FIG_PER_STEP_B].r == 60 &&
                d.side[1].whole.v[MT_FIG_PER_STEP_N].r == 1);
    assert_int_equal(row_of(&d, "old").match, MT_MATCH_ONLY);
    assert_true(row_of(&d, "old").in[0] && !row_of(&d, "old").in[1]);
    assert_true(!row_of(&d, "fresh").in[0] && row_of(&d, "fresh").in[1]);
    assert_int_equal(row_of(&d, "fresh").at[0].v[MT_FIG_AT_PEAK_B].i, 0);
    mt_diff_per_step(&d);
    assert_int_equal(row_of(&d, "work").at[1].v[MT_FIG_SELF_ALLOC_B].i, 9000);
    assert_int_equal(row_of(&d, "work").at[1].v[MT_FIG_AT_PEAK_B].i,
                     9000); /* a peak is no sum of steps */
    mt_diff_free(&d);
    program_end(&base);
    program_end(&new);
}

static void with_itself(void **state)
{
    struct program p;
    (void)state;
    make(&p, 100, 5000, "also");
    for (int key = 0; key < MT_BY_N; key++) {
        struct mt_diff d;
        compare(&d, &p, &p, MT_DIFF_OPS | MT_DIFF_LIVES, (enum mt_group_key)key);
        assert_true(d.rows.n > 0);
        assert_int_equal(d.match_n[MT_MATCH_SAME], d.rows.n);
        same_figures(&d.side[0].whole, &d.side[1].whole);
        for (size_t i = 0; i < d.rows.n; i++) {
            const struct mt_diff_row row = mt_diff_row(&d, i);
            assert_true(row.in[0] && row.in[1]);
            same_figures(&row.at[0], &row.at[1]);
        }
        mt_diff_free(&d);
    }
    program_end(&p);
}

static void there_and_back(void **state)
{
    struct program a, b;
    (void)state;
    make(&a, 100, 5000, "old");
    make(&b, 60, 9000, "fresh");
    for (int key = 0; key < MT_BY_N; key++) {
        struct mt_diff there, back;
        compare(&there, &a, &b, MT_DIFF_OPS | MT_DIFF_LIVES, (enum mt_group_key)key);
        compare(&back, &b, &a, MT_DIFF_OPS | MT_DIFF_LIVES, (enum mt_group_key)key);
        assert_int_equal(there.rows.n, back.rows.n);
        for (size_t i = 0; i < there.rows.n; i++) {
            const struct mt_diff_row x = mt_diff_row(&there, i), y = row_of(&back, x.key[0]);
            assert_int_equal(x.match, y.match);
            for (int s = 0; s < 2; s++) {
                assert_int_equal(x.in[s], y.in[!s]);
                same_figures(&x.at[s], &y.at[!s]);
            }
        }
        mt_diff_free(&there);
        mt_diff_free(&back);
    }
    program_end(&a);
    program_end(&b);
}

/* Too few steps to tell a leak: no growth is not 0, and with another run it is none that healed. */
static void unknown_growth(void **state)
{
    struct program base, new;
    struct mt_diff d;
    (void)state;
    program_start(&base);
    program_step(&base);
    program_alloc(&base, "keep", 100);
    program_finish(&base);
    make(&new, 60, 9000, "fresh");
    compare(&d, &base, &new, MT_DIFF_OPS | MT_DIFF_LIVES, MT_BY_SITE);
    const struct mt_diff_row keep = row_of(&d, "keep");
    assert_int_equal(keep.at[0].unknown, MT_UNKNOWN_GROWTH);
    assert_int_equal(keep.at[1].unknown, 0);
    assert_false(mt_diff_growth_known(&d.side[0].whole));
    assert_true(mt_diff_growth_known(&d.side[1].whole));
    mt_diff_free(&d);
    program_end(&base);
    program_end(&new);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_add_up),    cmocka_unit_test(known_figures),
        cmocka_unit_test(with_itself),    cmocka_unit_test(there_and_back),
        cmocka_unit_test(unknown_growth),
    };
    return cmocka_run_group_tests_name("diff", tests, NULL, NULL);
}
