/* formats/heap_profile.c: small profiles, whole and damaged, and what becomes of them. */
#include "formats/format.h"
#include "tests/unit/rows.h"
#include "tests/unit/summed.h"

#define MAPS                                                                                       \
    "\nMAPPED_LIBRARIES:\n"                                                                        \
    "1000-2000 r--p 00000000 fe:00 1  /a b\n"                                                      \
    "2000-3000 r-xp 00001000 fe:00 1  /a b\n"                                                      \
    "7000-8000 r-xp 00000000 fe:00 2  /lib/libx.so.1 (deleted)\n"                                  \
    "9000-a000 rw-p 00000000 00:00 0\n"
#define TEXT "heap profile: "

static const struct summed_file profiles[] = {
    {"gperftools",
     TEXT "  3: 30 [ 7: 90] @ heapprofile\n  1: 10 [ 5: 70] @ 0x2012 0x7001\n"
          "     2:   20 [     2:   20] @ 0x2012 0x42\n" MAPS,
     " alloc 90 n 7 peak ? end 30 no time 0\n"
     "[libx.so.1+0x0];[a b+0x1011] 70/0/10\n"
     "[0x41];[a b+0x1011] 20/0/20\n"},
    {"nothing freed", TEXT "1: 10 [1: 10] @ heapprofile\n1: 10 [1: 10] @ 0x2012\n" MAPS,
     " alloc 10 n 1 peak ? end 10 no time 0\n"
     "[a b+0x1011] 10/0/10\n"},
    {"nothing at all", TEXT "0: 0 [0: 0] @ heapprofile\n" MAPS,
     " alloc 0 n 0 peak ? end 0 no time 0\n"
     "note no_allocations 1\n"},
    {"a stack that comes again, each unsampled by itself",
     TEXT "6: 6000 [6: 6000] @ heapz_v2/1000\n2: 2000 [2: 2000] @ 0x2012\n"
          "1: 1000 [1: 1000] @ 0x2012\n2: 2000 [2: 2000] @ 0x2012\n"
          "1: 1000 [1: 1000] @ 0x2012 0x7001\n" MAPS,
     " alloc ? n ? peak ? end 9488 no time 0\n"
     "[a b+0x1011] 0/0/7907\n"
     "[libx.so.1+0x0];[a b+0x1011] 0/0/1581\n"
     "note sampled 1\n"},
    {"growth", TEXT "1: 10 [1: 10] @ growthz\n1: 10 [1: 10] @ 0x2012\n" MAPS,
     " alloc ? n ? peak ? end 10 no time 0\n"
     "[a b+0x1011] 0/0/10\n"},
    {"tcmalloc, of which all was kept", TEXT "1: 10 [1: 10] @ heap_v2/1\n1: 10 [1: 10] @ 0x1\n",
     " alloc ? n ? peak ? end 10 no time 0\n"
     "[0x0] 0/0/10\n"},
    {"tcmalloc, sampled",
     TEXT "2: 2000 [2: 2000] @ heapz_v2/1000\n2: 2000 [2: 2000] @ 0x2012\n" MAPS,
     " alloc ? n ? peak ? end 3163 no time 0\n"
     "[a b+0x1011] 0/0/3163\n"
     "note sampled 1\n"},
    {"Go's, sampled by half the number",
     TEXT "2: 2000 [4: 3000] @ heap/2000\n2: 2000 [4: 3000] @ 0x1 0x2\n"
          "#\t0x1\tmain.leak+0x1\t\t/a/main.go:12\n#\t0x2\tmain.main+0x1\t/a/main.go:30\n"
          "#\t0x3\truntime.main+0x1\t/r/proc.go:250\n\n# runtime.MemStats\n# Alloc = 12\n",
     " alloc 5685 n 7 peak ? end 3163 no time 0\n"
     "main.main;main.leak 5685/0/3163\n"
     "note sampled 1\n"},
    {"jemalloc",
     "heap_v2/1\n  t*: 3: 30 [7: 90]\n  t0: 3: 30 [7: 90] main thread\n"
     "@ 0x7010 0x2012\n  t*: 1: 10 [5: 70]\n  t0: 1: 10 [5: 70]\n"
     "@ 0x2022\n  t*: 2: 20 [2: 20]\n  t0: 2: 20 [2: 20]\n" MAPS,
     " alloc 90 n 7 peak ? end 30 no time 0\n"
     "[a b+0x1011];[libx.so.1+0xf] 70/0/10\n"
     "[a b+0x1021] 20/0/20\n"},
    {"jemalloc, sampled, without what was allocated",
     "heap_v2/524288\n  t*: 2: 553 [0: 0]\n@ 0x2012\n  t*: 1: 41 [0: 0]\n"
     "@ 0x2022\n  t*: 1: 512 [0: 0]\n" MAPS,
     " alloc ? n ? peak ? end 1048852 no time 0\n"
     "[a b+0x1011] 0/0/524308\n"
     "[a b+0x1021] 0/0/524544\n"
     "note sampled 1\n"},
    {"jemalloc's form of old, as gperftools writes it",
     TEXT "1: 10 [0: 0] @ heap_v2/1\n1: 10 [0: 0] @ 0x2012\n" MAPS,
     " alloc ? n ? peak ? end 10 no time 0\n"
     "[a b+0x1011] 0/0/10\n"},
    {"jemalloc, sampled, whose counts are estimates",
     "heap_v2/524288\n  t*: 1: 16 [2: 100016]\n@ 0x2012\n  t*: 1: 16 [2: 100016]\n" MAPS,
     " alloc 1099378 n 21 peak ? end 524296 no time 0\n"
     "[a b+0x1011] 1099378/0/524296\n"
     "note sampled 1\n"},
    {"jemalloc, sampled, whose totals are no sums of stacks",
     "heap_v2/16384\n  t*: 1145: 6641247 [0: 0]\n@ 0x2012\n  t*: 26: 2913 [0: 0]\n"
     "@ 0x2022\n  t*: 20: 20971520 [0: 0]\n" MAPS,
     " alloc ? n ? peak ? end 21398962 no time 0\n"
     "[a b+0x1011] 0/0/427442\n[a b+0x1021] 0/0/20971520\n"
     "note sampled 1\n"},
    {"Go's, of which a stack makes no sense",
     TEXT "1: 10 [1: 10] @ heap/2\n1: 10 [1: 10] @ 0x1\n#\t0x1\tmain.a+0x1\t\t/a/main.go:12\n"
          "x @ 0x5\n#\t0x5\tmain.b+0x1\t\t/a/main.go:9\n",
     " alloc 10 n 1 peak ? end 10 no time 0\n"
     "main.a 10/0/10\n"
     "note skipped 1\n"},
    {"without a stack", TEXT "1: 10 [1: 10] @ heapprofile\n1: 10 [1: 10] @\n" MAPS,
     " alloc 10 n 1 peak ? end 10 outside 10/0/10 no time 0\n"},
    {"stacks lack some of the total",
     TEXT "3: 30 [3: 40] @ heapprofile\n1: 10 [1: 10] @ 0x2012\n" MAPS,
     " alloc 40 n 3 peak ? end 30 outside 30/0/20 no time 0\n"
     "[a b+0x1011] 10/0/10\n"
     "note unlisted 1\n"},
    {"stacks have more than the total",
     TEXT "1: 10 [1: 10] @ heapprofile\n2: 20 [2: 20] @ 0x2012\n" MAPS,
     " alloc 20 n 2 peak ? end 20 no time 0\n"
     "[a b+0x1011] 20/0/20\n"
     "note moment_sum 1\n"},
    {"alive though never allocated",
     TEXT "1: 10 [0: 0] @ heapprofile\n1: 10 [0: 0] @ 0x2012\n" MAPS,
     " alloc ? n ? peak ? end 10 no time 0\n"
     "[a b+0x1011] 0/0/10\n"},
    {"lines that make no sense",
     TEXT "1: 10 [1: 10] @ heapprofile\nhello\n1: -10 [1: 10] @ 0x1\n1: 1 [1: 1]\n"
          "1: 10 [1: 10] @ 0x2012 hello\n1: 99999999999999999999 [1: 1] @ 0x1\n" MAPS,
     " alloc 10 n 1 peak ? end 10 no time 0\n"
     "[a b+0x1011] 10/0/10\n"
     "note skipped 5\n"},
    {"jemalloc's that make no sense",
     "heap_v2/1\n  t*: 1: 10 [1: 10]\n  t*: 1: 10 [1: 10]\n@ 0x2012\n  t*: 1: 10 [1: 10]\n"
     "  t*: 1: 10 [1: 10]\n  t*: x\n" MAPS,
     " alloc 10 n 1 peak ? end 10 no time 0\n"
     "[a b+0x1011] 10/0/10\n"
     "note skipped 3\n"},
    {"beyond all sizes",
     TEXT "1: 1 [1: 1] @ heapprofile\n1: 1152921504606846976 [1: 1] @ 0x1\n"
          "1: 1152921504606846976 [1: 1] @ 0x1\n1: 1 [1: 1] @ 0x1\n" MAPS,
     "error at 40: its figures cannot be true: more than 1 EiB in all\n"},
    {"stands for more than all sizes",
     TEXT "1152921504606846975: 1152921504606846975 [0: 0] @ heap_v2/1152921504606846976\n"
          "1152921504606846975: 1152921504606846975 [0: 0] @ 0x1\n" MAPS,
     "error at 92: its figures cannot be true: more than 1 EiB in all\n"},
    {"of fragmentation", TEXT "1: 1 [1: 1] @ fragmentationz\n",
     "error at 0: a heap profile of a kind that memtool does not know\n"},
    {"of a version to come", "heap_v2/x\n",
     "error at 0: a heap profile of a kind that memtool does not know\n"},
    {"no first line", TEXT "hello\n",
     "error at 0: damaged: this is no first line of a heap profile\n"},
    {"two, one behind the other",
     TEXT "1: 10 [1: 10] @ heapprofile\n1: 10 [1: 10] @ 0x1\n" MAPS TEXT
          "2: 20 [2: 20] @ heapprofile\n2: 20 [2: 20] @ 0x1\n" MAPS,
     "error at 247: holds two heap profiles, one behind the other\n"},
    {"two of jemalloc's",
     "heap_v2/1\n  t*: 1: 10 [1: 10]\n@ 0x2012\n  t*: 1: 10 [1: 10]\n" MAPS
     "heap_v2/1\n  t*: 2: 20 [2: 20]\n@ 0x2012\n  t*: 2: 20 [2: 20]\n" MAPS,
     "error at 244: holds two heap profiles, one behind the other\n"},
    {"two of Go's",
     TEXT "1: 10 [1: 10] @ heap/2\n1: 10 [1: 10] @ 0x1\n\n# Alloc = 12\n" TEXT
          "2: 20 [2: 20] @ heap/2\n2: 20 [2: 20] @ 0x1\n",
     "error at 71: holds two heap profiles, one behind the other\n"},
    {"cut in a line", TEXT "2: 20 [2: 20] @ heapprofile\n1: 10 [1: 10] @ 0x20",
     "error at 62: its last line does not end: the file was cut off, or lacks only its last "
     "newline\n"},
    {"cut in a line, --partial", TEXT "2: 20 [2: 20] @ heapprofile\n1: 10 [1: 10] @ 0x20",
     " alloc 20 n 2 peak ? end 20 outside 20/0/20 no time 0\n"
     "note cut 1\n"
     "note unlisted 1\n"},
    {"cut in the first line, --partial", TEXT "0: 0 [0: 0] @ heapprofile",
     " alloc 0 n 0 peak ? end 0 no time 0\n"
     "note cut 1\n"
     "note no_allocations 1\n"},
    {"cut between lines", TEXT "2: 20 [2: 20] @ heapprofile\n1: 10 [1: 10] @ 0x20\n",
     "error at 63: ends early: the file was cut off\n"},
    {"cut between lines, --partial", TEXT "2: 20 [2: 20] @ heapprofile\n1: 10 [1: 10] @ 0x20\n",
     " alloc 20 n 2 peak ? end 20 outside 10/0/10 no time 0\n"
     "[0x1f] 10/0/10\n"
     "note cut 1\n"
     "note unlisted 1\n"},
};

static void test_profile(void **state)
{
    summed_test(*state, &mt_reader_heap_profile);
}

/* Without what is mapped, the total at the top says whether all stacks are there. */
static void test_cuts(void **state)
{
    (void)state;
    static const char text[] = TEXT "3: 30 [7: 90] @ heapprofile\n1: 10 [5: 70] @ 0x2012\n"
                                    "2: 20 [2: 20] @ 0x2012\n";
    summed_test_cuts(text, &mt_reader_heap_profile, NULL, 0);
    static const char jemalloc[] = "heap_v2/1\n  t*: 3: 30 [7: 90]\n@ 0x2012\n  t*: 1: 10 [5: 70]\n"
                                   "@ 0x7010\n  t*: 2: 20 [2: 20]\n";
    summed_test_cuts(jemalloc, &mt_reader_heap_profile, NULL, 0);
}

int main(void)
{
    struct row_tests t = {0};
    static const char *const cuts[] = {"cut anywhere"};
    ROWS_ADD(&t, test_profile, profiles);
    ROWS_ADD(&t, test_cuts, cuts);
    return ROWS_RUN(&t, "heap_profile");
}
