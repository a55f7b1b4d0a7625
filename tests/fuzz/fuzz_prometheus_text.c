/* Metrics of Prometheus from any bytes to totals: no crash, and levels within their bounds. */
#include "tests/fuzz/summed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    summed_fuzz(&mt_reader_prometheus_text, data, n);
    return 0;
}
