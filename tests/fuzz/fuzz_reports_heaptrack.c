/* A heap log from any bytes to every report on it. */
#include "tests/fuzz/reports.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const more[] = {"table input --by object",
                                       "table input --by file,site --format json",
                                       "tree input --min 0 --format csv",
                                       "tree input --invert --limit 5",
                                       "peak input --by site",
                                       "peak input --by object --format json",
                                       "leaks input --by file",
                                       "leaks input --fail --min 1KiB --by path --format csv",
                                       "diff base input --by site",
                                       "diff input base --by object --format json",
                                       "timeline input --format svg",
                                       "check input --max-peak 1 --max-at-end 0 --op a",
                                       NULL};
    static const struct fuzz_reports what = {.base = "samples/heap/dhat_2k.json",
                                             .sample = "samples/heap/heaptrack.zst",
                                             .more = more,
                                             .refuses = true};
    fuzz_reports(&what, data, n);
    return 0;
}
