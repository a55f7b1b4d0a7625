/* What an allocator held from the driver at any moment of its history: made-up histories, written
 * as snapshots, against what the one who made them knows. Records, segment events and failed
 * allocations come in any order; parts of expandable segments come and go; the ring buffer has
 * forgotten a part. */
#include "formats/format.h"
#include "gen/queries.h"
#include "lib/build/build.h"
#include "lib/store/store.h"
#include "lib/usage/memstats.h"
#include "lib/usage/segments.h"
#include "tests/unit/pickles.h"
#include "tests/unit/rows.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OK(call) assert_int_equal((call), MT_OK)
#define MIB      ((int64_t)1 << 20)

enum { PAGES = 64, SLOTS = 4, PAGE_SLOTS = 1, SEGMENTS = 6, EVENTS = 120, ROUNDS = 60 };

/* ---- an allocator: segments of four blocks each, two expandable ones of pages with a block ----
 */

struct held { /* a segment or a page */
    int64_t address, size;
    int64_t block[SLOTS]; /* sizes */
    bool there;
};

struct state {
    int64_t reserved_b, segments_n, used_b, largest_hole_b;
};

struct machine {
    uint32_t seed;
    struct held segments[SEGMENTS], pages[2][PAGES];
    struct mt_buf events;
    int event_n, cut; /* events in all; how many the ring buffer has forgotten */
    struct state now, peak, ooms[EVENTS], most; /* most: of each figure */
    int oom_n;
};

static uint32_t draw(struct machine *m, uint32_t n)
{
    m->seed = m->seed * 1664525 + 1013904223;
    return (m->seed >> 16) % n;
}

/* Adds up a segment or a run of pages: n neighbours of the same size. */
static void look_at(const struct held *h, int n, int slots, struct state *s)
{
    int64_t end = h->address, all_end = h[n - 1].address + h[n - 1].size;
    s->segments_n++;
    s->reserved_b += all_end - end;
    for (int i = 0; i <= n * slots; i++) {
        const struct held *g = &h[i / slots];
        int64_t block = i < n * slots ? g->block[i % slots] : 0;
        int64_t at = i < n * slots ? g->address + g->size / slots * (i % slots) : all_end;
        if (!block && i < n * slots)
            continue;
        s->largest_hole_b = at - end > s->largest_hole_b ? at - end : s->largest_hole_b;
        s->used_b += block;
        end = at + block;
    }
}

/* Calls use() for each segment and each run of pages that lie side by side. */
static void each_held(struct machine *m, void (*use)(void *, const struct held *, int, int, int),
                      void *closure)
{
    for (int i = 0; i < SEGMENTS; i++)
        if (m->segments[i].there)
            use(closure, &m->segments[i], 1, SLOTS, 0);
    for (int stream = 0; stream < 2; stream++)
        for (int i = 0, n; i < PAGES; i += n) {
            const struct held *h = &m->pages[stream][i];
            for (n = 0; i + n < PAGES && h[n].there; n++)
                ;
            if (n)
                use(closure, h, n, PAGE_SLOTS, stream + 1);
            n += !n;
        }
}

static void add_held(void *closure, const struct held *h, int n, int slots, int stream)
{
    (void)stream;
    look_at(h, n, slots, closure);
}

static void event(struct machine *m, const char *action, int64_t address, int64_t size, int stream)
{
    bool oom = strcmp(action, "oom") == 0;
    m->now = (struct state){0};
    each_held(m, add_held, &m->now);
    if (oom && m->event_n >= m->cut)
        m->ooms[m->oom_n++] = m->now;
    if (m->event_n == m->cut - 1 ||
        (m->event_n >= m->cut && m->now.reserved_b > m->peak.reserved_b))
        m->peak = m->now;
    if (m->now.segments_n > m->most.segments_n || m->event_n == m->cut - 1)
        m->most.segments_n = m->now.segments_n;
    if (m->event_n++ < m->cut)
        return;
    mt_buf_adds(&m->events, "}(");
    put_text(&m->events, "action");
    put_text(&m->events, action);
    put_member(&m->events, oom ? "device_free" : "addr", address);
    put_member(&m->events, "size", size);
    put_member(&m->events, "stream", stream);
    put_member(&m->events, "time_us", m->event_n / 3); /* several at once */
    mt_buf_adds(&m->events, "u");
}

static bool is_empty(const struct held *h)
{
    for (int i = 0; i < SLOTS; i++)
        if (h->block[i])
            return false;
    return true;
}

