#include "rows.h"

#include "lib/base/human.h"
#include "lib/base/utf8.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct figure_row {
    const char *name;
    int64_t value;
    const char *expected;
};

static const struct figure_row bytes_rows[] = {
    {"bytes: zero", 0, "0 B"},
    {"bytes: one", 1, "1 B"},
    {"bytes: minus one", -1, "-1 B"},
    {"bytes: below a unit", 1023, "1,023 B"},
    {"bytes: a whole unit", 1024, "1 KiB"},
    {"bytes: four digits after the point are three", 1025, "1.001 KiB"},
    {"bytes: a trailing zero is cut", 1536, "1.5 KiB"},
    {"bytes: zero within stays", 1126, "1.1 KiB"},
    {"bytes: two digits before the point", 12345, "12.06 KiB"},
    {"bytes: three digits before the point", 123456, "120.6 KiB"},
    {"bytes: four digits before the point", 1023 * 1024, "1,023 KiB"},
    {"bytes: four digits, rounded down", 1023 * 1024 + 511, "1,023 KiB"},
    {"bytes: rounds into the next unit", 1023 * 1024 + 512, "1 MiB"},
    {"bytes: just below a unit", 1024 * 1024 - 1, "1 MiB"},
    {"bytes: a design figure", 21743232, "20.74 MiB"},
    {"bytes: a negative figure", -85553152, "-81.59 MiB"},
    {"bytes: whole negative", -94371840, "-90 MiB"},
    {"bytes: carries through the point", 10485759, "10 MiB"},
    {"bytes: the fourth digit is rounded", (INT64_C(1) << 30) + (1 << 29) / 1000 + 1, "1.001 GiB"},
    {"bytes: TiB", INT64_C(3) << 40, "3 TiB"},
    {"bytes: PiB", INT64_C(5) << 49, "2.5 PiB"},
    {"bytes: largest", INT64_MAX, "8 EiB"},
    {"bytes: smallest", INT64_MIN, "-8 EiB"},
};

static const struct figure_row ns_rows[] = {
    {"ns: zero", 0, "0 ns"},
    {"ns: 640", 640, "640 ns"},
    {"ns: 999", 999, "999 ns"},
    {"ns: microseconds", 2233, "2.233 us"},
    {"ns: milliseconds", 165700000, "165.7 ms"},
    {"ns: rounds into the next unit", 999950, "1 ms"},
    {"ns: stays below the next unit", 999949, "999.9 us"},
    {"ns: seconds", INT64_C(12345678901), "12.35 s"},
    {"ns: hours stay seconds", INT64_C(36000) * 1000000000, "36,000 s"},
    {"ns: negative", -1500, "-1.5 us"},
    {"ns: largest", INT64_MAX, "9,223,372,037 s"},
    {"ns: smallest", INT64_MIN, "-9,223,372,037 s"},
};

static const struct figure_row count_rows[] = {
    {"count: zero", 0, "0"},
    {"count: 999", 999, "999"},
    {"count: 1204", 1204, "1,204"},
    {"count: -1204", -1204, "-1,204"},
    {"count: -100", -100, "-100"},
    {"count: 1000000", 1000000, "1,000,000"},
    {"count: largest", INT64_MAX, "9,223,372,036,854,775,807"},
    {"count: smallest", INT64_MIN, "-9,223,372,036,854,775,808"},
};

static void test_bytes(void **state)
{
    const struct figure_row *row = *state;
    char out[MT_HUMAN_MAX];
    assert_string_equal(mt_human_bytes(row->value, out), row->expected);
}

static void test_ns(void **state)
{
    const struct figure_row *row = *state;
    char out[MT_HUMAN_MAX];
    assert_string_equal(mt_human_ns(row->value, out), row->expected);
}

struct number_row {
    const char *name;
    double value;
    const char *expected;
};

