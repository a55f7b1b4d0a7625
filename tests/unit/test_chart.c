/* lib/render/axis.h, lib/render/svg.h and the sparklines of lib/render/chart.h. */
#include "lib/render/axis.h"
#include "lib/render/chart.h"
#include "lib/render/svg.h"
#include "tests/unit/rows.h"
#include <locale.h>
#include <string.h>

struct axis_row {
    const char *name;
    bool time;
    int64_t from, to;
    int most;
    const char *expected; /* labels of all ticks */
};

static const struct axis_row axis_rows[] = {
    {"bytes: nothing", false, 0, 1, 5, "0|1 B"},
    {"bytes: powers of two", false, 0, 17355520, 6, "0|4 MiB|8 MiB|12 MiB|16 MiB"},
    {"bytes: halves of a GiB", false, 0, INT64_C(2040109466), 5, "0|512 MiB|1 GiB|1.5 GiB"},
    {"bytes: below 0", false, -3000, 3000, 4, "-2 KiB|0|2 KiB"},
    {"bytes: as far as it goes", false, 0, INT64_MAX, 5, "0|512 PiB|1 EiB|1.5 EiB"},
    {"time: milliseconds", true, 0, 365000000, 5, "0|100 ms|200 ms|300 ms"},
    {"time: a window deep inside", true, INT64_C(12345600000), INT64_C(12345900000), 4,
     "12.3456 s|12.3457 s|12.3458 s|12.3459 s"},
    {"time: fives", true, 3, 22, 5, "5 ns|10 ns|15 ns|20 ns"},
    {"time: 2 us steps in ms", true, 1000000, 1007000, 5, "1.000 ms|1.002 ms|1.004 ms|1.006 ms"},
    {"time: one moment", true, 123456789, 123456789, 5, "123.5 ms"},
    {"time: hours", true, 0, INT64_C(7200000000000), 4, "0|2000 s|4000 s|6000 s"},
};

static void test_axis(void **state)
{
    const struct axis_row *row = *state;
    struct mt_axis a = row->time ? mt_axis_ns(row->from, row->to, row->most)
                                 : mt_axis_bytes(row->from, row->to, row->most);
    struct mt_buf text = {0};
    char label[MT_HUMAN_MAX];
    for (int64_t v = a.first; v <= a.to; v += a.step)
        mt_buf_addf(&text, "%s%s", v == a.first ? "" : "|",
                    row->time ? mt_axis_label_ns(&a, v, label) : mt_axis_label_bytes(v, label));
    assert_string_equal(text.s, row->expected);
    mt_buf_free(&text);
}

struct text_row {
    const char *name, *text, *expected;
};

static const struct text_row text_rows[] = {
    {"svg: markup", "a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c&#39;"},
    {"svg: control characters", "a\033[31m\x01\nb\x7f", "a\\x1b[31m\\x01\\nb\\x7f"},
    {"svg: invalid UTF-8", "bad\xff\xc3(", "bad\\xff\\xc3("},
    {"svg: no XML character", "a\xef\xbf\xbe\xef\xbf\xbf", "a\\ufffe\\uffff"},
    {"svg: beyond the first plane", "\xf0\x9f\xbf\xbf\xf0\x9f\x98\x80", "\\u1ffff\xf0\x9f\x98\x80"},
    {"svg: other scripts", "Gr\u00f6\u00dfe \u4e2d", "Gr\u00f6\u00dfe \u4e2d"},
    {"svg: reordering marks", "a\u202eb", "a\\xe2\\x80\\xaeb"},
};

static void test_text(void **state)
{
    const struct text_row *row = *state;
    struct mt_buf out = {0}, expected = {0};
    mt_svg_text(&out, "c", 1, -2.25, row->text);
    mt_buf_addf(&expected, "<text class=\"c\" x=\"1\" y=\"-2.3\">%s</text>\n", row->expected);
    assert_string_equal(out.s, expected.s);
    mt_buf_free(&out);
    mt_buf_free(&expected);
}

