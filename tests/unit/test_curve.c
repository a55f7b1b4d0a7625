/* lib/model/curve.h: what is packed comes out again, with the right extremes, and no bytes mislead
 * it. */
#include "lib/model/curve.h"
#include "tests/unit/rows.h"
#include <string.h>

#define DAY_NS 86400000000000

/* A small generator of numbers, the same on every machine. */
static uint64_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

struct change {
    int64_t record, t_ns, bytes;
};
typedef MT_VEC(struct change) changes;

struct made {
    const char *name;
    int64_t start_b;
    void (*make)(changes *out);
};

static void add(changes *out, int64_t record, int64_t t_ns, int64_t bytes)
{
    *mt_vec_push(out) = (struct change){record, t_ns, bytes};
}

static void none(changes *out)
{
    add(out, 5, 10, 0);
}

static void one(changes *out)
{
    add(out, 7, 100, -3);
}

static void full(changes *out)
{
    for (int i = 0; i < MT_CHUNK_CHANGES; i++)
        add(out, i, 2 * i, i % 3 ? 10 : -7);
}

static void one_more(changes *out)
{
    full(out);
    add(out, MT_CHUNK_CHANGES, 2 * MT_CHUNK_CHANGES, 1);
}

/* Other devices and records of no bytes lie in between; times stand still or leap. */
static void gaps(changes *out)
{
    uint64_t state = 3;
    int64_t record = 0, t_ns = -DAY_NS;
    for (int i = 0; i < 3000; i++) {
        record += 1 + (int64_t)(next(&state) % 5 == 0 ? next(&state) % 100000 : 0);
        t_ns += next(&state) % 4 == 0 ? (int64_t)(next(&state) % DAY_NS) : 0;
        add(out, record, t_ns, (int64_t)(next(&state) % 2001) - 1000);
    }
}

/* The same levels again and again: of equal extremes the first counts. */
static void repeated(changes *out)
{
    static const int64_t bytes[] = {10, 0, -10, -10, 20, -10};
    for (int i = 0; i < 2000; i++)
        add(out, i, i / 7, bytes[i % 6]);
}

/* Levels from the lowest number to the highest and back, at the first moment and the last. */
static void widest(changes *out)
{
    add(out, 0, INT64_MIN, INT64_MAX);
    add(out, 1, INT64_MIN, INT64_MAX);
    add(out, UINT32_MAX, INT64_MAX, INT64_MIN);
    add(out, (int64_t)UINT32_MAX + 1, INT64_MAX, 1);
}

static const struct made rows[] = {
    {"none that changes anything", 5, none},
    {"a single one", 2, one},
    {"a full chunk", 0, full},
    {"one more than a chunk holds", 0, one_more},
    {"gaps", 123456, gaps},
    {"equal levels", -5, repeated},
    {"the widest numbers", INT64_MIN, widest},
};

/* Compares the levels of a chunk, as they are unpacked, with the changes it was made of. */
struct comparison {
    const struct change *at, *end;
    int64_t level_b;
    struct mt_level min, max, last;
    int64_t n;
};

/* Any node for any record. */
static uint32_t origin(int64_t record)
{
    return (uint32_t)record * 2654435761u;
}

static void skip_zeros(struct comparison *c)
{
    while (c->at < c->end && !c->at->bytes)
        c->at++;
}

static void compare(void *closure, const struct mt_change *change)
{
    struct comparison *c = closure;
    const struct mt_level *level = &change->level;
    skip_zeros(c);
    assert_true(c->at < c->end);
    assert_true(change->bytes == c->at->bytes);
    assert_true(change->origin == origin(c->at->record));
    c->level_b += c->at->bytes;
    assert_true(level->record == c->at->record);
    assert_true(level->t_ns == c->at->t_ns);
    assert_true(level->level_b == c->level_b);
    if (!c->n || level->level_b < c->min.level_b)
        c->min = *level;
    if (!c->n || level->level_b > c->max.level_b)
        c->max = *level;
    c->last = *level;
    c->n++;
    c->at++;
}

static void same_level(const struct mt_level *a, const struct mt_level *b)
{
    assert_true(a->record == b->record && a->t_ns == b->t_ns && a->level_b == b->level_b);
}

static void pack(const changes *all, int64_t start_b, struct mt_curve *out)
{
    struct mt_packer p;
    mt_packer_start(&p, 9, start_b);
    for (size_t i = 0; i < all->n; i++)
        mt_packer_add(&p, out, all->v[i].record, all->v[i].t_ns, all->v[i].bytes,
                      origin(all->v[i].record));
    mt_packer_end(&p, out);
}

