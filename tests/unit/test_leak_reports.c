/* formats/lsan.c, memcheck.c and memcheck_xml.c: small reports of leaks, whole and damaged, and
 * what becomes of them. */
#include "formats/format.h"
#include "tests/unit/rows.h"
#include "tests/unit/summed.h"

/* ---- LeakSanitizer ---- */

#define BEGINS "==12==ERROR: LeakSanitizer: detected memory leaks\n\n"
#define DIRECT "Direct leak of 30 byte(s) in 3 object(s) allocated from:\n"
#define STACK                                                                                      \
    "    #0 0x7f01 in __interceptor_malloc ../asan_malloc_linux.cpp:69\n"                          \
    "    #1 0x5501 in leaf(int) /app/a b.c:5:3\n    #2 0x5502 in main /app/a.c:15\n\n"
#define SUMMARY(bytes, blocks)                                                                     \
    "SUMMARY: AddressSanitizer: " #bytes " byte(s) leaked in " #blocks " allocation(s).\n"

static const struct summed_file lsans[] = {
    {"a whole one", BEGINS DIRECT STACK SUMMARY(30, 3),
     " alloc ? n ? peak ? end 30 no time 0\n"
     "[direct leak];main;leaf 0/0/30\n"},
    {"between other lines, with their times and colours",
     "starts\n" BEGINS
     "12:00 \x1b[1mDirect leak of 30 byte(s) in 3 object(s) allocated from:\x1b[0m"
     "\n12:00     #0 0x5501 in leaf /a.c:5\n12:01 " SUMMARY(30, 3) "ends\n",
     " alloc ? n ? peak ? end 30 no time 0\n"
     "[direct leak];leaf 0/0/30\n"},
    {"lines of another program between those of a stack",
     BEGINS DIRECT
     "worker #0 starts\n    #0 0x7f01 in __interceptor_malloc ../asan.cpp:69\n"
     "request #1 took 3 ms\n    #1 0x5501 in leaf /a.c:5\nready\n\tat #7 0x12 in h\n"
     "    #2 0x5502 in main /a.c:15\n\n    #3 0x5503 in none /a.c:16\n" SUMMARY(30, 3),
     " alloc ? n ? peak ? end 30 no time 0\n"
     "[direct leak];main;leaf 0/0/30\nnote skipped 2\n"},
    {"direct and indirect",
     BEGINS DIRECT STACK "Indirect leak of 4 byte(s) in 1 object(s) allocated from:\n    #0 0x1 in "
                         "f /a.c:1\n\n" SUMMARY(34, 4),
     " alloc ? n ? peak ? end 34 no time 0\n"
     "[direct leak];main;leaf 0/0/30\n"
     "[indirect leak];f 0/0/4\n"},
    {"frames without a file, a function, a module",
     BEGINS DIRECT "    #0 0x1 in f (/lib/libx.so.1+0x12) (BuildId: 0abc)\n"
                   "    #1 0x2 (/lib/lib y.so+0x12)\n    #2 0x3 (<unknown module>)\n"
                   "    #3 0x4 in operator new(unsigned long)\n\n" SUMMARY(30, 3),
     " alloc ? n ? peak ? end 30 no time 0\n"
     "[direct leak];operator new;[unknown function];[lib y.so];f 0/0/30\n"},
    {"leaks that are not listed", BEGINS DIRECT STACK SUMMARY(100, 5),
     " alloc ? n ? peak ? end 100 outside 0/0/70 no time 0\n"
     "[direct leak];main;leaf 0/0/30\n"
     "note unlisted 1\n"},
    {"fewer than are listed", BEGINS DIRECT STACK SUMMARY(10, 1),
     " alloc ? n ? peak ? end 30 no time 0\n"
     "[direct leak];main;leaf 0/0/30\n"
     "note moment_sum 1\n"},
    {"a process that reports again",
     BEGINS DIRECT STACK SUMMARY(30, 3) BEGINS DIRECT STACK DIRECT SUMMARY(60, 6),
     " alloc ? n ? peak ? end 60 no time 0\n"
     "[direct leak] 0/0/30\n"
     "[direct leak];main;leaf 0/0/30\n"
     "note reported_again 1\n"},
    {"two processes",
     BEGINS DIRECT STACK SUMMARY(
         30, 3) "==13==ERROR: LeakSanitizer: detected memory leaks\n" DIRECT STACK SUMMARY(30, 3),
     " alloc ? n ? peak ? end 60 no time 0\n"
     "[direct leak];main;leaf 0/0/60\n"
     "note reports 2\n"},
    {"another process of that number",
     BEGINS DIRECT STACK SUMMARY(30, 3) BEGINS DIRECT
     "    #0 0x5501 in g /a.c:5\n\n" SUMMARY(30, 3),
     " alloc ? n ? peak ? end 60 no time 0\n"
     "[direct leak];main;leaf 0/0/30\n"
     "[direct leak];g 0/0/30\n"
     "note reports 2\n"},
    {"another one, the first of which reports again",
     BEGINS DIRECT STACK SUMMARY(30, 3) BEGINS DIRECT STACK DIRECT STACK SUMMARY(60, 6)
         BEGINS DIRECT "    #0 0x5501 in g /a.c:5\n\n" SUMMARY(30, 3),
     " alloc ? n ? peak ? end 90 no time 0\n"
     "[direct leak];main;leaf 0/0/60\n"
     "[direct leak];g 0/0/30\n"
     "note reports 2\n"
     "note reported_again 1\n"},
    {"a damaged frame between others",
     BEGINS DIRECT
     "    #0 0x1 in leaf /a.c:5\n    #1 Gx2 in f /a.c:6\n    #2 0x3 in main /a.c:7\n\n" SUMMARY(30,
                                                                                                3),
     " alloc ? n ? peak ? end 30 no time 0\n"
     "[direct leak];main;leaf 0/0/30\n"
     "note skipped 1\n"},
    {"a size that cannot be true",
     BEGINS
     "Direct leak of 99999999999999999999 byte(s) in 1 object(s) allocated from:\n" STACK DIRECT
         STACK SUMMARY(30, 3),
     " alloc ? n ? peak ? end 30 no time 0\n"
     "[direct leak];main;leaf 0/0/30\n"
     "note skipped 1\n"},
    {"cut", BEGINS DIRECT STACK,
     "error at 251: a report ends early: its last line, SUMMARY, is missing\n"},
    {"cut, before another",
     BEGINS DIRECT STACK
     "==13==ERROR: LeakSanitizer: detected memory leaks\n" DIRECT STACK SUMMARY(30, 3),
     "error at 566: a report ends early: its last line, SUMMARY, is missing\n"},
    {"cut, --partial", BEGINS DIRECT STACK,
     " alloc ? n ? peak ? end 30 no time 0\n"
     "[direct leak];main;leaf 0/0/30\n"
     "note cut 1\n"},
};

