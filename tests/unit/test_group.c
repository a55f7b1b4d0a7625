/* lib/run/group.c: groups of items, their self figures and the inclusive ones. */
#include "lib/run/load.h"
#include "tests/unit/rows.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A line of items: DEPTH NAME TOP SCOPE SHAPE STEP CALLS ALLOCATED FREED TIME, "-" for none. */
struct grouping {
    const char *name, *items;
    enum mt_group_key keys[2];
    int key_n;
    /* GROUP (SECOND): calls, self +allocated -freed in time, with subtree +allocated -freed */
    const char *want;
};

#define NESTED                                                                                     \
    "0 a a - - - 1 8 0 10\n"                                                                       \
    "1 b a - - - 2 4 1 5\n"                                                                        \
    "2 a a - - - 1 2 0 3\n"                                                                        \
    "3 b a - - - 1 1 0 2\n"                                                                        \
    "0 b b - - - 1 16 2 7\n"

static const struct grouping groupings[] = {
    {"by name: what lies below the same name is not added again",
     NESTED,
     {MT_BY_NAME},
     1,
     "a: 2, self +10 -0, all +15 -1 in 10\n"
     "b: 4, self +21 -3, all +23 -3 in 12\n"},
    {"by top: one call however many ops lie below",
     NESTED,
     {MT_BY_TOP},
     1,
     "a: 1, self +15 -1, all +15 -1 in 10\n"
     "b: 1, self +16 -2, all +16 -2 in 7\n"},
    {"by two keys",
     NESTED,
     {MT_BY_TOP, MT_BY_NAME},
     2,
     "a a: 2, self +10 -0, all +15 -1 in 10\n"
     "a b: 3, self +5 -1, all +7 -1 in 5\n"
     "b b: 1, self +16 -2, all +16 -2 in 7\n"},
    {"by path: a path is never below itself",
     NESTED,
     {MT_BY_PATH},
     1,
     "a: 1, self +8 -0, all +15 -1 in 10\n"
     "a > b: 2, self +4 -1, all +7 -1 in 5\n"
     "a > b > a: 1, self +2 -0, all +3 -0 in 3\n"
     "a > b > a > b: 1, self +1 -0, all +1 -0 in 2\n"
     "b: 1, self +16 -2, all +16 -2 in 7\n"},
    {"siblings of one name both count",
     "0 r r - - - 1 0 0 9\n1 a r - - - 1 4 0 2\n1 a r - - - 1 2 0 3\n",
     {MT_BY_NAME},
     1,
     "r: 1, self +0 -0, all +6 -0 in 9\n"
     "a: 2, self +6 -0, all +6 -0 in 5\n"},
    {"by scope, with and without one",
     "0 a a - - - 1 4 0 2\n0 s s s - - 1 0 0 9\n1 a a s - - 1 2 0 3\n",
     {MT_BY_SCOPE},
     1,
     "[no scope]: 1, self +4 -0, all +4 -0 in 2\n"
     "s: 1, self +2 -0, all +2 -0 in 9\n"},
    {"by shape",
     "0 a a - [[2]] - 1 4 0 2\n0 a a - [[3]] - 1 2 0 3\n0 a a - [[2]] - 1 1 0 1\n0 b b - - - 1 1 0 "
     "1\n",
     {MT_BY_NAME, MT_BY_SHAPE},
     2,
     "a [[2]]: 2, self +5 -0, all +5 -0 in 3\n"
     "a [[3]]: 1, self +2 -0, all +2 -0 in 3\n"
     "b [no shape]: 1, self +1 -0, all +1 -0 in 1\n"},
    {"by step",
     "0 a a - - 7 1 4 0 2\n0 a a - - 8 1 2 0 3\n0 a a - - - 1 1 0 1\n",
     {MT_BY_STEP},
     1,
     "7: 1, self +4 -0, all +4 -0 in 2\n"
     "8: 1, self +2 -0, all +2 -0 in 3\n"
     "[no step]: 1, self +1 -0, all +1 -0 in 1\n"},
    {"nothing", "", {MT_BY_NAME}, 1, ""},
};

