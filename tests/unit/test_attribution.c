/* lib/build/attribution.c, rollup.c: whose bytes they are, which free ends which block, the peak.
 */
#include "tests/unit/built.h"

static const struct told records[] = {
    {"the innermost op", "1 op 0 10 a\n1 op 2 5 b\n1 mem 3 8 1 cpu\n1 mem 6 9 2 cpu",
     "3 +8 in b\n6 +9 in a\n", ""},
    {"at its start and at its end", "1 op 2 5 a\n1 mem 2 8 1 cpu\n1 mem 5 9 2 cpu",
     "2 +8 in a\n5 +9 in a\n", ""},
    {"one behind the end is outside", "1 op 2 5 a\n1 mem 1 7 1 cpu\n1 mem 6 8 2 cpu",
     "1 +7 in -\n6 +8 in -\n", "outside_ops 2"},
    {"between two ops that touch, the one that starts", "1 op 0 5 a\n1 op 5 9 b\n1 mem 5 8 1 cpu",
     "5 +8 in b\n", ""},
    {"at the common end, the inner one", "1 op 0 9 a\n1 op 5 9 b\n1 mem 9 8 1 cpu", "9 +8 in b\n",
     ""},
    {"where a child ended, the child", "1 op 0 9 a\n1 op 2 5 b\n1 mem 5 8 1 cpu", "5 +8 in b\n",
     ""},
    {"whole microseconds: a free where an op ends is of the op around",
     "- whole_us\n1 op 0 9000 a\n1 op 2000 5000 b\n1 mem 5000 8 1 cpu\n1 mem 5000 -8 1 cpu",
     "5000 +8 in b, mate 5000\n5000 -8 in a, mate 5000\n", ""},
    {"whole microseconds: a free inside, and where an op begins, is of that op",
     "- whole_us\n1 op 0 9000 a\n1 op 2000 5000 b\n1 op 5000 6000 c\n1 mem 1000 8 1 cpu\n"
     "1 mem 3000 -8 1 cpu\n1 mem 4000 8 1 cpu\n1 mem 5000 -8 1 cpu",
     "1000 +8 in a, mate 3000\n3000 -8 in b, mate 1000\n4000 +8 in b, mate 5000\n"
     "5000 -8 in c, mate 4000\n",
     ""},
    {"whole microseconds: with nothing around, of the op that ends",
     "- whole_us\n1 op 2000 5000 b\n1 mem 3000 8 1 cpu\n1 mem 5000 -8 1 cpu",
     "3000 +8 in b, mate 5000\n5000 -8 in b, mate 3000\n", ""},
    {"nanoseconds: a free where an op ends is that op's",
     "1 op 0 9000 a\n1 op 2000 5000 b\n1 mem 3000 8 1 cpu\n1 mem 5000 -8 1 cpu",
     "3000 +8 in b, mate 5000\n5000 -8 in b, mate 3000\n", ""},
    {"only its own thread", "1 op 0 9 a\n2 op 0 2 b\n2 mem 1 8 1 cpu\n2 mem 5 9 2 cpu",
     "1 +8 in b\n5 +9 in -\n", "outside_ops 1"},
    {"a thread without ops", "1 op 0 9 a\n3 mem 5 9 2 cpu", "5 +9 in -\n", "outside_ops 1"},
    {"an op cut short by its parent keeps its own end",
     "1 op 0 10 a\n1 op 5 15 b\n1 mem 12 8 1 cpu\n1 mem 16 8 2 cpu", "12 +8 in b\n16 +8 in -\n",
     "overlap 1, outside_ops 1"},
    {"an op that outlives the one around it has what others leave",
     "1 op 0 10 a\n1 op 5 15 b\n1 op 11 12 c\n1 mem 8 1 1 cpu\n1 mem 11 2 2 cpu\n"
     "1 mem 13 4 3 cpu\n1 mem 16 8 4 cpu",
     "8 +1 in b\n11 +2 in c\n13 +4 in b\n16 +8 in -\n", "overlap 1, outside_ops 1"},
    {"of ops that overlap, the one that started last and is open",
     "1 op 0 20 a\n1 op 2 30 b\n1 op 4 6 c\n1 op 8 25 d\n1 mem 7 1 1 cpu\n1 mem 22 2 2 cpu\n"
     "1 mem 26 4 3 cpu",
     "7 +1 in b\n22 +2 in d\n26 +4 in b\n", "overlap 1"},
    {"whole microseconds: a free where an op ends is of the one that outlives it",
     "- whole_us\n1 op 0 9000 a\n1 op 2000 15000 b\n1 op 11000 12000 c\n1 mem 5000 8 1 cpu\n"
     "1 mem 12000 -8 1 cpu",
     "5000 +8 in b, mate 12000\n12000 -8 in b, mate 5000\n", "overlap 1"},
    {"equal times keep the order of recording",
     "1 op 0 9 a\n1 mem 5 8 1 cpu\n1 mem 5 -8 1 cpu\n1 mem 5 8 1 cpu",
     "5 +8 in a, mate 5\n5 -8 in a, mate 5\n5 +8 in a\n", ""},
    {"a free finds its block, on any thread",
     "1 op 0 9 a\n2 op 0 9 b\n1 mem 3 8 1 cpu\n2 mem 5 -8 1 cpu",
     "3 +8 in a, mate 5\n5 -8 in b, mate 3\n", ""},
    {"a reused address",
     "1 op 0 9 a\n1 mem 1 8 1 cpu\n1 mem 2 -8 1 cpu\n1 mem 3 4 1 cpu\n"
     "1 mem 4 -4 1 cpu",
     "1 +8 in a, mate 2\n2 -8 in a, mate 1\n3 +4 in a, mate 4\n4 -4 in a, mate 3\n", ""},
    {"an address given out twice holds one block at a time: the first is dead, the last new",
     "1 op 0 9 a\n1 mem 1 8 1 cpu\n1 mem 2 8 1 cpu\n1 mem 3 -8 1 cpu\n1 mem 5 -8 1 cpu",
     "1 +8 in a, mate 2\n2 -8 unseen, mate 1\n2 +8 in a, mate 3\n3 -8 in a, mate 2\n"
     "3 +8 unseen, mate 5\n5 -8 in a, mate 3\n",
     "freed_unseen 1, alloc_unseen 1"},
    {"whatever its size",
     "1 op 0 9 a\n1 mem 1 8 1 cpu\n1 mem 2 4 1 cpu\n1 mem 3 -4 1 cpu\n1 mem 5 -8 1 cpu",
     "1 +8 in a, mate 2\n2 -8 unseen, mate 1\n2 +4 in a, mate 3\n3 -4 in a, mate 2\n"
     "3 +8 unseen, mate 5\n5 -8 in a, mate 3\n",
     "freed_unseen 1, alloc_unseen 1"},
    {"a free of another size is of another block, born and freed since",
     "1 op 0 9 a\n1 mem 1 8 1 cpu\n1 mem 2 -4 1 cpu\n1 mem 3 8 1 cpu\n1 mem 4 -8 1 cpu",
     "1 +8 in a, mate 2\n2 -8 unseen, mate 1\n2 +4 unseen, mate 2\n2 -4 in a, mate 2\n"
     "3 +8 in a, mate 4\n4 -8 in a, mate 3\n",
     "freed_unseen 1, size_mismatch 1, alloc_unseen 1"},
    {"where threads meet at one moment, the free came first",
     "1 op 0 9 a\n2 op 0 9 b\n1 mem 1 8 1 cpu\n2 mem 5 8 1 cpu\n1 mem 5 -8 1 cpu\n"
     "2 mem 7 -8 1 cpu",
     "1 +8 in a, mate 5\n5 +8 in b, mate 7\n5 -8 in a, mate 1\n7 -8 in b, mate 5\n", ""},
    {"but what a thread allocates and frees there is its own",
     "1 op 0 9 a\n2 op 0 9 b\n1 mem 1 8 1 cpu\n2 mem 5 8 1 cpu\n2 mem 5 -8 1 cpu",
     "1 +8 in a, mate 5\n5 -8 unseen, mate 1\n5 +8 in b, mate 5\n5 -8 in b, mate 5\n",
     "freed_unseen 1"},
    {"and of two allocated at one moment, a free tells by its size which was the last",
     "1 op 0 9 a\n2 op 0 9 b\n1 mem 5 8 1 cpu\n2 mem 5 4 1 cpu\n1 mem 6 -8 1 cpu\n"
     "1 mem 7 2 1 cpu",
     "5 +8 in a, mate 6\n5 +4 in b, mate 7\n6 -8 in a, mate 5\n7 -4 unseen, mate 5\n7 +2 in a\n",
     "freed_unseen 1"},
    {"a free of a block that is older", "1 op 0 9 a\n1 mem 2 -4 1 cpu", "2 -4 in a\n",
     "before_trace 1"},
    {"devices have addresses of their own",
     "1 op 0 9 a\n1 mem 1 8 1 cuda0\n1 mem 2 8 1 cuda1\n1 mem 3 8 1 cpu\n1 mem 4 -8 1 cuda0",
     "1 +8 in a, mate 4\n2 +8 in a\n3 +8 in a\n4 -8 in a, mate 1\n", ""},
    {"with addresses of any width",
     "1 op 0 9 a\n1 mem 1 8 1000000001000 cpu\n1 mem 2 -8 1000 cuda0\n1 mem 3 4 2 cuda0\n"
     "1 mem 4 -8 ffff000000001000 cpu\n1 mem 5 -8 1000000001000 cpu",
     "1 +8 in a, mate 5\n2 -8 in a\n3 +4 in a\n4 -8 in a\n5 -8 in a, mate 1\n", "before_trace 2"},
    {"processes have addresses of their own",
     "1 op 0 9 a\n2:1 op 0 9 b\n1 mem 1 8 1 cpu\n2:1 mem 2 8 1 cpu\n1 mem 3 -8 1 cpu",
     "1 +8 in a, mate 3\n2 +8 in b\n3 -8 in a, mate 1\n", ""},
    {"without an address nothing pairs", "1 op 0 9 a\n1 mem 1 8 0 cpu\n1 mem 2 -8 0 cpu",
     "1 +8 in a\n2 -8 in a\n", "no_address 2"},
    {"where few lack an address, a free without one ends the latest block of its size",
     "1 op 0 9 a\n1 mem 1 8 1 cpu\n1 mem 2 8 2 cpu\n1 mem 3 4 3 cpu\n1 mem 4 -8 0 cpu\n"
     "1 mem 5 -8 1 cpu",
     "1 +8 in a, mate 5\n2 +8 in a, mate 4\n3 +4 in a\n4 -8 in a, mate 2\n5 -8 in a, mate 1\n",
     "paired_by_size 1"},
    {"but no block that is freed at its address, nor one of another process or device",
     "1 op 0 9 a\n2:1 mem 1 8 1 cpu\n1 mem 1 8 1 cuda0\n1 mem 2 8 1 cpu\n1 mem 3 -8 0 cpu\n"
     "1 mem 4 -8 1 cpu\n1 mem 5 4 2 cpu",
     "1 +8 in -\n1 +8 in a\n2 +8 in a, mate 4\n3 -8 in a\n4 -8 in a, mate 2\n5 +4 in a\n",
     "outside_ops 1, before_trace 1, paired_by_size 1"},
    {"and a block without an address ends with a free that is of no other",
     "1 op 0 9 a\n1 mem 1 8 0 cpu\n1 mem 2 8 2 cpu\n1 mem 3 -8 3 cpu\n1 mem 4 -8 2 cpu\n"
     "1 mem 5 -8 3 cpu",
     "1 +8 in a, mate 3\n2 +8 in a, mate 4\n3 -8 in a, mate 1\n3 +8 unseen, mate 5\n"
     "4 -8 in a, mate 2\n5 -8 in a, mate 3\n",
     "paired_by_size 1, alloc_unseen 1"},
    {"nor a block whose address is handed out again before",
     "1 op 0 9 a\n1 mem 1 8 1 cpu\n1 mem 2 8 2 cpu\n1 mem 3 8 1 cpu\n1 mem 4 -8 1 cpu\n"
     "1 mem 5 -8 0 cpu\n1 mem 6 -8 0 cpu\n",
     "1 +8 in a, mate 3\n2 +8 in a, mate 5\n3 -8 unseen, mate 1\n3 +8 in a, mate 4\n"
     "4 -8 in a, mate 3\n5 -8 in a, mate 2\n6 -8 in a\n",
     "freed_unseen 1, before_trace 1, paired_by_size 2"},
    {"where most lack an address, none of these pairs",
     "1 op 0 9 a\n1 mem 1 8 0 cpu\n1 mem 2 8 1 cpu\n1 mem 3 -8 0 cpu\n1 mem 4 8 0 cpu\n"
     "1 mem 5 -8 1 cpu",
     "1 +8 in a\n2 +8 in a, mate 5\n3 -8 in a\n4 +8 in a\n5 -8 in a, mate 2\n", "no_address 3"},
    {"nothing of nothing", "1 op 0 9 a\n1 mem 1 0 1 cpu\n1 mem 2 -8 1 cpu",
     "1 +0 in a\n2 -8 in a\n", "before_trace 1"},
};

