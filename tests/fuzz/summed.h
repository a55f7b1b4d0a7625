/*
 * summed.h - a heap log from any bytes to totals: what must hold of each that is read.
 */
#ifndef MT_FUZZ_SUMMED_H
#define MT_FUZZ_SUMMED_H

#include "formats/format.h"
#include "lib/build/build.h"
#include <assert.h>

/* Of each device, what paths did themselves and what has no path is what the device says. */
static inline void summed_check(const struct mt_recording *r)
{
    for (size_t d = 0; d < r->devices.n; d++) {
        const struct mt_device *dev = &r->devices.v[d];
        int64_t alloc = dev->outside_alloc_b, peak = dev->outside_at_peak_b,
                end = dev->outside_at_end_b;
        for (size_t i = 0; i < r->stats.n; i++)
            if (r->stats.v[i].device == d) {
                alloc += r->stats.v[i].self.alloc_b;
                peak += r->stats.v[i].self.at_peak_b;
                end += r->stats.v[i].self.at_end_b;
            }
        assert(!(dev->knows & MT_KNOWS_ALLOC) || alloc == dev->alloc_b);
        assert(!(dev->knows & MT_KNOWS_AT_PEAK) || peak == dev->peak_b);
        assert(!(dev->knows & MT_KNOWS_AT_END) || end == dev->at_end_b);
    }
}

/* Reads the bytes in all ways that there are, and checks what came of it. */
static inline void summed_fuzz(const struct mt_reader *reader, const uint8_t *data, size_t n)
{
    for (int way = 0; way < 4; way++) {
        struct mt_err err = MT_ERR_INIT;
        struct mt_stream *in;
        struct mt_recording rec;
        const struct mt_read_opts opts = {.partial = way & 1,
                                          .cpp_frames = way & 2 ? MT_CPP_ALL : MT_CPP_FOLD};
        if (mt_stream_open_memory(data, n, &in, &err) != MT_OK)
            return;
        mt_rec_init(&rec);
        rec.max_bytes = 64 << 20;
        enum mt_status st = mt_reader_read(reader, in, &opts, &rec, &err);
        assert(rec.beside_bytes == 0);
        if (st == MT_OK && mt_build(&rec, NULL, &err) == MT_OK)
            summed_check(&rec);
        mt_rec_free(&rec);
        mt_stream_close(in);
    }
}

#endif
