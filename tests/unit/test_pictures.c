/* Pictures stay readable whatever is in them: lib/render/palette.h, the bands, steps and segments
 * of svg.
 */
#include "lib/render/chart.h"
#include "lib/run/knows.h"
#include "tests/unit/rows.h"
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often `what` occurs. */
static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

static void test_palette(void **state)
{
    (void)state;
    struct mt_buf css = {0};
    mt_palette_css(&css, MT_PALETTE_N);
    size_t n = 0;
    for (char *at = css.s; (at = strstr(at, "{fill:#")); at++, n++) {
        char color[] = "{fill:#rrggbb}";
        memcpy(color, at, sizeof color - 1);
        assert_int_equal(count(css.s, color), 1);
    }
    assert_int_equal(n, MT_PALETTE_N + 4); /* [other] and [before trace], light and dark */
    mt_buf_free(&css);
}

/* ---- bands ---- */

enum { BUCKETS = 8 };

struct stack_row {
    const char *name;
    size_t n;
    int64_t bytes[5][BUCKETS]; /* of each band; the last may be [before trace] */
    bool before;
    const char *expected; /* numbers from the bottom */
};

static const struct stack_row stack_rows[] = {
    {"bands: none", 0, {{0}}, false, ""},
    {"bands: the heavier of two steady ones",
     2,
     {{9, 9, 9, 9, 9, 9, 9, 9}, {3, 3, 3, 3, 3, 3, 3, 3}},
     false,
     "01"},
    {"bands: what varies lies above, also if it is heavier",
     2,
     {{90, 0, 90, 0, 90, 0, 90, 0}, {3, 3, 3, 3, 3, 3, 3, 3}},
     false,
     "10"},
    {"bands: parameters, optimizer state, a leak, activations, a spike",
     5,
     {{80, 0, 80, 80, 0, 80, 80, 0},
      {1, 2, 3, 4, 5, 6, 7, 8},
      {0, 0, 0, 0, 0, 0, 99, 0},
      {0, 5, 5, 5, 5, 5, 5, 5},
      {4, 4, 4, 4, 4, 4, 4, 4}},
     false,
     "43102"},
    {"bands: [before trace] at the bottom, even if it varies",
     3,
     {{9, 0, 9, 0, 9, 0, 9, 0}, {3, 3, 3, 3, 3, 3, 3, 3}, {9, -9, 9, -9, 9, -9, 9, -9}},
     true,
     "210"},
    {"bands: nothing at all lies at the top", 2, {{0}, {3, 3, 0, 0, 3, 3, 3, 3}}, false, "10"},
    {"bands: figures of a damaged run",
     2,
     {{INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN}, {1, 1, 1, 1, 1, 1, 1, 1}},
     false,
     "10"},
};

static void test_stack(void **state)
{
    const struct stack_row *row = *state;
    struct mt_bands b = {.bucket_n = BUCKETS, .key_n = 1, .before = row->before};
    size_t order[5];
    char text[6] = "";
    for (size_t i = 0; i < row->n; i++)
        mt_vec_push(&b.all)->bytes =
            memcpy(mt_alloc(sizeof row->bytes[i]), row->bytes[i], sizeof row->bytes[i]);
    mt_bands_stack(&b, order);
    for (size_t i = 0; i < row->n; i++)
        text[i] = (char)('0' + order[i]);
    assert_string_equal(text, row->expected);
    mt_bands_free(&b);
}

/* A picture of n bands, [other] and [before trace]: each is drawn once, in a colour of its own. */
static void test_colors(void **state)
{
    (void)state;
    struct mt_levels levels = {0};
    struct mt_buckets buckets = {0};
    struct mt_bands b = {.bucket_n = 100, .key_n = 1, .before = true, .other = true};
    struct mt_chart c = {.title = "t", .what = "allocated", .shown = {0, 100}, .level = &buckets};
    struct mt_buf out = {0};
    *mt_vec_push(&levels.all) = (struct mt_level){0, 1000, 0};
    mt_buckets_fill(&buckets, &levels, &c.shown, &c.shown, b.bucket_n);
    for (int64_t i = 0; i < MT_PALETTE_N + 2; i++) {
        struct mt_band *band = mt_vec_push(&b.all);
        *band = (struct mt_band){.bytes = mt_alloc(100 * sizeof *band->bytes), .key = {"name"}};
        for (int64_t k = 0; k < 100; k++)
            band->bytes[k] = 1 + k * i % 7;
    }
    c.bands = &b;
    mt_chart_svg(&out, &c);
    for (int i = 0; i < MT_PALETTE_N + 2; i++) {
        char class[20], path[40], rule[40];
        snprintf(class, sizeof class, "b%d", i);
        snprintf(rule, sizeof rule, ".%s{", class);
        snprintf(path, sizeof path, "<path class=\"%s\"",
                 i < MT_PALETTE_N    ? class
                 : i == MT_PALETTE_N ? "rest"
                                     : "older");
        assert_int_equal(count(out.s, path), 1);
        assert_int_equal(count(out.s, rule), i < MT_PALETTE_N);
    }
    mt_buf_free(&out);
    mt_bands_free(&b);
    mt_buckets_free(&buckets);
    mt_levels_free(&levels);
}

