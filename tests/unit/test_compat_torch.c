#include "rows.h"

#include "lib/compat/compat_torch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * Events as text, one a line, times in ns:
 *   op|note|rt|py THREAD START END NAME [SHAPES]
 *   cpu|cuda|xpu|mps|oom THREAD TIME BYTES
 *   base N                                          is added to the times of all later lines
 * Ops come as mt_torch_input wants them.
 */
struct events {
    struct mt_torch_input in;
    struct mt_torch_op ops[64];
    struct mt_torch_record records[64];
    char text[64][2][64];
    const char *names[64], *shapes[64];
};

/* Index of the op that has this text already, else of this one. */
static uint32_t same_text(const struct events *e, size_t op, int which)
{
    for (size_t i = 0; i < op; i++) {
        if (strcmp(e->text[i][which], e->text[op][which]) == 0)
            return (uint32_t)i;
    }
    return (uint32_t)op;
}

static void add_op(struct events *e, enum mt_torch_op_kind kind, const char *line, int64_t base)
{
    size_t i = e->in.op_n++;
    struct mt_torch_op *op = &e->ops[i];
    int fields = sscanf(line, "%*s %u %" SCNd64 " %" SCNd64 " %63s %63[^\n]", &op->thread,
                        &op->start_ns, &op->end_ns, e->text[i][0], e->text[i][1]);
    assert_true(fields >= 4);
    op->kind = (uint8_t)kind;
    op->start_ns += base;
    op->end_ns += base;
    op->name = same_text(e, i, 0);
    op->shape = fields == 5 ? same_text(e, i, 1) : UINT32_MAX;
    e->names[i] = e->text[i][0];
    e->shapes[i] = e->text[i][1];
}

static void add_record(struct events *e, const char *kind, const char *line, int64_t base)
{
    struct mt_torch_record *r = &e->records[e->in.record_n++];
    assert_int_equal(sscanf(line, "%*s %u %" SCNd64 " %" SCNd64, &r->thread, &r->t_ns, &r->bytes),
                     3);
    r->t_ns += base;
    r->is_cpu = strcmp(kind, "cpu") == 0;
    r->is_device = strcmp(kind, "cuda") == 0;
    r->is_xpu = strcmp(kind, "xpu") == 0;
    r->is_oom = strcmp(kind, "oom") == 0;
}

static struct events *read_events(const char *text)
{
    static const char *const kinds[] = {"op", "note", "rt", "py"};
    struct events *e = mt_alloc(sizeof *e);
    e->in = (struct mt_torch_input){
        .ops = e->ops, .records = e->records, .names = e->names, .shapes = e->shapes};
    int64_t base = 0;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        char word[16];
        assert_int_equal(sscanf(line, "%15s", word), 1);
        size_t kind = 0;
        while (kind < MT_ARRAY_LEN(kinds) && strcmp(word, kinds[kind]) != 0)
            kind++;
        if (strcmp(word, "base") == 0)
            assert_int_equal(sscanf(line, "%*s %" SCNd64, &base), 1);
        else if (kind < MT_ARRAY_LEN(kinds))
            add_op(e, (enum mt_torch_op_kind)kind, line, base);
        else
            add_record(e, word, line, base);
    }
    return e;
}

/* "+-": how far below and above; nothing if certain. */
static void add_doubt(struct mt_buf *out, int64_t below, int64_t above)
{
    if (below || above)
        mt_buf_addf(out, "(-%" PRId64 "+%" PRId64 ")", below, above);
}

/* One row a line: NAME COUNT, time total and self, cpu total and self, device total and self if
 * there is any; annotations are marked with "!". */