static void test_lsan(void **state)
{
    summed_test(*state, &mt_reader_lsan);
}

/* ---- memcheck ---- */

#define TOOL   "==7== Memcheck, a memory error detector\n"
#define AT     "==7==    at 0x48: malloc (in /usr/lib/valgrind/vgpreload_memcheck-amd64-linux.so)\n"
#define BY     "==7==    by 0x11: leaf (a.c:5)\n==7==    by 0x12: main (a.c:9)\n==7== \n"
#define LOST   "==7== 3,000 bytes in 3 blocks are definitely lost in loss record 2 of 2\n" AT BY
#define TOTALS "==7== LEAK SUMMARY:\n==7==    definitely lost: "

static const struct summed_file memchecks[] = {
    {"a whole one",
     TOOL LOST TOTALS "3,000 bytes in 3 blocks\n==7==    indirectly lost: 0 bytes in 0 blocks\n",
     " alloc ? n ? peak ? end 3000 no time 0\n"
     "[definitely lost];main;leaf 0/0/3000\n"},
    {"with times",
     "==00:00:00:01.705 7== Memcheck, a memory error detector\n"
     "==00:00:00:01.705 7== 9 bytes in 1 blocks are still reachable in loss record 1 of 1\n"
     "==00:00:00:01.705 7==    at 0x1: main (a.c:1)\n==00:00:00:01.705 7== LEAK SUMMARY:\n"
     "==00:00:00:01.705 7==    still reachable: 9 bytes in 1 blocks\n",
     " alloc ? n ? peak ? end 9 no time 0\n"
     "[still reachable];main 0/0/9\n"},
    {"in a log that has something before each line",
     "10:00 a == b | " TOOL "10:00 a == b | ==7== 9 bytes in 1 blocks are still reachable in loss "
     "record 1 of 1\n10:00 a == b | ==7==    at 0x1: main (a.c:1)\n10:00 ===x=\n10:00 a == b | "
     "==7== LEAK SUMMARY:\n10:01 | ==7==    still reachable: 9 bytes in 1 blocks\n",
     " alloc ? n ? peak ? end 9 no time 0\n"
     "[still reachable];main 0/0/9\n"},
    {"direct and indirect",
     TOOL "==7== 8 bytes in 1 blocks are indirectly lost in loss record 1 of 2\n" AT BY
          "==7== 18 (10 direct, 8 indirect) bytes in 2 blocks are definitely lost in loss record 2 "
          "of 2\n" AT BY TOTALS
          "10 bytes in 2 blocks\n==7==    indirectly lost: 8 bytes in 1 blocks\n",
     " alloc ? n ? peak ? end 18 no time 0\n"
     "[indirectly lost];main;leaf 0/0/8\n"
     "[definitely lost];main;leaf 0/0/10\n"},
    {"a kind that is damaged",
     TOOL LOST "==7== 8 bytes in 1 blocks are indi\nrectly lost\n" TOTALS
               "3,000 bytes in 3 blocks\n",
     " alloc ? n ? peak ? end 3000 no time 0\n"
     "[definitely lost];main;leaf 0/0/3000\nnote skipped 1\n"},
    {"kinds that are not listed",
     TOOL LOST TOTALS "3,000 bytes in 3 blocks\n==7==    still reachable: 72,704 bytes in 1 "
                      "blocks\n==7==         suppressed: 5 bytes in 1 blocks\n",
     " alloc ? n ? peak ? end 75709 no time 0\n"
     "[definitely lost];main;leaf 0/0/3000\n"
     "[still reachable] 0/0/72704\n"
     "[suppressed] 0/0/5\n"
     "note unlisted 2\n"},
    {"another process says something in between",
     TOOL LOST "==8== 5 bytes in 1 blocks are possibly lost in loss record 1 of 1\n"
               "==8==    at 0x1: g (b.c:1)\n" TOTALS
               "3,000 bytes in 3 blocks\n==8== LEAK SUMMARY:\n==8==    possibly lost: 5 bytes in 1 "
               "blocks\n",
     " alloc ? n ? peak ? end 3005 no time 0\n"
     "[definitely lost];main;leaf 0/0/3000\n"
     "[possibly lost];g 0/0/5\n"
     "note reports 2\n"},
    {"a damaged number of the process before a frame",
     TOOL "==7== 3,000 bytes in 3 blocks are definitely lost in loss record 2 of 2\n" AT
          "==#== by 0x11: leaf (a.c:5)\n==7==    by 0x12: main (a.c:9)\n" TOTALS
          "3,000 bytes in 3 blocks\n",
     " alloc ? n ? peak ? end 3000 no time 0\n"
     "[definitely lost];main 0/0/3000\nnote skipped 1\n"},
    {"an error that is no leak",
     TOOL "==7== Invalid read of size 4\n==7==    at 0x1: f (a.c:1)\n" LOST TOTALS
          "3,000 bytes in 3 blocks\n",
     " alloc ? n ? peak ? end 3000 no time 0\n"
     "[definitely lost];main;leaf 0/0/3000\n"},
    {"a process that reports again",
     TOOL LOST TOTALS "3,000 bytes in 3 blocks\n" LOST TOTALS "3,000 bytes in 3 blocks\n",
     " alloc ? n ? peak ? end 3000 no time 0\n"
     "[definitely lost];main;leaf 0/0/3000\n"
     "note reported_again 1\n"},
    {"a process that reports again, of which the first report lists less than it counts",
     TOOL LOST TOTALS "3,000 bytes in 3 blocks\n==7==    still reachable: 72,704 bytes in 1 "
                      "blocks\n" LOST TOTALS "3,000 bytes in 3 blocks\n",
     " alloc ? n ? peak ? end 3000 no time 0\n"
     "[definitely lost];main;leaf 0/0/3000\n"
     "note reported_again 1\n"},
    {"compared with what was reported before",
     TOOL LOST TOTALS
     "3,000 bytes in 3 blocks\n"
     "==7== 18 (+18) (10 (+10) direct, 8 (-2) indirect) bytes in 2 (+2) blocks are "
     "definitely lost in new loss record 1 of 1\n" AT BY TOTALS
     "3,010 (+10) bytes in 5 (+2) blocks\n",
     " alloc ? n ? peak ? end 3010 no time 0\n"
     "[definitely lost] 0/0/3000\n"
     "[definitely lost];main;leaf 0/0/10\n"
     "note unlisted 1\n"
     "note reported_again 1\n"},
    {"another process of that number",
     TOOL LOST TOTALS "3,000 bytes in 3 blocks\n" TOOL
                      "==7== All heap blocks were freed -- no leaks are possible\n",
     " alloc ? n ? peak ? end 3000 no time 0\n"
     "[definitely lost];main;leaf 0/0/3000\n"},
    {"sizes that cannot be true",
     TOOL "==7== 99,999,999,999,999,999,999 bytes in 1 blocks are definitely lost in loss record 1 "
          "of 1\n" AT BY TOTALS "99,999,999,999,999,999,999 bytes in 1 blocks\n",
     " alloc ? n ? peak ? end 0 no time 0\n"
     "note skipped 2\n"},
    {"nothing was allocated: memcheck sees no program that brings its own malloc",
     TOOL "==7==   total heap usage: 0 allocs, 0 frees, 0 bytes allocated\n==7== All heap blocks "
          "were freed -- no leaks are possible\n",
     " alloc ? n ? peak ? end 0 no time 0\nnote no_allocations 1\n"},
    {"all that was allocated is freed",
     TOOL "==7==   total heap usage: 1,024 allocs, 1,024 frees, 9 bytes allocated\n==7== All heap "
          "blocks were freed -- no leaks are possible\n",
     " alloc ? n ? peak ? end 0 no time 0\n"},
    {"one of two processes allocated",
     TOOL "==7==   total heap usage: 0 allocs, 0 frees, 0 bytes allocated\n==7== All heap blocks "
          "were freed -- no leaks are possible\n==8==   total heap usage: 2 allocs, 2 frees, 9 "
          "bytes allocated\n==8== All heap blocks were freed -- no leaks are possible\n",
     " alloc ? n ? peak ? end 0 no time 0\n"},
    {"nothing is left", TOOL "==7== All heap blocks were freed -- no leaks are possible\n",
     " alloc ? n ? peak ? end 0 no time 0\n"},
    {"no report", TOOL "==7==     in use at exit: 5 bytes in 1 blocks\n",
     "error at -1: the log has no report of leaks\n"},
    {"valgrind -q, that lists all",
     "==7== 8 bytes in 1 blocks are still reachable in loss record 1 of 2\n" AT BY LOST,
     " alloc ? n ? peak ? end 3008 no time 0\n"
     "[still reachable];main;leaf 0/0/8\n[definitely lost];main;leaf 0/0/3000\n"},
    {"valgrind -q, that lists some", LOST,
     " alloc ? n ? peak ? end 3000 no time 0\n"
     "[definitely lost];main;leaf 0/0/3000\nnote kinds_left_out 1\n"},
    {"valgrind -q, cut",
     LOST "==7== ", "error at 229: the report ends early: LEAK SUMMARY is missing, or not whole\n"},
    {"valgrind -q of a child",
     TOOL "==8== 8 bytes in 1 blocks are possibly lost in loss record 1 of 1\n" TOTALS
          "0 bytes in 0 blocks\n",
     " alloc ? n ? peak ? end 8 no time 0\n[possibly lost] 0/0/8\n"},
    {"cut", TOOL LOST,
     "error at 263: the report ends early: LEAK SUMMARY is missing, or not whole\n"},
    {"cut in its summary", TOOL LOST TOTALS "3,000 bytes in 3 blocks\n==7",
     "error at 336: the report ends early: LEAK SUMMARY is missing, or not whole\n"},
    {"cut behind what is reachable",
     TOOL LOST TOTALS "3,000 bytes in 3 blocks\n==7==    still reachable: 9 bytes in 1 blocks\n==7",
     " alloc ? n ? peak ? end 3009 no time 0\n"
     "[definitely lost];main;leaf 0/0/3000\n[still reachable] 0/0/9\nnote unlisted 1\n"},
    {"cut, --partial", TOOL LOST,
     " alloc ? n ? peak ? end 3000 no time 0\n"
     "[definitely lost];main;leaf 0/0/3000\n"
     "note cut 1\n"},
};

