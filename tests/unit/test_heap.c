/* lib/model/heap.h: what folding events, sums and moments leaves. */
#include "lib/build/build.h"
#include "lib/model/heap.h"
#include "lib/model/paths.h"
#include "tests/unit/rows.h"

#define GIB2 (INT64_C(1) << 31)

/* A call of the sink. Paths: a number of letters, each a function; "-": no call path. */
struct call {
    enum {
        END,
        ALLOC,
        FREE,
        RELEASE,
        OLDER,
        MOVE, /* b: to that node */
        ALLOC_AT,
        FREE_AT,
        REALLOC_AT,
        TICK,
        RESTART,
        KNOWS,
        SUMS,
        MOMENT,
        TREE,
        HELD,
        LAST
    } what;
    const char *path;
    int64_t a, b, c; /* bytes; addresses; times */
};

struct figures {
    int64_t alloc_b, alloc_n, freed_b, freed_n, peak_b, peak_ns, at_end_b, at_end_n;
};

/* Of one path, itself. */
struct of_path {
    const char *path;
    int64_t alloc_b, at_peak_b, at_peak_n, at_end_b;
};

enum { CALLS = 16, PATHS = 4, U = -1 /* stands for MT_UNKNOWN */ };

static const struct row {
    const char *name;
    struct call calls[CALLS];
    struct figures want;
    struct of_path paths[PATHS];
    uint64_t older, reused, moments;
} rows[] = {
    {"nothing", {{0}}, {.peak_ns = U}, {{0}}, 0, 0, 0},
    {"one block",
     {{ALLOC, "ab", 10, 0, 0}},
     {10, 1, 0, 0, 10, 0, 10, 1},
     {{"ab", 10, 10, 1, 10}},
     0,
     0,
     1},
    {"a block of no bytes comes and goes",
     {{ALLOC, "a", 5, 0, 0}, {ALLOC, "b", 0, 0, 0}, {FREE, "b", 0, 0, 0}},
     {5, 2, 0, 1, 5, 0, 5, 1},
     {{"a", 5, 5, 1, 5}, {"b", 0, 0, 0, 0}},
     0,
     0,
     1},
    {"the peak is the first of the highest",
     {{ALLOC, "a", 10, 0, 0}, {TICK, "", 7, 0, 0}, {FREE, "a", 10, 0, 0}, {ALLOC, "b", 10, 0, 0}},
     {20, 2, 10, 1, 10, 0, 10, 1},
     {{"a", 10, 10, 1, 0}, {"b", 10, 0, 0, 10}},
     0,
     0,
     2},
    {"what is held at the peak, not before and not after",
     {{ALLOC, "a", 10, 0, 0},
      {ALLOC, "b", 20, 0, 0},
      {FREE, "a", 10, 0, 0},
      {TICK, "", 3, 0, 0},
      {ALLOC, "c", 25, 0, 0},
      {FREE, "b", 20, 0, 0},
      {ALLOC, "b", 1, 0, 0}},
     {56, 4, 30, 2, 45, 3, 26, 2},
     {{"a", 10, 0, 0, 0}, {"b", 21, 20, 1, 1}, {"c", 25, 25, 1, 25}},
     0,
     0,
     2},
    {"older blocks are alive and were never allocated",
     {{OLDER, "a", 10, 0, 0}, {OLDER, "b", 5, 0, 0}, {ALLOC, "a", 1, 0, 0}, {FREE, "b", 5, 0, 0}},
     {1, 1, 5, 1, 16, 0, 11, 2},
     {{"a", 1, 11, 2, 11}, {"b", 0, 5, 1, 0}},
     0,
     0,
     1},
    {"the peak is before all events",
     {{OLDER, "a", 10, 0, 0},
      {OLDER, "b", 5, 0, 0},
      {TICK, "", 3, 0, 0},
      {FREE, "b", 5, 0, 0},
      {ALLOC, "a", 1, 0, 0}},
     {1, 1, 5, 1, 15, U, 11, 2},
     {{"a", 1, 10, 1, 11}, {"b", 0, 5, 1, 0}},
     0,
     0,
     2},
    {"a block goes over to another path, and is freed there",
     {{ALLOC, "a", 10, 0, 0},
      {ALLOC, "b", 1, 0, 0},
      {TICK, "", 3, 0, 0},
      {MOVE, "a", 10, 1, 0},
      {MOVE, "a", 1, 1, 0},
      {TICK, "", 5, 0, 0},
      {FREE, "b", 1, 0, 0}},
     {11, 2, 1, 1, 11, 0, 10, 1},
     {{"a", 10, 10, 1, 0}, {"b", 1, 1, 1, 10}},
     0,
     0,
     3},
    {"freed in part: smaller, in two, one of these",
     {{ALLOC, "a", 10, 0, 0},
      {RELEASE, "a", 2, 0, 0},
      {RELEASE, "a", 3, 1, 0},
      {RELEASE, "a", 1, -1, 0},
      {RELEASE, "a", 9, 0, 0}},
     {10, 1, 6, 1, 10, 0, 4, 1},
     {{"a", 10, 10, 1, 4}},
     1,
     0,
     1},
    {"frees of what is older",
     {{FREE, "a", 10, 0, 0}, {ALLOC, "a", 4, 0, 0}, {FREE, "a", 5, 0, 0}},
     {4, 1, 0, 0, 4, 0, 4, 1},
     {{"a", 4, 4, 1, 4}},
     2,
     0,
     1},
    {"no call path",
     {{ALLOC, "-", 3, 0, 0}, {ALLOC, "a", 4, 0, 0}},
     {7, 2, 0, 0, 7, 0, 7, 2},
     {{"a", 4, 4, 1, 4}},
     0,
     0,
     1},
    {"addresses",
     {{ALLOC_AT, "a", 0x10, 8, 0},
      {ALLOC_AT, "b", 0x20, 9, 0},
      {FREE_AT, "", 0x10, 0, 0},
      {FREE_AT, "", 0x10, 0, 0},
      {FREE_AT, "", 0, 0, 0},
      {ALLOC_AT, "a", 0, 99, 0}},
     {17, 2, 8, 1, 17, 0, 9, 1},
     {{"a", 8, 8, 1, 0}, {"b", 9, 9, 1, 9}},
     1,
     0,
     1},
    {"an address again",
     {{ALLOC_AT, "a", 0x10, 8, 0}, {ALLOC_AT, "b", 0x10, 3, 0}},
     {11, 2, 8, 1, 8, 0, 3, 1},
     {{"a", 8, 8, 1, 0}, {"b", 3, 0, 0, 3}},
     0,
     1,
     1},
    {"addresses of blocks of 2 GiB and more, whose bytes are kept apart",
     {{ALLOC_AT, "a", 0x10, GIB2, 0},
      {ALLOC_AT, "a", 0x20, GIB2 - 1, 0},
      {ALLOC_AT, "b", 0x30, 5 * GIB2, 0},
      {FREE_AT, "", 0x10, 0, 0},
      {ALLOC_AT, "b", 0x40, 2 * GIB2, 0},
      {ALLOC_AT, "c", 0x30, 7, 0},
      {FREE_AT, "", 0x40, 0, 0},
      {FREE_AT, "", 0x20, 0, 0}},
     {9 * GIB2 + 6, 5, 9 * GIB2 - 1, 4, 8 * GIB2 - 1, 0, 7, 1},
     {{"a", 2 * GIB2 - 1, GIB2 - 1, 1, 0}, {"b", 7 * GIB2, 7 * GIB2, 2, 0}, {"c", 7, 0, 0, 7}},
     0,
     1,
     1},
    {"realloc: moved, failed, to nothing, of nothing",
     {{ALLOC_AT, "a", 0x10, 8, 0},
      {REALLOC_AT, "b", 0x10, 0x20, 16},
      {REALLOC_AT, "b", 0x20, 0, 999},
      {REALLOC_AT, "b", 0x20, 0, 0},
      {REALLOC_AT, "c", 0, 0x30, 4}},
     {28, 3, 24, 2, 16, 0, 4, 1},
     {{"a", 8, 0, 0, 0}, {"b", 16, 16, 1, 0}, {"c", 4, 0, 0, 4}},
     0,
     0,
     1},
    {"a new beginning",
     {{ALLOC, "a", 10, 0, 0},
      {TICK, "", 3, 0, 0},
      {RESTART, "", 0, 0, 0},
      {ALLOC, "a", 4, 0, 0},
      {FREE, "a", 4, 0, 0}},
     {4, 1, 4, 1, 4, 3, 0, 0},
     {{"a", 4, 4, 1, 0}},
     0,
     0,
     1},
    {"a peak after which all is as it was before, for a long time: a moment behind it",
     {{ALLOC, "a", 10, 0, 0},
      {TICK, "", 3, 0, 0},
      {ALLOC, "b", 4, 0, 0},
      {FREE, "b", 4, 0, 0},
      {TICK, "", 5, 0, 0},
      {ALLOC, "b", 4, 0, 0},
      {FREE, "b", 4, 0, 0},
      {TICK, "", 900, 0, 0}},
     {18, 3, 8, 2, 14, 3, 10, 1},
     {{"a", 10, 10, 1, 10}, {"b", 8, 4, 1, 0}},
     0,
     0,
     2},
    {"sums, twice of a path",
     {{SUMS, "a", 10, 6, 2}, {SUMS, "b", 1, 1, 1}, {SUMS, "a", 5, 0, 0}},
     {16, U, 13, U, 7, U, 3, U},
     {{"a", 15, 6, 0, 2}, {"b", 1, 1, 0, 1}},
     0,
     0,
     0},
    {"sums, be there none",
     {{KNOWS, "", MT_SUM_ALLOC_B | MT_SUM_AT_END_B, 0, 0}},
     {0, U, 0, U, U, U, 0, U},
     {{0}},
     0,
     0,
     0},
    {"sums of what the file has",
     {{KNOWS, "", MT_SUM_ALLOC_B | MT_SUM_AT_PEAK_B, 0, 0}, {SUMS, "a", 10, 6, 2}},
     {10, U, U, U, 6, U, U, U},
     {{"a", 10, 6, 0, 0}},
     0,
     0,
     0},
    {"sums that one path does not know",
     {{SUMS, "a", 10, 6, 2}, {SUMS, "b", 1, U, 1}},
     {11, U, 8, U, U, U, 3, U},
     {{"a", 10, 0, 0, 2}, {"b", 1, 0, 0, 1}},
     0,
     0,
     0},
    {"moments: the peak is one with a tree, the rest has no path",
     {{MOMENT, "", 1, 50, 0},
      {TREE, "", 2, 50, 0},
      {HELD, "a", 30, 3, 0},
      {HELD, "b", 15, 1, 0},
      {TREE, "", 3, 20, 0},
      {HELD, "b", 20, 2, 0}},
     {U, U, U, U, 50, 2, U, U},
     {{"a", 0, 30, 3, 0}, {"b", 0, 15, 1, 0}},
     0,
     0,
     2},
    {"moments whose last one is the end",
     {{TREE, "", 2, 50, 0},
      {HELD, "a", 50, 3, 0},
      {TREE, "", 3, 20, 0},
      {HELD, "b", 20, 2, 0},
      {LAST, "", 0, 0, 0}},
     {U, U, U, U, 50, 2, 20, 2},
     {{"a", 0, 50, 3, 0}, {"b", 0, 0, 0, 20}},
     0,
     0,
     2},
    {"moments: the highest has no tree",
     {{TREE, "", 2, 40, 0}, {HELD, "a", 40, 3, 0}, {MOMENT, "", 3, 60, 0}},
     {U, U, U, U, 60, 3, U, U},
     {{"a", 0, 0, 0, 0}},
     0,
     0,
     1},
};