static void write_rows(struct mt_buf *out, const struct mt_torch_table *t)
{
    mt_buf_adds(out, "");
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct mt_torch_row *r = &t->rows.v[i];
        mt_buf_addf(out, "%s%s%s %" PRId64, r->name, r->is_user_annotation ? "!" : "",
                    r->input_shapes ? r->input_shapes : "", r->count);
        add_doubt(out, r->count_below, r->count_above);
        mt_buf_addf(out, " %" PRId64 "/%" PRId64, r->cpu_time_total_ns, r->self_cpu_time_total_ns);
        mt_buf_addf(out, " %" PRId64, r->cpu_memory_usage);
        add_doubt(out, r->cpu_below, r->cpu_above);
        mt_buf_addf(out, "/%" PRId64, r->self_cpu_memory_usage);
        add_doubt(out, r->self_cpu_below, r->self_cpu_above);
        if (r->device_memory_usage || r->self_device_memory_usage) {
            mt_buf_addf(out, " %" PRId64, r->device_memory_usage);
            add_doubt(out, r->device_below, r->device_above);
            mt_buf_addf(out, "/%" PRId64, r->self_device_memory_usage);
            add_doubt(out, r->self_device_below, r->self_device_above);
        }
        mt_buf_adds(out, "\n");
    }
}

struct average_row {
    const char *name, *version, *events, *expected;
    bool by_shape;
};

static const struct average_row intervals[] = {
    {"nothing at all", "2.11", "", "", false},
    {"both ends of an op are inside it", "2.11",
     "op 1 100 200 a\ncpu 1 99 1\ncpu 1 100 2\ncpu 1 200 4\ncpu 1 201 8",
     "[memory] 2 0/0 9/9\na 1 100/100 6/6\n", false},
    {"records of other threads count", "2.11", "op 1 100 200 a\ncpu 2 150 8", "a 1 100/100 8/8\n",
     false},
    {"an op of no length has the records of its time", "2.11", "op 1 5 5 a\ncpu 1 5 8\ncpu 1 6 1",
     "a 1 0/0 8/8\n[memory] 1 0/0 1/1\n", false},
    {"an op that ends before it starts has none", "2.11", "op 1 9 5 a\ncpu 1 7 8",
     "[memory] 1 0/0 8/8\na 1 -4/-4 0/0\n", false},
    {"equal times keep their order", "2.11", "op 1 0 9 a\ncpu 1 5 1\ncpu 2 5 2\ncpu 1 5 4",
     "a 1 9/9 7/7\n", false},
    {"devices are apart from cpu, other ones count nowhere", "2.11",
     "op 1 0 9 a\ncpu 1 1 1\ncuda 1 2 16\nmps 1 3 64\nmps 1 10 64",
     "a 1 9/9 1/1 16/16\n[memory] 1 0/0 0/0\n", false},
    {"xpu is no device up to 2.7", "2.7", "op 1 0 9 a\nxpu 1 2 16", "a 1 9/9 0/0\n", false},
    {"xpu is a device from 2.8 on", "2.8", "op 1 0 9 a\nxpu 1 2 16", "a 1 9/9 0/0 16/16\n", false},
    {"failed allocations have a row and no bytes", "2.11",
     "op 1 0 9 a\noom 1 2 4096\noom 1 3 4096\ncpu 1 4 8", "a 1 9/9 8/8\n[OutOfMemory] 2 0/0 0/0\n",
     false},
    {"edges are exact in 2.11", "2.11",
     "base 1795253282598698000\nop 1 126 1000 a\ncpu 1 200 8\nop 1 2000 2100 b\ncpu 1 2050 1",
     "a 1 874/874 8/8\nb 1 100/100 1/1\n", false},
    {"a start moves up in double arithmetic, the record becomes a child", "2.10",
     "base 1795253282598698000\nop 1 126 1000 a\ncpu 1 200 8",
     "a 1 874/874 0/-8\n[memory] 1 0/0 8/8\n", false},
    {"an end moves down in double arithmetic", "2.4",
     "base 1795253282598698000\nop 1 -500 100 a\ncpu 1 50 8",
     "a 1 600/600 0/-8\n[memory] 1 0/0 8/8\n", false},
    {"a start moves down in double arithmetic", "2.6",
     "base 1795253282598698000\nop 1 100 1000 a\ncpu 1 -17 1\ncpu 1 -16 8",
     "[memory] 1 0/0 1/1\na 1 900/900 8/8\n", false},
    {"small times survive double arithmetic", "2.6", "op 1 1001 2003 a\ncpu 1 1001 8\ncpu 1 2003 1",
     "a 1 1002/1002 9/9\n", false},
    {"byte counts wrap", "2.11",
     "op 1 0 9 a\ncpu 1 1 9223372036854775807\ncpu 1 2 1\nop 1 5 6 b\ncpu 1 5 1",
     "a 1 9/8 -9223372036854775807/-9223372036854775808\nb 1 1/1 1/1\n", false},
    {"the ends of time", "2.6",
     "op 1 -9223372036854775808 9223372036854775807 a\ncpu 1 -9223372036854775808 1\n"
     "cpu 1 9223372036854775807 2",
     "a 1 -1/-1 3/3\n", false},
};

