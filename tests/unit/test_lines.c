/* lib/input/lines.h and fields.h: lines of a text, and what stands in them. */
#include "lib/base/mem.h"
#include "lib/input/fields.h"
#include "lib/input/lines.h"
#include "tests/unit/rows.h"

#include <stdio.h>

struct text {
    const char *name, *text;
    const char *want; /* lines between '|', a cut one with a '~' behind it */
};

static const struct text texts[] = {
    {"nothing", "", ""},
    {"one line", "abc\n", "abc|"},
    {"two", "abc\nd\n", "abc|d|"},
    {"empty ones", "\n\nx\n\n", "||x||"},
    {"of another system", "a\r\n\r\nb\rc\r\n", "a||b\rc|"},
    {"without an end", "abc\ndef", "abc|def~"},
    {"with half an end", "abc\ndef\r", "abc|def\r~"},
};

static void lines_of(struct mt_buf *out, const char *text, size_t n)
{
    struct mt_stream *in;
    struct mt_err err = MT_ERR_INIT;
    struct mt_line line;
    bool any;
    assert_int_equal(mt_stream_open_memory(text, n, &in, &err), MT_OK);
    struct mt_lines l = {.in = in};
    for (;;) {
        assert_int_equal(mt_lines_next(&l, &line, &any, &err), MT_OK);
        if (!any)
            break;
        assert_true(line.offset + line.n <= n);
        assert_memory_equal(text + line.offset, line.s, line.n);
        mt_buf_add(out, line.s, line.n);
        mt_buf_addc(out, line.cut ? '~' : '|');
    }
    mt_stream_close(in);
}

static void split(void **state)
{
    const struct text *row = *state;
    struct mt_buf out = {0};
    lines_of(&out, row->text, strlen(row->text));
    assert_string_equal(out.s ? out.s : "", row->want);
    mt_buf_free(&out);
}

/* Lines that lie across the ends of windows, and one much longer than these. */
static void long_lines(void **state)
{
    enum { LINES = 60000, LONG = 3000000 };
    struct mt_buf text = {0}, out = {0};
    (void)state;
    for (int i = 0; i < LINES; i++)
        mt_buf_addf(&text, "%d:%.*s\n", i, i % 41, "........................................");
    for (int i = 0; i < LONG; i++)
        mt_buf_addc(&text, 'x');
    mt_buf_adds(&text, "\nlast\n");
    lines_of(&out, text.s, text.n);
    for (size_t i = 0; i < text.n; i++)
        text.s[i] = text.s[i] == '\n' ? '|' : text.s[i];
    assert_int_equal(out.n, text.n);
    assert_memory_equal(out.s, text.s, out.n);
    mt_buf_free(&text);
    mt_buf_free(&out);
}

static void too_long(void **state)
{
    struct mt_buf text = {0};
    struct mt_stream *in;
    struct mt_err err = MT_ERR_INIT;
    struct mt_line line;
    bool any;
    (void)state;
    mt_buf_adds(&text, "a\n");
    while (text.n < MT_LINE_MAX + 100000u)
        mt_buf_adds(&text, "................................................................");
    assert_int_equal(mt_stream_open_memory(text.s, text.n, &in, &err), MT_OK);
    struct mt_lines l = {.in = in};
    assert_int_equal(mt_lines_next(&l, &line, &any, &err), MT_OK);
    assert_int_equal(mt_lines_next(&l, &line, &any, &err), MT_EINPUT);
    assert_int_equal(err.offset, 2);
    mt_stream_close(in);
    mt_buf_free(&text);
}

/* ---- fields ---- */

struct field {
    const char *name, *text;
    char kind; /* h hex, a address, d decimal, t thousands, 3 fraction of 3 digits, w word, r rest,
                  : until ':' */
    bool there;
    int64_t v;
    const char *s, *left;
};

