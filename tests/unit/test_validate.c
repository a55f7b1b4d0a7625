/* lib/build/validate.c: figures that cannot be true are refused before anything is added up. */
#include "tests/unit/built.h"
#include <string.h>

#define YEAR "31557600000000000"

struct bounds {
    const char *name, *text, *says; /* NULL: fine */
};

static const struct bounds rows[] = {
    {"today", "1 op 1795253274869358000 1795253274869359000 a\n1 mem 1795253274869358500 8 1 cpu",
     NULL},
    {"a long run", "1 op 0 " YEAR " a\n2 op 0 " YEAR " a", NULL},
    {"before 1970", "1 op -5000 -4000 a\n1 mem -4500 8 1 cpu", NULL},
    {"an op that starts too early", "1 op -9223372036854775807 0 a", "times"},
    {"an op that ends too late", "1 op 0 9223372036854775807 a", "times"},
    {"ops that last too long together",
     "1 op 0 1000000000000000000 a\n2 op 0 1000000000000000000 a", "times"},
    {"a recording that starts too early", "- trace_start -9223372036854775807\n1 op 0 9 a",
     "times"},
    {"a recording that starts too late", "- trace_start 4611686018427387904\n1 op 0 9 a", "times"},
    {"a recording that starts late", "- trace_start 4611686018427387903\n1 op 0 9 a", NULL},
    {"a failed allocation too late", "1 op 0 9 a\n1 oom 9223372036854775807 8 cpu", "times"},
    {"a record too late", "1 op 0 9 a\n1 mem 9223372036854775807 8 1 cpu", "1 EiB"},
    {"a record too large", "1 op 0 9 a\n1 mem 1 9223372036854775807 1 cpu", "1 EiB"},
    {"a record of the smallest number", "1 op 0 9 a\n1 mem 1 -9223372036854775808 1 cpu", "1 EiB"},
    {"records too large together",
     "1 op 0 9 a\n1 mem 1 1000000000000000000 1 cpu\n1 mem 2 -1000000000000000000 1 cpu", "1 EiB"},
    {"records that are not",
     "1 op 0 9 a\n1 mem 1 500000000000000000 1 cpu\n"
     "1 mem 2 -500000000000000000 1 cpu",
     NULL},
};

static void bounds(void **state)
{
    const struct bounds *row = *state;
    struct mt_recording r;
    struct mt_err err = MT_ERR_INIT;
    assert_int_equal(built(&r, row->text, &err), row->says ? MT_EINPUT : MT_OK);
    assert_true(!row->says || (strstr(err.what, row->says) && strstr(err.hint, "Nothing")));
    mt_rec_free(&r);
}

int main(void)
{
    static struct row_tests tests;
    ROWS_ADD(&tests, bounds, rows);
    return ROWS_RUN(&tests, "bounds");
}
