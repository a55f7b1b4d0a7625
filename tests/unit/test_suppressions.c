/* lib/analysis/suppressions.c: what patterns match, as LeakSanitizer's and heaptrack's do. */
#include "lib/analysis/suppressions.h"
#include "tests/unit/rows.h"

static const struct match {
    const char *name, *pattern, *text;
    bool matches;
} matches[] = {
    {"a part of the text", "alloc", "my_alloc_x", true},
    {"all of it", "f", "f", true},
    {"another text", "g", "f", false},
    {"nothing has no name", "", "", false},
    {"* has none either", "*", "", false},
    {"no pattern is in any text", "", "f", true},
    {"a start", "^f", "f_of_g", true},
    {"no start", "^f", "g_of_f", false},
    {"an end", "f$", "g_to_f", true},
    {"no end", "f$", "f_of_g", false},
    {"the first that fits is taken, as there", "f$", "f_of_f", false},
    {"both", "^f$", "f", true},
    {"both, and more", "^f$", "ff", false},
    {"any text between", "a*c", "xabbbcx", true},
    {"no text between", "a*c", "xacx", true},
    {"in that order only", "c*a", "abc", false},
    {"any text before", "^*c", "abc", true},
    {"any text behind", "^a*$", "abc", true},
    {"a library", "libfoo.so*$", "/usr/lib/libfoo.so.1", true},
    {"several", "a**b*", "a1b2", true},
    {"what is left over", "abc", "ab", false},
};

static void test_match(void **state)
{
    const struct match *m = *state;
    assert_int_equal(mt_suppression_matches(m->pattern, m->text), m->matches);
}

int main(void)
{
    struct row_tests t = {0};
    ROWS_ADD(&t, test_match, matches);
    return ROWS_RUN(&t, "suppressions");
}
