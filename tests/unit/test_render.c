#include "rows.h"

#include "lib/render/render.h"
#include "tests/unit/reports.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define BLANK50  "                                                  "
#define BLANK199 BLANK50 BLANK50 BLANK50 "                                                 "
#define BLANK196 BLANK50 BLANK50 BLANK50 "                                              "
#define X50      "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define X200     X50 X50 X50 X50

struct render_row {
    const char *name;
    void (*build)(struct mt_report *r);
    struct mt_render how;
    const char *expected;
};

static const struct render_row render_rows[] = {
    {"table: not a terminal",
     build_table,
     {.format = MT_FORMAT_TABLE},
     "base · cpu · net 0 B · sorted by self_net_b\n"
     " CALLS    SELF NET   TIME_NS  NAME\n"
     "12,838   132.2 MiB  165.7 ms  aten::empty\n"
     "    35     -90 MiB  2.233 us  compiled::engine::evaluate_function: ConvolutionBackward0\n"
     "     -  -81.59 MiB         -  [outside ops]\n"
     "67 more rows; --limit 0 shows all\n"},
    {"table: a wide terminal, in colour",
     build_table,
     {.format = MT_FORMAT_TABLE, .width = 100, .color = true},
     "base · cpu · net 0 B                                                            "
     "sorted by self_net_b\n"
     "\033[1m CALLS    SELF NET   TIME_NS  NAME\033[0m\n"
     "12,838   132.2 MiB  165.7 ms  aten::empty\n"
     "    35     -90 MiB  2.233 us  compiled::engine::evaluate_function: ConvolutionBackward0\n"
     "\033[2m     -  -81.59 MiB         -  [outside ops]\033[0m\n"
     "67 more rows; --limit 0 shows all\n"},
    {"table: a narrow terminal cuts names only",
     build_table,
     {.format = MT_FORMAT_TABLE, .width = 60},
     "base · cpu · net 0 B                    sorted by self_net_b\n"
     " CALLS    SELF NET   TIME_NS  NAME\n"
     "12,838   132.2 MiB  165.7 ms  aten::empty\n"
     "    35     -90 MiB  2.233 us  compiled::eng…olutionBackward0\n"
     "     -  -81.59 MiB         -  [outside ops]\n"
     "67 more rows; --limit 0 shows all\n"},
    {"table: the title's end has no room",
     build_table,
     {.format = MT_FORMAT_TABLE, .width = 41, .bytes = true, .ascii = true},
     "base - cpu - net 0 B\n"
     "sorted by self_net_b\n"
     " CALLS   SELF NET  NAME\n"
     "12,838  138621747  aten::empty\n"
     "    35  -94371840  compiled...onBackward0\n"
     "     -  -85553152  [outside ops]\n"
     "67 more rows; --limit 0 shows all\n"
     "no room for TIME_NS: --format csv has all\n"
     "columns\n"},
    {"table: narrower than the figures",
     build_table,
     {.format = MT_FORMAT_TABLE, .width = 5},
     "base · cpu · net 0 B\n"
     "sorted by self_net_b\n"
     " CALLS  NAME\n"
     "12,838  at…empty\n"
     "    35  co…ward0\n"
     "     -  [o… ops]\n"
     "67 more rows; --limit 0\n"
     "shows all\n"
     "no room for TIME_NS,\n"
     "SELF NET: --format csv\n"
     "has all columns\n"},
    {"table: what was asked for stays",
     build_wanted,
     {.format = MT_FORMAT_TABLE, .width = 30},
     "base · cpu · net 0 B\n"
     "sorted by self_net_b\n"
     "  SELF NET   TIME_NS  NAME\n"
     " 132.2 MiB  165.7 ms  at…empty\n"
     "   -90 MiB  2.233 us  co…ward0\n"
     "-81.59 MiB         -  [o… ops]\n"
     "67 more rows; --limit 0 shows\n"
     "all\n"
     "no room for CALLS: --format\n"
     "csv has all columns\n"},
    {"table: sentences are wrapped, whole texts cut last",
     build_sentences,
     {.format = MT_FORMAT_TABLE, .width = 47},
     "a run of which there is much to say\n"
     "GIVES  ADDRESS         WHY\n"
     "  2 B  0x7fdb60000000  the driver has 2 B left\n"
     "                       of what it had\n"
     "  3 B  0x7fdb68000000  it fits\n"},
    {"table: columns that say nothing go before others",
     build_unknown,
     {.format = MT_FORMAT_TABLE, .width = 23},
     "AT END  SITE\n"
     "   7 B  a site…ome name\n"
     "no room for PER STEP:\n"
     "--format csv has all\n"
     "columns\n"},
    {"table: spare columns go, the highest first",
     build_spare,
     {.format = MT_FORMAT_TABLE, .width = 44},
     "ID  NAME                        TIME\n"
     " 1  a_run_with_quite_some_name  7 ns\n"
     "no room for SOURCE, GROUP: --format csv has\n"
     "all columns\n"},
    {"table: spare columns stay where there is room",
     build_spare,
     {.format = MT_FORMAT_TABLE, .width = 55},
     "ID  NAME                        GROUP    TIME\n"
     " 1  a_run_with_quite_some_name  a group  7 ns\n"
     "no room for SOURCE: --format csv has all columns\n"},
    {"table: not a terminal, all columns but empty ones",
     build_spare,
     {.format = MT_FORMAT_TABLE},
     "ID  NAME                        GROUP    TIME  SOURCE\n"
     " 1  a_run_with_quite_some_name  a group  7 ns  /somewhere/trace.json\n"},
    {"table: hostile names",
     build_hostile,
     {.format = MT_FORMAT_TABLE},
     "evil\\x1b[2Jrun\n"
     "NET  NAME\n"
     "0 B  esc\\x1b[31m\n"
     "1 B  a,b\"c\"\n"
     "2 B  line\\nfeed\\ttab\\x0dcr\n"
     "3 B  back\\slash|pipe\\|both\n"
     "4 B  bad\\xff\\xc3(\n"
     "5 B  c1\\xc2\\x9b\\x7f\n"
     "6 B  bidi\\xe2\\x80\\xae\n"
     "7 B\n"
     "8 B  `tick` <b> @me\n"
     "9 B  Gr\u00f6\u00dfe \u4e2d\n"},
    {"table: extreme figures",
     build_extremes,
     {.format = MT_FORMAT_TABLE},
     "      B                           N                    ID     REAL\n"
     " -8 EiB  -9,223,372,036,854,775,808  -9223372036854775808  -0.3333\n"
     "  8 EiB   9,223,372,036,854,775,807   9223372036854775807  1234568\n"
     "    0 B                           0                     0   1e+300\n"
     "   -1 B                          -1                    -1      0.1\n"
     "  8 PiB       9,007,199,254,740,993      9007199254740993        0\n"
     "1.5 KiB                         2.5                     -        -\n"},
    {"table: extreme figures in bytes",
     build_extremes,
     {.format = MT_FORMAT_TABLE, .bytes = true},
     "                   B                           N                    ID"
     "                  REAL\n"
     "-9223372036854775808  -9,223,372,036,854,775,808  -9223372036854775808"
     "  -0.33333333333333331\n"
     " 9223372036854775807   9,223,372,036,854,775,807   9223372036854775807"
     "             1234567.5\n"
     "                   0                           0                     0"
     "                1e+300\n"
     "                  -1                          -1                    -1"
     "                   0.1\n"
     "    9007199254740993       9,007,199,254,740,993      9007199254740993"
     "                    -0\n"
     "              1536.4                         2.5                     -"
     "                     -\n"},
    {"table: empty",
     build_empty,
     {.format = MT_FORMAT_TABLE, .width = 80, .color = true},
     "leaky · cpu\nno rows\nno leak\n"},
    {"table: hostile words instead of rows",
     build_hostile_empty,
     {.format = MT_FORMAT_TABLE, .terminal = true, .width = 80},
     "title\\x1b[31m * <b>                                        the end\\x1b[31m * <b>\n"
     "empty\\x1b[31m * <b>\nfooter\\x1b[31m * <b>\n"},
    {"markdown: hostile words instead of rows",
     build_hostile_empty,
     {.format = MT_FORMAT_MARKDOWN},
     "title\\\\x1b\\[31m \\* \\<b\\> · the end\\\\x1b\\[31m \\* \\<b\\>\n\n"
     "empty\\\\x1b\\[31m \\* \\<b\\>\n\nfooter\\\\x1b\\[31m \\* \\<b\\>\n"},
    {"table: a long cell is not what others are padded to",
     build_long,
     {.format = MT_FORMAT_TABLE},
     "KIND  LONG" BLANK196 "  N  LAST\n"
     "a     " X200 X200 "  1  x\n"
     "b     y" BLANK199 "  2  " X200 X200 "\n"
     "c     z" BLANK199 "  3  w\n"},
    {"table: tree",
     build_tree,
     {.format = MT_FORMAT_TABLE},
     "       NET  NAME\n"
     " 3.815 MiB  outer_op\n"
     " 3.815 MiB  ├─ aten::randn\n"
     " 3.815 MiB  │  ├─ aten::empty\n"
     "       0 B  │  └─ aten::normal_\n"
     " 3.815 MiB  └─ inner_op\n"
     " 3.815 MiB     └─ aten::relu\n"
     "-3.815 MiB        └─ aten::clamp_min with a long name\n"},
    {"table: tree, narrow",
     build_tree,
     {.format = MT_FORMAT_TABLE, .width = 34},
     "       NET  NAME\n"
     " 3.815 MiB  outer_op\n"
     " 3.815 MiB  ├─ aten::randn\n"
     " 3.815 MiB  │  ├─ aten::empty\n"
     "       0 B  │  └─ aten::normal_\n"
     " 3.815 MiB  └─ inner_op\n"
     " 3.815 MiB     └─ aten::relu\n"
     "-3.815 MiB        └─ aten:…ng name\n"},
    {"table: tree, narrowest, ascii",
     build_tree,
     {.format = MT_FORMAT_TABLE, .width = 20, .ascii = true},
     "       NET  NAME\n"
     " 3.815 MiB  outer_op\n"
     " 3.815 MiB  |- a...andn\n"
     " 3.815 MiB  .. a...mpty\n"
     "       0 B  .. a...mal_\n"
     " 3.815 MiB  `- inner_op\n"
     " 3.815 MiB  .. a...relu\n"
     "-3.815 MiB  .. a...name\n"},
    {"table: the widest text is cut first",
     build_two_texts,
     {.format = MT_FORMAT_TABLE, .width = 72},
     "AT PEAK  BORN IN                            PHASE\n"
     "   -2 B  compiled::engin…on: MeanBackward1  a backward pass of the model\n"
     " -2 KiB  \u4e00\u4e8c\u4e09                             forward\n"
     " -2 MiB  e\u0301t\u00e9                                -\n"},
    {"table: then both",
     build_two_texts,
     {.format = MT_FORMAT_TABLE, .width = 32},
     "AT PEAK  BORN IN     PHASE\n"
     "   -2 B  com…kward1  a ba… model\n"
     " -2 KiB  \u4e00\u4e8c\u4e09      forward\n"
     " -2 MiB  e\u0301t\u00e9         -\n"},
    {"table: chosen columns keep their order",
     build_selected,
     {.format = MT_FORMAT_TABLE, .width = 64},
     "base · cpu · net 0 B                        sorted by self_net_b\n"
     "NODE_ID  NAME                                           SELF NET\n"
     "      7  aten::empty                                   132.2 MiB\n"
     "      8  compiled::engine::ev…n: ConvolutionBackward0    -90 MiB\n"
     "67 more rows; --limit 0 shows all\n"},
    {"csv",
     build_table,
     {.format = MT_FORMAT_CSV, .bytes = false},
     "name,calls_n,self_net_b,time_ns,node_id\n"
     "aten::empty,12838,138621747,165700000,7\n"
     "compiled::engine::evaluate_function: ConvolutionBackward0,35,-94371840,2233,8\n"
     "[outside ops],,-85553152,,9\n"},
    {"csv: hostile names",
     build_hostile,
     {.format = MT_FORMAT_CSV},
     "name,net_b\n"
     "esc\033[31m,0\n"
     "\"a,b\"\"c\"\"\",1\n"
     "\"line\nfeed\ttab\rcr\",2\n"
     "back\\slash|pipe\\|both,3\n"
     "bad\xff\xc3(,4\n"
     "c1\302\233\177,5\n"
     "bidi\u202e,6\n"
     "\"\",7\n"
     "`tick` <b> @me,8\n"
     "Gr\u00f6\u00dfe \u4e2d,9\n"},
    {"csv: hostile names on a terminal",
     build_hostile,
     {.format = MT_FORMAT_CSV, .terminal = true},
     "name,net_b\n"
     "esc\\x1b[31m,0\n"
     "\"a,b\"\"c\"\"\",1\n"
     "line\\nfeed\\ttab\\x0dcr,2\n"
     "back\\slash|pipe\\|both,3\n"
     "bad\\xff\\xc3(,4\n"
     "c1\\xc2\\x9b\\x7f,5\n"
     "bidi\\xe2\\x80\\xae,6\n"
     "\"\",7\n"
     "`tick` <b> @me,8\n"
     "Gr\u00f6\u00dfe \u4e2d,9\n"},
    {"csv: extreme figures",
     build_extremes,
     {.format = MT_FORMAT_CSV},
     "b,n,id,real\n"
     "-9223372036854775808,-9223372036854775808,-9223372036854775808,-0.33333333333333331\n"
     "9223372036854775807,9223372036854775807,9223372036854775807,1234567.5\n"
     "0,0,0,1e+300\n"
     "-1,-1,-1,0.1\n"
     "9007199254740993,9007199254740993,9007199254740993,-0\n"
     "1536.4,2.5,,\n"},
    {"csv: empty", build_empty, {.format = MT_FORMAT_CSV}, "site,at_end_b\n"},
    {"csv: a lone unknown value is no empty line",
     build_lone_unknown,
     {.format = MT_FORMAT_CSV},
     "\"bad\xff\"\"key\"\"\"\n\"\"\n\"\"\n"},
    {"tsv: hostile names",
     build_hostile,
     {.format = MT_FORMAT_TSV},
     "name\tnet_b\n"
     "esc\033[31m\t0\n"
     "a,b\"c\"\t1\n"
     "line\\nfeed\\ttab\\rcr\t2\n"
     "back\\\\slash|pipe\\\\|both\t3\n"
     "bad\xff\xc3(\t4\n"
     "c1\302\233\177\t5\n"
     "bidi\u202e\t6\n"
     "\t7\n"
     "`tick` <b> @me\t8\n"
     "Gr\u00f6\u00dfe \u4e2d\t9\n"},
    {"tsv: hostile names on a terminal",
     build_hostile,
     {.format = MT_FORMAT_TSV, .terminal = true},
     "name\tnet_b\n"
     "esc\\\\x1b[31m\t0\n"
     "a,b\"c\"\t1\n"
     "line\\\\nfeed\\\\ttab\\\\x0dcr\t2\n"
     "back\\\\slash|pipe\\\\|both\t3\n"
     "bad\\\\xff\\\\xc3(\t4\n"
     "c1\\\\xc2\\\\x9b\\\\x7f\t5\n"
     "bidi\\\\xe2\\\\x80\\\\xae\t6\n"
     "\t7\n"
     "`tick` <b> @me\t8\n"
     "Gr\u00f6\u00dfe \u4e2d\t9\n"},
    {"tsv: unknown values",
     build_lone_unknown,
     {.format = MT_FORMAT_TSV},
     "bad\xff\"key\"\n\\N\n\n"},
    {"json",
     build_table,
     {.format = MT_FORMAT_JSON},
     "{\"schema\":\"memtool.table\",\"version\":1,\n"
     "\"runs\":[{\"id\":1,\"name\":\"base\"}],\n"
     "\"params\":{\"sort\":\"self_net_b\",\"device\":null,\"limit\":3},\n"
     "\"totals\":{\"net_b\":0},\n"
     "\"rows\":[\n"
     "{\"name\":\"aten::empty\",\"calls_n\":12838,\"self_net_b\":138621747,"
     "\"time_ns\":165700000,\"node_id\":7},\n"
     "{\"name\":\"compiled::engine::evaluate_function: ConvolutionBackward0\",\"calls_n\":35,"
     "\"self_net_b\":-94371840,\"time_ns\":2233,\"node_id\":8},\n"
     "{\"name\":\"[outside ops]\",\"calls_n\":null,\"self_net_b\":-85553152,\"time_ns\":null,"
     "\"node_id\":9}\n"
     "],\n"
     "\"left_out_n\":67,\n"
     "\"has_more\":true,\n"
     "\"notes\":[\"113 records lie outside every op\"]}\n"},
    {"json: hostile names",
     build_hostile,
     {.format = MT_FORMAT_JSON},
     "{\"schema\":\"memtool.table\",\"version\":1,\n"
     "\"runs\":[],\n"
     "\"params\":{},\n"
     "\"totals\":{},\n"
     "\"rows\":[\n"
     "{\"name\":\"esc\\u001b[31m\",\"net_b\":0},\n"
     "{\"name\":\"a,b\\\"c\\\"\",\"net_b\":1},\n"
     "{\"name\":\"line\\u000afeed\\u0009tab\\u000dcr\",\"net_b\":2},\n"
     "{\"name\":\"back\\\\slash|pipe\\\\|both\",\"net_b\":3},\n"
     "{\"name\":\"bad\\u00ff\\u00c3(\",\"net_b\":4},\n"
     "{\"name\":\"c1\\u009b\\u007f\",\"net_b\":5},\n"
     "{\"name\":\"bidi\\u202e\",\"net_b\":6},\n"
     "{\"name\":\"\",\"net_b\":7},\n"
     "{\"name\":\"`tick` <b> @me\",\"net_b\":8},\n"
     "{\"name\":\"Gr\u00f6\u00dfe \u4e2d\",\"net_b\":9}\n"
     "],\n"
     "\"left_out_n\":0,\n"
     "\"has_more\":false,\n"
     "\"notes\":[\"note \\\"\\u001b\\u00fe\\\"\"]}\n"},
    {"json: extreme figures",
     build_extremes,
     {.format = MT_FORMAT_JSON},
     "{\"schema\":\"memtool.query\",\"version\":2,\n"
     "\"runs\":[],\n"
     "\"params\":{},\n"
     "\"totals\":{},\n"
     "\"rows\":[\n"
     "{\"b\":-9223372036854775808,\"n\":-9223372036854775808,\"id\":-9223372036854775808,"
     "\"real\":-0.33333333333333331},\n"
     "{\"b\":9223372036854775807,\"n\":9223372036854775807,\"id\":9223372036854775807,"
     "\"real\":1234567.5},\n"
     "{\"b\":0,\"n\":0,\"id\":0,\"real\":1e+300},\n"
     "{\"b\":-1,\"n\":-1,\"id\":-1,\"real\":0.1},\n"
     "{\"b\":9007199254740993,\"n\":9007199254740993,\"id\":9007199254740993,\"real\":-0},\n"
     "{\"b\":1536.4,\"n\":2.5,\"id\":null,\"real\":null}\n"
     "],\n"
     "\"left_out_n\":0,\n"
     "\"has_more\":false,\n"
     "\"notes\":[]}\n"},
    {"json: empty",
     build_empty,
     {.format = MT_FORMAT_JSON},
     "{\"schema\":\"memtool.leaks\",\"version\":1,\n"
     "\"runs\":[],\n"
     "\"params\":{},\n"
     "\"totals\":{},\n"
     "\"rows\":[],\n"
     "\"left_out_n\":0,\n"
     "\"has_more\":false,\n"
     "\"notes\":[]}\n"},
    {"json: a hostile key",
     build_lone_unknown,
     {.format = MT_FORMAT_JSON},
     "{\"schema\":\"memtool.query\",\"version\":1,\n"
     "\"runs\":[],\n"
     "\"params\":{},\n"
     "\"totals\":{},\n"
     "\"rows\":[\n"
     "{\"bad\\\\xff\\\"key\\\"\":null},\n"
     "{\"bad\\\\xff\\\"key\\\"\":\"\"}\n"
     "],\n"
     "\"left_out_n\":0,\n"
     "\"has_more\":false,\n"
     "\"notes\":[]}\n"},
    {"markdown",
     build_table,
     {.format = MT_FORMAT_MARKDOWN},
     "base · cpu · net 0 B · sorted by self\\_net\\_b\n"
     "\n"
     "| CALLS | SELF NET | TIME\\_NS | NAME |\n"
     "| ---: | ---: | ---: | :--- |\n"
     "| 12,838 | 132.2 MiB | 165.7 ms | `aten::empty` |\n"
     "| 35 | -90 MiB | 2.233 us | `compiled::engine::evaluate_function: ConvolutionBackward0` |\n"
     "| - | -81.59 MiB | - | `[outside ops]` |\n"
     "\n"
     "67 more rows; --limit 0 shows all\n"},
    {"markdown: hostile names",
     build_hostile,
     {.format = MT_FORMAT_MARKDOWN},
     "evil\\\\x1b\\[2Jrun\n"
     "\n"
     "| NET | NAME |\n"
     "| ---: | :--- |\n"
     "| 0 B | `esc\\x1b[31m` |\n"
     "| 1 B | `a,b\"c\"` |\n"
     "| 2 B | `line\\nfeed\\ttab\\x0dcr` |\n"
     "| 3 B | `back\\slash\\|pipe\\\\x7cboth` |\n"
     "| 4 B | `bad\\xff\\xc3(` |\n"
     "| 5 B | `c1\\xc2\\x9b\\x7f` |\n"
     "| 6 B | `bidi\\xe2\\x80\\xae` |\n"
     "| 7 B |  |\n"
     "| 8 B | `` `tick` <b> @me `` |\n"
     "| 9 B | `Gr\u00f6\u00dfe \u4e2d` |\n"},
    {"markdown: tree",
     build_tree,
     {.format = MT_FORMAT_MARKDOWN},
     "| NET | NAME |\n"
     "| ---: | :--- |\n"
     "| 3.815 MiB | `outer_op` |\n"
     "| 3.815 MiB | `├─ aten::randn` |\n"
     "| 3.815 MiB | `│  ├─ aten::empty` |\n"
     "| 0 B | `│  └─ aten::normal_` |\n"
     "| 3.815 MiB | `└─ inner_op` |\n"
     "| 3.815 MiB | `   └─ aten::relu` |\n"
     "| -3.815 MiB | `      └─ aten::clamp_min with a long name` |\n"},
    {"markdown: empty",
     build_empty,
     {.format = MT_FORMAT_MARKDOWN},
     "leaky · cpu\n\nno rows\n\nno leak\n"},
};

static void test_render(void **state)
{
    const struct render_row *row = *state;
    struct mt_report r;
    row->build(&r);
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    mt_render(&r, &row->how, out);
    fclose(out);
    mt_report_free(&r);
    assert_string_equal(text, row->expected);
    free(text);
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    static struct row_tests t;
    ROWS_ADD(&t, test_render, render_rows);
    return ROWS_RUN(&t, "render");
}