static const struct number_row number_rows[] = {
    {"number: zero", 0, "0"},
    {"number: minus zero", -0.0, "0"},
    {"number: whole", 7, "7"},
    {"number: 10,000 and more", 12345, "12,345"},
    {"number: a million less one", 999999, "999,999"},
    {"number: negative", -12345.25, "-12,345"},
    {"number: a half", 2.5, "2.5"},
    {"number: a third", 1.0 / 3, "0.3333"},
    {"number: a hundredth", 0.01, "0.01"},
    {"number: 4 digits", 12.3456, "12.35"},
    {"number: 4 digits of a fraction", 0.00123456, "0.001235"},
    {"number: above 1000", 1234.5678, "1,235"},
    {"number: rounded up to 1000", 999.96, "1,000"},
    {"number: tiny", 1e-8, "1e-08"},
    {"number: beyond all counts", 1e300, "1e+300"},
    {"number: none", NAN, "nan"},
};

static void test_number(void **state)
{
    const struct number_row *row = *state;
    char out[MT_HUMAN_MAX];
    assert_string_equal(mt_human_number(row->value, out), row->expected);
}

struct decimal_row {
    const char *name;
    double value;
    int decimals;
    const char *expected;
};

static const struct decimal_row decimal_rows[] = {
    {"decimal: groups", 35419.34, 1, "35,419.3"},
    {"decimal: rounded", -1999.96, 1, "-2,000.0"},
    {"decimal: no minus zero", -0.04, 1, "0.0"},
    {"decimal: none", 999999.5, 0, "1,000,000"},
};

static void test_decimal(void **state)
{
    const struct decimal_row *row = *state;
    char out[MT_HUMAN_MAX];
    assert_string_equal(mt_human_decimal(row->value, row->decimals, out), row->expected);
}

static void test_count(void **state)
{
    const struct figure_row *row = *state;
    char out[MT_HUMAN_MAX];
    assert_string_equal(mt_human_count(row->value, out), row->expected);
}

static const struct figure_row exact_rows[] = {
    {"exact bytes", 1048577, "1,048,577 B|1,048,577 B|1,048,577 ns"},
    {"exact bytes: negative", -2048, "-2,048 B|-2,048 B|-2,048 ns"},
    {"exact bytes: smallest", INT64_MIN,
     "-9,223,372,036,854,775,808 B|-9,223,372,036,854,775,808 B|-9,223,372,036,854,775,808 ns"},
};

/* As bytes, as bytes in both forms, as a time. */
static void test_exact(void **state)
{
    const struct figure_row *row = *state;
    char bytes[MT_HUMAN_MAX], both[MT_HUMAN_LONG], ns[MT_HUMAN_MAX], all[200];
    mt_human_exactly(true);
    snprintf(all, sizeof all, "%s|%s|%s", mt_human_bytes(row->value, bytes),
             mt_human_with_exact(row->value, both), mt_human_ns(row->value, ns));
    mt_human_exactly(false);
    assert_string_equal(all, row->expected);
}

static const struct figure_row both_rows[] = {
    {"both: below a unit it is said once", 1023, "1,023 B"},
    {"both: from a unit on", 1025, "1.001 KiB (1,025 B)"},
    {"both: negative", -1025, "-1.001 KiB (-1,025 B)"},
    {"both: smallest", INT64_MIN, "-8 EiB (-9,223,372,036,854,775,808 B)"},
};

static void test_both(void **state)
{
    const struct figure_row *row = *state;
    char out[MT_HUMAN_LONG];
    assert_string_equal(mt_human_with_exact(row->value, out), row->expected);
}

static const struct figure_row thing_rows[] = {
    {"things: none", 0, "0 steps"},
    {"things: one", 1, "1 step"},
    {"things: many", 1010, "1,010 steps"},
    {"things: smallest", INT64_MIN, "-9,223,372,036,854,775,808 steps"},
};

static void test_things(void **state)
{
    const struct figure_row *row = *state;
    char out[MT_HUMAN_LONG];
    assert_string_equal(mt_human_plural(row->value, "step", out), row->expected);
    assert_string_equal(mt_human_plural(2, "process", out), "2 processes");
}

#define REFUSED INT64_C(-424242)

struct parse_row {
    const char *name;
    const char *text;
    int64_t expected;
};

