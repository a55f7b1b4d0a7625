/* lib/render/report.h: the columns of a report that are chosen; lib/render/render.h: the formats by
 * name. */
#include "lib/render/render.h"
#include "tests/unit/reports.h"
#include "tests/unit/rows.h"
#include <string.h>

struct name_row {
    const char *name;
    const char *format;
    int expected;
};

static const struct name_row name_rows[] = {
    {"format: table", "table", MT_FORMAT_TABLE},
    {"format: csv", "csv", MT_FORMAT_CSV},
    {"format: tsv", "tsv", MT_FORMAT_TSV},
    {"format: json", "json", MT_FORMAT_JSON},
    {"format: markdown", "markdown", MT_FORMAT_MARKDOWN},
    {"format: md", "md", MT_FORMAT_MARKDOWN},
    {"format: unknown", "xml", -1},
    {"format: nothing", "", -1},
};

static void test_format(void **state)
{
    const struct name_row *row = *state;
    const struct mt_output_format *found = mt_format_by_name(row->format);
    assert_int_equal(found ? found - mt_output_formats : -1, row->expected);
}

struct select_row {
    const char *name;
    const char *names;
    const char *unknown; /* NULL: all are known */
    const char *csv;     /* header and first row afterwards */
};

static const struct select_row select_rows[] = {
    {"select: one", "calls_n", NULL, "calls_n\n12838\n"},
    {"select: another order, and blanks", " self_net_b , name", NULL,
     "self_net_b,name\n138621747,aten::empty\n"},
    {"select: one twice", "calls_n,calls_n", NULL, "calls_n,calls_n\n12838,12838\n"},
    {"select: hidden", "node_id", NULL, "node_id\n7\n"},
    {"select: unknown", "name,nmae,foo", "nmae", "name,calls_n,self_net_b,time_ns,node_id\n"},
    {"select: nothing", "", "", "name,calls_n,self_net_b,time_ns,node_id\n"},
    {"select: a stray comma", "name,", "", "name,calls_n,self_net_b,time_ns,node_id\n"},
};

static void test_select(void **state)
{
    const struct select_row *row = *state;
    struct mt_report r;
    build_table(&r);
    char *unknown = mt_report_select(&r, row->names);
    if (row->unknown)
        assert_string_equal(unknown, row->unknown);
    else
        assert_null(unknown);
    free(unknown);
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    mt_render(&r, &(struct mt_render){.format = MT_FORMAT_CSV}, out);
    fclose(out);
    mt_report_free(&r);
    assert_memory_equal(text, row->csv, strlen(row->csv));
    free(text);
}

int main(void)
{
    static struct row_tests t;
    ROWS_ADD(&t, test_format, name_rows);
    ROWS_ADD(&t, test_select, select_rows);
    return ROWS_RUN(&t, "report");
}
