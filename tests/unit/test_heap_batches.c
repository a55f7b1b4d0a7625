/* Events of kinds, taken many at once, leave what the same events of paths leave, one by one
 * (those of kinds, too, where kinds are asked to free what they do not hold):
 * levels and their extremes, peaks, what each path holds at moments, frees of what nobody
 * allocated. */
#include "lib/model/heap.h"
#include "lib/model/paths.h"
#include "tests/unit/rows.h"
#include <stdio.h>
#include <string.h>

enum { EVENTS = 20000, PATHS = 300, SIZES = 7 };

static const int64_t sizes[SIZES] = {0, 16, 24, 64, 4096, 1 << 20, (int64_t)1 << 45};

static const struct run {
    const char *name;
    uint64_t seed;
    int path_n, tick_every;
    unsigned wrong_pct, frees_pct; /* frees of anything; else of what is alive */
} runs[] = {
    {"few paths", 1, 5, 100, 0, 50},
    {"many paths", 2, PATHS, 1000, 0, 50},
    {"one that grows", 3, 8, 50, 0, 40},
    {"one that is never empty long", 4, 3, 7, 0, 70},
    {"frees of nothing", 5, 10, 100, 10, 50},
    {"frees of nothing, no times", 6, 40, 1 << 30, 30, 50},
};

struct events {
    uint32_t v[EVENTS]; /* as mt_heap_kind_events takes them; kinds: SIZES of each path */
    uint32_t live[EVENTS];
    size_t live_n;
    uint64_t state;
};

static uint64_t chance(struct events *e, uint64_t n)
{
    e->state = e->state * 6364136223846793005u + 1442695040888963407u;
    return (e->state >> 33) % n;
}

static void make_events(struct events *e, const struct run *run)
{
    *e = (struct events){.state = run->seed};
    for (size_t i = 0; i < EVENTS; i++) {
        const uint32_t size = (uint32_t)chance(e, i % 997 ? SIZES - 1 : SIZES);
        const uint32_t kind = (uint32_t)chance(e, (uint64_t)run->path_n) * SIZES + size;
        e->v[i] = kind * 2;
        if (chance(e, 100) < run->wrong_pct) {
            e->v[i]++;
        } else if (e->live_n && chance(e, 100) < run->frees_pct) {
            size_t at = chance(e, e->live_n);
            e->v[i] = e->live[at] * 2 + 1;
            e->live[at] = e->live[--e->live_n];
        } else {
            e->live[e->live_n++] = kind;
        }
    }
}

static void make_paths(struct mt_recording *r, uint32_t node[PATHS])
{
    struct mt_path_tree p;
    mt_path_tree_init(&p, r);
    for (int i = 0; i < PATHS; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        node[i] =
            mt_path_node(&p, i ? node[i / 2] : MT_NONE, mt_path_frame(&p, name, "", "", 0, 0));
    }
    mt_path_tree_free(&p);
}

/* Takes events n..: one, or some of kinds. Returns how many. */
static size_t take(struct mt_heap *h, struct events *e, const uint32_t node[PATHS], size_t n,
                   size_t some)
{
    struct mt_err err = MT_ERR_INIT;
    const uint32_t kind = e->v[n] / 2;
    if (some) {
        size_t done;
        assert_int_equal(mt_heap_kind_events(h, e->v + n, some, &done, &err), MT_OK);
        assert_int_equal(done, some);
        return some;
    }
    assert_int_equal((e->v[n] & 1 ? mt_heap_dealloc : mt_heap_alloc)(h, node[kind / SIZES],
                                                                     sizes[kind % SIZES], &err),
                     MT_OK);
    return 1;
}

static void read_all(struct mt_recording *r, struct events *e, const struct run *run, bool many)
{
    struct mt_err err = MT_ERR_INIT;
    uint32_t node[PATHS];
    mt_rec_init(r);
    make_paths(r, node);
    struct mt_heap *h = mt_heap_open(r, MT_DEVICE_HEAP);
    for (uint32_t kind = 0; (many || run->wrong_pct) && kind < PATHS * SIZES; kind++)
        assert_int_equal(mt_heap_add_kind(h, sizes[kind % SIZES], node[kind / SIZES], &err), MT_OK);
    for (size_t n = 0; n < EVENTS;) {
        size_t to_tick = (size_t)run->tick_every - n % (size_t)run->tick_every;
        size_t some = many ? 1 + chance(e, MT_HEAP_BATCH) : run->wrong_pct > 0;
        some = some < to_tick ? some : to_tick;
        n += take(h, e, node, n, some < EVENTS - n ? some : EVENTS - n);
        if (n % (size_t)run->tick_every == 0)
            assert_int_equal(mt_heap_tick(h, (int64_t)n, &err), MT_OK);
    }
    assert_int_equal(mt_heap_close(h, &err), MT_OK);
    mt_heap_free(h);
}

