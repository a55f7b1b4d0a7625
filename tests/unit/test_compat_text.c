#include "rows.h"

#include "lib/compat/compat_torch.h"

#include <string.h>

static const char *const versions[] = {"2.6", "2.11"};

static char *print(const struct mt_torch_row *rows, size_t n, const char *version,
                   const struct mt_torch_text *how)
{
    struct mt_torch_table t = {0};
    struct mt_buf out = {0};
    for (size_t i = 0; i < n; i++)
        *mt_vec_push(&t.rows) = rows[i];
    mt_torch_print(&t, mt_torch_rule_by_version(version), how, &out);
    mt_torch_table_free(&t);
    return out.s;
}

static const struct mt_torch_row table_rows[] = {
    {.name = "aten::add",
     .input_shapes = "[[32, 3], []]",
     .count = 2,
     .cpu_time_total_us = 12.5,
     .self_cpu_time_total_us = 10.25,
     .cpu_memory_usage = 4096,
     .self_cpu_memory_usage = -1,
     .device_memory_usage = 512,
     .self_device_memory_usage = 512},
    {.name = "[memory]",
     .input_shapes = "[]",
     .count = 1,
     .cpu_memory_usage = -2097152,
     .self_cpu_memory_usage = -2097152,
     .device_memory_usage = -512,
     .self_device_memory_usage = -512},
};

struct table_row {
    const char *name;
    struct mt_torch_text how;
    const char *expected;
};

#define TIMES_RULE                                                                                 \
    "-------------  ------------  ------------  ------------  ------------  ------------"

static const struct table_row tables[] = {
    {"memory and calls",
     {.row_limit = -1, .profile_memory = true},
     TIMES_RULE
     "  ------------  ------------  ------------  \n"
     "         Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg"
     "       CPU Mem  Self CPU Mem    # of Calls  \n" TIMES_RULE
     "  ------------  ------------  ------------  \n"
     "    aten::add       100.00%      10.250us       121.95%      12.500us       6.250us"
     "       4.00 KB          -1 B             2  \n"
     "     [memory]         0.00%       0.000us         0.00%       0.000us       0.000us"
     "      -2.00 MB      -2.00 MB             1  \n" TIMES_RULE
     "  ------------  ------------  ------------  \n"
     "Self CPU time total: 10.250us\n"},
    {"a limit, no memory",
     {.row_limit = 1},
     TIMES_RULE
     "  ------------  \n"
     "         Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg"
     "    # of Calls  \n" TIMES_RULE "  ------------  \n"
     "    aten::add       100.00%      10.250us       121.95%      12.500us       6.250us"
     "             2  \n" TIMES_RULE "  ------------  \n"
     "Self CPU time total: 10.250us\n"},
    {"a device, shapes, no rows",
     {.row_limit = 0, .profile_memory = true, .by_shape = true, .device = "CUDA"},
     TIMES_RULE
     "  ------------  ------------  ------------  ------------  ------------"
     "  -----------------  \n"
     "         Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg"
     "       CPU Mem  Self CPU Mem      CUDA Mem  Self CUDA Mem    # of Calls"
     "       Input Shapes  \n" TIMES_RULE
     "  ------------  ------------  ------------  ------------  ------------"
     "  -----------------  \n" TIMES_RULE
     "  ------------  ------------  ------------  ------------  ------------"
     "  -----------------  \n"
     "Self CPU time total: 10.250us\n"},
};

static void test_table(void **state)
{
    const struct table_row *row = *state;
    char *text = print(table_rows, MT_ARRAY_LEN(table_rows), "2.11", &row->how);
    assert_string_equal(text, row->expected);
    free(text);
}

/* Whether a column is there: by its header, for the rows from `from` on. */
struct column_row {
    const char *name;
    struct mt_torch_text how;
    size_t from;
    const char *header;
    bool shown;
};

static const struct column_row columns[] = {
    {"shapes are shown when there are some", {.by_shape = true}, 0, "Input Shapes", true},
    {"shapes that are all [] are not shown", {.by_shape = true}, 1, "Input Shapes", false},
    {"shapes are not shown unasked", {.by_shape = false}, 0, "Input Shapes", false},
    {"a device with a positive self is shown",
     {.profile_memory = true, .device = "XPU"},
     0,
     "Self XPU Mem",
     true},
    {"a device without is not", {.profile_memory = true, .device = "XPU"}, 1, "XPU Mem", false},
    {"a device is not shown without memory", {.device = "XPU"}, 0, "XPU Mem", false},
    {"device memory is not shown without a device", {.profile_memory = true}, 0, "CUDA", false},
};

static void test_column(void **state)
{
    const struct column_row *row = *state;
    char *text =
        print(table_rows + row->from, MT_ARRAY_LEN(table_rows) - row->from, "2.11", &row->how);
    assert_int_equal(strstr(text, row->header) != NULL, row->shown);
    free(text);
}

/* A figure as the cell of its column, counted from 0 = Name; old and new units. */
struct cell_row {
    const char *name;
    struct mt_torch_row row;
    int column;
    const char *old_text, *new_text;
};

#define BYTES(n)                                                                                   \
    {                                                                                              \
        .name = "a", .count = 1, .cpu_memory_usage = (n), .self_cpu_time_total_us = 1              \
    }
#define TIME(us)                                                                                   \
    {                                                                                              \
        .name = "a", .count = 3, .cpu_time_total_us = (us), .self_cpu_time_total_us = 3            \
    }
#define SELF(us)                                                                                   \
    {                                                                                              \
        .name = "a", .count = 1, .self_cpu_time_total_us = (us)                                    \
    }
#define NAME(s)                                                                                    \
    {                                                                                              \
        .name = (s), .count = 1                                                                    \
    }
