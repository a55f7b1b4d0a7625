/* formats/massif.c, dhat.c and valgrind_frames.h: small files of valgrind's heap tools, whole and
 * damaged, and what becomes of them. */
#include "formats/format.h"
#include "formats/valgrind_frames.h"
#include "tests/unit/rows.h"
#include "tests/unit/summed.h"

#include <stdio.h>
#include <string.h>

/* ---- frames ---- */

static const struct frame {
    const char *text;
    const char *name, *object, *file;
    int64_t line;
} frames[] = {
    {"0x1091D1: leaf_alloc (alloclab.c:14)", "leaf_alloc", "", "alloclab.c", 14},
    {"0x48417B4: malloc (in /usr/lib/vgpreload.so)", "malloc", "/usr/lib/vgpreload.so", "", 0},
    {"0x4002260: ???", "???", "", "", 0},
    {"0x4002260: ??? (in /opt/a (deleted))", "???", "/opt/a (deleted)", "", 0},
    {"0x1: f(int) (in ??\?)", "f(int)", "", "", 0},
    {"0x1: std::function<void (int)>::f(int) const (a b.h:7)",
     "std::function<void (int)>::f(int) const", "", "a b.h", 7},
    {"0x1: std::function<void (int)>", "std::function<void (int)>", "", "", 0},
    {"0x1: std::function<void (int)>::f(int)", "std::function<void (int)>::f(int)", "", "", 0},
    {"0x1: app::main (src/main.rs:12:5)", "app::main", "", "src/main.rs", 12},
    {"0x1: app::main (???:0:0)", "app::main", "", "", 0},
    {"[root]", "[root]", "", "", 0},
    {"f (x.c:99999999999999999999)", "f (x.c:99999999999999999999)", "", "", 0},
    {"0xq: f", "0xq: f", "", "", 0},
    {"", "", "", "", 0},
    {" ()", " ()", "", "", 0},
    {"f (:1)", "f", "", "", 1},
};

static void test_frame(void **state)
{
    const struct frame *want = *state;
    char *text = mt_strdup(want->text);
    uint64_t address;
    struct mt_native_frame f = mt_valgrind_frame(text, &address);
    assert_int_equal(address != 0, strncmp(text, "0x", 2) == 0 && text[2] != 'q');
    assert_string_equal(f.name, want->name);
    assert_string_equal(f.object, want->object);
    assert_string_equal(f.file, want->file);
    assert_int_equal(f.line, want->line);
    free(text);
}

/* ---- massif ---- */

#define HEAD "desc: --depth=4\ncmd: ./a b\ntime_unit: i\n"
#define SNAPSHOT(number, time, heap, tree)                                                         \
    "#-----------\nsnapshot=" #number "\n#-----------\ntime=" #time "\nmem_heap_B=" #heap          \
    "\nmem_heap_extra_B=8\nmem_stacks_B=0\nheap_tree=" tree "\n"
#define ROOT  " (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"
#define EMPTY SNAPSHOT(0, 0, 0, "empty")
#define TREE                                                                                       \
    "n2: 100" ROOT " n2: 90 0x1: leaf (a.c:1)\n  n1: 70 0x2: f (a.c:2)\n   n0: 70 0x3: main "      \
    "(a.c:3)\n  n0: 20 in 2 places, all below massif's threshold (1.00%)\n n0: 10 in 1 place, "    \
    "below massif's threshold (1.00%)\n"
#define TREE_PATHS "main;f;leaf 0/70/0\n[below threshold] 0/10/0\n[below threshold];leaf 0/20/0\n"
#define LAST       SNAPSHOT(2, 9, 5, "empty")

