/* formats/memleak.c: small files, whole and damaged, and what becomes of them. */
#include "formats/format.h"
#include "tests/unit/rows.h"
#include "tests/unit/summed.h"
#include <string.h>

#define TOP(clock, n) "[" clock "] Top " n " stacks with outstanding allocations:\n"
#define ONE           "note moments 1\n"
#define FULL          "note kinds_left_out 1\n"

static const struct summed_file files[] = {
    {"stacks",
     TOP("11:16:33", "9") "\t80 bytes in 5 allocations from stack\n\t\tf(int)+0x6d [allocs]\n"
                          "\t\tmain+0x1 [allocs]\n\t7 bytes in 1 allocations from stack\n"
                          "\t\tmain+0x2 [allocs]\n",
     " alloc ? n ? peak 87 end 87 moments 1 ns 0\nmain 0/7/7\nmain;f 0/80/80\n" ONE},
    {"two reports, over midnight",
     TOP("23:59:59", "9") "\t80 bytes in 5 allocations from stack\n\t\tmain+0x1 [a]\n\n" TOP(
         "00:00:04", "9") "\t16 bytes in 1 allocations from stack\n\t\tmain+0x1 [a]\n",
     " alloc ? n ? peak 80 end 16 moments 2 ns 5000000000\nmain 0/80/16\nnote moments 2\n"},
    {"a report behind what the program printed",
     TOP("1:2:3", "9") "\t8 bytes in 1 allocations from stack\n\t\tmain+0x1 [a]\nstep [3] " TOP(
         "1:2:4", "9") "\t9 bytes in 1 allocations from stack\n\t\tmain+0x1 [a]\n",
     " alloc ? n ? peak 9 end 9 moments 2 ns 1000000000\nmain 0/9/9\nnote moments 2\n"},
    {"nothing is held", TOP("1:2:3", "9"), " alloc ? n ? peak 0 end 0 moments 1 ns 0\n" ONE},
    {"as many stacks as are listed",
     TOP("1:2:3", "1") "\t80 bytes in 5 allocations from stack\n\t\tmain+0x1 [a]\n",
     " alloc ? n ? peak 80 end 80 moments 1 ns 0\nmain 0/80/80\n" FULL ONE},
    {"single blocks, of more stacks than are listed",
     TOP("1:2:3", "1") "\taddr = 10 size = 80\n\taddr = 0x20 size = 9\n"
                       "\t80 bytes in 1 allocations from stack\n\t\tmain+0x1 [a]\n",
     " alloc ? n ? peak 89 end 89 outside 0/9/9 moments 1 ns 0\nmain 0/80/80\n" ONE},
    {"functions without a name, addresses before them, as the C version has them",
     TOP("1:2:3", "9") "8 bytes in 1 allocations from stack\n\t0 [<00007f01>] <null sym>\n"
                       "\t1 [<00007f01>] g+0x2 [/usr/lib/liba b.so]\n"
                       "4 bytes in 1 allocations from stack\n\t\t0x0000000000000007\t[unknown] "
                       "[libx.so]\n\t\t0x0000000000000007\toperator new(unsigned "
                       "long)+0x1c\n\t\t0x1\tmain+0x1 [a]\n",
     " alloc ? n ? peak 12 end 12 moments 1 ns 0\ng;[unknown function] 0/8/8\nmain;operator "
     "new;[libx.so] 0/4/4\n" ONE},
    {"no stack",
     TOP("1:2:3", "9") "\t8 bytes in 1 allocations from stack\n\t\tstack information lost\n\t4 "
                       "bytes in 1 allocations from stack\n\nmain+0x1 [a]\n",
     " alloc ? n ? peak 12 end 12 outside 0/12/12 moments 1 ns 0\n" ONE},
    {"what the program prints",
     "Attaching to pid 3, Ctrl+C to quit.\nhello\n" TOP("1:2:3", "9") "hello\n\t8 bytes in 1 "
                                                                      "allocations from "
                                                                      "stack\n\t\tmain+0x1 "
                                                                      "[a]\nhello\n\t\tf+0x1\n",
     " alloc ? n ? peak 8 end 8 moments 1 ns 0\nmain 0/8/8\n" ONE},
    {"sizes that cannot be true",
     TOP("1:2:3", "9") "\t-8 bytes in 1 allocations from stack\n\t\tf+0x1\n\t9000000000000000000 "
                       "bytes in 1 allocations from stack\n\t\tmain+0x1\n",
     " alloc ? n ? peak 0 end 0 moments 1 ns 0\nnote skipped 2\n" ONE},
    {"as many stacks as are listed, before the last report",
     TOP("1:2:3", "1") "\t80 bytes in 5 allocations from stack\n\t\tmain+0x1 [a]\n" TOP("1:2:4",
                                                                                        "1"),
     " alloc ? n ? peak 80 end 0 moments 2 ns 1000000000\nmain 0/80/0\n" FULL "note moments 2\n"},
    {"a damaged line of sizes",
     TOP("1:2:3", "9") "\t80 bytes in 5x allocations from stack\n\t\tmain+0x1 [a]\n",
     " alloc ? n ? peak 0 end 0 moments 1 ns 0\nnote skipped 1\n" ONE},
    {"a damaged line of sizes behind a stack",
     TOP("1:2:3", "9") "\t8 bytes in 1 allocations from stack\n\t\tf+0x1 [a]\n\t80 bytes in x "
                       "allocations from stack\n\t\tmain+0x1 [a]\n",
     " alloc ? n ? peak 8 end 8 moments 1 ns 0\nf 0/8/8\nnote skipped 1\n" ONE},
    {"no report", "Attaching to pid 3, Ctrl+C to quit.\n",
     "error at -1: memleak has reported nothing in this file\n"},
    {"cut", TOP("1:2:3", "9") "\t8 bytes in 1 alloc",
     "error at 70: its last line does not end: the file was cut off, or lacks only its last "
     "newline\n"},
    {"cut, --partial",
     TOP("1:2:3", "9") "\t8 bytes in 1 allocations from stack\n\t\tmain+0x1 [a]\n\t\t__libc",
     " alloc ? n ? peak 8 end 8 moments 1 ns 0\nmain 0/8/8\nnote cut 1\n" ONE},
};

static void test_files(void **state)
{
    summed_test(*state, &mt_reader_memleak);
}

static const struct looks {
    const char *name, *text;
    int score;
} looks[] = {
    {"a report", TOP("11:16:33", "10"), 94},
    {"a report behind other lines", "x\n" TOP("1:2:3", "10"), 94},
    {"a report behind what the program printed", "[1] loading..." TOP("1:2:3", "10"), 94},
    {"before the first report", "Attaching to pid 12, Ctrl+C to quit.\n", 91},
    {"of the kernel", "Attaching to kernel allocators, Ctrl+C to quit.\n", 91},
    {"no time", "[x] Top 3 stacks with outstanding allocations:\n", 0},
    {"words of another", "stacks with outstanding allocations:\n", 0},
    {"nothing", "", 0},
};

static void test_looks(void **state)
{
    const struct looks *l = *state;
    assert_int_equal(mt_reader_memleak.probe(l->text, strlen(l->text)), l->score);
}

int main(void)
{
    struct row_tests t = {0};
    ROWS_ADD(&t, test_files, files);
    ROWS_ADD(&t, test_looks, looks);
    return ROWS_RUN(&t, "memleak");
}
