/* lib/model/history.h and what reads it (live.h, levels.h): random programs, long enough for
 * several keyframes and many chunks, against a plain replay of what they did. */
#include "lib/usage/bands.h"
#include "tests/unit/program.h"
#include "tests/unit/rows.h"

#define OK(call) assert_int_equal((call), MT_OK)

enum { RECORDS = 34000, KEYFRAME_RECORDS = 8192, DEVICES_MAX = 2, MOMENTS_MAX = 40 };

/* A kind of program. */
struct kind {
    const char *name;
    int devices, threads;
    int second_in;  /* one block in so many is on the second device */
    int older;      /* blocks older than the recording, half of them freed in it */
    int live;       /* blocks that are live at a time and will be freed, about */
    int forever_in; /* one block in so many is never freed */
    bool zeros;     /* some blocks have no bytes */
    bool ties;      /* most records happen at the same time as the one before */
};

static const struct kind kinds[] = {
    {"one device", 1, 1, 1, 0, 50, 100, false, false},
    {"few blocks, many threads", 1, 4, 1, 0, 3, 1000, true, false},
    {"many live blocks", 1, 2, 1, 0, 6000, 20, false, false},
    {"all at once", 1, 2, 1, 0, 200, 100, true, true},
    {"two devices", 2, 2, 2, 0, 300, 50, false, true},
    {"a device of few records", 2, 2, 3000, 0, 100, 50, false, false},
    {"blocks older than the recording", 1, 1, 1, 300, 100, 100, true, false},
    {"older blocks of two devices", 2, 2, 3, 4000, 500, 100, false, true},
};

/* What a program did, as the test knows it. */
struct made_block {
    int64_t bytes, origin, freed; /* records; -1 older; INT64_MAX never */
    int device, handle;
};
struct made_record {
    int64_t t_ns, bytes;
    int device;
};
struct made {
    struct program p;
    const struct kind *kind;
    uint64_t random;
    MT_VEC(struct made_block) blocks; /* in order of allocation */
    MT_VEC(struct made_block) older;  /* the freed ones in order of their end, then the others */
    MT_VEC(struct made_record) records;
    MT_VEC(size_t) to_free; /* blocks */
    int64_t start_b[DEVICES_MAX];
    struct mt_run_device devices[DEVICES_MAX];
};

static uint64_t random_below(struct made *m, uint64_t n)
{
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (m->random >> 33) % n;
}

/* ---- making a program ---- */

/* Begins an event on a device whose record comes `delay` after its beginning. */
static void begin(struct made *m, int device, int64_t delay)
{
    program_on(&m->p, device ? 1 : 0, device ? 0 : -1);
    program_thread(&m->p, 1 + (int64_t)random_below(m, (uint64_t)m->kind->threads));
    if (m->kind->ties && m->records.n && random_below(m, 3))
        m->p.t_ns = m->records.v[m->records.n - 1].t_ns - delay;
}

static void note_record(struct made *m, int64_t t_ns, int64_t bytes, int device)
{
    *mt_vec_push(&m->records) = (struct made_record){t_ns, bytes, device};
}

static void allocate(struct made *m)
{
    static const char *const sites[] = {"conv", "linear", "norm", NULL, "loss"};
    const struct kind *k = m->kind;
    int device = k->devices == 2 && random_below(m, (uint64_t)k->second_in) == 0;
    bool zero = k->zeros && random_below(m, 5) == 0;
    int64_t bytes = zero ? 0 : (int64_t)random_below(m, 5000) + 1;
    begin(m, device, 2);
    int handle = program_alloc(&m->p, sites[random_below(m, MT_ARRAY_LEN(sites))], bytes);
    if (bytes && random_below(m, (uint64_t)k->forever_in))
        *mt_vec_push(&m->to_free) = m->blocks.n;
    *mt_vec_push(&m->blocks) =
        (struct made_block){bytes, (int64_t)m->records.n, INT64_MAX, device, handle};
    note_record(m, m->p.t_ns - 2, bytes, device);
}