static const struct average_row trees[] = {
    {"self is without the children", "2.11",
     "op 1 0 100 a\nop 1 10 20 b\nop 1 12 15 c\nop 1 30 40 b\ncpu 1 13 1\ncpu 1 35 2\ncpu 1 50 4",
     "a 1 100/80 7/4\nb 2 20/17 3/2\nc 1 3/3 1/1\n", false},
    {"a start at the end of another op is no child", "2.11",
     "op 1 0 100 a\nop 1 100 100 b\ncpu 1 100 8", "a 1 100/100 8/8\nb 1 0/0 8/8\n", false},
    {"a common end is a child", "2.11", "op 1 0 100 a\nop 1 90 100 b\ncpu 1 100 8",
     "a 1 100/90 8/0\nb 1 10/10 8/8\n", false},
    {"of equal intervals the first is the parent", "2.11", "op 1 0 9 a\nop 1 0 9 b",
     "a 1 9/0 0/0\nb 1 9/9 0/0\n", false},
    {"of equal starts the longer is the parent", "2.11", "op 1 0 5 a\nop 1 0 9 b",
     "b 1 9/4 0/0\na 1 5/5 0/0\n", false},
    {"partial overlaps are no children and end their parent", "2.11",
     "op 1 0 100 a\nop 1 50 150 b\nop 1 60 70 c",
     "a 1 100/100 0/0\nb 1 100/90 0/0\nc 1 10/10 0/0\n", false},
    {"a parent passed over is none again", "2.11",
     "op 1 0 100 a\nop 1 10 20 b\nop 1 15 25 c\nop 1 18 19 d",
     "a 1 100/80 0/0\nb 1 10/10 0/0\nc 1 10/9 0/0\nd 1 1/1 0/0\n", false},
    {"threads do not nest in each other", "2.11", "op 1 0 100 a\nop 2 10 20 b\ncpu 2 15 8",
     "a 1 100/100 8/8\nb 1 10/10 8/8\n", false},
    {"an only child of the same name is folded", "2.11",
     "op 1 0 100 a\nop 1 10 90 a\nop 1 20 30 b\ncpu 1 25 8", "a 1 100/90 8/0\nb 1 10/10 8/8\n",
     false},
    {"so is a chain of them", "2.11", "op 1 0 9 a\nop 1 1 8 a\nop 1 2 7 a\nop 1 3 6 b\nop 1 4 5 b",
     "a 1 9/6 0/0\nb 1 3/3 0/0\n", false},
    {"one of two children is not", "2.11", "op 1 0 100 a\nop 1 10 20 a\nop 1 30 40 b",
     "a 2 110/90 0/0\nb 1 10/10 0/0\n", false},
    {"folding can leave two children, which stay", "2.11",
     "op 1 0 100 a\nop 1 5 95 a\nop 1 10 20 a\nop 1 30 40 a", "a 3 120/100 0/0\n", false},
    {"a failed allocation is a child and prevents folding", "2.11",
     "op 1 0 100 a\nop 1 10 20 a\noom 1 50 9", "a 2 110/100 0/0\n[OutOfMemory] 1 0/0 0/0\n", false},
    {"names left out are neither rows nor parents and cover nothing", "2.11",
     "op 1 0 100 aten::is_leaf\nop 1 10 20 b\nop 1 30 40 aten::_version\ncpu 1 15 1\ncpu 1 35 2",
     "b 1 10/10 1/1\n[memory] 1 0/0 2/2\n", false},
    {"steps are one row", "2.11", "note 1 0 10 ProfilerStep#0\nnote 1 20 30 ProfilerStep#1",
     "ProfilerStep*! 2 20/20 0/0\n", false},
    {"runtime calls are ops", "2.11", "op 1 0 10 a\nrt 1 2 4 cudaMalloc\ncuda 1 3 512",
     "a 1 10/8 0/0 512/0\ncudaMalloc 1 2/2 0/0 512/512\n", false},
    {"python frames are nothing up to 2.11", "2.11",
     "op 1 2 4 a\nop 1 6 8 a\npy 1 0 10 f\ncpu 1 1 8", "[memory] 1 0/0 8/8\na 2 4/4 0/0\n", false},
    {"python frames are rows in 2.13", "2.13", "op 1 2 4 a\nop 1 6 8 a\npy 1 0 10 f\ncpu 1 1 8",
     "f 1 10/6 8/8\na 2 4/4 0/0\n", false},
    {"python frames are parents and cover records in 2.14", "2.14",
     "op 1 2 4 a\nop 1 6 8 a\npy 1 0 10 f\npy 1 5 9 g\ncpu 1 1 8\ncpu 1 7 1", "a 2 4/4 1/1\n",
     false},
    {"a python frame of the same name takes the op in", "2.14", "op 1 2 4 a\npy 1 1 5 a", "",
     false},
};