/* Strokes that would not be seen are left out, and those in one line joined. */
static void test_path(void **state)
{
    (void)state;
    struct mt_buf out = {0};
    struct mt_svg_path p;
    mt_svg_path_begin(&p, &out, "c");
    mt_svg_path_move(&p, 0, 10);
    mt_svg_path_to_x(&p, 5);
    mt_svg_path_to_y(&p, 10.01);
    mt_svg_path_to_x(&p, 7.5);
    mt_svg_path_to_y(&p, -0.5);
    mt_svg_path_to_x(&p, 9);
    mt_svg_path_end(&p, true, "x<y");
    assert_string_equal(out.s,
                        "<path class=\"c\" d=\"M0 10H7.5V-0.5H9Z\"><title>x&lt;y</title></path>\n");
    mt_buf_free(&out);
}

struct spark_row {
    const char *name;
    int64_t values[8];
    size_t n, cells;
    bool ascii;
    const char *expected;
};

static const struct spark_row spark_rows[] = {
    {"sparkline: eighths", {0, 1, 2, 4, 8}, 5, 5, false, " ▁▂▄█"},
    {"sparkline: the largest of a part", {0, 8, 1, 0, 4, 3}, 6, 3, false, "█▁▄"},
    {"sparkline: fewer values than cells", {8, 4}, 2, 4, false, "██▄▄"},
    {"sparkline: nothing at all", {0, 0}, 2, 2, false, "  "},
    {"sparkline: below 0 is nothing", {-5, 5}, 2, 2, false, " █"},
    {"sparkline: ascii", {0, 1, 4, 8}, 4, 4, true, " .:#"},
};

static void test_sparkline(void **state)
{
    const struct spark_row *row = *state;
    struct mt_buf out = {0};
    mt_sparkline(&out, row->values, row->n, row->cells, row->ascii);
    assert_string_equal(out.s, row->expected);
    mt_buf_free(&out);
}

/* Every line of a chart fits its width, whatever that is; the picture has as many as asked for. */
static void test_width(void **state)
{
    (void)state;
    struct mt_levels levels = {0};
    struct mt_buckets b = {0};
    for (int64_t i = 0; i < 500; i++)
        *mt_vec_push(&levels.all) = (struct mt_level){i * 1000, i * 7919 % 1000003 * 1024, i};
    for (int width = 40; width < 300; width += 7)
        for (int ascii = 0; ascii < 2; ascii++) {
            struct mt_buf out = {0};
            struct mt_chart c = {.shown = {0, 500000}, .level = &b, .width = width, .height = 15};
            c.ascii = ascii;
            c.peak_ns = width * 1500;
            c.peak_b = INT64_C(123456789);
            for (int64_t s = 0; s < 30; s++)
                *mt_vec_push(&c.steps) = (struct mt_chart_mark){s * 15000, s};
            mt_buckets_fill(&b, &levels, &c.shown, &c.shown, mt_chart_text_buckets(width, ascii));
            mt_chart_text(&out, &c);
            int lines = 0;
            for (char *line = strtok(out.s, "\n"); line; line = strtok(NULL, "\n"), lines++)
                assert_true(mt_display_width(line) <= width);
            assert_int_equal(lines, 15);
            mt_buf_free(&out);
            mt_chart_free(&c);
        }
    mt_buckets_free(&b);
    mt_levels_free(&levels);
}

int main(void)
{
    static struct row_tests t;
    static const struct {
        const char *name;
    } path[] = {{"svg: path"}}, width[] = {{"chart: fits its width"}};
    setlocale(LC_CTYPE, "C.UTF-8");
    ROWS_ADD(&t, test_axis, axis_rows);
    ROWS_ADD(&t, test_text, text_rows);
    ROWS_ADD(&t, test_path, path);
    ROWS_ADD(&t, test_sparkline, spark_rows);
    ROWS_ADD(&t, test_width, width);
    return ROWS_RUN(&t, "chart");
}