static uint32_t node_of(struct mt_path_tree *p, const char *path)
{
    uint32_t node = MT_NONE;
    for (; *path && *path != '-'; path++)
        node = mt_path_node(p, node, mt_path_frame(p, (char[]){*path, 0}, "", "", 0, 0));
    return node;
}

static int64_t unless_unknown(int64_t v)
{
    return v == U ? MT_UNKNOWN : v;
}

static enum mt_status make(struct mt_heap *h, uint32_t node, const struct call *c,
                           struct mt_err *err)
{
    struct mt_sums sums = {unless_unknown(c->a), MT_UNKNOWN, MT_UNKNOWN, unless_unknown(c->b),
                           unless_unknown(c->c), MT_UNKNOWN, MT_UNKNOWN};
    switch (c->what) {
    case ALLOC:
        return mt_heap_alloc(h, node, c->a, err);
    case FREE:
        return mt_heap_dealloc(h, node, c->a, err);
    case RELEASE:
        return mt_heap_release(h, node, c->a, (int)c->b, err);
    case OLDER:
        return mt_heap_older(h, node, c->a, err);
    case MOVE:
        return mt_heap_move(h, node, (uint32_t)c->b, c->a, err);
    case ALLOC_AT:
        return mt_heap_alloc_at(h, (uint64_t)c->a, node, c->b, err);
    case FREE_AT:
        return mt_heap_free_at(h, (uint64_t)c->a, err);
    case REALLOC_AT:
        return mt_heap_realloc_at(h, (uint64_t)c->a, (uint64_t)c->b, node, c->c, err);
    case TICK:
        return mt_heap_tick(h, c->a, err);
    case KNOWS:
        mt_heap_knows(h, (unsigned)c->a);
        break;
    case SUMS:
        return mt_heap_sums(h, node, &sums, err);
    case MOMENT:
    case TREE:
        return mt_heap_moment(h, c->a, c->b, c->what == TREE, err);
    case HELD:
        return mt_heap_held(h, node, c->a, c->b, err);
    case RESTART:
        mt_heap_restart(h);
        break;
    case LAST:
        mt_heap_last_is_end(h);
        break;
    case END:
        break;
    }
    return MT_OK;
}