static const struct summed_file massifs[] = {
    {"a whole one", HEAD EMPTY SNAPSHOT(1, 7, 100, "peak") TREE LAST,
     " alloc ? n ? peak 100 end ? moments 1 large at peak instructions 9\n" TREE_PATHS},
    {"lines end as on another system",
     "cmd: a\r\ntime_unit: B\r\nsnapshot=0\r\ntime=3\r\n"
     "mem_heap_B=5\r\nheap_tree=peak\r\nn0: 5 (heap)\r\n",
     " alloc ? n ? peak 5 end ? outside 0/5/0 moments 1 bytes 3\n"},
    {"milliseconds", "time_unit: ms\nsnapshot=0\ntime=3\nmem_heap_B=5\nheap_tree=empty\n",
     " alloc ? n ? peak 5 end ? moments 0 no paths at peak ns 3000000\nnote no_peak 1\n"},
    {"seconds, the head last",
     "snapshot=0\ntime=3.25\nmem_heap_B=5\nheap_tree=empty\ndesc: heaptrack\ntime_unit: s\n",
     " alloc ? n ? peak 5 end ? moments 0 no paths at peak ns 3250000000\nnote no_peak 1\n"},
    {"a higher snapshot has no tree",
     HEAD SNAPSHOT(0, 1, 100, "peak") TREE SNAPSHOT(1, 2, 101, "empty"),
     " alloc ? n ? peak 101 end ? moments 1 no paths at peak instructions 2\n"},
    {"of equal ones, the tree",
     HEAD SNAPSHOT(0, 1, 100, "empty") SNAPSHOT(1, 2, 100, "peak")
         TREE SNAPSHOT(2, 3, 100, "empty"),
     " alloc ? n ? peak 100 end ? moments 1 large at peak instructions 3\n" TREE_PATHS},
    {"callers that hold less than their callee",
     HEAD SNAPSHOT(0, 1, 9, "peak") "n1: 9" ROOT
                                    " n1: 8 0x1: leaf (a.c:1)\n  n0: 3 0x2: main (a.c:2)\n",
     " alloc ? n ? peak 9 end ? outside 0/1/0 moments 1 instructions 1\nmain;leaf 0/3/0\n"
     "leaf 0/5/0\nnote callers 2\n"},
    {"a tree smaller than the level",
     HEAD SNAPSHOT(0, 1, 100, "peak") "n1: 60" ROOT " n0: 60 0x1: main (a.c:1)\n",
     " alloc ? n ? peak 100 end ? outside 0/40/0 moments 1 instructions 1\nmain 0/60/0\nnote "
     "callers 1\n"},
    {"a tree larger than the level",
     HEAD SNAPSHOT(0, 1, 50, "peak") "n1: 60" ROOT " n0: 60 0x1: main (a.c:1)\n",
     " alloc ? n ? peak 60 end ? moments 1 instructions 1\nmain 0/60/0\nnote moment_sum 1\n"},
    {"a path of as many calls as --depth",
     HEAD SNAPSHOT(
         0, 1, 7, "peak") "n1: 7" ROOT
                          " n1: 7 0x1: a (a.c:1)\n  n1: 7 0x2: b (a.c:1)\n   n1: 7 0x3: c (a.c:1)\n"
                          "    n0: 7 0x4: d (a.c:1)\n",
     " alloc ? n ? peak 7 end ? moments 1 instructions 1\n[stack cut];d;c;b;a 0/7/0\n"},
    {"a path of fewer",
     HEAD SNAPSHOT(0, 1, 7, "peak") "n1: 7" ROOT " n1: 7 0x1: a (a.c:1)\n"
                                    "  n0: 7 0x1: b (a.c:1)\n",
     " alloc ? n ? peak 7 end ? moments 1 instructions 1\nb;a 0/7/0\n"},
    {"roots go",
     HEAD SNAPSHOT(0, 1, 7, "peak") "n1: 7" ROOT " n1: 7 0x1: a (a.c:1)\n"
                                    "  n0: 7 0x1: (below main) (libc-start.c:1)\n",
     " alloc ? n ? peak 7 end ? moments 1 instructions 1\na 0/7/0\n"},
    {"or stay, --cpp-frames all",
     HEAD SNAPSHOT(0, 1, 7, "peak") "n1: 7" ROOT " n1: 7 0x1: a (a.c:1)\n"
                                    "  n0: 7 0x1: (below main) (libc-start.c:1)\n",
     " alloc ? n ? peak 7 end ? moments 1 instructions 1\n(below main);a 0/7/0\n"},
    {"recursion is one",
     HEAD SNAPSHOT(0, 1, 7, "peak") "n1: 7" ROOT " n1: 7 0x1: a (a.c:1)\n"
                                    "  n1: 7 0x2: a (a.c:2)\n   n0: 7 0x3: main (a.c:1)\n",
     " alloc ? n ? peak 7 end ? moments 1 instructions 1\nmain;a 0/7/0\n"},
    {"a snapshot is missing", HEAD EMPTY SNAPSHOT(2, 7, 100, "peak") TREE,
     " alloc ? n ? peak 100 end ? moments 1 large at peak instructions 7\n" TREE_PATHS
     "note skipped 1\n"},
    {"a line that is none", HEAD EMPTY "nonsense\n" SNAPSHOT(1, 7, 100, "peak") TREE,
     " alloc ? n ? peak 100 end ? moments 1 large at peak instructions 7\n" TREE_PATHS
     "note skipped 1\n"},
    {"a tree with a line that is none",
     HEAD SNAPSHOT(0, 7, 100, "peak") "n1: 100" ROOT "nonsense\n" LAST,
     " alloc ? n ? peak 100 end ? moments 0 no paths at peak instructions 9\nnote skipped 2\n"},
    {"a tree with a child too many",
     HEAD SNAPSHOT(0, 7, 100, "peak") "n0: 100" ROOT " n0: 100 0x1: main (a.c:1)\n",
     " alloc ? n ? peak 100 end ? moments 0 no paths at peak instructions 7\nnote skipped 1\n"},
    {"a tree of which a child holds more",
     HEAD SNAPSHOT(0, 7, 100, "peak") "n1: 100" ROOT " n0: 101 0x1: main (a.c:1)\n",
     " alloc ? n ? peak 100 end ? moments 0 no paths at peak instructions 7\nnote skipped 1\n"},
    {"a tree of another depth",
     HEAD SNAPSHOT(0, 7, 100, "peak") "n1: 100" ROOT "  n0: 100 0x1: main (a.c:1)\n",
     " alloc ? n ? peak 100 end ? moments 0 no paths at peak instructions 7\nnote skipped 1\n"},
    {"negative bytes", HEAD EMPTY SNAPSHOT(1, 7, -5, "empty"),
     " alloc ? n ? peak 0 end ? moments 0 no paths at peak instructions 0\nnote skipped 1\n"
     "note no_allocations 1\nnote no_peak 1\n"},
    {"time runs backwards", HEAD SNAPSHOT(0, 9, 0, "empty") SNAPSHOT(1, 7, 100, "peak") TREE,
     " alloc ? n ? peak 100 end ? moments 1 large at peak instructions 9\n" TREE_PATHS
     "note clock 1\n"},
    {"more than can be", HEAD SNAPSHOT(0, 9, 9000000000000000000, "empty"),
     "error at 53: the allocations exceed 1 EiB, or are negative\n"},
    {"a time beyond all", HEAD SNAPSHOT(0, 9000000000000000000, 9, "empty"),
     "error at 53: a time in the file is out of range\n"},
    {"two, one behind the other",
     HEAD EMPTY SNAPSHOT(1, 7, 100, "peak") TREE LAST HEAD EMPTY SNAPSHOT(1, 7, 100, "peak") TREE,
     "error at 624: holds two massif profiles, one behind the other\n"},
    {"a command with several lines",
     "desc: a\ncmd: ./a x\ndesc: y\ntime_unit: i\n" SNAPSHOT(0, 0, 0, "empty"),
     " alloc ? n ? peak 0 end ? moments 0 no paths at peak instructions 0\nnote no_allocations 1\n"
     "note no_peak 1\n"},
    {"two of heaptrack_print, whose head is last",
     "snapshot=0\ntime=3\nmem_heap_B=5\nheap_tree=empty\ndesc: heaptrack\ntime_unit: s\n"
     "snapshot=0\ntime=3\nmem_heap_B=6\nheap_tree=empty\ndesc: heaptrack\ntime_unit: s\n",
     "error at 123: holds two massif profiles, one behind the other\n"},
    {"a tree of valgrind for ms_print",
     "desc: xtree.produce_report\ncmd: ./a\ntime_unit: ms\n" SNAPSHOT(0, 7, 40, "empty")
         SNAPSHOT(1, 7, 2, "empty"),
     "error at 0: it is a tree of valgrind's --xtree-memory, and no profile of massif\n"},
    {"the same, --partial",
     "desc: xtree.produce_report\ncmd: ./a\ntime_unit: ms\n" SNAPSHOT(0, 7, 40, "empty"),
     "error at 0: it is a tree of valgrind's --xtree-memory, and no profile of massif\n"},
    {"no peak is marked, though some was freed", HEAD EMPTY SNAPSHOT(1, 7, 100, "empty") LAST,
     "error at 363: no snapshot is marked as the peak, though memory was freed: the file was cut "
     "off\n"},
    {"the same, in part, --partial", HEAD EMPTY SNAPSHOT(1, 7, 100, "empty") LAST,
     " alloc ? n ? peak 100 end ? moments 0 no paths at peak instructions 9\nnote cut 1\n"},
    {"no snapshot", HEAD, "error at -1: holds no snapshot that can be read\n"},
    {"no good one", HEAD SNAPSHOT(0, x, 0, "empty"),
     "error at 77: holds no snapshot that can be read\n"},
    {"no good one, and cut", HEAD "#---\nsnapshot=0\ntime=1\n",
     "error at 63: ends inside a snapshot: the file was cut off\n"},
    {"cut in a tree, --partial", HEAD EMPTY SNAPSHOT(1, 7, 100, "peak") "n2: 100" ROOT,
     " alloc ? n ? peak 100 end ? moments 0 no paths at peak instructions 7\nnote cut 1\n"},
    {"cut behind a tree, --partial", HEAD EMPTY SNAPSHOT(1, 7, 100, "peak") TREE "#--",
     " alloc ? n ? peak 100 end ? moments 1 large at peak instructions 7\n" TREE_PATHS
     "note cut 1\n"},
    {"cut in the level, --partial", HEAD EMPTY "snapshot=1\ntime=7\nmem_heap_B=10",
     " alloc ? n ? peak 0 end ? moments 0 no paths at peak instructions 0\nnote cut 1\n"
     "note no_allocations 1\n"},
};