static const struct average_row groups[] = {
    {"rows come in order of first appearance", "2.11", "op 1 20 30 a\nop 1 40 50 b\nop 2 10 15 b",
     "b 2 15/15 0/0\na 1 10/10 0/0\n", false},
    {"an annotation and an op of one name are one row in 2.4", "2.4", "op 1 0 5 a\nnote 1 10 15 a",
     "a 2 10/10 0/0\n", false},
    {"an annotation and an op of one name are two rows in 2.5", "2.5", "op 1 0 5 a\nnote 1 10 15 a",
     "a 1 5/5 0/0\na! 1 5/5 0/0\n", false},
    {"yet they fold into each other", "2.5", "op 1 0 5 a\nnote 1 1 4 a", "a 1 5/5 0/0\n", false},
    {"shapes do not split without being asked for", "2.11", "op 1 0 5 a [[1]]\nop 1 6 7 a [[2]]",
     "a 2 6/6 0/0\n", false},
    {"shapes split", "2.11", "op 1 0 5 a [[1], []]\nop 1 6 7 a [[2], []]\nop 1 8 9 a [[1], []]",
     "a[[1], []] 2 6/6 0/0\na[[2], []] 1 1/1 0/0\n", true},
    {"white space does not matter", "2.11", "op 1 0 5 a [[32,3],[]]\nop 1 6 7 a [ [32 , 3] ,\t[] ]",
     "a[[32, 3], []] 2 6/6 0/0\n", true},
    {"a list of tensors is []", "2.11", "op 1 0 5 a [[[32, 3], [1]], [7], [[]], [[[2]]], 4]",
     "a[[], [7], [], [], 4] 1 5/5 0/0\n", true},
    {"no shapes and no arguments are the same", "2.11", "op 1 0 5 a\nop 1 6 7 a []\ncpu 1 9 1",
     "a[] 2 6/6 0/0\n[memory][] 1 0/0 1/1\n", true},
    {"what is no list stays", "2.11", "op 1 0 5 a hello\nop 1 6 7 a [[1, 2\nop 1 8 9 a ]",
     "ahello 1 5/5 0/0\na[[1, 2 1 1/1 0/0\na] 1 1/1 0/0\n", true},
};