/* Whether a log could tell the calls as events of kinds. */
static bool are_of_kinds(const struct call *c)
{
    for (; c->what; c++)
        if ((c->what != ALLOC && c->what != FREE && c->what != TICK && c->what != RESTART) ||
            c->a < 0)
            return false;
    return true;
}

/* The kind of a path and size, added if need be. */
static uint32_t kind_of(struct mt_heap *h, uint32_t node, int64_t bytes)
{
    static uint64_t kinds[CALLS + 1];
    const uint32_t n = (uint32_t)mt_heap_kind_n(h);
    struct mt_err err = MT_ERR_INIT;
    uint32_t i = 0;
    kinds[n] = (uint64_t)node << 32 | (uint32_t)bytes;
    while (kinds[i] != kinds[n])
        i++;
    if (i == n)
        assert_int_equal(mt_heap_add_kind(h, bytes, node, &err), MT_OK);
    return i;
}

/* Allocations and frees that stand behind each other, at once. Returns the last of them. */
static const struct call *make_batch(struct mt_heap *h, struct mt_path_tree *p,
                                     const struct call *c)
{
    struct mt_err err = MT_ERR_INIT;
    uint32_t events[CALLS];
    size_t n = 0, done;
    for (; c->what == ALLOC || c->what == FREE; c++)
        events[n++] = kind_of(h, node_of(p, c->path), c->a) * 2 + (c->what == FREE);
    assert_int_equal(mt_heap_kind_events(h, events, n, &done, &err), MT_OK);
    assert_int_equal(done, n);
    return c - 1;
}