static const struct parse_row size_rows[] = {
    {"size: bare", "512", 512},
    {"size: B", "512B", 512},
    {"size: KiB", "64KiB", 65536},
    {"size: Ki", "64Ki", 65536},
    {"size: k is binary", "10k", 10240},
    {"size: K is binary", "10K", 10240},
    {"size: kB is decimal", "10kB", 10000},
    {"size: GB is decimal", "2GB", 2000000000},
    {"size: M is binary", "3M", 3 << 20},
    {"size: a fraction", "1.5GiB", INT64_C(3) << 29},
    {"size: a fraction without a whole", ".5KiB", 512},
    {"size: a fraction is rounded", "0.3KiB", 307},
    {"size: nineteen decimals", "0.4999999999999999999KiB", 512},
    {"size: as memtool writes it", "1.5 GiB", INT64_C(3) << 29},
    {"size: any case", "1mib", 1 << 20},
    {"size: plus", "+5", 5},
    {"size: minus", "-5MiB", -(5 << 20)},
    {"size: largest", "9223372036854775807", INT64_MAX},
    {"size: smallest", "-8EiB", INT64_MIN},
    {"size: one too large", "9223372036854775808", REFUSED},
    {"size: one too small", "-9223372036854775809", REFUSED},
    {"size: too many digits", "99999999999999999999999", REFUSED},
    {"size: too large with its unit", "8EiB", REFUSED},
    {"size: nothing", "", REFUSED},
    {"size: a unit only", "KiB", REFUSED},
    {"size: a sign only", "-", REFUSED},
    {"size: two signs", "--5", REFUSED},
    {"size: part of a byte", "1.5", REFUSED},
    {"size: no decimals", "1.KiB", REFUSED},
    {"size: a point only", ".", REFUSED},
    {"size: unknown unit", "5 apples", REFUSED},
    {"size: half a unit", "5KiBs", REFUSED},
    {"size: space before", " 5", REFUSED},
    {"size: space after", "5 ", REFUSED},
    {"size: hexadecimal", "0x10", REFUSED},
    {"size: exponent", "1e6", REFUSED},
};

static const struct parse_row time_rows[] = {
    {"time: bare is ns", "40", 40},
    {"time: ns", "40ns", 40},
    {"time: us", "300us", 300000},
    {"time: micro sign", "300\u00b5s", 300000},
    {"time: Greek mu", "300\u03bcs", 300000},
    {"time: ms", "12ms", 12000000},
    {"time: a fraction", "1.5s", 1500000000},
    {"time: minutes", "2min", INT64_C(120000000000)},
    {"time: hours", "1.5h", INT64_C(5400000000000)},
    {"time: as memtool writes it", "165.7 ms", 165700000},
    {"time: part of a ns", "1.5ns", REFUSED},
    {"time: minutes are not known", "3m", REFUSED},
    {"time: too long", "9223372037s", REFUSED},
    {"time: nothing", "", REFUSED},
};

static void check_parse(const struct parse_row *row, bool (*parse)(const char *, int64_t *))
{
    int64_t got = REFUSED;
    bool ok = parse(row->text, &got);
    assert_int_equal(ok, row->expected != REFUSED);
    assert_true(got == row->expected);
}

static void test_size(void **state)
{
    check_parse(*state, mt_parse_size);
}

static bool parse_time(const char *text, int64_t *ns)
{
    return mt_parse_time("ns", text, ns);
}

static void test_time(void **state)
{
    check_parse(*state, parse_time);
}

struct text_row {
    const char *name;
    const char *text;
    const char *expected;
    int width; /* of what is expected */
};

