/* Expressions looked for in many texts: what they find, and that this takes no memory to speak of.
 */
#include "lib/base/finder.h"

#include "lib/base/mem.h"
#include "tests/unit/rows.h"
#include <locale.h>
#include <string.h>
#include <sys/resource.h>

enum { MOST_KIB = 80 * 1024, TEXTS_N = 3000, CHARS = 30 };

struct finder_row {
    const char *name, *expression;
    const char *yes, *no; /* it matches this, but not that */
};

static const struct finder_row rows[] = {
    {"in the middle", "b", "abc", "acc"},
    {"repeated", "b+c", "abbc", "ac"},
    {"anything", "x*", "abc", NULL},
    {"alternatives", "b+|d+", "xd", "ac"},
    {"at the beginning", "^b*c", "bbc", "abc"},
    {"at the beginning or not", "(^|:)b*c", "a:bc", "abc"},
    {"at the end", "b*c$", "abc", "abcd"},
    {"a bracket that closes nothing", "a*)", "(a)", "a("},
    {"brackets in between", "a+)b+|(c)", "xaa)b", "aabb"},
    {"a bracket of a list", "[)]+", "a)", "a("},
    {"behind a line", "b+", "a\nb", "a\n"},
    {"at the beginning, not of a line", "^b+", "b", "a\nb"},
    {"behind what is no UTF-8", "b+c", "a\xff\xc3 bc", "a\xff c"},
};

static void find(void **state)
{
    const struct finder_row *row = *state;
    struct mt_err err = MT_ERR_INIT;
    struct mt_finder f;
    assert_int_equal(mt_finder_make(&f, "--name", row->expression, &err), MT_OK);
    assert_true(mt_finder_finds(&f, row->yes));
    if (row->no)
        assert_false(mt_finder_finds(&f, row->no));
    mt_finder_free(&f);
}

/* The C library alone keeps a kilobyte or more for each character. */
static void memory(void **state)
{
    (void)state;
    setlocale(LC_CTYPE, "C");
#ifndef __SANITIZE_ADDRESS__ /* whose malloc does not say what is allocated */
    struct mt_err err = MT_ERR_INIT;
    struct mt_finder f;
    struct rusage used;
    unsigned random = 1;
    char text[CHARS + 1] = {0};
    assert_int_equal(mt_finder_make(&f, "--name", ".*a.{250}c", &err), MT_OK);
    for (int i = 0; i < TEXTS_N; i++) {
        for (int k = 0; k < CHARS; k++) {
            random = random * 1103515245 + 12345;
            text[k] = random >> 16 & 1 ? 'a' : 'b';
        }
        assert_false(mt_finder_finds(&f, text));
    }
    mt_finder_free(&f);
    getrusage(RUSAGE_SELF, &used);
    assert_in_range(used.ru_maxrss, 1, MOST_KIB);
#endif
}

int main(void)
{
    static struct row_tests tests;
    setlocale(LC_CTYPE, "C.UTF-8");
    ROWS_ADD(&tests, find, rows);
    rows_add(&tests, memory, &(const char *){"memory"}, 1, sizeof(char *));
    return ROWS_RUN(&tests, "finders");
}