static void make_all(struct mt_recording *r, struct mt_path_tree *p, const struct call *calls,
                     bool batches)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_heap *h = mt_heap_open(r, MT_DEVICE_HEAP);
    batches &= are_of_kinds(calls);
    for (; calls->what; calls++)
        if (batches && (calls->what == ALLOC || calls->what == FREE))
            calls = make_batch(h, p, calls);
        else
            assert_int_equal(make(h, node_of(p, calls->path), calls, &err), MT_OK);
    assert_int_equal(mt_heap_close(h, &err), MT_OK);
    mt_heap_free(h);
    assert_int_equal(r->beside_bytes, 0);
    assert_int_equal(mt_build(r, NULL, &err), MT_OK);
}

static const struct mt_sums *self_of(const struct mt_recording *r, uint32_t node)
{
    static const struct mt_sums none;
    for (size_t i = 0; i < r->stats.n; i++)
        if (r->stats.v[i].node == node)
            return &r->stats.v[i].self;
    return &none;
}

static void check_figure(const char *what, int64_t got, int64_t want)
{
    if (got != unless_unknown(want))
        fail_msg("%s: %lld, not %lld", what, (long long)got, (long long)want);
}

/* Self figures and those without a path are the device's. */
static void check_sums(const struct mt_recording *r)
{
    const struct mt_device *d = &r->devices.v[0];
    int64_t alloc_b = d->outside_alloc_b, peak_b = d->outside_at_peak_b,
            end_b = d->outside_at_end_b;
    for (size_t i = 0; i < r->stats.n; i++) {
        alloc_b += r->stats.v[i].self.alloc_b;
        peak_b += r->stats.v[i].self.at_peak_b;
        end_b += r->stats.v[i].self.at_end_b;
    }
    if (d->knows & MT_KNOWS_ALLOC)
        check_figure("sum of alloc_b", alloc_b, d->alloc_b);
    if (d->knows & MT_KNOWS_AT_PEAK)
        check_figure("sum of at_peak_b", peak_b, d->peak_b);
    if (d->knows & MT_KNOWS_AT_END)
        check_figure("sum of at_end_b", end_b, d->at_end_b);
}

