#include "tests/unit/reports.h"

#include "tests/unit/rows.h"
#include <stdlib.h>
#include <string.h>

/* The table of a run: one explicit row, one unknown figure, a hidden column. */
void build_table(struct mt_report *r)
{
    mt_report_init(r, "memtool.table", 1);
    r->title = mt_strdup("base · cpu · net 0 B");
    r->title_end = mt_strdup("sorted by self_net_b");
    mt_report_run(r, 0, 1, "base", "ns");
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
        {"compiled::engine::evaluate_function: ConvolutionBackward0", 35, -94371840, 2233},
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
void build_hostile(struct mt_report *r)
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

void build_hostile_empty(struct mt_report *r)
{
    mt_report_init(r, "memtool.table", 1);
    mt_report_column(r, "name", NULL, MT_UNIT_NONE);
    r->title = mt_strdup("title\033[31m * <b>");
    r->title_end = mt_strdup("the end\033[31m * <b>");
    r->empty = "empty\033[31m * <b>";
    mt_report_footer(r, "footer\033[31m * <b>");
}

void build_long(struct mt_report *r)
{
    static const char *const kinds[] = {"a", "b", "c"}, *const shorts[] = {NULL, "y", "z"},
                             *const last[] = {"x", NULL, "w"};
    enum { LONG = 400 };
    mt_report_init(r, "memtool.query", 1);
    r->keep_order = true;
    mt_report_column(r, "kind", NULL, MT_UNIT_NONE);
    mt_report_column(r, "long", NULL, MT_UNIT_NONE);
    mt_report_column(r, "n", NULL, MT_UNIT_NONE);
    mt_report_column(r, "last", NULL, MT_UNIT_NONE);
    char text[LONG + 1] = {0};
    memset(text, 'x', LONG);
    for (size_t i = 0; i < MT_ARRAY_LEN(kinds); i++) {
        struct mt_row *row = mt_report_row(r);
        row->cells[0] = mt_cell_text(kinds[i]);
        row->cells[1] = mt_cell_text(shorts[i] ? shorts[i] : mt_report_text(r, text));
        row->cells[2] = mt_cell_int((int64_t)i + 1);
        row->cells[3] = mt_cell_text(last[i] ? last[i] : mt_report_text(r, text));
    }
}

void build_extremes(struct mt_report *r)
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

void build_empty(struct mt_report *r)
{
    mt_report_init(r, "memtool.leaks", 1);
    r->title = mt_strdup("leaky · cpu");
    mt_report_column(r, "site", "SITE", MT_UNIT_NONE);
    mt_report_column(r, "at_end_b", "AT END", MT_UNIT_BYTES);
    mt_report_footer(r, "no leak");
}

void build_tree(struct mt_report *r)
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
void build_two_texts(struct mt_report *r)
{
    mt_report_init(r, "memtool.peak", 1);
    mt_report_column(r, "at_peak_b", "AT PEAK", MT_UNIT_BYTES);
    mt_report_column(r, "alloc_in", "BORN IN", MT_UNIT_NONE);
    mt_report_column(r, "phase", "PHASE", MT_UNIT_NONE);
    static const char *const origin[] = {"compiled::engine::evaluate_function: MeanBackward1",
                                         "\u4e00\u4e8c\u4e09", "e\u0301t\u00e9"};
    static const char *const phase[] = {"a backward pass of the model", "forward", NULL};
    for (size_t i = 0; i < MT_ARRAY_LEN(origin); i++) {
        struct mt_row *row = mt_report_row(r);
        row->cells[0] = mt_cell_int(-((int64_t)1 << (10 * i + 1)));
        row->cells[1] = mt_cell_text(origin[i]);
        row->cells[2] = mt_cell_text(phase[i]);
    }
}

void build_selected(struct mt_report *r)
{
    build_table(r);
    assert_null(mt_report_select(r, "node_id, name,self_net_b"));
    r->rows.n--;
    free(r->rows.v[r->rows.n].cells);
}

void build_lone_unknown(struct mt_report *r)
{
    mt_report_init(r, "memtool.query", 1);
    mt_report_column(r, "bad\xff\"key\"", NULL, MT_UNIT_NONE);
    mt_report_row(r);
    mt_report_row(r)->cells[0] = mt_cell_text("");
}

/* The last column is of sentences; the address is whole. */
void build_sentences(struct mt_report *r)
{
    mt_report_init(r, "memtool.fragmentation", 1);
    r->keep_order = true;
    r->title = mt_strdup("a run of which there is much to say");
    mt_report_column(r, "gives_b", "GIVES", MT_UNIT_BYTES);
    mt_report_column(r, "address", NULL, MT_UNIT_NONE);
    mt_report_column(r, "why", NULL, MT_UNIT_WORDS);
    r->columns.v[1].whole = true;
    struct mt_cell *c = mt_report_row(r)->cells;
    c[0] = mt_cell_int(2);
    c[1] = mt_cell_text("0x7fdb60000000");
    c[2] = mt_cell_text("the driver has 2 B left of what it had");
    c = mt_report_row(r)->cells;
    c[0] = mt_cell_int(3);
    c[1] = mt_cell_text("0x7fdb68000000");
    c[2] = mt_cell_text("it fits");
}

/* The table of a run, in which some columns were asked for. */
void build_wanted(struct mt_report *r)
{
    build_table(r);
    r->columns.v[2].wanted = true;
    r->columns.v[3].wanted = true;
}

/* A figure that no row knows, before one that is known. */
void build_unknown(struct mt_report *r)
{
    mt_report_init(r, "memtool.leaks", 1);
    mt_report_column(r, "per_step_b", "PER STEP", MT_UNIT_BYTES);
    mt_report_column(r, "at_end_b", "AT END", MT_UNIT_BYTES);
    mt_report_column(r, "site", NULL, MT_UNIT_NONE);
    struct mt_cell *c = mt_report_row(r)->cells;
    c[1] = mt_cell_int(7);
    c[2] = mt_cell_text("a site with quite some name");
}

/* Columns of which some may be left out, and one in which nothing is known. */
void build_spare(struct mt_report *r)
{
    mt_report_init(r, "memtool.runs", 1);
    r->keep_order = true;
    mt_report_column(r, "id", NULL, MT_UNIT_NONE);
    mt_report_column(r, "name", NULL, MT_UNIT_NONE);
    mt_report_column(r, "group", NULL, MT_UNIT_NONE);
    mt_report_column(r, "peak_b", "PEAK", MT_UNIT_BYTES);
    mt_report_column(r, "dur_ns", "TIME", MT_UNIT_NS);
    mt_report_column(r, "source", NULL, MT_UNIT_NONE);
    r->columns.v[1].whole = true;
    r->columns.v[2].spare = 1;
    r->columns.v[5].spare = 2;
    struct mt_cell *c = mt_report_row(r)->cells;
    c[0] = mt_cell_int(1);
    c[1] = mt_cell_text("a_run_with_quite_some_name");
    c[2] = mt_cell_text("a group");
    c[4] = mt_cell_int(7);
    c[5] = mt_cell_text("/somewhere/trace.json");
    mt_report_hide_empty(r);
}
