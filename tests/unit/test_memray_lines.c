/* formats/memray_lines.c: lines at instructions, by the line tables of Python's versions. */
#include "formats/memray_lines.h"
#include "tests/unit/rows.h"

#define TABLE(s) s, sizeof s - 1

static const struct lines {
    const char *name;
    uint32_t python;
    const char *table;
    size_t table_n;
    int64_t first, instruction, want;
} lines[] = {
    {"3.9, before the first pair", 0x030900f0, TABLE("\4\1\6\2"), 10, 2, 10},
    {"3.9, after it", 0x030900f0, TABLE("\4\1\6\2"), 10, 4, 11},
    {"3.9, behind all", 0x030900f0, TABLE("\4\1\6\2"), 10, 100, 13},
    {"3.9, back", 0x030900f0, TABLE("\4\5\2\375"), 10, 6, 12},
    {"3.9, far", 0x030900f0, TABLE("\310\1\2\1"), 10, 150, 10},
    {"3.9, far behind", 0x030900f0, TABLE("\310\1\2\1"), 10, 200, 11},
    {"3.7, half a pair", 0x030700f0, TABLE("\4\1\6"), 10, 20, 11},
    {"3.10, first", 0x030a00f0, TABLE("\4\0\4\1\2\200\4\2"), 10, 1, 10},
    {"3.10, second", 0x030a00f0, TABLE("\4\0\4\1\2\200\4\2"), 10, 2, 11},
    {"3.10, no line", 0x030a00f0, TABLE("\4\0\4\1\2\200\4\2"), 10, 4, 11},
    {"3.10, last", 0x030a00f0, TABLE("\4\0\4\1\2\200\4\2"), 10, 5, 13},
    /* 0x80 | kind << 3 | instructions - 1 */
    {"3.11, short", 0x030b00f0, TABLE("\201\0\332\1\2"), 10, 2, 10},
    {"3.11, one line further", 0x030b00f0, TABLE("\201\0\332\1\2"), 10, 4, 11},
    {"3.11, no columns, back", 0x030b00f0, TABLE("\350\7\201\0"), 10, 2, 7},
    {"3.11, long", 0x030b00f0, TABLE("\360\4\1\0\1\1\201\0"), 10, 0, 12},
    {"3.11, after a long one", 0x030b00f0, TABLE("\360\4\1\0\1\1\201\0"), 10, 2, 12},
    {"3.11, none", 0x030b00f0, TABLE("\370\350\2"), 10, 0, 10},
    {"3.14, two lines further", 0x030e00f0, TABLE("\347\0\0"), 10, 14, 12},
    {"3.11, behind all", 0x030b00f0, TABLE("\201\0"), 10, 4, 0},
    {"3.11, cut", 0x030b00f0, TABLE("\360\377"), 10, 0, 0},
    {"no table", 0x030b00f0, TABLE(""), 10, 0, 0},
    {"not begun", 0x030b00f0, TABLE("\201\0"), 10, -1, 0},
    {"before line 1", 0x030900f0, TABLE("\0\200"), 10, 0, 0},
};

static void test_lines(void **state)
{
    const struct lines *l = *state;
    assert_int_equal(mt_memray_line(l->python, l->table, l->table_n, l->first, l->instruction),
                     l->want);
}

int main(void)
{
    struct row_tests t = {0};
    ROWS_ADD(&t, test_lines, lines);
    return ROWS_RUN(&t, "memray_lines");
}