static const struct text_row escape_rows[] = {
    {"escape: nothing", "", "", 0},
    {"escape: plain", "aten::empty", "aten::empty", 11},
    {"escape: newline and tab", "a\nb\tc", "a\\nb\\tc", 7},
    {"escape: escape sequence", "\033[31mred", "\\x1b[31mred", 11},
    {"escape: DEL", "a\177", "a\\x7f", 5},
    {"escape: C1 as UTF-8", "\302\233", "\\xc2\\x9b", 8},
    {"escape: C1 as a byte", "\233", "\\x9b", 4},
    {"escape: right-to-left override", "\u202ex", "\\xe2\\x80\\xaex", 13},
    {"escape: isolate", "\u2066", "\\xe2\\x81\\xa6", 12},
    {"escape: line separator", "\u2028", "\\xe2\\x80\\xa8", 12},
    {"escape: letters of any language stay", "Größe \u4e2d\u6587", "Größe \u4e2d\u6587", 10},
    {"escape: combining mark stays", "e\u0301", "e\u0301", 1},
    {"escape: four bytes", "\U0001f525", "\U0001f525", 2},
    {"escape: overlong", "\xc0\xaf", "\\xc0\\xaf", 8},
    {"escape: surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80", 12},
    {"escape: above Unicode", "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", 16},
    {"escape: cut off", "x\xe2\x80", "x\\xe2\\x80", 9},
    {"escape: cut off, then a letter", "\xe2\x80y", "\\xe2\\x80y", 9},
};

static void test_escape(void **state)
{
    const struct text_row *row = *state;
    struct mt_buf out = {0};
    mt_escape_terminal(&out, row->text);
    assert_string_equal(out.s, row->expected);
    assert_int_equal(mt_display_width(out.s), row->width);
    mt_buf_free(&out);
}

static const struct name_row {
    const char *name, *text, *in_short, *as_op;
} name_rows[] = {
    {"names: an op", "aten::mm", "aten::mm", "aten::mm"},
    {"names: of the engine", "autograd::engine::evaluate_function: MmBackward0", "MmBackward0",
     "MmBackward0 (engine)"},
    {"names: in a sentence",
     "in aten::mm of autograd::engine::evaluate_function: A, or of "
     "autograd::engine::evaluate_function: B",
     "in aten::mm of A, or of B", "in aten::mm of A, or of B"},
    {"names: escaped too", "autograd::engine::evaluate_function: \033[m", "\\x1b[m",
     "\\x1b[m (engine)"},
    {"names: put together by what is taken out",
     "autograd::engine::autograd::engine::evaluate_function: evaluate_function: A",
     "autograd::engine::evaluate_function: A", "autograd::engine::evaluate_function: A"},
};

static void test_names(void **state)
{
    const struct name_row *row = *state;
    struct mt_buf out = {0};
    mt_escape_short(&out, row->text);
    assert_string_equal(out.s, row->in_short);
    mt_buf_clear(&out);
    mt_escape_op(&out, row->text);
    assert_string_equal(out.s, row->as_op);
    mt_buf_free(&out);
}

struct cut_row {
    const char *name;
    const char *text;
    int width;
    bool ascii;
    const char *expected;
};

static const struct cut_row cut_rows[] = {
    {"cut: fits", "aten::mm", 8, false, "aten::mm"},
    {"cut: the example", "autograd::engine::evaluate_function: ConvolutionBackward0", 39, false,
     "autograd::engine::…ConvolutionBackward0"},
    {"cut: ascii", "autograd::engine::evaluate_function: ConvolutionBackward0", 39, true,
     "autograd::engine:...onvolutionBackward0"},
    {"cut: narrowest", "0123456789", 8, false, "01…56789"},
    {"cut: narrowest in ascii", "0123456789", 8, true, "0...6789"},
    {"cut: by one", "0123456789", 9, false, "012…56789"},
    {"cut: wide letters are not split", "\u4e00\u4e01\u4e02\u4e03\u4e04\u4e05", 8, false,
     "\u4e00…\u4e04\u4e05"},
    {"cut: marks stay with their letter", "ae\u0301bcdefghe\u0301", 8, false,
     "ae\u0301…efghe\u0301"},
    {"cut: the number of a line stays", "transformer_blocks.py:84 forward_pass", 22, false,
     "trans…:84 forward_pass"},
    {"cut: behind the number of a line", "model.py:84 forward_pass_of_the_model", 20, false,
     "model.py:84…he_model"},
    {"cut: around the number of a line", "transformer.py:84 forward_pass_of_it", 16, false,
     "trans…:84…_of_it"},
    {"cut: in ascii", "transformer_blocks.py:84 forward", 16, true, "tr...:84 forward"},
    {"cut: in brackets", "transformer_blocks.py(84): forward", 16, false, "tr…(84): forward"},
    {"cut: a number without room", "transformer_blocks.py:123456 forward", 8, false, "tr…rward"},
    {"cut: no number of a line", "autograd::1ab::engine_of_it", 12, false, "auto…e_of_it"},
    {"cut: a mark at the cut is not left alone", "abcde\u0301fghij", 8, false, "ab…fghij"},
};