#define TEN "0123456789"

static const struct cell_row cells[] = {
    {"bytes: none", BYTES(0), 6, "0 b", "0 B"},
    {"bytes: below a unit", BYTES(1023), 6, "1023 b", "1023 B"},
    {"bytes: negative below a unit", BYTES(-1023), 6, "-1023 b", "-1023 B"},
    {"bytes: a unit", BYTES(1024), 6, "1.00 Kb", "1.00 KB"},
    {"bytes: rounded half to even", BYTES(1024 + 128), 6, "1.12 Kb", "1.12 KB"},
    {"bytes: rounded up to 1024", BYTES(1048575), 6, "1024.00 Kb", "1024.00 KB"},
    {"bytes: mega", BYTES(-1048576), 6, "-1.00 Mb", "-1.00 MB"},
    {"bytes: giga", BYTES(INT64_C(5) << 29), 6, "2.50 Gb", "2.50 GB"},
    {"bytes: no larger unit", BYTES(INT64_MIN), 6, "-8589934592.00 Gb", "-8589934592.00 GB"},
    {"time: microseconds", TIME(999.9994), 4, "999.999us", "999.999us"},
    {"time: rounded up to 1000", TIME(999.9996), 4, "1000.000us", "1000.000us"},
    {"time: milliseconds", TIME(1000), 4, "1.000ms", "1.000ms"},
    {"time: a tie that the last bit decides", TIME(3315.5000000000005), 4, "3.316ms", "3.316ms"},
    {"time: a tie, to even", TIME(3312.5), 4, "3.312ms", "3.312ms"},
    {"time: seconds", TIME(1234567.8), 4, "1.235s", "1.235s"},
    {"time: large negative", TIME(-2e6), 4, "-2000000.000us", "-2000000.000us"},
    {"time: average", TIME(1), 5, "0.333us", "0.333us"},
    {"time: negative zero", SELF(-1e-12), 2, "-0.000us", "-0.000us"},
    {"share: more than all", TIME(6), 3, "200.00%", "200.00%"},
    {"share: of nothing", SELF(0), 1, "NaN", "NaN"},
    {"name: 51 characters stay", NAME(TEN TEN TEN TEN TEN "0"), 0, TEN TEN TEN TEN TEN "0",
     TEN TEN TEN TEN TEN "0"},
    {"name: 52 characters gain dots", NAME(TEN TEN TEN TEN TEN "01"), 0,
     TEN TEN TEN TEN TEN "01...", TEN TEN TEN TEN TEN "01..."},
    {"name: 60 characters are cut", NAME(TEN TEN TEN TEN TEN TEN), 0, TEN TEN TEN TEN TEN "01...",
     TEN TEN TEN TEN TEN "01..."},
    {"name: control characters are escaped", NAME("a\x1b[2J\nb"), 0, "a\\x1b[2J\\nb",
     "a\\x1b[2J\\nb"},
    {"name: bad UTF-8 is escaped", NAME("a\xff"), 0, "a\\xff", "a\\xff"},
};

/* The k-th cell of the n-th line; cells are two blanks or more apart. */
static void find_cell(const char *text, int line, int k, char out[256])
{
    for (; line; line--)
        text = strchr(text, '\n') + 1;
    for (;; k--) {
        text += strspn(text, " ");
        size_t n = (size_t)(strstr(text, "  ") - text);
        if (k == 0) {
            memcpy(out, text, n);
            out[n] = '\0';
            return;
        }
        text += n;
    }
}

static void test_cell(void **state)
{
    const struct cell_row *row = *state;
    struct mt_torch_text how = {.row_limit = -1, .profile_memory = true};
    for (int i = 0; i < 2; i++) {
        char *text = print(&row->row, 1, versions[i], &how), cell[256];
        find_cell(text, 3, row->column, cell);
        assert_string_equal(cell, i ? row->new_text : row->old_text);
        free(text);
    }
}

/* Widths of the first and the last column. */
struct width_row {
    const char *name, *label, *shapes;
    size_t first, last;
};

static const struct width_row widths[] = {
    {"width: four more than the name", "abc", "[[1]]", 7, 9},
    {"width: characters, not bytes", "日本", "[[1]]", 6, 9},
    {"width: 55 at most", TEN TEN TEN TEN TEN "01", "[[1]]", 55, 9},
    {"width: shapes 80 at most", "abc",
     "[[1000000000, 1000000000], [1000000000, 1000000000], [1000000000, 1000000000], [5]]", 7, 80},
};

static void test_width(void **state)
{
    const struct width_row *row = *state;
    struct mt_torch_text how = {.row_limit = -1, .by_shape = true};
    struct mt_torch_row r = {.name = row->label, .input_shapes = row->shapes, .count = 1};
    char *text = print(&r, 1, "2.11", &how);
    size_t line = strcspn(text, "\n"), last = 0;
    assert_int_equal(strspn(text, "-"), row->first);
    while (text[line - 3 - last] == '-')
        last++;
    assert_int_equal(last, row->last);
    free(text);
}

static void test_no_rows(void **state)
{
    (void)state;
    struct mt_torch_text how = {.row_limit = -1};
    char *text = print(NULL, 0, "2.11", &how);
    assert_string_equal(text, "");
    free(text);
}

int main(void)
{
    static struct row_tests t;
    ROWS_ADD(&t, test_table, tables);
    ROWS_ADD(&t, test_column, columns);
    ROWS_ADD(&t, test_cell, cells);
    ROWS_ADD(&t, test_width, widths);
    t.v[t.n++] = (struct CMUnitTest)cmocka_unit_test(test_no_rows);
    return ROWS_RUN(&t, "compat_text");
}
