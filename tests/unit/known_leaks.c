#include "tests/unit/known_leaks.h"

#include <string.h>

static void check(struct program *p, const struct known_leak *k)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_leaks found;
    const enum mt_group_key key = MT_BY_SITE;
    int64_t at_end = 0;
    bool seen = false;
    assert_int_equal(mt_leaks_find(&p->lives, &p->device, &key, 1, 1, &found, &err), MT_OK);
    for (size_t i = 0; i < found.rows.n; i++) {
        const struct mt_leak *l = &found.rows.v[i];
        at_end += l->at_end_b;
        bool suspect = l->verdict <= MT_VERDICT_CANDIDATE;
        if (strcmp(l->key[0], k->site) != 0 || (!suspect && l->verdict != k->verdict))
            continue;
        seen = true;
        assert_int_equal(l->verdict, k->verdict);
        assert_int_equal(l->growth_b, k->growth_b);
        assert_int_equal(l->growth_steps, k->growth_steps);
        assert_int_equal(l->first_step, k->since);
    }
    assert_int_equal(seen, k->verdict != MT_VERDICT_N);
    assert_int_equal(at_end, p->device.at_end_b);
    mt_leaks_free(&found);
}

void known_leak_run(const struct known_leak *k, int idle)
{
    struct program p;
    int kept[KEEP_MAX] = {0};
    program_start(&p);
    for (int step = 0; step < k->steps; step++) {
        program_step(&p);
        program_op(&p, "work", 1);
        k->step(&p, step, kept);
    }
    for (int i = 0; i < idle; i++)
        program_step(&p);
    program_finish(&p);
    check(&p, k);
    program_end(&p);
}

void known_leak_test(void **state)
{
    known_leak_run(*state, 0);
}
