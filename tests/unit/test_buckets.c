/* lib/usage/buckets.h: known answers, and what must hold of any curve. */
#include "lib/run/knows.h"
#include "lib/usage/buckets.h"
#include "tests/unit/rows.h"
#include <inttypes.h>
#include <stdio.h>

#define MOST 8

struct bucket_row {
    const char *name;
    int64_t start_b;
    size_t level_n;
    struct mt_level levels[MOST];
    struct mt_window asked;
    int64_t dur_ns;
    size_t n;
    const char *expected; /* start-end:min..max>last@max_at of every bucket */
};

#define OPEN                                                                                       \
    {                                                                                              \
        INT64_MIN, INT64_MAX                                                                       \
    }

static const struct bucket_row bucket_rows[] = {
    {"no change", 5, 0, {{0}}, OPEN, 10, 2, "0-5:5..5>5@-1 5-10:5..5>5@-1"},
    {"a change at a border belongs to the later bucket",
     0,
     2,
     {{5, 7, 0}, {9, 1, 1}},
     OPEN,
     10,
     2,
     "0-5:0..0>0@-1 5-10:0..7>1@0"},
    {"a change at the very end", 1, 1, {{10, 9, 0}}, OPEN, 10, 2, "0-5:1..1>1@-1 5-10:1..9>9@0"},
    {"up and down at one moment is seen",
     0,
     2,
     {{3, 100, 0}, {3, 0, 1}},
     OPEN,
     9,
     3,
     "0-3:0..0>0@-1 3-6:0..100>0@0 6-9:0..0>0@1"},
    {"the first of two equal maxima",
     0,
     4,
     {{1, 4, 0}, {2, 2, 1}, {3, 4, 2}, {4, 0, 3}},
     OPEN,
     5,
     1,
     "0-5:0..4>0@0"},
    {"below 0", 0, 2, {{1, -4, 0}, {2, -2, 1}}, OPEN, 4, 1, "0-4:-4..0>-2@-1"},
    {"a window begins before all records of its first moment, and ends before those of its last",
     0,
     4,
     {{1, 8, 0}, {2, 9, 1}, {2, 3, 2}, {5, 50, 3}},
     {2, 5},
     10,
     1,
     "2-5:3..9>3@1"},
    {"a window without length", 0, 2, {{1, 8, 0}, {2, 9, 1}}, {1, 1}, 10, 4, "1-1:0..0>0@-1"},
    {"a window wider than the run", 2, 1, {{1, 3, 0}}, {-5, 50}, 2, 1, "0-2:2..3>3@0"},
    {"more buckets than nanoseconds", 0, 1, {{1, 3, 0}}, OPEN, 2, 5, "0-1:0..0>0@-1 1-2:0..3>3@0"},
    {"lengths that do not divide",
     0,
     1,
     {{6, 3, 0}},
     OPEN,
     7,
     3,
     "0-2:0..0>0@-1 2-4:0..0>0@-1 4-7:0..3>3@0"},
    {"what is unknown is in no bucket",
     5,
     4,
     {{2, MT_UNKNOWN, 0}, {9, 3, 1}, {10, MT_UNKNOWN, 2}, {12, 7, 3}},
     OPEN,
     15,
     3,
     "0-5:5..5>-@-1 5-10:3..3>3@1 10-15:3..7>7@3"},
    {"nothing is known of a bucket", 5, 1, {{2, MT_UNKNOWN, 0}}, OPEN, 8, 2, "0-4:5..5>-@-1 4-8:-"},
    {"very long runs",
     0,
     1,
     {{INT64_C(6000000000000000000), 3, 0}},
     OPEN,
     INT64_C(9000000000000000000),
     3,
     "0-3000000000000000000:0..0>0@-1 3000000000000000000-6000000000000000000:0..0>0@-1 "
     "6000000000000000000-9000000000000000000:0..3>3@0"},
};