static void test_cut(void **state)
{
    const struct cut_row *row = *state;
    struct mt_buf out = {0};
    mt_cut_middle(&out, row->text, row->width, row->ascii);
    assert_string_equal(out.s, row->expected);
    assert_true(mt_display_width(out.s) <= row->width);
    mt_buf_free(&out);
}

struct wrap_row {
    const char *name, *text;
    int width, indent;
    const char *expected;
};

static const struct wrap_row wrap_rows[] = {
    {"wrap: fits", "a line", 6, 0, "a line"},
    {"wrap: at a blank", "a line", 5, 0, "a\nline"},
    {"wrap: no width, no wrapping", "a line of words", 0, 0, "a line of words"},
    {"wrap: a long word stays whole", "an extraordinary word", 8, 0, "an\nextraordinary\nword"},
    {"wrap: indented", "one two three", 9, 2, "one two\n  three"},
    {"wrap: a figure keeps its unit", "it is 12 KiB", 8, 0, "it is\n12 KiB"},
    {"wrap: also with a comma", "it is 12 KiB, or", 8, 0, "it is\n12 KiB,\nor"},
    {"wrap: a number of things may part", "it is 12 runs", 8, 0, "it is 12\nruns"},
    {"wrap: no dot begins a line", "ab cd \u00b7 ef", 6, 0, "ab\ncd \u00b7\nef"},
    {"wrap: blanks within a line stay", "a  b   c", 4, 0, "a  b\nc"},
    {"wrap: wide letters take two columns", "\u4e00\u4e01 \u4e02", 6, 0, "\u4e00\u4e01\n\u4e02"},
    {"wrap: nothing", "", 5, 0, ""},
};

static void test_wrap(void **state)
{
    const struct wrap_row *row = *state;
    struct mt_buf out = {0};
    mt_wrap_words(&out, row->text, row->width, row->indent);
    assert_string_equal(out.s, row->expected);
    mt_buf_free(&out);
}

struct distance_row {
    const char *name;
    const char *a, *b;
    int expected;
};

static const struct distance_row distance_rows[] = {
    {"distance: equal", "table", "table", 0},
    {"distance: both empty", "", "", 0},
    {"distance: one empty", "", "abc", 3},
    {"distance: insert", "tble", "table", 1},
    {"distance: delete", "tabble", "table", 1},
    {"distance: substitute", "tible", "table", 1},
    {"distance: swap", "tabel", "table", 1},
    {"distance: swap at the start", "atble", "table", 1},
    {"distance: several", "kitten", "sitting", 3},
    {"distance: nothing alike", "abc", "xyz", 3},
};

static void test_distance(void **state)
{
    const struct distance_row *row = *state;
    assert_int_equal(mt_edit_distance(row->a, row->b), row->expected);
    assert_int_equal(mt_edit_distance(row->b, row->a), row->expected);
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    static struct row_tests t;
    ROWS_ADD(&t, test_bytes, bytes_rows);
    ROWS_ADD(&t, test_ns, ns_rows);
    ROWS_ADD(&t, test_count, count_rows);
    ROWS_ADD(&t, test_number, number_rows);
    ROWS_ADD(&t, test_decimal, decimal_rows);
    ROWS_ADD(&t, test_exact, exact_rows);
    ROWS_ADD(&t, test_both, both_rows);
    ROWS_ADD(&t, test_things, thing_rows);
    ROWS_ADD(&t, test_size, size_rows);
    ROWS_ADD(&t, test_time, time_rows);
    ROWS_ADD(&t, test_escape, escape_rows);
    ROWS_ADD(&t, test_names, name_rows);
    ROWS_ADD(&t, test_cut, cut_rows);
    ROWS_ADD(&t, test_wrap, wrap_rows);
    ROWS_ADD(&t, test_distance, distance_rows);
    return ROWS_RUN(&t, "human");
}