/* Whole microseconds: an op of at least one microsecond ends when the file says or 1 us earlier. */
static const struct average_row whole_us[] = {
    {"nothing at an end: nothing in doubt", "2.3", "op 1 0 5000 a\nop 1 1000 3000 b\ncpu 1 2000 8",
     "a 1 5000/3000 8/0\nb 1 2000/2000 8/8\n", false},
    {"less than a microsecond has a certain end", "2.3", "op 1 2000 2000 a\ncpu 1 2000 8",
     "a 1 0/0 8/8\n", false},
    {"an op of one microsecond mostly is shorter", "2.3", "op 1 1000 2000 a\nop 1 5000 7000 b",
     "a 1 0/0 0/0\nb 1 2000/2000 0/0\n", false},
    {"a first allocation at the end is inside", "2.3", "op 1 1000 3000 a\ncpu 1 3000 8",
     "a 1 2000/2000 8(-8+0)/8(-8+0)\n", false},
    {"unless the next op starts there", "2.3", "op 1 1000 3000 a\nop 1 3000 3000 b\ncpu 1 3000 8",
     "a 1 1000/1000 0(-0+8)/0(-0+8)\nb 1 0/0 8/8\n", false},
    {"a second allocation is outside", "2.3", "op 1 1000 3000 a\ncpu 1 2000 1\ncpu 1 3000 8",
     "a 1 1000/1000 1(-0+8)/1(-0+8)\n[memory] 1(-1+0) 0/0 8(-8+0)/8(-8+0)\n", false},
    {"a leaf frees nothing at its end", "2.3", "op 1 1000 3000 a\ncpu 1 3000 -8",
     "a 1 1000/1000 0(-8+0)/0(-8+0)\n[memory] 1(-1+0) 0/0 -8(-0+8)/-8(-0+8)\n", false},
    {"an outermost op with children does", "2.3", "op 1 0 5000 a\nop 1 1000 3000 b\ncpu 1 5000 -8",
     "a 1 5000/3000 -8(-0+8)/-8(-0+8)\nb 1 2000/2000 0/0\n", false},
    {"device memory is in doubt as well", "2.3", "op 1 1000 3000 a\ncuda 1 3000 8",
     "a 1 2000/2000 0/0 8(-8+0)/8(-8+0)\n", false},
    {"a child that may outlast its parent may be none", "2.3",
     "op 1 0 5000 a\nop 1 2000 5000 b\ncpu 1 3000 8",
     "a 1 5000/2000 8/0(-0+8)\nb 1 3000/3000 8/8\n", false},
    {"a child of the same interval is one", "2.3", "op 1 0 5000 a\nop 1 0 5000 b\ncpu 1 3000 8",
     "a 1 5000/0 8/0\nb 1 5000/5000 8/8\n", false},
    {"whether it is folded can be in doubt", "2.3", "op 1 0 5000 a\nop 1 2000 5000 a\ncpu 1 3000 8",
     "a 1(-0+1) 5000/5000 8(-0+8)/8(-8+8)\n", false},
    {"a certain only child is folded", "2.3",
     "op 1 0 9000 a\nop 1 2000 5000 a\nop 1 3000 4000 b\ncpu 1 4000 8",
     "a 1 9000/8000 8/0(-0+8)\nb 1 1000/1000 8(-8+0)/8(-8+0)\n", false},
    {"a record in nanoseconds leaves no doubt either", "2.3",
     "op 1 1000 3000 a\ncpu 1 3000 8\ncpu 1 4001 1", "a 1 2000/2000 8/8\n[memory] 1 0/0 1/1\n",
     false},
    {"failed allocations are certain", "2.3", "op 1 0 5000 a\noom 1 2000 9\noom 1 9000 9",
     "a 1 5000/5000 0/0\n[OutOfMemory] 2 0/0 0/0\n", false},
    {"nanoseconds leave no doubt", "2.3", "op 1 1000 3001 a\ncpu 1 3001 8", "a 1 2001/2001 8/8\n",
     false},
    {"nor do whole microseconds of later versions", "2.11", "op 1 1000 3000 a\ncpu 1 3000 8",
     "a 1 2000/2000 8/8\n", false},
};

static void test_averages(void **state)
{
    const struct average_row *row = *state;
    struct events *e = read_events(row->events);
    struct mt_torch_table t;
    struct mt_buf got = {0};
    mt_torch_key_averages(&e->in, mt_torch_rule_by_version(row->version), row->by_shape, &t);
    write_rows(&got, &t);
    assert_string_equal(got.s, row->expected);
    int64_t doubtful_n = 0;
    for (const char *line = got.s; *line; line += strcspn(line, "\n") + 1)
        doubtful_n += memchr(line, '(', strcspn(line, "\n")) != NULL;
    assert_int_equal(t.doubtful_n, doubtful_n);
    mt_buf_free(&got);
    mt_torch_table_free(&t);
    free(e);
}