static void change_block(struct machine *m, struct held *h, int slot, int slots, int stream)
{
    int64_t at = h->address + h->size / slots * slot, size = h->block[slot];
    if (!h->there)
        return;
    if (size) {
        h->block[slot] = 0;
        event(m, "free_completed", at, size, stream);
    } else {
        h->block[slot] = 512 * (1 + draw(m, (uint32_t)(h->size / slots / 512)));
        event(m, "alloc", at, h->block[slot], stream);
    }
}

static void change_segment(struct machine *m, int i)
{
    struct held *h = &m->segments[i];
    if (h->there && !is_empty(h))
        return;
    h->there = !h->there;
    if (h->there)
        h->size = 2 * MIB * (1 + draw(m, 10));
    event(m, h->there ? "segment_alloc" : "segment_free", h->address, h->size, 0);
}

/* Maps or unmaps a few pages side by side, whatever was mapped together before. */
static void change_pages(struct machine *m, int stream)
{
    int first = (int)draw(m, PAGES), n = 0, most = 1 + (int)draw(m, 8);
    struct held *h = &m->pages[stream][first];
    bool there = h->there;
    while (first + n < PAGES && n < most && h[n].there == there && is_empty(&h[n]))
        h[n++].there = !there;
    if (n)
        event(m, there ? "segment_unmap" : "segment_map", h->address, n * 2 * MIB, stream + 1);
}

static void run_machine(struct machine *m)
{
    for (int i = 0; i < SEGMENTS; i++)
        m->segments[i].address = ((int64_t)1 << 40) + i * 64 * MIB;
    for (int i = 0; i < 2 * PAGES; i++)
        m->pages[i / PAGES][i % PAGES] = (struct held){
            .address = ((int64_t)(2 + i / PAGES) << 41) + i % PAGES * 2 * MIB, .size = 2 * MIB};
    while (m->event_n < EVENTS) {
        int stream = (int)draw(m, 2);
        switch (draw(m, 8)) {
        case 0:
            event(m, "oom", 0, 100 * MIB, 0);
            break;
        case 1:
        case 2:
            change_segment(m, (int)draw(m, SEGMENTS));
            break;
        case 3:
        case 4:
            change_pages(m, stream);
            break;
        case 5:
            change_block(m, &m->pages[stream][draw(m, PAGES)], 0, PAGE_SLOTS, stream + 1);
            break;
        default:
            change_block(m, &m->segments[draw(m, SEGMENTS)], (int)draw(m, SLOTS), SLOTS, 0);
        }
    }
}

static void list_held(void *closure, const struct held *h, int n, int slots, int stream)
{
    struct mt_buf *out = closure;
    mt_buf_adds(out, "}(");
    put_member(out, "device", 0);
    put_member(out, "address", h->address);
    put_member(out, "total_size", n * h->size);
    put_member(out, "stream", stream);
    put_text(out, "is_expandable");
    mt_buf_adds(out, stream ? "\x88" : "\x89");
    put_text(out, "blocks");
    mt_buf_adds(out, "](");
    for (int i = 0; i < n * slots; i++) {
        const struct held *g = &h[i / slots];
        if (!g->block[i % slots])
            continue;
        mt_buf_adds(out, "}(");
        put_member(out, "address", g->address + g->size / slots * (i % slots));
        put_member(out, "size", g->block[i % slots]);
        put_text(out, "state");
        put_text(out, "active_allocated");
        mt_buf_adds(out, "u");
    }
    mt_buf_adds(out, "eu");
}

static struct mt_buf pickle_of(struct machine *m)
{
    struct mt_buf out = {0};
    mt_buf_adds(&out, "\x80\x02}(");
    put_text(&out, "segments");
    mt_buf_adds(&out, "](");
    each_held(m, list_held, &out);
    mt_buf_adds(&out, "e");
    put_text(&out, "device_traces");
    mt_buf_adds(&out, "](](");
    mt_buf_add(&out, m->events.s, m->events.n);
    mt_buf_adds(&out, "eeu.");
    return out;
}

/* ---- as memtool sees it ---- */

struct imported {
    char path[256];
    struct mt_db *db;
    struct mt_run run;
    struct mt_run_device device;
};