static const struct told devices[] = {
    {"totals and the peak",
     "1 op 0 9 a\n1 mem 1 8 1 cpu\n1 mem 2 4 2 cpu\n1 mem 3 -8 1 cpu\n"
     "1 mem 4 6 3 cpu",
     "cpu +18 -8 end 10 peak 12 at 2, outside 0 (+0 -0 peak 0), before 0 (peak 0)\n", ""},
    {"of equal peaks the first", "1 op 0 9 a\n1 mem 1 8 1 cpu\n1 mem 2 -8 1 cpu\n1 mem 3 8 1 cpu",
     "cpu +16 -8 end 8 peak 8 at 1, outside 0 (+0 -0 peak 0), before 0 (peak 0)\n", ""},
    {"within one nanosecond",
     "1 op 0 9 a\n1 mem 5 8 1 cpu\n1 mem 5 4 2 cpu\n1 mem 5 -8 1 cpu\n"
     "1 mem 5 3 3 cpu",
     "cpu +15 -8 end 7 peak 12 at 5, outside 0 (+0 -0 peak 0), before 0 (peak 0)\n", ""},
    {"never above nothing", "1 op 0 9 a\n1 mem 5 -8 1 cpu\n1 mem 6 4 2 cpu",
     "cpu +4 -8 end 4 no peak, outside 0 (+0 -0 peak 0), before 8 (peak 0)\n", "before_trace 1"},
    {"older blocks freed before the peak, and after it",
     "1 op 0 9 a\n1 mem 1 -3 9 cpu\n1 mem 2 8 1 cpu\n1 mem 3 -2 8 cpu",
     "cpu +8 -5 end 8 peak 10 at 2, outside 0 (+0 -0 peak 0), before 5 (peak 3)\n",
     "before_trace 2"},
    {"outside every op",
     "1 op 5 6 a\n1 mem 1 8 1 cpu\n1 mem 2 4 2 cpu\n1 mem 3 -8 1 cpu\n"
     "1 mem 5 1 4 cpu",
     "cpu +13 -8 end 5 peak 12 at 2, outside 3 (+12 -8 peak 12), before 0 (peak 0)\n",
     "outside_ops 3"},
    {"a device without addresses knows no older blocks",
     "1 op 0 9 a\n1 mem 1 100 0 cpu\n1 mem 2 -60 0 cpu\n1 mem 3 200 0 cpu",
     "cpu +300 -60 end 300 peak 240 at 3, outside 0 (+0 -0 peak 0), before 0 (peak 0)\n",
     "no_address 3"},
    {"each device by itself",
     "1 op 0 9 a\n1 mem 1 8 1 cuda1\n1 mem 2 4 1 cpu\n1 mem 3 -8 1 cuda1\n"
     "1 mem 4 2 7 cuda0",
     "cuda:1 +8 -8 end 0 peak 8 at 1, outside 0 (+0 -0 peak 0), before 0 (peak 0)\n"
     "cpu +4 -0 end 4 peak 4 at 2, outside 0 (+0 -0 peak 0), before 0 (peak 0)\n"
     "cuda:0 +2 -0 end 2 peak 2 at 4, outside 0 (+0 -0 peak 0), before 0 (peak 0)\n",
     ""},
};