static void release(struct made *m)
{
    size_t at = random_below(m, m->to_free.n);
    struct made_block *b = &m->blocks.v[m->to_free.v[at]];
    m->to_free.v[at] = m->to_free.v[--m->to_free.n];
    b->freed = (int64_t)m->records.n;
    begin(m, b->device, 1);
    program_free(&m->p, b->handle);
    note_record(m, m->p.t_ns, -b->bytes, b->device);
}

static void older(struct made *m, bool freed)
{
    int device = (int)random_below(m, (uint64_t)m->kind->devices);
    int64_t bytes = (int64_t)random_below(m, 300) + 1;
    begin(m, device, 1);
    program_older(&m->p, bytes, freed);
    m->start_b[device] += bytes;
    *mt_vec_push(&m->older) =
        (struct made_block){bytes, -1, freed ? (int64_t)m->records.n : INT64_MAX, device, 0};
    if (freed)
        note_record(m, m->p.t_ns, -bytes, device);
}

static void make(struct made *m, const struct kind *kind)
{
    struct mt_err err = MT_ERR_INIT;
    bool none;
    int others;
    *m = (struct made){.kind = kind, .random = (uint64_t)(kind - kinds) + 1};
    program_start(&m->p);
    while (m->records.n < RECORDS) {
        bool full = m->to_free.n >= 2 * (size_t)kind->live;
        if (kind->older && random_below(m, RECORDS) < (uint64_t)kind->older / 2)
            older(m, true);
        else if (full || (m->to_free.n && random_below(m, 2 * (uint64_t)kind->live) < m->to_free.n))
            release(m);
        else
            allocate(m);
    }
    for (int i = 0; i < kind->older / 2; i++)
        older(m, false);
    program_finish(&m->p);
    for (int d = 0; d < kind->devices; d++) {
        OK(mt_run_device(m->p.db, &m->p.run, d ? "cuda:0" : "cpu", &m->devices[d], &none, &others,
                         &err));
        assert_int_equal(m->devices[d].start_b, m->start_b[d]);
    }
    assert_int_equal(m->p.run.record_n, RECORDS);
}

static void unmake(struct made *m)
{
    program_end(&m->p);
    mt_vec_free(&m->blocks);
    mt_vec_free(&m->older);
    mt_vec_free(&m->records);
    mt_vec_free(&m->to_free);
}

/* ---- live blocks ---- */

static bool is_live(const struct made_block *b, int device, int64_t record)
{
    return b->device == device && b->origin <= record && b->freed > record;
}

static void check_block(const struct made *m, const struct made_block *b,
                        const struct mt_live_set *live, size_t *at)
{
    assert_true(*at < live->blocks.n);
    const struct mt_allocation *came = &live->blocks.v[(*at)++];
    assert_int_equal(came->bytes, b->bytes);
    assert_int_equal(came->alloc_record, b->origin < 0 ? INT64_MIN : b->origin);
    if (b->origin >= 0)
        assert_int_equal(came->alloc_ns, m->records.v[b->origin].t_ns - m->p.rec.start_ns);
}

static void check_live(struct made *m, int device, int64_t record)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_live_set live = {0};
    size_t at = 0;
    int64_t level_b = m->start_b[device];
    OK(mt_live_at(&m->p.lives, &m->devices[device], record, &live, &err));
    for (size_t i = 0; i < m->blocks.n; i++)
        if (is_live(&m->blocks.v[i], device, record))
            check_block(m, &m->blocks.v[i], &live, &at);
    for (size_t i = 0; i < m->older.n; i++)
        if (is_live(&m->older.v[i], device, record))
            check_block(m, &m->older.v[i], &live, &at);
    assert_int_equal(at, live.blocks.n);
    for (int64_t i = 0; i < RECORDS && i <= record; i++)
        level_b += m->records.v[i].device == device ? m->records.v[i].bytes : 0;
    assert_int_equal(live.sum_b, level_b);
    mt_live_set_free(&live);
}

