/* Samples of a heap log, of which so many are kept: they rise by one each, but for the last, with
 * which the process has next to nothing. */
#include "tests/unit/rows.h"

#include "lib/model/heap.h"

static const struct sampled {
    const char *name;
    int n, kept;
} sampled[] = {
    {"none", 0, 0},
    {"one", 1, 1},
    {"as many as are kept", 4096, 4096},
    {"one more", 4097, 2049},
    {"one that is left out", 4098, 2050},
    {"of every four the largest", 10000, 2501},
};

static void sample(void **state)
{
    const struct sampled *w = *state;
    struct mt_recording r;
    struct mt_err err = MT_ERR_INIT;
    int64_t most = 0;
    mt_rec_init(&r);
    struct mt_heap *h = mt_heap_open(&r, MT_DEVICE_HEAP);
    for (int i = 0; i < w->n; i++) {
        assert_int_equal(mt_heap_tick(h, i, &err), MT_OK);
        mt_heap_sample(h, MT_METRIC_RSS, i < w->n - 1 ? 1000 + i : 7);
    }
    assert_int_equal(mt_heap_close(h, &err), MT_OK);
    assert_int_equal(r.samples.n, w->kept);
    for (size_t i = 0; i < r.samples.n; i++) {
        const struct mt_sample *at = &r.samples.v[i];
        most = at->value > most ? at->value : most;
        assert_true(!i || (at->t_ns > at[-1].t_ns && at->order > at[-1].order));
    }
    if (w->n > 1)
        assert_int_equal(most, 1000 + w->n - 2);
    if (w->n) {
        assert_int_equal(r.samples.v[r.samples.n - 1].t_ns, w->n - 1);
        assert_int_equal(r.samples.v[r.samples.n - 1].value, 7);
    }
    mt_heap_free(h);
    mt_rec_free(&r);
}

int main(void)
{
    static struct row_tests tests;
    ROWS_ADD(&tests, sample, sampled);
    return ROWS_RUN(&tests, "heap_samples");
}
