/* Where a model is built again, by what was made and freed between two steps of optimizers. */
#include "tests/unit/rows.h"

#include "lib/build/training_signs.h"

#include <stdbool.h>

enum { WEIGHT_B = 400, BIAS_B = 40, MADE_NS = 20, GRADIENT_NS = 40 };

static const struct row {
    const char *name;
    enum mt_training_part made;
    enum mt_training_part beside; /* MT_TRAINING_GRADIENT: nothing more */
    int64_t beside_ns;
    bool want;
} rows[] = {
    {"built", MT_TRAINING_BUILT, MT_TRAINING_GRADIENT, 0, true},
    {"copied alone", MT_TRAINING_COPIED, MT_TRAINING_GRADIENT, 0, false},
    {"copied, and state is made", MT_TRAINING_COPIED, MT_TRAINING_STATE, 50, true},
    {"copied, and the older one is gone", MT_TRAINING_COPIED, MT_TRAINING_GONE, 25, true},
    {"zero_grad came before it was built", MT_TRAINING_BUILT, MT_TRAINING_ZEROED, 10, true},
    {"weights kept in empty blocks", MT_TRAINING_BUILT, MT_TRAINING_ZEROED, 30, false},
};

/* A weight and a bias. */
static void add(struct mt_training_signs *s, int64_t t_ns, enum mt_training_part part)
{
    *mt_vec_push(&s->all) = (struct mt_training_sign){t_ns, WEIGHT_B, 1, 0, (uint8_t)part};
    *mt_vec_push(&s->all) = (struct mt_training_sign){t_ns + 1, BIAS_B, 1, 0, (uint8_t)part};
}

static void test_one(void **state)
{
    const struct row *row = *state;
    struct mt_training_signs signs = {0};
    struct mt_training_starts starts = {0};
    add(&signs, GRADIENT_NS, MT_TRAINING_GRADIENT);
    add(&signs, MADE_NS, row->made);
    if (row->beside != MT_TRAINING_GRADIENT)
        add(&signs, row->beside_ns, row->beside);
    mt_training_starts_find(&signs, &starts);
    assert_int_equal(starts.t_ns.n, row->want);
    if (row->want)
        assert_int_equal(starts.t_ns.v[0], MADE_NS);
    mt_vec_free(&starts.t_ns);
    mt_vec_free(&signs.all);
}

/* Of copies for which the optimizer makes state, too: it is another one of the same model. */
static void test_state_anew(void **state)
{
    struct mt_training_signs signs = {0};
    struct mt_training_starts starts = {0};
    (void)state;
    add(&signs, MADE_NS, MT_TRAINING_COPIED);
    add(&signs, 30, MT_TRAINING_ZEROED);
    add(&signs, GRADIENT_NS, MT_TRAINING_GRADIENT);
    add(&signs, 50, MT_TRAINING_STATE);
    mt_training_starts_find(&signs, &starts);
    assert_int_equal(starts.t_ns.n, 0);
    mt_vec_free(&starts.t_ns);
    mt_vec_free(&signs.all);
}

int main(void)
{
    static struct row_tests tests;
    const struct CMUnitTest others[] = {cmocka_unit_test(test_state_anew)};
    ROWS_ADD(&tests, test_one, rows);
    int failed = ROWS_RUN(&tests, "training_signs");
    return failed ? failed : cmocka_run_group_tests_name("training_signs", others, NULL, NULL);
}
