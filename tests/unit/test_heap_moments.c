/* lib/model/heap.h: what paths hold at moments, where these are too many to keep them all. */
#include "lib/model/heap.h"
#include "lib/model/paths.h"
#include "tests/unit/rows.h"
#include <stdio.h>

enum { NAMES = 3000 };
static const struct log {
    const char *name;
    int64_t ticks;
    int names, per_tick;      /* call paths; events between two ticks */
    uint64_t least_n, most_n; /* moments */
    size_t most_packed;       /* bytes of the curve */
} logs[] = {
    {"many moments", 5000, 26, 3, 200, 512, 100000},
    {"many changes with each", 300, NAMES, 3000, 64, 150, 100000},
    {"many levels", 1000000, 26, 1, 200, 512, 1500000},
};

static int64_t highest_of(const struct mt_curve *c)
{
    int64_t highest = 0;
    for (size_t i = 0; i < c->chunks.n; i++)
        highest = c->chunks.v[i].max.level_b > highest ? c->chunks.v[i].max.level_b : highest;
    return highest;
}

/* Events at random, and a tick after every few; returns the level at the end. */
static int64_t play(struct mt_heap *h, const uint32_t *nodes, const struct log *row, int64_t *live,
                    int64_t *peak)
{
    struct mt_err err = MT_ERR_INIT;
    uint64_t seed = 7;
    int64_t level = 0;
    *peak = 0;
    for (int64_t t = 1; t <= row->ticks; t++) {
        for (int i = 0; i < row->per_tick; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            int name = (int)(seed >> 40) % row->names;
            bool gone = seed >> 63 && live[name] >= 10;
            assert_int_equal((gone ? mt_heap_dealloc : mt_heap_alloc)(h, nodes[name], 10, &err),
                             MT_OK);
            live[name] += gone ? -10 : 10;
            level += gone ? -10 : 10;
            *peak = level > *peak ? level : *peak;
        }
        assert_int_equal(mt_heap_tick(h, t, &err), MT_OK);
    }
    assert_int_equal(mt_heap_close(h, &err), MT_OK);
    return level;
}

/* What paths hold at moments adds up to what they hold at the end, however many moments there were
 * and whatever was thinned out; the curve ends there too, and has the peak. */
static void adds_up(void **state)
{
    const struct log *row = *state;
    struct mt_recording r;
    struct mt_path_tree p;
    uint32_t nodes[NAMES];
    int64_t live[NAMES] = {0}, sum[NAMES] = {0}, peak;
    mt_rec_init(&r);
    mt_path_tree_init(&p, &r);
    struct mt_heap *h = mt_heap_open(&r, MT_DEVICE_HEAP);
    for (int i = 0; i < row->names; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        nodes[i] = mt_path_node(&p, MT_NONE, mt_path_frame(&p, name, "", "", 0, 0));
        assert_int_equal(nodes[i], i);
    }
    int64_t level = play(h, nodes, row, live, &peak);
    mt_heap_free(h);
    const struct mt_history *got = &r.history;
    assert_in_range(got->moments.n, row->least_n, row->most_n);
    assert_in_range(got->curve.packed.n, 1, row->most_packed);
    for (size_t i = 0; i < got->holdings.all.n; i++) {
        const struct mt_retained_change *c = &got->holdings.all.v[i];
        assert_in_range(c->step, 0, got->moments.n - 1);
        assert_true(!i || c[-1].site < c->site || (c[-1].site == c->site && c[-1].step < c->step));
        sum[got->sites.v[c->site].node] += c->bytes;
    }
    for (int i = 0; i < row->names; i++)
        assert_int_equal(sum[i], live[i]);
    assert_int_equal(highest_of(&got->curve), peak);
    assert_int_equal(got->curve.chunks.v[got->curve.chunks.n - 1].last.level_b, level);
    assert_int_equal(r.devices.v[0].peak_b, peak);
    mt_path_tree_free(&p);
    mt_rec_free(&r);
}

int main(void)
{
    static struct row_tests tests;
    ROWS_ADD(&tests, adds_up, logs);
    return ROWS_RUN(&tests, "heap moments");
}