static void live_blocks(void **state)
{
    struct made m;
    make(&m, *state);
    for (int d = 0; d < m.kind->devices; d++) {
        const int64_t peak = m.devices[d].peak_record;
        const int64_t known[] = {
            -1, 0, RECORDS - 1, RECORDS, INT64_MAX - 1, peak == INT64_MIN ? -1 : peak};
        for (size_t i = 0; i < MT_ARRAY_LEN(known); i++)
            check_live(&m, d, known[i]);
        for (int64_t keyframe = KEYFRAME_RECORDS - 1; keyframe < RECORDS;
             keyframe += KEYFRAME_RECORDS)
            for (int64_t record = keyframe - 1; record <= keyframe + 1; record++)
                check_live(&m, d, record);
        for (int i = 0; i < 40; i++)
            check_live(&m, d, (int64_t)random_below(&m, RECORDS));
    }
    unmake(&m);
}

/* ---- levels ---- */

static void check_levels(const struct made *m, int device, const struct mt_levels *l)
{
    int64_t level_b = m->start_b[device];
    size_t at = 0;
    assert_int_equal(l->start_b, level_b);
    for (int64_t i = 0; i < RECORDS; i++) {
        const struct made_record *r = &m->records.v[i];
        if (r->device != device || !r->bytes)
            continue;
        level_b += r->bytes;
        assert_true(at < l->all.n);
        assert_int_equal(l->all.v[at].level_b, level_b);
        assert_int_equal(l->all.v[at].t_ns, r->t_ns - m->p.rec.start_ns);
        assert_int_equal(l->all.v[at++].record, i);
    }
    assert_int_equal(at, l->all.n);
}

static int64_t record_of(const struct mt_levels *l, int64_t index)
{
    return index < 0 ? -1 : l->all.v[index].record;
}

static int moment_cmp(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Moments in no order: any, those of changes and of their neighbours, the ends of time. */
static size_t pick_moments(struct made *m, const struct mt_levels *l, int64_t *out)
{
    size_t n = random_below(m, MOMENTS_MAX + 1);
    for (size_t i = 0; i < n; i++) {
        switch (random_below(m, 8)) {
        case 0:
            out[i] = random_below(m, 2) ? INT64_MIN : INT64_MAX;
            break;
        case 1:
            out[i] = (int64_t)random_below(m, (uint64_t)m->p.run.dur_ns + 100);
            break;
        default:
            out[i] = l->all.v[random_below(m, l->all.n)].t_ns + (int64_t)random_below(m, 3) - 1;
        }
    }
    return n;
}

/* At each moment, and between each two, both say the same. */
static void check_near(struct made *m, int device, const struct mt_levels *all)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_levels near;
    int64_t moments[MOMENTS_MAX];
    size_t n = pick_moments(m, all, moments);
    OK(mt_levels_load_near(m->p.db, &m->p.run, &m->devices[device], moments, n, &near, &err));
    qsort(moments, n, sizeof *moments, moment_cmp);
    for (size_t i = 0; i < n; i++) {
        int64_t index = mt_levels_at(all, moments[i]), came = mt_levels_at(&near, moments[i]);
        assert_int_equal(record_of(&near, came), record_of(all, index));
        assert_int_equal(mt_levels_value(&near, came), mt_levels_value(all, index));
        assert_int_equal(record_of(&near, mt_levels_before(&near, moments[i])),
                         record_of(all, mt_levels_before(all, moments[i])));
        for (size_t j = 0; j <= i; j++) {
            const struct mt_time_arg peak = {MT_AT_PEAK, moments[i], moments[j], false};
            assert_int_equal(record_of(&near, mt_levels_of_moment(&near, &peak)),
                             record_of(all, mt_levels_of_moment(all, &peak)));
        }
    }
    /* Of a chunk with a moment in it all its levels, else three; ties may hold several. */
    size_t chunks = all->all.n / MT_CHUNK_CHANGES + 1;
    assert_true(near.all.n <= 3 * chunks + 3 * n * MT_CHUNK_CHANGES);
    mt_levels_free(&near);
}

