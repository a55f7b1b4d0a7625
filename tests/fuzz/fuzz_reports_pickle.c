/* A snapshot from any bytes to every report on it. */
#include "tests/fuzz/reports.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const more[] = {"segments input",
                                       "segments input --format json",
                                       "segments input --by site",
                                       "segments input --by site --format csv",
                                       "segments input --format svg",
                                       "segments input --sort age_ns --limit 1 --format markdown",
                                       "fragmentation input",
                                       "fragmentation input --fit 3MiB",
                                       "fragmentation input --fit 512 --format json",
                                       "fragmentation input --fit 40GiB --format markdown",
                                       "timeline input --metric reserved",
                                       NULL};
    static const struct fuzz_reports what = {.base = "samples/snapshots/basic.pickle",
                                             .sample = "samples/snapshots/padded.pickle",
                                             .more = more};
    fuzz_reports(&what, data, n);
    return 0;
}
