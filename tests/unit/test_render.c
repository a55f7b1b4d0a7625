#include "rows.h"

#include "lib/render.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* The table of a run: one explicit row, one unknown figure, a hidden column. */
static void build_table(struct mt_report *r)
{
    mt_report_init(r, "memtool.table", 1);
    r->title = mt_strdup("base · cpu · net 0 B");
    r->title_end = mt_strdup("sorted by self_net_b");
    r->runs[0] = (struct mt_run_ref){1, mt_strdup("base")};
    r->left_out_n = 67;
    mt_report_column(r, "name", "NAME", MT_UNIT_NONE);
    mt_report_column(r, "calls_n", "CALLS", MT_UNIT_COUNT);
    mt_report_column(r, "self_net_b", "SELF NET", MT_UNIT_BYTES);
    mt_report_column(r, "time_ns", NULL, MT_UNIT_NS);
    mt_report_column(r, "node_id", NULL, MT_UNIT_NONE);
    r->columns.v[4].hidden = true;
    static const struct {
        const char *name;
        int64_t calls, net, ns;
    } rows[] = {
        {"aten::empty", 12838, 138621747, 165700000},
        {"autograd::engine::evaluate_function: ConvolutionBackward0", 35, -94371840, 2233},
        {"[outside ops]", -1, -85553152, -1},
    };
    for (size_t i = 0; i < MT_ARRAY_LEN(rows); i++) {
        struct mt_row *row = mt_report_row(r);
        row->explicit_row = rows[i].name[0] == '[';
        row->cells[0] = mt_cell_text(mt_report_text(r, rows[i].name));
        if (!row->explicit_row) {
            row->cells[1] = mt_cell_int(rows[i].calls);
            row->cells[3] = mt_cell_int(rows[i].ns);
        }
        row->cells[2] = mt_cell_int(rows[i].net);
        row->cells[4] = mt_cell_int((int64_t)i + 7);
    }
    mt_report_param(r, "sort", mt_cell_text("self_net_b"));
    mt_report_param(r, "device", mt_cell_text(NULL));
    mt_report_param(r, "limit", mt_cell_int(3));
    mt_report_total(r, "net_b", mt_cell_int(0));
    mt_report_footer(r, "%d more rows; --limit 0 shows all", 67);
    mt_report_note(r, "%d records lie outside every op", 113);
}

/* What traces from elsewhere may hold. */
static void build_hostile(struct mt_report *r)
{
    mt_report_init(r, "memtool.table", 1);
    r->title = mt_strdup("evil\033[2Jrun");
    mt_report_column(r, "name", NULL, MT_UNIT_NONE);
    mt_report_column(r, "net_b", "NET", MT_UNIT_BYTES);
    static const char *const names[] = {
        "esc\033[31m",         "a,b\"c\"",
        "line\nfeed\ttab\rcr", "back\\slash|pipe\\|both",
        "bad\xff\xc3(",        "c1\302\233\177",
        "bidi\u202e",          "",
        "`tick` <b> @me",      "Gr\u00f6\u00dfe \u4e2d",
    };
    for (size_t i = 0; i < MT_ARRAY_LEN(names); i++) {
        struct mt_row *row = mt_report_row(r);
        row->cells[0] = mt_cell_text(names[i]);
        row->cells[1] = mt_cell_int((int64_t)i);
    }
    mt_report_note(r, "note \"%s\"", "\033\xfe");
}

static void build_extremes(struct mt_report *r)
{
    mt_report_init(r, "memtool.query", 2);
    mt_report_column(r, "b", NULL, MT_UNIT_BYTES);
    mt_report_column(r, "n", NULL, MT_UNIT_COUNT);
    mt_report_column(r, "id", NULL, MT_UNIT_NONE);
    mt_report_column(r, "real", NULL, MT_UNIT_NONE);
    const double reals[] = {-1.0 / 3, 1234567.5, 1e300, 0.1, -0.0};
    const int64_t ints[] = {INT64_MIN, INT64_MAX, 0, -1, INT64_C(9007199254740993)};
    for (size_t i = 0; i < MT_ARRAY_LEN(ints); i++) {
        struct mt_row *row = mt_report_row(r);
        for (int c = 0; c < 3; c++)
            row->cells[c] = mt_cell_int(ints[i]);
        row->cells[3] = mt_cell_real(reals[i]);
    }
    struct mt_row *row = mt_report_row(r);
    row->cells[0] = mt_cell_real(1536.4);
    row->cells[1] = mt_cell_real(2.5);
    row->cells[3] = mt_cell_real(0.0 / (row->cells[2].i + 0.0));
}

