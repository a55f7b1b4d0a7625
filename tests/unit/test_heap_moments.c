/* lib/model/heap.h: what paths hold at moments, where these are too many to keep them all. */
#include "lib/model/heap.h"
#include "lib/model/paths.h"
#include "tests/unit/rows.h"

/* What paths hold at moments adds up to what they hold at the end, however many moments there were
 * and whatever was thinned out; the curve ends there too, and has the peak. */
static void many_moments(void **state)
{
    enum { TICKS = 5000, NAMES = 26 };
    struct mt_recording r;
    struct mt_path_tree p;
    struct mt_err err = MT_ERR_INIT;
    uint64_t seed = 7;
    int64_t live[NAMES] = {0}, level = 0, peak = 0, sum[NAMES] = {0};
    (void)state;
    mt_rec_init(&r);
    mt_path_tree_init(&p, &r);
    struct mt_heap *h = mt_heap_open(&r, MT_DEVICE_HEAP);
    for (int64_t t = 1; t <= TICKS; t++) {
        for (int i = 0; i < 3; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            int name = (int)(seed >> 40) % NAMES;
            const char *path = (char[]){(char)('a' + name), 0};
            uint32_t node = mt_path_node(&p, MT_NONE, mt_path_frame(&p, path, "", "", 0, 0));
            bool gone = seed >> 63 && live[name] >= 10;
            assert_int_equal((gone ? mt_heap_dealloc : mt_heap_alloc)(h, node, 10, &err), MT_OK);
            live[name] += gone ? -10 : 10;
            level += gone ? -10 : 10;
            peak = level > peak ? level : peak;
        }
        assert_int_equal(mt_heap_tick(h, t, &err), MT_OK);
    }
    assert_int_equal(mt_heap_close(h, &err), MT_OK);
    mt_heap_free(h);
    const struct mt_history *got = &r.history;
    assert_in_range(got->moments.n, 200, 512);
    for (size_t i = 0; i < got->holdings.all.n; i++) {
        const struct mt_retained_change *c = &got->holdings.all.v[i];
        assert_in_range(c->step, 0, got->moments.n - 1);
        assert_true(!i || c[-1].site < c->site || (c[-1].site == c->site && c[-1].step < c->step));
        sum[mt_strtab_get(&r.strings,
                          r.frames.v[r.nodes.v[got->sites.v[c->site].node].frame].name)[0] -
            'a'] += c->bytes;
    }
    for (int i = 0; i < NAMES; i++)
        assert_int_equal(sum[i], live[i]);
    int64_t highest = 0;
    for (size_t i = 0; i < got->curve.chunks.n; i++)
        highest = got->curve.chunks.v[i].max.level_b > highest ? got->curve.chunks.v[i].max.level_b
                                                               : highest;
    assert_int_equal(highest, peak);
    assert_int_equal(got->curve.chunks.v[got->curve.chunks.n - 1].last.level_b, level);
    assert_int_equal(r.devices.v[0].peak_b, peak);
    mt_path_tree_free(&p);
    mt_rec_free(&r);
}

int main(void)
{
    static struct row_tests tests;
    static const struct {
        const char *name;
    } alone[] = {{"many moments"}};
    ROWS_ADD(&tests, many_moments, alone);
    return ROWS_RUN(&tests, "heap moments");
}
