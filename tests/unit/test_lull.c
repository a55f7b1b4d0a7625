/* Times that are most likely damaged (lib/build/lull.c). */
#include "tests/unit/built.h"

static const struct told rows[] = {
    {"as long as it takes", "1 op 0 10 a\n1 op 59999999990 60000000000 b\n", "no_memory 1", NULL},
    {"one op years before the others",
     "1 op 0 10 a\n1 op 900000000000000 900000000000010 b\n1 op 900000000000020 900000000000030 "
     "c\n",
     "no_memory 1, lull 1", NULL},
    {"a record years behind all ops", "1 op 0 10 a\n1 op 20 30 b\n1 mem 900000000000000 8 1 cpu\n",
     "outside_ops 1, lull 1", NULL},
    {"an op is open all the time",
     "1 op 0 900000000000010 a\n2 op 900000000000000 900000000000010 b\n", "no_memory 1", NULL},
    {"a hundredth of it is not", "1 op 0 600000000 a\n1 op 60600000000 60600000001 b\n",
     "no_memory 1", NULL},
    {"less than a hundredth is not", "1 op 0 600000000 a\n1 op 61000000000 61000000001 b\n",
     "no_memory 1, lull 1", NULL},
    {"two moments, and nothing else", "1 mem 0 8 1 cpu\n1 mem 900000000000000 -8 1 cpu\n",
     "outside_ops 2", NULL},
};

static void says_it(void **state)
{
    check_told(*state, tell_notes);
}

int main(void)
{
    static struct row_tests tests;
    ROWS_ADD(&tests, says_it, rows);
    return ROWS_RUN(&tests, "lull");
}
