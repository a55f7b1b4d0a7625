/* The whole way of a trace, from bytes to rollup: no crash, and the sums add up. */
#include "formats/format.h"
#include "lib/build/build.h"
#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_sums(const struct mt_recording *r)
{
    for (size_t d = 0; d < r->devices.n; d++) {
        const struct mt_device *dev = &r->devices.v[d];
        int64_t net = dev->outside_alloc_b - dev->outside_freed_b - dev->unseen_b;
        for (size_t i = 0; i < r->stats.n; i++)
            if (r->stats.v[i].device == d)
                net += r->stats.v[i].self.alloc_b - r->stats.v[i].self.freed_b;
        assert(net == dev->alloc_b - dev->freed_b);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    for (int partial = 0; partial < 2; partial++) {
        struct mt_err err = MT_ERR_INIT;
        struct mt_stream *in;
        struct mt_recording rec;
        struct mt_read_opts opts = {.partial = partial};
        if (mt_stream_open_memory(data, n, &in, &err) != MT_OK)
            return 0;
        mt_rec_init(&rec);
        rec.max_bytes = 64 << 20;
        if (mt_reader_read(&mt_reader_pytorch_trace, in, &opts, &rec, &err) == MT_OK &&
            mt_build(&rec, NULL, &err) == MT_OK)
            check_sums(&rec);
        mt_rec_free(&rec);
        mt_stream_close(in);
    }
    return 0;
}
