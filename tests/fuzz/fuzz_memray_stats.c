/* What memray stats --json writes, from any bytes to totals: no crash, and the sums add up. */
#include "tests/fuzz/summed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    summed_fuzz(&mt_reader_memray_stats, data, n);
    return 0;
}
