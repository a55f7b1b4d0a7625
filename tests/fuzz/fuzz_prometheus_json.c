/* What Prometheus answers from any bytes to totals: no crash, and levels within their bounds. */
#include "tests/fuzz/summed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    summed_fuzz(&mt_reader_prometheus_json, data, n);
    return 0;
}