static void test_memcheck(void **state)
{
    summed_test(*state, &mt_reader_memcheck);
}

/* ---- as XML ---- */

#define XML_DEFAULT(tool)                                                                          \
    "<?xml version=\"1.0\"?>\n<valgrindoutput><protocoltool>" tool "</protocoltool><pid>7</pid>"
#define XML(tool) XML_DEFAULT(tool) "<args><vargv><arg>--show-leak-kinds=all</arg></vargv></args>"
#define LEAK(kind, text, bytes, blocks)                                                            \
    "<error><kind>" kind "</kind><xwhat><text>" text "</text><leakedbytes>" #bytes                 \
    "</leakedbytes><leakedblocks>" #blocks "</leakedblocks></xwhat>"
#define FRAMES                                                                                     \
    "<stack><frame><ip>0x48</ip><obj>/v/vgpreload_memcheck.so</obj><fn>malloc</fn></frame>"        \
    "<frame><ip>0x11</ip><obj>/a</obj><fn>leaf&lt;T&gt;</fn><dir>/s</dir><file>a.c</file>"         \
    "<line>5</line></frame><frame><ip>0x12</ip><fn>main</fn></frame></stack>"
#define END "</error></valgrindoutput>\n"

static const struct summed_file xmls[] = {
    {"a kind that is damaged",
     XML("memcheck") LEAK("Leak_DefinitelyLost", "", 30, 3) FRAMES
     "</error>" LEAK("Leak_Indi\nrectlyLost", "", 8, 1) FRAMES END,
     " alloc ? n ? peak ? end 30 no time 0\n"
     "[definitely lost];main;leaf 0/0/30\nnote skipped 1\n"},
    {"a whole one", XML("memcheck") LEAK("Leak_DefinitelyLost", "", 30, 3) FRAMES END,
     " alloc ? n ? peak ? end 30 no time 0\n"
     "[definitely lost];main;leaf 0/0/30\n"},
    {"a second stack says where something else was",
     XML("memcheck") LEAK("Leak_PossiblyLost", "", 30, 3) FRAMES FRAMES END,
     " alloc ? n ? peak ? end 30 no time 0\n"
     "[possibly lost];main;leaf 0/0/30\n"},
    {"direct and indirect, of which the latter is not listed",
     XML_DEFAULT("memcheck") LEAK(
         "Leak_DefinitelyLost", "30 (10 direct, 20 indirect) bytes in 3 blocks", 30, 3) FRAMES END,
     " alloc ? n ? peak ? end 30 no time 0\n"
     "[definitely lost];main;leaf 0/0/10\n"
     "[indirectly lost] 0/0/20\n"
     "note unlisted 1\n"
     "note kinds_left_out 1\n"},
    {"compared with what was reported before",
     XML_DEFAULT("memcheck") LEAK(
         "Leak_DefinitelyLost", "30 (+3) (10 (+1) direct, 20 (+2) indirect) bytes in 3 (+1) blocks",
         30, 3) FRAMES END,
     " alloc ? n ? peak ? end 30 no time 0\n"
     "[definitely lost];main;leaf 0/0/10\n"
     "[indirectly lost] 0/0/20\n"
     "note unlisted 1\n"
     "note kinds_left_out 1\n"},
    {"a process that reports again",
     XML("memcheck") LEAK("Leak_PossiblyLost",
                          "30 bytes in 3 blocks are possibly lost in loss "
                          "record 1 of 1",
                          30, 3) FRAMES
     "</error>" LEAK("Leak_PossiblyLost",
                     "30 bytes in 3 blocks are possibly lost in loss record 1 of 2", 30, 3) FRAMES
     "</error>" LEAK("Leak_DefinitelyLost",
                     "4 bytes in 1 blocks are definitely lost in loss record 2 of "
                     "2",
                     4, 1) FRAMES END,
     " alloc ? n ? peak ? end 34 no time 0\n"
     "[possibly lost];main;leaf 0/0/30\n"
     "[definitely lost];main;leaf 0/0/4\n"
     "note reported_again 1\n"},
    {"a text within its stack begins no other report",
     XML("memcheck") LEAK(
         "Leak_PossiblyLost", "3 bytes in 1 blocks in loss record 1 of 1", 3,
         1) "<stack><text>3 bytes in 1 blocks in loss record 1 of 2</text><frame><fn>f</fn></frame>"
            "</stack>" END,
     " alloc ? n ? peak ? end 3 no time 0\n[possibly lost];f 0/0/3\n"},
    {"what is direct is damaged: all of it is",
     XML_DEFAULT("memcheck")
         LEAK("Leak_DefinitelyLost", "30 (10 direct, 20,-00 indirect) bytes in 3 blocks", 30, 3)
             FRAMES END,
     " alloc ? n ? peak ? end 30 no time 0\n"
     "[definitely lost];main;leaf 0/0/30\n"
     "note skipped 1\n"
     "note kinds_left_out 1\n"},
    {"another figure of the text is damaged",
     XML_DEFAULT("memcheck") LEAK("Leak_DefinitelyLost", "100,-000 bytes in 3 blocks", 100000, 3)
         FRAMES END,
     " alloc ? n ? peak ? end 100000 no time 0\n"
     "[definitely lost];main;leaf 0/0/100000\n"
     "note kinds_left_out 1\n"},
    {"what is reachable is not listed",
     XML_DEFAULT("memcheck") LEAK("Leak_DefinitelyLost", "", 30, 3) FRAMES END,
     " alloc ? n ? peak ? end 30 no time 0\n"
     "[definitely lost];main;leaf 0/0/30\n"
     "note kinds_left_out 1\n"},
    {"kinds one by one",
     XML_DEFAULT("memcheck") "<args><vargv><arg>--show-leak-kinds=definite,indirect,possible,"
                             "reachable</arg></vargv></args>" LEAK("Leak_DefinitelyLost", "", 30, 3)
                                 FRAMES END,
     " alloc ? n ? peak ? end 30 no time 0\n"
     "[definitely lost];main;leaf 0/0/30\n"},
    {"indirect ones alone",
     XML_DEFAULT("memcheck") LEAK("Leak_IndirectlyLost", "", 30, 3) FRAMES END,
     " alloc ? n ? peak ? end 30 no time 0\n"
     "[indirectly lost];main;leaf 0/0/30\n"
     "note kinds_left_out 1\n"},
    {"suppressed",
     XML("memcheck") LEAK("Leak_DefinitelyLost", "", 30, 3) FRAMES
     "</error><suppcounts><pair><count>1</count></pair></suppcounts></valgrindoutput>",
     " alloc ? n ? peak ? end 30 no time 0\n"
     "[definitely lost];main;leaf 0/0/30\n"
     "note kinds_left_out 1\n"},
    {"no stack", XML("memcheck") LEAK("Leak_StillReachable", "", 30, 3) END,
     " alloc ? n ? peak ? end 30 no time 0\n"
     "[still reachable] 0/0/30\n"},
    {"an error that is no leak",
     XML("memcheck") LEAK("InvalidRead", "", 30, 3) FRAMES
     "</error>" LEAK("Leak_DefinitelyLost", "", 1, 1) FRAMES END,
     " alloc ? n ? peak ? end 1 no time 0\n"
     "[definitely lost];main;leaf 0/0/1\n"},
    {"sizes that cannot be true",
     XML("memcheck") LEAK("Leak_DefinitelyLost", "", -30, 3) FRAMES
     "</error>" LEAK("Leak_DefinitelyLost", "", 1, 1) FRAMES END,
     " alloc ? n ? peak ? end 1 no time 0\n"
     "[definitely lost];main;leaf 0/0/1\n"
     "note skipped 1\n"},
    {"none, and it looked",
     XML("memcheck") "<args><vargv><arg>--leak-check=full</arg></vargv></args></valgrindoutput>",
     " alloc ? n ? peak ? end 0 no time 0\n"},
    {"none, and nothing says that it looked", XML("memcheck") "</valgrindoutput>",
     "error at -1: it lists no leaks, and does not say that it looked for any\n"},
    {"another tool", XML("helgrind") "</valgrindoutput>",
     "error at -1: the XML of another tool than memcheck\n"},
    {"a document type",
     "<!DOCTYPE a [<!ENTITY b \"bb\">]>" XML("memcheck") LEAK("Leak_DefinitelyLost", "&b;", 1, 1)
         END,
     "error at 12: it declares a document type\n"},
    {"cut", XML("memcheck") LEAK("Leak_DefinitelyLost", "", 30, 3) FRAMES "</error><err",
     "error at 521: ends early: the file was cut off\n"},
    {"cut, --partial", XML("memcheck") LEAK("Leak_DefinitelyLost", "", 30, 3) FRAMES "</error><err",
     " alloc ? n ? peak ? end 30 no time 0\n"
     "[definitely lost];main;leaf 0/0/30\n"
     "note cut 1\n"},
    {"cut before the first, --partial", XML("memcheck") "<err",
     "error at 147: ends early: the file was cut off\n"},
};

static void test_xml(void **state)
{
    summed_test(*state, &mt_reader_memcheck_xml);
}

int main(void)
{
    struct row_tests t = {0};
    ROWS_ADD(&t, test_lsan, lsans);
    ROWS_ADD(&t, test_memcheck, memchecks);
    ROWS_ADD(&t, test_xml, xmls);
    return ROWS_RUN(&t, "leak reports");
}
