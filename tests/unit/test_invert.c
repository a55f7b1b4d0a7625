/* lib/run/invert.h: trees turned round, so that callers stand below what they call. */
#include "lib/run/invert.h"
#include "tests/unit/rows.h"
#include <inttypes.h>
#include <string.h>

/* Adds a node below another one, with an item of so many bytes and a call. */
static uint32_t add_below(struct mt_tree *t, uint32_t parent, const char *name, int64_t bytes)
{
    uint32_t node = (uint32_t)t->nodes.n, frame = mt_strtab_add(&t->strings, name, strlen(name));
    *mt_vec_push(&t->nodes) = (struct mt_tree_node){.parent = parent, .frame = frame, .top = frame};
    struct mt_item *item = mt_vec_push(&t->items);
    *item = mt_item_of_node(node);
    item->parent = parent;
    item->calls_n = 1;
    item->self.alloc_b = bytes;
    return node;
}

static uint32_t add_chain(struct mt_tree *t, uint32_t parent, const char *name, int n)
{
    while (n-- > 0)
        parent = add_below(t, parent, name, 1);
    return parent;
}

/* NAME calls +allocated, callers indented, in the order of the items. */
static void tell(const struct mt_tree *t, uint32_t parent, int depth, struct mt_buf *out)
{
    for (uint32_t i = 0; i < t->items.n; i++) {
        const struct mt_item *item = &t->items.v[i];
        if (item->parent != parent)
            continue;
        mt_buf_addf(out, "%*s%s %" PRId64 " +%" PRId64 "\n", depth * 2, "",
                    mt_strtab_get(&t->strings, t->nodes.v[item->node].frame), item->calls_n,
                    item->total.alloc_b);
        tell(t, i, depth + 1, out);
    }
}

static void callers(void **state)
{
    (void)state;
    static const char *const want[] = {"a 2 +9\n"
                                       "  b 1 +1\n"
                                       "b 2 +2\n"
                                       "  a 1 +2\n"
                                       "c 2 +20\n"
                                       "  b 1 +4\n"
                                       "    a 1 +4\n"
                                       "  a 1 +16\n"
                                       "    b 1 +16\n",
                                       "a 2 +9\nb 2 +2\nc 2 +20\n"};
    for (uint32_t levels = 0; levels < 2; levels++) {
        struct mt_tree tree = {0};
        struct mt_buf text = {0};
        mt_strtab_init(&tree.strings);
        uint32_t a = add_below(&tree, MT_NONE, "a", 8), b = add_below(&tree, a, "b", 2);
        add_below(&tree, b, "c", 4);
        b = add_below(&tree, MT_NONE, "b", 0);
        a = add_below(&tree, b, "a", 1);
        add_below(&tree, a, "c", 16);
        assert_int_equal(mt_tree_invert(&tree, levels), 0);
        tell(&tree, MT_NONE, 0, &text);
        assert_string_equal(text.s, levels ? want[1] : want[0]);
        mt_buf_free(&text);
        mt_tree_free(&tree);
    }
}

static uint32_t depth_of(const struct mt_tree *t, uint32_t item)
{
    uint32_t n = 0;
    for (; item != MT_NONE; item = t->items.v[item].parent)
        n++;
    return n;
}

static void up_to_the_root(void **state)
{
    (void)state;
    struct mt_tree tree = {0};
    mt_strtab_init(&tree.strings);
    uint32_t at = add_chain(&tree, MT_NONE, "root", 1);
    at = add_chain(&tree, at, "n", 300);
    add_chain(&tree, at, "leaf", 1);
    assert_int_equal(mt_tree_invert(&tree, 0), 0);
    uint32_t deepest = 0, roots = 0;
    for (uint32_t i = 0; i < tree.items.n; i++) {
        const struct mt_item *item = &tree.items.v[i];
        uint32_t depth = depth_of(&tree, i);
        deepest = depth > deepest ? depth : deepest;
        roots += depth == 302 && item->node == 0;
    }
    assert_int_equal(deepest, 302);
    assert_int_equal(roots, 1);
    mt_tree_free(&tree);
}

/* All callers of all ops would be five billion. */
static void too_many(void **state)
{
    (void)state;
    enum { DEPTH = 100000 };
    struct mt_tree tree = {0};
    mt_strtab_init(&tree.strings);
    add_chain(&tree, MT_NONE, "n", DEPTH);
    uint32_t levels = mt_tree_invert(&tree, 0);
    assert_in_range(levels, 100, DEPTH / 2);
    assert_int_equal(tree.items.n, levels);
    assert_int_equal(depth_of(&tree, levels - 1), levels);
    assert_int_equal(tree.items.v[0].total.alloc_b, DEPTH);
    assert_int_equal(tree.items.v[levels - 1].total.alloc_b, DEPTH - levels + 1);
    mt_tree_free(&tree);
}

/* The functions on the way to an allocation of a snapshot did nothing themselves. */
static void of_one_leaf(void **state)
{
    (void)state;
    enum { DEPTH = 100000 };
    struct mt_tree tree = {0};
    mt_strtab_init(&tree.strings);
    uint32_t at = add_chain(&tree, MT_NONE, "n", DEPTH);
    for (size_t i = 0; i < tree.items.n; i++)
        tree.items.v[i].calls_n = tree.items.v[i].self.alloc_b = 0;
    add_below(&tree, at, "leaf", 8);
    assert_int_equal(mt_tree_invert(&tree, 0), 0);
    assert_int_equal(tree.items.n, DEPTH + 1);
    assert_int_equal(depth_of(&tree, DEPTH), DEPTH + 1);
    assert_int_equal(tree.items.v[DEPTH].total.alloc_b, 8);
    mt_tree_free(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callers),
        cmocka_unit_test(up_to_the_root),
        cmocka_unit_test(too_many),
        cmocka_unit_test(of_one_leaf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