static uint32_t id_of(struct mt_tree *t, const char *text)
{
    return strcmp(text, "-") == 0 ? MT_NONE : mt_strtab_add(&t->strings, text, strlen(text));
}

static void add_item(struct mt_tree *t, uint32_t open[8], const char *line)
{
    char name[32], top[32], scope[32], shape[32], step[32];
    int depth;
    int64_t calls, allocated, freed, time;
    assert_int_equal(
        sscanf(line, "%d %31s %31s %31s %31s %31s %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64,
               &depth, name, top, scope, shape, step, &calls, &allocated, &freed, &time),
        10);
    uint32_t index = (uint32_t)t->items.n, parent = depth ? open[depth - 1] : MT_NONE;
    open[depth] = index;
    *mt_vec_push(&t->nodes) = (struct mt_tree_node){.parent = parent,
                                                    .frame = id_of(t, name),
                                                    .top = id_of(t, top),
                                                    .scope = id_of(t, scope),
                                                    .module = MT_NONE};
    struct mt_sums self = {.alloc_b = allocated, .freed_b = freed};
    *mt_vec_push(&t->items) = (struct mt_item){.parent = parent,
                                               .node = index,
                                               .calls_n = calls,
                                               .time_ns = time,
                                               .self = self,
                                               .shape = id_of(t, shape),
                                               .forward = MT_NONE,
                                               .step = step[0] == '-' ? INT64_MIN : atoi(step),
                                               .tensor = MT_NONE};
    for (uint32_t i = index; i != MT_NONE; i = t->items.v[i].parent) {
        t->items.v[i].total.alloc_b += allocated;
        t->items.v[i].total.freed_b += freed;
    }
}

static void read_items(struct mt_tree *t, const char *text)
{
    uint32_t open[8];
    mt_strtab_init(&t->strings);
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        add_item(t, open, line);
}

static void tell(const struct mt_groups *groups, int key_n, struct mt_buf *out)
{
    for (size_t i = 0; i < groups->rows.n; i++) {
        const struct mt_group *g = &groups->rows.v[i];
        for (int k = 0; k < key_n; k++)
            mt_buf_addf(out, "%s%s", k ? " " : "", g->key[k]);
        mt_buf_addf(out, ": %" PRId64 ", self +%" PRId64 " -%" PRId64, g->calls_n, g->self.alloc_b,
                    g->self.freed_b);
        mt_buf_addf(out, ", all +%" PRId64 " -%" PRId64 " in %" PRId64 "\n", g->total.alloc_b,
                    g->total.freed_b, g->time_ns);
    }
}

static void grouping(void **state)
{
    const struct grouping *row = *state;
    struct mt_tree tree = {0};
    struct mt_groups groups = {0};
    struct mt_buf text = {0};
    read_items(&tree, row->items);
    mt_group(&tree, row->keys, row->key_n, &groups);
    tell(&groups, row->key_n, &text);
    assert_string_equal(text.s ? text.s : "", row->want);
    mt_buf_free(&text);
    mt_groups_free(&groups);
    mt_tree_free(&tree);
}

/* [outside ops] and [before trace] are rows of their own, which an op of that name is not. */
static void explicit_rows(void **state)
{
    (void)state;
    struct mt_tree tree = {.before_at_peak_b = 3, .before_at_end_b = -5};
    struct mt_groups groups = {0};
    const enum mt_group_key key = MT_BY_NAME;
    read_items(&tree, "0 x - - - - 1 4 0 2\n"
                      "0 a - - - - 1 1 0 1\n");
    tree.nodes.v[0].frame = id_of(&tree, "[outside ops]");
    *mt_vec_push(&tree.outside) =
        (struct mt_outside){.sums = {.alloc_b = 7, .freed_b = 9}, .thread = MT_NONE};
    mt_group(&tree, &key, 1, &groups);
    assert_int_equal(groups.rows.n, 4);
    assert_int_equal(groups.rows.v[0].self.alloc_b, 4);
    assert_false(groups.rows.v[0].explicit_row);
    const struct mt_group *outside = &groups.rows.v[2], *before = &groups.rows.v[3];
    assert_string_equal(outside->key[0], "[outside ops]");
    assert_true(outside->explicit_row && !outside->has_calls);
    assert_int_equal(outside->self.alloc_b, 7);
    assert_int_equal(outside->total.freed_b, 9);
    assert_string_equal(before->key[0], "[before trace]");
    assert_true(before->explicit_row && !before->has_calls);
    assert_int_equal(before->self.at_peak_b, 3);
    assert_int_equal(before->self.at_end_b, -5);
    assert_int_equal(before->self.alloc_b - before->self.freed_b, 0);
    mt_groups_free(&groups);
    mt_tree_free(&tree);
}

