/* lib/model/list_text.h: what is written is read, and what cannot have been written is none. */
#include "lib/model/list_text.h"
#include "tests/unit/rows.h"

enum { CHANGES = 4 };

static const struct row {
    const char *name, *text;
    int64_t size;
    size_t n;
    struct mt_held_change changes[CHANGES];
    bool damaged; /* nobody writes it */
} rows[] = {
    {"one", "[0,5,1]", 0, 1, {{0, 5, 1}}, false},
    {"several",
     "[2,4096,1,1,-4096,-1,508,0,7]",
     0,
     3,
     {{2, 4096, 1}, {3, -4096, -1}, {511, 0, 7}},
     false},
    {"moments that leave 64 bits",
     "[9223372036854775807,5,1,1,5,1]",
     0,
     2,
     {{INT64_MAX, 5, 1}, {INT64_MIN, 5, 1}},
     true},
    {"of one size", "[2,1,1,-10]", 4096, 2, {{2, 4096, 1}, {3, -40960, -10}}, false},
    {"the largest and smallest numbers",
     "[9223372036854775807,-9223372036854775807,null]",
     0,
     1,
     {{INT64_MAX, INT64_MIN + 1, INT64_MIN}},
     false},
    {"one number of two", "[2,1,3]", 8, 1, {{2, 8, 1}}, true},
    {"less than null", "[1,nul,3]", 0, 0, {{0, 0, 0}}, true},
    {"more than null", "[1,null3,3]", 0, 0, {{0, 0, 0}}, true},
    {"nothing", "", 0, 0, {{0, 0, 0}}, true},
    {"an empty list", "[]", 0, 0, {{0, 0, 0}}, true},
    {"two numbers", "[1,2]", 0, 0, {{0, 0, 0}}, true},
    {"the end is missing", "[1,2,3,4,5,6", 0, 1, {{1, 2, 3}}, true},
    {"a number is too long", "[1,2,3,4,55555555555555555555,6]", 0, 1, {{1, 2, 3}}, true},
    {"a sign alone", "[1,-,3]", 0, 0, {{0, 0, 0}}, true},
    {"blanks", "[1, 2, 3]", 0, 0, {{0, 0, 0}}, true},
    {"text", "[\"1\",2,3]", 0, 0, {{0, 0, 0}}, true},
};

static void reads(void **state)
{
    const struct row *row = *state;
    const char *at = row->text;
    struct mt_held_change c = {0};
    for (size_t i = 0; i < row->n; i++) {
        assert_true(mt_held_text_next(&at, row->size, &c));
        assert_int_equal(c.moment, row->changes[i].moment);
        assert_int_equal(c.bytes, row->changes[i].bytes);
        assert_int_equal(c.blocks, row->changes[i].blocks);
    }
    assert_false(mt_held_text_next(&at, row->size, &c));
}

static void writes(void **state)
{
    const struct row *row = *state;
    struct mt_buf text = {0};
    if (row->damaged)
        return;
    for (size_t i = 0; i < row->n; i++)
        mt_held_text_add(&text, row->size, &row->changes[i], i ? row->changes[i - 1].moment : 0);
    mt_list_text_end(&text);
    assert_string_equal(text.s, row->text);
    mt_buf_free(&text);
}

int main(void)
{
    static struct row_tests tests;
    ROWS_ADD(&tests, reads, rows);
    ROWS_ADD(&tests, writes, rows);
    return ROWS_RUN(&tests, "changes of what paths hold");
}