static const uint8_t *bytes_of(const struct mt_curve *curve, const struct mt_usage_chunk *s)
{
    assert_true(s->at + s->bytes <= curve->packed.n);
    return (const uint8_t *)curve->packed.s + s->at;
}

static void round_trip(void **state)
{
    const struct made *row = *state;
    changes all = {0};
    struct mt_curve curve = {0};
    row->make(&all);
    pack(&all, row->start_b, &curve);
    struct comparison c = {.at = all.v, .end = all.v + all.n, .level_b = row->start_b};
    for (size_t i = 0; i < curve.chunks.n; i++) {
        const struct mt_usage_chunk *s = &curve.chunks.v[i];
        assert_int_equal(s->device, 9);
        assert_true(s->start_b == c.level_b);
        c.n = 0;
        skip_zeros(&c);
        assert_true(s->first_record == c.at->record && s->first_ns == c.at->t_ns);
        assert_true(mt_usage_chunk_unpack(s, bytes_of(&curve, s), s->bytes, compare, &c));
        assert_int_equal(s->change_n, c.n);
        assert_true(i + 1 == curve.chunks.n ? c.n > 0 : c.n == MT_CHUNK_CHANGES);
        same_level(&s->min, &c.min);
        same_level(&s->max, &c.max);
        same_level(&s->last, &c.last);
    }
    skip_zeros(&c);
    assert_ptr_equal(c.at, c.end);
    mt_curve_free(&curve);
    mt_vec_free(&all);
}

/* Several devices packed side by side do not disturb each other. */
static void side_by_side(void **state)
{
    enum { DEVICES = 3, CHANGES = 4000 };
    struct mt_packer packers[DEVICES];
    struct mt_curve curve = {0};
    changes all[DEVICES] = {{0}};
    struct comparison c[DEVICES];
    uint64_t random = 1;
    (void)state;
    for (uint16_t d = 0; d < DEVICES; d++)
        mt_packer_start(&packers[d], d, 100 * d);
    for (int i = 0; i < CHANGES; i++) {
        uint64_t d = next(&random) % DEVICES;
        add(&all[d], i, i, (int64_t)(next(&random) % 100) + 1);
        mt_packer_add(&packers[d], &curve, i, i, all[d].v[all[d].n - 1].bytes, origin(i));
    }
    for (int d = 0; d < DEVICES; d++) {
        mt_packer_end(&packers[d], &curve);
        c[d] = (struct comparison){.at = all[d].v, .end = all[d].v + all[d].n, .level_b = 100 * d};
    }
    for (size_t i = 0; i < curve.chunks.n; i++) {
        const struct mt_usage_chunk *s = &curve.chunks.v[i];
        assert_true(
            mt_usage_chunk_unpack(s, bytes_of(&curve, s), s->bytes, compare, &c[s->device]));
    }
    for (int d = 0; d < DEVICES; d++) {
        assert_ptr_equal(c[d].at, c[d].end);
        mt_vec_free(&all[d]);
    }
    mt_curve_free(&curve);
}

/* ---- damage ---- */

static void count(void *closure, const struct mt_change *change)
{
    (void)change;
    ++*(size_t *)closure;
}

/* A copy of exactly n bytes: a read past its end is an error of the sanitizer. */
static uint8_t *exactly(const void *bytes, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1);
    assert_non_null(copy);
    if (n)
        memcpy(copy, bytes, n);
    return copy;
}

/* Cut behind a change the rest is a chunk, shorter; cut anywhere else it is none. */
static void truncated(void **state)
{
    changes all = {0};
    struct mt_curve curve = {0};
    (void)state;
    gaps(&all);
    pack(&all, 0, &curve);
    const struct mt_usage_chunk *s = &curve.chunks.v[0];
    size_t whole = 0, last = 0;
    for (size_t n = 0; n <= s->bytes; n++) {
        uint8_t *cut = exactly(bytes_of(&curve, s), n);
        size_t seen = 0;
        bool sound = mt_usage_chunk_unpack(s, cut, n, count, &seen);
        assert_true(seen == last + (sound && n));
        whole += sound;
        last = seen;
        free(cut);
    }
    assert_int_equal(last, MT_CHUNK_CHANGES);
    assert_int_equal(whole, MT_CHUNK_CHANGES + 1);
    mt_curve_free(&curve);
    mt_vec_free(&all);
}

struct damaged {
    const char *name;
    size_t n;
    const char *bytes;
    bool sound;
    size_t used; /* changes */
};

