/* lib/analysis/suppressions.c: what patterns match, as LeakSanitizer's and heaptrack's do. */
#include "lib/analysis/suppressions.h"
#include "tests/unit/rows.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static const struct file {
    const char *name, *text;
    size_t n;
    const char *complaint; /* NULL: none */
    int64_t line;
} files[] = {
    {"patterns and a comment", "# known\nleak:f\n", 15, NULL, 0},
    {"of another tool", "leak:f\nrace:f\n", 14, "no suppression of leaks", 2},
    {"not cut off at a NUL byte", "leak:f\nleak:a\0b\n", 16, "a NUL byte", 2},
};

static void test_file(void **state)
{
    const struct file *t = *state;
    struct mt_suppressions s = {0};
    struct mt_err err = MT_ERR_INIT;
    char path[] = "/tmp/memtool-suppressions-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, t->text, t->n) == (ssize_t)t->n);
    close(fd);
    enum mt_status st = mt_suppressions_read(&s, path, &err);
    unlink(path);
    assert_int_equal(st, t->complaint ? MT_EINPUT : MT_OK);
    if (t->complaint)
        assert_non_null(strstr(err.what, t->complaint));
    assert_int_equal(err.line, t->line);
    mt_suppressions_free(&s);
}

int main(void)
{
    struct row_tests t = {0};
    ROWS_ADD(&t, test_match, matches);
    ROWS_ADD(&t, test_file, files);
    return ROWS_RUN(&t, "suppressions");
}