static void test_doubles_start_with_the_trace(void **state)
{
    (void)state;
    struct events *e = read_events("base 1000000000000\nop 1 5354 8168 a\nop 1 6079 7090 b");
    struct mt_torch_table t;
    e->in.trace_start_ns = 1000000000000;
    mt_torch_key_averages(&e->in, mt_torch_rule_by_version("2.11"), false, &t);
    assert_true(t.rows.v[0].cpu_time_total_us == 8.168 - 5.354);
    assert_true(t.rows.v[0].self_cpu_time_total_us == (8.168 - 5.354) - (7.09 - 6.079));
    mt_torch_table_free(&t);
    e->in.trace_start_ns = 0; /* then the first op starts the clock */
    mt_torch_key_averages(&e->in, mt_torch_rule_by_version("2.11"), false, &t);
    assert_true(t.rows.v[0].cpu_time_total_us == 2.814);
    mt_torch_table_free(&t);
    free(e);
}

struct version_row {
    const char *name, *asked, *rule;
};

static const struct version_row versions[] = {
    {"oldest", "1.13", "1.13-2.3"},
    {"two and no minor", "2.0", "1.13-2.3"},
    {"last of the first rule", "2.3.1", "1.13-2.3"},
    {"with patch and build", "2.4.0+cu124", "2.4"},
    {"annotations", "2.5", "2.5-2.7"},
    {"old units", "2.7", "2.5-2.7"},
    {"new units", "2.8", "2.8-2.10"},
    {"ten is more than nine", "2.10.0", "2.8-2.10"},
    {"exact", "2.11", "2.11"},
    {"python rows", "2.12.1", "2.12-2.13"},
    {"python tree", "2.15.0", "2.14-2.15"},
    {"a rule by its own name", "2.12-2.13", "2.12-2.13"},
    {"too old", "1.12", NULL},
    {"too new", "2.16", NULL},
    {"no minor", "2", NULL},
    {"no number", "two", NULL},
    {"nothing", "", NULL},
    {"something behind", "2.6x", NULL},
    {"a sign", "2.-6", NULL},
    {"a huge number", "2.99999999999999999999", NULL},
};

static void test_version(void **state)
{
    const struct version_row *row = *state;
    const struct mt_torch_rule *rule = mt_torch_rule_by_version(row->asked);
    if (row->rule)
        assert_string_equal(rule ? rule->version : "none", row->rule);
    else
        assert_null(rule);
}

struct guess_row {
    const char *name, *rule;
    struct mt_torch_marks marks;
    const char *range;       /* NULL: as the rule */
    const char *annotations; /* what the annotations of the table are called; NULL: an op's name */
};

static const struct guess_row guesses[] = {
    {"whole microseconds", "1.13-2.3", {.whole_us = true}, NULL, NULL},
    {"decimals without a base: builds of spring 2024", "2.4", {.has_base_time = false}, NULL, NULL},
    {"a base after the events", "2.5-2.7", {.has_base_time = true}, "2.4-2.7", "scope"},
    {"a base after the events, an annotation named like an op",
     "2.5-2.7",
     {.has_base_time = true},
     NULL,
     NULL},
    {"a base before the events",
     "2.8-2.10",
     {.has_base_time = true, .base_before_events = true},
     NULL,
     NULL},
    {"finished", "2.8-2.10", {.has_base_time = true, .finished_in_memory = true}, NULL, NULL},
    {"trace_id before the flags",
     "2.11",
     {.has_base_time = true, .finished_in_memory = true, .trace_id_first = true},
     NULL,
     NULL},
    {"a host name and no python",
     "2.14-2.15",
     {.has_base_time = true, .trace_id_first = true, .has_host_name = true},
     "2.12-2.15",
     NULL},
    {"a host name and python frames",
     "2.12-2.13",
     {.has_base_time = true, .has_host_name = true, .has_python = true},
     NULL,
     NULL},
    {"python frames with their callers",
     "2.14-2.15",
     {.has_host_name = true, .has_python = true, .python_call_from = true},
     NULL,
     NULL},
    {"the python exporter",
     "2.14-2.15",
     {.has_base_time = true, .metadata_first = true},
     "2.12-2.15",
     NULL},
};