static void test_massif(void **state)
{
    summed_test(*state, &mt_reader_massif);
}

static void massif_cuts(void **state)
{
    static const char text[] = HEAD EMPTY SNAPSHOT(1, 7, 100, "peak") TREE LAST;
    /* Behind the peak nothing tells. */
    size_t peak = sizeof(HEAD EMPTY SNAPSHOT(1, 7, 100, "peak") TREE) - 1;
    const size_t whole[] = {peak};
    (void)state;
    summed_test_cuts(text, &mt_reader_massif, whole, MT_ARRAY_LEN(whole));
}

/* ---- DHAT ---- */

#define TOP                                                                                        \
    "{\"dhatFileVersion\":2,\"mode\":\"heap\",\"verb\":\"Allocated\",\"bklt\":true,\"bkacc\":"     \
    "true,"                                                                                        \
    "\"tu\":\"instrs\",\"cmd\":\"./a\",\"pid\":1,\"te\":90,\"tg\":70,"
#define PATH(tb, gb, eb, fs)                                                                       \
    "{\"tb\":" #tb ",\"tbk\":3,\"tl\":5,\"mb\":0,\"mbk\":0,\"gb\":" #gb ",\"gbk\":1,\"eb\":" #eb   \
    ",\"ebk\":1,\"rb\":1,\"wb\":2,\"acc\":[-3,1],\"fs\":[" fs "]}"