static void test_buckets(void **state)
{
    const struct bucket_row *row = *state;
    struct mt_levels levels = {.start_b = row->start_b};
    struct mt_buckets b = {0};
    struct mt_buf text = {0};
    for (size_t i = 0; i < row->level_n; i++)
        *mt_vec_push(&levels.all) = row->levels[i];
    struct mt_window shown = mt_window_within(&row->asked, row->dur_ns);
    mt_buckets_fill(&b, &levels, &row->asked, &shown, row->n);
    for (size_t k = 0; k < b.all.n; k++) {
        const struct mt_bucket *v = &b.all.v[k];
        mt_buf_addf(&text, "%s%" PRId64 "-%" PRId64 ":", k ? " " : "", v->start_ns, v->end_ns);
        if (mt_bucket_unknown(v)) {
            mt_buf_addc(&text, '-');
            continue;
        }
        mt_buf_addf(&text, "%" PRId64 "..%" PRId64 ">", v->min_b, v->max_b);
        if (v->last_b == MT_UNKNOWN)
            mt_buf_addc(&text, '-');
        else
            mt_buf_addf(&text, "%" PRId64, v->last_b);
        mt_buf_addf(&text, "@%" PRId64, v->max_at);
    }
    assert_string_equal(text.s, row->expected);
    mt_buf_free(&text);
    mt_buckets_free(&b);
    mt_levels_free(&levels);
}

static uint64_t seed = 1;

static int64_t pseudo_random(int64_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(seed >> 33) % below;
}

static void make_curve(struct mt_levels *l)
{
    int64_t t = 0, level = l->start_b = pseudo_random(1000);
    int64_t n = pseudo_random(300);
    for (int64_t i = 0; i < n; i++) {
        t += pseudo_random(3) ? pseudo_random(50) : 0;
        level += pseudo_random(2001) - 1000;
        *mt_vec_push(&l->all) = (struct mt_level){t, level, 2 * i};
    }
}

static void check_one(const struct mt_levels *l, const struct mt_window *asked, int64_t dur)
{
    struct mt_buckets b = {0};
    struct mt_window shown = mt_window_within(asked, dur);
    mt_buckets_fill(&b, l, asked, &shown, (size_t)(1 + pseudo_random(90)));
    int64_t first = mt_levels_before(l, asked->from_ns), last = mt_levels_before(l, asked->to_ns);
    int64_t before = mt_levels_value(l, first), at = first;
    assert_true(b.all.n >= 1);
    assert_int_equal(b.all.v[0].start_ns, shown.from_ns);
    assert_int_equal(b.all.v[b.all.n - 1].end_ns, shown.to_ns);
    for (size_t k = 0; k < b.all.n; k++) {
        const struct mt_bucket *v = &b.all.v[k];
        assert_true(k == 0 || v->start_ns == b.all.v[k - 1].end_ns);
        assert_true(v->min_b <= v->last_b && v->last_b <= v->max_b);
        assert_true(v->min_b <= before && before <= v->max_b);
        assert_true(v->max_at >= at);
        assert_int_equal(mt_levels_value(l, v->max_at), v->max_b);
        before = v->last_b;
        at = v->max_at;
    }
    assert_int_equal(before, mt_levels_value(l, last));
    const struct mt_bucket *peak = mt_buckets_peak(&b);
    assert_int_equal(peak->max_at, mt_levels_peak(l, first, last));
    mt_buckets_free(&b);
}

/* Whatever the curve and the window: nothing of the extremes is lost, buckets join. */
static void test_property(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct mt_levels l = {0};
        struct mt_window w = OPEN;
        make_curve(&l);
        int64_t dur = l.all.n ? l.all.v[l.all.n - 1].t_ns + pseudo_random(20) : 0;
        check_one(&l, &w, dur);
        w.from_ns = pseudo_random(dur + 1);
        w.to_ns = w.from_ns + pseudo_random(dur + 1);
        check_one(&l, &w, dur);
        mt_levels_free(&l);
    }
}

int main(void)
{
    static struct row_tests t;
    ROWS_ADD(&t, test_buckets, bucket_rows);
    static const struct {
        const char *name;
    } property[] = {{"any curve, any window"}};
    ROWS_ADD(&t, test_property, property);
    return ROWS_RUN(&t, "buckets");
}
