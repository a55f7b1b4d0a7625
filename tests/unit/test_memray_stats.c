/* formats/memray_stats.c: small files, whole and damaged, and what becomes of them. */
#include "formats/format.h"
#include "tests/unit/rows.h"
#include "tests/unit/summed.h"

#define TOTALS "\"total_num_allocations\":7,\"total_bytes_allocated\":100"

static const struct summed_file files[] = {
    {"totals, places and the peak",
     "{" TOTALS ",\"top_allocations_by_size\":[{\"location\":\"f:/a/b.py:3\",\"size\":60},"
     "{\"location\":\"<module>:<frozen os>:12\",\"size\":30}],\"metadata\":{\"peak_memory\":55}}",
     " alloc 100 n 7 peak 55 end ? no paths at peak no time 0\nb.py:3 f 60/0/0\n<frozen os>:12 "
     "<module> 30/0/0\n[below threshold] 10/0/0\nnote library_folded 1\n"},
    {"without a peak", "{" TOTALS "}",
     " alloc 100 n 7 peak ? end ? no time 0\n[below threshold] 100/0/0\n"},
    {"nothing", "{\"total_num_allocations\":0,\"total_bytes_allocated\":0}",
     " alloc 0 n 0 peak ? end ? no time 0\nnote no_allocations 1\n"},
    {"no totals", "{\"total_num_allocations\":0}", "error at 27: its totals are missing\n"},
    {"more than the whole",
     "{" TOTALS ",\"top_allocations_by_size\":[{\"location\":\"f:b.py:3\",\"size\":101}]}",
     "error at 118: its places allocate more than the whole\n"},
    {"a negative number", "{\"total_num_allocations\":-1}",
     "error at 27: a number is not a whole one, 0 or more, that can be true\n"},
    {"cut", "{" TOTALS, "error at 54: ends early: the file was cut off\n"},
};

static void test_files(void **state)
{
    summed_test(*state, &mt_reader_memray_stats);
}

int main(void)
{
    struct row_tests t = {0};
    ROWS_ADD(&t, test_files, files);
    return ROWS_RUN(&t, "memray_stats");
}