static void test_guess(void **state)
{
    const struct guess_row *row = *state;
    struct mt_torch_row rows[] = {
        {.name = "op"},
        {.name = row->annotations ? row->annotations : "op", .is_user_annotation = true},
        {.name = "op"}, /* of another shape */
    };
    struct mt_torch_table table = {0};
    for (size_t i = 0; i < MT_ARRAY_LEN(rows); i++)
        *mt_vec_push(&table.rows) = rows[i];
    assert_string_equal(mt_torch_rule_guess(&row->marks)->version, row->rule);
    assert_string_equal(mt_torch_guess_versions(&row->marks, &table),
                        row->range ? row->range : row->rule);
    mt_vec_free(&table.rows);
}

struct key_row {
    const char *name, *key, *canonical;
};

static const struct key_row keys[] = {
    {"itself", "self_cpu_memory_usage", "self_cpu_memory_usage"},
    {"short", "self_cpu_memory", "self_cpu_memory_usage"},
    {"cuda", "cuda_memory_usage", "device_memory_usage"},
    {"self cuda", "self_cuda_memory_usage", "self_device_memory_usage"},
    {"xpu", "self_xpu_memory_usage", "self_device_memory_usage"},
    {"privateuse1, short", "privateuse1_memory", "device_memory_usage"},
    {"with its unit", "cpu_time_total_us", "cpu_time_total"},
    {"average", "cpu_time", "cpu_time"},
    {"count", "count", "count"},
    {"name", "name", "key"},
    {"device times are not known", "cuda_time_total", NULL},
    {"unknown", "memory", NULL},
    {"nothing", "", NULL},
    {"long", "cuda_memory_usage_and_a_long_tail_that_is_no_key_at_all_and_does_not_fit", NULL},
};

static void test_key(void **state)
{
    const struct key_row *row = *state;
    const char *got = mt_torch_sort_key(row->key);
    if (row->canonical)
        assert_string_equal(got ? got : "none", row->canonical);
    else
        assert_null(got);
}

static const struct mt_torch_row sorted_rows[] = {
    {.name = "a", .count = 3, .cpu_memory_usage = 5, .cpu_time_total_us = 1.5},
    {.name = "b", .count = 1, .cpu_memory_usage = -7, .cpu_time_total_us = 1.5000000000000002},
    {.name = "c", .count = 1, .cpu_memory_usage = 5, .self_device_memory_usage = INT64_MAX},
    {.name = "d", .count = 2, .self_cpu_memory_usage = INT64_MIN, .self_cpu_time_total_us = -1e-12},
};

static const struct key_row sorts[] = {
    {"sort: ties keep their order", "cpu_memory_usage", "acdb"},
    {"sort: the least last", "self_cpu_memory_usage", "abcd"},
    {"sort: the last digit of a time", "cpu_time_total", "bacd"},
    {"sort: negative times", "self_cpu_time_total", "abcd"},
    {"sort: averages", "cpu_time", "bacd"},
    {"sort: calls", "count", "adbc"},
    {"sort: devices", "self_device_memory_usage", "cabd"},
    {"sort: names", "key", "dcba"},
    {"sort: no key", "nothing", "abcd"},
};

static void test_sort(void **state)
{
    const struct key_row *row = *state;
    struct mt_torch_table t = {0};
    for (size_t i = 0; i < MT_ARRAY_LEN(sorted_rows); i++)
        *mt_vec_push(&t.rows) = sorted_rows[i];
    mt_torch_sort(&t, row->key);
    char order[MT_ARRAY_LEN(sorted_rows) + 1] = "";
    for (size_t i = 0; i < t.rows.n; i++)
        order[i] = t.rows.v[i].name[0];
    assert_string_equal(order, row->canonical);
    mt_torch_table_free(&t);
}

int main(void)
{
    static struct row_tests t;
    ROWS_ADD(&t, test_averages, intervals);
    ROWS_ADD(&t, test_averages, trees);
    ROWS_ADD(&t, test_averages, groups);
    ROWS_ADD(&t, test_averages, whole_us);
    t.v[t.n++] = (struct CMUnitTest)cmocka_unit_test(test_doubles_start_with_the_trace);
    ROWS_ADD(&t, test_version, versions);
    ROWS_ADD(&t, test_guess, guesses);
    ROWS_ADD(&t, test_key, keys);
    ROWS_ADD(&t, test_sort, sorts);
    return ROWS_RUN(&t, "compat_torch");
}