/* Curves beside the first, of which and of whose lanes some is unknown. */
static void test_beside(void **state)
{
    (void)state;
    const struct mt_level steps[] = {{0, 900, 0}, {40, MT_UNKNOWN, 1}, {80, 300, 2}};
    const int64_t threads[] = {1, 2, MT_UNKNOWN, 2, 0, MT_UNKNOWN};
    struct mt_levels levels = {0};
    struct mt_buckets buckets = {0};
    struct mt_chart c = {.title = "t", .what = "rss", .shown = {0, 120}, .level = &buckets};
    for (size_t i = 0; i < MT_ARRAY_LEN(steps); i++)
        *mt_vec_push(&levels.all) = steps[i];
    mt_buckets_fill(&buckets, &levels, &c.shown, &c.shown, MT_ARRAY_LEN(threads));
    *mt_vec_push(&c.lanes) = (struct mt_chart_lane){"threads", threads};
    for (c.beside_n = 0; c.beside_n <= MT_CHART_BESIDE; c.beside_n++) {
        struct mt_buf svg = {0}, text = {0};
        for (size_t i = 0; i < c.beside_n; i++)
            c.beside[i] = (struct mt_chart_curve){&buckets, i ? "held" : "pytorch"};
        c.within = c.beside_n > 0;
        mt_chart_svg(&svg, &c);
        assert_int_equal(count(svg.s, "<path class=\"part\""), c.beside_n > 0 ? 2 : 0);
        assert_int_equal(count(svg.s, "<path class=\"second\""), c.beside_n > 0 ? 2 : 0);
        assert_int_equal(count(svg.s, "<path class=\"third\""), c.beside_n > 1 ? 2 : 0);
        assert_int_equal(count(svg.s, ">held<"), c.beside_n > 1);
        assert_int_equal(count(svg.s, "--") + count(svg.s, "V-") + count(svg.s, "922337"), 0);
        c.ascii = true;
        mt_chart_text(&text, &c);
        assert_int_equal(count(text.s, "EiB"), 0);
        mt_buf_free(&svg);
        mt_buf_free(&text);
    }
    mt_chart_free(&c);
    mt_buckets_free(&buckets);
    mt_levels_free(&levels);
}

/* ---- steps ---- */

struct step_row {
    const char *name;
    int64_t n;           /* steps of 1000 ns */
    int64_t first_ns;    /* how much longer the first is */
    const char *numbers; /* in a picture of 1096 x 420 */
};

static const struct step_row step_rows[] = {
    {"steps: none", 0, 0, ""},
    {"steps: all", 6, 0, "0 1 2 3 4 5 "},
    {"steps: a first one that is long", 6, 30000, "0 1 2 3 4 5 "},
    {"steps: after a long one others that are short", 200, 600000, "0 20 50 100 150 "},
    {"steps: two hundred", 200, 0,
     "0 10 20 30 40 50 60 70 80 90 100 110 120 130 140 150 160 170 180 190 "},
    {"steps: one thousand", 1000, 0,
     "0 50 100 150 200 250 300 350 400 450 500 550 600 650 700 750 800 850 900 950 "},
    {"steps: a million", 1000000, 0,
     "0 100000 200000 300000 400000 500000 600000 700000 800000 900000 "},
};

static void test_steps(void **state)
{
    const struct step_row *row = *state;
    struct mt_levels levels = {0};
    struct mt_buckets buckets = {0};
    struct mt_buf out = {0}, numbers = {0};
    struct mt_chart c = {.title = "t",
                         .what = "allocated",
                         .level = &buckets,
                         .shown = {0, (row->n ? row->n : 1) * 1000 + row->first_ns}};
    c.width = 1096; /* 1000 of them for the plot */
    c.height = 420;
    *mt_vec_push(&levels.all) = (struct mt_level){0, 1000, 0};
    mt_buckets_fill(&buckets, &levels, &c.shown, &c.shown, 10);
    for (int64_t i = 0; i < row->n; i++)
        *mt_vec_push(&c.steps) = (struct mt_chart_mark){i * 1000 + (i ? row->first_ns : 0), i};
    mt_chart_svg(&out, &c);
    double last = -1000;
    size_t lines = 0;
    for (char *at = out.s; (at = strstr(at, "<line class=\"step\" x1=\"")); lines++) {
        double x = strtod(at += strlen("<line class=\"step\" x1=\""), NULL);
        assert_true(x - last >= 19.9);
        last = x;
    }
    assert_true(lines <= 51 && (!row->n || lines));
    for (const char *at = out.s; (at = strstr(at, " y=\"64\">")); at++)
        if (at[8] >= '0' && at[8] <= '9')
            mt_buf_addf(&numbers, "%d ", atoi(at + 8));
    assert_string_equal(numbers.s ? numbers.s : "", row->numbers);
    assert_true(out.n < 60000);
    mt_buf_free(&out);
    mt_buf_free(&numbers);
    mt_chart_free(&c);
    mt_buckets_free(&buckets);
    mt_levels_free(&levels);
}

int main(void)
{
    static struct row_tests t;
    static const struct {
        const char *name;
    } palette[] = {{"palette: no colour twice"}}, colors[] = {{"bands: a colour for each"}},
      beside[] = {{"curves beside the first, and what is unknown of them"}};
    setlocale(LC_CTYPE, "C.UTF-8");
    ROWS_ADD(&t, test_palette, palette);
    ROWS_ADD(&t, test_stack, stack_rows);
    ROWS_ADD(&t, test_colors, colors);
    ROWS_ADD(&t, test_beside, beside);
    ROWS_ADD(&t, test_steps, step_rows);
    return ROWS_RUN(&t, "pictures");
}
