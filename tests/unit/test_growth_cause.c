/* lib/analysis/growth.h: what it is that grows, of malloc's figures beside those of a process. */
#include "lib/analysis/growth.h"
#include "tests/unit/rows.h"
#include <math.h>

#define MIB    (INT64_C(1) << 20)
#define DUR_NS 5e9

enum { LOOKS = 500 };

/* What there is at a part 0..1 of the time. */
typedef int64_t level_of(double part);

static int64_t constant(double p)
{
    return (void)p, 50 * MIB;
}
/* What rises by 100 MiB, of which malloc has all, nothing or waves. */
static int64_t rises(double p)
{
    return 10 * MIB + (int64_t)(p * 100 * (double)MIB);
}
static int64_t waves(double p)
{
    return 10 * MIB + (int64_t)(fmod(p * 100, 1) * p * 100 * (double)MIB);
}
static int64_t freed_at_the_end(double p)
{
    return p < 0.94 ? rises(p) : 30 * MIB;
}

/* So many looks, the last at that part of the time. */
static void look(level_of *level, int looks, double last, struct mt_levels *out)
{
    *out = (struct mt_levels){.start_b = level(0)};
    for (int i = 0; i <= looks; i++) {
        double at = last * i / looks;
        *mt_vec_push(&out->all) = (struct mt_level){(int64_t)(at * DUR_NS), level(at), i};
    }
}

static void causes(void **unused)
{
    static const struct {
        const char *name;
        level_of *in_use, *outside;
        int looks;
        enum mt_growth_cause want;
    } cases[] = {
        {"in use", rises, constant, 200, MT_CAUSE_IN_USE},
        {"in use, few looks", rises, constant, 6, MT_CAUSE_IN_USE},
        {"waves", waves, constant, 300, MT_CAUSE_HELD},
        {"nothing in use", constant, constant, 6, MT_CAUSE_HELD},
        {"outside", constant, rises, 6, MT_CAUSE_OUTSIDE},
        {"the last look is at what was freed", freed_at_the_end, constant, 6, MT_CAUSE_UNKNOWN},
        {"some are at what was freed", freed_at_the_end, constant, 200, MT_CAUSE_UNKNOWN},
    };
    const double before_end = 0.945; /* the window ends at 0.95 */
    const struct mt_steps none = {0};
    struct mt_growth_process p = {
        .wanted = {.steps = &none, .timed = true, .last_ns = DUR_NS, .look_ns = DUR_NS / LOOKS}};
    struct mt_levels rss;
    (void)unused;
    look(rises, LOOKS, 1, &rss);
    mt_growth_find(&rss, &p.wanted, &p.growth);
    assert_int_equal(p.growth.verdict, MT_GROWTH_GROWS);
    for (size_t i = 0; i < MT_ARRAY_LEN(cases); i++) {
        struct mt_growth_parts parts;
        struct mt_growth_causes found;
        look(cases[i].in_use, cases[i].looks, before_end, &parts.in_use);
        for (size_t k = 0; k < MT_ARRAY_LEN(parts.outside); k++)
            look(k ? constant : cases[i].outside, 50, before_end, &parts.outside[k]);
        mt_growth_causes_find(&parts, &p, &found);
        if (found.most != cases[i].want || found.known != (cases[i].want != MT_CAUSE_UNKNOWN))
            fail_msg("%s: %d, %.0f of %.0f in use", cases[i].name, (int)found.most,
                     found.rate[MT_CAUSE_IN_USE], p.growth.rate);
        mt_levels_free(&parts.in_use);
        for (size_t k = 0; k < MT_ARRAY_LEN(parts.outside); k++)
            mt_levels_free(&parts.outside[k]);
    }
    mt_levels_free(&rss);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(causes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
