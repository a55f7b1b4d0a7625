/* lib/run/kept_nodes.h: the sections of a page read the nodes of its run once. */
#include "lib/run/kept_nodes.h"
#include "tests/unit/stored.h"

static const char recording[] = "1 op 0 100 a\n"
                                "1 op 10 20 b\n"
                                "1 mem 15 64 10 cpu\n";

static struct stored s;

static int open_it(void **state)
{
    (void)state;
    stored_open(&s, recording);
    return 0;
}

static int close_it(void **state)
{
    (void)state;
    mt_nodes_forget();
    stored_close(&s);
    return 0;
}

static struct mt_tree load(const struct mt_run *run)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_tree t = {0};
    if (mt_load_nodes(s.db, run, &t, &err) != MT_OK)
        fail_msg("%s", err.what);
    return t;
}

/* Frees a tree and loads the next one; where the nodes of that are. */
static const void *next_of(struct mt_tree *t, const struct mt_run *run)
{
    mt_tree_free(t);
    *t = load(run);
    return t->nodes.v;
}

static void handed_on(void **state)
{
    (void)state;
    mt_nodes_keep(s.db, &s.run);
    struct mt_tree t = load(&s.run);
    const void *const first = t.nodes.v;
    const size_t n = t.nodes.n;
    assert_int_equal(n, 2);
    for (int i = 0; i < 3; i++) {
        assert_ptr_equal(next_of(&t, &s.run), first); /* nothing was read */
        assert_int_equal(t.nodes.n, n);
        assert_string_equal(mt_strtab_get(&t.strings, t.nodes.v[1].frame), "b");
    }
    struct mt_tree beside = load(&s.run); /* a second one has nodes of its own */
    assert_ptr_not_equal(beside.nodes.v, first);
    assert_int_equal(beside.nodes.n, n);
    mt_tree_free(&t);
    mt_tree_free(&beside);
}

static void of_one_run(void **state)
{
    (void)state;
    struct mt_run other = s.run;
    other.id++;
    other.node_n = 1;
    mt_nodes_keep(s.db, &s.run);
    struct mt_tree t = load(&s.run);
    const void *const first = t.nodes.v;
    next_of(&t, &other);
    assert_int_equal(t.nodes.n, 1);
    assert_ptr_equal(next_of(&t, &s.run), first);
    mt_tree_reuse(&t); /* for runs that share texts */
    mt_tree_free(&t);
    t = load(&s.run);
    assert_int_equal(t.nodes.n, 2);
    mt_tree_free(&t);
}

static void forgotten(void **state)
{
    (void)state;
    mt_nodes_keep(s.db, &s.run);
    struct mt_tree t = load(&s.run);
    mt_nodes_forget();
    mt_tree_free(&t); /* nobody would free them later */
    t = load(&s.run);
    assert_false(t.kept);
    mt_tree_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(handed_on, open_it, close_it),
        cmocka_unit_test_setup_teardown(of_one_run, open_it, close_it),
        cmocka_unit_test_setup_teardown(forgotten, open_it, close_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
