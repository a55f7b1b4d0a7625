/* formats/mtrace.c: small logs, whole and damaged, and what becomes of them. */
#include "formats/format.h"
#include "tests/unit/rows.h"
#include "tests/unit/summed.h"

#define START "= Start\n"
#define A     "@ ./a:[0x12] "
#define B     "@ /lib/libx.so.1:(g(int)-1f)[0x34] "

static const struct summed_file mtraces[] = {
    {"allocated, freed", START A "+ 0x10 0x64\n" A "+ 0x20 0x32\n" A "- 0x10\n= End\n",
     " alloc 150 n 2 peak 150 end 50 moments 3 events 3\n"
     "[a+0x12] 150/150/50\n"},
    {"lines that end as on Windows", "= Start\r\n@ ./a:[0x12] + 0x10 0x64\r\n= End\r\n",
     " alloc 100 n 1 peak 100 end 100 moments 1 events 1\n"
     "[a+0x12] 100/100/100\n"},
    {"a function, its library, no object, no caller",
     START B "+ 0x10 0x1\n@ /lib/l.so:(malloc+2)[0x9] + 0x20 0x2\n@ [0x7f01] + 0x30 0x4\n"
             "+ 0x40 0x8\n@ ./a b:[0x1] + 0x50 0x10\n",
     " alloc 31 n 5 peak 31 end 31 outside 8/8/8 moments 5 events 5\n"
     "g 1/1/1\n"
     "malloc 2/2/2\n"
     "[0x7f01] 4/4/4\n"
     "[a b+0x1] 16/16/16\n"},
    {"moved", START A "+ 0x10 0x10\n" A "< 0x10\n" A "> 0x20 0x30\n",
     " alloc 64 n 2 peak 48 end 48 moments 2 events 2\n"
     "[a+0x12] 64/48/48\n"},
    {"lines without an end",
     START A "+ 0x10 0x10\n" A "+ 0x20 0x10" A "+ 0x30 0x10\n@ ./a:[0x1" A "+ 0x40 0x1\n",
     " alloc 33 n 3 peak 33 end 33 moments 3 events 3\n"
     "[a+0x12] 16/16/16\n[a+0x12] 16/16/16\n[a+0x12] 1/1/1\nnote skipped 2\n"},
    {"damaged addresses",
     START A "+ 0x10 0x10\n" A "+ 0x55g0 0x10\n" A "+ 0x5655897514g0 0x10\n" A "- 0x1z\n" A
             "+ 0x40 0x1z\n",
     " alloc 16 n 1 peak 16 end 16 moments 1 events 1\n"
     "[a+0x12] 16/16/16\nnote skipped 4\n"},
    {"moved in place", START A "+ 0x10 0x10\n" B "< 0x10\n" B "> 0x10 0x8\n",
     " alloc 24 n 2 peak 16 end 8 moments 2 events 2\n"
     "[a+0x12] 16/16/0\n"
     "g 8/0/8\n"},
    {"moved, of which one half is there",
     START A "+ 0x10 0x10\n" A "< 0x10\n" A "+ 0x20 0x1\n" A "> 0x30 0x2\n",
     " alloc 19 n 3 peak 16 end 3 moments 4 events 4\n"
     "[a+0x12] 19/16/3\n"},
    {"failed: allocated, moved",
     START A "+ 0x10 0x10\n" A "+ (nil) 0x1000\n" A "! 0x10 0x2000\n" A
             "+ (nil) 0xffffffffffffffff\n" A "! 0x10 0x4000000000000000\n",
     " alloc 16 n 1 peak 16 end 16 moments 1 events 1\n"
     "[a+0x12] 16/16/16\n"},
    {"nothing, which is a block too", START A "+ 0x10 0\n" A "+ 0x20 0x0\n",
     " alloc 0 n 2 peak 0 end 0 moments 2 events 2\n"
     "[a+0x12] 0/0/0\n"},
    {"freed though it was never allocated", START A "- 0x10\n" A "+ 0x20 0x1\n",
     " alloc 1 n 1 peak 1 end 1 moments 1 events 2\n"
     "[a+0x12] 1/1/1\n"
     "note before_trace 1\n"},
    {"allocated twice", START A "+ 0x10 0x1\n" A "+ 0x10 0x2\n",
     " alloc 3 n 2 peak 2 end 2 moments 2 events 2\n"
     "[a+0x12] 3/2/2\n"
     "note replaced 1\n"},
    {"two processes", START A "+ 0x10 0x1\n" START A "+ 0x20 0x2\n",
     " alloc 3 n 2 peak 3 end 3 moments 2 events 2\n"
     "[a+0x12] 3/3/3\n"
     "note processes 2\n"},
    {"lines that make no sense",
     START A "+ 0x10 0x1\nhello\n@ ./a + 0x20 0x1\n" A "* 0x1\n" A "+ 0x30\n" A "+ 0x40 7\n" A
             "- 0x10 0x10\n" A "+ 0x50 0xffffffffffffffff\n\n",
     " alloc 1 n 1 peak 1 end 1 moments 1 events 1\n"
     "[a+0x12] 1/1/1\n"
     "note skipped 7\n"},
    /* of 7 to 17 digits: each is another, also where the next line begins with digits of hex */
    {"long addresses",
     START A "+ 0x1234567 0x1\n" A "+ 0x12345678 0x2\n" A "+ 0x123456789 0x4\n" A
             "+ 0x123456789abcdef 0x8\n" A "+ 0xfedcba9876543210 0x10\n" A
             "+ 0x123456789abcdef01 0x20\n" A "- 0x12345678\nabcdef\n" A "- 0x123456789ABCDEF\n" A
             "- 0xfedcba9876543210\n",
     " alloc 31 n 5 peak 31 end 5 moments 8 events 8\n"
     "[a+0x12] 31/31/5\n"
     "note skipped 2\n"},
    {"nothing at all", START "= End\n",
     " alloc 0 n 0 peak 0 end 0 moments 0 events 0\n"
     "note no_allocations 1\n"},
    {"cut", START A "+ 0x10 0x1\n" A "+ 0x2",
     "error at 50: its last line does not end: the file was cut off, or lacks only its last "
     "newline\n"},
    {"cut, --partial", START A "+ 0x10 0x1\n" A "+ 0x2",
     " alloc 1 n 1 peak 1 end 1 moments 1 events 1\n"
     "[a+0x12] 1/1/1\n"
     "note cut 1\n"},
};

static void test_mtrace(void **state)
{
    summed_test(*state, &mt_reader_mtrace);
}

int main(void)
{
    struct row_tests t = {0};
    ROWS_ADD(&t, test_mtrace, mtraces);
    return ROWS_RUN(&t, "mtrace");
}