static void check_buckets(struct made *m, int device, const struct mt_levels *all)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_levels near;
    struct mt_buckets want = {0}, came = {0};
    struct mt_window asked = {INT64_MIN, INT64_MAX};
    size_t moment_n, n = 1 + random_below(m, random_below(m, 2) ? 300 : 12);
    if (random_below(m, 3))
        asked.from_ns = (int64_t)random_below(m, (uint64_t)m->p.run.dur_ns);
    if (random_below(m, 3))
        asked.to_ns = (asked.from_ns < 0 ? 0 : asked.from_ns) +
                      (int64_t)random_below(m, (uint64_t)m->p.run.dur_ns);
    struct mt_window shown = mt_window_within(&asked, m->p.run.dur_ns);
    int64_t *moments = mt_buckets_moments(&asked, &shown, n, &moment_n);
    OK(mt_levels_load_near(m->p.db, &m->p.run, &m->devices[device], moments, moment_n, &near,
                           &err));
    mt_buckets_fill(&want, all, &asked, &shown, n);
    mt_buckets_fill(&came, &near, &asked, &shown, n);
    assert_int_equal(came.all.n, want.all.n);
    for (size_t k = 0; k < want.all.n; k++) {
        const struct mt_bucket *a = &want.all.v[k], *b = &came.all.v[k];
        assert_int_equal(b->start_ns, a->start_ns);
        assert_int_equal(b->end_ns, a->end_ns);
        assert_int_equal(b->min_b, a->min_b);
        assert_int_equal(b->max_b, a->max_b);
        assert_int_equal(b->last_b, a->last_b);
        assert_int_equal(record_of(&near, b->max_at), record_of(all, a->max_at));
    }
    free(moments);
    mt_buckets_free(&want);
    mt_buckets_free(&came);
    mt_levels_free(&near);
}

static void levels(void **state)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_levels all, few;
    struct made m;
    make(&m, *state);
    for (int d = 0; d < m.kind->devices; d++) {
        OK(mt_levels_load(m.p.db, &m.p.run, &m.devices[d], &all, &err));
        check_levels(&m, d, &all);
        for (int i = 0; i < 60; i++) {
            check_near(&m, d, &all);
            check_buckets(&m, d, &all);
        }
        OK(mt_levels_load_near(m.p.db, &m.p.run, &m.devices[d], NULL, 0, &few, &err));
        assert_true(few.all.n <= 3 * (all.all.n / MT_CHUNK_CHANGES + 1));
        mt_levels_free(&few);
        mt_levels_free(&all);
    }
    unmake(&m);
}

/* ---- where blocks of changes were allocated ---- */

/* Bands from the changes of the level are those from every block: shapes, of which there are none,
 * make no difference but that they need ops. */
static void check_bands(struct made *m, int device)
{
    static const enum mt_group_key keys[] = {MT_BY_SITE, MT_BY_SHAPE};
    struct mt_err err = MT_ERR_INIT;
    struct mt_levels all;
    struct mt_buckets buckets = {0};
    struct mt_bands came, want;
    size_t top = 1 + random_below(m, 5);
    struct mt_window asked = {INT64_MIN, INT64_MAX};
    if (random_below(m, 2))
        asked.from_ns = (int64_t)random_below(m, (uint64_t)m->p.run.dur_ns);
    struct mt_window shown = mt_window_within(&asked, m->p.run.dur_ns);
    OK(mt_levels_load(m->p.db, &m->p.run, &m->devices[device], &all, &err));
    mt_buckets_fill(&buckets, &all, &asked, &shown, 1 + random_below(m, 200));
    OK(mt_bands_load(&m->p.lives, &m->devices[device], &all, NULL, &buckets, keys, 1, top, &came,
                     &err));
    OK(mt_bands_load(&m->p.lives, &m->devices[device], &all, NULL, &buckets, keys, 2, top, &want,
                     &err));
    assert_int_equal(came.all.n, want.all.n);
    assert_int_equal(came.before, want.before);
    for (size_t i = 0; i < want.all.n; i++) {
        const struct mt_band *a = &want.all.v[i], *b = &came.all.v[i];
        assert_string_equal(b->key[0], a->key[0]);
        assert_int_equal(b->explicit_row, a->explicit_row);
        assert_int_equal(b->at_peak_b, a->at_peak_b);
        assert_memory_equal(b->bytes, a->bytes, buckets.all.n * sizeof *a->bytes);
    }
    mt_bands_free(&came);
    mt_bands_free(&want);
    mt_buckets_free(&buckets);
    mt_levels_free(&all);
}