/* Adds a node of that name below another one, with an item of 1 B. */
static uint32_t add_below(struct mt_tree *t, uint32_t parent, const char *name)
{
    uint32_t node = (uint32_t)t->nodes.n, frame = id_of(t, name);
    *mt_vec_push(&t->nodes) = (struct mt_tree_node){.parent = parent, .frame = frame, .top = frame};
    struct mt_item *item = mt_vec_push(&t->items);
    *item = mt_item_of_node(node);
    item->parent = parent;
    item->self.alloc_b = 1;
    return node;
}

static uint32_t add_chain(struct mt_tree *t, uint32_t parent, const char *name, int n)
{
    while (n-- > 0)
        parent = add_below(t, parent, name);
    return parent;
}

/* Paths that differ where their texts are cut are still different ones. */
static void deep_paths(void **state)
{
    (void)state;
    static const char *const roots[] = {"a", "b"}, *const middles[] = {"x", "y"};
    const enum mt_group_key key = MT_BY_PATH;
    struct mt_tree tree = {0};
    struct mt_groups groups = {0};
    mt_strtab_init(&tree.strings);
    for (int root = 0; root < 2; root++)
        for (int middle = 0; middle < 2; middle++) {
            uint32_t at = add_chain(&tree, MT_NONE, roots[root], 1);
            at = add_chain(&tree, at, "n", 100);
            at = add_chain(&tree, at, middles[middle], 1);
            at = add_chain(&tree, at, "n", 200);
            add_chain(&tree, at, "leaf", 1);
        }
    mt_group(&tree, &key, 1, &groups);
    int64_t sum = 0;
    size_t shared = 2 * 101; /* down to where x and y begin, the paths are the same */
    assert_int_equal(groups.rows.n, tree.nodes.n - shared);
    for (size_t i = 0; i < groups.rows.n; i++) {
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(groups.rows.v[k].key[0], groups.rows.v[i].key[0]);
        sum += groups.rows.v[i].self.alloc_b;
    }
    assert_int_equal(sum, tree.nodes.n);
    const char *last = groups.rows.v[groups.rows.n - 1].key[0];
    assert_memory_equal(last, "b > n > ", 8);
    assert_non_null(strstr(last, " > [239 more, 0x"));
    assert_string_equal(last + strlen(last) - 11, " > n > leaf");
    mt_groups_free(&groups);
    mt_tree_free(&tree);
}

/* As many paths as they are deep: their texts together stay small. */
static void deep_tree(void **state)
{
    (void)state;
    enum { DEPTH = 100000 };
    const enum mt_group_key key = MT_BY_PATH;
    struct mt_tree tree = {0};
    struct mt_groups groups = {0};
    mt_strtab_init(&tree.strings);
    add_chain(&tree, MT_NONE, "aten::add", DEPTH);
    mt_group(&tree, &key, 1, &groups);
    assert_int_equal(groups.rows.n, DEPTH);
    assert_in_range(mt_strtab_bytes(&tree.strings), 1, 100u << 20);
    mt_groups_free(&groups);
    mt_tree_free(&tree);
}

int main(void)
{
    static struct row_tests tests;
    static const struct {
        const char *name;
    } rows[] = {{"explicit rows"}}, deep[] = {{"deep paths"}}, tree[] = {{"a deep tree"}};
    ROWS_ADD(&tests, grouping, groupings);
    ROWS_ADD(&tests, explicit_rows, rows);
    ROWS_ADD(&tests, deep_paths, deep);
    ROWS_ADD(&tests, deep_tree, tree);
    return ROWS_RUN(&tests, "grouping");
}