static const struct field fields[] = {
    {"hex", "1f 2", 'h', true, 0x1f, NULL, " 2"},
    {"hex of capitals", "  AbC", 'h', true, 0xabc, NULL, ""},
    {"hex up to another byte", "12g", 'h', true, 0x12, NULL, "g"},
    {"no hex", "g", 'h', false, 0, NULL, "g"},
    {"no field", "", 'h', false, 0, NULL, ""},
    {"blanks alone", "  ", 'h', false, 0, NULL, "  "},
    {"the largest hex", "ffffffffffffffff", 'h', true, -1, NULL, ""},
    {"too large a hex", "10000000000000000", 'h', false, 0, NULL, "10000000000000000"},
    {"address", "0x10 x", 'a', true, 16, NULL, " x"},
    {"null", "(nil) x", 'a', true, 0, NULL, " x"},
    {"no address", "10", 'a', false, 0, NULL, "10"},
    {"half an address", "0x 10", 'a', false, 0, NULL, "0x 10"},
    {"decimal", "12 x", 'd', true, 12, NULL, " x"},
    {"with a sign", "-12", 'd', true, -12, NULL, ""},
    {"a sign alone", "-", 'd', false, 0, NULL, "-"},
    {"the least", "-9223372036854775808", 'd', true, INT64_MIN, NULL, ""},
    {"one less", "-9223372036854775809", 'd', false, 0, NULL, "-9223372036854775809"},
    {"the most", "9223372036854775807", 'd', true, INT64_MAX, NULL, ""},
    {"one more", "9223372036854775808", 'd', false, 0, NULL, "9223372036854775808"},
    {"thousands", "1,234,567 x", 't', true, 1234567, NULL, " x"},
    {"a comma behind", "1,234, 5", 't', true, 1234, NULL, ", 5"},
    {"decimal before a comma", "1,234", 'd', true, 1, NULL, ",234"},
    {"fraction", "1.5", '3', true, 1500, NULL, ""},
    {"of too many digits", "-0.12399x", '3', true, 0 - 123, NULL, "x"},
    {"whole", "7", '3', true, 7000, NULL, ""},
    {"with a point alone", "7. x", '3', true, 7000, NULL, " x"},
    {"too large", "9223372036854775.9", '3', false, 0, NULL, "9223372036854775.9"},
    {"word", " ab c", 'w', true, 0, "ab", " c"},
    {"no word", "  ", 'w', false, 0, NULL, ""},
    {"rest", "  a b  ", 'r', true, 0, "a b", ""},
    {"no rest", "  ", 'r', true, 0, "", ""},
    {"until", " a b: c", ':', true, 0, "a b", " c"},
    {"until none", "a b", ':', false, 0, NULL, "a b"},
    {"until at once", ":c", ':', true, 0, "", "c"},
};

static bool take(struct mt_fields *f, char kind, int64_t *v, const char **s, size_t *n)
{
    switch (kind) {
    case 'h':
        return mt_field_hex(f, (uint64_t *)v);
    case 'a':
        return mt_field_address(f, (uint64_t *)v);
    case 'd':
        return mt_field_decimal(f, v);
    case 't':
        return mt_field_thousands(f, v);
    case '3':
        return mt_field_fraction(f, 3, v);
    case 'w':
        return mt_field_word(f, s, n);
    case ':':
        return mt_field_until(f, ':', s, n);
    default:
        mt_field_rest(f, s, n);
        return true;
    }
}

/* The text stands alone in memory of its size: what is read behind it is found. */
static void field(void **state)
{
    const struct field *row = *state;
    size_t size = strlen(row->text), n = 0;
    char *text = malloc(size + !size);
    int64_t v = 0;
    const char *s = "";
    memcpy(text, row->text, size);
    struct mt_fields f = mt_fields_of(text, size);
    assert_int_equal(take(&f, row->kind, &v, &s, &n), row->there);
    if (row->there && row->s) {
        assert_int_equal(n, strlen(row->s));
        assert_memory_equal(s, row->s, n);
    } else if (row->there) {
        assert_int_equal(v, row->v);
    }
    if (row->there || row->kind != 'w') {
        assert_int_equal(f.end - f.p, strlen(row->left));
        assert_memory_equal(f.p, row->left, strlen(row->left));
    }
    free(text);
}

/* Every byte at every place among digits, read at once and one by one. */
static void eight_digits(void **state)
{
    static const char digits[] = "0123456789abcdefABCDEF90";
    (void)state;
    for (int c = 0; c < 256; c++)
        for (unsigned place = 0; place < 8; place++)
            for (unsigned first = 0; first + 8 < sizeof digits; first++) {
                char text[8];
                uint32_t got, want = 0;
                unsigned n = 0;
                memcpy(text, digits + first, sizeof text);
                text[place] = (char)c;
                for (; n < sizeof text && mt_hex_digit(text[n]) < 16; n++)
                    want = want << 4 | mt_hex_digit(text[n]);
                assert_int_equal(mt_hex_eight(text, &got), n);
                assert_int_equal(got, want);
            }
}

int main(void)
{
    static struct row_tests tests;
    static const struct {
        const char *name;
    } alone[] = {{"long lines"}, {"too long a line"}, {"eight hex digits"}};
    ROWS_ADD(&tests, split, texts);
    rows_add(&tests, long_lines, &alone[0], 1, sizeof alone[0]);
    rows_add(&tests, too_long, &alone[1], 1, sizeof alone[1]);
    ROWS_ADD(&tests, field, fields);
    rows_add(&tests, eight_digits, &alone[2], 1, sizeof alone[2]);
    return ROWS_RUN(&tests, "lines");
}