static void build_empty(struct mt_report *r)
{
    mt_report_init(r, "memtool.leaks", 1);
    r->title = mt_strdup("leaky · cpu");
    mt_report_column(r, "site", "SITE", MT_UNIT_NONE);
    mt_report_column(r, "at_end_b", "AT END", MT_UNIT_BYTES);
    mt_report_footer(r, "no leak");
}

static void build_tree(struct mt_report *r)
{
    static const struct {
        const char *tree, *name;
        int64_t net;
    } rows[] = {
        {NULL, "outer_op", 4000000},
        {"├─ ", "aten::randn", 4000000},
        {"│  ├─ ", "aten::empty", 4000000},
        {"│  └─ ", "aten::normal_", 0},
        {"└─ ", "inner_op", 4000000},
        {"   └─ ", "aten::relu", 4000000},
        {"      └─ ", "aten::clamp_min with a long name", -4000000},
    };
    mt_report_init(r, "memtool.tree", 1);
    mt_report_column(r, "name", "NAME", MT_UNIT_TREE);
    mt_report_column(r, "net_b", "NET", MT_UNIT_BYTES);
    for (size_t i = 0; i < MT_ARRAY_LEN(rows); i++) {
        struct mt_row *row = mt_report_row(r);
        row->tree = rows[i].tree;
        row->cells[0] = mt_cell_text(rows[i].name);
        row->cells[1] = mt_cell_int(rows[i].net);
    }
}

/* Two text columns, one of wide letters. */
static void build_two_texts(struct mt_report *r)
{
    mt_report_init(r, "memtool.peak", 1);
    mt_report_column(r, "at_peak_b", "AT PEAK", MT_UNIT_BYTES);
    mt_report_column(r, "born_in", "BORN IN", MT_UNIT_NONE);
    mt_report_column(r, "phase", "PHASE", MT_UNIT_NONE);
    static const char *const born[] = {"autograd::engine::evaluate_function: MeanBackward1",
                                       "\u4e00\u4e8c\u4e09", "e\u0301t\u00e9"};
    static const char *const phase[] = {"a backward pass of the model", "forward", NULL};
    for (size_t i = 0; i < MT_ARRAY_LEN(born); i++) {
        struct mt_row *row = mt_report_row(r);
        row->cells[0] = mt_cell_int(-((int64_t)1 << (10 * i + 1)));
        row->cells[1] = mt_cell_text(born[i]);
        row->cells[2] = mt_cell_text(phase[i]);
    }
}

static void build_selected(struct mt_report *r)
{
    build_table(r);
    assert_null(mt_report_select(r, "node_id, name,self_net_b"));
    r->rows.n--;
    free(r->rows.v[r->rows.n].cells);
}

