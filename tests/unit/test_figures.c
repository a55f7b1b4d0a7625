/* The table of figures: what readers of a row rely on. */
#include "lib/render/columns.h"
#include "lib/render/stmt_report.h"
#include "lib/run/figures.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void has(enum mt_figure f, unsigned kept, bool wanted)
{
    if (wanted != ((mt_figure_defs[f].kept & kept) != 0))
        fail_msg("%s: kept %#x, %#x %s", mt_figure_defs[f].name, mt_figure_defs[f].kept, kept,
                 wanted ? "is missing" : "is too many");
}

static void rows_are_whole(void **state)
{
    (void)state;
    for (int i = 0; i < MT_FIG_N; i++) {
        enum mt_figure f = (enum mt_figure)i;
        const struct mt_figure_def *d = &mt_figure_defs[i];
        struct mt_column_def column;
        assert_non_null(d->name);
        assert_int_equal(mt_figure_find(d->name), i); /* no two have one name */
        assert_int_not_equal(mt_unit_of_name(d->name), MT_UNIT_NONE);
        assert_int_equal(mt_column_find(d->name, &column), d->meaning != NULL);
        assert_false(d->adds == MT_ADDS_RATE && d->lasts);
        if (d->sections)
            has(f, MT_KEPT_OPS | MT_KEPT_BLOCKS, true);
        if (d->kept & MT_KEPT_HEAVY)
            has(f, MT_KEPT_SITES, true);
        assert_int_equal(d->in_site != NULL, d->in_each != NULL);
    }
}

/* Those that baselines have, and no others, come first; among them rates come last. */
static void baselines(void **state)
{
    bool rates = false;
    (void)state;
    for (int i = 0; i < MT_FIG_N; i++) {
        enum mt_figure f = (enum mt_figure)i;
        const struct mt_figure_def *d = &mt_figure_defs[i];
        has(f, MT_KEPT_DEVICE | MT_KEPT_SUMMED, f < MT_FIG_BASELINE_N);
        assert_int_equal(d->in_device != NULL, f < MT_FIG_BASELINE_N);
        if (f >= MT_FIG_BASELINE_N || d->in_site)
            has(f, MT_KEPT_SITES, f < MT_FIG_BASELINE_N);
        if (f < MT_FIG_BASELINE_N) {
            assert_true(!rates || d->adds == MT_ADDS_RATE);
            rates = d->adds == MT_ADDS_RATE;
            assert_int_equal(rates, f >= MT_FIG_PER_STEP_B);
        }
    }
}

static void unknown_counts(void **state)
{
    union mt_value sum = {.i = 3}, two = {.i = 2}, unknown = {.i = -1};
    (void)state;
    mt_figure_add(MT_FIG_AT_PEAK_N, &sum, &two);
    assert_int_equal(sum.i, 5);
    mt_figure_add(MT_FIG_AT_PEAK_N, &sum, &unknown);
    mt_figure_add(MT_FIG_AT_PEAK_N, &sum, &two);
    assert_int_equal(sum.i, -1);
}

static void steps(void **state)
{
    static const struct {
        enum mt_figure f;
        int64_t v, n, per_step;
    } rows[] = {{MT_FIG_CALLS_N, 7, 2, 4},  {MT_FIG_SELF_NET_B, -7, 2, -4},
                {MT_FIG_CALLS_N, 7, 0, 7},  {MT_FIG_AT_PEAK_B, 8, 2, 8},
                {MT_FIG_AT_END_B, 8, 2, 8}, {MT_FIG_TIME_NS, 9, 3, 3}};
    (void)state;
    for (size_t i = 0; i < MT_ARRAY_LEN(rows); i++) {
        union mt_value v = {.i = rows[i].v};
        mt_figure_per_step(rows[i].f, &v, rows[i].n);
        assert_int_equal(v.i, rows[i].per_step);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_whole),
                                       cmocka_unit_test(baselines),
                                       cmocka_unit_test(unknown_counts), cmocka_unit_test(steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
