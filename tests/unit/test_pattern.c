/* Regular expressions that users write: which are taken, and that none takes much room. */
#include "lib/base/mem.h"
#include "lib/base/pattern.h"
#include "tests/unit/rows.h"
#include <string.h>
#include <sys/resource.h>

enum { MOST_KIB = 256 * 1024 };

struct pattern_row {
    const char *name, *text;
    const char *says;     /* part of the error; NULL: it is taken, */
    const char *yes, *no; /* and matches this, but not that */
};

#define TOO_LARGE "is too large"
#define BACK      "refers back"
#define TEN(x)    x x x x x x x x x x

static const struct pattern_row rows[] = {
    {"words", "^aten::(conv2d|relu)$", NULL, "aten::relu", "aten::relu_"},
    {"empty", "", NULL, "x", NULL},
    {"signs", "\\(\\{\\+\\\\", NULL, "f({+\\", "f("},
    {"lists", "[]{]+[^]]{2}[[:alpha:]]{1,3}[a\\1]", NULL, "]{xyabc\\", "]{"},
    {"a list with a bracket inside", "[[.{.]9999]{2}", NULL, "{9", "{"},
    {"many, but not too many", "a{1,1999}", NULL, "a", "b"},
    {"a long alternative", TEN(TEN("abcdefgh|abcd|")) "x", NULL, "abcdefgh", NULL},
    {"repeated in repeats", "((ab){3}c){2}d", NULL, "abababcabababcd", "ababcababcd"},
    {"no expression", "(", "invalid regular expression", NULL, NULL},
    {"no list", "a[", "invalid regular expression", NULL, NULL},
    {"a lone closing bracket", "a)", NULL, "a)", "a"},
    {"repeats of repeats of repeats", "((a{1,255}){1,255}){1,255}", TOO_LARGE, NULL, NULL},
    {"behind others", "x|y(((a{1,100}){1,100}))", TOO_LARGE, NULL, NULL},
    {"behind a closing bracket", ")((a{1,255}){1,255}){1,255}", TOO_LARGE, NULL, NULL},
    {"of a list", "([[:alpha:]]{90}[]{]{90}){90}", TOO_LARGE, NULL, NULL},
    {"at least", "((a{200,}){200,}){200,}", TOO_LARGE, NULL, NULL},
    {"once and more, nested", TEN("(") TEN("(") "a" TEN(")+") TEN(")+"), TOO_LARGE, NULL, NULL},
    {"one after the other", "a{10}{10}{10}{10}", TOO_LARGE, NULL, NULL},
    {"once", "a{32767}", TOO_LARGE, NULL, NULL},
    {"more than a number", "a{99999999999999999999}", TOO_LARGE, NULL, NULL},
    {"long", TEN(TEN(TEN("abcde"))), TOO_LARGE, NULL, NULL},
    {"deep", TEN(TEN(TEN("((((("))) "a", TOO_LARGE, NULL, NULL},
    {"back to a group", "(a*)*\\1", BACK, NULL, NULL},
    {"the same, deeper", "((a*)(b\\2))", BACK, NULL, NULL},
};

static void compile(void **state)
{
    const struct pattern_row *row = *state;
    struct mt_err err = MT_ERR_INIT;
    struct rusage used;
    regex_t re;
    enum mt_status st = mt_pattern(&re, "--name", row->text, &err);
    assert_int_equal(st, row->says ? MT_EUSAGE : MT_OK);
    if (row->says && !strstr(err.what, row->says))
        assert_string_equal(err.what, row->says);
    if (row->yes)
        assert_int_equal(regexec(&re, row->yes, 0, NULL, 0), 0);
    if (row->no)
        assert_int_not_equal(regexec(&re, row->no, 0, NULL, 0), 0);
    if (st == MT_OK)
        regfree(&re);
    getrusage(RUSAGE_SELF, &used);
    assert_in_range(used.ru_maxrss, 1, MOST_KIB);
}

int main(void)
{
    static struct row_tests tests;
    ROWS_ADD(&tests, compile, rows);
    return ROWS_RUN(&tests, "patterns");
}