static void build_lone_unknown(struct mt_report *r)
{
    mt_report_init(r, "memtool.query", 1);
    mt_report_column(r, "bad\xff\"key\"", NULL, MT_UNIT_NONE);
    mt_report_row(r);
    mt_report_row(r)->cells[0] = mt_cell_text("");
}

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
     "    35     -90 MiB  2.233 us  autograd::engine::evaluate_function: ConvolutionBackward0\n"
     "     -  -81.59 MiB         -  [outside ops]\n"
     "67 more rows; --limit 0 shows all\n"},
    {"table: a wide terminal, in colour",
     build_table,
     {.format = MT_FORMAT_TABLE, .width = 100, .color = true},
     "base · cpu · net 0 B                                                            "
     "sorted by self_net_b\n"
     "\033[1m CALLS    SELF NET   TIME_NS  NAME\033[0m\n"
     "12,838   132.2 MiB  165.7 ms  aten::empty\n"
     "    35     -90 MiB  2.233 us  autograd::engine::evaluate_function: ConvolutionBackward0\n"
     "\033[2m     -  -81.59 MiB         -  [outside ops]\033[0m\n"
     "67 more rows; --limit 0 shows all\n"},
    {"table: a narrow terminal cuts names only",
     build_table,
     {.format = MT_FORMAT_TABLE, .width = 60},
     "base · cpu · net 0 B                    sorted by self_net_b\n"
     " CALLS    SELF NET   TIME_NS  NAME\n"
     "12,838   132.2 MiB  165.7 ms  aten::empty\n"
     "    35     -90 MiB  2.233 us  autograd::eng…olutionBackward0\n"
     "     -  -81.59 MiB         -  [outside ops]\n"
     "67 more rows; --limit 0 shows all\n"},
    {"table: the title's end has no room",
     build_table,
     {.format = MT_FORMAT_TABLE, .width = 41, .bytes = true, .ascii = true},
     "base - cpu - net 0 B\n"
     "sorted by self_net_b\n"
     " CALLS   SELF NET    TIME_NS  NAME\n"
     "12,838  138621747  165700000  aten::empty\n"
     "    35  -94371840       2233  aut...ward0\n"
     "     -  -85553152          -  [ou... ops]\n"
     "67 more rows; --limit 0 shows all\n"},
    {"table: narrower than the figures",
     build_table,
     {.format = MT_FORMAT_TABLE, .width = 5},
     "base · cpu · net 0 B\n"
     "sorted by self_net_b\n"
     " CALLS    SELF NET   TIME_NS  NAME\n"
     "12,838   132.2 MiB  165.7 ms  at…empty\n"
     "    35     -90 MiB  2.233 us  au…ward0\n"
     "     -  -81.59 MiB         -  [o… ops]\n"
     "67 more rows; --limit 0 shows all\n"},
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
     "   -2 B  autograd::engin…on: MeanBackward1  a backward pass of the model\n"
     " -2 KiB  \u4e00\u4e8c\u4e09                             forward\n"
     " -2 MiB  e\u0301t\u00e9                                -\n"},
    {"table: then both",
     build_two_texts,
     {.format = MT_FORMAT_TABLE, .width = 32},
     "AT PEAK  BORN IN     PHASE\n"
     "   -2 B  aut…kward1  a ba… model\n"
     " -2 KiB  \u4e00\u4e8c\u4e09      forward\n"
     " -2 MiB  e\u0301t\u00e9         -\n"},
    {"table: chosen columns keep their order",
     build_selected,
     {.format = MT_FORMAT_TABLE, .width = 64},
     "base · cpu · net 0 B                        sorted by self_net_b\n"
     "NODE_ID  NAME                                           SELF NET\n"
     "      7  aten::empty                                   132.2 MiB\n"
     "      8  autograd::engine::ev…n: ConvolutionBackward0    -90 MiB\n"
     "67 more rows; --limit 0 shows all\n"},
    {"csv",
     build_table,
     {.format = MT_FORMAT_CSV, .bytes = false},
     "name,calls_n,self_net_b,time_ns,node_id\n"
     "aten::empty,12838,138621747,165700000,7\n"
     "autograd::engine::evaluate_function: ConvolutionBackward0,35,-94371840,2233,8\n"
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
     {.format = MT_FORMAT_CSV, .width = 80},
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
     "{\"name\":\"autograd::engine::evaluate_function: ConvolutionBackward0\",\"calls_n\":35,"
     "\"self_net_b\":-94371840,\"time_ns\":2233,\"node_id\":8},\n"
     "{\"name\":\"[outside ops]\",\"calls_n\":null,\"self_net_b\":-85553152,\"time_ns\":null,"
     "\"node_id\":9}\n"
     "],\n"
     "\"left_out_n\":67,\n"
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
     "\"notes\":[]}\n"},
    {"markdown",
     build_table,
     {.format = MT_FORMAT_MARKDOWN},
     "base · cpu · net 0 B · sorted by self\\_net\\_b\n"
     "\n"
     "| CALLS | SELF NET | TIME\\_NS | NAME |\n"
     "| ---: | ---: | ---: | :--- |\n"
     "| 12,838 | 132.2 MiB | 165.7 ms | `aten::empty` |\n"
     "| 35 | -90 MiB | 2.233 us | `autograd::engine::evaluate_function: ConvolutionBackward0` |\n"
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
    assert_int_equal(mt_format_by_name(row->format), row->expected);
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
    setlocale(LC_CTYPE, "C.UTF-8");
    static struct row_tests t;
    ROWS_ADD(&t, test_render, render_rows);
    ROWS_ADD(&t, test_format, name_rows);
    ROWS_ADD(&t, test_select, select_rows);
    return ROWS_RUN(&t, "render");
}
