/* The whole way of a snapshot, from any bytes to the rollup: no crash, and the sums add up. */
#include "formats/format.h"
#include "lib/build/build.h"
#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_sums(const struct mt_recording *r)
{
    size_t rows = r->older.n;
    for (size_t i = 0; i < r->records.n; i++)
        rows += mt_rec_is_block(&r->records.v[i]);
    assert(r->blocks.n == rows);
    for (size_t d = 0; d < r->devices.n; d++) {
        const struct mt_device *dev = &r->devices.v[d];
        int64_t net = dev->outside_alloc_b - dev->outside_freed_b;
        for (size_t i = 0; i < r->stats.n; i++)
            if (r->stats.v[i].device == d)
                net += r->stats.v[i].self.alloc_b - r->stats.v[i].self.freed_b;
        assert(net == dev->alloc_b - dev->freed_b);
        assert(dev->peak_b >= dev->start_b);
    }
    for (size_t i = 0; i < r->nodes.n; i++)
        assert(r->nodes.v[i].parent == MT_NONE || r->nodes.v[i].parent < i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    for (int cpp = MT_CPP_FOLD; cpp <= MT_CPP_NONE; cpp++) {
        struct mt_err err = MT_ERR_INIT;
        struct mt_stream *in;
        struct mt_recording rec;
        struct mt_read_opts opts = {.cpp_frames = (enum mt_cpp_frames)cpp};
        if (mt_stream_open_memory(data, n, &in, &err) != MT_OK)
            return 0;
        mt_rec_init(&rec);
        rec.max_bytes = 64 << 20;
        enum mt_status st = mt_reader_read(&mt_reader_cuda_snapshot, in, &opts, &rec, &err);
        assert((st == MT_OK) == (err.code == MT_OK));
        if (st == MT_OK && mt_build(&rec, NULL, &err) == MT_OK)
            check_sums(&rec);
        mt_rec_free(&rec);
        mt_stream_close(in);
    }
    return 0;
}
