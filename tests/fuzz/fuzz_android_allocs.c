/* What Android's malloc_debug writes (allocs), from any bytes to totals: no crash, and the sums add
 * up. */
#include "tests/fuzz/summed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    summed_fuzz(&mt_reader_android_allocs, data, n);
    return 0;
}