#define TABLE                                                                                      \
    ",\"ftbl\":[\"[root]\",\"0x1: malloc (in /usr/vgpreload_dhat.so)\",\"0x2: leaf (a.c:1)\","     \
    "\"0x3: main (a.c:2)\",\"0x4: (below main) (c.c:1)\"]}\n"
#define INLINED ",\"ftbl\":[\"\",\"\",\"0x2: leaf (a.c:1)\",\"\",\"\",\"0x2: inlines (a.c:9)\"]}\n"
#define REST    " instructions 90\n"

static const struct summed_file dhats[] = {
    {"a whole one", TOP "\"pps\":[" PATH(100, 70, 20, "1,2,3,4") "]" TABLE,
     " alloc 100 n 3 peak 70 end 20" REST "main;leaf 100/70/20\n"},
    {"with allocators and roots, --cpp-frames all",
     TOP "\"pps\":[" PATH(100, 70, 20, "1,2,3,4") "]" TABLE,
     " alloc 100 n 3 peak 70 end 20" REST "(below main);main;leaf;malloc 100/70/20\n"},
    {"paths that are one",
     TOP "\"pps\":[" PATH(9, 7, 2, "1,2,3") "," PATH(10, 1, 0, "2,3,4") "]" TABLE,
     " alloc 19 n 6 peak 8 end 2" REST "main;leaf 19/8/2\n"},
    {"no path", TOP "\"pps\":[" PATH(9, 7, 2, "") "]" TABLE,
     " alloc 9 n 3 peak 7 end 2 outside 9/7/2" REST},
    {"nothing allocated", TOP "\"pps\":[]" TABLE,
     " alloc 0 n 0 peak 0 end 0" REST "note no_allocations 1\n"},
    {"the table first, other members, other blanks",
     "\xef\xbb\xbf { \"ftbl\" : [ \"[root]\" , \"f\" ] , \"x\" : { \"pps\" : [ 1 ] } ,\n"
     "\"dhatFileVersion\" : 2 , \"pps\" : [ { \"fs\" : [ 1 ] , \"tbk\" : 1 , \"tb\" : 5 , \"gb\" : "
     "1 , "
     "\"gbk\" : 1 , \"eb\" : 0 , \"ebk\" : 0 } ] } ",
     " alloc 5 n 1 peak 1 end 0 no time 0\nf 5/1/0\n"},
    {"no lifetimes",
     "{\"dhatFileVersion\":2,\"mode\":\"heap\",\"bklt\":false,\"tu\":\"instrs\",\"te\":9,"
     "\"pps\":[{\"tb\":5,\"tbk\":1,\"fs\":[3]}]" TABLE,
     " alloc 5 n 1 peak ? end ? instructions 9\nmain 5/0/0\n"},
    {"dhat-rs",
     "{\"dhatFileVersion\":2,\"mode\":\"rust-heap\",\"bklt\":true,\"tu\":\"\xc2\xb5s\",\"te\":9,"
     "\"tg\":7,\"pps\":[{\"tb\":5,\"tbk\":1,\"gb\":5,\"gbk\":1,\"eb\":5,\"ebk\":1,\"fs\":[3]}"
     "]" TABLE,
     " alloc 5 n 1 peak 5 end 5 ns 9000\nmain 5/5/5\n"},
    {"stacks as long as the longest are cut",
     TOP "\"pps\":[" PATH(9, 7, 2, "2,2,2,2,2,2,2,2,2,2") "," PATH(10, 1, 0, "2") "]" TABLE,
     " alloc 19 n 6 peak 8 end 2" REST "[stack cut];leaf 9/7/2\nleaf 10/1/0\n"},
    {"inlined functions are no calls",
     TOP "\"pps\":[" PATH(9, 7, 2, "2,2,2,2,2,2,2,2,2,2") "," PATH(
         10, 1, 0, "2,5,2,5,2,2,2,2,2,2,2") "]" INLINED,
     " alloc 19 n 6 peak 8 end 2" REST
     "[stack cut];leaf 9/7/2\nleaf;inlines;leaf;inlines;leaf 10/1/0\n"},
    {"figures that cannot be", TOP "\"pps\":[" PATH(9, 10, 2, "3") "," PATH(9, 7, 2, "3") "]" TABLE,
     " alloc 9 n 3 peak 7 end 2" REST "main 9/7/2\nnote skipped 1\n"},
    {"a path that grew behind the peak",
     TOP "\"pps\":[" PATH(9, 1, 8, "3") "," PATH(9, 8, 0, "2") "]" TABLE,
     " alloc 18 n 6 peak 9 end 8" REST "main 9/1/8\nleaf 9/8/0\n"},
    {"a peak below the end", TOP "\"pps\":[" PATH(90, 10, 80, "3") "]" TABLE,
     "error at -1: more is alive at the end than at the peak\n"},
    {"no peak, though there were blocks", TOP "\"pps\":[" PATH(9, 0, 0, "3") "]" TABLE,
     "error at -1: blocks were allocated, and nothing was held at the peak\n"},
    {"a figure whose fraction is lost", TOP "\"pps\":[" PATH(9., 7, 2, "3") "]" TABLE,
     "error at 136: none of its figures can be true (1 call path)\n"},
    {"further figures that leave 64 bits",
     TOP "\"pps\":[{\"tb\":9,\"tbk\":1,\"tl\":9223372036854775807,\"gb\":9,\"gbk\":1,\"eb\":0,"
         "\"ebk\":0,\"fs\":[3]}," PATH(9, 7, 2, "3") "]" TABLE,
     " alloc 18 n 4 peak 16 end 2" REST
     "main 18/16/2\nevents 2\nlifetime_ns  ?\nread_b  1\nwritten_b  2\n"},
    {"times that cannot be",
     "{\"dhatFileVersion\":2,\"mode\":\"rust-heap\",\"tu\":\"us\",\"te\":9,"
     "\"tg\":9223372036854775807,\"pps\":[" PATH(9, 7, 2, "3") "]" TABLE,
     "error at -1: a time in the file is out of range\n"},
    {"an end that cannot be",
     "{\"dhatFileVersion\":2,\"mode\":\"heap\",\"tu\":\"instrs\","
     "\"te\":9223372036854775807,\"pps\":[" PATH(9, 7, 2, "3") "]" TABLE,
     "error at -1: a time in the file is out of range\n"},
    {"times that are none",
     "{\"dhatFileVersion\":2,\"mode\":\"heap\",\"tu\":\"instrs\",\"te\":\"x\",\"tg\":-1,"
     "\"pps\":[" PATH(9, 7, 2, "3") "]" TABLE,
     " alloc 9 n 3 peak 7 end 2 instructions 0\nmain 9/7/2\nnote skipped 2\n"},
    {"none that can", TOP "\"pps\":[" PATH(9, 10, 2, "3") "]" TABLE,
     "error at 136: none of its figures can be true (1 call path)\n"},
    {"figures that are none", TOP "\"pps\":[" PATH("9", 7, 2, "3") "," PATH(9, 7, 2, "3") "]" TABLE,
     " alloc 9 n 3 peak 7 end 2" REST "main 9/7/2\nnote skipped 1\n"},
    {"more than can be", TOP "\"pps\":[" PATH(9000000000000000000, 7, 2, "3") "]" TABLE,
     "error at 136: the allocations exceed 1 EiB, or are negative\n"},
    {"a frame that is not there", TOP "\"pps\":[" PATH(9, 7, 2, "5") "]" TABLE,
     "error at 136: a stack has frame 5, and its table only 5\n"},
    {"a frame that is no number", TOP "\"pps\":[" PATH(9, 7, 2, "-1") "]" TABLE,
     "error at 237: a frame of a stack is no number of a frame\n"},
    {"another mode", "{\"dhatFileVersion\":2,\"mode\":\"pairs\"}",
     "error at 28: DHAT counted here events of its mode 'pairs', which memtool does not know\n"},
    {"copies are no memory, but further figures",
     "{\"dhatFileVersion\":2,\"mode\":\"copy\",\"bklt\":false,\"tu\":\"instrs\",\"te\":9,"
     "\"pps\":[{\"tb\":5,\"tbk\":1,\"fs\":[3]}]" TABLE,
     " alloc ? n ? peak ? end ? instructions 9\nevents 0\ncopied_b  0\ncopies_n  0\ncopied_b  5\n"
     "copies_n  1\n"},
    {"events are no memory, but further figures",
     "{\"dhatFileVersion\":2,\"mode\":\"rust-ad-hoc\",\"bklt\":false,\"tu\":\"us\",\"te\":9,"
     "\"pps\":[]" TABLE,
     " alloc ? n ? peak ? end ? ns 9000\nevents 0\nunits_n  0\nevents_n  0\n"},
    {"another version", "{\"dhatFileVersion\":1}",
     "error at 19: DHAT's format version 1; memtool reads version 2\n"},
    {"no version", "{\"pps\":[]}",
     "error at 0: JSON of another tool: it has no \"dhatFileVersion\"\n"},
    {"no figures", "{\"dhatFileVersion\":2}", "error at 21: it has no figures (\"pps\")\n"},
    {"figures twice", TOP "\"pps\":[],\"pps\":[]" TABLE, "error at 144: it has \"pps\" twice\n"},
    {"no table", TOP "\"pps\":[]}", "error at 138: it has no table of frames (\"ftbl\")\n"},
    {"something else behind", TOP "\"pps\":[" PATH(9, 7, 2, "3") "]" TABLE "xy",
     " alloc 9 n 3 peak 7 end 2" REST "main 9/7/2\nnote trailing 2\n"},
    {"cut in the figures, --partial", TOP "\"pps\":[" PATH(9, 7, 2, "3"),
     "error at 240: ends early: the file was cut off\n"},
    {"cut in the table, --partial",
     TOP "\"pps\":[" PATH(9, 7, 2, "2,3") "],\"ftbl\":[\"[root]\",\"m\",\"f\",\"0x3: ma",
     " alloc 9 n 3 peak 7 end 2" REST "[unknown function];f 9/7/2\nnote cut 1\n"},
    {"no JSON", TOP "\"pps\"]",
     "error at 134: this is no JSON of that kind: ':' is missing behind a key\n"},
};

static void test_dhat(void **state)
{
    summed_test(*state, &mt_reader_dhat);
}

static void dhat_cuts(void **state)
{
    static const char text[] = TOP "\"pps\":[" PATH(9, 7, 2, "1,2,3") "]" TABLE;
    const size_t whole[] = {sizeof text - 2}; /* without the last line's end */
    (void)state;
    summed_test_cuts(text, &mt_reader_dhat, whole, MT_ARRAY_LEN(whole));
}

int main(void)
{
    static const struct CMUnitTest cuts[] = {cmocka_unit_test(massif_cuts),
                                             cmocka_unit_test(dhat_cuts)};
    struct row_tests t = {0};
    ROWS_ADD(&t, test_frame, frames);
    ROWS_ADD(&t, test_massif, massifs);
    ROWS_ADD(&t, test_dhat, dhats);
    int failed = ROWS_RUN(&t, "valgrind");
    return cmocka_run_group_tests(cuts, NULL, NULL) + failed;
}