static void bands(void **state)
{
    struct made m;
    make(&m, *state);
    for (int d = 0; d < m.kind->devices; d++)
        for (int i = 0; i < 5; i++)
            check_bands(&m, d);
    unmake(&m);
}

/* ---- what is built ---- */

static size_t live_n(const struct made *m, int device, int64_t record)
{
    size_t n = 0;
    for (size_t i = 0; i < m->blocks.n; i++)
        n += is_live(&m->blocks.v[i], device, record);
    for (size_t i = 0; i < m->older.n; i++)
        n += is_live(&m->older.v[i], device, record);
    return n;
}

/* Marks hold what is live, come when they are due, and stay small. */
static void keyframes(void **state)
{
    struct made m;
    make(&m, *state);
    const struct mt_history *h = &m.p.rec.history;
    size_t marked = 0, last[DEVICES_MAX] = {0};
    int64_t before[DEVICES_MAX] = {-1, -1};
    for (size_t i = 0; i < h->keyframes.n; i++) {
        const struct mt_live_keyframe *keyframe = &h->keyframes.v[i];
        size_t n = 0, at = 0, due = 4 * (last[keyframe->device] + 16) * (size_t)m.kind->devices;
        int64_t number = -1, origin = 0;
        while (mt_unpack_number((const uint8_t *)h->live.s + keyframe->at, keyframe->bytes, &at,
                                &number))
            n++;
        while (origin < (int64_t)m.blocks.n && m.blocks.v[origin].origin <= keyframe->record)
            origin++;
        assert_int_equal(at, keyframe->bytes);
        assert_int_equal(n, live_n(&m, keyframe->device, keyframe->record));
        if (keyframe->record >= 0)
            assert_true(keyframe->record - before[keyframe->device] <=
                        (int64_t)due + KEYFRAME_RECORDS);
        assert_true(keyframe->next >=
                    origin); /* blocks older than the recording are numbered too */
        before[keyframe->device] = keyframe->record;
        last[keyframe->device] = n;
        marked += n;
    }
    for (int d = 0; d < m.kind->devices; d++) {
        size_t due = 4 * (last[d] + 16) * (size_t)m.kind->devices;
        assert_true(RECORDS - before[d] <= (int64_t)due + KEYFRAME_RECORDS);
        marked -= last[d] + live_n(&m, d, -1);
    }
    assert_true((int64_t)marked <= RECORDS / 4);
    unmake(&m);
}

static void chunks(void **state)
{
    struct made m;
    size_t changes[DEVICES_MAX] = {0}, full = 0;
    make(&m, *state);
    const struct mt_curve *c = &m.p.rec.history.curve;
    for (size_t i = 0; i < m.records.n; i++)
        changes[m.records.v[i].device] += m.records.v[i].bytes != 0;
    for (int d = 0; d < m.kind->devices; d++)
        full += (changes[d] + MT_CHUNK_CHANGES - 1) / MT_CHUNK_CHANGES;
    assert_int_equal(c->chunks.n, full);
    assert_true(c->packed.n <= 8 * m.records.n);
    unmake(&m);
}

int main(void)
{
    static struct row_tests tests;
    ROWS_ADD(&tests, live_blocks, kinds);
    ROWS_ADD(&tests, levels, kinds);
    ROWS_ADD(&tests, bands, kinds);
    ROWS_ADD(&tests, keyframes, kinds);
    ROWS_ADD(&tests, chunks, kinds);
    return ROWS_RUN(&tests, "history");
}