static const struct told stats[] = {
    {"self and with what it called",
     "1 op 0 9 a\n1 op 2 5 b\n1 mem 1 8 1 cpu\n1 mem 3 4 2 cpu\n1 mem 6 -4 2 cpu",
     "a cpu: +8 -4 n1 peak 8 end 8 | +12 -4 n2 peak 12 end 8\n"
     "b cpu: +4 -0 n1 peak 4 end 0 | +4 -0 n1 peak 4 end 0\n",
     ""},
    {"a parent without bytes of its own", "1 op 0 9 a\n1 op 1 8 b\n1 op 2 5 c\n1 mem 3 4 2 cpu",
     "a cpu: +0 -0 n0 peak 0 end 0 | +4 -0 n1 peak 4 end 4\n"
     "b cpu: +0 -0 n0 peak 0 end 0 | +4 -0 n1 peak 4 end 4\n"
     "c cpu: +4 -0 n1 peak 4 end 4 | +4 -0 n1 peak 4 end 4\n",
     ""},
    {"nodes without bytes have no row", "1 op 0 3 a\n1 op 4 9 b\n1 mem 5 4 2 cpu",
     "b cpu: +4 -0 n1 peak 4 end 4 | +4 -0 n1 peak 4 end 4\n", ""},
    {"at the peak: what was live just then, though born and freed in one nanosecond",
     "1 op 0 3 a\n1 op 4 9 b\n1 mem 2 5 9 cpu\n1 mem 5 8 1 cpu\n1 mem 5 4 2 cpu\n1 mem 5 -8 1 cpu\n"
     "1 mem 5 3 3 cpu",
     "a cpu: +5 -0 n1 peak 5 end 5 | +5 -0 n1 peak 5 end 5\n"
     "b cpu: +15 -8 n3 peak 12 end 7 | +15 -8 n3 peak 12 end 7\n",
     ""},
    {"one node, several devices and threads",
     "1 op 0 9 a\n2 op 0 9 a\n1 mem 1 8 1 cuda0\n2 mem 2 4 2 cpu\n2 mem 3 -8 1 cuda0\n"
     "2 mem 4 1 3 cuda0",
     "a cuda:0: +9 -8 n2 peak 8 end 1 | +9 -8 n2 peak 8 end 1\n"
     "a cpu: +4 -0 n1 peak 4 end 4 | +4 -0 n1 peak 4 end 4\n",
     ""},
    {"freed elsewhere than allocated", "1 op 0 3 a\n1 op 4 9 b\n1 mem 2 8 1 cpu\n1 mem 5 -8 1 cpu",
     "a cpu: +8 -0 n1 peak 8 end 0 | +8 -0 n1 peak 8 end 0\n"
     "b cpu: +0 -8 n0 peak 0 end 0 | +0 -8 n0 peak 0 end 0\n",
     ""},
};

static void record(void **state)
{
    check_told(*state, tell_records);
}

static void device(void **state)
{
    check_told(*state, tell_devices);
}

static void stat_of(void **state)
{
    check_told(*state, tell_stats);
}

int main(void)
{
    static struct row_tests tests;
    ROWS_ADD(&tests, record, records);
    ROWS_ADD(&tests, device, devices);
    ROWS_ADD(&tests, stat_of, stats);
    return ROWS_RUN(&tests, "attribution");
}
