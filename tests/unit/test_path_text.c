/* lib/run/path_text.h: the order of paths is that of their texts, which it does not make. */
#include "lib/run/load.h"
#include "lib/run/path_text.h"

#include "tests/unit/rows.h"
#include <string.h>

enum { NODES = 400, DEEP = 600 };

/* Names of which some begin like others, and go on with what is less than " > " or is more. */
static const char *const names[] = {"a",  "ab",       "a b",         "a > b",
                                    "a!", "operator", "operator ()", "7"};

static uint32_t add_node(struct mt_tree *t, uint32_t parent, const char *name)
{
    *mt_vec_push(&t->nodes) = (struct mt_tree_node){
        .parent = parent, .frame = mt_strtab_add(&t->strings, name, strlen(name))};
    return (uint32_t)t->nodes.n - 1;
}

/* A wide tree, some paths of which there are twice, and two branches that are longer than what is
 * shown of a path. */
static void make_tree(struct mt_tree *t)
{
    unsigned chance = 7;
    mt_strtab_init(&t->strings);
    for (uint32_t i = 0; i < NODES; i++) {
        chance = chance * 1103515245u + 12345u;
        uint32_t parent = i < 3 ? MT_NONE : (chance >> 8) % i;
        add_node(t, parent, names[(chance >> 20) % (sizeof names / sizeof *names)]);
    }
    uint32_t end = 5, other = 5;
    for (uint32_t i = 0; i < DEEP; i++) {
        end = add_node(t, end, names[i % 5]);
        other = add_node(t, i == 300 ? end : other, names[i % 3]);
    }
}

static int sign(int v)
{
    return (v > 0) - (v < 0);
}

static void test_order(void **state)
{
    struct mt_tree t = {0};
    struct mt_paths p = {0};
    (void)state;
    make_tree(&t);
    mt_paths_number(&p, &t);
    uint32_t n = (uint32_t)t.nodes.n;
    char **text = mt_alloc(n * sizeof *text);
    for (uint32_t i = 0; i < n; i++) {
        struct mt_buf b = {0};
        mt_path_add(&p, &t, i, &b);
        text[i] = b.s;
        assert_string_equal(mt_strtab_get(&t.strings, mt_path_text(&p, &t, i)), text[i]);
        assert_string_equal(text[p.first[i]], text[i]);
        assert_true(p.first[i] <= i);
    }
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++)
            assert_int_equal(sign(mt_path_cmp(&p, &t, a, b)), sign(strcmp(text[a], text[b])));
    for (uint32_t i = 0; i < n; i++)
        free(text[i]);
    free(text);
    mt_paths_free(&p);
    mt_tree_free(&t);
}

/* Nodes have one path where all their names are the same. */
static void test_first(void **state)
{
    struct mt_tree t = {0};
    struct mt_paths p = {0};
    (void)state;
    mt_strtab_init(&t.strings);
    uint32_t a = add_node(&t, MT_NONE, "a"), again = add_node(&t, MT_NONE, "a");
    uint32_t b = add_node(&t, a, "b"), b_again = add_node(&t, again, "b");
    uint32_t both = add_node(&t, MT_NONE, "a > b");
    mt_paths_number(&p, &t);
    assert_int_equal(p.first[again], a);
    assert_int_equal(p.first[b_again], b);
    assert_int_equal(p.first[both], both);
    mt_paths_free(&p);
    mt_tree_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_first)};
    return cmocka_run_group_tests_name("texts of paths", tests, NULL, NULL);
}