static void import(struct imported *to, const struct mt_buf *pickle)
{
    const struct mt_store_opts how = {.name = "made", .source = "test", .hash = "test"};
    const struct mt_read_opts opts = {.cpp_frames = MT_CPP_FOLD};
    const char *tmp = getenv("TMPDIR");
    struct mt_err err = MT_ERR_INIT;
    struct mt_recording rec;
    struct mt_store_result result;
    struct mt_stream *in;
    bool none;
    int others;
    OK(mt_stream_open_memory(pickle->s, pickle->n, &in, &err));
    mt_rec_init(&rec);
    OK(mt_reader_read(&mt_reader_cuda_snapshot, in, &opts, &rec, &err));
    mt_stream_close(in);
    OK(mt_build(&rec, NULL, &err));
    snprintf(to->path, sizeof to->path, "%s/segments-%d.db", tmp ? tmp : "/tmp", (int)getpid());
    unlink(to->path);
    OK(mt_db_open(to->path, MT_DB_WRITE, &to->db, NULL, &err));
    OK(mt_store(to->db, &rec, &how, &result, &err));
    mt_rec_free(&rec);
    OK(mt_run_find(to->db, "made", &to->run, &err));
    OK(mt_run_device(to->db, &to->run, NULL, &to->device, &none, &others, &err));
    assert_false(none);
}

static void check_state(struct imported *in, struct mt_seg_moment at, const struct state *want)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_segments s;
    OK(mt_segments_load(in->db, &in->run, &in->device, at, &s, &err));
    assert_int_equal(s.size_b, want->reserved_b);
    assert_int_equal(s.all.n, want->segments_n);
    assert_int_equal(s.used_b, want->used_b);
    assert_int_equal(s.largest_hole_b, want->largest_hole_b);
    assert_int_equal(s.lost_n, 0);
    mt_segments_free(&s);
}

/* Columns: record, event. */
static struct mt_seg_moment moment_of(const struct mt_stmt *s, int column)
{
    return (struct mt_seg_moment){mt_stmt_int_or(s, column, -1), mt_stmt_int_or(s, column + 1, -1)};
}

static void check_ooms(struct imported *in, const struct machine *m)
{
    struct mt_seg_moment at[EVENTS];
    struct mt_err err = MT_ERR_INIT;
    struct mt_stmt *s;
    bool row;
    int n = 0;
    OK(mt_db_query(in->db, MT_Q_OOMS, &s, &err));
    mt_stmt_bind(s, "ii", in->run.id, in->device.id);
    for (OK(mt_stmt_step(s, &row, &err)); row; OK(mt_stmt_step(s, &row, &err)))
        at[n++] = moment_of(s, 3);
    assert_int_equal(n, m->oom_n);
    for (int i = 0; i < n; i++)
        check_state(in, at[i], &m->ooms[i]);
}

static void check_peak(struct imported *in, const struct machine *m)
{
    const struct mt_window whole = {INT64_MIN, INT64_MAX};
    struct mt_memstat_row stats[MT_STAT_N];
    struct mt_err err = MT_ERR_INIT;
    struct mt_stmt *s;
    bool row;
    OK(mt_db_query(in->db, MT_Q_RESERVED_PEAK, &s, &err));
    mt_stmt_bind(s, "ii", in->run.id, in->device.id);
    OK(mt_stmt_step(s, &row, &err));
    assert_true(row);
    assert_int_equal(mt_stmt_int(s, 0), m->peak.reserved_b);
    struct mt_seg_moment at = moment_of(s, 2);
    OK(mt_stmt_step(s, &row, &err));
    check_state(in, at, &m->peak);
    OK(mt_memstats(in->db, &in->run, &in->device, &whole, stats, &err));
    assert_int_equal(stats[MT_STAT_RESERVED].peak_b, m->peak.reserved_b);
    assert_int_equal(stats[MT_STAT_RESERVED].current_b, m->now.reserved_b);
    assert_int_equal(stats[MT_STAT_RESERVED].peak_n, m->most.segments_n);
    assert_int_equal(stats[MT_STAT_RESERVED].current_n, m->now.segments_n);
}

static const struct round {
    const char *name;
    int cut; /* events forgotten */
} rounds[] = {{"everything is recorded", 0},
              {"the ring buffer has forgotten some", 40},
              {"it knows the last few", EVENTS - 8}};

static void test_moments(void **state)
{
    const struct round *round = *state;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct machine m = {.seed = i, .cut = round->cut};
        struct imported in;
        run_machine(&m);
        struct mt_buf pickle = pickle_of(&m);
        import(&in, &pickle);
        check_ooms(&in, &m);
        check_peak(&in, &m);
        check_state(&in, MT_SEG_AT_END, &m.now);
        mt_db_close(in.db);
        unlink(in.path);
        mt_buf_free(&pickle);
        mt_buf_free(&m.events);
    }
}

int main(void)
{
    struct row_tests tests = {0};
    ROWS_ADD(&tests, test_moments, rounds);
    return ROWS_RUN(&tests, "snapshot segments");
}
