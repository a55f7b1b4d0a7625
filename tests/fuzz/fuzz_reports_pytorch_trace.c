/* A trace from any bytes to every report on it. */
#include "tests/fuzz/reports.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const more[] = {
        "table input --compat torch", "table input --compat torch:1.13",
        "table base --compat torch:2.6 --sort self_cpu_memory_usage", NULL};
    static const struct fuzz_reports what = {.base = "samples/cache_steps/trace.json.gz",
                                             .sample = "samples/loop/trace.json.gz",
                                             .more = more};
    fuzz_reports(&what, data, n);
    return 0;
}
