/* lib/model/label_text.c: what is added to a text of labels comes out of it again. */
#include "lib/model/label_text.h"
#include "tests/unit/rows.h"

static const struct row {
    const char *name, *label[6], *text; /* key, value, key, value, .. */
} rows[] = {
    {"none", {0}, ""},
    {"one", {"tenant", "a"}, "tenant=a"},
    {"two", {"handler", "/x?a=1", "tenant", "b"}, "handler=/x?a=1, tenant=b"},
    {"empty value", {"a", "", "b", "c"}, "a=, b=c"},
    {"comma and space", {"a", "x, b=y", "b", "z"}, "a=x\\, b=y, b=z"},
    {"commas", {"a", "1,2,", "b,", ","}, "a=1,2,, b,=,"},
    {"equal in the key", {"a=b", "c"}, "a\\=b=c"},
    {"folders", {"a", "C:\\x\\y"}, "a=C:\\x\\y"},
    {"backslash last", {"a", "\\", "b\\", "\\\\"}, "a=\\\\, b\\\\=\\\\\\\\"},
    {"backslash before", {"a", "\\, \\=", "b", "\\,"}, "a=\\\\\\, \\\\=, b=\\\\,"},
};

static void test_label_text(void **state)
{
    const struct row *r = *state;
    struct mt_buf text = {0}, key = {0}, value = {0};
    mt_buf_adds(&text, "");
    for (int i = 0; i < 6 && r->label[i]; i += 2)
        mt_label_add(&text, r->label[i], r->label[i + 1]);
    assert_string_equal(text.s, r->text);
    const char *at = text.s;
    for (int i = 0; i < 6 && r->label[i]; i += 2) {
        assert_true(mt_label_next(&at, &key, &value));
        assert_string_equal(key.s, r->label[i]);
        assert_string_equal(value.s, r->label[i + 1]);
    }
    assert_false(mt_label_next(&at, &key, &value));
    mt_buf_free(&text);
    mt_buf_free(&key);
    mt_buf_free(&value);
}

int main(void)
{
    struct row_tests t = {0};
    ROWS_ADD(&t, test_label_text, rows);
    return ROWS_RUN(&t, "label_text");
}