#define SAME(field) assert_int_equal(a->field, b->field)

static void compare(const struct mt_recording *x, const struct mt_recording *y)
{
    const struct mt_device *a = x->devices.v, *b = y->devices.v;
    SAME(alloc_b), SAME(alloc_n), SAME(freed_b), SAME(freed_n), SAME(peak_b), SAME(peak_ns);
    SAME(peak_record), SAME(at_end_b), SAME(at_end_n), SAME(outside_n);
    assert_int_equal(x->event_n, y->event_n);
    assert_int_equal(x->notes[MT_NOTE_BEFORE].count, y->notes[MT_NOTE_BEFORE].count);
    assert_int_equal(x->stats.n, y->stats.n);
    for (size_t i = 0; i < x->stats.n; i++) {
        assert_int_equal(x->stats.v[i].node, y->stats.v[i].node);
        assert_memory_equal(&x->stats.v[i].self, &y->stats.v[i].self, sizeof x->stats.v[i].self);
    }
    assert_int_equal(x->history.curve.packed.n, y->history.curve.packed.n);
    assert_memory_equal(x->history.curve.packed.s, y->history.curve.packed.s,
                        x->history.curve.packed.n);
    assert_int_equal(x->history.moments.n, y->history.moments.n);
    assert_int_equal(x->history.holdings.all.n, y->history.holdings.all.n);
    for (size_t i = 0; i < x->history.holdings.all.n; i++) {
        assert_int_equal(x->history.holdings.all.v[i].bytes, y->history.holdings.all.v[i].bytes);
        assert_int_equal(x->history.holdings.all.v[i].step, y->history.holdings.all.v[i].step);
    }
}

static void one_by_one_or_many(void **state)
{
    static struct events e;
    struct mt_recording one, many;
    make_events(&e, *state);
    read_all(&one, &e, *state, false);
    read_all(&many, &e, *state, true);
    assert_int_equal(one.event_n, EVENTS);
    compare(&one, &many);
    mt_rec_free(&one);
    mt_rec_free(&many);
}

/* Of many at once those before a sum that cannot be true happened, and those before one of no size,
 * of which nothing is known. */
static void bad_event_of_many(void **state)
{
    struct mt_recording r;
    struct mt_err err = MT_ERR_INIT;
    size_t done;
    (void)state;
    mt_rec_init(&r);
    struct mt_heap *h = mt_heap_open(&r, MT_DEVICE_HEAP);
    const int64_t bytes[] = {5, (int64_t)1 << 60, 7, -1};
    for (uint32_t i = 0; i < MT_ARRAY_LEN(bytes); i++)
        assert_int_equal(mt_heap_add_kind(h, bytes[i], MT_NONE, &err), MT_OK);
    const uint32_t exceeds[] = {0, 2, 4}, no_size[] = {4, 6, 4};
    assert_int_equal(mt_heap_kind_events(h, exceeds, 3, &done, &err), MT_EINPUT);
    assert_int_equal(done, 1);
    assert_int_equal(mt_heap_level(h), 5);
    err = (struct mt_err)MT_ERR_INIT;
    assert_int_equal(mt_heap_kind_events(h, no_size, 3, &done, &err), MT_OK);
    assert_int_equal(done, 1);
    assert_int_equal(mt_heap_level(h), 12);
    mt_heap_free(h);
    mt_rec_free(&r);
}

/* A path that no event is of is none of the recording. */
static void kind_without_events(void **state)
{
    struct mt_recording r;
    struct mt_err err = MT_ERR_INIT;
    uint32_t node[PATHS];
    const uint32_t event = 0;
    size_t done;
    (void)state;
    mt_rec_init(&r);
    make_paths(&r, node);
    struct mt_heap *h = mt_heap_open(&r, MT_DEVICE_HEAP);
    assert_int_equal(mt_heap_add_kind(h, 5, node[1], &err), MT_OK);
    assert_int_equal(mt_heap_add_kind(h, 5, node[2], &err), MT_OK);
    assert_int_equal(mt_heap_kind_events(h, &event, 1, &done, &err), MT_OK);
    assert_int_equal(mt_heap_close(h, &err), MT_OK);
    assert_int_equal(r.nodes.n, 2); /* that one, and the one around it */
    assert_int_equal(r.stats.n, 1);
    assert_int_equal(r.stats.v[0].node, 1);
    mt_heap_free(h);
    mt_rec_free(&r);
}

int main(void)
{
    static struct row_tests tests;
    static const struct {
        const char *name;
    } alone[] = {{"a bad event of many"}}, idle[] = {{"a kind without events"}};
    ROWS_ADD(&tests, one_by_one_or_many, runs);
    ROWS_ADD(&tests, bad_event_of_many, alone);
    ROWS_ADD(&tests, kind_without_events, idle);
    return ROWS_RUN(&tests, "events of heaps, many at once");
}