static const struct damaged damaged_rows[] = {
    {"nothing", 0, "", true, 0},
    {"zeros", 8, "\0\0\0\0\0\0\0\0", true, 2},
    {"a number that does not end", 3, "\x80\x80\x80", false, 0},
    {"a number of ten bytes", 13, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\0\0\0", true, 1},
    {"a number of eleven bytes", 14, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\0\0\0", false,
     0},
    {"bits beyond the sixty-fourth", 13, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f\0\0\0", true, 1},
    {"the largest node", 8, "\1\1\2\xff\xff\xff\xff\x0f", true, 1},
    {"a node larger than that", 8, "\1\1\2\x80\x80\x80\x80\x10", false, 0},
    {"damage behind a change", 6, "\1\1\2\1\1\x80", false, 1},
};

static void damaged(void **state)
{
    const struct damaged *row = *state;
    const struct mt_usage_chunk s = {
        .start_b = INT64_MAX, .first_record = INT64_MAX, .first_ns = INT64_MAX};
    uint8_t *bytes = exactly(row->bytes, row->n);
    size_t used = 0;
    assert_int_equal(mt_usage_chunk_unpack(&s, bytes, row->n, count, &used), row->sound);
    assert_int_equal(used, row->used);
    free(bytes);
}

/* Whatever the bytes, unpacking ends, within them. */
static void random_bytes(void **state)
{
    const struct mt_usage_chunk s = {.start_b = INT64_MIN};
    uint64_t random = 11;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        uint8_t bytes[40];
        size_t n = next(&random) % sizeof bytes, used = 0, at = 0;
        for (size_t k = 0; k < n; k++)
            bytes[k] = (uint8_t)(next(&random) % 3 ? next(&random) : 0x80 | next(&random));
        uint8_t *copy = exactly(bytes, n);
        mt_usage_chunk_unpack(&s, copy, n, count, &used);
        assert_true(used <= n / 4);
        for (int64_t number = -1, before = -1; mt_unpack_number(copy, n, &at, &number);) {
            assert_true(number > before && at <= n);
            before = number;
        }
        free(copy);
    }
}

/* ---- lists of numbers ---- */

struct list {
    const char *name;
    size_t n;
    uint32_t v[8];
    size_t bytes;
};

static const struct list lists[] = {
    {"no number", 0, {0}, 0},
    {"zero", 1, {0}, 1},
    {"neighbours", 4, {0, 1, 2, 3}, 4},
    {"steps of one byte and two", 3, {126, 127 + 126, 127 + 126 + 128}, 4},
    {"the largest", 1, {UINT32_MAX - 1}, 5},
    {"from end to end", 3, {0, 1, UINT32_MAX}, 7},
};

static void list_of_numbers(void **state)
{
    const struct list *row = *state;
    struct mt_buf packed = {0};
    mt_pack_numbers(&packed, row->v, row->n);
    assert_int_equal(packed.n, row->bytes);
    for (size_t n = 0; n <= packed.n; n++) { /* whole, and cut at every byte */
        uint8_t *cut = exactly(packed.s, n);
        size_t at = 0, i = 0;
        for (int64_t number = -1; mt_unpack_number(cut, n, &at, &number); i++) {
            assert_true(i < row->n);
            assert_int_equal(number, row->v[i]);
        }
        assert_true(n < packed.n ? i < row->n : i == row->n);
        free(cut);
    }
    mt_buf_free(&packed);
}

static void no_list(void **state)
{
    static const struct damaged none_of_them[] = {
        {"the same number twice", 2, "\5\0", false, 1},
        {"a step no number can take", 6, "\1\x80\x80\x80\x80\x10", false, 1},
        {"a number that does not end", 2, "\1\x80", false, 1},
    };
    (void)state;
    for (size_t i = 0; i < MT_ARRAY_LEN(none_of_them); i++) {
        const struct damaged *row = &none_of_them[i];
        size_t at = 0, n = 0;
        for (int64_t number = -1;
             mt_unpack_number((const uint8_t *)row->bytes, row->n, &at, &number);)
            n++;
        assert_int_equal(n, row->used);
    }
}

int main(void)
{
    static const struct {
        const char *name;
        CMUnitTestFunction run;
    } single[] = {{"side by side", side_by_side},
                  {"cut at every byte", truncated},
                  {"random bytes", random_bytes},
                  {"no list", no_list}};
    static struct row_tests tests;
    ROWS_ADD(&tests, round_trip, rows);
    ROWS_ADD(&tests, damaged, damaged_rows);
    ROWS_ADD(&tests, list_of_numbers, lists);
    for (size_t i = 0; i < MT_ARRAY_LEN(single); i++)
        rows_add(&tests, single[i].run, &single[i], 1, sizeof single[i]);
    return ROWS_RUN(&tests, "curve");
}
