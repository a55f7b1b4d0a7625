/* lib/model/paths.h: which function a path is of, and what makes a node of its own. */
#include "lib/model/paths.h"
#include "lib/model/recording.h"
#include "tests/unit/rows.h"
#include <stdlib.h>
#include <string.h>

struct path {
    const char *name;
    const char *frames; /* outermost first; those of capital letters are aside */
    const char *top, *scope;
    size_t nodes;
};

static const struct path paths[] = {
    {"one function", "a", "a", "", 1},
    {"two", "ab", "b", "a", 2},
    {"three", "abc", "c", "b", 3},
    {"an allocator inside", "abM", "b", "a", 3},
    {"two allocators inside", "abMN", "b", "a", 4},
    {"allocators alone", "MN", "N", "", 2},
    {"an allocator around", "Ma", "a", "", 2},
    {"one between", "aMb", "b", "a", 3},
    {"recursion", "abbbb", "b", "a", 2},
    {"recursion of two", "abab", "b", "a", 4},
    {"the function around is not itself", "abMb", "b", "a", 4},
};

static void top_of_path(void **state)
{
    const struct path *w = *state;
    struct mt_recording r;
    struct mt_path_tree p;
    uint32_t node = MT_NONE;
    mt_rec_init(&r);
    mt_path_tree_init(&p, &r);
    for (const char *f = w->frames; *f; f++)
        node = mt_path_node(
            &p, node,
            mt_path_frame(&p, (char[]){*f, 0}, "o", "f.c", 3, *f < 'a' ? MT_PATH_ASIDE : 0));
    const struct mt_node *n = &r.nodes.v[node];
    assert_string_equal(mt_strtab_get(&r.strings, r.frames.v[n->top].name), w->top);
    assert_string_equal(
        n->scope == MT_NONE ? "" : mt_strtab_get(&r.strings, r.frames.v[n->scope].name), w->scope);
    assert_int_equal(r.nodes.n, w->nodes);
    mt_path_tree_free(&p);
    mt_rec_free(&r);
}

/* Lines make no nodes of their own; objects and files do. */
static void lines_and_objects(void **state)
{
    struct mt_recording r;
    struct mt_path_tree p;
    (void)state;
    mt_rec_init(&r);
    mt_path_tree_init(&p, &r);
    uint32_t one = mt_path_frame(&p, "f", "o", "f.c", 3, 0),
             two = mt_path_frame(&p, "f", "o", "f.c", 4, 0);
    uint32_t other = mt_path_frame(&p, "f", "p", "f.c", 3, 0),
             bare = mt_path_frame(&p, "f", "", "", 0, 0);
    assert_int_equal(mt_path_node(&p, MT_NONE, one), 0);
    assert_int_equal(r.nodes.v[0].line, 3);
    assert_int_equal(mt_path_node(&p, MT_NONE, two), 0);
    assert_int_equal(r.nodes.v[0].line, 0);
    assert_int_equal(mt_path_node(&p, MT_NONE, one), 0);
    assert_int_equal(r.nodes.v[0].line, 0);
    assert_int_equal(mt_path_node(&p, MT_NONE, other), 1);
    assert_int_equal(mt_path_node(&p, MT_NONE, bare), 2);
    assert_int_equal(r.frames.n, 3);
    assert_int_equal(r.frames.v[2].object, MT_NONE);
    assert_int_equal(r.frames.v[2].file, MT_NONE);
    mt_path_tree_free(&p);
    mt_rec_free(&r);
}

/* Two names that differ where they are cut are two; a character is not cut in two. */
static void long_names(void **state)
{
    enum { LONG = 100 * 1000 };
    static const char sign[] = "\xc3\xa9";
    char *s = mt_alloc(LONG + 1);
    struct mt_recording r;
    (void)state;
    mt_rec_init(&r);
    for (size_t i = 0; i < LONG; i++)
        s[i] = (i + 1) % 2 ? sign[0] : sign[1];
    uint32_t whole = mt_rec_name(&r, s, MT_NAME_BYTES_MAX);
    assert_int_equal(strlen(mt_strtab_get(&r.strings, whole)), MT_NAME_BYTES_MAX);
    assert_int_equal(r.notes[MT_NOTE_LONG_NAMES].count, 0);
    uint32_t one = mt_rec_name(&r, s, LONG), odd = mt_rec_name(&r, s + 1, LONG - 1);
    s[LONG - 1] = 'x';
    uint32_t other = mt_rec_name(&r, s, LONG);
    s[LONG - 1] = sign[1];
    assert_int_equal(mt_rec_name(&r, s, LONG), one);
    assert_true(one != other && one != odd && other != odd);
    const char *cut = mt_strtab_get(&r.strings, one);
    assert_memory_equal(cut, s, MT_NAME_BYTES_MAX);
    assert_memory_equal(cut + MT_NAME_BYTES_MAX, "... [100000 bytes, ", 19);
    assert_memory_equal(mt_strtab_get(&r.strings, odd) + MT_NAME_BYTES_MAX - 1,
                        "... [99999 bytes, ", 18);
    assert_int_equal(r.notes[MT_NOTE_LONG_NAMES].count, 3);
    free(s);
    mt_rec_free(&r);
}

int main(void)
{
    static struct row_tests tests;
    static const struct {
        const char *name;
    } alone[] = {{"lines and objects"}, {"long names"}};
    ROWS_ADD(&tests, top_of_path, paths);
    rows_add(&tests, lines_and_objects, &alone[0], 1, sizeof alone[0]);
    rows_add(&tests, long_names, &alone[1], 1, sizeof alone[0]);
    return ROWS_RUN(&tests, "paths");
}
