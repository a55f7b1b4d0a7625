/* formats/android_heap.c, android_allocs.c: small files, whole and damaged, and what becomes of
 * them. */
#include "formats/format.h"
#include "tests/unit/rows.h"
#include "tests/unit/summed.h"
#include <string.h>

static const struct summed_file allocs[] = {
    {"all calls",
     "1: malloc 0x10 20\n1: calloc 0x20 32 4\n2: memalign 0x30 16 7\n2: realloc 0x40 0x10 12\n1: "
     "free 0x20\n2: thread_done 0x0\n",
     " alloc 167 n 4 peak 155 end 19 outside 167/155/19 moments 5 events 6\n"},
    {"realloc of nothing, that fails, that frees",
     "1: realloc 0x10 0x0 20\n1: realloc 0x0 0x10 99\n1: malloc 0x20 5\n1: realloc 0x0 0x20 0\n",
     " alloc 25 n 2 peak 25 end 20 outside 25/25/20 moments 3 events 4\n"},
    {"calls that fail, and free(NULL)", "1: malloc 0x0 20\n1: free 0x0\n",
     " alloc 0 n 0 peak 0 end 0 moments 0 events 2\nnote no_allocations 1\n"},
    {"times", "1: malloc 0x10 20 1000 1200\n2: malloc 0x20 30 900 1100\n1: free 0x10 2000 2200\n",
     " alloc 50 n 2 peak 50 end 30 outside 50/50/30 moments 2 ns 1000\n"},
    {"lines that make no sense", "1: malloc 0x10 20\n1: malloc 0x20\nhello\n1: new 0x30 8\n",
     " alloc 20 n 1 peak 20 end 20 outside 20/20/20 moments 1 events 1\nnote skipped 3\n"},
    {"what is older", "1: free 0x10\n",
     " alloc 0 n 0 peak 0 end 0 moments 0 events 1\nnote before_trace 1\nnote no_allocations 1\n"},
    {"cut", "1: malloc 0x10 20\n1: malloc 0x20 2",
     "error at 34: its last line does not end: the file was cut off, or lacks only its last "
     "newline\n"},
    {"cut, --partial", "1: malloc 0x10 20\n1: malloc 0x20 2",
     " alloc 20 n 1 peak 20 end 20 outside 20/20/20 moments 1 events 1\nnote cut 1\n"},
};

#define HEAD(total, size)                                                                          \
    "Android Native Heap Dump v1.0\n\nTotal memory: " total                                        \
    "\nAllocation records: 1\nBacktrace size: " size "\n\n"

static const struct summed_file heap[] = {
    {"records",
     HEAD("120", "16") "z 0  sz 50  num 2  bt 1100 1200\nz 1  sz 20  num    1  bt "
                       "1200\nMAPS\n1000-2000 r-xp 00000000 fd:00 4   /a/libx.so\nEND\n",
     " alloc ? n ? peak ? end 120 no time 0\n[libx.so+0x200] "
     "0/0/20\n[libx.so+0x200];[libx.so+0x100] 0/0/100\n"},
    {"names",
     HEAD("100", "16") "z 0  sz 50  num 2  bt 1100 1200\n  bt_info {\"/l/libc.so\" 100 \"malloc\" "
                       "10} {\"/b/app\" 200 \"f(int)\" 3} {\"/b/app\" 300 \"\" 0}\nMAPS\nEND\n\n",
     " alloc ? n ? peak ? end 100 no time 0\n[app+0x300];f 0/0/100\n"},
    {"less than in all", HEAD("150", "16") "z 0 sz 50 num 2 bt\nMAPS\nEND\n",
     " alloc ? n ? peak ? end 150 outside 0/0/150 no time 0\nnote unlisted 1\n"},
    {"the depth of stacks for the number of blocks",
     HEAD("70", "16") "z 0 sz 50 num 16 bt 1\nz 0 sz 20 num 16 bt 2\nMAPS\nEND\n",
     " alloc ? n ? peak ? end 70 no time 0\n[0x1] 0/0/50\n[0x2] 0/0/20\n"},
    {"so many blocks in truth",
     HEAD("1120", "16") "z 0 sz 50 num 16 bt 1\nz 0 sz 20 num 16 bt 2\nMAPS\nEND\n",
     " alloc ? n ? peak ? end 1120 no time 0\n[0x1] 0/0/800\n[0x2] 0/0/320\n"},
    {"nothing", HEAD("0", "16") "MAPS\nEND\n", " alloc ? n ? peak ? end 0 no time 0\n"},
    {"records that make no sense",
     HEAD("0", "16") "z 0 sz -5 num 1 bt 1\nz 0 sz 5\nbt_info {\nMAPS\nEND\n",
     " alloc ? n ? peak ? end 0 no time 0\nnote skipped 3\n"},
    {"a version to come", "Android Native Heap Dump v2.0\n",
     "error at 0: a dump of a version that memtool does not know\n"},
    {"no dump", "Native heap dump not available. To enable, run\n",
     "error at -1: Android wrote no dump: malloc_debug was not on\n"},
    {"cut", HEAD("50", "16") "z 0 sz 50 num 1 bt 1\n",
     "error at 111: ends early: a dump ends with a line \"END\"\n"},
    {"cut, --partial", HEAD("50", "16") "z 0 sz 50 num 1 bt 1\nz 0 sz",
     " alloc ? n ? peak ? end 50 no time 0\n[0x1] 0/0/50\nnote cut 1\n"},
};

static void test_allocs(void **state)
{
    summed_test(*state, &mt_reader_android_allocs);
}

static void test_heap(void **state)
{
    summed_test(*state, &mt_reader_android_heap);
}

int main(void)
{
    struct row_tests t = {0};
    ROWS_ADD(&t, test_allocs, allocs);
    ROWS_ADD(&t, test_heap, heap);
    return ROWS_RUN(&t, "android");
}
