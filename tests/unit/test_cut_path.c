/* lib/render/cut_path.h: what of a call path stays where there is no room for all. */
#include "lib/render/cut_path.h"

#include "lib/base/human.h"
#include "tests/unit/rows.h"

#define PATH                                                                                       \
    "run.py(9): <module> > torch/nn/module.py(7): _call > net.py(5): forward > "                   \
    "torch/nn/linear.py(3): forward > aten::linear > aten::empty"

static const struct row {
    const char *name, *path;
    int width;
    bool ascii;
    const char *expected;
} rows[] = {
    {"fits", "a > b > c", 9, false, "a > b > c"},
    {"by little: outer names of others go first", PATH, 110, false,
     "run.py(9): <module> > … > net.py(5): forward > torch/nn/linear.py(3): forward > aten::linear "
     "> aten::empty"},
    {"functions of the user's and the last op", PATH, 68, false,
     "run.py(9): <module> > … > net.py(5): forward > … > aten::empty"},
    {"the innermost function of the user's", PATH, 50, false,
     "… > net.py(5): forward > … > aten::empty"},
    {"in ascii", PATH, 50, true, "... > net.py(5): forward > ... > aten::empty"},
    {"no room for the mark in front", PATH, 36, false, "net.py(5): forward > … > aten::empty"},
    {"no room for both: each is cut", PATH, 24, false, "net.py(5):…> aten::empty"},
    {"without any of the user's: inner names", "aten::a > aten::b > aten::c > aten::d", 23, false,
     "… > aten::c > aten::d"},
    {"one name", "aten::convolution_backward", 12, false, "aten…ackward"},
    {"wide letters", "\u4e00.py(1): \u4e01 > aten::b > aten::c", 26, false,
     "\u4e00.py(1): \u4e01 > … > aten::c"},
};

static void test_cut(void **state)
{
    const struct row *row = *state;
    struct mt_buf out = {0};
    mt_cut_path(&out, row->path, row->width, row->ascii);
    assert_string_equal(out.s, row->expected);
    assert_true(mt_display_width(out.s) <= row->width);
    mt_buf_free(&out);
}

int main(void)
{
    struct row_tests tests = {0};
    ROWS_ADD(&tests, test_cut, rows);
    return ROWS_RUN(&tests, "cut paths");
}