static void check(const struct row *row, bool batches)
{
    struct mt_recording r;
    struct mt_path_tree p;
    mt_rec_init(&r);
    mt_path_tree_init(&p, &r);
    make_all(&r, &p, row->calls, batches);
    const struct mt_device *d = &r.devices.v[0];
    check_figure("alloc_b", d->alloc_b, row->want.alloc_b);
    check_figure("alloc_n", d->alloc_n, row->want.alloc_n);
    check_figure("freed_b", d->freed_b, row->want.freed_b);
    check_figure("freed_n", d->freed_n, row->want.freed_n);
    check_figure("peak_b", d->peak_b, row->want.peak_b);
    check_figure("peak_ns", d->peak_ns, row->want.peak_ns);
    check_figure("at_end_b", d->at_end_b, row->want.at_end_b);
    check_figure("at_end_n", d->at_end_n, row->want.at_end_n);
    for (const struct of_path *w = row->paths; w < row->paths + PATHS && w->path; w++) {
        const struct mt_sums *s = self_of(&r, node_of(&p, w->path));
        check_figure(w->path, s->alloc_b, w->alloc_b);
        check_figure(w->path, s->at_peak_b, w->at_peak_b);
        check_figure(w->path, s->at_peak_n, w->at_peak_n);
        check_figure(w->path, s->at_end_b, w->at_end_b);
    }
    check_sums(&r);
    assert_int_equal(r.notes[MT_NOTE_BEFORE].count, row->older);
    assert_int_equal(r.notes[MT_NOTE_REPLACED].count, row->reused);
    assert_int_equal(r.history.moments.n, row->moments);
    mt_path_tree_free(&p);
    mt_rec_free(&r);
}

static void check_row(void **state)
{
    check(*state, false);
    check(*state, true);
}

/* ---- figures that cannot be true ---- */

static const struct refused {
    const char *name;
    struct call calls[3];
} refused[] = {
    {"less than nothing", {{ALLOC, "a", -1, 0, 0}}},
    {"more than 1 EiB", {{ALLOC, "a", INT64_MAX, 0, 0}}},
    {"more than 1 EiB in all",
     {{ALLOC, "a", (int64_t)1 << 59, 0, 0}, {ALLOC, "b", ((int64_t)1 << 59) + 1, 0, 0}}},
    {"a time before the beginning", {{TICK, "", -1, 0, 0}}},
    {"a time too far", {{TICK, "", INT64_MAX, 0, 0}}},
    {"sums of less than nothing", {{SUMS, "a", -5, 0, 0}}},
    {"a moment of less than nothing", {{MOMENT, "", 1, -5, 0}}},
    {"a path that holds less than nothing", {{TREE, "", 1, 5, 0}, {HELD, "a", -5, 0, 0}}},
};

static void refuse(void **state)
{
    const struct refused *w = *state;
    struct mt_recording r;
    struct mt_path_tree p;
    struct mt_err err = MT_ERR_INIT;
    enum mt_status st = MT_OK;
    mt_rec_init(&r);
    mt_path_tree_init(&p, &r);
    struct mt_heap *h = mt_heap_open(&r, MT_DEVICE_HEAP);
    for (const struct call *c = w->calls; c->what && st == MT_OK; c++)
        st = make(h, node_of(&p, c->path), c, &err);
    assert_int_equal(st, MT_EINPUT);
    mt_heap_free(h);
    mt_path_tree_free(&p);
    mt_rec_free(&r);
}

int main(void)
{
    static struct row_tests tests;
    ROWS_ADD(&tests, check_row, rows);
    ROWS_ADD(&tests, refuse, refused);
    return ROWS_RUN(&tests, "heap");
}
