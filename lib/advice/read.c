#include "lib/advice/read.h"

#include "gen/queries.h"
#include "lib/advice/growing.h"
#include "lib/advice/processes.h"
#include "lib/base/search.h"
#include "lib/base/sort.h"
#include "lib/base/wrap.h"
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *prefix;
    unsigned inside;
} kinds[] = {
    {"autograd::engine::evaluate_function", MT_IN_ENGINE},
    {"Optimizer.step#", MT_IN_OPTIMIZER},
    {"Optimizer.zero_grad#", MT_IN_ZERO_GRAD},
    {"torch::autograd::AccumulateGrad", MT_IN_ACCUMULATE},
    {"aten::_foreach_", MT_IN_FOREACH},
    {"enumerate(DataLoader)#", MT_IN_LOADER},
};
static uint8_t kind_of(const char *name)
{
    for (size_t i = 0; i < MT_ARRAY_LEN(kinds); i++)
        if (strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
            return (uint8_t)kinds[i].inside;
    return 0;
}

/* ---- ops ---- */

/* Of each node what it is; allocated. */
static uint8_t *kinds_of_nodes(const struct mt_tree *t)
{
    uint8_t *kind = mt_alloc(t->nodes.n + 1);
    for (size_t i = 0; i < t->nodes.n; i++)
        kind[i] = kind_of(mt_strtab_get(&t->strings, t->nodes.v[i].frame));
    return kind;
}

/* What an op is inside of because its parent is. What a closure computes for an optimizer's step,
 * and its backward pass, are none of the step. */
static unsigned inherited(const struct mt_advice_facts *f, const struct mt_advice_op *op,
                          const struct mt_advice_op *parent)
{
    const struct mt_tree_node *n = &f->tree->nodes.v[op->node];
    if (!n->python_or_annotation && n->phase != MT_PHASE_OPTIMIZER)
        return parent->inside & ~(unsigned)(MT_IN_OPTIMIZER | MT_IN_ZERO_GRAD);
    return parent->inside;
}

/* The last op read, from what is around it. */
static void place(struct mt_advice_facts *f, const uint8_t *kind)
{
    uint32_t own = (uint32_t)f->ops.n - 1;
    struct mt_advice_op *op = &f->ops.v[own];
    const struct mt_advice_op *parent = op->parent == MT_NONE ? NULL : &f->ops.v[op->parent];
    unsigned self = kind[op->node];
    op->inside = (uint8_t)(self | (parent ? inherited(f, op, parent) : 0u));
    if (self & MT_IN_OPTIMIZER)
        op->optimizer = own;
    else
        op->optimizer = op->inside & MT_IN_OPTIMIZER ? parent->optimizer : MT_NONE;
    if (f->tree->nodes.v[op->node].python_or_annotation)
        op->top = MT_NONE;
    else
        op->top = parent && parent->top != MT_NONE ? parent->top : own;
    if (self & MT_IN_OPTIMIZER)
        *mt_vec_push(&f->optimizers) = own;
    if (self & MT_IN_ZERO_GRAD)
        *mt_vec_push(&f->zero_grads) = own;
}

/* What is read of ops and blocks, row by row. */
struct reader {
    struct mt_advice_facts *f;
    const uint8_t *kind;    /* of nodes */
    MT_VEC(int64_t) tensor; /* of blocks: string of the database, 0: none */
};

/* An op's place behind the first of the run; MT_NONE: it is none of the first n. */
static uint32_t place_of_op(const struct mt_advice_facts *f, int64_t id, size_t n)
{
    uint64_t place = (uint64_t)id - (uint64_t)f->run->op_first;
    return id >= 0 && place < n ? (uint32_t)place : MT_NONE;
}

static void add_op(void *closure, const int64_t *cells)
{
    const struct reader *r = closure;
    struct mt_advice_facts *f = r->f;
    uint64_t node = (uint64_t)cells[0] - (uint64_t)f->run->node_first;
    uint32_t parent = place_of_op(f, cells[1], f->ops.n); /* before there is this one */
    *mt_vec_push(&f->ops) =
        (struct mt_advice_op){.start_ns = cells[2],
                              .end_ns = mt_wrap_add(cells[2], cells[3]),
                              .shape_id = cells[5],
                              .parent = parent,
                              .node = node < f->tree->nodes.n ? (uint32_t)node : 0,
                              .forward = place_of_op(f, cells[4], (size_t)f->run->op_n)};
    place(f, r->kind);
}

static enum mt_status load_ops(struct mt_db *db, struct reader *r, struct mt_err *err)
{
    struct mt_advice_facts *f = r->f;
    struct mt_stmt *s;
    MT_TRY(mt_db_query(db, MT_Q_ADVICE_OPS, &s, err));
    mt_stmt_bind(s, "ii", f->run->op_first, f->run->op_first + f->run->op_n);
    MT_TRY(mt_stmt_each(s, add_op, r, err));
    for (size_t i = 0; i < f->ops.n; i++)
        if (f->ops.v[i].forward >= f->ops.n)
            f->ops.v[i].forward = MT_NONE; /* a damaged database */
    return MT_OK;
}

/* The number of a process of that id. */
static uint32_t number_of(struct mt_strtab *processes, const char *pid)
{
    return mt_strtab_add(processes, pid ? pid : "", pid ? strlen(pid) : 0);
}

/* Ops run thread by thread. process: by op; *process_n: of such that have ops. */
static enum mt_status load_threads(struct mt_db *db, struct mt_advice_facts *f, uint32_t *process,
                                   uint32_t *process_n, struct mt_err *err)
{
    struct mt_strtab pids;
    struct mt_stmt *s;
    bool row = false;
    mt_strtab_init(&pids);
    enum mt_status st = mt_db_query(db, MT_Q_LOAD_THREADS, &s, err);
    if (st == MT_OK)
        mt_stmt_bind(s, "i", f->run->id);
    for (uint32_t thread = 0; st == MT_OK; thread++) {
        st = mt_stmt_step(s, &row, err);
        if (st != MT_OK || !row)
            break;
        uint64_t first = mt_stmt_index(s, 2, f->run->op_first);
        int64_t n = mt_stmt_int(s, 3);
        uint32_t pid = n > 0 ? number_of(&pids, mt_stmt_text(s, 4)) : 0;
        for (int64_t i = 0; i < n && first + (uint64_t)i < f->ops.n; i++) {
            f->ops.v[first + (uint64_t)i].thread = thread;
            process[first + (uint64_t)i] = pid;
        }
    }
    *process_n = pids.n;
    mt_strtab_free(&pids);
    return st;
}
/* ---- blocks ---- */

/* Sets the size of the numbers of a tensor, "[8, 64] float32". */
static void set_type(struct mt_advice_block *b, const char *tensor)
{
    static const struct {
        const char *type;
        int8_t bytes;
        bool is_float;
    } types[] = {{"float32", 4, true}, {"bfloat16", 2, true},   {"float16", 2, true},
                 {"float64", 8, true}, {"int64", 8, false},     {"int32", 4, false},
                 {"int16", 2, false},  {"int8", 1, false},      {"uint8", 1, false},
                 {"bool", 1, false},   {"complex64", 8, false}, {"complex128", 16, false}};
    const char *type = tensor ? strrchr(tensor, ' ') : NULL;
    if (!type)
        return;
    b->float_b = 0;
    for (size_t i = 0; i < MT_ARRAY_LEN(types); i++) {
        if (strcmp(type + 1, types[i].type) != 0)
            continue;
        b->number_b = types[i].bytes;
        b->float_b = types[i].is_float ? types[i].bytes : 0;
    }
}

static void add_block(void *closure, const int64_t *cells)
{
    struct reader *r = closure;
    struct mt_advice_facts *f = r->f;
    struct mt_advice_block b = {.bytes = cells[0],
                                .alloc_ns = cells[1],
                                .alloc_record = cells[2],
                                .alloc_op = place_of_op(f, cells[3], f->ops.n),
                                .freed_ns = cells[4],
                                .freed_record = cells[5],
                                .freed_op = place_of_op(f, cells[6], f->ops.n),
                                .float_b = -1};
    b.rule =
        cells[7] > 0 && cells[7] < MT_CATEGORY_RULE_N ? (uint8_t)cells[7] : MT_CATEGORY_NO_RULE;
    b.category = mt_category_of_rule[b.rule];
    if (b.rule == MT_CATEGORY_R5C) /* stays, whatever gradients do */
        b.category = MT_CATEGORY_NONE;
    b.node = b.alloc_op == MT_NONE ? MT_NONE : f->ops.v[b.alloc_op].node;
    *mt_vec_push(&f->blocks) = b;
    *mt_vec_push(&r->tensor) = cells[8];
}

static enum mt_status load_blocks(struct mt_allocations *blocks, struct reader *r,
                                  struct mt_err *err)
{
    struct mt_advice_facts *f = r->f;
    struct mt_stmt *s;
    uint32_t text;
    MT_TRY(mt_db_query(blocks->db, MT_Q_ADVICE_BLOCKS, &s, err));
    mt_stmt_bind(s, "iii", f->run->alloc_first, f->run->alloc_first + f->run->alloc_n,
                 f->device->id);
    MT_TRY(mt_stmt_each(s, add_block, r, err));
    for (size_t i = 0; i < f->blocks.n; i++) {
        if (!r->tensor.v[i])
            continue;
        MT_TRY(mt_load_text(blocks->db, &blocks->tree, r->tensor.v[i], &text, err));
        set_type(&f->blocks.v[i], mt_strtab_get(&f->tree->strings, text));
    }
    return MT_OK;
}
/* ---- records ---- */

/* A record that a block names, and when it was. */
struct named {
    int64_t record, t_ns;
};

static void name_record(const struct mt_advice_facts *f, struct named *v, size_t *n, int64_t record,
                        int64_t t_ns)
{
    if (record >= 0 && record < f->run->record_end)
        v[(*n)++] = (struct named){record, t_ns};
}

/* The place of a record among those named; what is before all or behind them stays there. */
static int64_t place_of(const struct named *v, int64_t n, int64_t record)
{
    if (record < 0)
        return record;
    if (!n || record > v[n - 1].record)
        return INT64_MAX;
    if (v[n - 1].record - v[0].record == n - 1) /* none is of another device */
        return record > v[0].record ? record - v[0].record : 0;
    return (int64_t)mt_count_below(&v->record, (size_t)n, sizeof *v, record);
}

/*
 * Numbers the records that blocks name, from 0 on, and notes when each was: of the others, which
 * are of other devices, nothing is asked. So what is held follows from what is there, whatever a
 * database says of the number of its records.
 */
static void find_records(struct mt_advice_facts *f)
{
    struct named *v = mt_alloc((2 * f->blocks.n + 1) * sizeof *v);
    size_t n = 0;
    for (size_t i = 0; i < f->blocks.n; i++) {
        const struct mt_advice_block *b = &f->blocks.v[i];
        name_record(f, v, &n, b->alloc_record, b->alloc_ns);
        name_record(f, v, &n, b->freed_record, b->freed_ns);
    }
    mt_sort_by_time(v, n, sizeof *v, NULL);
    for (size_t i = 0; i < n; i++) {
        if (!i || v[i].record != v[f->record_n - 1].record)
            v[f->record_n++] = v[i];
    }
    f->record_ns = mt_alloc(((size_t)f->record_n + 1) * sizeof *f->record_ns);
    for (int64_t i = 0, last = INT64_MIN; i < f->record_n; i++)
        f->record_ns[i] = last = v[i].t_ns > last ? v[i].t_ns : last;
    for (size_t i = 0; i < f->blocks.n; i++) {
        struct mt_advice_block *b = &f->blocks.v[i];
        b->alloc_record = place_of(v, f->record_n, b->alloc_record);
        b->freed_record = place_of(v, f->record_n, b->freed_record);
    }
    free(v);
}
/* ---- all ---- */

static enum mt_status load_all(struct mt_allocations *blocks, struct reader *r, struct mt_err *err)
{
    struct mt_advice_facts *f = r->f;
    uint32_t process_n = 0;
    if (f->tree->nodes.n)
        MT_TRY(load_ops(blocks->db, r, err));
    uint32_t *process = mt_alloc((f->ops.n + 1) * sizeof *process);
    enum mt_status st = load_threads(blocks->db, f, process, &process_n, err);
    if (st == MT_OK)
        st = load_blocks(blocks, r, err);
    if (st == MT_OK)
        st = mt_advice_find_doubt(blocks, f, err);
    if (st == MT_OK) {
        find_records(f);
        mt_advice_split(f, process, process_n);
    }
    free(process);
    return st;
}

enum mt_status mt_advice_read(struct mt_allocations *blocks, struct mt_advice_facts *f,
                              struct mt_err *err)
{
    uint8_t *kind = kinds_of_nodes(&blocks->tree);
    struct reader r = {.f = f, .kind = kind};
    enum mt_status st = load_all(blocks, &r, err);
    mt_vec_free(&r.tensor);
    free(kind);
    return st;
}
